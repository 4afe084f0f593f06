// Ids of traces, conversations, frames and messages.
//
// A random prefix of the process that made it (60 bits) and a counter; unique over all
// processes that share a store.
// Thread: plain data.
#ifndef CADRE_EXT_ID_H
#define CADRE_EXT_ID_H

#include "cadre/error.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_id {
    uint64_t prefix;
    uint64_t counter; // both 0: no id
} cadre_id;

#define CADRE_ID_TEXT_SIZE 32 // with the NUL

// Writes an id as text: 12 letters or digits, a dash, the counter; "" for no id.
CADRE_API void cadre_id_text(cadre_id id, char text[CADRE_ID_TEXT_SIZE]);

// Reads one; false when the text is not an id.
CADRE_API bool cadre_id_parse(const char *text, cadre_id *id);

CADRE_API cadre_id cadre_id_new(void);

static inline bool cadre_id_equal(cadre_id a, cadre_id b)
{
    return a.prefix == b.prefix && a.counter == b.counter;
}

static inline bool cadre_id_is_none(cadre_id id)
{
    return id.prefix == 0 && id.counter == 0;
}

#ifdef __cplusplus
}
#endif

#endif
