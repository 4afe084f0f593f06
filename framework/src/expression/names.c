// Names in scripts: a look at Lua's words, for texts that Lua has compiled already.
//
// Where a name could be the script's own the look gives up: it must never refuse a good
// script.
#include "expression/names.h"

#include "base/nearest.h"
#include "expression/library.h"
#include "expression/scan.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64
#define MAX_NAMES 96

bool cdr_names_has_return(const cdr_script *script)
{
    cdr_scan scan = cdr_scan_of(script);
    cdr_token token;
    do {
        token = cdr_scan_next(&scan);
        if (token.kind == CDR_TOKEN_NAME && cdr_token_is(&token, "return"))
            return true;
    } while (token.kind != CDR_TOKEN_END);
    return false;
}

bool cdr_names_is_blank(const cdr_script *script)
{
    cdr_scan scan = cdr_scan_of(script);
    return cdr_scan_next(&scan).kind == CDR_TOKEN_END;
}

bool cdr_names_has(const cdr_token *token, const cdr_sandbox_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        if (cdr_token_is(token, names->names[i]))
            return true;
    }
    return cdr_token_is_one_of(token, cdr_library_names);
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

cadre_status cdr_names_refuse(const cdr_script *script, const cdr_token *token,
                              const cdr_sandbox_names *names, cadre_error *err)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)(token->len < 60 ? token->len : 60),
             token->text);
    char problem[CDR_NAMES_PROBLEM_SIZE];
    cdr_names_problem(problem, name, names);
    char at[CDR_SCRIPT_AT_SIZE];
    return cadre_fail(err, CADRE_EINVAL, "%s%s%s", script->where,
                      cdr_script_at(script->kind, token->line, at), problem);
}

// Does the script make names of its own here?
static bool makes_names(const cdr_token *token, const cdr_token *next)
{
    static const char *const own[] = {"local", "function", "for", "goto", "_ENV", NULL};
    if (token->kind == CDR_TOKEN_MARK)
        return cdr_token_is(token, "::");
    return token->kind == CDR_TOKEN_NAME &&
           (cdr_token_is_one_of(token, own) ||
            (token->n_open == 0 && cdr_token_is_mark(next, "=")));
}

cadre_status cdr_names_check(const cdr_script *script, const cdr_sandbox_names *names,
                             cadre_error *err)
{
    cdr_scan scan = cdr_scan_of(script);
    cdr_token unknown = {.kind = CDR_TOKEN_END};
    for (;;) {
        cdr_token token = cdr_scan_next(&scan);
        cdr_token next = cdr_scan_peek(&scan);
        if (token.kind == CDR_TOKEN_END)
            break;
        if (makes_names(&token, &next))
            return CADRE_OK;
        bool is_read = token.kind == CDR_TOKEN_NAME && !cdr_token_is_word(&token) &&
                       !cdr_token_is_mark(&next, "="); // else a key in braces
        if (is_read && unknown.kind == CDR_TOKEN_END && !cdr_names_has(&token, names))
            unknown = token;
    }
    return unknown.kind == CDR_TOKEN_END
               ? CADRE_OK
               : cdr_names_refuse(script, &unknown, names, err);
}
