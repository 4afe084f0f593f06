// Talking to a program while watching the frame: one loop over its pipes, its end and
// the frame's cancel, in which nothing blocks.
//
// 1. The leader's end is the program's end: what is left of its group is killed, and of
//    the pipes only that is read which is in them. A process in the background that
//    holds stdout cannot keep the tool.
// 2. A stop is TERM to the group, then its grace, then KILL to the group. When the
//    leader ends within the grace (a shell does, at once), those that still hold a pipe
//    have the rest of it.
// 3. Whatever happened, the program is reaped in the end.
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_BYTES = 16 * 1024
};

typedef struct talk {
    const cdr_command_exchange *given;
    cdr_command_process *process;
    size_t n_written;
    int64_t kill_at_ms; // valid when it is stopping
    bool is_stopping;
    bool has_ended;
} talk;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_end(int *fd)
{
    close(*fd);
    *fd = -1;
}

// --- Its stdin ---

// Writes without SIGPIPE, which would end a program that does not expect it: the signal
// is blocked on this thread, and taken back unless one was waiting before.
static ssize_t write_quietly(int fd, const char *data, size_t len)
{
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    sigpending(&pending);
    ssize_t n = write(fd, data, len);
    int failure = n < 0 ? errno : 0;
    if (failure == EPIPE && !sigismember(&pending, SIGPIPE)) {
        const struct timespec at_once = {0, 0};
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return n;
}

// A program that does not read its input has no use for it; that is no failure.
static void write_some(talk *self)
{
    const cdr_command_exchange *given = self->given;
    ssize_t n = write_quietly(self->process->in, given->input + self->n_written,
                              given->input_len - self->n_written);
    if (n >= 0)
        self->n_written += (size_t)n;
    else if (errno == EAGAIN || errno == EINTR)
        return;
    if (n < 0 || self->n_written == given->input_len)
        close_end(&self->process->in);
}

// --- Its stdout and stderr ---

static void take(talk *self, bool is_output, const char *data, size_t len)
{
    if (is_output)
        cdr_command_output_add(self->given->output, data, len);
    else
        cdr_command_log_add(self->given->log, data, len);
}

// Reads at most `max` bytes. Returns how many; 0: there are none now, or no more.
static size_t read_some(talk *self, bool is_output, size_t max)
{
    char data[READ_BYTES];
    int *fd = is_output ? &self->process->out : &self->process->err;
    ssize_t n = read(*fd, data, max < sizeof(data) ? max : sizeof(data));
    if (n > 0) {
        take(self, is_output, data, (size_t)n);
        return (size_t)n;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(fd);
    return 0;
}

// Reads what is there and no more: somebody may go on writing for ever.
static void read_rest(talk *self, bool is_output)
{
    int left = 0;
    int fd = is_output ? self->process->out : self->process->err;
    if (fd < 0 || ioctl(fd, FIONREAD, &left) != 0)
        return;
    while (left > 0) {
        size_t n = read_some(self, is_output, (size_t)left);
        if (n == 0)
            return;
        left -= (int)n;
    }
}

// --- The loop ---

// Progress is not shown any more: showing waits when nobody reads the run's events, and
// nothing may delay the end.
static void begin_stop(talk *self)
{
    self->is_stopping = true;
    self->kill_at_ms = now_ms() + self->given->grace_ms;
    self->given->log->frame = NULL;
    cdr_command_signal(self->process, SIGTERM);
    cdr_command_signal(self->process, SIGCONT); // those that are stopped hear it too
}

static bool is_over(const talk *self)
{
    if (!self->is_stopping)
        return self->has_ended;
    if (self->has_ended && self->process->out < 0 && self->process->err < 0)
        return true;
    return now_ms() >= self->kill_at_ms;
}

static int wait_ms(const talk *self)
{
    int64_t left = self->is_stopping ? self->kill_at_ms - now_ms()
                                     : cadre_frame_remaining_ms(self->given->frame);
    if (left == INT64_MAX)
        return -1;
    if (left < 0)
        return 0;
    return left < INT_MAX ? (int)left : INT_MAX;
}

static void turn(talk *self)
{
    const cdr_command_process *process = self->process;
    struct pollfd fds[] = {
        {process->in, POLLOUT, 0},
        {process->out, POLLIN, 0},
        {process->err, POLLIN, 0},
        // Readable for good: looked at once.
        {self->has_ended ? -1 : process->pidfd, POLLIN, 0},
        {self->is_stopping ? -1 : self->given->cancel_fd, POLLIN, 0},
    };
    int n = poll(fds, sizeof(fds) / sizeof(fds[0]), wait_ms(self));
    if (n > 0 && fds[0].revents != 0)
        write_some(self);
    if (n > 0 && fds[1].revents != 0)
        read_some(self, true, READ_BYTES);
    if (n > 0 && fds[2].revents != 0)
        read_some(self, false, READ_BYTES);
    if (n > 0 && fds[3].revents != 0)
        self->has_ended = true;
    bool is_wanted = !self->has_ended && !self->is_stopping;
    if (is_wanted && cadre_frame_is_stopped(self->given->frame))
        begin_stop(self);
}

cdr_command_end cdr_command_run(cdr_command_process *process,
                                const cdr_command_exchange *exchange)
{
    talk self = {.given = exchange, .process = process};
    cdr_command_end end = {.is_known = false};
    if (exchange->input_len == 0)
        close_end(&process->in);
    while (!is_over(&self))
        turn(&self);
    cdr_command_signal(process, SIGKILL);
    read_rest(&self, true);
    read_rest(&self, false);
    // One that is stuck in the kernel is waited for: leaving it would leave a zombie.
    end.is_known = cdr_command_reap(process, &end.wait_status);
    end.was_stopped = self.is_stopping;
    cdr_command_log_end(exchange->log);
    return end;
}
