#include "support/chat_case.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_STEPS = 12
};

test_folder chat_folder;
char chat_state_home[FOLDER_PATH_SIZE], chat_store[FOLDER_PATH_SIZE];
char chat_directory[4096];

static int remove_one(const char *path, const struct stat *found, int type,
                      struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

bool chat_case_open(void)
{
    if (!CHECK(folder_make(&chat_folder)))
        return false;
    snprintf(chat_state_home, sizeof(chat_state_home), "XDG_STATE_HOME=%s",
             chat_folder.path);
    snprintf(chat_store, sizeof(chat_store), "CADRE_STORE=%s/runs.db",
             chat_folder.path);
    program_source_path("tests/cli/teams", chat_directory, sizeof(chat_directory));
    return true;
}

void chat_case_close(void)
{
    nftw(chat_folder.path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

bool chat_talk(program_result *ran, const char *term, const char *const *arguments,
               const chat_step *steps)
{
    program_action actions[MAX_STEPS] = {0};

    for (size_t i = 0; steps[i].when; i++)
        actions[i] =
            (program_action){.when = steps[i].when,
                             .is_new = true,
                             .types = steps[i].types,
                             .signal = steps[i].signal,
                             .columns = steps[i].columns,
                             .then = steps[i + 1].when ? &actions[i + 1] : NULL};
    const char *const changes[] = {term,       "NO_COLOR=1", chat_state_home,
                                   chat_store, "HOME=/",     NULL};
    if (!PROGRAM_RUN(ran, .arguments = arguments, .directory = chat_directory,
                     .changes = changes, .terminal = PROGRAM_TERMINAL,
                     .action = actions[0], .timeout_ms = 5000))
        return false;
    CHECK(!ran->has_changed_terminal);
    program_strip_terminal(ran->err);
    return true;
}

size_t chat_count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}
