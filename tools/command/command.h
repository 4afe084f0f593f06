// The tool type `command`, inside: what its files share.
//
// Thread: a cdr_command never changes after init, any thread may run it; the rest
// belongs to the one thread that runs the tool.
#ifndef COMMAND_H
#define COMMAND_H

#include "cadre/ext/tool.h"

#include <stdint.h>
#include <sys/types.h>

#define CDR_COMMAND_TAIL_BYTES 2048
#define CDR_COMMAND_LINE_BYTES 4096

typedef struct cdr_command {
    const char *name;    // the tool's; lives as long as the team
    const char *program; // argv[0] from its last slash on, for messages
    char **argv;         // NULL at the end
    char **environment;  // "NAME=VALUE"; NULL at the end
    size_t n_environment;
    char *directory; // absolute: a program may change its own
    int64_t grace_ms;
    size_t max_output;
} cdr_command;

// A running program and this side's ends of its pipes; a descriptor is -1 once closed.
typedef struct cdr_command_process {
    pid_t pid; // also the id of its group
    int pidfd; // readable when it has ended
    int in, out, err;
} cdr_command_process;

// What a program wrote to stdout: the first `max` bytes, and how many there were.
typedef struct cdr_command_output {
    char *data;
    size_t len, capacity, max;
    size_t total;
    bool failed; // there was no memory
} cdr_command_output;

// What a program wrote to stderr: the line that is not at its end yet, and the last
// bytes. Whole lines are shown as progress while `frame` is not NULL.
typedef struct cdr_command_log {
    cadre_frame *frame;
    char line[CDR_COMMAND_LINE_BYTES];
    size_t line_len;
    char tail[2 * CDR_COMMAND_TAIL_BYTES];
    size_t tail_len;
} cdr_command_log;

// What is said, of a program, when is_known is false.
#define CDR_COMMAND_LOST                                                               \
    "the exit status of %.64s was lost: the host program ignores SIGCHLD, or waits "   \
    "for children of others"

// How a program ended.
typedef struct cdr_command_end {
    int wait_status; // as waitpid gives it
    bool is_known;   // false: the program that hosts us took it
    bool was_stopped;
} cdr_command_end;

// Refuses a program outside the folder of the team file.
cadre_status cdr_command_check_path(const cdr_command *command, cadre_error *err);

// Can the program be run as things are now? Else why not, as errno has it; 0: it can.
int cdr_command_find(const cdr_command *command);

// Starts the program, in a group and session of its own. Errors: EIO naming program,
// folder and cause. What it writes with `frame` lives in the frame's arena.
cadre_status cdr_command_start(const cdr_command *command, cadre_frame *frame,
                               cdr_command_process *out, cadre_error *err);

// Sends a signal to the whole group. Only before _reap: until then no other group can
// get its id.
void cdr_command_signal(const cdr_command_process *process, int signal);

// Closes the descriptors, waits for the program and takes its status. False: somebody
// else took it.
bool cdr_command_reap(cdr_command_process *process, int *wait_status);

// Feeds `input` to a started program and gathers what it writes until it ends, or the
// frame must stop; then no process of its group is left, and it is reaped.
// `cancel_fd` is the frame's.
typedef struct cdr_command_exchange {
    cadre_frame *frame;
    int cancel_fd;
    int64_t grace_ms;
    const char *input;
    size_t input_len;
    cdr_command_output *output;
    cdr_command_log *log;
} cdr_command_exchange;

cdr_command_end cdr_command_run(cdr_command_process *process,
                                const cdr_command_exchange *exchange);

void cdr_command_output_add(cdr_command_output *output, const char *data, size_t len);
void cdr_command_output_fini(cdr_command_output *output);

void cdr_command_log_add(cdr_command_log *log, const char *data, size_t len);
void cdr_command_log_end(cdr_command_log *log); // the last line may lack its end

// Gives the output as text of at most `max` bytes; when it was cut it says so. The line
// end at its end is left out. free() it; NULL: no memory.
char *cdr_command_output_text(const cdr_command_output *output);

// Gives the end of a text, at most CDR_COMMAND_TAIL_BYTES, from a line's start if there
// is one, with '?' for control characters. free() it; NULL: no memory.
char *cdr_command_tail_text(const char *data, size_t len);

#endif
