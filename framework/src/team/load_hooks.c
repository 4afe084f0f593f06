// The hooks of a team file: the files that `hooks` names, and what they define.
//
// A file that several hooks name is read once, and told once when it is bad.
#include "team/load.h"

#include "run/lua_hook.h"

#include <string.h>

static cdr_hook_file *find_file(const cadre_team *team, const char *path)
{
    for (size_t i = 0; i < team->n_hook_files; i++) {
        if (strcmp(team->hook_files[i]->path, path) == 0)
            return team->hook_files[i];
    }
    return NULL;
}

static void keep_file(cadre_team *team, cdr_hook_file *file)
{
    cdr_hook_file **files = cdr_arena_grow(&team->arena, team->hook_files,
                                           team->n_hook_files, sizeof(*files));
    if (!files) {
        team->problems.no_memory = true;
        cdr_hook_file_close(file);
        return;
    }
    team->hook_files = files;
    team->hook_files[team->n_hook_files++] = file;
}

// What it must be sound for. NULL: told.
typedef struct hook_entry {
    const char *name; // "create"
    const char *path, *where;
    cdr_at at;
} hook_entry;

static cdr_hook_file *open_file(cadre_team *team, const hook_entry *hook)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_hook_file *file = NULL;
    cadre_status status = cdr_hook_file_open(hook->path, hook->where, &file, &err);
    if (file)
        keep_file(team, file);
    if (status == CADRE_OK)
        return file;
    if (status == CADRE_ENOMEM)
        team->problems.no_memory = true;
    else
        cdr_team_problem(team, &hook->at, "%s", err.text);
    return NULL;
}

static cdr_hook_file *find_hook(cadre_team *team, const hook_entry *hook)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_hook_file *file = find_file(team, hook->path);
    if (!file)
        file = open_file(team, hook);
    if (!file || !file->functions)
        return NULL;
    if (cdr_hook_file_check(file, hook->name, &err) == CADRE_OK)
        return file;
    cdr_team_problem(team, &hook->at, "%s", err.text);
    return NULL;
}

// `hooks`: the entry of the mapping itself.
static bool read_set(cdr_loader *loader, const cdr_entry *hooks, cdr_hook_set *set)
{
    bool has_any = false;
    for (size_t i = 0; i < CDR_N_HOOKS; i++) {
        const char *name = cdr_hook_names[i];
        hook_entry hook = {.name = name,
                           .path = cdr_load_text(hooks->read, name),
                           .where = cdr_load_text(hooks->written, name)};
        bool is_doubtful =
            cdr_document_member(loader->document, hooks->written, name).holds_doubts;
        if (!hook.path || !hook.where || is_doubtful)
            continue;
        hook.at = cdr_load_member_at(loader, hooks, name);
        set->files[i] = find_hook(loader->team, &hook);
        has_any |= set->files[i] != NULL;
    }
    return has_any;
}

static const cadre_hooks *load(cdr_loader *loader, const cdr_entry *hooks,
                               const cdr_hook_set **set)
{
    if (!json_is_object(hooks->written) || !json_is_object(hooks->read))
        return NULL;
    cdr_hook_set *own = cdr_team_alloc(loader->team, sizeof(*own));
    cadre_hooks *made = cdr_team_alloc(loader->team, sizeof(*made));
    if (!own || !made || !read_set(loader, hooks, own))
        return NULL;
    cdr_lua_hooks_fill(own, made);
    *set = own;
    return made;
}

void cdr_load_agent_hooks(cdr_loader *loader, cadre_agent *agent,
                          const cdr_entry *entry)
{
    const cdr_entry hooks = {.written = json_object_get(entry->written, "hooks"),
                             .read = json_object_get(entry->read, "hooks"),
                             .at = cdr_load_member_at(loader, entry, "hooks")};
    agent->hooks = load(loader, &hooks, &agent->hook_set);
}

void cdr_load_team_hooks(cdr_loader *loader, const json_t *root)
{
    const cdr_entry hooks = {.written = json_object_get(root, "hooks"),
                             .read = json_object_get(loader->read, "hooks"),
                             .at = {.file = loader->file, .path = "hooks"}};
    loader->team->hooks = load(loader, &hooks, &loader->team->hook_set);
}
