// What a run was started with: kept in its trace's row, and gone on with by a resume.
//
// The row's `options` are a JSON object; what is empty is left out:
//   {"session": name, "inputs": {...}, "limits": {...}, "timeout_ms": n, "offline":
//   true, "type": that of the root instead of the file's,
//    "metadata": {...}, "spawn": {"report_to": conversation, "within": tool type},
//    "agents": {name: digest of its shape, ...}}
// `inputs` are those the run works with, defaults included; of the limits those that
// were given, without a limit as "unlimited".
//
// Thread: one at a time.
#ifndef CDR_OPTIONS_H
#define CDR_OPTIONS_H

#include "team/digest.h"
#include "tree/tree.h"

// Keeps what a new run is started with, for the row of its trace. Errors: EINVAL (the
// metadata is no object), ENOMEM.
cadre_status cdr_options_keep(cdr_tree *tree, const cadre_run_config *config,
                              cadre_error *err);

// The options of a row as an object; an empty one for what is none. New reference;
// NULL: no memory.
json_t *cdr_options_parse(const char *text);

// What is recorded of the start of a run.
typedef struct cdr_started {
    char trace[CADRE_ID_TEXT_SIZE];
    char shape_digest[CDR_DIGEST_SIZE], text_digest[CDR_DIGEST_SIZE]; // "": not kept
    cadre_id spawned_by;
    char *team;
    json_t *options;
    bool is_there;
    bool has_ended; // then nothing more is checked
} cdr_started;

// Reads it; `fini` in both cases. Errors: ENOTFOUND, ESTORE, ENOMEM.
cadre_status cdr_started_read(cdr_started *started, cadre_runtime *runtime,
                              cadre_id trace, cadre_error *err);
void cdr_started_fini(cdr_started *started);

// Where it reports when another run spawned it; false: none did. Borrowed from it.
bool cdr_started_spawn(const cdr_started *started, cdr_spawn *out);

// Puts all of it into the tree that goes on with it. Errors: ENOMEM.
cadre_status cdr_started_keep(const cdr_started *started, cdr_tree *tree,
                              cadre_error *err);

// Is the team the one that the run was started with? Errors: ECONFIG naming what is
// gone, new or changed.
cadre_status cdr_started_check_team(const cdr_started *started, const cadre_team *team,
                                    bool accepts_changes, cadre_error *err);

// Are its texts other ones?
bool cdr_started_has_other_texts(const cdr_started *started, const cadre_team *team);

// Puts the recorded limits, budget and timeout where `config` gives none.
void cdr_started_fill(const cdr_started *started, cadre_run_config *config);

// The inputs to go on with. New reference; NULL: `err`. Errors: EINVAL, ENOMEM; ECONFIG
// naming a given one that is not the recorded one.
json_t *cdr_started_inputs(const cdr_started *started, const cadre_team *team,
                           const json_t *given, cadre_error *err);

#endif
