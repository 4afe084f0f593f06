// Path, reports and suggestions of a schema check.
#include "base/schema_walk.h"

#include "base/json_iterable.h"
#include "base/nearest.h"
#include "base/schema_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SUGGESTIONS 16
#define MAX_SLOTS (CDR_SCHEMA_MAX_DEPTH + 2)

void cdr_schema_walk_init(cdr_schema_walk *walk, cdr_schema_on_problem on_problem,
                          void *ctx)
{
    static const cdr_schema_terms json = {"object", "array", "property"};
    *walk = (cdr_schema_walk){.terms = &json, .on_problem = on_problem, .ctx = ctx};
    walk->path = (cdr_buf)CDR_BUF_INIT;
}

void cdr_schema_walk_fini(cdr_schema_walk *walk)
{
    cdr_buf_fini(&walk->path);
}

static bool is_plain_key(const char *key)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$";
    return *key && key[strspn(key, letters)] == '\0';
}

static void append_step(cdr_buf *path, const cdr_schema_slot *slot)
{
    char brief[CDR_BRIEF_SIZE];
    if (!slot->key)
        cdr_buf_printf(path, "[%zu]", slot->index);
    else if (is_plain_key(slot->key))
        cdr_buf_printf(path, "%s%s", path->len > 0 ? "." : "",
                       cdr_brief_text(brief, slot->key, '\0'));
    else
        cdr_buf_printf(path, "[%s]", cdr_brief_text(brief, slot->key, '"'));
}

void cdr_schema_walk_enter(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (walk->depth < MAX_SLOTS)
        walk->slots[walk->depth] = slot;
    walk->depth++;
}

void cdr_schema_walk_leave(cdr_schema_walk *walk)
{
    walk->depth--;
}

const char *cdr_schema_walk_path(cdr_schema_walk *walk)
{
    cdr_buf_clear(&walk->path);
    for (int i = 0; i < walk->depth && i < MAX_SLOTS; i++)
        append_step(&walk->path, walk->slots[i]);
    return cdr_buf_text(&walk->path);
}

bool cdr_schema_walk_is_unheard(const cdr_schema_walk *walk)
{
    return !walk->on_problem;
}

cdr_schema_slot cdr_schema_member(const json_t *object, const char *key)
{
    return (cdr_schema_slot){json_object_get(object, key), object, key, 0};
}

cdr_schema_slot cdr_schema_element(const json_t *array, size_t index)
{
    return (cdr_schema_slot){json_array_get(array, index), array, NULL, index};
}

static const json_t *of_pattern(const json_t *patterns, const char *key)
{
    const char *pattern;
    json_t *property;
    json_object_foreach(cdr_json_iterable(patterns), pattern, property)
    {
        if (cdr_schema_pattern_fits_once(pattern, key))
            return property;
    }
    return NULL;
}

const json_t *cdr_schema_of_member(const json_t *schema, const char *key)
{
    const json_t *property =
        json_object_get(json_object_get(schema, "properties"), key);
    if (!property)
        property = of_pattern(json_object_get(schema, "patternProperties"), key);
    return property ? property : json_object_get(schema, "additionalProperties");
}

// A problem of `slot`, before its text is made.
static cdr_schema_problem problem_of(const cdr_schema_slot *slot, const char *path)
{
    return (cdr_schema_problem){
        .path = path,
        .value = slot->value,
        .container = slot->container,
        .key = slot->key,
        .index = slot->index,
    };
}

static void vreport(cdr_schema_walk *walk, cdr_schema_problem *problem,
                    const char *format, va_list args) CADRE_PRINTF(3, 0);

// A problem counts even if there is no memory for its text.
static void vreport(cdr_schema_walk *walk, cdr_schema_problem *problem,
                    const char *format, va_list args)
{
    char *text = NULL;
    walk->n_problems++;
    if (!walk->on_problem)
        return;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    problem->text = text ? text : "does not fit its schema";
    walk->on_problem(walk->ctx, problem);
    free(text);
}

void cdr_schema_walk_report(cdr_schema_walk *walk, const cdr_schema_slot *slot,
                            const char *format, ...)
{
    cdr_schema_problem problem = problem_of(slot, cdr_schema_walk_path(walk));
    va_list args;
    va_start(args, format);
    vreport(walk, &problem, format, args);
    va_end(args);
}

void cdr_schema_walk_report_at(cdr_schema_walk *walk, const char *path,
                               const cdr_schema_slot *slot, const char *format, ...)
{
    cdr_schema_problem problem = problem_of(slot, path);
    va_list args;
    va_start(args, format);
    vreport(walk, &problem, format, args);
    va_end(args);
}

void cdr_schema_walk_report_key(cdr_schema_walk *walk, const cdr_schema_slot *slot,
                                const char *format, ...)
{
    cdr_schema_problem problem = problem_of(slot, cdr_schema_walk_path(walk));
    va_list args;
    problem.is_key = true;
    va_start(args, format);
    vreport(walk, &problem, format, args);
    va_end(args);
}

const char *cdr_schema_walk_brief(const cdr_schema_walk *walk, char out[CDR_BRIEF_SIZE],
                                  const json_t *value)
{
    bool is_object = json_is_object(value);
    if (!is_object && !json_is_array(value))
        return cdr_brief_json(out, value);
    const char *noun = is_object ? walk->terms->object : walk->terms->array;
    if (json_object_size(value) + json_array_size(value) == 0)
        snprintf(out, CDR_BRIEF_SIZE, "an empty %s", noun);
    else
        snprintf(out, CDR_BRIEF_SIZE, "%s %s", cdr_schema_article(noun), noun);
    return out;
}

static size_t collect_names(const json_t *names, const char **list)
{
    size_t n = 0;
    const char *key;
    json_t *name;
    json_object_foreach(cdr_json_iterable(names), key, name) list[n++] = key;
    size_t i;
    json_array_foreach(names, i, name)
    {
        if (json_is_string(name))
            list[n++] = json_string_value(name);
    }
    return n;
}

const char *cdr_schema_walk_suggest(cdr_schema_walk *walk, const char *name,
                                    const json_t *names)
{
    size_t n_names = json_object_size(names) + json_array_size(names);
    if (n_names == 0 || walk->n_suggestions >= MAX_SUGGESTIONS)
        return NULL;
    walk->n_suggestions++;
    const char **list = calloc(n_names, sizeof *list);
    if (!list)
        return NULL;
    const char *nearest = cdr_nearest(name, list, collect_names(names, list));
    free((void *)list);
    return nearest;
}
