// See keypath.h.
#include "base/keypath.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN " > "
#define TRANSFER "transfer"

enum {
    MAX_KEY_BYTES = 512 // keys are shorter; more is no keypath
};

// --- Numbers ---

cdr_keypath cdr_keypath_root(uint64_t n_before)
{
    return (cdr_keypath){0x6A09E667F3BCC908U + n_before * 0x9E3779B97F4A7C15U,
                         0xBB67AE8584CAA73BU ^ n_before};
}

static cdr_keypath hash_key(cdr_keypath parent, const char *key)
{
    uint64_t a = (parent.a ^ 0xCBF29CE484222325U) * 0x100000001B3U;
    uint64_t b = (parent.b + 0x9E3779B97F4A7C15U) * 0xC2B2AE3D27D4EB4FU;
    for (; *key != '\0'; key++) {
        a = (a ^ (unsigned char)*key) * 0x100000001B3U;
        b = (b + (unsigned char)*key) * 0xC2B2AE3D27D4EB4FU;
        b ^= b >> 29;
    }
    return (cdr_keypath){a, b};
}

// The same key so many times more.
static cdr_keypath repeat(cdr_keypath path, uint64_t times)
{
    return (cdr_keypath){path.a + times * 0xD1B54A32D192ED03U,
                         path.b + times * 0x8CB92BA72F3D8DD7U};
}

cdr_keypath cdr_keypath_below(cdr_keypath parent, const char *parent_key,
                              const char *key)
{
    return strcmp(parent_key, key) == 0 ? repeat(parent, 1) : hash_key(parent, key);
}

int cdr_keypath_compare(cdr_keypath a, cdr_keypath b)
{
    if (a.a != b.a)
        return a.a < b.a ? -1 : 1;
    return a.b < b.b ? -1 : a.b > b.b;
}

// --- Writing ---

static void append_key(cdr_buf *text, const char *key)
{
    for (; *key != '\0'; key++) {
        unsigned char c = (unsigned char)*key;
        if (c <= ' ' || c == 0x7F || strchr("%*>", c) != NULL)
            cdr_buf_printf(text, "%%%02X", c);
        else
            cdr_buf_append(text, key, 1);
    }
}

const char *cdr_keypath_root_text(cdr_arena *arena, uint64_t n_before)
{
    return n_before == 0 ? cdr_arena_text(arena, CDR_ROOT_KEY)
                         : cdr_arena_printf(arena, "%llu: " CDR_ROOT_KEY,
                                            (unsigned long long)n_before);
}

// What stands before the key of the root's child: "" or "4: ".
static size_t session_len(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && strncmp(text + digits, ": ", 2) == 0 ? digits + 2 : 0;
}

// How often the last key stands there in a row, and where its count would.
static unsigned long count_of(const char *text, size_t *end)
{
    const char *last = text;
    for (const char *at = strstr(text, BETWEEN); at != NULL;
         at = strstr(at + 1, BETWEEN))
        last = at;
    const char *star = strchr(last, '*');
    *end = star == NULL ? strlen(text) : (size_t)(star - text);
    return star == NULL ? 1 : strtoul(star + 1, NULL, 10);
}

const char *cdr_keypath_join(cdr_arena *arena, const char *parent,
                             const char *parent_key, const char *key)
{
    cdr_buf text = CDR_BUF_INIT;
    if (strcmp(parent_key, key) == 0 && strcmp(key, TRANSFER) == 0) {
        size_t end = 0;
        unsigned long n = count_of(parent, &end);
        cdr_buf_append(&text, parent, end);
        cdr_buf_printf(&text, "*%lu", n + 1);
    } else if (strcmp(parent_key, CDR_ROOT_KEY) == 0) {
        cdr_buf_append(&text, parent, session_len(parent));
        append_key(&text, key);
    } else {
        cdr_buf_append_text(&text, parent);
        cdr_buf_append_text(&text, BETWEEN);
        append_key(&text, key);
    }
    const char *kept = text.failed ? NULL : cdr_arena_text(arena, cdr_buf_text(&text));
    cdr_buf_fini(&text);
    return kept;
}

// --- Reading ---

static int hex_of(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *found = c == '\0' ? NULL : strchr(digits, c);
    return found == NULL ? -1 : (int)(found - digits);
}

// One key up to `*` or the end. False: it is none.
static bool read_key(const char **text, char key[MAX_KEY_BYTES])
{
    size_t len = 0;
    const char *at = *text;
    while (*at != '\0' && *at != ' ' && *at != '*') {
        char c = *at++;
        if (len + 1 >= MAX_KEY_BYTES || c == '>')
            return false;
        if (c == '%') {
            int high = hex_of(at[0]);
            int low = high < 0 ? -1 : hex_of(at[1]);
            if (low < 0 || high + low == 0)
                return false;
            c = (char)(high * 16 + low);
            at += 2;
        }
        key[len++] = c;
    }
    key[len] = '\0';
    *text = at;
    return len > 0;
}

// "*12", if it is there.
static bool read_count(const char **text, uint64_t *count)
{
    *count = 1;
    if (**text != '*')
        return true;
    char *end = NULL;
    size_t digits = strspn(*text + 1, "0123456789");
    if (digits == 0 || digits > 9)
        return false;
    *count = strtoull(*text + 1, &end, 10);
    *text = end;
    return *count > 0;
}

bool cdr_keypath_parse(const char *text, cdr_keypath *out)
{
    char keys[2][MAX_KEY_BYTES] = {CDR_ROOT_KEY};
    size_t prefix = session_len(text);
    cdr_keypath path = cdr_keypath_root(prefix == 0 ? 0 : strtoull(text, NULL, 10));
    text += prefix;
    bool is_root = strcmp(text, CDR_ROOT_KEY) == 0;
    for (int nth = 1; !is_root; nth++) {
        char *key = keys[nth % 2];
        uint64_t count = 0;
        if (!read_key(&text, key) || !read_count(&text, &count))
            return false;
        path = cdr_keypath_below(path, keys[(nth + 1) % 2], key);
        path = repeat(path, count - 1);
        if (*text == '\0')
            break;
        if (strncmp(text, BETWEEN, sizeof BETWEEN - 1) != 0)
            return false;
        text += sizeof BETWEEN - 1;
    }
    *out = path;
    return true;
}
