// Starting a program, its signals and its end.
//
// 1. Nothing of this process reaches it but what it is given: three pipes, the cleared
//    environment, default signals, no controlling terminal. All other descriptors are
//    closed in it, also those that the host program did not mark close-on-exec.
// 2. It leads a session, so a group, of its own. The group's id is its pid, which no
//    other gets before it is reaped; so all signals are sent before that.
// 3. Its end is waited for by a pidfd, which takes no signal handler and no polling.
//    Linux 5.3 and glibc 2.34 are required.
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY_NAME "CADRE_IDEMPOTENCY_KEY"

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

// --- Pipes ---

typedef struct pipe_ends {
    int read, write;
} pipe_ends;

typedef struct pipe_set {
    pipe_ends in, out, err;
} pipe_set;

// A program without its own stdin, say, gives out 0: giving the child its descriptors
// would then overwrite one that is still wanted.
static bool lift(int *fd)
{
    if (*fd > STDERR_FILENO)
        return true;
    int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (lifted < 0)
        return false;
    close(*fd);
    *fd = lifted;
    return true;
}

static bool open_pipe(pipe_ends *ends)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    *ends = (pipe_ends){fds[0], fds[1]};
    return lift(&ends->read) && lift(&ends->write);
}

// Only this side's ends: the program's belong to it, and most cannot cope.
static bool make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool open_pipes(pipe_set *pipes)
{
    *pipes = (pipe_set){{-1, -1}, {-1, -1}, {-1, -1}};
    return open_pipe(&pipes->in) && open_pipe(&pipes->out) && open_pipe(&pipes->err) &&
           make_nonblocking(pipes->in.write) && make_nonblocking(pipes->out.read) &&
           make_nonblocking(pipes->err.read);
}

static void close_pipes(pipe_set *pipes)
{
    pipe_ends *const all[] = {&pipes->in, &pipes->out, &pipes->err};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        close_one(&all[i]->read);
        close_one(&all[i]->write);
    }
}

// --- Starting ---

// The arguments come from the team file, the key from the frame. NULL: no memory.
static char **make_environment(const cdr_command *command, cadre_frame *frame)
{
    size_t n = command->n_environment;
    const char *id = cadre_frame_idempotency_key(frame);
    char **environment = cadre_frame_alloc(frame, (n + 2) * sizeof(*environment));
    size_t size = id == NULL ? 0 : strlen(KEY_NAME "=") + strlen(id) + 1;
    char *key = size == 0 ? NULL : cadre_frame_alloc(frame, size);
    if (environment == NULL || key == NULL)
        return NULL;
    (void)snprintf(key, size, KEY_NAME "=%s", id);
    for (size_t i = 0; i < n; i++)
        environment[i] = command->environment[i];
    environment[n] = key;
    environment[n + 1] = NULL;
    return environment;
}

static int add_actions(posix_spawn_file_actions_t *actions, const char *directory,
                       const pipe_set *pipes)
{
    int rc = posix_spawn_file_actions_addchdir_np(actions, directory);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, pipes->in.read, STDIN_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, pipes->out.write, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, pipes->err.write, STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return rc;
}

// A session and not only a group: a program that asks for a password on the terminal
// fails at once. In a group of the background it would be stopped, and hang.
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID |
                                                      POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETSIGDEF);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    return rc;
}

// Returns an errno value, 0 when it runs.
static int spawn(const cdr_command *command, char *const *environment,
                 const pipe_set *pipes, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = add_actions(&actions, command->directory, pipes);
        if (rc == 0)
            rc = set_attributes(&attributes);
        if (rc == 0)
            rc = posix_spawnp(pid, command->argv[0], &actions, &attributes,
                              command->argv, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

// What to do about it; "" when the cause says enough.
static const char *advice(const cdr_command *command, cadre_frame *frame, int cause)
{
    const char *program = command->argv[0];
    const char *text = "";
    if (cause == ENOEXEC)
        return "; a script needs a first line like #!/bin/sh";
    if (cause == EACCES)
        return "; is it executable (chmod +x)?";
    if (cause != ENOENT)
        return "";
    if (strchr(program, '/') == NULL)
        text = cadre_frame_printf(frame,
                                  "; it is not in PATH (for a program in that folder "
                                  "write ./%s)",
                                  program);
    else {
        const char *path =
            program[0] == '/'
                ? program
                : cadre_frame_printf(frame, "%s/%s", command->directory, program);
        if (path != NULL && access(path, F_OK) == 0)
            text = "; what the first line of the script names (#!) is missing";
    }
    return text == NULL ? "" : text;
}

static cadre_status fail_start(const cdr_command *command, cadre_frame *frame,
                               int cause, cadre_error *err)
{
    return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_TOOL, false,
                            "cannot start '%s' in the folder '%s': %s%s",
                            command->argv[0], command->directory,
                            strerrordesc_np(cause), advice(command, frame, cause));
}

// The program was started, but its end cannot be seen; or it was, by somebody else.
static cadre_status give_up(const cdr_command *command, cdr_command_process *process,
                            int cause, cadre_error *err)
{
    int wait_status;
    cdr_command_signal(process, SIGKILL);
    cdr_command_reap(process, &wait_status);
    if (cause == ESRCH)
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_TOOL, false,
                                CDR_COMMAND_LOST, command->program);
    return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_TOOL, false,
                            "cannot watch '%s': %s", command->argv[0],
                            strerrordesc_np(cause));
}

cadre_status cdr_command_start(const cdr_command *command, cadre_frame *frame,
                               cdr_command_process *out, cadre_error *err)
{
    pipe_set pipes;
    pid_t pid = -1;
    char **environment = make_environment(command, frame);
    if (environment == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to start '%s'",
                          command->argv[0]);
    int cause = open_pipes(&pipes) ? 0 : errno;
    if (cause == 0)
        cause = spawn(command, environment, &pipes, &pid);
    if (cause != 0) {
        close_pipes(&pipes);
        return fail_start(command, frame, cause, err);
    }
    cdr_command_process process = {
        .pid = pid, .in = pipes.in.write, .out = pipes.out.read, .err = pipes.err.read};
    pipes.in.write = pipes.out.read = pipes.err.read = -1;
    close_pipes(&pipes);
    process.pidfd = (int)syscall(SYS_pidfd_open, pid, 0); // always close-on-exec
    if (process.pidfd < 0)
        return give_up(command, &process, errno, err);
    *out = process;
    return CADRE_OK;
}

// --- Ending ---

void cdr_command_signal(const cdr_command_process *process, int signal)
{
    // Fails when all have ended, and for what runs as somebody else.
    (void)kill(-process->pid, signal);
}

bool cdr_command_reap(cdr_command_process *process, int *wait_status)
{
    close_one(&process->in);
    close_one(&process->out);
    close_one(&process->err);
    close_one(&process->pidfd);
    pid_t pid;
    do
        pid = waitpid(process->pid, wait_status, 0);
    while (pid < 0 && errno == EINTR);
    return pid == process->pid;
}
