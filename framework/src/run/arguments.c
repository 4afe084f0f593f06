// See arguments.h.
#include "run/arguments.h"

#include "base/utf8.h"

#include <string.h>

cadre_status cdr_fail_null(cadre_error *err, const char *function)
{
    return cadre_fail(err, CADRE_EINVAL, "%s: NULL argument", function);
}

// What a message starts with: "'lead': cadre_call.timeout_ms", in three parts.
#define WHERE_FORMAT "%s%s%s%s"
#define WHERE(what)                                                                    \
    (what).frame == NULL ? "" : "'", (what).frame == NULL ? "" : (what).frame,         \
        (what).frame == NULL ? "" : "': ", (what).name

cadre_status cdr_check_time(cdr_argument what, int64_t ms, cadre_error *err)
{
    if (ms >= 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      WHERE_FORMAT " is %lld; it must be at least 1, or 0 for none",
                      WHERE(what), (long long)ms);
}

cadre_status cdr_check_budget(cdr_argument what, const cadre_budget *budget,
                              cadre_error *err)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = {{"max_cost_usd_micros", budget->max_cost_usd_micros},
               {"max_tokens", budget->max_tokens},
               {"max_time_ms", budget->max_time_ms}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].value < 0)
            return cadre_fail(err, CADRE_EINVAL,
                              WHERE_FORMAT ".%s is %lld; it must be at least 1, or 0 "
                                           "for none",
                              WHERE(what), all[i].name, (long long)all[i].value);
    return CADRE_OK;
}

cadre_status cdr_check_limit(cdr_argument what, int limit, cadre_error *err)
{
    if (limit >= 0 || limit == CADRE_UNLIMITED)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      WHERE_FORMAT " is %d; it must be at least 1, 0 for the default, "
                                   "or CADRE_UNLIMITED",
                      WHERE(what), limit);
}

cadre_status cdr_check_text(cdr_argument what, const char *text, cadre_error *err)
{
    if (text == NULL)
        return CADRE_OK;
    size_t len = strlen(text);
    size_t good = cdr_utf8_prefix(text, len);
    if (good == len)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      WHERE_FORMAT " is not UTF-8: byte 0x%02X at offset %zu",
                      WHERE(what), (unsigned)(unsigned char)text[good], good);
}

cadre_status cdr_check_array(cdr_argument what, const void *items, size_t count,
                             cadre_error *err)
{
    if (items != NULL || count == 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL, WHERE_FORMAT " is NULL, not %zu items",
                      WHERE(what), count);
}

// "create/1": what hooks call has such keys; see hook.h.
static bool is_of_hook(const char *key)
{
    static const char *const places[] = {"create",      "before_model", "after_model",
                                         "before_tool", "after_tool",   "next"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t len = strlen(places[i]);
        if (strncmp(key, places[i], len) == 0 && key[len] == '/')
            return true;
    }
    return false;
}

// "KEY~2" is a further attempt of the call "KEY".
static bool is_of_attempt(const char *key)
{
    const char *tilde = strrchr(key, '~');
    return tilde != NULL && tilde[1] != '\0' &&
           tilde[1 + strspn(tilde + 1, "0123456789")] == '\0';
}

cadre_status cdr_check_key(const char *frame, const char *key, cadre_error *err)
{
    static const char *const own[] = {"transfer", "approval", "root", "after_tool"};
    if (key != NULL && is_of_attempt(key))
        return cadre_fail(
            err, CADRE_EINVAL,
            "'%s': the key '%s' ends as those of further attempts do; take "
            "another",
            frame, key);
    bool is_own = key != NULL && is_of_hook(key);
    for (size_t i = 0; key != NULL && i < sizeof own / sizeof own[0]; i++)
        is_own = is_own || strcmp(key, own[i]) == 0;
    if (!is_own)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      "'%s': the key '%s' is the framework's own; take another", frame,
                      key);
}
