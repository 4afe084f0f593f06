// A script inside.
//
// Thread: a loaded script never changes.
#ifndef CDR_SCRIPT_H
#define CDR_SCRIPT_H

#include "cadre/ext/script.h"

#include "base/arena.h"
#include "team/problems.h"
#include "team/yaml.h"

typedef struct cdr_script_entry {
    cadre_script_step step;
    const char *contains, *equals; // of `when`; NULL: not asked for
    int before;                    // ordered attempts before this entry
    int times;                     // attempts it serves; with `when`: any number
} cdr_script_entry;

typedef struct cdr_script_agent {
    const char *name;
    cdr_at at;
    cdr_script_entry *ordered;
    size_t n_ordered;
    cdr_script_entry *chosen; // those with `when`, in file order
    size_t n_chosen;
    int length; // ordered attempts in all
} cdr_script_agent;

// Whom a step hands over to.
typedef struct cdr_script_target {
    const char *name;
    cdr_at at;
} cdr_script_target;

typedef struct cdr_script_result {
    const char *text;
    bool is_error;
} cdr_script_result;

typedef struct cdr_script_tool {
    const char *name;
    cdr_at at;
    cdr_script_result *results;
    size_t n_results;
} cdr_script_tool;

struct cadre_script {
    cdr_arena arena;
    const char *file; // its name
    json_t *content;  // what steps point into; owned
    cdr_script_agent *agents;
    size_t n_agents;
    cdr_script_target *targets; // of all steps
    size_t n_targets;
    cdr_script_tool *tools;
    size_t n_tools;
    json_t *agent_index, *tool_index; // name -> position
    const char **names;               // of the agents
    bool is_strict;
};

// Reads a script file with all its mistakes. NULL: it cannot be used; there is at least
// one problem then. `at` is where the file is named, NULL: nowhere. Places live as long
// as the script and `problems`, but for paths and the problems' own files, which are in
// `problems->arena`.
cadre_script *cdr_script_read(const char *path, const cdr_at *at,
                              cdr_problems *problems);

// Fails, naming the place, when an agent has ordered attempts left after `used`.
cadre_status cdr_script_check_left(const cadre_script *script, const char *agent,
                                   int used, cadre_error *err);

#endif
