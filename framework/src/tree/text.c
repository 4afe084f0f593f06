// See text.h.
#include "tree/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cdr_text *cdr_text_new(const char *text, size_t len)
{
    cdr_text *copy = malloc(sizeof(cdr_text) + len + 1);
    if (copy == NULL)
        return NULL;
    atomic_init(&copy->refs, 1);
    copy->len = len;
    memcpy(copy->bytes, text, len);
    copy->bytes[len] = '\0';
    return copy;
}

cdr_text *cdr_text_ref(cdr_text *text)
{
    if (text != NULL)
        atomic_fetch_add_explicit(&text->refs, 1, memory_order_relaxed);
    return text;
}

void cdr_text_unref(cdr_text *text)
{
    if (text != NULL &&
        atomic_fetch_sub_explicit(&text->refs, 1, memory_order_acq_rel) == 1)
        free(text);
}

const char *cdr_text_bytes(const cdr_text *text)
{
    return text == NULL ? "" : text->bytes;
}

cdr_failure *cdr_failure_new(const cadre_error *err, const char *agent,
                             const char *frame_id)
{
    size_t len = strlen(err->text);
    cdr_failure *failure = malloc(sizeof(cdr_failure) + len + 1);
    if (failure == NULL)
        return NULL;
    atomic_init(&failure->refs, 1);
    failure->error_class = err->error_class;
    failure->retryable = err->retryable;
    failure->agent = agent;
    snprintf(failure->frame_id, sizeof failure->frame_id, "%s", frame_id);
    memcpy(failure->message, err->text, len + 1);
    return failure;
}

cdr_failure *cdr_failure_ref(cdr_failure *failure)
{
    if (failure != NULL)
        atomic_fetch_add_explicit(&failure->refs, 1, memory_order_relaxed);
    return failure;
}

void cdr_failure_unref(cdr_failure *failure)
{
    if (failure != NULL &&
        atomic_fetch_sub_explicit(&failure->refs, 1, memory_order_acq_rel) == 1)
        free(failure);
}

cadre_error_info cdr_failure_info(const cdr_failure *failure)
{
    if (failure == NULL)
        return (cadre_error_info){.message = "", .agent = "", .frame_id = ""};
    return (cadre_error_info){failure->error_class, failure->retryable,
                              failure->message, failure->agent, failure->frame_id};
}
