// The last line on stderr: how a run ended and what it took.
//
//   completed, 3 agents, 3 model calls, 2 tool calls (1 failed), 2 retries, ...
//
// Thread: one thread.
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "json_output.h"

#include <cadre/record.h>
#include <stdio.h>

// `n_retries`: model calls that were tried again.
void cli_summary_print(FILE *stream, const cadre_result *result, cli_frames frames,
                       int64_t n_retries);

// The same of a record: what is not kept (retries, offline) is not told.
void cli_summary_print_record(FILE *stream, const cadre_record_info *info,
                              cli_frames frames);

#endif
