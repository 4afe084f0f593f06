// Runs the built program (environment variable CADRE_BIN) as a child and keeps what it
// wrote and how it ended.
//
//     program_result ran;
//     if (!PROGRAM_RUN(&ran, .arguments = (const char *[]){"list", NULL}))
//         return;
//     CHECK_INT(ran.exit_status, 0);
//     program_result_fini(&ran);
//
// A child that takes longer than its timeout is killed, and so are those it left
// behind. Thread: any of the running test.
#ifndef PROGRAM_H
#define PROGRAM_H

#include "support/check.h"

#define PROGRAM_MAX_ACTIONS 2

typedef enum program_stdout {
    PROGRAM_STDOUT_KEPT,  // a pipe that is read to its end
    PROGRAM_STDOUT_GONE,  // a pipe whose reader went away before the start
    PROGRAM_STDOUT_FULL,  // /dev/full
    PROGRAM_STDOUT_CLOSED // no descriptor at all
} program_stdout;

typedef enum program_terminal {
    PROGRAM_NO_TERMINAL,
    PROGRAM_TERMINAL,       // stdin, stdout and stderr
    PROGRAM_TERMINAL_STDERR // stderr only
} program_terminal;

// What is done once, when a text has appeared on stderr or the terminal, or when a
// descriptor can be read.
typedef struct program_action program_action;
struct program_action {
    const char *when;           // NULL: no text is awaited
    const char *types;          // on the terminal; NULL: nothing
    const program_action *then; // awaited after this one
    void (*call)(void *ctx);    // called; may run another program. NULL: none
    void *ctx;                  // for it
    int when_fd;                // 0: none is awaited
    int signal;                 // sent to the child; 0: none
    int columns;                // the terminal gets this wide; 0: stays
    bool is_on_stdout;          // the text is awaited there
    bool is_new;                // it is awaited behind what the last action awaited
    bool closes_stdout;         // its reader goes away
};

typedef struct program_config {
    const char *const *arguments; // after the program's name; NULL at the end
    const char *input;            // on stdin; NULL: /dev/null
    size_t input_len;             // 0: up to its NUL
    const char *const *changes;   // "NAME=VALUE", or "NAME" to remove; NULL at the end
    const char *directory;        // NULL: the caller's
    program_stdout out;
    program_terminal terminal;
    int columns, rows; // of the terminal; 0: 100 by 30
    program_action action;
    int timeout_ms; // 0: 20 s
} program_config;

typedef struct program_result {
    int exit_status; // -1: ended by a signal
    int signal;      // that ended it; 0: none
    bool has_timed_out;
    char *out; // stdout; NUL-terminated, as all
    size_t out_len;
    char *err; // stderr, or all that came over the terminal
    int64_t duration_ms;
    bool has_changed_terminal; // left it with other settings than it found
    int64_t acted_ns;          // monotonic time of the last action; 0: none was done
    size_t acted_len[PROGRAM_MAX_ACTIONS]; // how much of `err` had come at each
} program_result;

#define PROGRAM_RUN(result, ...)                                                       \
    program_run(&(const program_config){__VA_ARGS__}, result)

// Runs it to its end. False, and a failed check: it could not be started or timed out;
// nothing is to be freed then.
bool program_run(const program_config *config, program_result *result);
void program_result_fini(program_result *result);

// The text without escape sequences of a terminal and carriage returns, in place.
void program_strip_terminal(char *text);

// Writes "SOURCE/PATH" into `buf` and returns it; SOURCE is the root of the source
// tree.
const char *program_source_path(const char *path, char *buf, size_t size_bytes);

#endif
