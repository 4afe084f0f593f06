// See chunk.h.
//
// A name counts as known where the script makes one anywhere: as a local, a parameter,
// the variable of a loop, a function, or by setting it. So no good script is refused;
// what is missed here is an error when it is read.
#include "expression/chunk.h"

#include "base/arena.h"

#define MAX_BLOCKS 100 // deeper ones are not looked into
#define MAX_NAMES 40   // as many are looked through for the nearest

typedef struct reader {
    cdr_scan scan;
    cdr_token token; // the one that is looked at
    json_t *made;    // names that the script makes
    json_t *functions;
    cdr_token *reads; // in the arena
    size_t n_reads;
    cdr_arena arena;
    int open_at[MAX_BLOCKS]; // brackets that were open where each block began
    int n_blocks;
    bool gives_up; // what it does with names cannot be told
    bool no_memory;
} reader;

static void next(reader *self)
{
    self->token = cdr_scan_next(&self->scan);
}

static bool is_word(const reader *self, const char *word)
{
    return self->token.kind == CDR_TOKEN_NAME && cdr_token_is(&self->token, word);
}

static bool is_mark(const reader *self, const char *mark)
{
    return cdr_token_is_mark(&self->token, mark);
}

static bool is_name(const reader *self)
{
    return self->token.kind == CDR_TOKEN_NAME && !cdr_token_is_word(&self->token);
}

static void put(reader *self, json_t *object, const cdr_token *name, bool value)
{
    if (json_object_setn_new_nocheck(object, name->text, name->len,
                                     json_boolean(value)) != 0)
        self->no_memory = true;
}

static void make(reader *self)
{
    put(self, self->made, &self->token, true);
}

static void keep_read(reader *self, const cdr_token *name)
{
    cdr_token *reads =
        cdr_arena_grow(&self->arena, self->reads, self->n_reads, sizeof(*self->reads));
    self->no_memory |= !reads;
    if (!reads)
        return;
    self->reads = reads;
    self->reads[self->n_reads++] = *name;
}

static void open_block(reader *self)
{
    if (self->n_blocks < MAX_BLOCKS)
        self->open_at[self->n_blocks] = self->token.n_open;
    self->n_blocks++;
    self->gives_up |= self->n_blocks > MAX_BLOCKS;
}

static void close_block(reader *self)
{
    self->n_blocks -= self->n_blocks > 0;
}

// Is it at the level of statements, and not within an expression's brackets?
static bool is_outside_brackets(const reader *self)
{
    if (self->n_blocks == 0)
        return self->token.n_open == 0;
    return self->n_blocks <= MAX_BLOCKS &&
           self->token.n_open == self->open_at[self->n_blocks - 1];
}

// NAME [<attribute>] {, NAME [<attribute>]}: of `local` and `for`. Stops behind it.
static void read_names(reader *self)
{
    while (is_name(self)) {
        make(self);
        next(self);
        if (is_mark(self, "<")) {
            next(self);
            next(self);
            next(self);
        }
        if (!is_mark(self, ","))
            return;
        next(self);
    }
}

// ( NAME {, NAME} [...] ): stops behind it.
static void read_parameters(reader *self)
{
    if (!is_mark(self, "("))
        return;
    for (next(self); is_name(self) || is_mark(self, ",") || is_mark(self, "...");
         next(self)) {
        if (is_name(self))
            make(self);
    }
    next(self);
}

// Behind the word `function`. `may_define`: outside of all blocks.
static void read_function(reader *self, bool may_define, bool is_local)
{
    if (is_name(self)) {
        cdr_token name = self->token;
        next(self);
        bool is_field = !is_mark(self, "(");
        if (is_field) // of a table, which is read
            keep_read(self, &name);
        else
            put(self, self->made, &name, true);
        if (may_define && !is_field)
            put(self, self->functions, &name, !is_local);
    }
    while (is_mark(self, ".") || is_mark(self, ":") ||
           self->token.kind == CDR_TOKEN_FIELD) {
        if (is_mark(self, ":"))
            put(self, self->made, &(cdr_token){.text = "self", .len = 4}, true);
        next(self);
    }
    read_parameters(self);
}

static void read_local(reader *self)
{
    bool is_outside = self->n_blocks == 0;
    next(self);
    if (!is_word(self, "function")) {
        read_names(self);
        return;
    }
    open_block(self);
    next(self);
    read_function(self, is_outside, true);
}

// A name that is set, is a key in braces, or is read.
static void read_name(reader *self)
{
    cdr_token after = cdr_scan_peek(&self->scan);
    bool is_outside = is_outside_brackets(self);
    if (is_outside &&
        (cdr_token_is_mark(&after, "=") || cdr_token_is_mark(&after, ",")))
        make(self);
    else if (!cdr_token_is_mark(&after, "="))
        keep_read(self, &self->token);
    next(self);
}

static void read_word(reader *self)
{
    static const char *const openers[] = {"do", "if", "repeat", NULL};
    bool is_outside = self->n_blocks == 0;
    if (is_word(self, "local")) {
        read_local(self);
        return;
    }
    if (is_word(self, "function")) {
        open_block(self);
        next(self);
        read_function(self, is_outside, false);
        return;
    }
    if (is_word(self, "for")) {
        next(self);
        read_names(self);
        return;
    }
    if (cdr_token_is_one_of(&self->token, openers))
        open_block(self);
    else if (is_word(self, "end") || is_word(self, "until"))
        close_block(self);
    self->gives_up |= is_word(self, "goto");
    next(self);
}

static void read_all(reader *self)
{
    next(self);
    while (self->token.kind != CDR_TOKEN_END && !self->no_memory) {
        if (cdr_token_is_word(&self->token)) {
            read_word(self);
        } else if (self->token.kind == CDR_TOKEN_NAME) {
            self->gives_up |= is_word(self, "_ENV");
            read_name(self);
        } else {
            self->gives_up |= is_mark(self, "::");
            next(self);
        }
    }
}

// Among the names that there are in messages are those that the script makes.
static cadre_status refuse(const reader *self, const cdr_script *script,
                           const cdr_token *name, cadre_error *err)
{
    const char *names[MAX_NAMES];
    size_t n = 0;
    const char *made;
    json_t *value;
    json_object_foreach(self->made, made, value)
    {
        if (n < MAX_NAMES)
            names[n++] = made;
    }
    return cdr_names_refuse(script, name,
                            &(cdr_sandbox_names){.names = names, .count = n}, err);
}

static cadre_status check_reads(const reader *self, const cdr_script *script,
                                const cdr_sandbox_names *names, cadre_error *err)
{
    for (size_t i = 0; i < self->n_reads && !self->gives_up; i++) {
        const cdr_token *name = &self->reads[i];
        if (!json_object_getn(self->made, name->text, name->len) &&
            !cdr_names_has(name, names))
            return refuse(self, script, name, err);
    }
    return CADRE_OK;
}

cadre_status cdr_chunk_read(const cdr_script *script, const cdr_sandbox_names *names,
                            json_t **functions, cadre_error *err)
{
    reader self = {.scan = cdr_scan_of(script),
                   .made = json_object(),
                   .functions = json_object(),
                   .arena = CDR_ARENA_INIT};
    self.no_memory = !self.made || !self.functions;
    read_all(&self);
    cadre_status status =
        self.no_memory
            ? cadre_fail(err, CADRE_ENOMEM, "%s: no memory for a script", script->where)
            : check_reads(&self, script, names, err);
    if (status == CADRE_OK)
        *functions = json_incref(self.functions);
    json_decref(self.made);
    json_decref(self.functions);
    cdr_arena_fini(&self.arena);
    return status;
}
