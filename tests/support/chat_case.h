// cadre chat in a terminal or over pipes, with a folder for what it keeps.
//
// Thread: any of the running test; one at a time.
#ifndef CHAT_CASE_H
#define CHAT_CASE_H

#include "support/folder.h"
#include "support/program.h"

// The words of `cadre chat chat.yaml --offline ...`.
#define CHAT_WORDS(...)                                                                \
    (const char *const[])                                                              \
    {                                                                                  \
        "chat", "chat.yaml", "--offline", __VA_ARGS__, NULL                            \
    }

#define CHAT_ASKING "--script=chat_ask_script.yaml"

// What is typed once a text has come behind what came before.
typedef struct chat_step {
    const char *when, *types;
    int signal, columns;
} chat_step;

// Of the running test: its folder, and what the program is run with.
extern test_folder chat_folder;
extern char chat_state_home[FOLDER_PATH_SIZE], chat_store[FOLDER_PATH_SIZE];
extern char chat_directory[4096]; // of the team

bool chat_case_open(void);
void chat_case_close(void);

// Talks at a terminal, which is left as it was whatever happens; the steps end with
// {0}.
bool chat_talk(program_result *ran, const char *term, const char *const *arguments,
               const chat_step *steps);

#define CHAT_TALK(ran, term, arguments, ...)                                           \
    chat_talk(ran, term, arguments, (const chat_step[]){__VA_ARGS__, {0}})

// How often the text has this part.
size_t chat_count(const char *text, const char *part);

#endif
