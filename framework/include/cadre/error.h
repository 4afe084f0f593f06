// Statuses and errors: how a function says that it could not do its work.
//
// What can fail returns a cadre_status and takes a cadre_error last (NULL is
// allowed). The first failure wins: recording into an error that already holds
// one keeps the first text.
//
// Thread: a cadre_error is plain data, used by one thread at a time.
#ifndef CADRE_ERROR_H
#define CADRE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CADRE_API __attribute__((visibility("default")))
#define CADRE_PRINTF(format_index, first)                                              \
    __attribute__((format(printf, format_index, first)))
#else
#define CADRE_API
#define CADRE_PRINTF(format_index, first)
#endif

// Turns one limit off; zero means the default.
#define CADRE_UNLIMITED (-1)

typedef enum cadre_status {
    CADRE_OK = 0,
    CADRE_DONE,      // nothing more to read; not a failure
    CADRE_ESCALATED, // the member asked to end the nearest cycle; pass it on
    CADRE_EFAILED,   // a child failed; its outcome is filled in
    CADRE_EREFUSED,  // a transfer was refused; the error has the reason
    CADRE_EABORTED,  // sticky: the frame was stopped
    CADRE_ETIMEOUT,  // sticky: the frame's time is up
    CADRE_EPARKED,   // sticky: the run waits for a person; return it
    CADRE_EDIVERGED, // sticky: the code asks for another call than was recorded
    CADRE_ESTORE,    // sticky: the store refused or failed
    CADRE_EBUSY,     // somebody else holds it, or no thread was free
    CADRE_ELOST,     // somebody else took the lease: write nothing more
    CADRE_ENOTFOUND, // no trace, frame or question of that id
    CADRE_ELIMIT,    // a limit of the run was reached
    CADRE_EINVAL,    // a bad argument
    CADRE_ECONFIG,   // the team, or its file, has mistakes
    CADRE_ENOMEM,
    CADRE_EIO // a file, a process or the network failed
} cadre_status;

// What kind of error it is, for programs: of a model call (first group) or of a
// run. The names are the words in `--json`, events and the store.
typedef enum cadre_error_class {
    CADRE_CLASS_NONE = 0,
    CADRE_CLASS_AUTH,
    CADRE_CLASS_INVALID_REQUEST,
    CADRE_CLASS_CONTEXT_LENGTH,
    CADRE_CLASS_CONTENT_FILTER,
    CADRE_CLASS_RATE_LIMITED,
    CADRE_CLASS_QUOTA,
    CADRE_CLASS_OVERLOADED,
    CADRE_CLASS_SERVER,
    CADRE_CLASS_CONNECTION,
    CADRE_CLASS_TIMEOUT,
    CADRE_CLASS_TRUNCATED,
    CADRE_CLASS_EMPTY_RESPONSE,
    CADRE_CLASS_BAD_RESPONSE,
    CADRE_CLASS_LIMIT,
    CADRE_CLASS_LOOP,
    CADRE_CLASS_BUDGET,
    CADRE_CLASS_ABORTED,
    CADRE_CLASS_TOOL,
    CADRE_CLASS_HOOK,
    CADRE_CLASS_CONFIG,
    CADRE_CLASS_STORE,
    CADRE_CLASS_LEASE,
    CADRE_CLASS_DIVERGED,
    CADRE_CLASS_ERROR // an agent's own failure without a narrower class
} cadre_error_class;

typedef struct cadre_error {
    cadre_status status;
    cadre_error_class error_class;
    bool retryable;
    int64_t retry_after_ms; // of a model: it asks to be left alone so long; 0: no
    // One line of UTF-8: what quoted values hold of control characters, direction
    // marks and broken bytes is escaped. Cut at a character, with "...", when too long.
    char text[500];
} cadre_error;

#define CADRE_ERROR_INIT                                                               \
    {                                                                                  \
        CADRE_OK, CADRE_CLASS_NONE, false, 0,                                          \
        {                                                                              \
            0                                                                          \
        }                                                                              \
    }

// Records a failure and returns `status`, so that failing is one line. The first
// failure recorded wins. `err` may be NULL. The class is derived from the status.
CADRE_API cadre_status cadre_fail(cadre_error *err, cadre_status status,
                                  const char *format, ...) CADRE_PRINTF(3, 4);

// The same for a failure with a class of its own.
CADRE_API cadre_status cadre_fail_class(cadre_error *err, cadre_status status,
                                        cadre_error_class error_class, bool retryable,
                                        const char *format, ...) CADRE_PRINTF(5, 6);

// Forgets what was recorded.
CADRE_API void cadre_error_clear(cadre_error *err);

// Returns the status as a word, for logs ("aborted"). Static storage.
CADRE_API const char *cadre_status_name(cadre_status status);

// Returns the class as it stands in events and the store ("rate_limited"); NULL
// for CADRE_CLASS_NONE. Static storage.
CADRE_API const char *cadre_error_class_name(cadre_error_class error_class);

// Returns the class of that name, CADRE_CLASS_NONE if there is none.
CADRE_API cadre_error_class cadre_error_class_from_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
