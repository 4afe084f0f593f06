// Ids from outside: what is taken for one is written as the same text again.
#include "fuzz/fuzz.h"

#include "cadre/ext/id.h"

#include <stdlib.h>

void fuzz_one(const uint8_t *data, size_t len)
{
    cadre_id id;
    char again[CADRE_ID_TEXT_SIZE];
    char *text = fuzz_copy(data, len);
    if (cadre_id_parse(text, &id)) {
        cadre_id_text(id, again);
        FUZZ_CHECK_TEXT(again, text);
    }
    free(text);
}
