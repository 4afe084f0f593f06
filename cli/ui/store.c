// See store.h.
#include "store.h"

#include "report.h"
#include "state_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SQLITE "sqlite:"
#define SQLITE_LEN (sizeof(SQLITE) - 1)

// Is it a path and no name of a store? A path has a slash or a dot before any colon; a
// word without them is more likely a slip of the pen ("memroy") than a file.
static bool is_path(const char *text)
{
    size_t len = strcspn(text, ":");

    return strcspn(text, "/.") < len;
}

// The file of a sqlite url ends at its options.
static char *file_of(const char *url)
{
    const char *path = url + SQLITE_LEN;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash : path;

    return strndup(path, (size_t)(name - path) + strcspn(name, "?"));
}

static bool set_url(cli_store *store, const char *text)
{
    char *url = NULL;

    if (is_path(text) && asprintf(&url, SQLITE "%s", text) < 0)
        url = NULL;
    else if (!is_path(text))
        url = strdup(text);
    store->url = url;
    if (!url || strncmp(url, SQLITE, SQLITE_LEN) != 0)
        return url != NULL;
    store->file = file_of(url);
    return store->file != NULL;
}

static bool set_default(cli_store *store)
{
    char path[PATH_MAX];

    if (!cli_state_file("cadre.db", path, sizeof(path)))
        return true; // nobody says where: told when it is opened
    store->is_default = true;
    return set_url(store, path);
}

bool cli_store_init(cli_store *store, const cli_arguments *arguments)
{
    const char *text = cli_arguments_value(arguments, "store");

    *store = (cli_store){0};
    if (!text)
        text = cli_state_variable("CADRE_STORE");
    if (text ? set_url(store, text) : set_default(store))
        return true;
    cli_report("out of memory");
    return false;
}

void cli_store_fini(cli_store *store)
{
    free(store->url);
    free(store->file);
}

static cadre_status open_runtime(const cli_store *store,
                                 const cadre_runtime_config *config,
                                 cadre_runtime **out, cadre_error *err)
{
    cadre_runtime_config own = *config;
    cadre_status status = CADRE_OK;

    if (!store->url)
        return cadre_fail(err, CADRE_ESTORE,
                          "no file to record in: HOME is not set; name one by --store "
                          "or CADRE_STORE");
    if (store->is_default)
        status = cli_state_make_folders(store->file, err);
    own.store = store->url;
    return status == CADRE_OK ? cadre_runtime_open(&own, out, err) : status;
}

cadre_status cli_store_open(const cli_store *store, const cadre_runtime_config *config,
                            cadre_runtime **out, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = open_runtime(store, config, out, &why);

    if (status == CADRE_OK)
        return CADRE_OK;
    bool is_of_store = status == CADRE_ESTORE;
    return cadre_fail_class(err, status, why.error_class, why.retryable, "%s%s",
                            why.text,
                            is_of_store ? "; `--store memory` records in no file" : "");
}

// What is no name of a file is told better by the store.
static bool names_file(const cli_store *store)
{
    return store->file && *store->file && *store->file != ':';
}

cadre_status cli_store_find(const cli_store *store, cadre_error *err)
{
    if (!names_file(store) || access(store->file, F_OK) == 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_ESTORE, "%s: %s; no run is recorded there",
                      store->file, strerrordesc_np(errno));
}

int cli_store_open_existing(const cli_store *store, cadre_runtime **out)
{
    cadre_error err = CADRE_ERROR_INIT;

    cadre_status status = cli_store_find(store, &err);
    if (status == CADRE_OK && store->url && strcmp(store->url, "memory") == 0)
        cli_report_note("the store '%s' ends with the program that fills it; name a "
                        "file by --store",
                        store->url);
    if (status == CADRE_OK)
        status = open_runtime(store, CADRE_RUNTIME(0), out, &err);
    if (status == CADRE_OK)
        return CLI_EXIT_OK;
    cli_report("%s", err.text);
    return cli_exit_of_error(&err);
}
