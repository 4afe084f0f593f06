// See signals.h.
#include "signals.h"

#include "children.h"
#include "command.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

void cli_signals_init(cli_signals *signals)
{
    struct sigaction hangup;

    *signals = (cli_signals){.signal_fd = -1, .stop_fd = -1};
    sigemptyset(&signals->watched);
    sigaddset(&signals->watched, SIGINT);
    sigaddset(&signals->watched, SIGTERM);
    // Under nohup a hangup is meant to do nothing.
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&signals->watched, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals->watched, &signals->mask_before);
}

static const char *reason_of(uint32_t signal)
{
    switch (signal) {
    case SIGINT:
        return "interrupted by SIGINT";
    case SIGTERM:
        return "interrupted by SIGTERM";
    default:
        return "interrupted by SIGHUP";
    }
}

static void take_signal(cli_signals *signals, int *n_taken)
{
    struct signalfd_siginfo info;

    if (read(signals->signal_fd, &info, sizeof(info)) != sizeof(info))
        return;
    if (++*n_taken > 1) { // asked twice: nobody waits for anything any more
        cli_children_kill();
        _exit(CLI_EXIT_ABORTED);
    }
    signals->was_stopped = true;
    signals->stopped_by = (int)info.ssi_signo;
    cadre_run_cancel(signals->run, reason_of(info.ssi_signo));
}

static void *watch(void *argument)
{
    cli_signals *signals = argument;
    int n_taken = 0;
    struct pollfd slots[] = {
        {.fd = signals->stop_fd, .events = POLLIN},
        {.fd = signals->signal_fd, .events = POLLIN},
        {.fd = STDOUT_FILENO}, // tells by POLLERR that its reader went away
    };

    for (;;) {
        if (poll(slots, 3, -1) < 0) {
            if (errno == EINTR)
                continue;
            return NULL;
        }
        if (slots[1].revents)
            take_signal(signals, &n_taken);
        if (slots[2].revents & POLLERR) {
            signals->output_was_closed = true;
            cadre_run_cancel(signals->run, "output closed");
        }
        if (slots[2].revents)
            slots[2].fd = -1; // told once
        if (slots[0].revents)
            return NULL;
    }
}

cadre_status cli_signals_start(cli_signals *signals, cadre_run *run, cadre_error *err)
{
    signals->run = run;
    signals->signal_fd = signalfd(-1, &signals->watched, SFD_CLOEXEC);
    signals->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (signals->signal_fd < 0 || signals->stop_fd < 0)
        return cadre_fail(err, CADRE_EBUSY, "cannot watch for signals: %s",
                          strerrordesc_np(errno));
    int failure = pthread_create(&signals->thread, NULL, watch, signals);
    if (failure)
        return cadre_fail(err, CADRE_EBUSY, "cannot watch for signals: %s",
                          strerrordesc_np(failure));
    signals->is_running = true;
    return CADRE_OK;
}

void cli_signals_stop(cli_signals *signals)
{
    const uint64_t one = 1;

    if (signals->is_running) {
        while (write(signals->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
            continue;
        pthread_join(signals->thread, NULL);
        signals->is_running = false;
    }
    if (signals->signal_fd >= 0)
        close(signals->signal_fd);
    if (signals->stop_fd >= 0)
        close(signals->stop_fd);
    signals->signal_fd = signals->stop_fd = -1;
    pthread_sigmask(SIG_SETMASK, &signals->mask_before, NULL);
}
