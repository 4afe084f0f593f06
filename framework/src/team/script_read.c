// Script files, read and checked.
//
// 1. The schema says what may stand where; what it cannot say (which keys go together)
//    is checked step by step.
// 2. Steps point into one converted copy of the file, which the script keeps.
#include "team/script.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "team/settings.h"

#include <stdlib.h>
#include <string.h>

#define NOTES "\"additionalProperties\": false, \"patternProperties\": {\"^x-\": true}"
#define AN_HOUR "{\"type\": \"string\", \"format\": \"duration\", \"maximum\": 3600000}"
#define HANDOFF                                                                        \
    "{\"type\": \"object\", \"required\": [\"to\"], \"properties\": {"                 \
    "\"to\": {\"type\": \"string\"}, \"message\": {\"type\": \"string\"}}, " NOTES "}"

#define TOKENS "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 1000000000000}"

static const char schema_text[] =
    "{\"type\": \"object\", \"required\": [\"agents\"], \"properties\": {"
    " \"strict\": {\"type\": \"boolean\"},"
    " \"agents\": {\"type\": \"object\", \"additionalProperties\": {"
    "  \"type\": \"array\", \"items\": {\"type\": \"object\", \"properties\": {"
    "   \"text\": {\"type\": \"string\"},"
    "   \"tool_calls\": {\"type\": \"array\", \"minItems\": 1, \"items\": {"
    "    \"type\": \"object\", \"required\": [\"name\"], \"properties\": {"
    "     \"id\": {\"type\": \"string\"}, \"name\": {\"type\": \"string\"},"
    "     \"arguments\": {\"type\": [\"object\", \"string\"]}}, " NOTES "}},"
    "   \"handoff\": " HANDOFF ","
    "   \"handoffs\": {\"type\": \"array\", \"minItems\": 1, \"items\": " HANDOFF "},"
    "   \"ask\": {\"type\": \"string\", \"minLength\": 1},"
    "   \"escalate\": {\"type\": [\"boolean\", \"string\"]},"
    "   \"delay\": " AN_HOUR ","
    "   \"chunks\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100000},"
    "   \"times\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000000},"
    "   \"error\": {\"type\": \"object\", \"properties\": {"
    "    \"status\": {\"type\": [\"integer\", \"string\"], \"minimum\": 400,"
    "     \"maximum\": 599},"
    "    \"message\": {\"type\": \"string\"},"
    "    \"retry_after\": " AN_HOUR "}, " NOTES "},"
    "   \"usage\": {\"type\": \"object\", \"properties\": {"
    "    \"input_tokens\": " TOKENS ", \"output_tokens\": " TOKENS ","
    "    \"cached_input_tokens\": " TOKENS ","
    "    \"reasoning_tokens\": " TOKENS "}, " NOTES "},"
    "   \"when\": {\"type\": \"object\", \"properties\": {"
    "    \"contains\": {\"type\": \"string\"},"
    "    \"equals\": {\"type\": \"string\"}}, " NOTES "}}, " NOTES "}}},"
    " \"tools\": {\"type\": \"object\", \"additionalProperties\": {"
    "  \"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"object\","
    "   \"properties\": {"
    "    \"result\": {\"type\": [\"string\", \"object\", \"array\"]},"
    "    \"error\": {\"type\": \"string\"}}, " NOTES "}}}},"
    " " NOTES "}";

// An error without a status is the server's own.
#define DEFAULT_STATUS 500
#define REFUSED (-1)

typedef struct script_reader {
    cadre_script *script;
    cdr_document *document;
    cdr_problems *problems;
    const char *file; // lives as long as the problems
    json_t *flawed;   // "agents.triage[0]" and the like: told already; owned
} script_reader;

static cdr_at place_at(script_reader *reader, cdr_place place, const char *path)
{
    return (cdr_at){reader->file, place.line, place.column, path};
}

// Remembers which step or result a mistake is in.
static void mark_flawed(script_reader *reader, const char *path)
{
    char name[CDR_BRIEF_SIZE];
    size_t len = strcspn(path, "]");
    if (path[len] != ']' || len + 1 >= sizeof(name))
        return;
    memcpy(name, path, len + 1);
    name[len + 1] = '\0';
    json_object_set_new(reader->flawed, name, json_true());
}

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    script_reader *reader = ctx;
    mark_flawed(reader, problem->path);
    cdr_document_value found = cdr_document_at(reader->document, problem->container,
                                               problem->key, problem->index);
    // What stands there is not what was meant, and that was told.
    if (found.is_doubtful && !problem->is_key)
        return;
    cdr_at at = place_at(reader, problem->is_key ? found.key_place : found.place,
                         problem->path);
    cdr_problems_add(reader->problems, &at, "%s", problem->text);
}

static void no_memory(script_reader *reader)
{
    reader->problems->no_memory = true;
}

static const char *get_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static int get_int(const json_t *object, const char *key, int otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int)json_integer_value(value) : otherwise;
}

static void fill_error(cadre_script_step *step, const json_t *error)
{
    const json_t *retry_after = json_object_get(error, "retry_after");
    const char *message = get_text(error, "message");
    step->error_retry_after_ms =
        json_is_integer(retry_after) ? json_integer_value(retry_after) : -1;
    step->error_message = message ? message : "";
    if (!error)
        return;
    // The only text a status may be is `refused`.
    step->error_status = json_is_string(json_object_get(error, "status"))
                             ? REFUSED
                             : get_int(error, "status", DEFAULT_STATUS);
}

// Why a step escalates: a reason, or `true` for none. NULL: it does not.
static const char *get_reason(const json_t *source)
{
    const json_t *escalate = json_object_get(source, "escalate");
    return json_is_true(escalate) ? "" : json_string_value(escalate);
}

// One list, whether `handoff` or `handoffs` was written.
static const json_t *list_handoffs(script_reader *reader, json_t *source)
{
    json_t *one = json_object_get(source, "handoff");
    if (!one)
        return json_object_get(source, "handoffs");
    json_t *list = json_pack("[O]", one);
    if (!list || json_object_set_new(source, "handoffs", list) != 0)
        no_memory(reader);
    return json_object_get(source, "handoffs");
}

static void fill_step(script_reader *reader, cadre_script_step *step, json_t *source)
{
    const json_t *delay = json_object_get(source, "delay");
    step->text = get_text(source, "text");
    step->tool_calls = json_object_get(source, "tool_calls");
    step->handoffs = list_handoffs(reader, source);
    step->ask = get_text(source, "ask");
    step->escalate = get_reason(source);
    step->delay_ms = json_is_integer(delay) ? json_integer_value(delay) : 0;
    step->chunks = get_int(source, "chunks", 1);
    step->usage = json_object_get(source, "usage");
    fill_error(step, json_object_get(source, "error"));
}

// What the schema cannot say of a step.
static const char *find_contradiction(const json_t *source)
{
    bool has_error = json_object_get(source, "error");
    bool has_one = json_object_get(source, "handoff");
    bool has_many = json_object_get(source, "handoffs");
    bool has_when = json_object_get(source, "when");
    bool has_answer = json_object_get(source, "text") ||
                      json_object_get(source, "tool_calls") || has_one || has_many ||
                      json_object_get(source, "ask") || get_reason(source);
    const json_t *status = json_object_get(json_object_get(source, "error"), "status");
    if (!has_error && !has_answer)
        return "a step needs text, tool_calls, handoff, handoffs, ask, escalate or "
               "error";
    if (has_error && has_answer)
        return "a step with an error has no answer; make two steps of it";
    if (json_is_false(json_object_get(source, "escalate")))
        return "escalate: write true or a reason, or leave it out";
    if (has_one && has_many)
        return "write either handoff or handoffs";
    if (has_when && json_object_size(json_object_get(source, "when")) == 0)
        return "when: write contains or equals";
    if (has_when && json_object_get(source, "times"))
        return "times counts steps that come in order; one with when has no number";
    if (json_is_string(status) && strcmp(json_string_value(status), "refused") != 0)
        return "error.status: expected an integer from 400 to 599, or refused";
    return NULL;
}

// Remembers whom a step hands over to, where the file says so.
static void add_target(script_reader *reader, const json_t *handoff,
                       const cdr_document_value *written, const char *path)
{
    cadre_script *script = reader->script;
    const char *to = get_text(handoff, "to");
    cdr_document_value found =
        cdr_document_member(reader->document, written->value, "to");
    if (!to || found.is_doubtful)
        return;
    cdr_script_target *targets = cdr_arena_grow(&script->arena, script->targets,
                                                script->n_targets, sizeof(*targets));
    const char *own_path = cdr_arena_printf(reader->problems->arena, "%s.to", path);
    if (!targets || !own_path) {
        no_memory(reader);
        return;
    }
    script->targets = targets;
    targets[script->n_targets++] =
        (cdr_script_target){to, place_at(reader, found.place, own_path)};
}

static void add_targets(script_reader *reader, const json_t *source,
                        const json_t *written, const char *path)
{
    cdr_document *document = reader->document;
    cdr_document_value one = cdr_document_member(document, written, "handoff");
    const json_t *list = json_object_get(written, "handoffs");
    for (size_t i = 0; i < json_array_size(list); i++) {
        cdr_document_value value = cdr_document_element(document, list, i);
        const json_t *handoff = json_array_get(json_object_get(source, "handoffs"), i);
        const char *own_path =
            cdr_arena_printf(reader->problems->arena, "%s.handoffs[%zu]", path, i);
        if (own_path)
            add_target(reader, handoff, &value, own_path);
        else
            no_memory(reader);
    }
    const char *own_path =
        cdr_arena_printf(reader->problems->arena, "%s.handoff", path);
    if (one.value && own_path)
        add_target(reader, json_object_get(source, "handoff"), &one, own_path);
}

static void add_step(script_reader *reader, cdr_script_agent *agent, json_t *source,
                     const cdr_at *at)
{
    const char *mistake = find_contradiction(source);
    if (mistake && !json_object_get(reader->flawed, at->path))
        cdr_problems_add(reader->problems, at, "%s", mistake);
    const json_t *when = json_object_get(source, "when");
    cdr_script_entry **list = when ? &agent->chosen : &agent->ordered;
    size_t *n_list = when ? &agent->n_chosen : &agent->n_ordered;
    cdr_script_entry *items =
        cdr_arena_grow(&reader->script->arena, *list, *n_list, sizeof(*items));
    if (!items) {
        no_memory(reader);
        return;
    }
    *list = items;
    cdr_script_entry *entry = &items[(*n_list)++];
    *entry = (cdr_script_entry){.before = agent->length};
    fill_step(reader, &entry->step, source);
    entry->contains = get_text(when, "contains");
    entry->equals = get_text(when, "equals");
    entry->times = get_int(source, "times", 1);
    if (!when && __builtin_add_overflow(agent->length, entry->times, &agent->length))
        cdr_problems_add(reader->problems, at, "the agent has too many attempts");
}

static const char *path_of(script_reader *reader, const char *section, const char *name,
                           size_t index)
{
    char brief[CDR_BRIEF_SIZE];
    const char *path = cdr_arena_printf(reader->problems->arena, "%s.%s[%zu]", section,
                                        cdr_brief_text(brief, name, '\0'), index);
    return path ? path : section;
}

// A section's entry: its place, and its number under its name.
static cdr_at enter(script_reader *reader, const char *section, const char *name,
                    json_t *index)
{
    char brief[CDR_BRIEF_SIZE];
    json_t *root = cdr_document_root(reader->document).value;
    cdr_document_value entry =
        cdr_document_member(reader->document, json_object_get(root, section), name);
    const char *path = cdr_arena_printf(reader->problems->arena, "%s.%s", section,
                                        cdr_brief_text(brief, name, '\0'));
    json_t *position = json_integer((json_int_t)json_object_size(index));
    if (!path || json_object_set_new(index, name, position) != 0)
        no_memory(reader);
    return place_at(reader, entry.key_place, path);
}

static void read_agent(script_reader *reader, cdr_script_agent *agent, json_t *steps)
{
    json_t *root = cdr_document_root(reader->document).value;
    json_t *written = json_object_get(json_object_get(root, "agents"), agent->name);
    size_t i;
    json_t *step;
    json_array_foreach(steps, i, step)
    {
        cdr_document_value found = cdr_document_element(reader->document, written, i);
        // Of another type: told by the schema.
        if (!json_is_object(step))
            continue;
        cdr_at at =
            place_at(reader, found.place, path_of(reader, "agents", agent->name, i));
        if (found.holds_doubts)
            mark_flawed(reader, at.path);
        add_step(reader, agent, step, &at);
        add_targets(reader, step, found.value, at.path);
    }
}

static void read_agents(script_reader *reader, json_t *agents)
{
    cadre_script *script = reader->script;
    size_t n_agents = json_object_size(agents);
    script->agents =
        cdr_arena_alloc(&script->arena, n_agents * sizeof(*script->agents) + 1);
    script->names =
        cdr_arena_alloc(&script->arena, n_agents * sizeof(*script->names) + 1);
    if (!script->agents || !script->names) {
        no_memory(reader);
        return;
    }
    const char *name;
    json_t *steps;
    json_object_foreach(agents, name, steps)
    {
        cdr_script_agent *agent = &script->agents[script->n_agents];
        agent->name = name;
        agent->at = enter(reader, "agents", name, script->agent_index);
        script->names[script->n_agents++] = name;
        read_agent(reader, agent, steps);
    }
}

static const char *result_text(script_reader *reader, const json_t *result)
{
    if (json_is_string(result))
        return json_string_value(result);
    char *text = cdr_json_dump(result);
    const char *kept = text ? cdr_arena_text(&reader->script->arena, text) : NULL;
    free(text);
    if (!kept)
        no_memory(reader);
    return kept;
}

static void read_tool(script_reader *reader, cdr_script_tool *tool, json_t *results)
{
    size_t i;
    json_t *source;
    json_t *root = cdr_document_root(reader->document).value;
    json_t *written = json_object_get(json_object_get(root, "tools"), tool->name);
    tool->results = cdr_arena_alloc(
        &reader->script->arena, json_array_size(results) * sizeof(*tool->results) + 1);
    if (!tool->results) {
        no_memory(reader);
        return;
    }
    json_array_foreach(results, i, source)
    {
        const json_t *result = json_object_get(source, "result");
        const json_t *error = json_object_get(source, "error");
        if (!json_is_object(source))
            continue;
        if (!result == !error) {
            cdr_at at = tool->at;
            at.path = path_of(reader, "tools", tool->name, i);
            if (cdr_document_element(reader->document, written, i).holds_doubts)
                mark_flawed(reader, at.path);
            if (!json_object_get(reader->flawed, at.path))
                cdr_problems_add(reader->problems, &at, "write either result or error");
            continue;
        }
        tool->results[tool->n_results++] = (cdr_script_result){
            .text = result_text(reader, result ? result : error),
            .is_error = error != NULL,
        };
    }
}

static void read_tools(script_reader *reader, json_t *tools)
{
    cadre_script *script = reader->script;
    size_t n_tools = json_object_size(tools);
    script->tools =
        cdr_arena_alloc(&script->arena, n_tools * sizeof(*script->tools) + 1);
    if (!script->tools) {
        no_memory(reader);
        return;
    }
    const char *name;
    json_t *results;
    json_object_foreach(tools, name, results)
    {
        cdr_script_tool *tool = &script->tools[script->n_tools++];
        tool->name = name;
        tool->at = enter(reader, "tools", name, script->tool_index);
        read_tool(reader, tool, results);
    }
}

// What was told while the file was read.
static void tell_document(script_reader *reader)
{
    size_t n_problems = 0;
    const cdr_document_problem *problems =
        cdr_document_problems(reader->document, &n_problems);
    for (size_t i = 0; i < n_problems; i++) {
        cdr_at at = place_at(reader, problems[i].place, NULL);
        cdr_problems_add(reader->problems, &at, "%s", problems[i].text);
    }
}

static void read_content(script_reader *reader, const json_t *schema)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *root = cdr_document_root(reader->document).value;
    if (!schema ||
        cdr_document_settle_text(reader->document, root, schema, &err) != CADRE_OK) {
        no_memory(reader);
        return;
    }
    cdr_settings_reader settings = {
        .schema = schema,
        .directory = ".",
        .writes = cdr_document_is_json(reader->document) ? CDR_WRITES_JSON_FILE
                                                         : CDR_WRITES_YAML_FILE,
        .on_problem = on_problem,
        .ctx = reader,
    };
    cadre_script *script = reader->script;
    script->content = cdr_settings_read(&settings, root);
    script->agent_index = json_object();
    script->tool_index = json_object();
    if (!script->content || !script->agent_index || !script->tool_index) {
        no_memory(reader);
        return;
    }
    script->is_strict = json_is_true(json_object_get(script->content, "strict"));
    read_agents(reader, json_object_get(script->content, "agents"));
    read_tools(reader, json_object_get(script->content, "tools"));
}

cadre_script *cdr_script_read(const char *path, const cdr_at *at,
                              cdr_problems *problems)
{
    cadre_error err = CADRE_ERROR_INIT;
    script_reader reader = {.problems = problems};
    cadre_status status = cdr_document_load(path, &reader.document, &err);
    if (status != CADRE_OK) {
        problems->no_memory |= status == CADRE_ENOMEM;
        problems->is_unreadable |= status == CADRE_EIO;
        cdr_problems_add(problems, at, "%s", err.text);
        return NULL;
    }
    size_t n_before = problems->count;
    reader.file = cdr_arena_text(problems->arena, cdr_document_name(reader.document));
    reader.script = calloc(1, sizeof(*reader.script));
    reader.flawed = json_object();
    if (reader.script)
        reader.script->file =
            cdr_arena_text(&reader.script->arena, cdr_document_name(reader.document));
    if (reader.file && reader.script && reader.script->file && reader.flawed) {
        tell_document(&reader);
        json_t *schema = json_loads(schema_text, 0, NULL);
        if (cdr_document_root(reader.document).value)
            read_content(&reader, schema);
        json_decref(schema);
    } else {
        no_memory(&reader);
    }
    cdr_document_free(reader.document);
    json_decref(reader.flawed);
    if (problems->no_memory || problems->count > n_before) {
        cadre_script_free(reader.script);
        return NULL;
    }
    return reader.script;
}
