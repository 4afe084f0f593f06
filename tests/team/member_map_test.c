// Which member of a team an agent is below, also where teams nest deep and meet again.
#include "team/member_map.h"

#include "support/check.h"

#include <stdio.h>

static cadre_runtime *runtime;
static cadre_team *team;
static cdr_arena arena;
static cdr_member_map map;

static cadre_status idle(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_OK;
}

static void add_agent(const char *name)
{
    cadre_team_add_function(team, CADRE_FUNCTION(.name = name, .run = idle));
}

static void add_team(const char *name, const char *first, const char *second)
{
    cadre_names members = {(const char *const[]){first, second}, second ? 2 : 1};
    cadre_team_add_topology(team, "handoff",
                            CADRE_TOPOLOGY(.name = name, .members = members));
}

static void begin(void)
{
    team = cadre_team_new(runtime, "team");
    arena = (cdr_arena)CDR_ARENA_INIT;
    map = (cdr_member_map){.team = NULL};
}

static void seal(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_team_seal(team, &err), &err);
    CHECK(cdr_member_map_init(&map, team, &arena));
}

static void end(void)
{
    cdr_arena_fini(&arena);
    cadre_team_free(team);
}

// The name of the member of `of` that leads to an agent; "none".
static const char *member_above(const char *of, const char *name)
{
    cadre_agents members = cadre_agent_members(cadre_team_find(team, of));
    const cadre_agent *member = cdr_member_map_find(&map, members, name);
    return member == NULL ? "none" : cadre_agent_get_info(member)->name;
}

static void test_member_map__finds_the_member_itself_or_the_team_it_is_in(void)
{
    begin();
    add_team("top", "inner", "solo");
    add_team("inner", "deep", "second");
    add_agent("deep");
    add_agent("second");
    add_agent("solo");
    add_agent("outside");
    seal();
    CHECK_TEXT(member_above("top", "solo"), "solo");
    CHECK_TEXT(member_above("top", "inner"), "inner");
    CHECK_TEXT(member_above("top", "deep"), "inner");
    CHECK_TEXT(member_above("inner", "deep"), "deep");
    CHECK_TEXT(member_above("inner", "solo"), "none");
    CHECK_TEXT(member_above("top", "second"), "inner");
    CHECK_TEXT(member_above("top", "top"), "none");
    CHECK_TEXT(member_above("top", "outside"), "none");
    CHECK_TEXT(member_above("top", "nobody"), "none");
    end();
}

static void test_member_map__gives_the_first_of_several(void)
{
    begin();
    add_team("top", "left", "right");
    add_team("left", "shared", NULL);
    add_team("right", "shared", "own");
    add_agent("shared");
    add_agent("own");
    seal();
    CHECK_TEXT(member_above("top", "shared"), "left");
    CHECK_TEXT(member_above("top", "own"), "right");
    end();
}

// Two teams on each level that have both of the next: 2 to the 60th ways down.
static void test_member_map__meets_each_agent_once(void)
{
    enum {
        LEVELS = 60
    };
    char names[LEVELS + 1][2][16];
    begin();
    for (int i = 0; i <= LEVELS; i++) {
        snprintf(names[i][0], sizeof names[i][0], "a%d", i);
        snprintf(names[i][1], sizeof names[i][1], "b%d", i);
    }
    for (int i = 0; i < LEVELS; i++) {
        add_team(names[i][0], names[i + 1][0], names[i + 1][1]);
        add_team(names[i][1], names[i + 1][0], names[i + 1][1]);
    }
    add_agent(names[LEVELS][0]);
    add_agent(names[LEVELS][1]);
    add_agent("outside");
    seal();
    CHECK_TEXT(member_above("a0", "outside"), "none");
    CHECK_TEXT(member_above("a0", names[LEVELS][1]), "a1");
    end();
}

// Recursion would need more stack than a thread of the pool has.
static void test_member_map__goes_down_20000_teams(void)
{
    enum {
        LEVELS = 20000
    };
    char name[16];
    char next[16];
    begin();
    for (int i = 0; i < LEVELS; i++) {
        snprintf(name, sizeof name, "t%d", i);
        snprintf(next, sizeof next, "t%d", i + 1);
        add_team(name, next, NULL);
    }
    add_agent(next);
    add_agent("outside");
    seal();
    CHECK_TEXT(member_above("t0", next), "t1");
    CHECK_TEXT(member_above("t0", "outside"), "none");
    end();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_member_map__finds_the_member_itself_or_the_team_it_is_in),
    CHECK_TEST(test_member_map__gives_the_first_of_several),
    CHECK_TEST(test_member_map__meets_each_agent_once),
    CHECK_TEST(test_member_map__goes_down_20000_teams),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK)
        return 1;
    int status = check_main("team/member_map", tests);
    cadre_runtime_close(runtime);
    return status;
}
