// Team files: read, checked as a whole by the schema of its types, and built.
#include "team/load.h"

#include "cadre/load.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "team/file_schema.h"
#include "team/key_place.h"
#include "team/sized.h"
#include "team/state_keys.h"

#include <string.h>

typedef void (*load_entry)(cdr_loader *loader, const cdr_entry *entry);

static cdr_at place_of(const cdr_loader *loader, cdr_place place, const char *path)
{
    return (cdr_at){loader->file, place.line, place.column, path};
}

cdr_at cdr_load_member_at(cdr_loader *loader, const cdr_entry *entry, const char *key)
{
    cdr_document_value value =
        cdr_document_member(loader->document, entry->written, key);
    cdr_at at = place_of(loader, value.place, entry->at.path);
    return cdr_at_part(loader->team, &at, ".%s", key);
}

cdr_at cdr_load_element_at(cdr_loader *loader, const cdr_entry *entry, const char *key,
                           size_t index)
{
    const json_t *list = json_object_get(entry->written, key);
    cdr_document_value value = cdr_document_element(loader->document, list, index);
    cdr_at at = place_of(loader, value.place, entry->at.path);
    return cdr_at_part(loader->team, &at, ".%s[%zu]", key, index);
}

const char *cdr_load_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

int64_t cdr_load_integer(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

json_t *cdr_load_options(const char *options_schema, const json_t *object)
{
    json_t *known = json_loads(options_schema ? options_schema : "{}", 0, NULL);
    json_t *options = known ? json_object() : NULL;
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(object), key, value)
    {
        // Without memory there are none to set.
        if (options && json_object_get(known, key) &&
            json_object_set(options, key, value) != 0) {
            json_decref(options);
            options = NULL;
        }
    }
    json_decref(known);
    return options;
}

// Remembers which entry of a section a mistake is in: "agents.triage".
static void mark_flawed(cdr_loader *loader, const char *path)
{
    char name[CDR_BRIEF_SIZE];
    size_t len = strcspn(path, ".");
    len += path[len] == '.';
    len += strcspn(path + len, ".[");
    if (len >= sizeof(name))
        return;
    memcpy(name, path, len);
    name[len] = '\0';
    json_object_set_new(loader->flawed, name, json_true());
}

// A key that is unknown here, but not everywhere. False: that was not told.
static bool tell_misplaced(cdr_loader *loader, const cdr_at *at,
                           const cdr_schema_problem *problem)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_buf place = CDR_BUF_INIT;
    if (loader->all_keys == NULL)
        loader->all_keys = cdr_file_schema_new(loader->team->runtime, NULL);
    bool is_known =
        cdr_key_place(&place, loader->all_keys, problem->key, problem->path);
    if (is_known)
        cdr_team_problem(loader->team, at, "unknown key %s; it stands %s",
                         cdr_brief_text(brief, problem->key, '\''),
                         cdr_buf_text(&place));
    cdr_buf_fini(&place);
    return is_known;
}

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    cdr_loader *loader = ctx;
    cdr_document_value value = cdr_document_at(loader->document, problem->container,
                                               problem->key, problem->index);
    cdr_at at = place_of(loader, problem->is_key ? value.key_place : value.place,
                         problem->path);
    mark_flawed(loader, problem->path);
    // What stands there is not what was meant, and that was told.
    if (value.is_doubtful && !problem->is_key)
        return;
    if (problem->is_key && tell_misplaced(loader, &at, problem))
        return;
    if (!problem->container && json_is_null(problem->value))
        cdr_team_problem(loader->team, &at, "the file is empty; a team needs agents");
    else
        cdr_team_problem(loader->team, &at, "%s", problem->text);
}

static void load_section(cdr_loader *loader, const char *section, load_entry load)
{
    char brief[CDR_BRIEF_SIZE];
    const json_t *root = cdr_document_root(loader->document).value;
    const json_t *written = json_object_get(root, section);
    const json_t *read = json_object_get(loader->read, section);
    const char *name;
    json_t *value;
    json_object_foreach(cdr_json_iterable(written), name, value)
    {
        // Notes are no entries.
        if (strncmp(name, "x-", 2) == 0)
            continue;
        cdr_document_value found = cdr_document_member(loader->document, written, name);
        cdr_at at = place_of(loader, found.key_place, section);
        cdr_entry entry = {
            .name = name,
            .written = value,
            .read = json_object_get(read, name),
            .holds_doubts = found.holds_doubts,
        };
        entry.at =
            cdr_at_part(loader->team, &at, ".%s", cdr_brief_text(brief, name, '\0'));
        entry.is_flawed =
            entry.holds_doubts || json_object_get(loader->flawed, entry.at.path);
        load(loader, &entry);
    }
}

// One that holds doubts may be anything; its name is what counts then.
static void load_input(cdr_loader *loader, const cdr_entry *entry)
{
    json_t *anything = entry->holds_doubts ? json_object() : NULL;
    const json_t *schema = entry->holds_doubts ? anything : entry->read;
    if (json_is_object(schema))
        cdr_team_add_input(loader->team, entry->name, schema, &entry->at);
    loader->team->problems.no_memory |= entry->holds_doubts && !anything;
    json_decref(anything);
}

static void load_state_key(cdr_loader *loader, const cdr_entry *entry)
{
    if (!entry->is_flawed)
        cdr_team_add_state_key(loader->team, entry->name, entry->read, &entry->at);
}

cadre_budget cdr_load_budget(cdr_loader *loader, const json_t *object,
                             const json_t *written, cdr_at *at)
{
    const json_t *budget = json_object_get(object, "budget");
    const json_t *as_written = json_object_get(written, "budget");
    cdr_document_value cost =
        cdr_document_member(loader->document, as_written, "max_cost");
    if (cost.value) {
        const char *dot = at->path && *at->path ? "." : "";
        *at = cdr_at_part(loader->team, at, "%sbudget.max_cost", dot);
        at->line = cost.place.line;
        at->column = cost.place.column;
    }
    return (cadre_budget){
        .max_cost_usd_micros = cdr_load_integer(budget, "max_cost", 0),
        .max_tokens = cdr_load_integer(budget, "max_tokens", 0),
        .max_time_ms = cdr_load_integer(budget, "max_time", 0),
    };
}

// Who gets the user's input: the one that is named, else the first agent.
static void load_root(cdr_loader *loader, const json_t *root)
{
    cadre_team *team = loader->team;
    cdr_document_value value = cdr_document_member(loader->document, root, "root");
    if (json_is_string(value.value)) {
        team->root_ref.name = cdr_team_text(team, json_string_value(value.value));
        team->root_ref.at = place_of(loader, value.place, "root");
    } else if (!value.value && team->n_agents > 0) {
        team->root_ref.name = team->agents[0]->info.name;
        team->root_ref.at = team->agents[0]->at;
    }
}

static void load_top(cdr_loader *loader, const json_t *root)
{
    cadre_team *team = loader->team;
    cdr_document_value script = cdr_document_member(loader->document, root, "script");
    cdr_document_value agents = cdr_document_member(loader->document, root, "agents");
    const char *name = cdr_load_text(loader->read, "name");
    const char *description = cdr_load_text(loader->read, "description");
    const json_t *limits = json_object_get(loader->read, "limits");
    if (name)
        team->name = cdr_team_text(team, name);
    if (description)
        team->description = cdr_team_text(team, description);
    team->script_path = cdr_team_text(team, cdr_load_text(loader->read, "script"));
    if (team->script_path)
        team->script_at = place_of(loader, script.place, "script");
    else
        team->script_at = place_of(loader, (cdr_place){1, 1}, NULL);
    team->agents_at = place_of(loader, agents.key_place, "agents");
    team->limits = (cadre_limits){
        .max_model_calls = (int)cdr_load_integer(limits, "max_model_calls", 0),
        .max_tool_calls = (int)cdr_load_integer(limits, "max_tool_calls", 0),
        .max_depth = (int)cdr_load_integer(limits, "max_depth", 0),
    };
    team->budget_at = place_of(loader, (cdr_place){1, 1}, "");
    team->budget = cdr_load_budget(loader, loader->read, root, &team->budget_at);
}

// May names be missing from a section because of what the document told?
static bool is_partial(const cdr_loader *loader, const json_t *root,
                       const char *section)
{
    cdr_document_value value = cdr_document_member(loader->document, root, section);
    return value.is_doubtful || value.is_repeated ||
           cdr_document_root(loader->document).is_doubtful;
}

static void load(cdr_loader *loader, const json_t *root)
{
    loader->team->partial = (cdr_partial){
        .agents = is_partial(loader, root, "agents"),
        .models = is_partial(loader, root, "models"),
        .tools = is_partial(loader, root, "tools"),
        .inputs = is_partial(loader, root, "inputs"),
    };
    load_top(loader, root);
    cdr_load_team_hooks(loader, root);
    load_section(loader, "inputs", load_input);
    load_section(loader, "state", load_state_key);
    load_section(loader, "models", cdr_load_model);
    load_section(loader, "tools", cdr_load_tool);
    load_section(loader, "agents", cdr_load_agent);
    load_root(loader, root);
}

// Reads the whole file by its schema. False: no memory.
static bool read_file(cdr_loader *loader, json_t *root, const json_t *schema)
{
    cdr_settings_reader settings = {
        .schema = schema,
        .directory = loader->team->directory,
        .writes = cdr_document_is_json(loader->document) ? CDR_WRITES_JSON_FILE
                                                         : CDR_WRITES_YAML_FILE,
        .on_problem = on_problem,
        .ctx = loader,
    };
    if (cdr_document_settle_text(loader->document, root, schema, NULL) != CADRE_OK)
        return false;
    loader->read = cdr_settings_read(&settings, root);
    return loader->read != NULL;
}

// What was told while the file was read.
static void tell_document(cdr_loader *loader)
{
    size_t n_problems = 0;
    const cdr_document_problem *problems =
        cdr_document_problems(loader->document, &n_problems);
    for (size_t i = 0; i < n_problems; i++) {
        cdr_at at = place_of(loader, problems[i].place, NULL);
        cdr_team_problem(loader->team, &at, "%s", problems[i].text);
    }
}

static void load_document(cadre_team *team, cdr_document *document)
{
    json_t *root = cdr_document_root(document).value;
    cdr_loader loader = {.team = team, .document = document};
    team->document = document;
    loader.file = cdr_team_text(team, cdr_document_name(document));
    tell_document(&loader);
    if (!root)
        return;
    if (team->asked_type)
        cdr_load_type(&loader, root);
    json_t *schema = cdr_file_schema_new(team->runtime, root);
    loader.flawed = json_object();
    bool is_read =
        schema && loader.file && loader.flawed && read_file(&loader, root, schema);
    if (is_read && json_is_object(root))
        load(&loader, root);
    team->problems.no_memory |= !is_read;
    json_decref(loader.read);
    json_decref(loader.flawed);
    json_decref(loader.all_keys);
    json_decref(schema);
}

// Names the team and its folder after the file.
static void set_names(cadre_team *team, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t len = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    const char *name = cdr_arena_copy(&team->arena, file, len);
    const char *directory = ".";
    if (slash)
        directory = cdr_arena_copy(&team->arena, path,
                                   slash == path ? 1 : (size_t)(slash - path));
    team->problems.no_memory |= !name || !directory;
    if (name)
        team->name = name;
    if (directory)
        team->directory = directory;
}

static cadre_status load_as(cadre_runtime *runtime, const char *path, const char *type,
                            cadre_team **out, cadre_error *err)
{
    cadre_error cause = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    cadre_status status = cdr_document_load(path, &document, &cause);
    if (status != CADRE_OK)
        return cadre_fail_class(err, status, cause.error_class, cause.retryable, "%s",
                                cause.text);
    cadre_team *team = cadre_team_new(runtime, NULL);
    if (!team) {
        cdr_document_free(document);
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a team");
    }
    team->asked_type = cdr_team_text(team, type);
    set_names(team, path);
    load_document(team, document);
    *out = team;
    status = cadre_team_seal(team, err);
    team->document = NULL;
    cdr_document_free(document);
    return status;
}

cadre_status cadre_team_load(cadre_runtime *runtime, const char *path, cadre_team **out,
                             cadre_error *err)
{
    if (!runtime || !path || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_team_load: NULL argument");
    *out = NULL;
    return load_as(runtime, path, NULL, out, err);
}

cadre_status cadre_team_load_as(cadre_runtime *runtime, const char *path,
                                const cadre_load *options, cadre_team **out,
                                cadre_error *err)
{
    cadre_load own = {.struct_size = sizeof(own)};
    if (!runtime || !path || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_team_load_as: NULL argument");
    *out = NULL;
    if (options && !cdr_sized_copy(&own, sizeof(own), options))
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_load: struct_size is not set; make it with "
                          "CADRE_LOAD(...)");
    cadre_status status =
        own.type ? cdr_load_check_type(runtime, own.type, err) : CADRE_OK;
    return status == CADRE_OK ? load_as(runtime, path, own.type, out, err) : status;
}
