// Variables and paths of a team file.
#include "team/environment.h"

#include "base/brief.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAME 128

const char *cdr_environment_get(const char *name)
{
    // The library never changes the environment, and a program that does so while
    // threads run is wrong already. NOLINTNEXTLINE(concurrency-mt-unsafe)
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static size_t name_length(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "_0123456789";
    if (*text >= '0' && *text <= '9')
        return 0;
    return strspn(text, letters);
}

// Expands what starts with `${`; `*text` is moved behind it.
static cadre_status expand_one(const char **text, cdr_buf *out, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    const char *start = *text;
    const char *after = start + 2;
    size_t len = name_length(after);
    const char *end = strchr(after, '}');
    bool has_default = strncmp(after + len, ":-", 2) == 0;
    if (len == 0 || len >= MAX_NAME || !end || (!has_default && after + len != end))
        return cadre_fail(err, CADRE_EINVAL,
                          "expected ${NAME} or ${NAME:-default}, got %s ('$${' gives a "
                          "plain '${')",
                          cdr_brief_text(brief, start, '\''));
    char name[MAX_NAME];
    memcpy(name, after, len);
    name[len] = '\0';
    const char *value = cdr_environment_get(name);
    if (value)
        cdr_buf_append_text(out, value);
    else if (has_default)
        cdr_buf_append(out, after + len + 2, (size_t)(end - after) - len - 2);
    else
        return cadre_fail(err, CADRE_EINVAL,
                          "the environment variable %s is not set; set it, or write "
                          "${%s:-default}",
                          name, name);
    *text = end + 1;
    return CADRE_OK;
}

cadre_status cdr_environment_expand(const char *text, cdr_buf *out, cadre_error *err)
{
    while (*text) {
        size_t plain = strcspn(text, "$");
        cdr_buf_append(out, text, plain);
        text += plain;
        if (strncmp(text, "$${", 3) == 0) {
            cdr_buf_append(out, "${", 2);
            text += 3;
        } else if (strncmp(text, "${", 2) == 0) {
            cadre_status status = expand_one(&text, out, err);
            if (status != CADRE_OK)
                return status;
        } else if (*text) {
            cdr_buf_append(out, text++, 1);
        }
    }
    return CADRE_OK;
}

static bool leaves_folder(const char *path)
{
    for (const char *part = path; *part; part += strspn(part, "/")) {
        size_t len = strcspn(part, "/");
        if (len == 2 && strncmp(part, "..", 2) == 0)
            return true;
        part += len;
    }
    return false;
}

cadre_status cdr_path_resolve(const char *directory, const char *path, cdr_buf *out,
                              cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    if (!*path)
        return cadre_fail(err, CADRE_EINVAL, "expected a path, got an empty text");
    if (*path == '/' || leaves_folder(path))
        return cadre_fail(err, CADRE_EINVAL,
                          "the path %s leaves the folder of the team file; write one "
                          "that is relative to it, without '..'",
                          cdr_brief_text(brief, path, '\''));
    if (strcmp(directory, ".") != 0)
        cdr_buf_printf(out, "%s/", directory);
    cdr_buf_append_text(out, path);
    return CADRE_OK;
}
