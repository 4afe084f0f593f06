// Runs a tool of type command through the whole product.
#include "support/command_tool.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return -1;
    // Only this thread looks here. NOLINTNEXTLINE(concurrency-mt-unsafe)
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

// --- A team of one agent with one tool ---

static bool write_files(const test_folder *folder, const command_tool_setup *setup)
{
    char path[FOLDER_PATH_SIZE];
    char *team = NULL;
    size_t team_len = 0;
    FILE *out = open_memstream(&team, &team_len);
    if (!CHECK(out != NULL))
        return false;
    (void)fprintf(out,
                  "name: shop\ntools:\n  lookup:\n    type: command\n"
                  "    parameters: %s\n%s\n"
                  "agents:\n  desk: {model: openai/none, tools: [lookup]}\n",
                  setup->parameters ? setup->parameters : "{type: object}",
                  setup->options ? setup->options : "    argv: [./tool]");
    (void)fclose(out);
    bool ok = folder_write(folder, "team.yaml", team, path);
    free(team);
    out = open_memstream(&team, &team_len);
    if (!ok || !CHECK(out != NULL))
        return false;
    (void)fputs("agents:\n  desk:\n    - tool_calls:\n", out);
    for (int i = 0; i < (setup->n_calls > 0 ? setup->n_calls : 1); i++)
        (void)fprintf(out, "        - {id: c%d, name: lookup, arguments: %s}\n", i,
                      setup->arguments ? setup->arguments : "{}");
    (void)fputs("    - {text: done}\n", out);
    (void)fclose(out);
    ok = folder_write(folder, "script.yaml", team, path);
    free(team);
    if (!ok || !setup->program)
        return ok;
    return folder_write(folder, "tool", setup->program, path) &&
           CHECK(chmod(path, setup->is_not_executable ? 0644 : 0755) == 0);
}

static void on_event(command_tool_ran *ran, const cadre_event *event)
{
    size_t used = strlen(ran->progress);
    if (event->type == CADRE_EVENT_TOOL_PROGRESS) {
        (void)snprintf(ran->progress + used, sizeof(ran->progress) - used, "%s|",
                       event->u.tool_progress.text);
    } else if (event->type == CADRE_EVENT_TOOL_RESULT &&
               CHECK(ran->n_results < COMMAND_TOOL_MAX_CALLS)) {
        ran->results[ran->n_results] = strdup(event->u.tool_result.result);
        ran->codes[ran->n_results++] = event->u.tool_result.code;
    }
}

static void read_events(cadre_run *run, const command_tool_setup *setup,
                        command_tool_ran *ran)
{
    const cadre_event *event = NULL;
    const char *word = setup->cancel_on;
    int64_t cancelled_at = 0;
    while (cadre_run_next(run, &event, NULL) == CADRE_OK) {
        on_event(ran, event);
        if (word && cancelled_at == 0 && event->type == CADRE_EVENT_TOOL_PROGRESS &&
            strncmp(event->u.tool_progress.text, word, strlen(word)) == 0) {
            cancelled_at = now_ms();
            cadre_run_cancel(run, "the test says so");
        }
    }
    ran->stop_ms = now_ms() - cancelled_at;
    CHECK(!word || cancelled_at != 0);
}

static bool run_team(const test_folder *folder, const command_tool_setup *setup,
                     command_tool_ran *ran, cadre_error *err)
{
    char team_path[FOLDER_PATH_SIZE];
    char script_path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    cadre_run *run = NULL;
    (void)snprintf(team_path, sizeof(team_path), "%s/team.yaml", folder->path);
    (void)snprintf(script_path, sizeof(script_path), "%s/script.yaml", folder->path);
    cadre_status status =
        cadre_runtime_open(CADRE_RUNTIME(.script = script_path), &runtime, err);
    if (status == CADRE_OK)
        status = cadre_team_load(runtime, team_path, &team, err);
    if (status == CADRE_OK)
        status = cadre_run_start(team, CADRE_RUN(.input = "hello"), &run, err);
    if (status == CADRE_OK)
        read_events(run, setup, ran);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return status == CADRE_OK;
}

void command_tool_fini(command_tool_ran *ran)
{
    for (int i = 0; i < ran->n_results; i++)
        free(ran->results[i]);
}

bool command_tool_try(const command_tool_setup *setup, command_tool_ran *ran,
                      cadre_error *err)
{
    test_folder folder;
    *ran = (command_tool_ran){.n_results = 0};
    int n_before = count_descriptors();
    if (!CHECK(folder_make(&folder)))
        return false;
    (void)snprintf(ran->folder, sizeof(ran->folder), "%s", folder.path);
    int64_t started = now_ms();
    bool ok = write_files(&folder, setup) && run_team(&folder, setup, ran, err);
    ran->duration_ms = now_ms() - started;
    folder_remove(&folder);
    CHECK_INT(count_descriptors(), n_before);
    if (ok && CHECK_INT(ran->n_results, setup->n_calls > 0 ? setup->n_calls : 1))
        return true;
    command_tool_fini(ran);
    return false;
}

void command_tool_check_no_child(void)
{
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

bool command_tool_run(const command_tool_setup *setup, command_tool_ran *ran)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (command_tool_try(setup, ran, &err))
        return true;
    CHECK_OK(err.status, &err);
    return false;
}

void command_tool_await_orphans(void)
{
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    CHECK_INT(errno, ECHILD);
}

void command_tool_check(const command_tool_setup *setup, cadre_result_code code,
                        const char *result)
{
    command_tool_ran ran;
    if (!command_tool_run(setup, &ran))
        return;
    CHECK_INT(ran.codes[0], code);
    CHECK_TEXT(ran.results[0], result);
    command_tool_check_no_child();
    command_tool_fini(&ran);
}

bool command_tool_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}
