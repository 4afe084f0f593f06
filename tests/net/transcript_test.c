// Transcripts: whatever is stored, what is sent is a dialogue that every provider
// takes.
#include "net/transcript.h"

#include "net/http_request.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 64
#define MODEL "p/m"

// A history that a test puts together, and what it became.
typedef struct fixture {
    cadre_message messages[MAX_ITEMS];
    cadre_request_item items[MAX_ITEMS];
    size_t n;
    cdr_transcript made;
    char outline[2048];
} fixture;

static void add(fixture *f, cadre_rendering rendering, cadre_message message)
{
    size_t i = f->n++;
    message.position = (int64_t)i;
    message.id = "m";
    f->messages[i] = message;
    f->items[i] = (cadre_request_item){
        .message = &f->messages[i], .text = message.text, .rendering = rendering};
}

static void add_user(fixture *f, const char *text)
{
    add(f, CADRE_AS_USER, (cadre_message){.text = text, .role = CADRE_ROLE_USER});
}

static void add_calls(fixture *f, const char *text, const cadre_tool_call *calls,
                      size_t n_calls)
{
    add(f, CADRE_AS_OWN,
        (cadre_message){.text = text,
                        .tool_calls = calls,
                        .n_tool_calls = n_calls,
                        .role = CADRE_ROLE_ASSISTANT});
}

static void add_result(fixture *f, const char *call_id, const char *text)
{
    add(f, CADRE_AS_OWN,
        (cadre_message){.text = text, .call_id = call_id, .role = CADRE_ROLE_TOOL});
}

static void note(fixture *f, const char *text)
{
    size_t used = strlen(f->outline);
    snprintf(f->outline + used, sizeof f->outline - used, "%s", text);
}

// "user one|two; assistant x f#a f#b; results 1 2!": one with ! is an error.
static void outline_turn(fixture *f, const cadre_turn *turn)
{
    static const char *const kinds[] = {"user", "assistant", "results"};
    note(f, kinds[turn->kind]);
    if (turn->kind == CADRE_TURN_USER && turn->n_items == 0)
        note(f, " ");
    note(f, turn->note);
    for (size_t i = 0; i < turn->n_items; i++) {
        note(f, i == 0 ? " " : "|");
        note(f, turn->items[i]->text);
    }
    for (size_t i = 0; i < turn->n_calls; i++) {
        const cadre_turn_call *call = &turn->calls[i];
        note(f, " ");
        if (turn->kind == CADRE_TURN_ASSISTANT) {
            note(f, call->call->name);
            note(f, "#");
            note(f, turn->is_renamed ? "*" : call->id);
        } else {
            note(f, call->result ? call->result_text : "-");
            note(f, call->is_error ? "!" : "");
        }
    }
    note(f, "; ");
}

static void make(fixture *f)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_request request = {
        .system = "", .items = f->items, .n_items = f->n, .model = MODEL};
    f->outline[0] = '\0';
    if (!CHECK_OK(cdr_transcript_update(&f->made, &request, f->n, &err), &err))
        return;
    for (size_t i = 0; i < f->made.n_turns; i++)
        outline_turn(f, &f->made.turns[i]);
}

static void check_becomes(fixture *f, const char *expected)
{
    make(f);
    CHECK_TEXT(f->outline, expected);
    cdr_transcript_fini(&f->made);
}

static const cadre_tool_call two[] = {{"a", "f", "{}"}, {"b", "g", "{}"}};

static void test_transcript__a_plain_dialogue_stays_as_it_is(void)
{
    fixture f = {.n = 0};
    add_user(&f, "one");
    add_calls(&f, "x", two, 2);
    add_result(&f, "a", "1");
    add_result(&f, "b", "2");
    add_calls(&f, "done", NULL, 0);
    add_user(&f, "on");
    check_becomes(&f, "user one; assistant x f#a g#b; results 1 2; assistant done; "
                      "user on; ");
}

static void test_transcript__results_go_in_the_order_of_calls_however_late(void)
{
    fixture f = {.n = 0};
    static const cadre_tool_call later = {"c", "h", "{}"};
    add_user(&f, "one");
    add_calls(&f, "", two, 2);
    add_result(&f, "b", "2");
    add_user(&f, "and?");
    add_calls(&f, "", &later, 1);
    add_result(&f, "nobody", "0");
    add_result(&f, "a", "1");
    check_becomes(&f, "user one; assistant  f#a g#b; results 1 2; user and?; "
                      "assistant  h#c; results -!; ");
}

static void test_transcript__a_user_is_first_and_last_and_between(void)
{
    fixture f = {.n = 0};
    check_becomes(&f, "user Begin.; ");
    add_calls(&f, "hello", NULL, 0);
    add_calls(&f, "again", NULL, 0);
    check_becomes(&f, "user Begin.; assistant hello; user Go on.; assistant again; "
                      "user Go on.; ");
}

static void test_transcript__what_says_nothing_is_left_out(void)
{
    static const char *const blanks[] = {"", "  \n", NULL};
    for (size_t i = 0; i < 3; i++) {
        fixture f = {.n = 0};
        add_user(&f, "one");
        add_calls(&f, blanks[i], NULL, 0);
        add_user(&f, blanks[i]);
        add_user(&f, "two");
        check_becomes(&f, "user one|two; ");
    }
}

static void test_transcript__a_picture_says_something(void)
{
    fixture f = {.n = 0};
    add(&f, CADRE_AS_USER,
        (cadre_message){.text = "", .role = CADRE_ROLE_USER, .parts = "[{}]"});
    check_becomes(&f, "user ; ");
}

static void test_transcript__a_failed_or_silent_tool_is_told(void)
{
    fixture f = {.n = 0};
    add_user(&f, "one");
    add_calls(&f, "", two, 2);
    add(&f, CADRE_AS_OWN,
        (cadre_message){.text = "no",
                        .call_id = "a",
                        .role = CADRE_ROLE_TOOL,
                        .code = CADRE_RESULT_TOOL_ERROR});
    add_result(&f, "b", " ");
    make(&f);
    CHECK_TEXT(f.outline, "user one; assistant  f#a g#b; results no! -; ");
    CHECK_TEXT(f.made.turns[2].calls[1].result_text, "(no output)");
    cdr_transcript_fini(&f.made);
}

static void test_transcript__ids_used_before_are_made_anew_the_same_each_time(void)
{
    static const cadre_tool_call call = {"t0", "f", "{}"};
    fixture f = {.n = 0};
    char first[16] = "";
    add_user(&f, "go");
    for (int i = 0; i < 3; i++) {
        static const char *const results[] = {"r1", "r2", "r3"};
        add_calls(&f, "", &call, 1);
        add_result(&f, "t0", results[i]);
    }
    for (int i = 0; i < 2; i++) {
        make(&f);
        CHECK_TEXT(f.outline, "user go; assistant  f#t0; results r1; assistant  f#*; "
                              "results r2; assistant  f#*; results r3; ");
        const char *second = f.made.turns[3].calls[0].id;
        CHECK_INT(strlen(second), 9);
        CHECK(strcmp(second, f.made.turns[5].calls[0].id) != 0);
        if (i == 0)
            snprintf(first, sizeof first, "%s", second);
        CHECK_TEXT(second, first);
        cdr_transcript_fini(&f.made);
    }
}

static void test_transcript__ids_of_another_model_or_that_do_not_fit_are_made_anew(void)
{
    static const char *const odd[] = {"", "terminal:0", "b\xC3\xA4r",
                                      "12345678901234567890123456789012345678901"};
    for (size_t i = 0; i < 4; i++) {
        const cadre_tool_call call = {odd[i], "f", "{}"};
        fixture f = {.n = 0};
        add_user(&f, "go");
        add_calls(&f, "", &call, 1);
        add_result(&f, odd[i], "r");
        check_becomes(&f, "user go; assistant  f#*; results r; ");
    }
    fixture f = {.n = 0};
    add_user(&f, "go");
    add(&f, CADRE_AS_OWN,
        (cadre_message){.text = "",
                        .tool_calls = two,
                        .n_tool_calls = 2,
                        .model = "other/m",
                        .role = CADRE_ROLE_ASSISTANT});
    make(&f);
    CHECK(!f.made.turns[1].is_own && f.made.turns[1].is_renamed);
    cdr_transcript_fini(&f.made);
    f.messages[1].model = MODEL;
    make(&f);
    CHECK(f.made.turns[1].is_own && !f.made.turns[1].is_renamed);
    cdr_transcript_fini(&f.made);
}

static void test_transcript__two_calls_of_one_id_are_two_calls(void)
{
    static const cadre_tool_call same[] = {{"a", "f", "{}"}, {"a", "g", "{}"}};
    fixture f = {.n = 0};
    add_user(&f, "go");
    add_calls(&f, "", same, 2);
    add_result(&f, "a", "1");
    check_becomes(&f, "user go; assistant  f#* g#*; results 1 -!; ");
    add_result(&f, "a", "2");
    make(&f);
    CHECK_TEXT(f.outline, "user go; assistant  f#* g#*; results 1 2; ");
    CHECK(strcmp(f.made.turns[1].calls[0].id, f.made.turns[1].calls[1].id) != 0);
    cdr_transcript_fini(&f.made);
}

static void test_transcript__names_fit_and_none_meet(void)
{
    static const char *const names[] = {
        "my.tool",
        "my_tool",
        "my__tool",
        "my-tool",
        "a b",
        "b\xC3\xA4r",
        "_._",
        "x-2E",
        "x-2Ey.z__",
        "..",
        "-",
        "a_.b",
        "9lives",
        "_9lives",
        "_-39lives",
        "-2D",
        ".x",
        "_",
        "",
        "a12345678901234567890123456789012345678901234567890123456789012345",
        "a12345678901234567890123456789012345678901234567890123456789012346",
        "a1234567890123456789012345678901234567890123456789012345678901.x",
    };
    enum {
        N = sizeof names / sizeof names[0]
    };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    char wire[N][CADRE_WIRE_NAME_SIZE];
    for (size_t i = 0; i < N; i++) {
        cadre_wire_name(names[i], wire[i]);
        size_t len = strlen(wire[i]);
        CHECK(len > 0 || names[i][0] == '\0');
        CHECK(len < CADRE_WIRE_NAME_SIZE);
        CHECK_INT(strspn(wire[i], letters), len);
        CHECK(len == 0 || strchr("-0123456789", wire[i][0]) == NULL);
        for (size_t k = 0; k < i; k++)
            CHECK(names[i][0] == '\0' || strcmp(wire[i], wire[k]) != 0);
    }
    CHECK_TEXT(wire[0], "my__tool");
    CHECK_TEXT(wire[1], "my_tool");
    CHECK_TEXT(wire[3], "my-tool");
}

static void test_transcript__arguments_are_the_text_of_an_object(void)
{
    static const char *const rows[][2] = {
        {"", "{}"},
        {" \n", "{}"},
        {"{\"x\": [1]}", "{\"x\": [1]}"},
        {"{\"x\":", "{\"invalid_arguments\":\"{\\\"x\\\":\"}"},
        {"[1]", "{\"invalid_arguments\":\"[1]\"}"},
        {"{\"x\":1,\"x\":{\"y\":2}}", "{\"x\":{\"y\":2}}"},
        {"{\"x\":\"\\ud83d\"}", "{\"x\":\"\xEF\xBF\xBD\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *made = cadre_wire_arguments(rows[i][0]);
        CHECK_TEXT(made, rows[i][1]);
        free(made);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_transcript__a_plain_dialogue_stays_as_it_is),
    CHECK_TEST(test_transcript__results_go_in_the_order_of_calls_however_late),
    CHECK_TEST(test_transcript__a_user_is_first_and_last_and_between),
    CHECK_TEST(test_transcript__what_says_nothing_is_left_out),
    CHECK_TEST(test_transcript__a_picture_says_something),
    CHECK_TEST(test_transcript__a_failed_or_silent_tool_is_told),
    CHECK_TEST(test_transcript__ids_used_before_are_made_anew_the_same_each_time),
    CHECK_TEST(test_transcript__ids_of_another_model_or_that_do_not_fit_are_made_anew),
    CHECK_TEST(test_transcript__two_calls_of_one_id_are_two_calls),
    CHECK_TEST(test_transcript__names_fit_and_none_meet),
    CHECK_TEST(test_transcript__arguments_are_the_text_of_an_object),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/transcript", tests);
}
