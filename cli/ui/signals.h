// What stops a run from outside: Ctrl-C, SIGTERM, SIGHUP, and a stdout that nobody
// reads any more. The first cancels the run, which then ends in order; the second
// signal ends the program and the tools it runs.
//
// There are no signal handlers: the signals are blocked, and one thread reads them.
// Thread: init, start, stop on one thread, in this order.
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <cadre/run.h>

#include <pthread.h>
#include <signal.h>

typedef struct cli_signals {
    sigset_t watched, mask_before;
    int signal_fd, stop_fd;
    pthread_t thread;
    bool is_running;
    // Set by the thread, read after stop.
    cadre_run *run;
    bool output_was_closed;
    bool was_stopped; // by a signal
    int stopped_by;   // the first one; 0: none
} cli_signals;

// Holds the signals back. Done before the run starts, so that none is lost and no
// thread of the run gets one.
void cli_signals_init(cli_signals *signals);

// Watches for this run. Errors: EBUSY (no thread or descriptor); told by the caller.
cadre_status cli_signals_start(cli_signals *signals, cadre_run *run, cadre_error *err);

// Ends the watch; signals act as they did before. Once for each init.
void cli_signals_stop(cli_signals *signals);

#endif
