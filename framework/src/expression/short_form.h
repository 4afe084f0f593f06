// Short forms: conditions on the last response that need no language.
//
// Thread: any number of threads may test one at once.
#ifndef CDR_SHORT_FORM_H
#define CDR_SHORT_FORM_H

#include "cadre/error.h"

#include <jansson.h>

typedef struct cdr_short_form cdr_short_form;

// Makes one of an object such as {"contains": ["refund", "return"]}. Errors:
// CADRE_EINVAL "WHERE: ..."; CADRE_ENOMEM.
cadre_status cdr_short_form_new(const json_t *written, const char *where,
                                cdr_short_form **out, cadre_error *err);
void cdr_short_form_free(cdr_short_form *form);

// Does any of its texts fit `text`? NULL fits nothing. Errors: as cdr_pattern_match.
cadre_status cdr_short_form_test(const cdr_short_form *form, const char *text,
                                 bool *out, cadre_error *err);

#endif
