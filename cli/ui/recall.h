// What `cadre run` keeps with a run so that `cadre resume` needs to be told nothing:
// where the files are. Inputs, times and offline are kept by the library.
//
// Thread: one thread.
#ifndef CLI_RECALL_H
#define CLI_RECALL_H

#include <cadre/record.h>

// {team_file, script}, each as an absolute path; what is NULL, or no path that JSON can
// hold, is left out. New reference; NULL: no memory.
json_t *cli_recall_metadata(const char *team_path, const char *script);

// Borrowed from the metadata of a run; NULL: it does not say.
const char *cli_recall_team(const json_t *metadata);
const char *cli_recall_script(const json_t *metadata);

// Can the run be gone on with? CLI_EXIT_OK, or what the program exits with and why.
int cli_recall_check(const cadre_record_info *info, cadre_error *err);

// The runs of the store that were cut, and those that are parked with an answer that
// nobody has read, oldest first: their ids, ended by NULL. Free it with
// cli_recall_free. NULL with `err`: the store cannot be read, or no memory.
char **cli_recall_cut(cadre_runtime *runtime, cadre_error *err);
void cli_recall_free(char **ids); // NULL ok

#endif
