// Short forms: a list of texts, and how a text is held against them.
#include "expression/short_form.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "base/nearest.h"
#include "base/pattern.h"
#include "expression/sandbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef enum fit {
    FIT_CONTAINS,
    FIT_STARTS,
    FIT_ENDS,
    FIT_EQUALS,
    FIT_MATCHES,
    N_FITS
} fit;

static const char *const fit_names[N_FITS] = {
    [FIT_CONTAINS] = "contains", [FIT_STARTS] = "starts",   [FIT_ENDS] = "ends",
    [FIT_EQUALS] = "equals",     [FIT_MATCHES] = "matches",
};

#define KNOWN "contains, starts, ends, equals, matches"

struct cdr_short_form {
    json_t *texts; // a list of texts; also keeps `where`
    char *where;
    cdr_pattern **patterns; // of FIT_MATCHES, one for each text
    size_t count;
    fit fit;
};

static bool fits_text(fit how, const char *text, size_t len, const json_t *item)
{
    const char *part = json_string_value(item);
    size_t part_len = json_string_length(item);
    if (part_len > len)
        return false;
    switch (how) {
    case FIT_CONTAINS:
        return memmem(text, len, part, part_len) != NULL;
    case FIT_STARTS:
        return memcmp(text, part, part_len) == 0;
    case FIT_ENDS:
        return memcmp(text + len - part_len, part, part_len) == 0;
    default:
        assert(how == FIT_EQUALS);
        return len == part_len && memcmp(text, part, len) == 0;
    }
}

cadre_status cdr_short_form_test(const cdr_short_form *form, const char *text,
                                 bool *out, cadre_error *err)
{
    *out = false;
    if (!text)
        return CADRE_OK;
    cdr_subject subject = {.text = text, .len = strlen(text)};
    subject.deadline_ns = cdr_cpu_now_ns() + (int64_t)CDR_SANDBOX_CPU_MS * 1000000;
    for (size_t i = 0; i < form->count && !*out; i++) {
        if (form->fit != FIT_MATCHES) {
            *out =
                fits_text(form->fit, text, subject.len, json_array_get(form->texts, i));
            continue;
        }
        cadre_error why = CADRE_ERROR_INIT;
        cadre_status status = cdr_pattern_match(form->patterns[i], &subject, out, &why);
        if (status != CADRE_OK)
            return cadre_fail_class(err, status, why.error_class, false, "%s: %s",
                                    form->where, why.text);
    }
    return CADRE_OK;
}

static cadre_status read_fit(cdr_short_form *form, const char *key, cadre_error *err)
{
    for (size_t i = 0; i < N_FITS; i++) {
        if (strcmp(key, fit_names[i]) == 0) {
            form->fit = (fit)i;
            return CADRE_OK;
        }
    }
    char brief[CDR_BRIEF_SIZE];
    cdr_brief_text(brief, key, '\'');
    const char *near = cdr_nearest(key, fit_names, N_FITS);
    if (near)
        return cadre_fail(err, CADRE_EINVAL,
                          "%s: unknown short form %s; did you mean '%s'? (known: " KNOWN
                          ")",
                          form->where, brief, near);
    return cadre_fail(err, CADRE_EINVAL, "%s: unknown short form %s (known: " KNOWN ")",
                      form->where, brief);
}

static cadre_status add_pattern(cdr_short_form *form, size_t i, const json_t *item,
                                cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = cdr_pattern_new(
        json_string_value(item), json_string_length(item), &form->patterns[i], &why);
    return status == CADRE_OK
               ? status
               : cadre_fail(err, status, "%s.matches: %s", form->where, why.text);
}

static cadre_status read_texts(cdr_short_form *form, const json_t *given,
                               cadre_error *err)
{
    size_t n = json_is_array(given) ? json_array_size(given) : 1;
    form->texts = json_array();
    form->patterns = calloc(n + 1, sizeof(cdr_pattern *));
    if (!form->texts || !form->patterns)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a short form");
    if (n == 0)
        return cadre_fail(err, CADRE_EINVAL, "%s.%s: the list is empty", form->where,
                          fit_names[form->fit]);
    for (; form->count < n; form->count++) {
        const json_t *item =
            json_is_array(given) ? json_array_get(given, form->count) : given;
        char brief[CDR_BRIEF_SIZE];
        if (!json_is_string(item))
            return cadre_fail(
                err, CADRE_EINVAL, "%s.%s: must be a text or a list of texts, got %s",
                form->where, fit_names[form->fit], cdr_brief_json(brief, item));
        json_t *copy =
            json_stringn_nocheck(json_string_value(item), json_string_length(item));
        if (json_array_append_new(form->texts, copy) != 0)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for a short form");
        cadre_status status = CADRE_OK;
        if (form->fit == FIT_MATCHES)
            status = add_pattern(form, form->count, item, err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

static cadre_status read_form(cdr_short_form *form, const json_t *written,
                              const char *where, cadre_error *err)
{
    form->where = strdup(where);
    if (!form->where)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a short form");
    if (json_object_size(written) != 1)
        return cadre_fail(err, CADRE_EINVAL,
                          "%s: a short form has exactly one of " KNOWN ", got %zu keys",
                          where, json_object_size(written));
    void *at = json_object_iter(cdr_json_iterable(written));
    cadre_status status = read_fit(form, json_object_iter_key(at), err);
    return status == CADRE_OK ? read_texts(form, json_object_iter_value(at), err)
                              : status;
}

cadre_status cdr_short_form_new(const json_t *written, const char *where,
                                cdr_short_form **out, cadre_error *err)
{
    cdr_short_form *form = calloc(1, sizeof(*form));
    if (!form)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a short form");
    cadre_status status = read_form(form, written, where, err);
    if (status == CADRE_OK)
        *out = form;
    else
        cdr_short_form_free(form);
    return status;
}

void cdr_short_form_free(cdr_short_form *form)
{
    if (!form)
        return;
    for (size_t i = 0; form->patterns && i < form->count; i++)
        cdr_pattern_free(form->patterns[i]);
    free(form->patterns);
    json_decref(form->texts);
    free(form->where);
    free(form);
}
