// Script files, read and checked.
//
// 1. The schema says what may stand where; what it cannot say (which keys go together)
//    is checked step by step.
// 2. Steps point into one converted copy of the file, which the script keeps.
// 3. What has a place is of a recording (script_recording.c) and in no list here.
#include "team/script_reader.h"

#include "cadre/record.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "team/script_schema.h"
#include "team/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(CADRE_SCRIPT_MAX_BYTES == CDR_DOCUMENT_LARGE * CDR_DOCUMENT_MAX_BYTES,
              "what is told is so");

// An error without a status is the server's own.
#define DEFAULT_STATUS 500
#define REFUSED (-1)

// Remembers which step or result a mistake is in.
static void mark_flawed(cdr_script_reader *reader, const char *path)
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
    cdr_script_reader *reader = ctx;
    mark_flawed(reader, problem->path);
    cdr_document_value found = cdr_document_at(reader->document, problem->container,
                                               problem->key, problem->index);
    // What stands there is not what was meant, and that was told.
    if (found.is_doubtful && !problem->is_key)
        return;
    cdr_at at = cdr_script_at(reader, problem->is_key ? found.key_place : found.place,
                              problem->path);
    cdr_problems_add(reader->problems, &at, "%s", problem->text);
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
    const char *error_class = get_text(error, "class");
    step->error_class =
        error_class ? cadre_error_class_from_name(error_class) : CADRE_CLASS_NONE;
    step->error_retryable = json_is_true(json_object_get(error, "retryable"));
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
static const json_t *list_handoffs(cdr_script_reader *reader, json_t *source)
{
    json_t *one = json_object_get(source, "handoff");
    if (!one)
        return json_object_get(source, "handoffs");
    json_t *list = json_pack("[O]", one);
    if (!list || json_object_set_new(source, "handoffs", list) != 0)
        cdr_script_no_memory(reader);
    return json_object_get(source, "handoffs");
}

static void fill_recorded(cadre_script_step *step, const json_t *source)
{
    step->reasoning = get_text(source, "reasoning");
    step->is_stopped = json_is_true(json_object_get(source, "stopped"));
    step->attempts = get_int(source, "attempts", 1);
    step->finish = get_text(source, "finish") ? CADRE_FINISH_LENGTH : CADRE_FINISH_NONE;
}

static void fill_step(cdr_script_reader *reader, cadre_script_step *step,
                      json_t *source)
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
    fill_recorded(step, source);
    fill_error(step, json_object_get(source, "error"));
}

static bool has_calls(const json_t *source)
{
    static const char *const keys[] = {"tool_calls", "handoff", "handoffs", "ask"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (json_object_get(source, keys[i]))
            return true;
    }
    return get_reason(source) != NULL;
}

static bool has_answer(const json_t *source)
{
    return json_object_get(source, "text") || json_object_get(source, "reasoning") ||
           has_calls(source);
}

static const char *find_error_mistake(const json_t *error)
{
    const json_t *status = json_object_get(error, "status");
    const char *error_class = get_text(error, "class");
    if (json_is_string(status) && strcmp(json_string_value(status), "refused") != 0)
        return "error.status: expected an integer from 400 to 599, or refused";
    if (error_class && cadre_error_class_from_name(error_class) == CADRE_CLASS_NONE)
        return "error.class: there is no such class of errors";
    if (error_class && status)
        return "error: write either status or class";
    return NULL;
}

// Of a step with a place, and of one that was stopped.
static const char *find_recorded_mistake(const json_t *source)
{
    bool has_at = json_object_get(source, "at");
    bool is_stopped = json_object_get(source, "stopped");
    if (has_at && (json_object_get(source, "when") || json_object_get(source, "times")))
        return "at: the step is for one call; write it without when and times";
    if (!has_at &&
        (is_stopped || json_object_get(source, "after") ||
         json_object_get(source, "asked") || json_object_get(source, "attempts")))
        return "stopped, after, asked and attempts are for steps with at";
    if (is_stopped && (json_object_get(source, "error") || has_calls(source)))
        return "a step that was stopped has neither calls nor an error";
    return NULL;
}

// What the schema cannot say of a step.
static const char *find_contradiction(const json_t *source)
{
    const json_t *error = json_object_get(source, "error");
    const json_t *when = json_object_get(source, "when");
    bool is_stopped = json_is_true(json_object_get(source, "stopped"));
    if (!error && !is_stopped && !has_answer(source))
        return "a step needs text, tool_calls, handoff, handoffs, ask, escalate or "
               "error";
    // Of a recording: what there was of the answer when it failed.
    bool has_part = json_object_get(source, "at") && !has_calls(source);
    if (error && has_answer(source) && !has_part)
        return "a step with an error has no answer; make two steps of it";
    if (json_is_false(json_object_get(source, "escalate")))
        return "escalate: write true or a reason, or leave it out";
    if (json_object_get(source, "handoff") && json_object_get(source, "handoffs"))
        return "write either handoff or handoffs";
    if (when && json_object_size(when) == 0)
        return "when: write contains or equals";
    const char *mistake = find_recorded_mistake(source);
    if (!mistake && when && json_object_get(source, "times"))
        mistake = "times counts steps that come in order; one with when has no number";
    return mistake ? mistake : find_error_mistake(error);
}

// Remembers whom a step hands over to, where the file says so.
static void add_target(cdr_script_reader *reader, const json_t *handoff,
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
        cdr_script_no_memory(reader);
        return;
    }
    script->targets = targets;
    targets[script->n_targets++] =
        (cdr_script_target){to, cdr_script_at(reader, found.place, own_path)};
}

static void add_targets(cdr_script_reader *reader, const json_t *source,
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
            cdr_script_no_memory(reader);
    }
    const char *own_path =
        cdr_arena_printf(reader->problems->arena, "%s.handoff", path);
    if (one.value && own_path)
        add_target(reader, json_object_get(source, "handoff"), &one, own_path);
}

static void add_recorded_step(cdr_script_reader *reader, const cdr_recorded *what,
                              json_t *source)
{
    cdr_recorded *recorded = cdr_script_add_recorded(reader, what);
    if (recorded)
        fill_step(reader, &recorded->step, source);
}

static void add_step(cdr_script_reader *reader, cdr_script_agent *agent, json_t *source,
                     const cdr_recorded *what)
{
    const cdr_at *at = &what->at;
    const char *mistake = find_contradiction(source);
    if (mistake && !json_object_get(reader->flawed, at->path))
        cdr_problems_add(reader->problems, at, "%s", mistake);
    if (json_object_get(source, "at")) {
        add_recorded_step(reader, what, source);
        return;
    }
    const json_t *when = json_object_get(source, "when");
    cdr_script_entry **list = when ? &agent->chosen : &agent->ordered;
    size_t *n_list = when ? &agent->n_chosen : &agent->n_ordered;
    cdr_script_entry *items =
        cdr_arena_grow(&reader->script->arena, *list, *n_list, sizeof(*items));
    if (!items) {
        cdr_script_no_memory(reader);
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

static const char *path_of(cdr_script_reader *reader, const char *section,
                           const char *name, size_t index)
{
    char brief[CDR_BRIEF_SIZE];
    const char *path = cdr_arena_printf(reader->problems->arena, "%s.%s[%zu]", section,
                                        cdr_brief_text(brief, name, '\0'), index);
    return path ? path : section;
}

// A section's entry: its place, and its number under its name.
static cdr_at enter(cdr_script_reader *reader, const char *section, const char *name,
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
        cdr_script_no_memory(reader);
    return cdr_script_at(reader, entry.key_place, path);
}

static void read_agent(cdr_script_reader *reader, cdr_script_agent *agent,
                       json_t *steps)
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
        cdr_at at = cdr_script_at(reader, found.place,
                                  path_of(reader, "agents", agent->name, i));
        if (found.holds_doubts)
            mark_flawed(reader, at.path);
        add_step(reader, agent, step,
                 &(cdr_recorded){.kind = CDR_RECORDED_STEP,
                                 .name = agent->name,
                                 .nth = (int)i + 1,
                                 .at = at,
                                 .source = step});
        add_targets(reader, step, found.value, at.path);
    }
}

static void read_agents(cdr_script_reader *reader, json_t *agents)
{
    cadre_script *script = reader->script;
    size_t n_agents = json_object_size(agents);
    script->agents =
        cdr_arena_alloc(&script->arena, n_agents * sizeof(*script->agents) + 1);
    script->names =
        cdr_arena_alloc(&script->arena, n_agents * sizeof(*script->names) + 1);
    if (!script->agents || !script->names) {
        cdr_script_no_memory(reader);
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

static const char *result_text(cdr_script_reader *reader, const json_t *result)
{
    if (json_is_string(result))
        return json_string_value(result);
    char *text = cdr_json_dump(result);
    const char *kept = text ? cdr_arena_text(&reader->script->arena, text) : NULL;
    free(text);
    if (!kept)
        cdr_script_no_memory(reader);
    return kept;
}

static const char *find_result_mistake(const json_t *source)
{
    static const char *const outcomes[] = {"result", "error", "runs", "stopped"};
    static const char *const recorded[] = {"after", "code", "state", "runs", "stopped"};
    bool has_at = json_object_get(source, "at");
    int n_outcomes = 0;
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        n_outcomes += json_object_get(source, outcomes[i]) != NULL;
    for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
        if (!has_at && json_object_get(source, recorded[i]))
            return "after, code, state, runs and stopped are for results with at";
    }
    if (n_outcomes != 1)
        return has_at ? "write one of result, error, runs and stopped"
                      : "write either result or error";
    if (json_object_get(source, "code") && !json_object_get(source, "error"))
        return "code: only an error has one";
    return NULL;
}

static cadre_result_code code_of(const json_t *source)
{
    static const cadre_result_code codes[] = {
        CADRE_RESULT_TIMEOUT, CADRE_RESULT_INTERRUPTED, CADRE_RESULT_RESTART_LIMIT};
    const char *name = get_text(source, "code");
    for (size_t i = 0; name && i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(name, cadre_result_code_name(codes[i])) == 0)
            return codes[i];
    }
    return json_object_get(source, "error") ? CADRE_RESULT_TOOL_ERROR : CADRE_RESULT_OK;
}

static void add_result(cdr_script_reader *reader, cdr_script_tool *tool,
                       const json_t *source, const cdr_recorded *what)
{
    const json_t *result = json_object_get(source, "result");
    const json_t *error = json_object_get(source, "error");
    const json_t *given = result ? result : error;
    const char *text = given ? result_text(reader, given) : NULL;
    if (!json_object_get(source, "at")) {
        tool->results[tool->n_results++] = (cdr_script_result){text, error != NULL};
        return;
    }
    cdr_recorded *recorded = cdr_script_add_recorded(reader, what);
    if (recorded) {
        recorded->text = text;
        recorded->code = code_of(source);
    }
}

static void read_tool(cdr_script_reader *reader, cdr_script_tool *tool, json_t *results)
{
    size_t i;
    json_t *source;
    json_t *root = cdr_document_root(reader->document).value;
    json_t *written = json_object_get(json_object_get(root, "tools"), tool->name);
    tool->results = cdr_arena_alloc(
        &reader->script->arena, json_array_size(results) * sizeof(*tool->results) + 1);
    if (!tool->results) {
        cdr_script_no_memory(reader);
        return;
    }
    json_array_foreach(results, i, source)
    {
        cdr_document_value found = cdr_document_element(reader->document, written, i);
        if (!json_is_object(source))
            continue;
        const cdr_recorded what = {
            .kind = CDR_RECORDED_RESULT,
            .name = tool->name,
            .nth = (int)i + 1,
            .at = cdr_script_at(reader, found.place,
                                path_of(reader, "tools", tool->name, i)),
            .source = source};
        const char *mistake = find_result_mistake(source);
        if (!mistake) {
            add_result(reader, tool, source, &what);
            continue;
        }
        if (found.holds_doubts)
            mark_flawed(reader, what.at.path);
        if (!json_object_get(reader->flawed, what.at.path))
            cdr_problems_add(reader->problems, &what.at, "%s", mistake);
    }
}

static void read_tools(cdr_script_reader *reader, json_t *tools)
{
    cadre_script *script = reader->script;
    size_t n_tools = json_object_size(tools);
    script->tools =
        cdr_arena_alloc(&script->arena, n_tools * sizeof(*script->tools) + 1);
    if (!script->tools) {
        cdr_script_no_memory(reader);
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
static void tell_document(cdr_script_reader *reader)
{
    size_t n_problems = 0;
    const cdr_document_problem *problems =
        cdr_document_problems(reader->document, &n_problems);
    for (size_t i = 0; i < n_problems; i++) {
        cdr_at at = cdr_script_at(reader, problems[i].place, NULL);
        cdr_problems_add(reader->problems, &at, "%s", problems[i].text);
    }
}

static void read_content(cdr_script_reader *reader, const json_t *schema)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *root = cdr_document_root(reader->document).value;
    if (!schema ||
        cdr_document_settle_text(reader->document, root, schema, &err) != CADRE_OK) {
        cdr_script_no_memory(reader);
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
        cdr_script_no_memory(reader);
        return;
    }
    script->is_strict = json_is_true(json_object_get(script->content, "strict"));
    read_agents(reader, json_object_get(script->content, "agents"));
    read_tools(reader, json_object_get(script->content, "tools"));
    cdr_script_read_recording(reader);
}

cadre_script *cdr_script_read(const char *path, const cdr_at *at,
                              cdr_problems *problems)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_script_reader reader = {.problems = problems};
    cadre_status status = cdr_document_load_large(path, &reader.document, &err);
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
        json_t *schema = cdr_script_schema();
        if (cdr_document_root(reader.document).value)
            read_content(&reader, schema);
        json_decref(schema);
    } else {
        cdr_script_no_memory(&reader);
    }
    cdr_document_free(reader.document);
    json_decref(reader.flawed);
    if (problems->no_memory || problems->count > n_before) {
        cadre_script_free(reader.script);
        return NULL;
    }
    return reader.script;
}
