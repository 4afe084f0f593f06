// See schema_pattern.h.
#include "base/schema_pattern.h"

#include "base/pattern.h"

#include <string.h>

#define ONCE_NS 100000000

static bool is_start(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-/:, ";
    return *text == '^' && text[1 + strspn(text + 1, letters)] == '\0';
}

cadre_status cdr_schema_pattern_init(cdr_schema_pattern *pattern, const char *text,
                                     cadre_error *err)
{
    *pattern = (cdr_schema_pattern){.text = text};
    if (is_start(text))
        return CADRE_OK;
    return cdr_pattern_new_ecma(text, strlen(text), &pattern->regex, err);
}

void cdr_schema_pattern_fini(cdr_schema_pattern *pattern)
{
    cdr_pattern_free(pattern->regex);
    pattern->regex = NULL;
}

cdr_schema_fit cdr_schema_pattern_fits(const cdr_schema_pattern *pattern,
                                       const char *text, size_t len,
                                       int64_t deadline_ns)
{
    bool fits = false;
    if (!pattern->regex) {
        size_t start = strlen(pattern->text + 1);
        fits = len >= start && memcmp(text, pattern->text + 1, start) == 0;
        return fits ? CDR_FITS : CDR_FITS_NOT;
    }
    cdr_subject subject = {text, len, deadline_ns};
    if (cdr_pattern_match(pattern->regex, &subject, &fits, NULL) != CADRE_OK)
        return CDR_FITS_UNKNOWN;
    return fits ? CDR_FITS : CDR_FITS_NOT;
}

bool cdr_schema_pattern_fits_once(const char *text, const char *subject)
{
    cdr_schema_pattern pattern;
    if (cdr_schema_pattern_init(&pattern, text, NULL) != CADRE_OK)
        return false;
    cdr_schema_fit fit = cdr_schema_pattern_fits(&pattern, subject, strlen(subject),
                                                 cdr_cpu_now_ns() + ONCE_NS);
    cdr_schema_pattern_fini(&pattern);
    return fit == CDR_FITS;
}
