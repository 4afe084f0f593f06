// Digests of a sealed team: whether a run that was cut finds the team again that it was
// started with.
//
// Rules:
// 1. The shape is what decides who may be called: the root; of each agent its name,
//    type, entry, members in order, handoffs, tools, each with its replay policy and
//    whether it needs approval, its output_key, and over members its options; and the
//    reducers of the state, by which recorded deltas are read. The texts are what
//    models read: descriptions, instructions and other options of agents without
//    members, models and their parameters, tools, inputs, defaults of the state.
// 2. The same team gives the same digests in every process, whether it was read from a
//    file or built in C, in whatever order keys stand. An option that has its default
//    counts as left out, so that a new option with a default changes nothing.
// 3. What depends on the machine counts for nothing: addresses, keys, options that may
//    hold a secret (`x-secret`), paths, times, and whether the run is offline.
//
// They tell changes, not attacks: 64 bits, no cryptography.
// Thread: any.
#ifndef CDR_DIGEST_H
#define CDR_DIGEST_H

#include "cadre/error.h"

#include <jansson.h>
#include <stdint.h>

enum {
    CDR_DIGEST_SIZE = 17,     // of a team, as hex digits with their NUL
    CDR_AGENT_DIGEST_SIZE = 9 // of an agent's shape
};

// Of any JSON value, whatever the order of keys; NULL ok.
uint64_t cdr_digest_json(const json_t *value);

// Of the options of a type, whose schema gives the defaults (NULL: none). False:
// no memory.
bool cdr_digest_options(const char *options_schema, const json_t *options,
                        uint64_t *out);

#endif
