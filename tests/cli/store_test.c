// Where `cadre run` records: the option, the variable, the default; and what it
// says when it cannot.
#include "support/folder.h"
#include "support/program.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *found, int type,
                      struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

// The folder with all folders in it.
static void remove_all(test_folder *folder)
{
    nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

// Runs a team with these changes of the environment, or a --store; NULL: none.
static bool run_desk(const char *const *changes, const char *store, program_result *ran)
{
    char directory[4096];
    const char *const with[] = {"run",     "desk.yaml", "hi", "--offline",
                                "--store", store,       NULL};
    const char *const without[] = {"run", "desk.yaml", "hi", "--offline", NULL};

    return PROGRAM_RUN(ran, .arguments = store ? with : without, .changes = changes,
                       .directory = program_source_path("tests/cli/teams", directory,
                                                        sizeof(directory)));
}

static void check_mode(const test_folder *folder, const char *name, mode_t mode)
{
    char path[FOLDER_PATH_SIZE];
    struct stat found = {0};

    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    if (!CHECK_INT(stat(path, &found), 0))
        CHECK_TEXT("not there", path);
    CHECK_INT(found.st_mode & 0777, mode);
}

static void test_store__is_a_private_file_below_the_state_folder(void)
{
    test_folder folder;
    char state[FOLDER_PATH_SIZE];
    program_result ran;

    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(state, sizeof(state), "XDG_STATE_HOME=%s/a/b", folder.path);
    if (run_desk((const char *const[]){"CADRE_STORE", state, NULL}, NULL, &ran)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "-1)\n"); // the record says the rest
        check_mode(&folder, "a", 0700);
        check_mode(&folder, "a/b/cadre", 0700);
        check_mode(&folder, "a/b/cadre/cadre.db", 0600);
        program_result_fini(&ran);
    }
    remove_all(&folder);
}

static void test_store__is_below_home_where_no_state_folder_is_named(void)
{
    test_folder folder;
    char home[FOLDER_PATH_SIZE];
    program_result ran;

    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(home, sizeof(home), "HOME=%s", folder.path);
    // A relative one is ignored, as its specification demands.
    if (run_desk(
            (const char *const[]){"CADRE_STORE", home, "XDG_STATE_HOME=here", NULL},
            NULL, &ran)) {
        CHECK_INT(ran.exit_status, 0);
        check_mode(&folder, ".local/state/cadre/cadre.db", 0600);
        program_result_fini(&ran);
    }
    remove_all(&folder);
}

static void test_store__is_what_the_variable_or_the_option_names(void)
{
    test_folder folder;
    char by_variable[FOLDER_PATH_SIZE], by_option[FOLDER_PATH_SIZE];
    program_result ran;

    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(by_variable, sizeof(by_variable), "CADRE_STORE=%s/one.db", folder.path);
    if (run_desk((const char *const[]){by_variable, NULL}, NULL, &ran)) {
        CHECK_INT(ran.exit_status, 0);
        check_mode(&folder, "one.db", 0600);
        program_result_fini(&ran);
    }
    snprintf(by_option, sizeof(by_option), "sqlite:%s/two.db?durability=normal",
             folder.path);
    if (run_desk((const char *const[]){by_variable, NULL}, by_option, &ran)) {
        CHECK_INT(ran.exit_status, 0);
        check_mode(&folder, "two.db", 0600);
        // What one types to go on is what a shell reads as the same words.
        CHECK_CONTAINS(ran.err, " --store 'sqlite:");
        CHECK_CONTAINS(ran.err, "/two.db?durability=normal')\n");
        program_result_fini(&ran);
    }
    remove_all(&folder);
}

static void test_store__memory_has_nothing_to_go_on_with(void)
{
    program_result ran;

    if (!run_desk(NULL, "memory", &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_LACKS(ran.err, "cadre resume");
    program_result_fini(&ran);
}

static void test_store__that_cannot_be_opened_is_named_with_the_way_out(void)
{
    static const struct {
        const char *store, *text;
    } cases[] = {
        {"/dev/null/runs.db", "/dev/null/runs.db: "},
        {"sqlite:/nowhere/runs.db", "/nowhere/runs.db: "},
        {"desk.yaml/runs.db", "desk.yaml/runs.db: "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        program_result ran;
        if (!run_desk(NULL, cases[i].store, &ran))
            return;
        CHECK_INT(ran.exit_status, 5);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err, cases[i].text);
        CHECK_CONTAINS(ran.err, "`--store memory`");
        program_result_fini(&ran);
    }
}

static void test_store__folders_that_cannot_be_made_are_named(void)
{
    program_result ran;

    if (run_desk((const char *const[]){"CADRE_STORE", "XDG_STATE_HOME=/dev/null", NULL},
                 NULL, &ran)) {
        CHECK_INT(ran.exit_status, 5);
        CHECK_CONTAINS(ran.err, "/dev/null/cadre/cadre.db: ");
        CHECK_CONTAINS(ran.err, "`--store memory`");
        program_result_fini(&ran);
    }
    if (run_desk((const char *const[]){"CADRE_STORE", "XDG_STATE_HOME", "HOME", NULL},
                 NULL, &ran)) {
        CHECK_INT(ran.exit_status, 5);
        CHECK_CONTAINS(ran.err, "HOME is not set");
        CHECK_CONTAINS(ran.err, "`--store memory`");
        program_result_fini(&ran);
    }
}

static void test_store__a_word_that_is_no_path_is_no_file(void)
{
    program_result ran;

    if (!run_desk(NULL, "memroy", &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_CONTAINS(ran.err, "unknown store 'memroy'");
    program_result_fini(&ran);
}

// Runs a command that needs a store that is there.
static void check_lookup(const char *store, int exit_status, const char *text)
{
    static const char *const commands[] = {"runs",   "tree",  "resume",
                                           "answer", "abort", "wait"};

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        bool needs_trace = i >= 2;
        program_result ran;
        const char *arguments[] = {commands[i],
                                   "--store",
                                   store,
                                   needs_trace ? "aaaaaaaaaaaa-1" : NULL,
                                   i == 3 ? "yes" : NULL,
                                   NULL};
        if (!PROGRAM_RUN(&ran, .arguments = arguments))
            return;
        CHECK_INT(ran.exit_status, exit_status);
        CHECK_TEXT(ran.out, "");
        CHECK(strncmp(ran.err, "cadre: ", 7) == 0); // and no line before it
        CHECK_CONTAINS(ran.err, text);
        program_result_fini(&ran);
    }
}

static void test_store__that_is_not_there_is_not_made_to_be_read(void)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];

    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(path, sizeof(path), "%s/runs.db", folder.path);
    check_lookup(path, 5, "No such file or directory; no run is recorded there");
    CHECK(access(path, F_OK) != 0);
    check_lookup("sqlite:", 2, "needs a file: sqlite:FILE");
    check_lookup("postgres:foo", 2, "unknown store 'postgres");
    check_lookup("/dev/null", 5, "is no ordinary file");
    folder_remove(&folder);
}

static void replace_store(void *ctx)
{
    const char *path = ctx;

    CHECK_INT(unlink(path), 0);
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL))
        fclose(file);
}

static void test_store__that_is_replaced_ends_its_runs_with_exit_5(void)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE], directory[4096];
    program_result ran;

    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(path, sizeof(path), "%s/runs.db", folder.path);
    if (PROGRAM_RUN(
            &ran,
            .arguments = (const char *const[]){"run", "desk.yaml", "hi", "--offline",
                                               "--events", "--store", path, NULL},
            .directory =
                program_source_path("tests/cli/teams", directory, sizeof(directory)),
            .action = {.when = "trace ", .call = replace_store, .ctx = path})) {
        CHECK_CONTAINS(ran.out, "\"class\":\"store\"");
        CHECK_INT(ran.exit_status, 5);
        CHECK_CONTAINS(ran.err, "was removed or replaced while it was in use");
        program_result_fini(&ran);
    }
    folder_remove(&folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store__is_a_private_file_below_the_state_folder),
    CHECK_TEST(test_store__is_below_home_where_no_state_folder_is_named),
    CHECK_TEST(test_store__is_what_the_variable_or_the_option_names),
    CHECK_TEST(test_store__memory_has_nothing_to_go_on_with),
    CHECK_TEST(test_store__that_cannot_be_opened_is_named_with_the_way_out),
    CHECK_TEST(test_store__folders_that_cannot_be_made_are_named),
    CHECK_TEST(test_store__a_word_that_is_no_path_is_no_file),
    CHECK_TEST(test_store__that_is_not_there_is_not_made_to_be_read),
    CHECK_TEST(test_store__that_is_replaced_ends_its_runs_with_exit_5),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/store", tests);
}
