// What the store knows of a session: the runs that are its turns.
//
// Thread: one thread.
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <cadre/record.h>

typedef enum cli_session_state {
    CLI_SESSION_READY,   // its next turn can begin
    CLI_SESSION_WAITS,   // its last turn waits for an answer
    CLI_SESSION_CUT,     // its last turn was cut
    CLI_SESSION_AT_WORK, // its last turn goes on elsewhere
} cli_session_state;

typedef struct cli_session {
    size_t n_turns;
    char *last; // the trace of its last turn; NULL: it has none
    cli_session_state state;
    bool is_offline; // the last turn
} cli_session;

// Errors: as of cadre_record_list. Free it in both cases.
cadre_status cli_session_read(cadre_runtime *runtime, const char *name,
                              cli_session *session, cadre_error *err);
void cli_session_fini(cli_session *session);

// Makes a name that no session has: "chat-", and eight letters and digits.
#define CLI_SESSION_NAME_SIZE 16
void cli_session_make_name(char name[CLI_SESSION_NAME_SIZE]);

#endif
