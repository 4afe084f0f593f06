// Where the program of a tool is: in the folder of the team file, at an absolute path,
// or in PATH.
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_part(const char *path, const char *wanted)
{
    for (const char *part = path; *part != '\0'; part += strspn(part, "/")) {
        size_t len = strcspn(part, "/");
        if (len == strlen(wanted) && strncmp(part, wanted, len) == 0)
            return true;
        part += len;
    }
    return false;
}

cadre_status cdr_command_check_path(const cdr_command *command, cadre_error *err)
{
    const char *path = command->argv[0];
    if (strchr(path, '/') == NULL || !has_part(path, ".."))
        return CADRE_OK;
    return cadre_fail(
        err, CADRE_EINVAL,
        "the program '%.200s' leaves the folder of the team file; write a "
        "path without '..', or a name that is in PATH",
        path);
}

static int find_at(const char *path)
{
    struct stat what;
    if (stat(path, &what) != 0 || access(path, X_OK) != 0)
        return errno;
    return S_ISREG(what.st_mode) ? 0 : EACCES;
}

// Looks in one folder of PATH; an empty one is where the program starts.
static int find_in(const cdr_command *command, const char *folder, size_t len)
{
    char *path = NULL;
    const char *start = len > 0 && folder[0] == '/' ? "" : command->directory;
    if (asprintf(&path, "%s%s%.*s/%s", start, *start == '\0' ? "" : "/", (int)len,
                 folder, command->argv[0]) < 0)
        return ENOMEM;
    int rc = find_at(path);
    free(path);
    return rc;
}

static const char *search_path(const cdr_command *command)
{
    for (size_t i = 0; i < command->n_environment; i++)
        if (strncmp(command->environment[i], "PATH=", 5) == 0)
            return command->environment[i] + 5;
    return "/bin:/usr/bin";
}

int cdr_command_find(const cdr_command *command)
{
    const char *program = command->argv[0];
    int rc = ENOENT;
    if (program[0] == '/')
        return find_at(program);
    if (strchr(program, '/') != NULL)
        return find_in(command, "", 0);
    for (const char *at = search_path(command);; at++) {
        size_t len = strcspn(at, ":");
        int here = find_in(command, at, len);
        if (here == 0)
            return 0;
        rc = here == EACCES ? EACCES : rc;
        at += len;
        if (*at == '\0')
            return rc;
    }
}
