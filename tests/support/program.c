#include "support/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// A growing text.
typedef struct kept {
    char *text;
    size_t len, room;
} kept;

typedef struct child {
    const program_config *config;
    pid_t pid;
    int pidfd;
    int in[2], out[2], err[2]; // pipes; [0] is read
    int terminal[2];           // master and slave
    size_t n_written;          // of the input
    kept kept_out, kept_err;
    const program_action *action; // the next one; NULL: all are done
    size_t n_actions;             // done
    size_t n_seen;                // up to the end of what was awaited last
    struct termios settings;      // of the terminal, at the start
    program_result *result;
    char **arguments, **environment;
} child;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ms(void)
{
    return now_ns() / 1000000;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(child *it)
{
    int *const ends[] = {&it->in[0],       &it->in[1],       &it->out[0],
                         &it->out[1],      &it->err[0],      &it->err[1],
                         &it->terminal[0], &it->terminal[1], &it->pidfd};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        close_end(ends[i]);
}

static bool is_changed(const char *entry, const char *const *changes)
{
    size_t len = strcspn(entry, "=");

    for (size_t i = 0; changes && changes[i]; i++)
        if (strcspn(changes[i], "=") == len && strncmp(changes[i], entry, len) == 0)
            return true;
    return false;
}

// The caller's environment with the changes. The texts are borrowed.
static char **make_environment(const char *const *changes)
{
    size_t n = 0, n_old = 0, n_changes = 0;

    while (environ[n_old])
        n_old++;
    while (changes && changes[n_changes])
        n_changes++;
    char **made = calloc(n_old + n_changes + 1, sizeof(*made));
    for (size_t i = 0; made && i < n_old; i++)
        if (!is_changed(environ[i], changes))
            made[n++] = environ[i];
    for (size_t i = 0; made && i < n_changes; i++)
        if (strchr(changes[i], '='))
            memcpy(&made[n++], &changes[i], sizeof(*made));
    return made;
}

static char **make_arguments(const char *program, const char *const *arguments)
{
    size_t n = 0;

    while (arguments && arguments[n])
        n++;
    char **made = calloc(n + 2, sizeof(*made));
    if (!made)
        return NULL;
    memcpy(&made[0], &program, sizeof(*made));
    if (n > 0)
        memcpy(&made[1], arguments, n * sizeof(*made));
    return made;
}

// The size of the terminal, with other columns unless that is 0.
static struct winsize size_of(const program_config *config, int columns)
{
    int rows = config->rows ? config->rows : 30;

    if (!columns)
        columns = config->columns ? config->columns : 100;
    return (struct winsize){.ws_col = (unsigned short)columns,
                            .ws_row = (unsigned short)rows};
}

static bool open_terminal(child *it)
{
    struct winsize size = size_of(it->config, 0);

    if (it->config->terminal == PROGRAM_NO_TERMINAL)
        return true;
    if (openpty(&it->terminal[0], &it->terminal[1], NULL, NULL, &size) != 0)
        return false;
    return fcntl(it->terminal[0], F_SETFD, FD_CLOEXEC) == 0 &&
           tcgetattr(it->terminal[0], &it->settings) == 0;
}

static bool open_ends(child *it)
{
    return pipe2(it->in, O_CLOEXEC) == 0 && pipe2(it->out, O_CLOEXEC) == 0 &&
           pipe2(it->err, O_CLOEXEC) == 0 && open_terminal(it);
}

// From here to exec: only what is safe after fork.
static int stdout_of(const child *it)
{
    if (it->config->out == PROGRAM_STDOUT_FULL)
        return open("/dev/full", O_WRONLY | O_CLOEXEC);
    return it->out[1];
}

static _Noreturn void become_program(const child *it)
{
    const program_config *config = it->config;
    bool all = config->terminal == PROGRAM_TERMINAL;
    int err = config->terminal ? it->terminal[1] : it->err[1];
    int in = config->input ? it->in[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    setsid();
    if (config->terminal)
        ioctl(it->terminal[1], TIOCSCTTY, 0);
    if (config->directory && chdir(config->directory) != 0)
        _exit(126);
    if (dup2(all ? it->terminal[1] : in, STDIN_FILENO) < 0 ||
        dup2(all ? it->terminal[1] : stdout_of(it), STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        _exit(126);
    if (config->out == PROGRAM_STDOUT_CLOSED)
        close(STDOUT_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    execve(it->arguments[0], it->arguments, it->environment);
    _exit(127);
}

static bool start(child *it)
{
    if (it->config->out == PROGRAM_STDOUT_GONE)
        close_end(&it->out[0]);
    it->pid = fork();
    if (it->pid == 0)
        become_program(it);
    if (it->pid < 0)
        return false;
    it->pidfd = pidfd_open(it->pid, 0);
    close_end(&it->in[0]);
    close_end(&it->out[1]);
    close_end(&it->err[1]);
    close_end(&it->terminal[1]);
    if (!it->config->input)
        close_end(&it->in[1]);
    else
        fcntl(it->in[1], F_SETFL, O_NONBLOCK);
    return it->pidfd >= 0;
}

static bool keep(kept *it, const char *text, size_t len)
{
    if (it->len + len + 1 > it->room) {
        size_t room = (it->len + len + 1) * 2;
        char *grown = realloc(it->text, room);
        if (!grown)
            return false;
        it->text = grown;
        it->room = room;
    }
    memcpy(it->text + it->len, text, len);
    it->len += len;
    it->text[it->len] = '\0';
    return true;
}

static void type(child *it, const char *text)
{
    for (size_t len = strlen(text); len > 0;) {
        ssize_t n = write(it->terminal[0], text, len);
        if (n <= 0)
            return; // the check for what it answers will fail
        text += n;
        len -= (size_t)n;
    }
}

// False: the next action is not due.
static bool act(child *it, bool is_due)
{
    const program_action *action = it->action;

    if (!action)
        return false;
    const kept *where = action->is_on_stdout ? &it->kept_out : &it->kept_err;
    const char *found = NULL;
    if (action->when && where->text)
        found = strstr(where->text + (action->is_new ? it->n_seen : 0), action->when);
    if (!found && !is_due)
        return false;
    it->n_seen =
        found ? (size_t)(found - where->text) + strlen(action->when) : where->len;
    it->action = action->then;
    it->result->acted_ns = now_ns();
    if (it->n_actions < PROGRAM_MAX_ACTIONS)
        it->result->acted_len[it->n_actions++] = it->kept_err.len;
    if (action->columns) {
        struct winsize size = size_of(it->config, action->columns);
        ioctl(it->terminal[0], TIOCSWINSZ, &size);
    }
    if (action->closes_stdout)
        close_end(&it->out[0]);
    if (action->types)
        type(it, action->types);
    if (action->signal)
        kill(it->pid, action->signal);
    if (action->call)
        action->call(action->ctx);
    return true;
}

// What came may be what several actions await one behind the other.
static void act_all(child *it, bool is_due)
{
    bool has_acted = act(it, is_due);

    while (has_acted && it->action && it->action->is_new)
        has_acted = act(it, false);
}

// Reads what is there. A terminal whose other side is closed fails with EIO.
static void read_end(int *fd, short events, kept *into)
{
    char buf[16384];

    if (*fd < 0 || !events)
        return;
    ssize_t n = read(*fd, buf, sizeof(buf));
    if (n > 0)
        keep(into, buf, (size_t)n);
    else if (n == 0 || errno != EINTR)
        close_end(fd);
}

static void write_input(child *it, short events)
{
    const program_config *config = it->config;

    if (it->in[1] < 0 || !events)
        return;
    size_t len = config->input_len ? config->input_len : strlen(config->input);
    ssize_t n = write(it->in[1], config->input + it->n_written, len - it->n_written);
    if (n > 0)
        it->n_written += (size_t)n;
    if (it->n_written == len || (n < 0 && errno != EINTR && errno != EAGAIN))
        close_end(&it->in[1]);
}

// One round; false: the child has ended and all it wrote was read.
static bool serve(child *it, int timeout_ms)
{
    int when_fd = it->action ? it->action->when_fd : 0;
    struct pollfd slots[] = {
        {.fd = it->pidfd, .events = POLLIN},
        {.fd = it->in[1], .events = POLLOUT},
        {.fd = it->out[0], .events = POLLIN},
        {.fd = it->err[0], .events = POLLIN},
        {.fd = it->terminal[0], .events = POLLIN},
        {.fd = when_fd ? when_fd : -1, .events = POLLIN},
    };
    int n = poll(slots, sizeof(slots) / sizeof(slots[0]), timeout_ms);

    if (n < 0 && errno == EINTR)
        return true;
    write_input(it, slots[1].revents);
    read_end(&it->out[0], slots[2].revents, &it->kept_out);
    read_end(&it->err[0], slots[3].revents, &it->kept_err);
    read_end(&it->terminal[0], slots[4].revents, &it->kept_err);
    act_all(it, slots[5].revents != 0);
    bool has_ended = slots[0].revents != 0;
    return !has_ended || slots[2].revents || slots[3].revents || slots[4].revents;
}

// The other side of the terminal is closed; what was set there can still be asked.
static bool has_changed_terminal(const child *it)
{
    struct termios now;

    if (it->terminal[0] < 0 || tcgetattr(it->terminal[0], &now) != 0)
        return false;
    return now.c_iflag != it->settings.c_iflag || now.c_oflag != it->settings.c_oflag ||
           now.c_lflag != it->settings.c_lflag ||
           memcmp(now.c_cc, it->settings.c_cc, sizeof(now.c_cc)) != 0;
}

static void wait_for(child *it, program_result *result)
{
    int64_t started = now_ms();
    int64_t deadline =
        started + (it->config->timeout_ms ? it->config->timeout_ms : 20000);
    int status = 0;

    for (int64_t left = deadline - now_ms(); left > 0; left = deadline - now_ms())
        if (!serve(it, (int)left))
            break;
    result->has_timed_out = now_ms() >= deadline;
    result->has_changed_terminal = has_changed_terminal(it);
    kill(-it->pid, SIGKILL); // its session: what it left behind, or itself
    while (waitpid(it->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    result->duration_ms = now_ms() - started;
    result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool program_run(const program_config *config, program_result *result)
{
    const char *program = getenv("CADRE_BIN");
    child it = {.config = config,
                .action = &config->action,
                .result = result,
                .pidfd = -1,
                .in = {-1, -1},
                .out = {-1, -1},
                .err = {-1, -1},
                .terminal = {-1, -1}};

    *result = (program_result){.exit_status = -1};
    if (!CHECK(program != NULL))
        return false;
    signal(SIGPIPE, SIG_IGN); // a child that does not read its input is no failure
    it.arguments = make_arguments(program, config->arguments);
    it.environment = make_environment(config->changes);
    bool has_run = it.arguments && it.environment && keep(&it.kept_out, "", 0) &&
                   keep(&it.kept_err, "", 0) && open_ends(&it) && start(&it);
    if (has_run)
        wait_for(&it, result);
    close_all(&it);
    free(it.arguments);
    free(it.environment);
    result->out = it.kept_out.text;
    result->out_len = it.kept_out.len;
    result->err = it.kept_err.text;
    // Its exit status is that of a run that failed.
    CHECK_LACKS(result->err, "Sanitizer");
    if (CHECK(has_run) && CHECK(!result->has_timed_out))
        return true;
    program_result_fini(result);
    return false;
}

void program_result_fini(program_result *result)
{
    free(result->out);
    free(result->err);
    *result = (program_result){0};
}

void program_strip_terminal(char *text)
{
    char *to = text;

    for (const char *from = text; *from;) {
        if (from[0] == '\033' && from[1] == '[') {
            from += 2;
            from += strspn(from, "0123456789;?");
            from += *from ? 1 : 0;
        } else if (*from == '\r') {
            from++;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

const char *program_source_path(const char *path, char *buf, size_t size_bytes)
{
    const char *source = getenv("CADRE_SOURCE_DIR");

    snprintf(buf, size_bytes, "%s/%s", source ? source : ".", path);
    return buf;
}
