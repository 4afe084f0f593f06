// See building.h.
#include "team/building.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "team/sized.h"

#include <string.h>

bool cdr_building_is_open(cadre_team *team, const char *call)
{
    if (!team)
        return false;
    cdr_mutex_lock(&team->mu);
    bool is_late = team->is_sealed || team->is_sealing;
    if (is_late && !team->late_call)
        team->late_call = call;
    cdr_mutex_unlock(&team->mu);
    return !is_late;
}

bool cdr_building_take(cadre_team *team, void *own, size_t size, const void *given,
                       const char *macro)
{
    if (given && cdr_sized_copy(own, size, given))
        return true;
    cdr_team_problem(team, NULL,
                     "%s: the struct is NULL or has no struct_size; make "
                     "it with %s(...)",
                     macro, macro);
    return false;
}

const cadre_hooks *cdr_building_hooks(cadre_team *team, const cadre_hooks *given)
{
    cadre_hooks *own = given ? cdr_team_alloc(team, sizeof(*own)) : NULL;
    if (!own || !cdr_building_take(team, own, sizeof(*own), given, "CADRE_HOOKS"))
        return NULL;
    return own;
}

bool cdr_building_has_name(cadre_team *team, const char *name, const char *macro)
{
    if (name)
        return true;
    cdr_team_problem(team, NULL, "%s: .name is missing", macro);
    return false;
}

cdr_at cdr_building_place(cadre_team *team, const char *kind, const char *name)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_at at = {.path = kind};
    return cdr_at_part(team, &at, " %s", cdr_brief_text(brief, name, '\''));
}

void cdr_building_add_names(cadre_team *team, cdr_name_refs *refs,
                            const cadre_names *names, const cdr_at *at,
                            const char *part)
{
    for (size_t i = 0; i < names->count; i++) {
        cdr_at place = cdr_at_part(team, at, ": %s[%zu]", part, i);
        if (names->items[i])
            cdr_name_refs_add(team, refs, names->items[i], CADRE_HISTORY_DEFAULT,
                              &place);
        else
            cdr_team_problem(team, &place, "expected a name, got NULL");
    }
}

int64_t cdr_building_timeout(cadre_team *team, int64_t given, const cdr_at *at)
{
    if (given >= 0)
        return given;
    cdr_at place = cdr_at_part(team, at, ": timeout_ms");
    cdr_team_problem(team, &place,
                     "expected at least 1, or 0 for the default, got %lld",
                     (long long)given);
    return 0;
}

// --- Options ---

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    cdr_options_check *check = ctx;
    const char *dot = *problem->path && *problem->path != '[' ? "." : "";
    const char *start = check->is_struct ? "" : "options";
    cdr_at place = cdr_at_part(check->team, check->at, ": %s%s%s", start,
                               check->is_struct ? "" : dot, problem->path);
    cdr_team_problem(check->team, &place, "%s", problem->text);
    check->is_flawed = true;
}

json_t *cdr_building_read_options(cdr_options_check *check, const char *options_schema,
                                  const json_t *given)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *schema = cdr_settings_schema(options_schema, &err);
    cdr_settings_reader reader = {
        .schema = schema,
        .directory = ".",
        .writes = check->is_struct ? CDR_WRITES_C : CDR_WRITES_JSON,
        .on_problem = on_problem,
        .ctx = check,
    };
    json_t *options = schema ? cdr_settings_read(&reader, given) : NULL;
    check->team->problems.no_memory |= !options;
    json_decref(schema);
    if (check->is_flawed) {
        json_decref(options);
        return NULL;
    }
    return options;
}

json_t *cdr_building_parse_options(cdr_options_check *check, const char *options_schema,
                                   const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *given = text ? cdr_json_parse(text, strlen(text), &err) : json_object();
    json_t *options = NULL;
    if (given)
        options = cdr_building_read_options(check, options_schema, given);
    else
        cdr_team_problem(check->team, check->at, "options: %s", err.text);
    json_decref(given);
    return options;
}
