// Waiting for stdin without missing what else may come: signals, and a stdout that
// nobody reads any more.
//
// There are no signal handlers. From open to close SIGINT, SIGTERM and SIGHUP are held
// back, so that none is lost between two waits or two runs; those that matter at a
// prompt only (Ctrl-Z, Ctrl-\) from begin to end.
// Thread: one thread.
#ifndef CLI_STDIN_WATCH_H
#define CLI_STDIN_WATCH_H

#include <signal.h>
#include <stdbool.h>

typedef enum cli_wake {
    CLI_WAKE_INPUT,     // stdin can be read, also when it has ended
    CLI_WAKE_INTERRUPT, // Ctrl-C
    CLI_WAKE_STOP,      // SIGTERM, SIGHUP
    CLI_WAKE_CLOSED,    // nobody reads stdout any more
    CLI_WAKE_RESIZE,    // the terminal has another size
    CLI_WAKE_SUSPEND    // Ctrl-Z
} cli_wake;

typedef struct cli_stdin_watch {
    sigset_t always, at_prompt; // those held back
    sigset_t mask_before, mask_before_prompt;
    int signal_fd;
} cli_stdin_watch;

// False: no descriptor is left, told on stderr. Close it in both cases.
bool cli_stdin_watch_open(cli_stdin_watch *watch);
void cli_stdin_watch_close(cli_stdin_watch *watch);

void cli_stdin_watch_begin(cli_stdin_watch *watch);
void cli_stdin_watch_end(cli_stdin_watch *watch);

// Blocks until something has come; signals go before input.
cli_wake cli_stdin_watch_wait(const cli_stdin_watch *watch);

// Lets Ctrl-Z do what it does elsewhere; returns when the program goes on.
void cli_stdin_watch_suspend(void);

#endif
