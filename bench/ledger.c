// ledger: the sqlite store, against SQLite alone.
#include "ledger.h"

#include "team/kinds.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ledger_folder_make(ledger_folder *folder)
{
    snprintf(folder->path, sizeof folder->path, "/var/tmp/cadre-bench-XXXXXX");
    if (mkdtemp(folder->path) == NULL) {
        fprintf(stderr, "cadre-bench: no folder in /var/tmp\n");
        exit(1);
    }
}

void ledger_folder_path(const ledger_folder *folder, const char *name,
                        char path[LEDGER_PATH_SIZE])
{
    snprintf(path, LEDGER_PATH_SIZE, "%s/%s", folder->path, name);
}

void ledger_folder_remove(ledger_folder *folder)
{
    char path[sizeof folder->path + 257];
    DIR *dir = opendir(folder->path);
    if (dir == NULL)
        return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(folder->path);
}

void ledger_open(ledger_store *store, const char *url)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_store_ops *const *at = cdr_kinds_stores;
    while (*at != NULL && strcmp((*at)->type, "sqlite") != 0)
        at++;
    if (*at == NULL)
        bench_must(cadre_fail(&err, CADRE_ENOTFOUND, "no sqlite store"), &err);
    store->ops = *at;
    store->state = calloc(1, store->ops->state_size);
    bench_must(store->ops->init(store->state, url, &err), &err);
}

void ledger_close(ledger_store *store)
{
    store->ops->fini(store->state);
    free(store->state);
}

void ledger_write(const ledger_store *store, cadre_id trace, cadre_fact *facts,
                  size_t n_facts)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_commit commit = {.trace = trace, .facts = facts, .n_facts = n_facts};
    bench_must(store->ops->commit(store->state, &commit, &err), &err);
}

ledger_trace ledger_begin(const ledger_store *store)
{
    ledger_trace trace = {cadre_id_new(), cadre_id_new(), cadre_id_new()};
    cadre_fact facts[3] = {
        {.type = CADRE_FACT_CONVERSATION},
        {.type = CADRE_FACT_TRACE},
        ledger_birth(&trace, trace.root, (cadre_id){0, 0}, "root"),
    };
    facts[0].u.conversation.id = trace.conversation;
    facts[1].u.trace =
        (cadre_trace_row){.id = trace.id, .team = "bench", .options = "{}"};
    ledger_write(store, trace.id, facts, 3);
    return trace;
}

cadre_fact ledger_birth(const ledger_trace *trace, cadre_id id, cadre_id parent,
                        const char *key)
{
    cadre_fact fact = {.type = CADRE_FACT_FRAME};
    fact.u.frame = (cadre_frame_row){.id = id,
                                     .parent = parent,
                                     .conversation = trace->conversation,
                                     .key = key,
                                     .kind = "agent",
                                     .name = "one",
                                     .referer = "agent",
                                     .status = CADRE_FRAME_RUNNING};
    return fact;
}

cadre_fact ledger_end(cadre_id id)
{
    cadre_fact fact = {.type = CADRE_FACT_END};
    fact.u.frame = (cadre_frame_row){
        .id = id, .status = CADRE_FRAME_COMPLETED, .stop_reason = CADRE_STOP_FINAL};
    return fact;
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {{"commits", ledger_commits},
             {"size", ledger_size},
             {"live", ledger_live},
             {"resume", ledger_resume}};

static int ledger_run(int argc, char **argv)
{
    int n_run = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (argc == 0 || strcmp(argv[0], parts[i].name) == 0) {
            parts[i].run();
            n_run++;
        }
    return n_run > 0 ? 0 : 2;
}

const bench bench_ledger = {"ledger", "the sqlite store; [commits|size|live|resume]",
                            ledger_run};
