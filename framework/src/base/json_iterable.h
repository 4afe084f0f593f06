// jansson walks objects only through pointers that are not const, though walking
// changes nothing. The cast stands here, once.
//
//     json_object_foreach(cdr_json_iterable(object), key, value)
//
// Thread: any.
#ifndef CDR_JSON_ITERABLE_H
#define CDR_JSON_ITERABLE_H

#include <jansson.h>
#include <stdint.h>

static inline json_t *cdr_json_iterable(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

#endif
