// See stdin_watch.h.
#include "stdin_watch.h"

#include "report.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

// A signal that the caller ignores stays ignored.
static void add(sigset_t *set, int signal)
{
    struct sigaction action;

    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        sigaddset(set, signal);
}

bool cli_stdin_watch_open(cli_stdin_watch *watch)
{
    sigset_t all;

    sigemptyset(&watch->always);
    add(&watch->always, SIGINT);
    add(&watch->always, SIGTERM);
    add(&watch->always, SIGHUP);
    sigaddset(&watch->always, SIGWINCH); // one during a run is for the next prompt
    sigemptyset(&watch->at_prompt);
    add(&watch->at_prompt, SIGTSTP);
    add(&watch->at_prompt, SIGQUIT); // nothing, as in a shell
    sigorset(&all, &watch->always, &watch->at_prompt);
    pthread_sigmask(SIG_BLOCK, &watch->always, &watch->mask_before);
    watch->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (watch->signal_fd < 0)
        cli_report("cannot watch for signals: %s", strerrordesc_np(errno));
    return watch->signal_fd >= 0;
}

void cli_stdin_watch_close(cli_stdin_watch *watch)
{
    if (watch->signal_fd >= 0)
        close(watch->signal_fd);
    watch->signal_fd = -1;
    pthread_sigmask(SIG_SETMASK, &watch->mask_before, NULL);
}

void cli_stdin_watch_begin(cli_stdin_watch *watch)
{
    pthread_sigmask(SIG_BLOCK, &watch->at_prompt, &watch->mask_before_prompt);
}

void cli_stdin_watch_end(cli_stdin_watch *watch)
{
    pthread_sigmask(SIG_SETMASK, &watch->mask_before_prompt, NULL);
}

// Takes the next signal that is there. False: there is none that matters.
static bool take_signal(const cli_stdin_watch *watch, cli_wake *wake)
{
    struct signalfd_siginfo info;

    while (read(watch->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        switch (info.ssi_signo) {
        case SIGINT:
            *wake = CLI_WAKE_INTERRUPT;
            return true;
        case SIGTERM:
        case SIGHUP:
            *wake = CLI_WAKE_STOP;
            return true;
        case SIGWINCH:
            *wake = CLI_WAKE_RESIZE;
            return true;
        case SIGTSTP:
            *wake = CLI_WAKE_SUSPEND;
            return true;
        default:
            break;
        }
    }
    return false;
}

cli_wake cli_stdin_watch_wait(const cli_stdin_watch *watch)
{
    cli_wake wake = CLI_WAKE_INPUT;
    struct pollfd slots[] = {
        {.fd = watch->signal_fd, .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = STDOUT_FILENO}, // tells by POLLERR that its reader went away
    };

    for (;;) {
        if (poll(slots, 3, -1) < 0) {
            if (errno == EINTR)
                continue;
            return CLI_WAKE_STOP;
        }
        if (slots[0].revents && take_signal(watch, &wake))
            return wake;
        if (slots[2].revents & POLLERR)
            return CLI_WAKE_CLOSED;
        if (slots[1].revents)
            return CLI_WAKE_INPUT;
        if (slots[2].revents)
            slots[2].fd = -1; // says nothing that matters
    }
}

void cli_stdin_watch_suspend(void)
{
    sigset_t stop, now;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP); // held back, then let through: stops here
    pthread_sigmask(SIG_UNBLOCK, &stop, &now);
    pthread_sigmask(SIG_SETMASK, &now, NULL);
}
