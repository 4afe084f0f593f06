// See graphviz.h.
#include "graphviz.h"

#include "command.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what, int code)
{
    cli_report("%s: %s", what, strerrordesc_np(code));
    return CLI_EXIT_FAILED;
}

static int fail_start(int code)
{
    if (code != ENOENT)
        return fail("dot", code);
    cli_report("--format svg needs the program `dot`, which is not in PATH; install "
               "the package graphviz, or take --format dot");
    return CLI_EXIT_FAILED;
}

// The graph in a file without a name: what dot reads is there when it starts, so it may
// write before it has read all.
static FILE *graph_file(const char *graph, size_t len)
{
    FILE *file = tmpfile();

    if (!file)
        return NULL;
    if (fwrite(graph, 1, len, file) == len && fflush(file) == 0 &&
        lseek(fileno(file), 0, SEEK_SET) == 0)
        return file;
    fclose(file);
    return NULL;
}

// Starts dot; it minds SIGPIPE, which this program does not. Returns an errno.
static int start(int in, int out, pid_t *pid)
{
    char name[] = "dot";
    char form[] = "-Tsvg";
    char *const arguments[] = {name, form, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t minded;

    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        sigemptyset(&minded);
        sigaddset(&minded, SIGPIPE);
        posix_spawnattr_setsigdefault(&attributes, &minded);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        code = posix_spawnp(pid, "dot", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static bool read_all(int fd, char **text, size_t *text_len)
{
    char part[8192];
    ssize_t n = 0;
    FILE *stream = open_memstream(text, text_len);

    if (!stream)
        return false;
    while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            fwrite(part, 1, (size_t)n, stream);
    return fclose(stream) == 0 && n == 0;
}

// What dot complains of goes to stderr by itself.
static int finish(pid_t pid, bool was_read)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return fail("dot", errno);
    if (was_read && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CLI_EXIT_OK;
    cli_report("dot failed; --format dot prints the graph it was given");
    return CLI_EXIT_FAILED;
}

static int run(int in, char **svg, size_t *svg_len)
{
    int ends[2];
    pid_t pid = -1;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail("a pipe for dot", errno);
    int code = start(in, ends[1], &pid);
    close(ends[1]);
    int exit_status = code == 0 ? CLI_EXIT_OK : fail_start(code);
    if (code == 0)
        exit_status = finish(pid, read_all(ends[0], svg, svg_len));
    close(ends[0]);
    return exit_status;
}

int cli_graphviz_svg(const char *graph, size_t graph_len, char **svg, size_t *svg_len)
{
    FILE *file = graph_file(graph, graph_len);

    *svg = NULL;
    *svg_len = 0;
    if (!file)
        return fail("a file for dot", errno);
    int exit_status = run(fileno(file), svg, svg_len);
    fclose(file);
    if (exit_status == CLI_EXIT_OK)
        return CLI_EXIT_OK;
    free(*svg);
    *svg = NULL;
    return exit_status;
}
