// Values in which texts are templates, as a tree of the same shape.
#include "plan.h"

#include <stdlib.h>
#include <string.h>

struct cdr_graph_form {
    json_type type;
    char *key;                // in an object
    json_t *value;            // of a number, a boolean, null; owned
    cdr_graph_template *text; // of a string
    cdr_graph_form *below;    // of an object or a list: the first
    cdr_graph_form *next;
};

static cdr_graph_form *read_form(json_t *written, const char *key,
                                 const cdr_graph_template_reader *reader);

// Appends a part; `last` is the place of the next one. False: told, or no memory.
static bool add_below(cdr_graph_form ***last, json_t *part, const char *key,
                      const cdr_graph_template_reader *reader)
{
    cdr_graph_form *made = read_form(part, key, reader);
    if (made == NULL)
        return false;
    **last = made;
    *last = &made->next;
    return true;
}

static bool read_parts(cdr_graph_form *form, json_t *written,
                       const cdr_graph_template_reader *reader)
{
    cdr_graph_form **last = &form->below;
    bool ok = true;
    for (size_t i = 0; i < json_array_size(written) && ok; i++)
        ok = add_below(&last, json_array_get(written, i), NULL, reader);
    const char *key;
    json_t *part;
    json_object_foreach(written, key, part) ok =
        ok && add_below(&last, part, key, reader);
    return ok;
}

static cdr_graph_form *read_form(json_t *written, const char *key,
                                 const cdr_graph_template_reader *reader)
{
    cdr_graph_form *form = calloc(1, sizeof *form);
    if (form == NULL)
        return NULL;
    form->type = json_typeof(written);
    form->key = key == NULL ? NULL : strdup(key);
    bool ok = key == NULL || form->key != NULL;
    if (json_is_string(written)) {
        form->text = cdr_graph_template_new(json_string_value(written), reader);
        ok &= form->text != NULL;
    } else if (json_is_object(written) || json_is_array(written)) {
        ok &= read_parts(form, written, reader);
    } else {
        form->value = json_deep_copy(written);
        ok &= form->value != NULL;
    }
    if (ok)
        return form;
    cdr_graph_form_free(form);
    return NULL;
}

cdr_graph_form *cdr_graph_form_new(json_t *written,
                                   const cdr_graph_template_reader *reader)
{
    return read_form(written, NULL, reader);
}

void cdr_graph_form_free(cdr_graph_form *form)
{
    while (form != NULL) {
        cdr_graph_form *next = form->next;
        cdr_graph_form_free(form->below);
        cdr_graph_template_free(form->text);
        json_decref(form->value);
        free(form->key);
        free(form);
        form = next;
    }
}

json_t *cdr_graph_form_value(const cdr_graph_form *form, const cdr_graph_values *values)
{
    if (form->text != NULL)
        return cdr_graph_template_value(form->text, values);
    if (form->value != NULL)
        return json_deep_copy(form->value); // shared by the runs of a team
    bool is_object = form->type == JSON_OBJECT;
    json_t *made = is_object ? json_object() : json_array();
    bool ok = made != NULL;
    for (const cdr_graph_form *part = form->below; part != NULL && ok;
         part = part->next) {
        json_t *value = cdr_graph_form_value(part, values);
        ok = is_object ? json_object_set_new(made, part->key, value) == 0
                       : json_array_append_new(made, value) == 0;
    }
    if (ok)
        return made;
    json_decref(made);
    return NULL;
}
