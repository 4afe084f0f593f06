// Every sample team gives the right answer, the whole of it on stdout, checks clean,
// and does the same when it is gone on with.
//
// A sample without an entry here is found by test_samples__all_are_tested.
#include "support/program.h"

#include <dirent.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

typedef struct sample {
    const char *folder, *input;
    const char *agent, *output;
    const char *frames; // all of them, what is below one right after it
    int model_calls, tool_calls;
    int exit_status; // 3: it waits for an answer
} sample;

static const sample samples[] = {
    {"hello", "I am Ada", "greeter", "Hello, Ada. It is good to see you.",
     "agent greeter; model openai/gpt-5-mini; ", 1, 0, 0},
    {"customer-desk", "I want to return order 1042", "after_sales",
     "Order 1042 was delivered on Monday, so you can return it. Your return label is "
     "on its way.",
     "agent desk; agent pre_sales; model fast; tool transfer_to_agent; "
     "agent after_sales; model fast; tool order_status; model fast; ",
     3, 2, 0},
    {"subagent-foreground", "Name three numbers", "main",
     "The three numbers are 2, 3 and 5.",
     "agent main; model fast; tool subagent; agent main; model fast; model fast; ", 3,
     1, 0},
    {"subagent-background", "Find three numbers", "main",
     "I have started it and will tell you.",
     "agent main; model fast; tool tasks; model fast; ", 2, 1, 0},
    {"routing-hook", "I was charged twice, please refund me", "billing",
     "Your 25 euros are on their way back to you.",
     "agent desk; agent front; agent billing; model fast; ", 1, 0, 0},
    {"approval", "I was charged twice", "desk", "",
     "agent desk; model fast; tool refund; ask ask; ", 1, 0, 3},
    {"design-review", "We need short links for our newsletter", "lead",
     "Two web servers answer redirects from a copy of the links in memory; PostgreSQL "
     "keeps them and is backed up each night. Clicks are counted per link and hour, "
     "with no address, and written once a minute. Open: who pays for the domain for "
     "five years.",
     "agent review; agent lead; model fast; "
     "tool analyst; agent analyst; model fast; model fast; "
     "tool designer; agent designer; model fast; model fast; "
     "tool reviewer; agent reviewer; model fast; model fast; "
     "tool designer; agent designer; model fast; model fast; ",
     9, 4, 0},
    {"helpdesk-swarm", "I am mira. Since I changed my password I have no Wi-Fi.",
     "devices",
     "Your laptop still sends the old password and locks you out. Forget the Wi-Fi "
     "\"office\" in its settings, wait 15 minutes, and join with the new password.",
     "agent helpdesk; agent front; model fast; tool transfer_to_agent; "
     "agent network; model fast; tool transfer_to_agent; "
     "agent accounts; model fast; tool account_status; model fast; "
     "tool transfer_to_agent; agent devices; model fast; ",
     5, 4, 0},
    {"article-chain", "Why is the sky blue at noon and red at dusk?", "proofreader",
     "Sunlight is a mix of all colours of the rainbow. On its way to us it hits the "
     "air, and the air scatters blue light about four times as much as red. So at "
     "noon, blue comes from everywhere: the sky is blue. At dusk, the light crosses "
     "up to 40 times as much air. The blue is lost on the way, and what arrives is "
     "red.",
     "agent article; agent planner; model fast; agent researcher; model fast; "
     "agent writer; model fast; agent proofreader; model fast; ",
     4, 0, 0},
    {"write-and-review", "Tell the neighbours that the water is off on 3 March",
     "writer",
     "Dear neighbours, on Tuesday, 3 March, the water is off from 9 to 12: the main "
     "pipe is renewed. Please fill a bucket or two before. Thank you!",
     "agent letter; agent writer; model fast; agent reviewer; model fast; "
     "agent writer; model fast; agent reviewer; model fast; "
     "agent writer; model fast; agent reviewer; model fast; tool escalate; ",
     6, 1, 0},
    {"question-router", "Is a heat pump cheaper than gas for my house?", "router",
     "The heat pump: it takes 4,000 kWh of power, 1,200 euros a year. Gas takes "
     "13,300 kWh, about 1,470 euros.",
     "agent router; agent classifier; model fast; "
     "agent researcher; model good; agent analyst; model good; "
     "agent researcher; model good; agent analyst; model good; ",
     5, 0, 0},
    {"letter-desk", "My lamp broke. I want my 25 euros back. Ada", "desk",
     "Dear Ada, you get your 25 euros back. They are with you by Friday.",
     "agent desk; agent reader; model small; model small; agent refunds; model large; ",
     3, 0, 0},
    {"company", "We need a page that tells customers what our hours cost", "chief",
     "You get a price page: a slider for the hours, the price beside it, the 10 % off "
     "from 40 hours on marked. The calculation is written and tested, 40 hours "
     "included. We can put it online on Thursday.",
     "agent company; agent chief; model good; "
     "tool engineering; agent engineering; agent tech_lead; model good; "
     "tool coder; agent coder; model good; model good; "
     "tool tester; agent tester; model fast; model good; "
     "tool coder; agent coder; model good; model good; "
     "tool product; agent product; agent product_lead; model good; "
     "tool designer; agent designer; model fast; model good; model good; ",
     12, 6, 0},
    {"three-sources", "The train is late today.", "first",
     "Der Zug hat heute Versp\u00e4tung.",
     "agent first; agent local; model local; agent small; model small; "
     "agent large; model large; ",
     3, 0, 0},
};

enum {
    N_SAMPLES = sizeof(samples) / sizeof(samples[0]),
    PATH_BYTES = 1024
};

// The sample's team file, as one types it in the root of the tree.
static const char *team_of(const sample *it, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "samples/%s/team.yaml", it->folder);
    return path;
}

static bool run_sample(const sample *it, const char *option, program_result *ran)
{
    char root[PATH_BYTES], team[PATH_BYTES];
    return PROGRAM_RUN(ran,
                       .arguments =
                           (const char *const[]){"run", team_of(it, team), it->input,
                                                 "--offline", option, NULL},
                       .directory = program_source_path("", root, sizeof(root)));
}

static void test_samples__answer_on_stdout_and_tree_on_stderr(void)
{
    char expected[512];
    program_result ran;

    for (int i = 0; i < N_SAMPLES; i++) {
        if (!run_sample(&samples[i], "--plain", &ran))
            return;
        bool waits = samples[i].exit_status == 3;
        snprintf(expected, sizeof(expected), "%s%s", samples[i].output,
                 waits ? "" : "\n");
        CHECK_INT(ran.exit_status, samples[i].exit_status);
        CHECK_TEXT(ran.out, expected);
        CHECK_CONTAINS(ran.err, samples[i].agent);
        CHECK_CONTAINS(ran.err, waits ? "\nwaits for an answer, " : "\ncompleted, ");
        program_result_fini(&ran);
    }
}

// Adds "KIND NAME; " for each frame below a parent (NULL: of the root). What works at
// the same time is listed one after the other.
static void list_frames(const json_t *frames, const char *parent, char *text,
                        size_t size)
{
    for (size_t i = 0; i < json_array_size(frames); i++) {
        const json_t *frame = json_array_get(frames, i);
        const json_t *above = json_object_get(frame, "parent_id");
        const char *kind = json_string_value(json_object_get(frame, "kind"));
        const char *name = json_string_value(json_object_get(frame, kind));
        size_t len = strlen(text);
        if (parent == NULL
                ? !json_is_null(above)
                : strcmp(json_is_string(above) ? json_string_value(above) : "",
                         parent) != 0)
            continue;
        snprintf(text + len, size - len, "%s %s; ", kind, name);
        list_frames(frames, json_string_value(json_object_get(frame, "id")), text,
                    size);
    }
}

static json_int_t number_at(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void check_result(const sample *it, const json_t *result)
{
    const json_t *usage = json_object_get(result, "usage");
    char frames[1024] = "";

    list_frames(json_object_get(result, "frames"), NULL, frames, sizeof(frames));
    CHECK_TEXT(frames, it->frames);
    CHECK_TEXT(json_string_value(json_object_get(result, "status")),
               it->exit_status == 3 ? "waiting" : "completed");
    CHECK_TEXT(json_string_value(json_object_get(result, "agent")), it->agent);
    CHECK_TEXT(json_string_value(json_object_get(result, "output")), it->output);
    CHECK_INT(number_at(usage, "model_calls"), it->model_calls);
    CHECK_INT(number_at(usage, "tool_calls"), it->tool_calls);
}

static void test_samples__json_has_answer_calls_and_frames(void)
{
    char root[PATH_BYTES], team[PATH_BYTES];
    program_result ran;

    for (int i = 0; i < N_SAMPLES; i++) {
        if (!PROGRAM_RUN(&ran,
                         .arguments =
                             (const char *const[]){"run", team_of(&samples[i], team),
                                                   samples[i].input, "--offline",
                                                   "--json", "--all", "--quiet", NULL},
                         .directory = program_source_path("", root, sizeof(root))))
            return;
        json_t *result = json_loads(ran.out, 0, NULL);
        CHECK_INT(ran.exit_status, samples[i].exit_status);
        if (samples[i].exit_status == 0)
            CHECK_TEXT(ran.err, "");
        check_result(&samples[i], result);
        json_decref(result);
        program_result_fini(&ran);
    }
}

static void test_samples__check_clean_with_their_scripts(void)
{
    char root[PATH_BYTES], team[PATH_BYTES];
    program_result ran;

    for (int i = 0; i < N_SAMPLES; i++) {
        if (!PROGRAM_RUN(&ran,
                         .arguments =
                             (const char *const[]){"check", team_of(&samples[i], team),
                                                   "--offline", NULL},
                         .directory = program_source_path("", root, sizeof(root))))
            return;
        CHECK_INT(ran.exit_status, 0);
        CHECK(strncmp(ran.out, "ok: ", 4) == 0);
        CHECK_TEXT(ran.err, "");
        program_result_fini(&ran);
    }
}

// Cut after any commit, each goes on to the same end.
static void test_samples__do_the_same_when_entered_again(void)
{
    char root[PATH_BYTES], team[PATH_BYTES];
    program_result ran;

    for (int i = 0; i < N_SAMPLES; i++) {
        if (!PROGRAM_RUN(&ran,
                         .arguments =
                             (const char *const[]){"test", team_of(&samples[i], team),
                                                   samples[i].input, "--reenter",
                                                   "--every-commit", NULL},
                         .directory = program_source_path("", root, sizeof(root))))
            return;
        CHECK_INT(ran.exit_status, 0);
        CHECK(strncmp(ran.out, samples[i].folder, strlen(samples[i].folder)) == 0);
        CHECK_CONTAINS(ran.out, " commit");
        CHECK_CONTAINS(ran.out, ": no difference\n");
        if (samples[i].exit_status == 0)
            CHECK_TEXT(ran.err, "");
        program_result_fini(&ran);
    }
}

// Paths in a team file are relative to it, not to where the program is started.
static void test_samples__run_from_any_folder(void)
{
    char team[PATH_BYTES];
    program_result ran;

    if (!PROGRAM_RUN(&ran,
                     .arguments =
                         (const char *const[]){
                             "run",
                             program_source_path("samples/customer-desk/team.yaml",
                                                 team, sizeof(team)),
                             samples[1].input, "--offline", "--quiet", NULL},
                     .directory = "/"))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_CONTAINS(ran.out, "delivered on Monday");
    program_result_fini(&ran);
}

static bool has_entry(const char *folder)
{
    for (int i = 0; i < N_SAMPLES; i++)
        if (strcmp(samples[i].folder, folder) == 0)
            return true;
    return false;
}

static void test_samples__all_are_tested(void)
{
    char folder[PATH_BYTES], team[2 * PATH_BYTES];
    int n_found = 0;
    DIR *directory = opendir(program_source_path("samples", folder, sizeof(folder)));

    if (!CHECK(directory != NULL))
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        snprintf(team, sizeof(team), "%s/%s/team.yaml", folder, entry->d_name);
        if (access(team, R_OK) != 0)
            continue;
        n_found++;
        if (!has_entry(entry->d_name))
            CHECK_TEXT(entry->d_name, "a sample of the table");
    }
    closedir(directory);
    CHECK_INT(n_found, N_SAMPLES);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_samples__answer_on_stdout_and_tree_on_stderr),
    CHECK_TEST(test_samples__json_has_answer_calls_and_frames),
    CHECK_TEST(test_samples__check_clean_with_their_scripts),
    CHECK_TEST(test_samples__do_the_same_when_entered_again),
    CHECK_TEST(test_samples__run_from_any_folder),
    CHECK_TEST(test_samples__all_are_tested),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("samples", tests);
}
