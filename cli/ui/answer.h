// The answer on stdout: as it comes when stdout is a terminal, else at the end.
//
// On a terminal each message of the root's conversation is shown while a model writes
// it; one that turns out to be no answer (tools were called, the attempt failed) keeps
// its lines. When another agent than the one before speaks, its name stands above what
// it says. Thread: one thread.
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "output.h"
#include "terminal.h"

#include <cadre/event.h>

typedef struct cli_answer {
    cli_output *output;
    const cli_terminal *terminal; // that stdout is, or is not
    char *speaker;                // of what was shown last; NULL: nobody has spoken
    char *shown;                  // the message shown last, as far as it came
    size_t len, room;
    bool is_open; // its line has not ended
} cli_answer;

// Both must outlive it.
void cli_answer_init(cli_answer *answer, cli_output *output,
                     const cli_terminal *terminal);
void cli_answer_fini(cli_answer *answer);

// Says who speaks from here, if that is another than before.
void cli_answer_set_speaker(cli_answer *answer, const char *name);

// Shows a piece of a message.
void cli_answer_add(cli_answer *answer, const char *text, size_t len);

// Ends the line that a message left open.
void cli_answer_end_line(cli_answer *answer);

// What was shown of the last message is void: it will come again, or was no answer.
void cli_answer_forget(cli_answer *answer);

// Shows the final answer, unless it is what was shown last. On a terminal so that it
// obeys none of it; else its exact bytes.
void cli_answer_finish(cli_answer *answer, const char *speaker, const char *text);

#endif
