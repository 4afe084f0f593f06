// The answer on stdout: as it comes when stdout is a terminal, else at the end.
//
// On a terminal each message of the root's conversation is shown while a model writes
// it; one that turns out to be no answer (tools were called, the attempt failed) keeps
// its lines. Thread: one thread.
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "output.h"

#include <cadre/event.h>

typedef struct cli_answer {
    cli_output *output;
    char *shown; // the message shown last, as far as it came
    size_t len, room;
    bool is_open; // its line has not ended
} cli_answer;

void cli_answer_init(cli_answer *answer, cli_output *output);
void cli_answer_fini(cli_answer *answer);

// Shows a piece of a message.
void cli_answer_add(cli_answer *answer, const char *text, size_t len);

// Ends the line that a message left open.
void cli_answer_end_line(cli_answer *answer);

// What was shown of the last message is void: it will come again, or was no answer.
void cli_answer_forget(cli_answer *answer);

// Shows the final answer, unless it is what was shown last. `is_safe`: so that a
// terminal obeys none of it; else its exact bytes.
void cli_answer_finish(cli_answer *answer, const char *text, bool is_safe);

#endif
