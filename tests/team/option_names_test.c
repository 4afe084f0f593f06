// Options that name agents and tools, and the mistakes that an init tells with places.
#include "cadre/ext/agent.h"
#include "team/team.h"

#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>

static cadre_runtime *runtime;
static test_folder folder;

// What the last init of a weave was given.
static struct {
    char members[200], tools[200], entry[64];
    const char *mistake_at, *note_at; // paths to tell of; NULL: none
    const cadre_agent *inner;
} seen;

// Appends to a text that has room for `size` bytes.
static void append(char *text, size_t size, const char *more)
{
    size_t len = strlen(text);
    (void)snprintf(text + len, size - len, "%s", more);
}

static void list_parts(const cadre_agent_config *config)
{
    seen.members[0] = seen.tools[0] = '\0';
    for (size_t i = 0; i < config->members.count; i++) {
        append(seen.members, sizeof(seen.members), i > 0 ? " " : "");
        append(seen.members, sizeof(seen.members),
               cadre_agent_get_info(config->members.items[i])->name);
    }
    for (size_t i = 0; i < config->tools.count; i++) {
        append(seen.tools, sizeof(seen.tools), i > 0 ? " " : "");
        append(seen.tools, sizeof(seen.tools), config->tools.items[i]->info.name);
    }
    (void)snprintf(seen.entry, sizeof(seen.entry), "%s",
                   config->entry_name == NULL ? "-" : config->entry_name);
}

static cadre_status inner_run(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_set_output(frame, "from inside", err);
}

static cadre_status weave_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    *(const cadre_agent **)state =
        config->add_function(config, "knot", inner_run, NULL);
    seen.inner = *(const cadre_agent **)state;
    list_parts(config);
    if (seen.note_at != NULL)
        config->note(config, seen.note_at, "looks odd");
    if (seen.mistake_at == NULL)
        return CADRE_OK;
    config->problem(config, seen.mistake_at, "is %s", "wrong");
    config->problem(config, "threads", "are thin");
    return cadre_fail(err, CADRE_EINVAL, "agent 'w': not told, since others were");
}

static cadre_status weave_run(void *state, cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = *(const cadre_agent **)state), NULL, err);
}

static const cadre_agent_ops weave = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "weave",
    .summary = "names agents and tools",
    .options_schema =
        "{\"threads\": {\"type\": \"object\","
        "   \"additionalProperties\": {\"type\": [\"string\", \"object\"],"
        "     \"format\": \"agent\", \"additionalProperties\": false, \"properties\": {"
        "       \"who\": {\"type\": \"string\", \"format\": \"agent\"},"
        "       \"with\": {\"type\": \"array\", \"items\":"
        "          {\"type\": \"string\", \"format\": \"tool\"}},"
        "       \"wait\": {\"type\": \"string\", \"format\": \"duration\"}}},"
        "   \"patternProperties\": {\"^x-\": true}},"
        " \"last\": {\"type\": \"string\", \"format\": \"agent\"}}",
    .state_size = sizeof(cadre_agent *),
    .names_entry = true,
    .init = weave_init,
    .run = weave_run,
};

#define REST                                                                           \
    "  a: {model: openai/m}\n"                                                         \
    "  b: {model: openai/m}\n"                                                         \
    "  c: {model: openai/m}\n"                                                         \
    "tools:\n"                                                                         \
    "  clock: {type: ask}\n"                                                           \
    "  bell: {type: ask}\n"

static cadre_team *load(const char *text, const char *problems, const char *notes)
{
    char path[FOLDER_PATH_SIZE];
    char told[4000] = "";
    size_t n = 0;
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", text, path);
    cadre_team_load(runtime, path, &team, NULL);
    const char *const *lines = cadre_team_problems(team, &n);
    for (size_t i = 0; i < n; i++) {
        append(told, sizeof(told), strstr(lines[i], "team.yaml"));
        append(told, sizeof(told), "\n");
    }
    CHECK_TEXT(told, problems);
    told[0] = '\0';
    lines = cadre_team_notes(team, &n);
    for (size_t i = 0; i < n; i++) {
        append(told, sizeof(told), strstr(lines[i], "team.yaml"));
        append(told, sizeof(told), "\n");
    }
    CHECK_TEXT(told, notes);
    return team;
}

static void test_options__agents_that_they_name_are_members_once(void)
{
    cadre_team *team =
        load("agents:\n"
             "  w: {type: weave, members: [b], entry: elsewhere,\n"
             "    weave: {threads: {x-note: 7, one: a, two: {who: c,\n"
             "      with: [bell, clock, bell]}, three: b}, last: a}}\n" REST,
             "", "");
    CHECK_TEXT(seen.members, "b a c");
    CHECK_TEXT(seen.tools, "bell clock");
    CHECK_TEXT(seen.entry, "elsewhere");
    CHECK(cadre_team_root(team) == cadre_team_find(team, "w"));
    cadre_team_free(team);
}

static void test_options__unknown_names_are_told_where_they_stand(void)
{
    cadre_team_free(
        load("agents:\n"
             "  w: {type: weave, weave: {threads: {one: aa, two: {who: nobody_at_all,\n"
             "      with: [bell, clok]}}, last: aa}}\n" REST,
             "team.yaml:2:43: agents.w.weave.threads.one: unknown agent 'aa'; did you "
             "mean 'a'? (agents: w, a, b, c)\n"
             "team.yaml:2:58: agents.w.weave.threads.two.who: unknown agent "
             "'nobody_at_all' (agents: w, a, b, c)\n"
             "team.yaml:3:20: agents.w.weave.threads.two.with[1]: unknown tool 'clok'; "
             "did you mean 'clock'? (tools: clock, bell)\n"
             "team.yaml:3:35: agents.w.weave.last: unknown agent 'aa'; did you mean "
             "'a'? (agents: w, a, b, c)\n",
             ""));
}

static void test_options__an_agent_that_contains_itself_is_found(void)
{
    cadre_team_free(load("agents:\n"
                         "  w: {type: weave, weave: {last: v}}\n"
                         "  v: {type: weave, weave: {threads: {one: {who: w}}}}\n" REST,
                         "team.yaml:2:3: agent 'w': contains itself: w -> v -> w\n",
                         ""));
}

static void test_options__what_nobody_names_is_noted_as_ever(void)
{
    cadre_team_free(load("agents:\n"
                         "  w: {type: weave, weave: {threads: {one: {who: a,\n"
                         "      with: [bell]}}}}\n" REST,
                         "",
                         "team.yaml:5:3: note: agent 'b' is never used\n"
                         "team.yaml:6:3: note: agent 'c' is never used\n"
                         "team.yaml:8:3: note: tool 'clock' is never used\n"));
}

static void test_options__blocks_of_other_types_wait_and_name_nobody(void)
{
    cadre_team *team = load("agents:\n"
                            "  d: {type: handoff, members: [a, b, c],\n"
                            "    weave: {threads: {one: nobody}}}\n"
                            "  a: {model: openai/m}\n"
                            "  b: {model: openai/m}\n"
                            "  c: {model: openai/m}\n",
                            "", "");
    CHECK_INT(cadre_agent_members(cadre_team_root(team)).count, 3);
    cadre_team_free(team);
}

static void test_options__the_members_they_name_belong_to_the_shape(void)
{
    const char *texts[] = {"agents:\n  w: {type: weave, weave: {last: a}}\n",
                           "agents:\n  w: {type: weave, weave: {last: b}}\n"};
    char digests[2][CDR_DIGEST_SIZE];
    for (int i = 0; i < 2; i++) {
        char text[400];
        char path[FOLDER_PATH_SIZE];
        cadre_team *team = NULL;
        (void)snprintf(text, sizeof(text), "%s" REST, texts[i]);
        folder_write(&folder, "team.yaml", text, path);
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
        memcpy(digests[i], team->shape_digest, sizeof(digests[i]));
        cadre_team_free(team);
    }
    CHECK(strcmp(digests[0], digests[1]) != 0);
}

static void test_options__mistakes_of_an_init_have_places_and_come_together(void)
{
    seen.mistake_at = "threads.two.with[1]";
    cadre_team_free(load("agents:\n"
                         "  w: {type: weave, weave: {threads: {one: a, two: {who: c,\n"
                         "      with: [bell, clock]}}, last: b}}\n" REST,
                         "team.yaml:2:37: agents.w.weave.threads: are thin\n"
                         "team.yaml:3:20: agents.w.weave.threads.two.with[1]: is "
                         "wrong\n",
                         ""));
    // What the block lacks may stand beside it; what is nowhere is told of the block.
    seen.mistake_at = "entry";
    cadre_team_free(load("agents:\n"
                         "  w: {type: weave, entry: knots, weave: {last: b}}\n" REST,
                         "team.yaml:2:27: agents.w.entry: is wrong\n"
                         "team.yaml:2:41: agents.w.weave.threads: are thin\n",
                         ""));
    seen.mistake_at = NULL;
}

static void test_options__notes_of_an_init_have_places(void)
{
    seen.note_at = "threads.two";
    cadre_team_free(load("agents:\n"
                         "  w: {type: weave, weave: {threads: {one: a, two: {who: c,\n"
                         "      with: [bell, clock]}}, last: b}}\n" REST,
                         "",
                         "team.yaml:2:51: note: agent 'w': threads.two: looks odd\n"));
    seen.note_at = NULL;
}

static void test_options__of_a_program_name_agents_too(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    cadre_team *team = cadre_team_new(runtime, "t");
    cadre_team_add_topology(
        team, "weave",
        CADRE_TOPOLOGY(.name = "w", .entry = "e",
                       .options = "{\"threads\": {\"one\": \"a\", \"two\": {\"who\": "
                                  "\"lost\", \"with\": [\"none\"]}}}"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 2)) {
        CHECK_TEXT(problems[0], "agent 'w': options.threads.two.who: unknown agent "
                                "'lost' (agents: w, a)");
        CHECK_TEXT(problems[1],
                   "agent 'w': options.threads.two.with[0]: unknown tool 'none'");
    }
    cadre_team_free(team);
}

static void test_options__inner_agents_run_and_are_not_listed(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    cadre_team *team = cadre_team_new(runtime, "t");
    cadre_team_add_topology(
        team, "weave", CADRE_TOPOLOGY(.name = "w", .options = "{\"last\": \"a\"}"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    if (!CHECK_OK(cadre_team_seal(team, &err), &err))
        return;
    CHECK_INT(cadre_team_agents(team).count, 2);
    CHECK_TEXT(cadre_agent_get_info(seen.inner)->name, "w.knot");
    CHECK_INT(cadre_agent_members(cadre_team_root(team)).count, 1);
    setenv("OPENAI_API_KEY", "none", 1); // NOLINT(concurrency-mt-unsafe)
    CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "hi"), &run, &err), &err);
    CHECK_OK(cadre_run_wait(run, &result, &err), &err);
    if (CHECK(result != NULL)) {
        CHECK_TEXT(result->text, "from inside");
        CHECK_TEXT(result->agent, "w.knot");
    }
    cadre_run_free(run);
    cadre_team_free(team);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_options__agents_that_they_name_are_members_once),
    CHECK_TEST(test_options__unknown_names_are_told_where_they_stand),
    CHECK_TEST(test_options__an_agent_that_contains_itself_is_found),
    CHECK_TEST(test_options__what_nobody_names_is_noted_as_ever),
    CHECK_TEST(test_options__blocks_of_other_types_wait_and_name_nobody),
    CHECK_TEST(test_options__the_members_they_name_belong_to_the_shape),
    CHECK_TEST(test_options__mistakes_of_an_init_have_places_and_come_together),
    CHECK_TEST(test_options__notes_of_an_init_have_places),
    CHECK_TEST(test_options__of_a_program_name_agents_too),
    CHECK_TEST(test_options__inner_agents_run_and_are_not_listed),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK ||
        cadre_runtime_register(runtime, &weave, NULL) != CADRE_OK ||
        !folder_make(&folder))
        return 1;
    int status = check_main("team/option_names", tests);
    folder_remove(&folder);
    cadre_runtime_close(runtime);
    return status;
}
