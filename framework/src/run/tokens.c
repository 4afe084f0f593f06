// See tokens.h.
#include "run/tokens.h"

#include "cadre/ext/json_scan.h"

#include <string.h>

#define OF_MESSAGE 4
#define OF_CALL 8
#define OF_PICTURE 1500
#define BASE64_BYTES 64 // of a file that are a token

static int64_t of_bytes(const char *bytes, size_t len)
{
    size_t n_ascii = 0;
    for (size_t i = 0; i < len; i++)
        n_ascii += (unsigned char)bytes[i] < 0x80;
    return (int64_t)((n_ascii + 3) / 4 + (len - n_ascii + 2) / 3);
}

int64_t cdr_tokens_of_text(const char *text)
{
    return text == NULL ? 0 : of_bytes(text, strlen(text));
}

// {"type": "file", "media_type": ..., "text" or "data" or "url": ...}
static int64_t of_part(cadre_scan *scan)
{
    cadre_scan_text key;
    cadre_scan_text type = {"", 0, false};
    cadre_scan_text text = {NULL, 0, false};
    cadre_scan_text data = {"", 0, false};
    if (!cadre_scan_object(scan))
        return 0;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "type"))
            cadre_scan_string(scan, &type);
        else if (cadre_scan_is(key, "text"))
            cadre_scan_string(scan, &text);
        else if (cadre_scan_is(key, "data"))
            cadre_scan_string(scan, &data);
        else
            cadre_scan_skip(scan);
    }
    if (text.data != NULL)
        return of_bytes(text.data, text.len);
    int64_t n = (int64_t)(data.len / BASE64_BYTES);
    return cadre_scan_is(type, "image") || n < OF_PICTURE ? OF_PICTURE : n;
}

static int64_t of_parts(const char *parts)
{
    cadre_scan scan;
    int64_t n = 0;
    if (parts == NULL || parts[0] == '\0')
        return 0;
    cadre_scan_init(&scan, parts, strlen(parts));
    if (cadre_scan_array(&scan))
        while (cadre_scan_item(&scan))
            n += of_part(&scan);
    return n;
}

static int64_t of_own_thoughts(const cadre_message *m)
{
    bool has_items = m->items != NULL && m->items[0] != '\0';
    return cdr_tokens_of_text(has_items ? m->items : m->reasoning);
}

int64_t cdr_tokens_of_item(const cadre_request_item *item)
{
    const cadre_message *m = item->message;
    int64_t n = OF_MESSAGE + cdr_tokens_of_text(item->text);
    if (m->role == CADRE_ROLE_USER)
        return n + of_parts(m->parts);
    if (m->role != CADRE_ROLE_ASSISTANT || item->rendering != CADRE_AS_OWN)
        return n;
    for (size_t i = 0; i < m->n_tool_calls; i++)
        n += OF_CALL + cdr_tokens_of_text(m->tool_calls[i].name) +
             cdr_tokens_of_text(m->tool_calls[i].arguments);
    return n + of_own_thoughts(m);
}
