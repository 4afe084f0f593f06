// Where the program records runs: --store, else $CADRE_STORE, else a file of its own
// below $XDG_STATE_HOME, else below ~/.local/state.
//
// Thread: one thread.
#ifndef CLI_STORE_H
#define CLI_STORE_H

#include "options.h"

#include <cadre/runtime.h>

// How a store is named, for tables of options.
#define CLI_STORE_OPTION "memory, or a file: PATH or sqlite:PATH"

typedef struct cli_store {
    char *url;       // as the library reads it; NULL: nobody says where
    char *file;      // that it keeps; NULL: none
    bool is_default; // its folders are made when they are missing
} cli_store;

// Finds out where; opens nothing. False: no memory, told on stderr. The options of the
// command have "store".
bool cli_store_init(cli_store *store, const cli_arguments *arguments);
void cli_store_fini(cli_store *store);

// Is there something to open, for who makes no new store? Errors: ESTORE, where not.
cadre_status cli_store_find(const cli_store *store, cadre_error *err);

// Opens a runtime with this store and all else as in `config`. Errors: as of
// cadre_runtime_open; an ESTORE says what can be done without the store.
cadre_status cli_store_open(const cli_store *store, const cadre_runtime_config *config,
                            cadre_runtime **out, cadre_error *err);

// The same for a command that reads what is there already: makes no new store. Returns
// CLI_EXIT_OK, or a failure told on stderr.
int cli_store_open_existing(const cli_store *store, cadre_runtime **out);

#endif
