// See delta.h.
#include "tree/delta.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "base/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(JSON_HAVE_ATOMIC_BUILTINS || JSON_HAVE_SYNC_BUILTINS,
               "jansson counts references atomically");

enum {
    // What holds a value in a delta, and that in the store, is nested too.
    MAX_DEPTH = CDR_JSON_MAX_DEPTH - 8
};

// --- References ---

// Values that jansson has once for all are not counted.
static size_t count_of(const json_t *value)
{
    return __atomic_load_n(&value->refcount, __ATOMIC_ACQUIRE);
}

json_t *cdr_json_share(json_t *value)
{
    if (value != NULL && count_of(value) != (size_t)-1)
        __atomic_add_fetch(&value->refcount, 1, __ATOMIC_ACQ_REL);
    return value;
}

void cdr_json_unshare(json_t *value)
{
    if (value == NULL || count_of(value) == (size_t)-1)
        return;
    if (__atomic_sub_fetch(&value->refcount, 1, __ATOMIC_ACQ_REL) == 0)
        json_delete(value);
}

// The member of an object that is ours, as one that may be changed. Borrowed; NULL: it
// is not there, or no memory.
static json_t *own_member(json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (member == NULL || count_of(member) == 1)
        return member;
    json_t *copy = json_copy(member);
    return json_object_set_new(object, key, copy) == 0 ? copy : NULL;
}

// Makes an object that may be changed of one that others may have. False: no memory.
static bool own(json_t **object)
{
    if (count_of(*object) == 1)
        return true;
    json_t *copy = json_copy(*object);
    if (copy == NULL)
        return false;
    cdr_json_unshare(*object);
    *object = copy;
    return true;
}

// --- One key ---

// A number that was added up; new reference; NULL: too large, or no memory.
static json_t *add_numbers(const json_t *before, const json_t *more)
{
    json_int_t sum = 0;
    if (before == NULL)
        return json_copy(cdr_json_iterable(more));
    if (json_is_integer(before) && json_is_integer(more))
        return __builtin_add_overflow(json_integer_value(before),
                                      json_integer_value(more), &sum)
                   ? NULL
                   : json_integer(sum);
    double real = json_number_value(before) + json_number_value(more);
    return isfinite(real) ? json_real(real) : NULL;
}

static bool extend(json_t *object, const char *key, const json_t *more)
{
    json_t *list = own_member(object, key);
    if (list == NULL)
        return json_object_set(object, key, cdr_json_iterable(more)) == 0;
    return json_array_extend(list, cdr_json_iterable(more)) == 0;
}

static bool merge(json_t *object, const char *key, const json_t *more)
{
    json_t *there = own_member(object, key);
    if (there == NULL)
        return json_object_set(object, key, cdr_json_iterable(more)) == 0;
    return json_object_update(there, cdr_json_iterable(more)) == 0;
}

static bool add_up(json_t *object, const char *key, const json_t *more)
{
    json_t *sum = add_numbers(json_object_get(object, key), more);
    return sum != NULL && json_object_set_new(object, key, sum) == 0;
}

// Adds one key of a delta to an object of the same kind as a delta has it: also what
// the state has, but for custom keys.
static bool put(json_t *object, const char *key, cadre_reducer reducer,
                const json_t *more)
{
    switch (reducer) {
    case CADRE_REDUCE_APPEND:
    case CADRE_REDUCE_CUSTOM:
        return extend(object, key, more);
    case CADRE_REDUCE_MERGE:
        return merge(object, key, more);
    case CADRE_REDUCE_SUM:
        return add_up(object, key, more);
    case CADRE_REDUCE_REPLACE:
        break;
    }
    return json_object_set(object, key, cdr_json_iterable(more)) == 0;
}

// --- Making a delta ---

static bool is_deeper(const json_t *value, int left)
{
    const char *key;
    size_t i;
    json_t *part;
    if (!json_is_array(value) && !json_is_object(value))
        return false;
    if (left == 0)
        return true;
    json_array_foreach(value, i, part)
    {
        if (is_deeper(part, left - 1))
            return true;
    }
    json_object_foreach(cdr_json_iterable(value), key, part)
    {
        if (is_deeper(part, left - 1))
            return true;
    }
    return false;
}

static cadre_status refuse(const char *key, cadre_reducer reducer, const char *wanted,
                           const json_t *given, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    return cadre_fail(err, CADRE_EINVAL, "state key '%s' (%s): expected %s, got %s",
                      key, cadre_reducer_name(reducer), wanted,
                      cdr_brief_json(brief, given));
}

// New reference. jansson gives an incomplete copy when memory runs out.
static json_t *whole_copy(const json_t *value)
{
    json_t *copy = json_deep_copy(value);
    if (copy != NULL && json_equal(copy, value))
        return copy;
    json_decref(copy);
    return NULL;
}

// The value in the form a delta has it; new reference.
static json_t *form_of(cadre_reducer reducer, const json_t *value)
{
    bool is_listed = reducer == CADRE_REDUCE_CUSTOM ||
                     (reducer == CADRE_REDUCE_APPEND && !json_is_array(value));
    json_t *copy = whole_copy(value);
    if (!is_listed || copy == NULL)
        return copy;
    json_t *list = json_array();
    if (json_array_append_new(list, copy) == 0)
        return list;
    json_decref(list);
    return NULL;
}

json_t *cdr_delta_new(const cadre_team *team, const char *key, const json_t *value,
                      cadre_error *err)
{
    cadre_reducer reducer = cdr_team_reducer(team, key);
    if (reducer == CADRE_REDUCE_MERGE && !json_is_object(value)) {
        refuse(key, reducer, "an object", value, err);
        return NULL;
    }
    if (reducer == CADRE_REDUCE_SUM && !json_is_number(value)) {
        refuse(key, reducer, "a number", value, err);
        return NULL;
    }
    if (is_deeper(value, MAX_DEPTH)) {
        cadre_fail(err, CADRE_EINVAL,
                   "state key '%s': the value is nested deeper than %d", key,
                   (int)MAX_DEPTH);
        return NULL;
    }
    json_t *delta = json_object();
    if (json_object_set_new(delta, key, form_of(reducer, value)) == 0)
        return delta;
    json_decref(delta);
    cadre_fail(err, CADRE_ENOMEM, "state key '%s': no memory for its value", key);
    return NULL;
}

// --- Adding ---

// Folds updates into a value, which is taken over. New reference; NULL: `err`.
static json_t *fold(const cdr_state_key *key, json_t *value, const json_t *updates,
                    cadre_error *err)
{
    size_t i;
    json_t *update;
    char brief[CDR_BRIEF_SIZE];
    json_array_foreach(updates, i, update)
    {
        json_t *after = key->reduce(key->ctx, value, update);
        cdr_json_unshare(value);
        value = after;
        if (after != NULL)
            continue;
        cadre_fail(err, CADRE_EFAILED,
                   "state key '%s' (custom): its reducer refused %s", key->name,
                   cdr_brief_json(brief, update));
        return NULL;
    }
    return value;
}

// Is that part of a delta what the reducer takes? A record may be of another team.
static const char *wanted_of(cadre_reducer reducer, const json_t *part)
{
    switch (reducer) {
    case CADRE_REDUCE_APPEND:
    case CADRE_REDUCE_CUSTOM:
        return json_is_array(part) ? NULL : "a list";
    case CADRE_REDUCE_MERGE:
        return json_is_object(part) ? NULL : "an object";
    case CADRE_REDUCE_SUM:
        return json_is_number(part) ? NULL : "a number";
    case CADRE_REDUCE_REPLACE:
        break;
    }
    return NULL;
}

// All that may be refused is looked at before anything is changed; what custom keys
// become is put into `made`.
static cadre_status check(const cadre_frame *frame, const json_t *seen, json_t *delta,
                          json_t *made, cadre_error *err)
{
    const char *name;
    json_t *part;
    const cadre_team *team = frame->tree->team;
    json_object_foreach(delta, name, part)
    {
        const cdr_state_key *key = cdr_team_state_key(team, name);
        cadre_reducer reducer = key == NULL ? CADRE_REDUCE_REPLACE : key->reducer;
        const char *wanted = wanted_of(reducer, part);
        json_t *before = json_object_get(seen, name);
        if (wanted != NULL)
            return refuse(name, reducer, wanted, part, err);
        if (reducer == CADRE_REDUCE_SUM) {
            json_t *sum = add_numbers(before, part);
            json_t *own_sum = add_numbers(json_object_get(frame->delta, name), part);
            bool is_ok = sum != NULL && own_sum != NULL;
            json_decref(sum);
            json_decref(own_sum);
            if (!is_ok)
                return cadre_fail(err, CADRE_EINVAL,
                                  "state key '%s' (sum): the sum is too large", name);
        }
        if (reducer != CADRE_REDUCE_CUSTOM)
            continue;
        json_t *after = fold(key, cdr_json_share(before), part, err);
        if (after == NULL && err->status != CADRE_OK)
            return err->status;
        if (after != NULL && json_object_set_new(made, name, after) != 0)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for the state");
    }
    return CADRE_OK;
}

// Puts a checked delta into what the frame sees.
static bool see(cadre_frame *frame, json_t *delta, const json_t *made)
{
    const char *name;
    json_t *part;
    const cadre_team *team = frame->tree->team;
    if (frame->state == NULL)
        frame->state = cdr_json_share(team->state_defaults);
    if (!own(&frame->state))
        return false;
    json_object_foreach(delta, name, part)
    {
        cadre_reducer reducer = cdr_team_reducer(team, name);
        json_t *after = json_object_get(made, name);
        bool ok = true;
        if (reducer != CADRE_REDUCE_CUSTOM)
            ok = put(frame->state, name, reducer, part);
        else if (after != NULL)
            ok = json_object_set(frame->state, name, after) == 0;
        if (!ok)
            return false;
    }
    return true;
}

cadre_status cdr_delta_add(cadre_frame *frame, json_t *delta, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    if (delta == NULL)
        return CADRE_OK;
    const json_t *seen =
        frame->state == NULL ? frame->tree->team->state_defaults : frame->state;
    json_t *made = json_object();
    cadre_status status =
        made == NULL ? cadre_fail(&why, CADRE_ENOMEM, "no memory for the state")
                     : check(frame, seen, delta, made, &why);
    if (status == CADRE_OK &&
        (!see(frame, delta, made) ||
         !cdr_delta_append(frame->tree->team, &frame->delta, delta)))
        status = cadre_fail(&why, CADRE_ENOMEM, "no memory for the state");
    json_decref(made);
    if (status != CADRE_OK)
        cadre_fail_class(err, status, why.error_class, false, "%s", why.text);
    return status;
}

bool cdr_delta_append(const cadre_team *team, json_t **sum, json_t *delta)
{
    const char *name;
    json_t *part;
    if (delta == NULL)
        return true;
    if (*sum == NULL) {
        *sum = cdr_json_share(delta);
        return true;
    }
    if (!own(sum))
        return false;
    json_object_foreach(delta, name, part)
    {
        if (!put(*sum, name, cdr_team_reducer(team, name), part))
            return false;
    }
    return true;
}

// --- From the record ---

cadre_status cdr_delta_read(const char *text, json_t **out, cadre_error *err)
{
    if (text == NULL || text[0] == '\0')
        return CADRE_OK;
    cadre_error why = CADRE_ERROR_INIT;
    json_t *delta = cdr_json_parse(text, strlen(text), &why);
    if (json_is_object(delta)) {
        *out = delta;
        return CADRE_OK;
    }
    json_decref(delta);
    return cadre_fail(err, CADRE_ESTORE, "a recorded delta of the state is damaged: %s",
                      why.text[0] == '\0' ? "it is no object" : why.text);
}
