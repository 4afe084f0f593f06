// See pattern_ecma.h.
//
// Most of a pattern means the same to both. Here stands what does not:
//   .          leaves out all four line ends
//   \s \S      know the blanks of Unicode; \d \w \b only ASCII, as PCRE2 without UCP
//   \v \cX     one character; \v is a class in PCRE2
//   \uXXXX     also in pairs of surrogates, and \u{X}; PCRE2 writes \x{X}
//   \p{Letter} long names of categories
//   [[:a]      no POSIX classes: a [ in a class is a character
//   {          that starts no quantifier is a character
// What PCRE2 has beyond that ((?i), (*VERB), a++, \A, \Q) is refused: no other
// validator would read it so.
#include "base/pattern_ecma.h"

#include "base/brief.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DOT "[^\\n\\r\\x{2028}\\x{2029}]"
#define BLANKS "\\p{Xsp}\\x{FEFF}"

typedef struct rewriting {
    const char *text;
    size_t len;
    size_t at;
    bool is_class; // between [ and ]
    cdr_buf *out;
    const char *why; // what is wrong at `at`; NULL: nothing yet
} rewriting;

static bool follows(const rewriting *r, const char *text)
{
    size_t len = strlen(text);
    return r->len - r->at >= len && memcmp(r->text + r->at, text, len) == 0;
}

static char peek(const rewriting *r, size_t ahead)
{
    return (char)(r->at + ahead < r->len ? r->text[r->at + ahead] : '\0');
}

static void copy(rewriting *r, size_t len)
{
    cdr_buf_append(r->out, r->text + r->at, len);
    r->at += len;
}

static void replace(rewriting *r, size_t len, const char *by)
{
    cdr_buf_append_text(r->out, by);
    r->at += len;
}

// --- Escapes ---

// Reads up to `max` hexadecimal digits. Returns how many there are.
static size_t read_hex(const rewriting *r, size_t ahead, size_t max, uint32_t *out)
{
    size_t n = 0;
    *out = 0;
    for (; n < max && isxdigit((unsigned char)peek(r, ahead + n)); n++) {
        char digit[2] = {peek(r, ahead + n), '\0'};
        *out = *out * 16 + (uint32_t)strtoul(digit, NULL, 16);
    }
    return n;
}

// \uXXXX, \uXXXX\uXXXX or \u{X...}.
static void rewrite_unicode(rewriting *r)
{
    uint32_t code = 0;
    uint32_t low = 0;
    size_t len = 6;
    if (peek(r, 2) == '{') {
        size_t n = read_hex(r, 3, 6, &code);
        len = n + 4;
        if (n == 0 || peek(r, n + 3) != '}') {
            r->why = "\\u{ wants hexadecimal digits and }";
            return;
        }
    } else if (read_hex(r, 2, 4, &code) != 4) {
        r->why = "\\u wants four hexadecimal digits";
        return;
    } else if (code >= 0xD800 && code < 0xDC00 && peek(r, 6) == '\\' &&
               peek(r, 7) == 'u' && read_hex(r, 8, 4, &low) == 4 && low >= 0xDC00 &&
               low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        len = 12;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        r->why = "\\u names no character";
        return;
    }
    cdr_buf_printf(r->out, "\\x{%X}", (unsigned)code);
    r->at += len;
}

static const struct category {
    const char *name;
    const char *code;
} categories[] = {
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Symbol", "S"},
    {"Currency_Symbol", "Sc"},
    {"Math_Symbol", "Sm"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Control", "Cc"},
    {"Other", "C"},
};

// \p{Name} and \P{Name}; names that PCRE2 does not know either are told by it.
static void rewrite_property(rewriting *r)
{
    const char *end = memchr(r->text + r->at, '}', r->len - r->at);
    if (peek(r, 2) != '{' || !end) {
        r->why = "\\p wants a name in braces";
        return;
    }
    const char *name = r->text + r->at + 3;
    size_t len = (size_t)(end - name);
    for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
        if (strlen(categories[i].name) == len &&
            memcmp(categories[i].name, name, len) == 0) {
            cdr_buf_printf(r->out, "\\%c{%s}", peek(r, 1), categories[i].code);
            r->at += len + 4;
            return;
        }
    }
    copy(r, len + 4);
}

static void rewrite_blank(rewriting *r, bool is_none)
{
    if (r->is_class)
        replace(r, 2, is_none ? "\\P{Xsp}" : BLANKS);
    else
        replace(r, 2, is_none ? "[^" BLANKS "]" : "[" BLANKS "]");
}

static void rewrite_hex(rewriting *r)
{
    uint32_t code;
    if (read_hex(r, 2, 2, &code) == 2)
        copy(r, 4);
    else
        r->why = "\\x wants two hexadecimal digits";
}

static void rewrite_control(rewriting *r)
{
    if (isalpha((unsigned char)peek(r, 2)))
        copy(r, 3);
    else
        r->why = "\\c wants a letter";
}

static void rewrite_null(rewriting *r)
{
    if (isdigit((unsigned char)peek(r, 2)))
        r->why = "octal escapes are no part of it";
    else
        replace(r, 2, "\\x{0}");
}

// A character that has a meaning of its own, or a hyphen in a class.
static void rewrite_literal(rewriting *r)
{
    char escaped = peek(r, 1);
    if (escaped == '\0')
        r->why = "there is nothing after the last \\";
    else if (isalnum((unsigned char)escaped))
        r->why = "this escape is no part of it";
    else
        copy(r, 2); // also what is harmless and often written: \" \@ \_ \:
}

static void rewrite_escape(rewriting *r)
{
    char escaped = peek(r, 1);
    if (escaped == 'u')
        rewrite_unicode(r);
    else if (escaped == 'p' || escaped == 'P')
        rewrite_property(r);
    else if (escaped == 's' || escaped == 'S')
        rewrite_blank(r, escaped == 'S');
    else if (escaped == 'x')
        rewrite_hex(r);
    else if (escaped == 'c')
        rewrite_control(r);
    else if (escaped == '0')
        rewrite_null(r);
    else if (escaped == 'v')
        replace(r, 2, "\\x{B}");
    else if ((escaped == 'k' && peek(r, 2) == '<' && !r->is_class) ||
             (escaped &&
              strchr(r->is_class ? "dDwWbfnrt" : "dDwWbBfnrt123456789", escaped)))
        copy(r, 2);
    else
        rewrite_literal(r);
}

// --- The rest ---

// The length of {n}, {n,} or {n,m} that starts here; 0: none does.
static size_t quantifier_len(const rewriting *r)
{
    size_t n = 1;
    size_t n_digits = 0;
    for (; isdigit((unsigned char)peek(r, n)); n++)
        n_digits++;
    if (n_digits == 0)
        return 0;
    if (peek(r, n) == ',') {
        for (n++; isdigit((unsigned char)peek(r, n)); n++)
            ;
    }
    return peek(r, n) == '}' ? n + 1 : 0;
}

// A quantifier, with the ? that makes it lazy. PCRE2 also has a +.
static void rewrite_quantifier(rewriting *r, size_t len)
{
    copy(r, len);
    if (peek(r, 0) == '?')
        copy(r, 1);
    if (peek(r, 0) && strchr("+*?", peek(r, 0)))
        r->why = "there is nothing to repeat";
}

static void rewrite_group(rewriting *r)
{
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (follows(r, known[i])) {
            copy(r, strlen(known[i]));
            return;
        }
    }
    bool is_named = follows(r, "(?<") && isalpha((unsigned char)peek(r, 3));
    if (peek(r, 1) == '*' || (peek(r, 1) == '?' && !is_named))
        r->why = "this kind of group is no part of it";
    else
        copy(r, is_named ? 3 : 1);
}

static void open_class(rewriting *r)
{
    copy(r, peek(r, 1) == '^' ? 2 : 1);
    r->is_class = true;
}

static void rewrite_in_class(rewriting *r)
{
    if (peek(r, 0) == '[') {
        replace(r, 1, "\\[");
        return;
    }
    r->is_class = peek(r, 0) != ']';
    copy(r, 1);
}

static void rewrite_outside(rewriting *r)
{
    size_t len;
    switch (peek(r, 0)) {
    case '[':
        open_class(r);
        return;
    case '(':
        rewrite_group(r);
        return;
    case '.':
        replace(r, 1, DOT);
        return;
    case '*':
    case '+':
    case '?':
        rewrite_quantifier(r, 1);
        return;
    case '{':
        len = quantifier_len(r);
        if (len > 0)
            rewrite_quantifier(r, len);
        else
            replace(r, 1, "\\{");
        return;
    default:
        copy(r, 1);
    }
}

cadre_status cdr_pattern_rewrite_ecma(const char *text, size_t len, cdr_buf *out,
                                      cadre_error *err)
{
    rewriting r = {.text = text, .len = len, .out = out};
    while (r.at < r.len && !r.why) {
        if (peek(&r, 0) == '\\')
            rewrite_escape(&r);
        else if (r.is_class)
            rewrite_in_class(&r);
        else
            rewrite_outside(&r);
    }
    if (r.why) {
        char brief[CDR_BRIEF_SIZE];
        return cadre_fail(err, CADRE_EINVAL,
                          "regular expression %s: %s (at byte %zu); JSON Schema has "
                          "those of ECMA-262",
                          cdr_brief_text(brief, text, '\''), r.why, r.at);
    }
    if (out->failed)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    return CADRE_OK;
}
