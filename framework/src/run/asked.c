// See asked.h.
#include "run/asked.h"

#include "base/brief.h"

#include <string.h>

enum {
    MAX_INPUT_BYTES = 240,
    MAX_TOOLS = 64
};

static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return (hash ^ 0xFF) * UINT64_C(0x100000001B3);
}

static uint64_t hash_text(const char *text)
{
    return hash_of(UINT64_C(0xCBF29CE484222325), text);
}

static void append_short(cdr_buf *out, const char *text)
{
    size_t len = strlen(text);
    if (len <= MAX_INPUT_BYTES) {
        cdr_buf_append_json_string(out, text, len);
        return;
    }
    size_t kept = MAX_INPUT_BYTES - 40;
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--;
    cdr_buf beginning = CDR_BUF_INIT;
    cdr_buf_append(&beginning, text, kept);
    cdr_buf_printf(&beginning, "... (%zu bytes, %016llx)", len,
                   (unsigned long long)hash_text(text));
    out->failed |= beginning.failed;
    cdr_buf_append_json_string(out, cdr_buf_text(&beginning), beginning.len);
    cdr_buf_fini(&beginning);
}

// Names beyond what is kept count by a hash.
static void append_tools(cdr_buf *out, const cadre_request *request)
{
    uint64_t rest = UINT64_C(0xCBF29CE484222325);
    cdr_buf_append_text(out, "[");
    for (size_t i = 0; i < request->n_tools; i++) {
        const char *name = request->tools[i].name;
        if (i >= MAX_TOOLS) {
            rest = hash_of(rest, name);
            continue;
        }
        cdr_buf_append_text(out, i == 0 ? "" : ",");
        cdr_buf_append_json_string(out, name, strlen(name));
    }
    if (request->n_tools > MAX_TOOLS)
        cdr_buf_printf(out, ",\"and %zu more, %016llx\"", request->n_tools - MAX_TOOLS,
                       (unsigned long long)rest);
    cdr_buf_append_text(out, "]");
}

void cdr_asked_write(const cdr_asked *asked, cdr_buf *out)
{
    const cadre_request *request = asked->request;
    cdr_buf_append_text(out, "{\"model\":");
    cdr_buf_append_json_string(out, asked->model, strlen(asked->model));
    cdr_buf_append_text(out, ",\"input\":");
    append_short(out, asked->last_input);
    if (asked->last_parts[0] != '\0')
        cdr_buf_printf(out, ",\"files\":\"%016llx\"",
                       (unsigned long long)hash_text(asked->last_parts));
    cdr_buf_printf(out, ",\"messages\":%zu,\"system\":\"%016llx\",\"tools\":",
                   request->n_items, (unsigned long long)hash_text(request->system));
    append_tools(out, request);
    cdr_buf_append_text(out, "}");
}

// --- Comparing ---

// The name in `list` that `other` lacks; NULL: it has all.
static const char *missing_in(const json_t *other, const json_t *list)
{
    size_t i, j;
    json_t *name, *known;
    json_array_foreach(list, i, name)
    {
        bool is_there = false;
        json_array_foreach(other, j, known)
        {
            is_there = is_there || json_equal(known, name);
        }
        if (!is_there)
            return json_string_value(name);
    }
    return NULL;
}

static void tell_tools(const json_t *was, const json_t *is, cdr_buf *out)
{
    char brief[CDR_BRIEF_SIZE];
    const char *gone = missing_in(is, was);
    const char *new = missing_in(was, is);
    if (gone != NULL)
        cdr_buf_printf(out, "it was offered the tool %s, now it is not",
                       cdr_brief_text(brief, gone, '\''));
    else if (new != NULL)
        cdr_buf_printf(out, "it is offered the tool %s, then it was not",
                       cdr_brief_text(brief, new, '\''));
    else
        cdr_buf_append_text(out, "its tools are offered in another order");
}

static void tell(const char *key, const json_t *was, const json_t *is, cdr_buf *out)
{
    char before[CDR_BRIEF_SIZE], now[CDR_BRIEF_SIZE];
    if (strcmp(key, "system") == 0)
        cdr_buf_append_text(out, "its system text (instructions) is another one");
    else if (strcmp(key, "files") == 0)
        cdr_buf_append_text(out, was == NULL  ? "its input has files, then it had none"
                                 : is == NULL ? "its input had files, now it has none"
                                              : "the files of its input are others");
    else if (strcmp(key, "tools") == 0)
        tell_tools(was, is, out);
    else if (strcmp(key, "messages") == 0)
        cdr_buf_printf(out, "it was shown %lld messages, now %lld",
                       (long long)json_integer_value(was),
                       (long long)json_integer_value(is));
    else
        cdr_buf_printf(out, "the %s was %s, now it is %s", key,
                       cdr_brief_json(before, was), cdr_brief_json(now, is));
}

bool cdr_asked_differs(const json_t *recorded, const json_t *now, cdr_buf *out)
{
    static const char *const keys[] = {"model", "input",  "files",
                                       "tools", "system", "messages"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *was = json_object_get(recorded, keys[i]);
        const json_t *is = json_object_get(now, keys[i]);
        bool may_lack = strcmp(keys[i], "files") == 0; // what is absent says so
        bool is_known = (was != NULL && is != NULL) || (may_lack && was != is);
        if (!is_known || json_equal(was, is))
            continue;
        tell(keys[i], was, is, out);
        return true;
    }
    return false;
}
