// The places of a recording: gathered while the file is read, then sorted so that each
// is found by its keypath.
#include "team/script_reader.h"

#include <stdlib.h>
#include <string.h>

// --- Gathering ---

// Reads `at`. False: told.
static bool read_at(cdr_script_reader *reader, const json_t *source, const cdr_at *at,
                    cdr_keypath *out)
{
    const char *text = json_string_value(json_object_get(source, "at"));
    if (text && cdr_keypath_parse(text, out))
        return true;
    if (text && !json_object_get(reader->flawed, at->path))
        cdr_problems_add(reader->problems, at,
                         "at: '%s' is no place of a call; it is the keys of the frames "
                         "to it, as in \"b1/2 > transfer > 1\"",
                         text);
    return false;
}

cdr_recorded *cdr_script_add_recorded(cdr_script_reader *reader,
                                      const cdr_recorded *what)
{
    cdr_recording *recording = &reader->script->recording;
    cdr_recorded recorded = *what;
    if (!read_at(reader, what->source, &what->at, &recorded.keypath))
        return NULL;
    cdr_recorded *calls = cdr_arena_grow(&reader->script->arena, recording->calls,
                                         recording->n_calls, sizeof(*calls));
    if (!calls) {
        cdr_script_no_memory(reader);
        return NULL;
    }
    recording->calls = calls;
    recorded.number = recording->n_calls;
    recorded.at_text = json_string_value(json_object_get(what->source, "at"));
    recorded.at.file = reader->script->file;
    calls[recording->n_calls] = recorded;
    return &calls[recording->n_calls++];
}

// --- Sections that only recordings have ---

typedef void (*item_reader)(cdr_script_reader *reader, const json_t *source,
                            const cdr_at *at);

static void read_section(cdr_script_reader *reader, const char *name, item_reader read)
{
    size_t i;
    json_t *source;
    const json_t *root = cdr_document_root(reader->document).value;
    const json_t *written = json_object_get(root, name);
    json_array_foreach(json_object_get(reader->script->content, name), i, source)
    {
        cdr_document_value found = cdr_document_element(reader->document, written, i);
        const char *path =
            cdr_arena_printf(reader->problems->arena, "%s[%zu]", name, i);
        if (!path)
            cdr_script_no_memory(reader);
        cdr_at at = cdr_script_at(reader, found.place, path);
        if (path && json_is_object(source))
            read(reader, source, &at);
    }
}

static void read_answer(cdr_script_reader *reader, const json_t *source,
                        const cdr_at *at)
{
    cdr_script_add_recorded(reader, &(cdr_recorded){.kind = CDR_RECORDED_ANSWER,
                                                    .name = "",
                                                    .at = *at,
                                                    .source = source});
}

static void read_value(cdr_script_reader *reader, const json_t *source,
                       const cdr_at *at)
{
    const char *name = json_string_value(json_object_get(source, "name"));
    bool has_value = json_object_get(source, "value");
    bool has_error = json_object_get(source, "error");
    if (!name)
        return;
    if (has_value == has_error && !json_object_get(reader->flawed, at->path))
        cdr_problems_add(reader->problems, at, "write either value or error");
    cdr_script_add_recorded(reader, &(cdr_recorded){.kind = CDR_RECORDED_VALUE,
                                                    .name = name,
                                                    .at = *at,
                                                    .source = source});
}

static void read_message(cdr_script_reader *reader, const json_t *source,
                         const cdr_at *at)
{
    cdr_recording *recording = &reader->script->recording;
    const char *text = json_string_value(json_object_get(source, "text"));
    const char *agent = json_string_value(json_object_get(source, "agent"));
    cdr_keypath keypath;
    if (!text || !read_at(reader, source, at, &keypath))
        return;
    cdr_recorded_message *messages =
        cdr_arena_grow(&reader->script->arena, recording->messages,
                       recording->n_messages, sizeof(*messages));
    if (!messages) {
        cdr_script_no_memory(reader);
        return;
    }
    recording->messages = messages;
    messages[recording->n_messages] = (cdr_recorded_message){
        keypath, recording->n_messages, agent ? agent : "", text};
    recording->n_messages++;
}

static void read_stop(cdr_script_reader *reader, const json_t *source, const cdr_at *at)
{
    cdr_recording *recording = &reader->script->recording;
    const char *reason = json_string_value(json_object_get(source, "reason"));
    cdr_recorded_stop stop = {
        .at_text = json_string_value(json_object_get(source, "at")), .reason = reason};
    if (!reason || !read_at(reader, source, at, &stop.keypath))
        return;
    cdr_recorded_stop *stops = cdr_arena_grow(&reader->script->arena, recording->stops,
                                              recording->n_stops, sizeof(*stops));
    if (!stops) {
        cdr_script_no_memory(reader);
        return;
    }
    recording->stops = stops;
    stops[recording->n_stops++] = stop;
}

// --- In order ---

static int compare_calls(const void *a, const void *b)
{
    const cdr_recorded *x = a, *y = b;
    int order = cdr_keypath_compare(x->keypath, y->keypath);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static int compare_stops(const void *a, const void *b)
{
    return cdr_keypath_compare(((const cdr_recorded_stop *)a)->keypath,
                               ((const cdr_recorded_stop *)b)->keypath);
}

static int compare_messages(const void *a, const void *b)
{
    const cdr_recorded_message *x = a, *y = b;
    int order = cdr_keypath_compare(x->keypath, y->keypath);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static int compare_keypaths(const void *a, const void *b)
{
    return cdr_keypath_compare(*(const cdr_keypath *)a, *(const cdr_keypath *)b);
}

static void sort(void *items, size_t count, size_t size,
                 int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, size, compare);
}

// Two for one call: it would be chance which one serves it.
static void tell_repeated(cdr_script_reader *reader)
{
    const cdr_recording *recording = &reader->script->recording;
    for (size_t i = 1; i < recording->n_calls; i++) {
        const cdr_recorded *first = &recording->calls[i - 1];
        const cdr_recorded *second = &recording->calls[i];
        cdr_at at = second->at;
        at.file = reader->file;
        if (cdr_keypath_compare(first->keypath, second->keypath) == 0)
            cdr_problems_add(reader->problems, &at,
                             "the call at '%s' has another one already, on line %d",
                             second->at_text, first->at.line);
    }
}

static void index_calls(cdr_script_reader *reader)
{
    cdr_recording *recording = &reader->script->recording;
    size_t *in_order = cdr_arena_alloc(&reader->script->arena,
                                       (recording->n_calls + 1) * sizeof(*in_order));
    if (!in_order) {
        cdr_script_no_memory(reader);
        return;
    }
    for (size_t i = 0; i < recording->n_calls; i++)
        in_order[recording->calls[i].number] = i;
    recording->in_order = in_order;
}

// --- What is waited for ---

static void add_awaited(cdr_script_reader *reader, const json_t *after,
                        const cdr_at *at)
{
    size_t i;
    json_t *item;
    cdr_recording *recording = &reader->script->recording;
    json_array_foreach(after, i, item)
    {
        cdr_keypath *awaited =
            cdr_arena_grow(&reader->script->arena, recording->awaited,
                           recording->n_awaited, sizeof(*awaited));
        if (!awaited) {
            cdr_script_no_memory(reader);
            return;
        }
        recording->awaited = awaited;
        const char *text = json_string_value(item);
        if (text && cdr_keypath_parse(text, &awaited[recording->n_awaited]))
            recording->n_awaited++;
        else if (text)
            cdr_problems_add(reader->problems, at, "after: '%s' is no place of a call",
                             text);
    }
}

static void drop_repeated(cdr_recording *recording)
{
    size_t kept = 0;
    for (size_t i = 0; i < recording->n_awaited; i++) {
        if (kept > 0 && cdr_keypath_compare(recording->awaited[i],
                                            recording->awaited[kept - 1]) == 0)
            continue;
        recording->awaited[kept++] = recording->awaited[i];
    }
    recording->n_awaited = kept;
}

static const size_t *numbers_of(cdr_script_reader *reader, const json_t *after,
                                size_t *count)
{
    size_t i;
    json_t *item;
    size_t *numbers = cdr_arena_alloc(&reader->script->arena,
                                      (json_array_size(after) + 1) * sizeof(*numbers));
    *count = 0;
    if (!numbers)
        cdr_script_no_memory(reader);
    json_array_foreach(after, i, item)
    {
        cdr_keypath keypath;
        const char *text = json_string_value(item);
        if (numbers && text && cdr_keypath_parse(text, &keypath))
            numbers[(*count)++] =
                cdr_recording_awaited(&reader->script->recording, keypath);
    }
    return numbers;
}

static const json_t *after_of(const json_t *source)
{
    return json_object_get(source, "after");
}

static void settle_awaited(cdr_script_reader *reader)
{
    cdr_recording *recording = &reader->script->recording;
    const json_t *stops = json_object_get(reader->script->content, "stopped");
    const cdr_at nowhere = {.file = reader->file, .path = "stopped"};
    size_t i;
    json_t *stop;
    for (i = 0; i < recording->n_calls; i++) {
        cdr_at at = recording->calls[i].at;
        at.file = reader->file;
        add_awaited(reader, after_of(recording->calls[i].source), &at);
    }
    json_array_foreach(stops, i, stop)
    {
        add_awaited(reader, after_of(stop), &nowhere);
    }
    sort(recording->awaited, recording->n_awaited, sizeof(*recording->awaited),
         compare_keypaths);
    drop_repeated(recording);
    for (i = 0; i < recording->n_calls; i++) {
        cdr_recorded *call = &recording->calls[i];
        call->after = numbers_of(reader, after_of(call->source), &call->n_after);
    }
    // As they stand in the file: they are not sorted yet.
    for (i = 0; i < recording->n_stops && i < json_array_size(stops); i++)
        recording->stops[i].after = numbers_of(
            reader, after_of(json_array_get(stops, i)), &recording->stops[i].n_after);
}

void cdr_script_read_recording(cdr_script_reader *reader)
{
    cdr_recording *recording = &reader->script->recording;
    recording->is_whole =
        json_is_object(json_object_get(reader->script->content, "recording"));
    read_section(reader, "answers", read_answer);
    read_section(reader, "values", read_value);
    read_section(reader, "messages", read_message);
    read_section(reader, "stopped", read_stop);
    sort(recording->calls, recording->n_calls, sizeof(*recording->calls),
         compare_calls);
    tell_repeated(reader);
    index_calls(reader);
    settle_awaited(reader);
    sort(recording->stops, recording->n_stops, sizeof(*recording->stops),
         compare_stops);
    sort(recording->messages, recording->n_messages, sizeof(*recording->messages),
         compare_messages);
}

// --- Finding ---

static int compare_place(const void *wanted, const void *call)
{
    return cdr_keypath_compare(*(const cdr_keypath *)wanted,
                               ((const cdr_recorded *)call)->keypath);
}

const cdr_recorded *cdr_recording_find(const cdr_recording *recording,
                                       cdr_keypath keypath)
{
    return recording->n_calls == 0
               ? NULL
               : bsearch(&keypath, recording->calls, recording->n_calls,
                         sizeof(*recording->calls), compare_place);
}

const cdr_recorded_stop *cdr_recording_find_stop(const cdr_recording *recording,
                                                 cdr_keypath keypath)
{
    const cdr_recorded_stop wanted = {.keypath = keypath};
    return recording->n_stops == 0
               ? NULL
               : bsearch(&wanted, recording->stops, recording->n_stops,
                         sizeof(*recording->stops), compare_stops);
}

const cdr_recorded_message *cdr_recording_messages(const cdr_recording *recording,
                                                   cdr_keypath keypath, size_t *count)
{
    size_t low = 0;
    size_t high = recording->n_messages;
    const cdr_recorded_message *messages = recording->messages;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cdr_keypath_compare(messages[middle].keypath, keypath) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < recording->n_messages &&
           cdr_keypath_compare(messages[low + *count].keypath, keypath) == 0)
        ++*count;
    return *count == 0 ? NULL : &messages[low];
}

size_t cdr_recording_awaited(const cdr_recording *recording, cdr_keypath keypath)
{
    const cdr_keypath *found =
        recording->n_awaited == 0
            ? NULL
            : bsearch(&keypath, recording->awaited, recording->n_awaited,
                      sizeof(*recording->awaited), compare_keypaths);
    return found ? (size_t)(found - recording->awaited) : recording->n_awaited;
}
