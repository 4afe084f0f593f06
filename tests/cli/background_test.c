// Background runs: told of by the program that made them, marked in lists, named in
// trees.
#include "support/folder.h"
#include "support/program.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

// A folder with a store, and the ids of a run and of what it spawned.
typedef struct lab {
    test_folder folder;
    char store[FOLDER_PATH_SIZE];
    char run[32], asking[32], failed[32];
} lab;

static bool command(const lab *it, const char *const *arguments, const char *input,
                    program_result *ran)
{
    char directory[4096];
    const char *const changes[] = {it->store, "HOME=/", NULL};

    return PROGRAM_RUN(ran, .arguments = arguments, .input = input, .changes = changes,
                       .directory = program_source_path("tests/cli/teams", directory,
                                                        sizeof(directory)));
}

#define COMMAND(it, ran, input, ...)                                                   \
    command((it), (const char *const[]){__VA_ARGS__, NULL}, (input), (ran))

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void take_run(lab *it, const json_t *run)
{
    const char *trace = json_string_value(json_object_get(run, "trace_id"));
    const char *status = json_string_value(json_object_get(run, "status"));
    bool is_spawned = json_is_string(json_object_get(run, "spawned_by"));
    char *id = !is_spawned                      ? it->run
               : strcmp(status, "waiting") == 0 ? it->asking
                                                : it->failed;

    snprintf(id, sizeof(it->run), "%s", trace);
}

static bool make_lab(lab *it)
{
    *it = (lab){.run = ""};
    if (!CHECK(folder_make(&it->folder)))
        return false;
    snprintf(it->store, sizeof(it->store), "CADRE_STORE=%s/runs.db", it->folder.path);
    return true;
}

// Makes a run; the caller looks at what it said.
static bool make_run(lab *it, const char *word, program_result *made)
{
    program_result ran;

    if (!make_lab(it) ||
        !COMMAND(it, made, NULL, "run", "background.yaml", "go", "--offline", word) ||
        !COMMAND(it, &ran, NULL, "runs", "--json"))
        return false;
    json_t *runs = json_loads(ran.out, 0, NULL);
    CHECK_INT(json_array_size(runs), 3);
    for (size_t i = 0; i < json_array_size(runs); i++)
        take_run(it, json_array_get(runs, i));
    json_decref(runs);
    program_result_fini(&ran);
    return CHECK(*it->run && *it->asking && *it->failed);
}

static void check_told(const char *word)
{
    lab it;
    char asks[512], failed[256];
    program_result ran;

    if (!make_run(&it, word, &ran))
        return;
    snprintf(asks, sizeof(asks),
             "background run %s waits for an answer\n"
             "boss asks: Which one?\n"
             "  cadre answer %s ",
             it.asking, it.asking);
    snprintf(failed, sizeof(failed),
             "cadre: background run %s: failed: agent 'boss': model "
             "'openai/gpt-5-mini': HTTP 400 invalid_request: no way\n",
             it.failed);
    CHECK_INT(ran.exit_status, 0);
    CHECK_CONTAINS(ran.err, asks);
    CHECK_CONTAINS(ran.err, failed);
    CHECK_INT(count(ran.err, "background run "), 2);
    program_result_fini(&ran);
    folder_remove(&it.folder);
}

static void test_background__run_tells_those_that_wait_or_failed(void)
{
    check_told(NULL);
    check_told("--quiet");
}

static void test_background__nobody_can_answer_when_the_store_is_gone(void)
{
    lab it;
    program_result ran;

    if (!make_lab(&it))
        return;
    if (COMMAND(&it, &ran, NULL, "run", "background.yaml", "go", "--offline",
                "--store=memory")) {
        CHECK_CONTAINS(ran.err, "\nboss asks: Which one?\n"
                                "cadre: nobody can answer: the store ends with this "
                                "program\n");
        CHECK_LACKS(ran.err, "cadre answer ");
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
}

static void test_background__chat_tells_each_once(void)
{
    lab it;
    program_result ran;

    if (!make_lab(&it))
        return;
    if (COMMAND(&it, &ran, "go\nhello\nhello\n", "chat", "background.yaml", "--offline",
                "--session=ada")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(count(ran.err, " waits for an answer\nboss asks: Which one?\n"), 1);
        CHECK_INT(count(ran.err, "cadre: background run "), 1);
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
}

static void test_background__runs_marks_them(void)
{
    lab it;
    char line[128];
    program_result ran;

    if (!make_run(&it, NULL, &ran))
        return;
    program_result_fini(&ran);
    if (COMMAND(&it, &ran, NULL, "runs")) {
        snprintf(line, sizeof(line), "%-18s  waiting    shop  background  ", it.asking);
        CHECK_CONTAINS(ran.out, line);
        snprintf(line, sizeof(line), "%-18s  failed     shop  background  ", it.failed);
        CHECK_CONTAINS(ran.out, line);
        CHECK_INT(count(ran.out, "background"), 2);
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
}

// They stand below who spawned them, in the order in which they began.
static void check_tree(const lab *it, const char *scope, const char *branch)
{
    char line[128];
    program_result ran;

    if (!COMMAND(it, &ran, NULL, "tree", it->run, scope))
        return;
    snprintf(line, sizeof(line), "%s%s", branch, it->asking);
    CHECK_CONTAINS(ran.out, line);
    snprintf(line, sizeof(line), "%s%s", branch, it->failed);
    CHECK_CONTAINS(ran.out, line);
    CHECK_INT(count(ran.out, "  background  waiting\n"), 1);
    CHECK_INT(count(ran.out, "  background  failed\n"), 1);
    program_result_fini(&ran);
}

static void check_tree_json(const lab *it)
{
    program_result ran;

    if (!COMMAND(it, &ran, NULL, "tree", it->run, "--json"))
        return;
    json_t *object = json_loads(ran.out, 0, NULL);
    const json_t *spawned = json_object_get(object, "spawned");
    CHECK_INT(json_array_size(spawned), 2);
    for (size_t i = 0; i < json_array_size(spawned); i++) {
        const json_t *run = json_array_get(spawned, i);
        const char *trace = json_string_value(json_object_get(run, "trace_id"));
        bool is_asking = trace && strcmp(trace, it->asking) == 0;
        CHECK(is_asking || (trace && strcmp(trace, it->failed) == 0));
        CHECK(json_is_string(json_object_get(run, "spawned_by")));
        CHECK_TEXT(json_string_value(json_object_get(run, "status")),
                   is_asking ? "waiting" : "failed");
    }
    json_decref(object);
    program_result_fini(&ran);
}

static void test_background__tree_names_them_below_who_spawned_them(void)
{
    lab it;
    program_result ran;

    if (!make_run(&it, NULL, &ran))
        return;
    program_result_fini(&ran);
    check_tree(&it, NULL, "\xe2\x94\x80 ");
    check_tree(&it, "--all", "\xe2\x94\x82  \xe2\x94\x94\xe2\x94\x80 ");
    check_tree_json(&it);
    folder_remove(&it.folder);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_background__run_tells_those_that_wait_or_failed),
        CHECK_TEST(test_background__nobody_can_answer_when_the_store_is_gone),
        CHECK_TEST(test_background__chat_tells_each_once),
        CHECK_TEST(test_background__runs_marks_them),
        CHECK_TEST(test_background__tree_names_them_below_who_spawned_them),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/background", tests);
}
