// See hook_file.h.
#include "team/hook_file.h"

#include "base/buf.h"
#include "base/file_text.h"
#include "base/json_iterable.h"
#include "expression/chunk.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const cdr_hook_names[CDR_N_HOOKS] = {
    "create", "before_model", "after_model", "before_tool", "after_tool", "next",
};

// A hook has its `ctx`, and no global name of its own.
static const cdr_sandbox_names no_names = {.count = 0};

static cadre_status compile(cdr_hook_file *file, cadre_error *err)
{
    cdr_script script = {.text = file->text,
                         .len = file->len,
                         .where = file->where,
                         .kind = CDR_SCRIPT_FILE};
    if (file->len > CDR_HOOK_FILE_MAX_BYTES)
        return cadre_fail(err, CADRE_EINVAL, "%s: it has more than %zu KiB",
                          file->where, CDR_HOOK_FILE_MAX_BYTES / 1024);
    cadre_status status = cdr_sandbox_pool_load(&file->pool, &script, err);
    return status == CADRE_OK
               ? cdr_chunk_read(&script, &no_names, &file->functions, err)
               : status;
}

static void skip_byte_order_mark(cdr_hook_file *file)
{
    if (file->len < 3 || memcmp(file->text, "\xEF\xBB\xBF", 3) != 0)
        return;
    file->len -= 3;
    memmove(file->text, file->text + 3, file->len + 1);
}

cadre_status cdr_hook_file_open(const char *path, const char *where,
                                cdr_hook_file **out, cadre_error *err)
{
    cdr_hook_file *file = calloc(1, sizeof(*file));
    if (!file)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for hooks");
    cdr_sandbox_pool_init(&file->pool, &no_names);
    file->path = strdup(path);
    file->where = strdup(where);
    if (!file->path || !file->where) {
        cdr_hook_file_close(file);
        return cadre_fail(err, CADRE_ENOMEM, "no memory for hooks");
    }
    *out = file;
    // A byte more shows that it is too large.
    size_t most = CDR_HOOK_FILE_MAX_BYTES + 4;
    cadre_status status = cdr_file_text_read(path, most, &file->text, &file->len, err);
    if (status != CADRE_OK)
        return status;
    skip_byte_order_mark(file);
    return compile(file, err);
}

void cdr_hook_file_close(cdr_hook_file *file)
{
    if (!file)
        return;
    cdr_sandbox_pool_fini(&file->pool);
    json_decref(file->functions);
    free(file->path);
    free(file->where);
    free(file->text);
    free(file);
}

static void list_functions(cdr_buf *text, const json_t *functions)
{
    const char *name;
    json_t *is_global;
    json_object_foreach(cdr_json_iterable(functions), name, is_global)
    {
        if (json_is_true(is_global))
            cdr_buf_printf(text, "%s%s", text->len > 0 ? ", " : "", name);
    }
    if (text->len == 0)
        cdr_buf_append_text(text, "none");
}

cadre_status cdr_hook_file_check(const cdr_hook_file *file, const char *function,
                                 cadre_error *err)
{
    const json_t *found = json_object_get(file->functions, function);
    if (json_is_true(found))
        return CADRE_OK;
    if (found)
        return cadre_fail(err, CADRE_EINVAL,
                          "%s: its function '%s' is local; leave the word out",
                          file->where, function);
    cdr_buf defined = CDR_BUF_INIT;
    list_functions(&defined, file->functions);
    cadre_status status = cadre_fail(err, CADRE_EINVAL,
                                     "%s: it defines no function '%s' (it defines: %s)",
                                     file->where, function, cdr_buf_text(&defined));
    cdr_buf_fini(&defined);
    return status;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool cdr_hook_file_mentions(const cdr_hook_file *file, const char *name)
{
    size_t len = strlen(name);
    const char *end = file->text ? file->text + file->len : NULL;
    for (const char *at = file->text; at; at++) {
        at = memmem(at, (size_t)(end - at), name, len);
        if (!at)
            return false;
        bool starts = at == file->text || !is_of_word(at[-1]);
        if (starts && !is_of_word(at[len])) // a NUL is behind the text
            return true;
    }
    return false;
}
