#include "support/lab.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool make(lab *it)
{
    *it = (lab){.trace = ""};
    if (!CHECK(folder_make(&it->folder)))
        return false;
    snprintf(it->store, sizeof(it->store), "%s/runs.db", it->folder.path);
    snprintf(it->directory, sizeof(it->directory), "%s", it->folder.path);
    return true;
}

bool lab_make_in(lab *it, const char *directory)
{
    if (!make(it))
        return false;
    program_source_path(directory, it->directory, sizeof(it->directory));
    return true;
}

bool lab_make(lab *it, const char *team, const char *script)
{
    char path[FOLDER_PATH_SIZE];

    if (!make(it))
        return false;
    return folder_write(&it->folder, "team.yaml", team, path) &&
           folder_write(&it->folder, "script.yaml", script, path);
}

void lab_remove(lab *it)
{
    folder_remove(&it->folder);
}

// The trace id stands in the first line, or in that of the first event.
static void note_trace(lab *it, const program_result *ran)
{
    static const char event[] = "\"trace_id\":\"";
    const char *in_event = strstr(ran->out, event);

    if (strncmp(ran->err, "trace ", 6) == 0)
        snprintf(it->trace, sizeof(it->trace), "%.*s",
                 (int)strcspn(ran->err + 6, " \n"), ran->err + 6);
    else if (in_event)
        snprintf(it->trace, sizeof(it->trace), "%.*s",
                 (int)strcspn(in_event + sizeof(event) - 1, "\""),
                 in_event + sizeof(event) - 1);
}

bool lab_run(lab *it, const char *const *words, const program_action *action,
             program_result *ran)
{
    const char *arguments[LAB_MAX_WORDS + 3] = {words[0], "--store", it->store};
    program_config config = {.arguments = arguments,
                             .directory = it->directory,
                             .action = action ? *action : (program_action){0}};

    for (size_t i = 1; i < LAB_MAX_WORDS && words[i]; i++)
        arguments[2 + i] = words[i];
    if (!program_run(&config, ran))
        return false;
    note_trace(it, ran);
    return true;
}

void lab_check(lab *it, const char *const *words, int exit_status, const char *out,
               const char *err)
{
    program_result ran;

    if (!lab_run(it, words, NULL, &ran))
        return;
    CHECK_INT(ran.exit_status, exit_status);
    if (out)
        CHECK_TEXT(ran.out, out);
    CHECK_CONTAINS(ran.err, err);
    program_result_fini(&ran);
}

const char lab_slow_script[] =
    "agents:\n"
    "  triage:\n"
    "    - {handoff: {to: after_sales, message: \"wants it\"}}\n"
    "  after_sales:\n"
    "    - {text: \"Your label.\", delay: 10s}\n";

bool lab_make_cut(lab *it, const char *session)
{
    char script[FOLDER_PATH_SIZE];
    program_result ran;

    if (!lab_make_in(it, "tests/cli/teams") ||
        !folder_write(&it->folder, "script.yaml", lab_slow_script, script))
        return false;
    const program_action action = {
        .when = "\"agent\":\"after_sales\"", .is_on_stdout = true, .signal = SIGKILL};
    const char *const words[] = {"run",
                                 "desk.yaml",
                                 "Return",
                                 "--script",
                                 script,
                                 "--events",
                                 session ? "--session" : NULL,
                                 session,
                                 NULL};
    if (!lab_run(it, words, &action, &ran))
        return false;
    CHECK_INT(ran.signal, SIGKILL);
    program_result_fini(&ran);
    return true;
}

char *lab_read(const lab *it, const char *name)
{
    char path[FOLDER_PATH_SIZE];
    char *text = NULL;
    size_t size = 0;

    snprintf(path, sizeof(path), "%s/%s", it->folder.path, name);
    FILE *file = fopen(path, "r");
    if (file && getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

void lab_check_file(const lab *it, const char *name, const char *expected)
{
    char *text = lab_read(it, name);

    CHECK_TEXT(text ? text : "(there is no file)", expected);
    free(text);
}

void lab_write(const lab *it, const char *name, const char *text)
{
    char path[FOLDER_PATH_SIZE];

    CHECK(folder_write(&it->folder, name, text, path));
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(object, key));

    return found && strcmp(found, text) == 0;
}

void lab_frame(lab *it, const char *which, char id[32])
{
    program_result ran;
    size_t i = 0;
    const json_t *frame = NULL;

    id[0] = '\0';
    if (!LAB_RUN(it, &ran, "tree", it->trace, "--all", "--json"))
        return;
    json_t *tree = json_loads(ran.out, 0, NULL);
    json_array_foreach(json_object_get(tree, "frames"), i, frame)
    {
        if (!*id && (is_text(frame, "kind", which) || is_text(frame, "key", which)))
            snprintf(id, 32, "%s", json_string_value(json_object_get(frame, "id")));
    }
    CHECK(id[0] != '\0');
    json_decref(tree);
    program_result_fini(&ran);
}
