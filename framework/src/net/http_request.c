// A request while a wire format writes it, and the cache of what it writes.
//
// Fragments of a message are a list that only grows, so readers need no lock: a head
// that was read stays good. Who adds one compares and swaps the head, and looks again
// for an equal one that came in between.
#include "net/http_request.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void cdr_http_init(cadre_http *http)
{
    *http = (cadre_http){.arena = CDR_ARENA_INIT, .body = CDR_BUF_INIT};
}

void cdr_http_fini(cadre_http *http)
{
    cdr_arena_fini(&http->arena);
    cdr_buf_fini(&http->body);
    free(http->ends);
    cdr_http_init(http);
}

void cdr_http_rewind(cadre_http *http, size_t n_turns, bool keeps)
{
    if (http->failed)
        n_turns = 0;
    if (http->n_ends > n_turns)
        http->n_ends = n_turns;
    http->body.len = http->n_ends > 0 ? http->ends[http->n_ends - 1] : 0;
    http->body.failed = false;
    cdr_arena_fini(&http->arena);
    http->url = NULL;
    http->headers = NULL;
    http->n_headers = http->headers_capacity = 0;
    http->keeps = keeps;
    http->failed = false;
}

size_t cadre_http_kept_turns(const cadre_http *http)
{
    return http ? http->n_ends : 0;
}

size_t cadre_http_cut_turns(cadre_http *http, size_t n_turns)
{
    if (!http || http->n_ends <= n_turns)
        return http ? http->n_ends : 0;
    http->n_ends = n_turns;
    http->body.len = n_turns > 0 ? http->ends[n_turns - 1] : 0;
    return n_turns;
}

void cadre_http_keep_turns(cadre_http *http, size_t n_turns)
{
    if (!http || !http->keeps || http->failed || n_turns != http->n_ends + 1)
        return;
    if (http->n_ends == http->ends_capacity) {
        size_t capacity = http->ends_capacity == 0 ? 64 : 2 * http->ends_capacity;
        size_t *ends = realloc(http->ends, capacity * sizeof(*ends));
        if (!ends)
            return; // what is not kept is written again
        http->ends = ends;
        http->ends_capacity = capacity;
    }
    http->ends[http->n_ends++] = http->body.len;
}

void cadre_http_set_url(cadre_http *http, const char *format, ...)
{
    va_list args;
    if (!http || !format)
        return;
    va_start(args, format);
    http->url = cdr_arena_vprintf(&http->arena, format, args);
    va_end(args);
    if (!http->url)
        http->failed = true;
}

// Those that were outgrown stay in the arena: there are few, and it goes soon.
static bool reserve_header(cadre_http *http)
{
    if (http->n_headers < http->headers_capacity)
        return true;
    size_t capacity = http->n_headers == 0 ? 4 : 2 * http->n_headers;
    cdr_http_header *headers =
        cdr_arena_alloc(&http->arena, capacity * sizeof *headers);
    if (!headers)
        return false;
    if (http->n_headers > 0)
        memcpy(headers, http->headers, http->n_headers * sizeof *headers);
    http->headers = headers;
    http->headers_capacity = capacity;
    return true;
}

// The header that has this name, or a new one. NULL: there are too many, or no memory.
static cdr_http_header *find_header(cadre_http *http, const char *name)
{
    for (size_t i = 0; i < http->n_headers; i++)
        if (strcasecmp(http->headers[i].name, name) == 0)
            return &http->headers[i];
    const char *kept = cdr_arena_text(&http->arena, name);
    if (!kept || http->n_headers == CDR_HTTP_MAX_HEADERS || !reserve_header(http))
        return NULL;
    cdr_http_header *header = &http->headers[http->n_headers++];
    *header = (cdr_http_header){kept, ""};
    return header;
}

void cadre_http_set_header(cadre_http *http, const char *name, const char *format, ...)
{
    if (!http || !name || !format)
        return;
    va_list args;
    va_start(args, format);
    const char *value = cdr_arena_vprintf(&http->arena, format, args);
    va_end(args);
    cdr_http_header *header = find_header(http, name);
    if (value && header)
        header->value = value;
    else
        http->failed = true;
}

static void note_failure(cadre_http *http)
{
    if (http->body.failed)
        http->failed = true;
}

void cadre_http_append(cadre_http *http, const char *data, size_t len)
{
    if (!http || !data)
        return;
    cdr_buf_append(&http->body, data, len);
    note_failure(http);
}

void cadre_http_append_text(cadre_http *http, const char *text)
{
    if (text)
        cadre_http_append(http, text, strlen(text));
}

void cadre_http_append_name(cadre_http *http, const char *name)
{
    char wire[CADRE_WIRE_NAME_SIZE];
    if (!name)
        return;
    cadre_wire_name(name, wire);
    cadre_http_append_text(http, wire);
}

void cadre_http_append_string(cadre_http *http, const char *text)
{
    if (!http || !text)
        return;
    size_t len = strlen(text);
    if (cdr_utf8_prefix(text, len) == len) {
        cdr_buf_append_json_string(&http->body, text, len);
    } else {
        // One bad byte would make the provider refuse the whole history.
        cdr_buf clean = CDR_BUF_INIT;
        cdr_utf8_append(&clean, text, len);
        if (clean.failed)
            http->body.failed = true;
        cdr_buf_append_json_string(&http->body, cdr_buf_text(&clean), clean.len);
        cdr_buf_fini(&clean);
    }
    note_failure(http);
}

void cadre_http_append_escaped(cadre_http *http, const char *text)
{
    if (!http || !text)
        return;
    size_t start = http->body.len;
    cadre_http_append_string(http, text);
    if (http->failed)
        return;
    size_t inner = http->body.len - start - 2;
    memmove(http->body.data + start, http->body.data + start + 1, inner);
    http->body.len = start + inner;
    http->body.data[http->body.len] = '\0';
}

static int append_dumped(const char *data, size_t len, void *ctx)
{
    cdr_buf *body = ctx;
    cdr_buf_append(body, data, len);
    return body->failed ? -1 : 0;
}

void cadre_http_append_json(cadre_http *http, const json_t *value)
{
    if (!http || !value)
        return;
    // 15 digits: 0.2 is written as 0.2, not as 0.20000000000000001.
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    if (json_dump_callback(value, append_dumped, &http->body, flags) != 0)
        http->failed = true;
}

void cadre_http_fail(cadre_http *http)
{
    if (http)
        http->failed = true;
}

static const cdr_fragment *find(const cdr_fragment *from, const cdr_fragment *to,
                                const char *format, cadre_rendering rendering)
{
    for (; from != to; from = from->next)
        if (from->format == format && from->rendering == rendering)
            return from;
    return NULL;
}

static cdr_fragment *fragment_new(const char *format, cadre_rendering rendering,
                                  const char *bytes, size_t len)
{
    cdr_fragment *fragment = malloc(sizeof(*fragment) + len);
    if (!fragment)
        return NULL;
    *fragment = (cdr_fragment){.format = format, .rendering = rendering, .len = len};
    if (len > 0)
        memcpy(fragment->bytes, bytes, len);
    return fragment;
}

// Puts the fragment into the list, or frees it when another thread was faster.
static void publish_take(cdr_fragments *list, cdr_fragment *fragment)
{
    cdr_fragment *seen = NULL; // everything from here on was searched
    cdr_fragment *head = atomic_load_explicit(&list->head, memory_order_acquire);
    do {
        if (find(head, seen, fragment->format, fragment->rendering)) {
            free(fragment);
            return;
        }
        seen = head;
        fragment->next = head;
    } while (!atomic_compare_exchange_weak_explicit(
        &list->head, &head, fragment, memory_order_release, memory_order_acquire));
}

// Appends a fragment that was made before. False: it is to be made.
static bool append_made(cadre_http *http, const cadre_request_item *item,
                        const char *format)
{
    cdr_fragments *list = item->cache;
    if (!list)
        return false;
    const cdr_fragment *head = atomic_load_explicit(&list->head, memory_order_acquire);
    const cdr_fragment *made = find(head, NULL, format, item->rendering);
    if (made)
        cadre_http_append(http, made->bytes, made->len);
    return made != NULL;
}

// Keeps what was appended from `start` on.
static void keep_made(cadre_http *http, const cadre_request_item *item,
                      const char *format, size_t start)
{
    if (!item->cache || http->failed || http->body.len == start)
        return;
    cdr_fragment *fragment = fragment_new(
        format, item->rendering, http->body.data + start, http->body.len - start);
    if (fragment)
        publish_take(item->cache, fragment); // without memory it is made again
}

void cadre_http_append_item(cadre_http *http, const cadre_request_item *item,
                            const char *format, cadre_item_writer write)
{
    if (!http || !item || !write || append_made(http, item, format))
        return;
    size_t start = http->body.len;
    write(item, http);
    keep_made(http, item, format, start);
}

void cadre_http_append_turn(cadre_http *http, const cadre_turn *turn,
                            const char *format, cadre_turn_writer write)
{
    if (!http || !turn || !write || turn->n_items != 1)
        return;
    const cadre_request_item *item = turn->items[0];
    if (!turn->is_renamed && append_made(http, item, format))
        return;
    size_t start = http->body.len;
    write(turn, http);
    if (!turn->is_renamed)
        keep_made(http, item, format, start);
}

void cdr_fragments_fini(cdr_fragments *fragments)
{
    cdr_fragment *fragment =
        atomic_exchange_explicit(&fragments->head, NULL, memory_order_acquire);
    while (fragment) {
        cdr_fragment *next = fragment->next;
        free(fragment);
        fragment = next;
    }
}
