// The schema of team files, as editors get it.
#include "cadre/runtime.h"

#include "support/check.h"

#include "team/settings.h"
#include "team/yaml.h"

#include <glob.h>
#include <string.h>

// A schema for editors refuses nothing that the loader takes.
static void test_file_schema__refuses_unknown_keys(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    static const char text[] =
        "{\"version\": 1, \"models\": {\"fast\": {\"model\": \"openai/m\","
        " \"temperature\": 1, \"retry\": {\"attempts\": 2}}},"
        " \"agents\": {\"desk\": {\"type\": \"handoff\", \"members\": [\"a\"],"
        " \"transfer\": {\"sticky\": false}},"
        " \"a\": {\"model\": \"fast\", \"instructions\": \"x\","
        " \"handoffs\": [\"b\", {\"to\": \"c\", \"history\": \"all\"}]}}}";
    json_t *schema = cadre_team_file_schema();
    json_t *sample = json_loads(text, 0, NULL);
    CHECK(schema != NULL && sample != NULL);
    CHECK_OK(cdr_schema_check_text(schema, sample, &err), &err);
    CHECK_TEXT(json_string_value(json_object_get(schema, "$schema")),
               "https://json-schema.org/draft/2020-12/schema");
    json_object_set_new(sample, "nme", json_true());
    CHECK_STATUS(cdr_schema_check_text(schema, sample, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "'nme'");
    json_decref(sample);
    json_decref(schema);
}

static void show_problem(void *ctx, const cdr_schema_problem *problem)
{
    (void)ctx;
    CHECK_TEXT(problem->text, "");
    CHECK_TEXT(problem->path, "");
}

static void check_sample(const json_t *schema, const char *path)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    size_t n_problems = 0;
    if (!CHECK_OK(cdr_document_load(path, &document, &err), &err))
        return;
    cdr_document_problems(document, &n_problems);
    CHECK_INT(n_problems, 0);
    json_t *root = cdr_document_root(document).value;
    CHECK_OK(cdr_document_settle_text(document, root, schema, &err), &err);
    cdr_settings_reader reader = {
        .schema = schema,
        .directory = "samples",
        .writes = CDR_WRITES_YAML_FILE,
        .on_problem = show_problem,
    };
    json_decref(cdr_settings_read(&reader, root));
    cdr_document_free(document);
}

static void test_file_schema__is_one_that_every_sample_keeps_to(void)
{
    json_t *schema = cadre_team_file_schema();
    glob_t found = {0};
    // The environment is that of the test. NOLINTNEXTLINE(concurrency-mt-unsafe)
    CHECK_INT(glob("samples/*/team*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_sample(schema, found.gl_pathv[i]);
    globfree(&found);
    json_decref(schema);
}

// A tool of type `member` or `transfer` is given by a topology; no file has one.
static void test_file_schema__has_no_options_of_what_files_cannot_have(void)
{
    json_t *schema = cadre_team_file_schema();
    json_t *command = json_pack("{s:s, s:[s]}", "type", "command", "argv", "ls");
    json_t *sample = json_pack("{s:{s:O}, s:{}}", "tools", "look", command, "agents");
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_schema_check_text(schema, sample, &err), &err);
    json_object_set_new(command, "history", json_string("all"));
    CHECK_STATUS(cdr_schema_check_text(schema, sample, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "'history'");
    json_decref(command);
    json_decref(sample);
    json_decref(schema);
}

// Any validator reads it: our own words of formats, of which one means something else
// to others (a duration is PT10S there), are written as patterns.
static void check_plain(json_t *schema)
{
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach(schema, key, value)
    {
        CHECK(strcmp(key, "format") != 0 || !json_is_string(value));
        CHECK(strncmp(key, "x-", 2) != 0);
        check_plain(value);
    }
    json_array_foreach(schema, i, value)
    {
        check_plain(value);
    }
}

static void test_file_schema__is_plain_json_schema(void)
{
    static const struct {
        const char *key, *value;
        bool fits;
    } cases[] = {
        {"timeout", "\"10s\"", true},     {"timeout", "\"10\"", false},
        {"timeout", "\"PT10S\"", false},  {"max_turns", "3", true},
        {"max_turns", "\"lots\"", false}, {"max_turns", "\"unlimited\"", true},
        {"max_turns", "0", false},        {"instructions", "\"Any.\"", true},
    };
    json_t *schema = cadre_team_file_schema();
    check_plain(schema);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
        json_t *sample = json_pack("{s:{s:{s:s, s:o}}}", "agents", "a", "model",
                                   "openai/m", cases[i].key, value);
        bool fits = cdr_schema_check_text(schema, sample, &err) == CADRE_OK;
        CHECK_INT(fits, cases[i].fits);
        json_decref(sample);
    }
    json_decref(schema);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_file_schema__is_plain_json_schema),
    CHECK_TEST(test_file_schema__refuses_unknown_keys),
    CHECK_TEST(test_file_schema__is_one_that_every_sample_keeps_to),
    CHECK_TEST(test_file_schema__has_no_options_of_what_files_cannot_have),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("team/file_schema", tests);
}
