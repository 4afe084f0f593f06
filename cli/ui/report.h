// What goes wrong, told on stderr: one line each, safe for terminals.
//
// Thread: any.
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "command.h"

#include <cadre/runtime.h>
#include <cadre/team.h>

// "cadre: TEXT".
void cli_report(const char *format, ...) CADRE_PRINTF(1, 2);

// TEXT alone: something that is worth a line and no failure.
void cli_report_note(const char *format, ...) CADRE_PRINTF(1, 2);

// cli_report for a mistake on the command line, with where to read on. NULL command:
// the program's own. Returns CLI_EXIT_USAGE.
int cli_report_usage(const cadre_command *command, const char *format, ...)
    CADRE_PRINTF(2, 3);

// All mistakes of a team, a line each, and how many there are in which file; without
// any, the error alone. A mistake with a place begins with that, all else with
// "cadre: ". `team` may be NULL.
void cli_report_problems(const cadre_team *team, const cadre_error *err);

// What is worth a look in a sound team, a line each.
void cli_report_notes(const cadre_team *team);

// What a failure before or beside a run makes the program exit with.
int cli_exit_of_error(const cadre_error *err);

// What a run that ended so, or is parked, makes it exit with.
int cli_exit_of_run(cadre_frame_status status, cadre_stop_reason reason,
                    cadre_error_class error_class);

#endif
