// cadre draw: its forms, and that nobody reads a name as anything else.
#include "support/lab.h"

#include "ui/draw.h"

#include "cadre/ext/agent.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char team[] =
    "root: desk\n"
    "agents:\n"
    "  desk: {type: handoff, entry: line, members: [line, tech]}\n"
    "  line: {type: chain, members: [writer, critic], description: Writes}\n"
    "  writer: {model: openai/any, tools: [look]}\n"
    "  critic: {model: openai/any}\n"
    "  tech: {model: openai/any}\n"
    "tools: {look: {type: command, argv: [\"true\"], description: Looks}}\n";

static bool draw(const lab *it, const char *format, const char *path,
                 program_result *ran)
{
    char variable[4096];

    snprintf(variable, sizeof(variable), "PATH=%s", path ? path : "");
    return PROGRAM_RUN(ran,
                       .arguments = LAB_WORDS("draw", "team.yaml", "--format", format),
                       .changes = path ? (const char *const[]){variable, NULL} : NULL,
                       .directory = it->folder.path);
}

static void check_drawn(const char *format, const char *expected)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, ""))
        return;
    if (draw(&it, format, NULL, &ran)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, expected);
        CHECK_TEXT(ran.err, "");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_draw__as_text_a_team_is_a_tree(void)
{
    check_drawn("text", "desk (handoff)\n"
                        "├─ line (chain), entry ~> tech\n"
                        "│  ├─ writer (llm) [look], entry -> critic\n"
                        "│  └─ critic (llm), end\n"
                        "└─ tech (llm)\n");
}

static void test_draw__mermaid_has_a_subgraph_for_what_has_members(void)
{
    check_drawn("mermaid", "flowchart TD\n"
                           "  subgraph p0[\"desk (handoff)\"]\n"
                           "    s0(( ))\n"
                           "    subgraph p1[\"line (chain)\"]\n"
                           "      s1(( ))\n"
                           "      p3[\"writer (llm)<br/>tools: look\"]\n"
                           "      p4([\"critic (llm)\"])\n"
                           "    end\n"
                           "    p2[\"tech (llm)\"]\n"
                           "  end\n"
                           "  s0 --> p1\n"
                           "  p1 -.-> p2\n"
                           "  s1 --> p3\n"
                           "  p3 --> p4\n");
}

static void test_draw__dot_has_a_cluster_for_what_has_members(void)
{
    check_drawn("dot", "digraph team {\n"
                       "  compound=true;\n"
                       "  node [shape=box, fontname=\"sans-serif\"];\n"
                       "  edge [fontname=\"sans-serif\"];\n"
                       "  fontname=\"sans-serif\";\n"
                       "  subgraph cluster_p0 {\n"
                       "    label=\"desk\\nhandoff\";\n"
                       "    s0 [shape=point];\n"
                       "    subgraph cluster_p1 {\n"
                       "      label=\"line\\nchain\";\n"
                       "      s1 [shape=point];\n"
                       "      p3 [label=\"writer\\nllm\\ntools: look\"];\n"
                       "      p4 [label=\"critic\\nllm\", peripheries=2];\n"
                       "    }\n"
                       "    p2 [label=\"tech\\nllm\"];\n"
                       "  }\n"
                       "  s0 -> s1 [lhead=cluster_p1];\n"
                       "  s1 -> p2 [style=dashed, ltail=cluster_p1];\n"
                       "  s1 -> p3;\n"
                       "  p3 -> p4 [style=solid];\n"
                       "}\n");
}

// --- svg ---

// A program of that name that stands in for Graphviz's.
static bool write_dot(const lab *it, const char *script)
{
    char path[FOLDER_PATH_SIZE];

    return folder_write(&it->folder, "dot", script, path) && chmod(path, 0700) == 0;
}

static void check_svg(const char *script, int exit_status, const char *out,
                      const char *err)
{
    lab it;
    program_result ran;
    char path[FOLDER_PATH_SIZE + 32];

    if (!lab_make(&it, team, ""))
        return;
    snprintf(path, sizeof(path), "%s:/usr/bin:/bin", it.folder.path);
    if (CHECK(write_dot(&it, script)) && draw(&it, "svg", path, &ran)) {
        CHECK_INT(ran.exit_status, exit_status);
        CHECK_TEXT(ran.out, out);
        CHECK_CONTAINS(ran.err, err);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_draw__svg_is_what_dot_makes_of_the_graph(void)
{
    check_svg("#!/bin/sh\necho \"<svg $*>\"; head -n 1\n", 0,
              "<svg -Tsvg>\ndigraph team {\n", "");
    check_svg("#!/bin/sh\necho half; echo 'syntax error' >&2; exit 1\n", 1, "",
              "syntax error\ncadre: dot failed");
}

static void test_draw__svg_without_graphviz_names_the_package(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, ""))
        return;
    if (draw(&it, "svg", "/nowhere", &ran)) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err,
                       "needs the program `dot`, which is not in PATH; install "
                       "the package graphviz");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// --- The command line ---

static void test_draw__takes_another_type(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, ""))
        return;
    if (PROGRAM_RUN(&ran,
                    .arguments = LAB_WORDS("draw", "team.yaml", "--type", "chain"),
                    .directory = it.folder.path)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "desk (chain)\n├─ line (chain), entry -> tech\n");
        CHECK_CONTAINS(ran.out, "└─ tech (llm), end\n");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_draw__refuses_what_it_cannot_draw(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, "agents: {desk: {type: handoff, members: [nobody]}}\n", ""))
        return;
    if (draw(&it, "dott", NULL, &ran)) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_CONTAINS(ran.err, "not 'dott'; did you mean 'dot'?");
        program_result_fini(&ran);
    }
    if (draw(&it, "text", NULL, &ran)) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err,
                       "team.yaml:1:42: agents.desk.members[0]: unknown agent");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// --- Names from outside ---

#define NASTY "a\"]\\<b>&`#\n\x1b[1m"

static void nasty_shape(const void *state, cadre_shape *shape)
{
    const cadre_agent *worker = *(const cadre_agent *const *)state;

    cadre_shape_add_node(shape, NASTY, NULL, "human");
    cadre_shape_add_node(shape, "again", worker, NULL);
    cadre_shape_set_entry(shape, NASTY);
    cadre_shape_add_edge(shape, NASTY, "again", CADRE_SHAPE_BACK, "if \"x\" & y");
    cadre_shape_add_edge(shape, NASTY, "again", CADRE_SHAPE_BACK, NULL);
}

static cadre_status nasty_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    (void)err;
    *(const cadre_agent **)state = config->members.items[0];
    return CADRE_OK;
}

static cadre_status nasty_run(void *state, cadre_frame *frame, cadre_error *err)
{
    (void)state;
    (void)frame;
    return cadre_fail(err, CADRE_EFAILED, "not run here");
}

static const cadre_agent_ops nasty = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "nasty",
    .summary = "for tests",
    .state_size = sizeof(const cadre_agent *),
    .init = nasty_init,
    .run = nasty_run,
    .shape = nasty_shape,
};

typedef enum form {
    TEXT,
    MERMAID,
    DOT
} form;

static char *draw_nasty(form wanted)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cli_places places = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);

    CHECK_OK(cadre_runtime_open(NULL, &runtime, NULL), NULL);
    CHECK_OK(cadre_runtime_register(runtime, &nasty, NULL), NULL);
    cadre_team *made = cadre_team_new(runtime, "team");
    cadre_team_add_topology(
        made, "nasty",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("worker")));
    cadre_team_add_llm(made, CADRE_LLM(.name = "worker", .model = "openai/any"));
    CHECK_OK(cadre_team_seal(made, &err), &err);
    if (CHECK_OK(cli_places_init(&places, made, &err), &err)) {
        if (wanted == TEXT)
            CHECK(cli_draw_text(stream, &places, false));
        else if (wanted == MERMAID)
            cli_draw_mermaid(stream, &places);
        else
            cli_draw_dot(stream, &places);
    }
    cli_places_fini(&places);
    cadre_team_free(made);
    cadre_runtime_close(runtime);
    fclose(stream);
    return text;
}

static void test_draw__names_are_written_so_that_they_stay_names(void)
{
    char *text = draw_nasty(TEXT);
    CHECK_CONTAINS(text,
                   "a\"]\\<b>&`#\\x0a\\x1b[1m (human), entry ~> again (if \"x\" & y, "
                   "back), again (back)\n");
    CHECK_CONTAINS(text, "again: worker (llm)\n");
    free(text);
    text = draw_nasty(MERMAID);
    CHECK_CONTAINS(text, "p1[\"a#34;#93;#92;#60;b#62;#38;#96;#35;#92;x0a#92;x1b#91;1m "
                         "(human)\"]\n");
    CHECK_CONTAINS(text, "p2[\"again (worker, llm)\"]\n");
    CHECK_CONTAINS(text, "  p1 -.->|\"if #34;x#34; #38; y, back\"| p2\n");
    CHECK_CONTAINS(text, "  p1 -.->|\"back\"| p2\n");
    free(text);
    text = draw_nasty(DOT);
    CHECK_CONTAINS(text,
                   "p1 [label=\"a\\\"]\\\\<b>&amp;`#\\\\x0a\\\\x1b[1m\\nhuman\"];\n");
    CHECK_CONTAINS(text, "p2 [label=\"again\\nworker, llm\"];\n");
    CHECK_CONTAINS(text, "  p1 -> p2 [style=dashed, constraint=false, label=\"if "
                         "\\\"x\\\" &amp; y\"];\n");
    free(text);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_draw__as_text_a_team_is_a_tree),
        CHECK_TEST(test_draw__mermaid_has_a_subgraph_for_what_has_members),
        CHECK_TEST(test_draw__dot_has_a_cluster_for_what_has_members),
        CHECK_TEST(test_draw__svg_is_what_dot_makes_of_the_graph),
        CHECK_TEST(test_draw__svg_without_graphviz_names_the_package),
        CHECK_TEST(test_draw__takes_another_type),
        CHECK_TEST(test_draw__refuses_what_it_cannot_draw),
        CHECK_TEST(test_draw__names_are_written_so_that_they_stay_names),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/draw", tests);
}
