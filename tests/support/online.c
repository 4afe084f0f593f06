// The built program against a server of the test.
#include "support/online.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static int integer_of(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

static bool has_option(const online_config *config, const char *name)
{
    for (size_t i = 0; config->options && config->options[i]; i++)
        if (strcmp(config->options[i], name) == 0)
            return true;
    return false;
}

// The end of the program's arguments stays NULL.
static void add_options(const online_config *config, const char **arguments, size_t max)
{
    size_t n = 3;

    for (size_t i = 0; config->options && config->options[i]; i++)
        if (CHECK(n + 1 < max))
            arguments[n++] = config->options[i];
}

static void read_object(online_result *result)
{
    json_error_t error;

    result->object = json_loads(result->program.out, 0, &error);
    if (!result->object && !CHECK_TEXT(error.text, ""))
        return;
    const json_t *failure = json_object_get(result->object, "error");
    const json_t *usage = json_object_get(result->object, "usage");
    result->status = text_of(result->object, "status");
    result->output = text_of(result->object, "output");
    result->error_class = text_of(failure, "class");
    result->message = text_of(failure, "message");
    result->n_model_calls = integer_of(usage, "model_calls");
    result->n_tool_calls = integer_of(usage, "tool_calls");
}

bool online_run(const online_config *config, const http_server *server,
                online_result *result)
{
    const char *arguments[16] = {"run", config->team ? config->team : "online.yaml",
                                 config->input ? config->input
                                               : "Where is order 1042?"};
    char url[256] = "OPENAI_BASE_URL=", teams[4096];
    const char *const changes[] = {"OPENAI_API_KEY=" ONLINE_KEY, url, NULL};
    size_t len = strlen(url);

    *result = (online_result){.program = {.exit_status = -1}};
    if (config->base_url)
        (void)snprintf(url + len, sizeof(url) - len, "%s", config->base_url);
    else if (server)
        (void)snprintf(url + len, sizeof(url) - len, "%s/v1", http_server_url(server));
    add_options(config, arguments, sizeof(arguments) / sizeof(arguments[0]));
    program_config program = {
        .arguments = arguments,
        .changes = changes,
        .directory = program_source_path("tests/cli/teams", teams, sizeof(teams)),
        .out = config->out,
        .action = config->action,
        .timeout_ms = config->timeout_ms};
    if (!program_run(&program, &result->program))
        return false;
    CHECK_LACKS(result->program.out, ONLINE_KEY);
    CHECK_LACKS(result->program.err, ONLINE_KEY);
    bool is_kept = config->out == PROGRAM_STDOUT_KEPT && !config->action.closes_stdout;
    if (is_kept && has_option(config, "--json"))
        read_object(result);
    return true;
}

void online_result_fini(online_result *result)
{
    json_decref(result->object);
    program_result_fini(&result->program);
    *result = (online_result){0};
}

json_t *online_event(const char *lines, const char *type, int nth)
{
    for (const char *line = lines; *line;) {
        size_t len = strcspn(line, "\n");
        json_t *event = json_loadb(line, len, 0, NULL);
        const char *name = text_of(event, "type");
        if (!CHECK(name != NULL))
            return NULL;
        if (strcmp(name, type) == 0 && nth-- == 0)
            return event;
        json_decref(event);
        line += len + (line[len] == '\n');
    }
    return NULL;
}
