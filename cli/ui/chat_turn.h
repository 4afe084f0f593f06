// A turn of a conversation: the run that a line makes, what that asks a person, and a
// turn that is open from before.
//
// Thread: one thread.
#ifndef CLI_CHAT_TURN_H
#define CLI_CHAT_TURN_H

#include "output.h"
#include "prompt.h"
#include "request.h"
#include "session.h"
#include "terminal.h"

#define CLI_CHAT_TRACE_SIZE 64

typedef struct cli_chat {
    const cli_arguments *arguments;
    cli_request request;
    cli_prompt prompt;
    cli_output output;
    cli_terminal err;                 // stderr
    char name[CLI_SESSION_NAME_SIZE]; // of a new session
    char last[CLI_CHAT_TRACE_SIZE];   // the trace of the last turn; "": none
    int exit_status;                  // of the last turn
    bool is_over;
    bool is_left; // at the prompt, by who sits there
} cli_chat;

void cli_chat_set_last(cli_chat *chat, const char *trace);

// What was said is no text. True: it ends the conversation.
bool cli_chat_take_end(cli_chat *chat, cli_said said);

// Says a line to the team, with the files that were named before. What the run asks is
// asked at the prompt, and the run goes on, until it has ended or is left open.
void cli_chat_say(cli_chat *chat, const char *text);

// Tells of a last turn that has not ended, and goes on with it if who sits there wants.
void cli_chat_offer_open(cli_chat *chat, const cli_session *session);

// False: told on stderr. To be freed in both cases.
bool cli_chat_read_session(const cli_chat *chat, cli_session *session);

#endif
