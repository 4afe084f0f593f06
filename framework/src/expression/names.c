// Names in scripts: a scan over Lua's words, for texts that Lua has compiled already.
//
// Nothing but names, braces and what stands next to a name is looked at. Where a name
// could be the script's own the scan gives up: it must never refuse a good script.
#include "expression/names.h"

#include "base/nearest.h"
#include "expression/library.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64
#define MAX_NAMES 96

typedef struct scan {
    const char *at, *end;
    int line;
    int n_braces;
    bool after_dot; // what comes is a field or a method
    bool has_label; // `::name::`
} scan;

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_one_of(const char *word, size_t len, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) == len && memcmp(*words, word, len) == 0)
            return true;
    }
    return false;
}

// The character `i` places on; NUL behind the end.
static char peek(const scan *self, size_t i)
{
    if (i < (size_t)(self->end - self->at))
        return self->at[i];
    return '\0';
}

static void advance(scan *self, size_t n)
{
    for (; n > 0 && self->at < self->end; n--) {
        if (*self->at == '\n')
            self->line++;
        self->at++;
    }
}

// The number of '=' of a long bracket that opens here; -1: none does.
static int long_bracket(const scan *self, size_t from)
{
    if (peek(self, from) != '[')
        return -1;
    int level = 0;
    while (peek(self, from + 1 + (size_t)level) == '=')
        level++;
    return peek(self, from + 1 + (size_t)level) == '[' ? level : -1;
}

static void skip_long(scan *self, int level)
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

static void skip_quoted(scan *self)
{
    char quote = *self->at;
    advance(self, 1);
    while (self->at < self->end && *self->at != quote)
        advance(self, *self->at == '\\' ? 2 : 1);
    advance(self, 1);
}

static void skip_comment(scan *self)
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

static void skip_number(scan *self)
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
static void skip_space(scan *self)
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

// Skips something that is no name, and remembers whether it was a dot or a colon.
static void skip_other(scan *self)
{
    char c = *self->at;
    char next = peek(self, 1);
    self->after_dot = false;
    if (c == '"' || c == '\'') {
        skip_quoted(self);
    } else if (long_bracket(self, 0) >= 0) {
        skip_long(self, long_bracket(self, 0));
    } else if (is_digit(c) || (c == '.' && is_digit(next))) {
        skip_number(self);
    } else if (c == '.' || c == ':') {
        self->after_dot = next != c;
        self->has_label = self->has_label || (c == ':' && next == c);
        while (peek(self, 0) == c)
            advance(self, 1);
    } else {
        self->n_braces += (c == '{') - (c == '}');
        advance(self, 1);
    }
}

// Goes to the next name that stands for a value, or is a word of Lua. Returns its
// length, 0 at the end.
static size_t next_name(scan *self)
{
    for (skip_space(self); self->at < self->end; skip_space(self)) {
        size_t len = 0;
        if (starts_name(*self->at)) {
            while (starts_name(peek(self, len)) || is_digit(peek(self, len)))
                len++;
            if (!self->after_dot)
                return len;
            self->after_dot = false;
            advance(self, len);
        } else {
            skip_other(self);
        }
    }
    return 0;
}

static scan scan_of(const cdr_script *script)
{
    return (scan){.at = script->text, .end = script->text + script->len, .line = 1};
}

bool cdr_names_has_return(const cdr_script *script)
{
    static const char *const words[] = {"return", NULL};
    scan self = scan_of(script);
    for (size_t len; (len = next_name(&self)) > 0; advance(&self, len)) {
        if (is_one_of(self.at, len, words))
            return true;
    }
    return false;
}

bool cdr_names_is_blank(const cdr_script *script)
{
    scan self = scan_of(script);
    skip_space(&self);
    return self.at == self.end;
}

// What a name is followed by `=` for: a field in braces, else an assignment.
static bool is_set(const scan *self, size_t len)
{
    scan after = *self;
    advance(&after, len);
    skip_space(&after);
    return peek(&after, 0) == '=' && peek(&after, 1) != '=';
}

static bool is_known(const char *name, size_t len, const cdr_sandbox_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strlen(names->names[i]) == len && memcmp(names->names[i], name, len) == 0)
            return true;
    }
    return is_one_of(name, len, cdr_library_names);
}

void cdr_names_problem(char out[CDR_NAMES_PROBLEM_SIZE], const char *name,
                       const cdr_sandbox_names *names)
{
    const char *all[MAX_NAMES] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < names->count && n < MAX_NAMES; i++)
        all[n++] = names->names[i];
    size_t n_shown = n + CDR_LIBRARY_N_OWN;
    for (const char *const *at = cdr_library_names; *at && n < MAX_NAMES; at++)
        all[n++] = *at;

    const char *near = cdr_nearest(name, all, n);
    int used = snprintf(
        out, CDR_NAMES_PROBLEM_SIZE, "unknown name '%.60s'%s%s%s (known: ", name,
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (size_t i = 0; i < n_shown && i < n && used < CDR_NAMES_PROBLEM_SIZE; i++)
        used += snprintf(out + used, (size_t)(CDR_NAMES_PROBLEM_SIZE - used), "%s%s",
                         all[i], i + 1 < n_shown ? ", " : ")");
}

cadre_status cdr_names_check(const cdr_script *script, const cdr_sandbox_names *names,
                             cadre_error *err)
{
    static const char *const own[] = {"local", "function", "for", "goto", "_ENV", NULL};
    static const char *const words[] = {"and",  "break", "do",     "else",   "elseif",
                                        "end",  "false", "if",     "in",     "nil",
                                        "not",  "or",    "repeat", "return", "then",
                                        "true", "until", "while",  NULL};
    scan self = scan_of(script);
    scan unknown = {.at = NULL};
    size_t unknown_len = 0;
    for (size_t len; (len = next_name(&self)) > 0; advance(&self, len)) {
        bool is_setting = is_set(&self, len);
        bool is_own = is_one_of(self.at, len, own) || self.has_label;
        if (is_own || (is_setting && self.n_braces == 0))
            return CADRE_OK;
        bool is_word = is_one_of(self.at, len, words) || is_known(self.at, len, names);
        if (!unknown.at && !is_setting && !is_word) {
            unknown = self;
            unknown_len = len;
        }
    }
    if (!unknown.at)
        return CADRE_OK;
    char name[NAME_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)(unknown_len < 60 ? unknown_len : 60),
             unknown.at);
    char problem[CDR_NAMES_PROBLEM_SIZE];
    cdr_names_problem(problem, name, names);
    return cadre_fail(err, CADRE_EINVAL, "%s: line %d: %s", script->where, unknown.line,
                      problem);
}
