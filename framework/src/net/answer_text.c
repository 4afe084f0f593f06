// The texts of a model's answer, from bytes to what is shown.
//
// A piece goes four ways: reasoning is taken out of the text (add_text), its bytes
// become whole characters (add_bytes), those are searched for secrets (add_clean), what
// is left is kept and shown (show).
//
// Invariant: `text` and `reasoning` hold whole characters only. The start of one that a
// piece ended in waits in its tail, the start of what may be a secret in its hold; what
// was shown by on_delta is what stands in the buffer, byte for byte.
#include "net/answer.h"

#include "base/utf8.h"

#include <string.h>

#define PIECE 1024 // of a text whose escapes are resolved

// One of the two texts.
typedef struct text_part {
    cadre_sink *sink;
    cdr_buf *buf;
    cdr_buf *held;
    char *tail;
    unsigned char *n_tail;
    uint16_t *half;
    bool is_reasoning;
} text_part;

static text_part part_of(cadre_sink *sink, bool is_reasoning)
{
    if (is_reasoning)
        return (text_part){sink,
                           &sink->reasoning,
                           &sink->reasoning_held,
                           sink->reasoning_tail,
                           &sink->n_reasoning_tail,
                           &sink->reasoning_half,
                           true};
    return (text_part){sink,
                       &sink->text,
                       &sink->text_held,
                       sink->text_tail,
                       &sink->n_text_tail,
                       &sink->text_half,
                       false};
}

static void show(const text_part *part, const char *data, size_t len)
{
    cadre_sink *sink = part->sink;
    if (len == 0)
        return;
    cdr_buf_append(part->buf, data, len);
    if (part->buf->failed)
        sink->failed = true;
    else if (sink->on_delta)
        sink->on_delta(sink->ctx, part->is_reasoning, data, len);
}

// Shows what is no secret, stars for what is, and gives how much may become one.
static size_t show_searched(const text_part *part, const char *data, size_t len)
{
    while (len > 0) {
        size_t n_secret;
        size_t plain = cdr_secrets_find(part->sink->secrets, data, len, &n_secret);
        show(part, data, plain);
        if (n_secret == 0)
            return len - plain;
        for (size_t i = 0; i < n_secret; i++)
            show(part, "*", 1);
        data += plain + n_secret;
        len -= plain + n_secret;
    }
    return 0;
}

// Adds whole characters.
static void add_clean(const text_part *part, const char *data, size_t len)
{
    cdr_buf *held = part->held;
    if (!part->sink->secrets || part->sink->secrets->count == 0) {
        show(part, data, len);
        return;
    }
    if (held->len == 0) {
        size_t n_held = show_searched(part, data, len);
        cdr_buf_append(held, data + len - n_held, n_held);
    } else {
        cdr_buf_append(held, data, len);
        size_t n_held = show_searched(part, held->data, held->len);
        memmove(held->data, held->data + held->len - n_held, n_held);
        held->len = n_held;
    }
    part->sink->failed |= held->failed;
}

static void add_replacement(const text_part *part)
{
    add_clean(part, CDR_UTF8_REPLACEMENT, strlen(CDR_UTF8_REPLACEMENT));
}

// Goes on with the character in the tail. Returns how many bytes of `data` it took.
static size_t finish_tail(const text_part *part, const char *data, size_t len)
{
    size_t taken = 0;
    while (*part->n_tail > 0 && taken < len) {
        part->tail[*part->n_tail] = data[taken];
        size_t n;
        switch (cdr_utf8_next(part->tail, *part->n_tail + 1U, &n)) {
        case CDR_UTF8_WHOLE:
            add_clean(part, part->tail, n);
            *part->n_tail = 0;
            taken++;
            break;
        case CDR_UTF8_CUT:
            ++*part->n_tail;
            taken++;
            break;
        case CDR_UTF8_BAD:
            add_replacement(part);
            *part->n_tail = 0; // the byte is looked at again as a first one
            break;
        }
    }
    return taken;
}

static void add_bytes(cadre_sink *sink, bool is_reasoning, const char *data, size_t len)
{
    text_part part = part_of(sink, is_reasoning);
    size_t at = *part.n_tail > 0 ? finish_tail(&part, data, len) : 0;
    while (at < len) {
        size_t good = cdr_utf8_prefix(data + at, len - at);
        add_clean(&part, data + at, good);
        at += good;
        if (at == len)
            break;
        size_t n;
        if (cdr_utf8_next(data + at, len - at, &n) == CDR_UTF8_CUT) {
            memcpy(part.tail, data + at, len - at);
            *part.n_tail = (unsigned char)(len - at);
            break;
        }
        add_replacement(&part);
        at += n;
    }
}

static void add_text(cadre_sink *sink, bool is_reasoning, const char *data, size_t len)
{
    cdr_think_piece piece;
    if (!sink || !data)
        return;
    if (is_reasoning || sink->think.state == CDR_THINK_OFF) {
        add_bytes(sink, is_reasoning, data, len);
        return;
    }
    for (size_t at = 0; at < len;) {
        at += cdr_think_next(&sink->think, data + at, len - at, &piece);
        if (sink->think.state == CDR_THINK_INSIDE && sink->think_mark) {
            cadre_sink_item(sink, sink->think_mark, strlen(sink->think_mark));
            sink->think_mark = NULL;
        }
        add_bytes(sink, piece.is_reasoning, piece.data, piece.len);
    }
}

// What was cut will not come any more.
static void end_text(cadre_sink *sink, bool is_reasoning)
{
    text_part part = part_of(sink, is_reasoning);
    if (*part.n_tail > 0 || *part.half != 0)
        add_replacement(&part);
    *part.n_tail = 0;
    *part.half = 0;
    cdr_buf *held = part.held;
    if (held->len == 0)
        return;
    cdr_secrets_cover_whole(sink->secrets, held->data, held->len);
    show(&part, held->data, held->len);
    cdr_buf_clear(held);
}

void cdr_answer_end_texts(cadre_sink *sink)
{
    cdr_think_piece rest = cdr_think_end(&sink->think);
    add_bytes(sink, rest.is_reasoning, rest.data, rest.len);
    end_text(sink, false);
    end_text(sink, true);
}

void cadre_sink_split_thinking(cadre_sink *sink, const char *mark)
{
    if (!sink)
        return;
    sink->think = (cdr_think){.state = CDR_THINK_START};
    sink->think_mark = mark;
}

static void scan_text(cadre_sink *sink, bool is_reasoning, cadre_scan_text text)
{
    char piece[PIECE];
    if (!sink)
        return;
    size_t n = cadre_scan_join(&text, part_of(sink, is_reasoning).half, piece);
    if (n > 0)
        add_text(sink, is_reasoning, piece, n);
    if (!text.has_escapes)
        add_text(sink, is_reasoning, text.data, text.len);
    else
        while ((n = cadre_scan_unescape(&text, piece, sizeof(piece))) > 0)
            add_text(sink, is_reasoning, piece, n);
}

void cadre_sink_text(cadre_sink *sink, const char *text, size_t len)
{
    add_text(sink, false, text, len);
}

void cadre_sink_reasoning(cadre_sink *sink, const char *text, size_t len)
{
    add_text(sink, true, text, len);
}

void cadre_sink_scan_text(cadre_sink *sink, cadre_scan_text text)
{
    scan_text(sink, false, text);
}

void cadre_sink_scan_reasoning(cadre_sink *sink, cadre_scan_text text)
{
    scan_text(sink, true, text);
}
