// How many tokens a message takes, about: as providers differ, and nobody can ask them
// before a request is sent, it is counted from the bytes.
//
// Rules:
// 1. Four bytes of ASCII are a token, and so are three other bytes.
// 2. A message takes four more, a call eight: for roles, ids and punctuation.
// 3. A picture takes 1,500; another file that is no text one for each 64 bytes of
//    base64, and not less than a picture.
// 4. What only its model can read (reasoning, signed items) counts as its text does.
//
// Thread: any.
#ifndef CDR_TOKENS_H
#define CDR_TOKENS_H

#include "cadre/ext/transcript.h"

#include <stdint.h>

int64_t cdr_tokens_of_text(const char *text); // NULL: 0
int64_t cdr_tokens_of_item(const cadre_request_item *item);

#endif
