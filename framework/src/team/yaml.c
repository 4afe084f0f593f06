// Documents: from a file to values, and what the file says about each.
#include "team/yaml.h"

#include "base/file_text.h"
#include "team/document_builder.h"
#include "team/source_text.h"

#include <stdlib.h>
#include <string.h>

static bool is_json_name(const char *name)
{
    size_t len = strlen(name);
    return len >= 5 && strcmp(name + len - 5, ".json") == 0;
}

// NULL: no memory.
static cdr_document *document_new(const char *name, size_t scale)
{
    cdr_document *document = calloc(1, sizeof *document);
    if (!document)
        return NULL;
    document->name = strdup(name);
    document->is_json = is_json_name(name);
    document->scale = scale;
    document->arena = (cdr_arena)CDR_ARENA_INIT;
    if (!document->name) {
        free(document);
        return NULL;
    }
    return document;
}

void cdr_document_free(cdr_document *document)
{
    if (!document)
        return;
    json_decref(document->root);
    json_decref(document->lost);
    cdr_arena_fini(&document->arena);
    free(document->containers);
    free(document->name);
    free(document);
}

static cadre_status read_text(cdr_document *document, const char *text, size_t len)
{
    cdr_builder builder;
    cdr_builder_init(&builder, document);
    cadre_status status = document->is_json ? cdr_json_read(&builder, text, len)
                                            : cdr_yaml_read(&builder, text, len);
    if (status == CADRE_ECONFIG)
        cdr_builder_abandon(&builder);
    cdr_builder_fini(&builder);
    if (!document->root) {
        cdr_place start = {1, 1};
        document->root = json_null();
        document->root_slot = (cdr_slot){
            .place = start,
            .key_place = start,
            .text = "",
            .is_plain = true,
        };
    }
    return status;
}

// A text of a file, and how large it may be.
typedef struct source {
    const char *name, *text;
    size_t len, scale;
} source;

static cadre_status parse(const source *from, cdr_document **out, cadre_error *err)
{
    const char *name = from->name, *text = from->text;
    size_t len = from->len;
    size_t mark_len = cdr_source_mark_length(text, len);
    cdr_document *document = document_new(name, from->scale);
    cadre_status status = CADRE_ENOMEM;
    if (document)
        status = cdr_source_check(document, text + mark_len, len - mark_len);
    if (status == CADRE_OK)
        status = read_text(document, text + mark_len, len - mark_len);
    if (status == CADRE_ENOMEM || document->no_memory) {
        cdr_document_free(document);
        return cadre_fail(err, CADRE_ENOMEM, "%s: no memory to read the file", name);
    }
    // A tree that is not whole is not given out: what was open has no places.
    document->is_stopped = status != CADRE_OK;
    cdr_document_sort_problems(document);
    *out = document;
    return CADRE_OK;
}

static cadre_status load(const char *path, size_t scale, cdr_document **out,
                         cadre_error *err)
{
    // One byte more than is allowed shows that the file is too large.
    size_t size = scale * CDR_DOCUMENT_MAX_BYTES + 1 + sizeof "\xEF\xBB\xBF" - 1;
    char *text = NULL;
    size_t len = 0;
    cadre_status status = cdr_file_text_read(path, size, &text, &len, err);
    if (status == CADRE_OK)
        status = parse(&(source){path, text, len, scale}, out, err);
    free(text);
    return status;
}

cadre_status cdr_document_load(const char *path, cdr_document **out, cadre_error *err)
{
    return load(path, 1, out, err);
}

cadre_status cdr_document_load_large(const char *path, cdr_document **out,
                                     cadre_error *err)
{
    return load(path, CDR_DOCUMENT_LARGE, out, err);
}

cadre_status cdr_document_parse(const char *name, const char *text, size_t len,
                                cdr_document **out, cadre_error *err)
{
    return parse(&(source){name, text, len, 1}, out, err);
}

bool cdr_document_is_json(const cdr_document *document)
{
    return document->is_json;
}

const char *cdr_document_name(const cdr_document *document)
{
    return document->name;
}

const cdr_document_problem *cdr_document_problems(const cdr_document *document,
                                                  size_t *n)
{
    *n = document->n_problems;
    return document->problems;
}

static cdr_document_value value_at(const cdr_slot *slot, json_t *value)
{
    if (!slot || !value)
        return (cdr_document_value){0};
    return (cdr_document_value){
        .value = value,
        .place = slot->place,
        .key_place = slot->key_place,
        .text = slot->text,
        .is_plain = slot->is_plain,
        .text_place = slot->text_place,
        .is_doubtful = slot->is_doubtful,
        .holds_doubts = slot->holds_doubts,
        .is_repeated = slot->is_repeated,
    };
}

cdr_document_value cdr_document_root(const cdr_document *document)
{
    return value_at(&document->root_slot, document->is_stopped ? NULL : document->root);
}

cdr_document_value cdr_document_member(const cdr_document *document,
                                       const json_t *object, const char *key)
{
    const cdr_container *container = cdr_document_find(document, object);
    const cdr_slot *slot = container ? cdr_container_find(container, key) : NULL;
    return value_at(slot, json_object_get(object, key));
}

cdr_document_value cdr_document_element(const cdr_document *document,
                                        const json_t *array, size_t index)
{
    const cdr_container *container = cdr_document_find(document, array);
    if (!container || !json_is_array(array) || index >= container->n_slots)
        return value_at(NULL, NULL);
    return value_at(&container->slots[index], json_array_get(array, index));
}

cdr_document_value cdr_document_at(const cdr_document *document,
                                   const json_t *container, const char *key,
                                   size_t index)
{
    if (!container)
        return cdr_document_root(document);
    return key ? cdr_document_member(document, container, key)
               : cdr_document_element(document, container, index);
}
