// The window: what is left out of a history, and when.
#include "run/window.h"

#include "run/tokens.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 512
#define TOKENS 16 // of each item of the fixture but those that say otherwise

// A history: user turns "u0", inputs "i1", others' words "s2", reports "p3", what the
// agent is told of its own answer "c4", rounds "a5 r6".
typedef struct fixture {
    cadre_message messages[MAX_ITEMS];
    cadre_request_item items[MAX_ITEMS];
    char texts[MAX_ITEMS][256];
    size_t n;
    cdr_window window;
    char outline[8192];
} fixture;

static fixture f;

static void open_fixture(void)
{
    memset(&f, 0, sizeof f);
}

// An item of so many tokens, whose text begins with a letter and its place.
static void add_sized(char letter, cadre_role role, cadre_rendering rendering,
                      int64_t tokens)
{
    size_t at = f.n++;
    size_t len = (size_t)(tokens - 4) * 4;
    memset(f.texts[at], '.', len);
    (void)snprintf(f.texts[at], sizeof f.texts[at], "%c%zu", letter, at);
    f.texts[at][strlen(f.texts[at])] = '.';
    f.texts[at][len] = '\0';
    f.messages[at] =
        (cadre_message){.id = "m",
                        .text = f.texts[at],
                        .reasoning = "",
                        .agent = letter == 'p' || letter == 'c' ? "clerk" : "",
                        .to = letter == 'i' || letter == 'c' ? "clerk" : "",
                        .role = role,
                        .is_input = letter == 'i' || letter == 'c'};
    f.items[at] = (cadre_request_item){&f.messages[at], f.texts[at], rendering, NULL};
}

static void add(const char *letters)
{
    for (; *letters != '\0'; letters++) {
        if (strchr("uipc", *letters) != NULL)
            add_sized(*letters, CADRE_ROLE_USER, CADRE_AS_USER, TOKENS);
        else if (*letters == 's')
            add_sized('s', CADRE_ROLE_ASSISTANT, CADRE_AS_SPEECH, TOKENS);
        else if (*letters == 'a')
            add_sized('a', CADRE_ROLE_ASSISTANT, CADRE_AS_OWN, TOKENS);
        else
            add_sized('r', CADRE_ROLE_TOOL, CADRE_AS_OWN, TOKENS);
    }
}

static const char *look(size_t n_settled, int64_t max)
{
    const cdr_window_view view = {f.items, f.n, f.n, n_settled, 0};
    CHECK(cdr_window_update(&f.window, &view, max));
    f.outline[0] = '\0';
    for (size_t i = 0; i < f.window.n_items; i++) {
        const char *text = f.window.items[i].text;
        size_t len = strlen(f.outline);
        (void)snprintf(f.outline + len, sizeof f.outline - len, "%s%.*s",
                       i == 0 ? "" : " ", (int)strcspn(text, "."), text);
    }
    return f.outline;
}

static void test_window__without_a_limit_all_is_sent(void)
{
    open_fixture();
    add("uaruar");
    CHECK_TEXT(look(0, 0), "u0 a1 r2 u3 a4 r5");
    CHECK(f.window.items == f.items && !f.window.is_cut);
    CHECK_TEXT(look(0, 6 * TOKENS), "u0 a1 r2 u3 a4 r5");
    CHECK_INT(f.window.tokens, 6 * TOKENS);
    cdr_window_fini(&f.window);
}

static void test_window__the_oldest_rounds_go_whole_and_the_first_turn_stays(void)
{
    open_fixture();
    add("uarrarar");
    // 8 of 7 fit; u0 is fixed; low water 1 + 6 * 0.7: the round of 3 goes, and no more.
    CHECK_TEXT(look(0, 7 * TOKENS), "u0 a4 r5 a6 r7");
    CHECK_INT(f.window.tokens, 5 * TOKENS);
    CHECK(f.window.is_cut);
    cdr_window_fini(&f.window);
}

static void test_window__the_last_user_turn_and_the_last_input_stay(void)
{
    open_fixture();
    add("usuisarar");
    CHECK_TEXT(look(0, 6 * TOKENS), "u0 u2 i3 a7 r8");
    add("par");
    CHECK_TEXT(look(0, 6 * TOKENS), "u0 u2 i3 a10 r11");
    add("acar");
    CHECK_TEXT(look(0, 6 * TOKENS), "u0 u2 i3 a14 r15");
    cdr_window_fini(&f.window);
}

static void test_window__the_newest_round_stays_however_long(void)
{
    open_fixture();
    add("uarua");
    add_sized('r', CADRE_ROLE_TOOL, CADRE_AS_OWN, 60);
    CHECK_TEXT(look(0, 50), "u0 u3 a4 r5");
    CHECK_INT(f.window.tokens, 3 * TOKENS + 60);
    cdr_window_fini(&f.window);
}

// The newest turn alone is longer than the limit: that is told, nothing more goes.
static void test_window__what_must_stay_is_told_when_it_does_not_fit(void)
{
    open_fixture();
    add("ua");
    add_sized('u', CADRE_ROLE_USER, CADRE_AS_USER, 60);
    CHECK_TEXT(look(0, 40), "u0 u2");
    CHECK_INT(f.window.tokens, TOKENS + 60);
    cdr_window_fini(&f.window);
}

static void test_window__what_hooks_add_is_always_sent(void)
{
    open_fixture();
    add("uarar");
    add_sized('u', CADRE_ROLE_USER, CADRE_AS_USER, 60);
    const cdr_window_view view = {f.items, 6, 5, 0, 0};
    CHECK(cdr_window_update(&f.window, &view, 4 * TOKENS));
    CHECK_INT(f.window.n_items, 4); // u0 a3 r4 and the hook's
    CHECK(f.window.items[3].message == &f.messages[5]);
    CHECK_INT(f.window.tokens, 3 * TOKENS);
    cdr_window_fini(&f.window);
}

// Steps are rare, and between them a window only grows at its end.
static void test_window__a_prefix_stays_between_steps(void)
{
    char before[sizeof f.outline] = "";
    int n_steps = 0;
    open_fixture();
    add("u");
    for (int i = 0; i < 200; i++) {
        add(i % 50 == 49 ? "u" : "ar");
        const char *outline = look(f.n, 40 * TOKENS);
        CHECK(f.window.tokens <= 40 * TOKENS);
        CHECK_INT(strncmp(outline, "u0 ", 3), 0);
        if (strncmp(outline, before, strlen(before)) != 0)
            n_steps++;
        (void)snprintf(before, sizeof before, "%s", outline);
    }
    // 40 items fit, and a step leaves 27: so there is one in 7 rounds of 2, from the
    // 20th of 196 on.
    CHECK_INT(n_steps, 26);
    cdr_window_fini(&f.window);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

// What a window had said of its next update: so many items stay, unless its edition
// changes.
typedef struct promise {
    const cadre_message *messages[MAX_ITEMS];
    size_t n;
    unsigned edition;
} promise;

static void check_promise(promise *made)
{
    if (made->edition == f.window.edition)
        for (size_t i = 0; i < made->n; i++)
            CHECK(f.window.items[i].message == made->messages[i]);
    made->edition = f.window.edition;
    made->n = f.window.n_settled;
    for (size_t i = 0; i < made->n; i++)
        made->messages[i] = f.window.items[i].message;
}

// A result has its call before it, or another result of the same answer.
static void check_rounds(void)
{
    for (size_t i = 0; i < f.window.n_items; i++) {
        const cadre_request_item *item = &f.window.items[i];
        if (item->text[0] != 'r')
            continue;
        CHECK(i > 0 && item->message == f.window.items[i - 1].message + 1);
    }
}

// Brought up to date at some moments, with more or less of it settled, it is what an
// empty one is at once.
static void test_window__follows_from_the_items_alone(void)
{
    static const char *const pieces[] = {"u", "i", "s", "p", "ac", "ar", "arr"};
    uint32_t random = 1;
    for (int round = 0; round < 300; round++) {
        open_fixture();
        int64_t max = 40 + next_random(&random) % 400;
        size_t settled = 0;
        promise made = {.n = 0};
        while (f.n < 80) {
            size_t n_before = f.n;
            add(pieces[next_random(&random) % 7]);
            if (next_random(&random) % 3 != 0)
                continue;
            settled = next_random(&random) % 2 == 0 ? n_before : settled;
            char *kept = strdup(look(settled, max));
            int64_t tokens = f.window.tokens;
            check_promise(&made);
            check_rounds();
            cdr_window whole = f.window;
            memset(&f.window, 0, sizeof f.window);
            CHECK_TEXT(look(0, max), kept);
            CHECK_INT(f.window.tokens, tokens);
            CHECK_INT(cdr_window_count(f.window.items, f.window.n_items), tokens);
            cdr_window_fini(&f.window);
            f.window = whole;
            free(kept);
        }
        cdr_window_fini(&f.window);
    }
}

static void test_window__begins_anew_for_other_items_or_another_limit(void)
{
    open_fixture();
    add("uararar");
    CHECK_TEXT(look(f.n, 5 * TOKENS), "u0 a5 r6");
    CHECK_TEXT(look(f.n, 7 * TOKENS), "u0 a1 r2 a3 r4 a5 r6");
    // The view begins elsewhere, as one does that shows the last turn on.
    const cdr_window_view view = {f.items + 1, 6, 6, 6, 1};
    CHECK(cdr_window_update(&f.window, &view, 6 * TOKENS));
    CHECK_INT(f.window.n_items, 6);
    CHECK(!f.window.is_cut);
    // Less is settled than was, so it may be something else.
    CHECK_TEXT(look(f.n, 7 * TOKENS), "u0 a1 r2 a3 r4 a5 r6");
    f.n = 3;
    add_sized('u', CADRE_ROLE_USER, CADRE_AS_USER, 50);
    CHECK_TEXT(look(3, 7 * TOKENS), "u0 a1 r2 u3");
    CHECK_INT(f.window.tokens, 3 * TOKENS + 50);
    cdr_window_fini(&f.window);
}

static int64_t tokens_of(cadre_message message)
{
    const cadre_request_item item = {&message, message.text, CADRE_AS_OWN, NULL};
    return cdr_tokens_of_item(&item);
}

static void test_tokens__are_counted_from_bytes(void)
{
    static const cadre_tool_call call = {"c", "add", "{\"a\":3,\"b\":4}"};
    CHECK_INT(cdr_tokens_of_text(NULL), 0);
    CHECK_INT(cdr_tokens_of_text(""), 0);
    CHECK_INT(cdr_tokens_of_text("abcd"), 1);
    CHECK_INT(cdr_tokens_of_text("abcde"), 2);
    CHECK_INT(cdr_tokens_of_text("\xE4\xBD\xA0\xE5\xA5\xBD"), 2); // two signs
    CHECK_INT(cdr_tokens_of_text("gr\xC3\xBC\xC3\x9F"), 1 + 2);
    CHECK_INT(tokens_of((cadre_message){.text = "abcd"}), 4 + 1);
    CHECK_INT(tokens_of((cadre_message){.role = CADRE_ROLE_ASSISTANT,
                                        .text = "abcd",
                                        .tool_calls = &call,
                                        .n_tool_calls = 1}),
              5 + 8 + 1 + 4);
    CHECK_INT(tokens_of((cadre_message){.role = CADRE_ROLE_ASSISTANT,
                                        .text = "abcd",
                                        .reasoning = "abcdefgh"}),
              5 + 2);
    CHECK_INT(tokens_of((cadre_message){.role = CADRE_ROLE_ASSISTANT,
                                        .text = "abcd",
                                        .reasoning = "abcdefgh",
                                        .items = "[{\"place\":0}]"}),
              5 + 4);
}

static void test_tokens__of_files_follow_from_their_kind(void)
{
    static const char image[] = "[{\"type\":\"image\",\"data\":\"QUJD\"}]";
    static const char text[] = "[{\"type\":\"file\",\"name\":\"a\",\"text\":\"abcd\"}]";
    static const char url[] = "[{\"type\":\"file\",\"url\":\"https://h/a.pdf\"},"
                              "{\"type\":\"image\",\"url\":\"https://h/a.png\"}]";
    char large[130000];
    CHECK_INT(tokens_of((cadre_message){.text = "", .parts = image}), 4 + 1500);
    CHECK_INT(tokens_of((cadre_message){.text = "", .parts = text}), 4 + 1);
    CHECK_INT(tokens_of((cadre_message){.text = "", .parts = url}), 4 + 3000);
    (void)snprintf(large, sizeof large,
                   "[{\"type\":\"file\",\"media_type\":\"application/pdf\",\"data\":"
                   "\"%0128000d\"}]",
                   0);
    CHECK_INT(tokens_of((cadre_message){.text = "", .parts = large}), 4 + 2000);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_window__without_a_limit_all_is_sent),
    CHECK_TEST(test_window__the_oldest_rounds_go_whole_and_the_first_turn_stays),
    CHECK_TEST(test_window__the_last_user_turn_and_the_last_input_stay),
    CHECK_TEST(test_window__the_newest_round_stays_however_long),
    CHECK_TEST(test_window__what_must_stay_is_told_when_it_does_not_fit),
    CHECK_TEST(test_window__what_hooks_add_is_always_sent),
    CHECK_TEST(test_window__a_prefix_stays_between_steps),
    CHECK_TEST(test_window__follows_from_the_items_alone),
    CHECK_TEST(test_window__begins_anew_for_other_items_or_another_limit),
    CHECK_TEST(test_tokens__are_counted_from_bytes),
    CHECK_TEST(test_tokens__of_files_follow_from_their_kind),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/window", tests);
}
