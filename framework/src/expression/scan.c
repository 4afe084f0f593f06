// See scan.h.
#include "expression/scan.h"

#include <string.h>

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The character `i` places on; NUL behind the end.
static char peek(const cdr_scan *self, size_t i)
{
    if (i < (size_t)(self->end - self->at))
        return self->at[i];
    return '\0';
}

static void advance(cdr_scan *self, size_t n)
{
    for (; n > 0 && self->at < self->end; n--) {
        if (*self->at == '\n')
            self->line++;
        self->at++;
    }
}

// The number of '=' of a long bracket that opens here; -1: none does.
static int long_bracket(const cdr_scan *self, size_t from)
{
    if (peek(self, from) != '[')
        return -1;
    int level = 0;
    while (peek(self, from + 1 + (size_t)level) == '=')
        level++;
    return peek(self, from + 1 + (size_t)level) == '[' ? level : -1;
}

static void skip_long(cdr_scan *self, int level)
{
    advance(self, (size_t)level + 2);
    for (; self->at < self->end; advance(self, 1)) {
        int n = 0;
        if (peek(self, 0) != ']')
            continue;
        while (peek(self, 1 + (size_t)n) == '=')
            n++;
        if (n == level && peek(self, 1 + (size_t)n) == ']') {
            advance(self, (size_t)level + 2);
            return;
        }
    }
}

static void skip_quoted(cdr_scan *self)
{
    char quote = *self->at;
    advance(self, 1);
    while (self->at < self->end && *self->at != quote)
        advance(self, *self->at == '\\' ? 2 : 1);
    advance(self, 1);
}

static void skip_comment(cdr_scan *self)
{
    int level = long_bracket(self, 2);
    if (level >= 0) {
        advance(self, 2);
        skip_long(self, level);
        return;
    }
    while (self->at < self->end && *self->at != '\n')
        advance(self, 1);
}

static void skip_number(cdr_scan *self)
{
    for (;;) {
        char c = peek(self, 0);
        char next = peek(self, 1);
        bool is_exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (is_exponent && (next == '+' || next == '-'))
            advance(self, 2);
        else if (starts_name(c) || is_digit(c) || c == '.')
            advance(self, 1);
        else
            return;
    }
}

// Skips blanks and comments.
static void skip_space(cdr_scan *self)
{
    for (;;) {
        char c = peek(self, 0);
        if (c == '-' && peek(self, 1) == '-')
            skip_comment(self);
        else if (self->at < self->end && (c == ' ' || (c >= '\t' && c <= '\r')))
            advance(self, 1);
        else
            return;
    }
}

// The length of a mark: two characters that are one in Lua are taken together, so that
// `==` is no assignment.
static size_t mark_length(const cdr_scan *self)
{
    static const char *const pairs[] = {
        "==", "~=", "<=", ">=", "::", "//", "<<", ">>", NULL};
    char c = peek(self, 0);
    size_t n = 1;
    while (c == '.' && n < 3 && peek(self, n) == '.')
        n++;
    for (const char *const *pair = pairs; n == 1 && *pair; pair++) {
        if (c == (*pair)[0] && peek(self, 1) == (*pair)[1])
            n = 2;
    }
    return n;
}

static void skip_mark(cdr_scan *self)
{
    size_t len = mark_length(self);
    char c = *self->at;
    self->after_dot = len == 1 && (c == '.' || c == ':');
    self->n_open +=
        (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    advance(self, len);
}

static size_t name_length(const cdr_scan *self)
{
    size_t len = 0;
    while (starts_name(peek(self, len)) || is_digit(peek(self, len)))
        len++;
    return len;
}

// Goes over what stands here. Returns what it is.
static cdr_token_kind skip_token(cdr_scan *self)
{
    char c = *self->at;
    if (starts_name(c)) {
        bool is_field = self->after_dot;
        self->after_dot = false;
        advance(self, name_length(self));
        return is_field ? CDR_TOKEN_FIELD : CDR_TOKEN_NAME;
    }
    if (c == '"' || c == '\'') {
        skip_quoted(self);
    } else if (long_bracket(self, 0) >= 0) {
        skip_long(self, long_bracket(self, 0));
    } else if (is_digit(c) || (c == '.' && is_digit(peek(self, 1)))) {
        skip_number(self);
    } else {
        skip_mark(self);
        return CDR_TOKEN_MARK;
    }
    self->after_dot = false;
    return CDR_TOKEN_VALUE;
}

cdr_scan cdr_scan_of(const cdr_script *script)
{
    return (cdr_scan){.at = script->text, .end = script->text + script->len, .line = 1};
}

cdr_token cdr_scan_next(cdr_scan *self)
{
    skip_space(self);
    cdr_token token = {.kind = CDR_TOKEN_END,
                       .text = self->at,
                       .line = self->line,
                       .n_open = self->n_open};
    if (self->at == self->end)
        return token;
    token.kind = skip_token(self);
    token.len = (size_t)(self->at - token.text);
    return token;
}

cdr_token cdr_scan_peek(const cdr_scan *self)
{
    cdr_scan ahead = *self;
    return cdr_scan_next(&ahead);
}

bool cdr_token_is(const cdr_token *token, const char *text)
{
    return strlen(text) == token->len && memcmp(text, token->text, token->len) == 0;
}

bool cdr_token_is_mark(const cdr_token *token, const char *mark)
{
    return token->kind == CDR_TOKEN_MARK && cdr_token_is(token, mark);
}

bool cdr_token_is_one_of(const cdr_token *token, const char *const *names)
{
    for (; *names; names++) {
        if (cdr_token_is(token, *names))
            return true;
    }
    return false;
}

bool cdr_token_is_word(const cdr_token *token)
{
    static const char *const words[] = {
        "and", "break", "do",   "else",   "elseif", "end",   "false", "for",
        "if",  "in",    "or",   "repeat", "return", "then",  "true",  "function",
        "nil", "not",   "goto", "local",  "until",  "while", NULL};
    return token->kind == CDR_TOKEN_NAME && cdr_token_is_one_of(token, words);
}
