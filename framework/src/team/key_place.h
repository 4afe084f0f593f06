// Where in a team file a key stands, for who wrote it elsewhere.
//
// Thread: any.
#ifndef CDR_KEY_PLACE_H
#define CDR_KEY_PLACE_H

#include "base/buf.h"

#include <jansson.h>

// Appends "at the top or under agents". `schema` is that of files with all types;
// `here`, as problems name paths, is where the key was written, and not told again.
// False: it stands nowhere else.
bool cdr_key_place(cdr_buf *text, const json_t *schema, const char *key,
                   const char *here);

#endif
