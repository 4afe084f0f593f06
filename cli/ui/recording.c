// See recording.h.
#include "recording.h"

#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- The file ---

static int fail(const char *path, int failure)
{
    cli_report("--record: '%s' cannot be written: %s", path, strerrordesc_np(failure));
    return CLI_EXIT_FAILED;
}

// Opens a new file beside the one that is wanted; its name is the caller's. -1: errno.
static int open_beside(const char *path, char **name)
{
    size_t size = strlen(path) + sizeof(".XXXXXX");
    char *beside = malloc(size);

    if (!beside)
        return -1;
    snprintf(beside, size, "%s.XXXXXX", path);
    int fd = mkstemp(beside); // for its owner alone
    if (fd < 0) {
        free(beside);
        return -1;
    }
    *name = beside;
    return fd;
}

static bool write_all(FILE *file, const json_t *script, cli_script_form form)
{
    cli_script_print(file, script, form);
    if (ftello(file) > (off_t)CADRE_SCRIPT_MAX_BYTES)
        cli_report_note("--record: this script is larger than %zu MiB: it can be read, "
                        "but no run can be made of it",
                        CADRE_SCRIPT_MAX_BYTES >> 20);
    return fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
}

// 0, or errno.
static int write_file(const cli_recording *it)
{
    char *beside = NULL;
    int failure = 0;
    int fd = open_beside(it->path, &beside);

    if (fd < 0)
        return errno;
    FILE *file = fdopen(fd, "w");
    if (!file) {
        failure = errno;
        close(fd);
    } else {
        if (!write_all(file, it->script, it->form))
            failure = errno;
        if (fclose(file) != 0 && failure == 0)
            failure = errno;
    }
    if (failure == 0 && rename(beside, it->path) != 0)
        failure = errno;
    if (failure != 0)
        unlink(beside);
    free(beside);
    return failure;
}

// Before anything runs: what a run has cost would be lost.
static int check_place(const char *path)
{
    char *beside = NULL;
    int fd = open_beside(path, &beside);

    if (fd < 0)
        return fail(path, errno);
    close(fd);
    unlink(beside);
    free(beside);
    return CLI_EXIT_OK;
}

// --- Recording ---

int cli_recording_init(cli_recording *recording, const cli_arguments *arguments)
{
    const char *path = cli_arguments_find(arguments, "record");
    bool may_replace = cli_arguments_has_flag(arguments, "force");

    *recording = (cli_recording){.path = path};
    if (!path && may_replace)
        return cli_report_usage(arguments->command, "'--force' goes with '--record'");
    if (!path)
        return CLI_EXIT_OK;
    if (!cli_script_form_of(path, &recording->form))
        return cli_report_usage(arguments->command,
                                "option '--record': a script is a file that ends in "
                                ".yaml, .yml or .json, not '%s'",
                                path);
    if (!may_replace && access(path, F_OK) == 0)
        return cli_report_usage(arguments->command,
                                "option '--record': '%s' is there already; --force "
                                "replaces it",
                                path);
    return check_place(path);
}

void cli_recording_fini(cli_recording *recording)
{
    json_decref(recording->script);
}

void cli_recording_add(cli_recording *it, cadre_runtime *runtime, const char *trace)
{
    cadre_error err = CADRE_ERROR_INIT;

    if (!it->path)
        return;
    if (!it->script)
        it->script = json_object();
    cadre_status status = cadre_record_script(runtime, trace, it->script, &err);
    if (status != CADRE_OK) {
        cli_report("--record: run %s: %s", trace, err.text);
        it->is_partial = true;
    }
}

int cli_recording_write(cli_recording *it, int exit_status)
{
    if (!it->script)
        return exit_status;
    int failure = write_file(it);
    int own_status = failure != 0     ? fail(it->path, failure)
                     : it->is_partial ? CLI_EXIT_FAILED
                                      : CLI_EXIT_OK;
    return exit_status == CLI_EXIT_OK ? own_status : exit_status;
}
