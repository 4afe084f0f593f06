// The live tree on a screen: one tree, whatever the size, and what it tells.
#include "support/program.h"
#include "support/screen.h"

#include <stdlib.h>
#include <string.h>

#define TEAMS program_source_path("tests/cli/teams", (char[4096]){""}, 4096)
#define BUSY                                                                           \
    .arguments =                                                                       \
        (const char *const[]){"run", "busy.yaml", "hello", "--offline", NULL},         \
    .directory = TEAMS, .terminal = PROGRAM_TERMINAL, .changes = (const char *const[]) \
    {                                                                                  \
        "TERM=xterm", "NO_COLOR", NULL                                                 \
    }

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

// What a reader has before the eyes at the end; `widths` are those after the actions.
static char *replay(const program_result *ran, const program_config *config,
                    const size_t *widths)
{
    size_t at = 0, len = strlen(ran->err);
    screen it;

    if (!CHECK(screen_init(&it, (size_t)config->columns, (size_t)config->rows)))
        return NULL;
    for (size_t i = 0; i < PROGRAM_MAX_ACTIONS && widths[i]; i++) {
        CHECK(ran->acted_len[i] > at);
        screen_write(&it, ran->err + at, ran->acted_len[i] - at);
        screen_resize(&it, widths[i]);
        at = ran->acted_len[i];
    }
    screen_write(&it, ran->err + at, len - at);
    CHECK(!it.has_failed);
    char *text = screen_text(&it);
    screen_fini(&it);
    return text;
}

// All that was said, once, and the tree of the end alone.
static void check_one_tree(const program_config *config, const size_t *widths)
{
    program_result ran;

    if (!program_run(config, &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK(count(ran.err, "\033[A\033[2K") > 2); // it was drawn
    char *text = replay(&ran, config, widths);
    if (CHECK(text != NULL)) {
        CHECK_INT(count(text, "running "), 0);
        CHECK_INT(count(text, "desk"), 1);
        CHECK_INT(count(text, "Let me see.\n"), 1);
        CHECK_INT(count(text, "after_sales:\nYour label is on its way.\n"), 1);
        CHECK_INT(count(text, "trace "), 2); // the first line and the last
    }
    free(text);
    program_result_fini(&ran);
}

static void test_live__one_tree_is_left_on_a_screen_of_any_size(void)
{
    static const struct {
        int columns, rows;
    } sizes[] = {{80, 24}, {80, 4}, {80, 3}, {80, 2}, {30, 5}, {200, 4}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check_one_tree(
            &(program_config){BUSY, .columns = sizes[i].columns, .rows = sizes[i].rows},
            (size_t[PROGRAM_MAX_ACTIONS]){0});
}

static void test_live__one_tree_is_left_when_the_screen_gets_narrower(void)
{
    static const int widths[] = {60, 40, 20};

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        check_one_tree(&(program_config){BUSY, .columns = 80, .rows = 24,
                                         .action = {.when = "counting to two",
                                                    .columns = widths[i]}},
                       (size_t[PROGRAM_MAX_ACTIONS]){(size_t)widths[i]});
}

static void test_live__one_tree_is_left_when_the_screen_gets_wide_again(void)
{
    const program_action wide = {.when = "handed over", .columns = 90};

    check_one_tree(
        &(program_config){
            BUSY, .columns = 80, .rows = 24,
            .action = {.when = "counting to two", .columns = 60, .then = &wide}},
        (size_t[PROGRAM_MAX_ACTIONS]){60, 90});
}

static void test_live__agents_tell_what_they_do(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, BUSY))
        return;
    CHECK_CONTAINS(ran.err, "asks again after: HTTP 429");
    CHECK_CONTAINS(ran.err, "  runs count: counting to two");
    CHECK_CONTAINS(ran.err, "  handed over to after_sales");
    CHECK_CONTAINS(ran.err, "  (transfer) asks its model");
    // The tree tells it, no line of its own.
    CHECK_LACKS(ran.err, "trying again");
    program_result_fini(&ran);
}

static void test_live__a_speaker_has_a_head_when_it_is_another(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, BUSY))
        return;
    CHECK_CONTAINS(ran.err, "\033[2mafter_sales:\033[0m\r\n");
    CHECK_LACKS(ran.err, "triage:\033");
    program_result_fini(&ran);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_live__one_tree_is_left_on_a_screen_of_any_size),
        CHECK_TEST(test_live__one_tree_is_left_when_the_screen_gets_narrower),
        CHECK_TEST(test_live__one_tree_is_left_when_the_screen_gets_wide_again),
        CHECK_TEST(test_live__agents_tell_what_they_do),
        CHECK_TEST(test_live__a_speaker_has_a_head_when_it_is_another),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/live", tests);
}
