// See batch.h.
#include "batch.h"

#include "facts.h"

#include <string.h>
#include <time.h>

// How long the lease of a new trace lasts when nobody renews it.
#define FIRST_LEASE_MS 60000

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

cadre_status cdr_sqlite_batch_prepare(cdr_sqlite_connection *writer, cadre_error *err)
{
    return cdr_sqlite_connection_exec(
        writer,
        "CREATE TEMP TABLE refused (trace_id TEXT, id TEXT,"
        " PRIMARY KEY (trace_id, id)) WITHOUT ROWID, STRICT;"
        "CREATE TEMP TABLE skipped (conversation_id TEXT PRIMARY KEY, trace_id TEXT,"
        " next_position INTEGER) WITHOUT ROWID, STRICT;",
        err);
}

// Says why no trace of that id and epoch is there.
static cadre_status fail_enter(cdr_sqlite_connection *writer, cadre_id trace,
                               cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, writer, CDR_SQLITE_FIND_TRACE);
    cdr_sqlite_call_id(&call, trace);
    cadre_id_text(trace, id);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    if (status == CADRE_OK) {
        const char *owner = cdr_sqlite_take_text(&call);
        status =
            cadre_fail(err, CADRE_ELOST, "trace '%s': the lease was taken by '%.100s'",
                       id, owner[0] ? owner : "nobody who still has it");
    } else if (status == CADRE_DONE) {
        status = cadre_fail(err, CADRE_ESTORE, "trace '%s' is not known", id);
    }
    cdr_sqlite_call_end(&call);
    return status;
}

// The lease check, first of all statements of a batch.
static cadre_status enter(cdr_sqlite_connection *writer, const cadre_commit *commit,
                          cadre_error *err)
{
    int n_changed = 0;
    cdr_sqlite_call call;
    for (size_t i = 0; i < commit->n_facts; i++) {
        if (commit->facts[i].type == CADRE_FACT_TRACE)
            return CADRE_OK; // it makes the lease
    }
    cdr_sqlite_call_begin(&call, writer, CDR_SQLITE_ENTER);
    cdr_sqlite_call_number(&call, commit->last_seq);
    cdr_sqlite_call_id(&call, commit->trace);
    cdr_sqlite_call_number(&call, commit->epoch);
    cadre_status status = cdr_sqlite_call_run(&call, &n_changed, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    return fail_enter(writer, commit->trace, err);
}

static cadre_status add_trace(const cdr_sqlite_batch *b, const cadre_commit *commit,
                              const cadre_trace_row *row, cadre_error *err)
{
    const char *owner = text_of(commit->owner);
    cdr_sqlite_call call;
    if (cadre_id_is_none(row->id) || !cadre_id_equal(row->id, commit->trace))
        return cdr_sqlite_fail_id(err, row->id, "trace",
                                  "is written in a batch of another trace");
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_ADD_TRACE);
    cdr_sqlite_call_id(&call, row->id);
    cdr_sqlite_call_id(&call, row->spawned_by);
    cdr_sqlite_call_text(&call, row->team);
    cdr_sqlite_call_text(&call, row->shape_digest);
    cdr_sqlite_call_text(&call, row->text_digest);
    cdr_sqlite_call_text(&call, row->options);
    cdr_sqlite_call_number(&call, commit->last_seq);
    cdr_sqlite_call_text(&call, owner);
    cdr_sqlite_call_number(&call, commit->epoch);
    cdr_sqlite_call_number(&call, owner[0] ? b->now_ms + FIRST_LEASE_MS : 0);
    cdr_sqlite_call_number(&call, b->now_ms);
    int n_changed = 0;
    cadre_status status = cdr_sqlite_call_try(&call, &n_changed, err);
    if (status == CADRE_ESTORE || n_changed > 0)
        return status;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->id, id);
    if (status == CADRE_OK)
        return cadre_fail(err, CADRE_EREFUSED,
                          "trace '%s': what spawned it has ended, or must", id);
    return cadre_fail(err, CADRE_ESTORE, "trace '%s': cannot be born: %.120s (code %d)",
                      id, sqlite3_errmsg(b->connection->db),
                      sqlite3_extended_errcode(b->connection->db));
}

static cadre_status apply(cdr_sqlite_batch *b, const cadre_commit *commit,
                          cadre_fact *fact, cadre_error *err)
{
    fact->refused = false;
    switch (fact->type) {
    case CADRE_FACT_CONVERSATION:
        return cdr_sqlite_add_conversation(b, fact, err);
    case CADRE_FACT_TRACE:
        return add_trace(b, commit, &fact->u.trace, err);
    case CADRE_FACT_FRAME:
        return cdr_sqlite_add_frame(b, fact, err);
    case CADRE_FACT_RUNNING:
        return cdr_sqlite_run_frame(b, fact, err);
    case CADRE_FACT_MARK:
        return cdr_sqlite_mark_frames(b, fact, err);
    case CADRE_FACT_END:
        return cdr_sqlite_end_frame(b, fact, err);
    case CADRE_FACT_MESSAGE:
        return cdr_sqlite_add_message(b, fact, err);
    }
    return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': unknown type of fact %d",
                      (int)fact->type);
}

cadre_status cdr_sqlite_batch_commit(cdr_sqlite_connection *writer,
                                     cadre_commit *commit, bool *has_refused,
                                     cadre_error *err)
{
    cdr_sqlite_batch b = {.connection = writer,
                          .trace = commit->trace,
                          .now_ms = now_ms(),
                          .has_refused = *has_refused};
    cadre_status status = enter(writer, commit, err);
    for (size_t i = 0; i < commit->n_facts && status == CADRE_OK; i++)
        status = apply(&b, commit, &commit->facts[i], err);
    if (status == CADRE_OK)
        *has_refused = b.has_refused;
    return status;
}

cadre_status cdr_sqlite_batch_post(cdr_sqlite_connection *writer, cadre_fact *facts,
                                   size_t n_facts, cadre_error *err)
{
    cdr_sqlite_batch b = {.connection = writer, .now_ms = now_ms()};
    for (size_t i = 0; i < n_facts; i++) {
        cadre_fact *fact = &facts[i];
        cadre_status status;
        fact->refused = false;
        if (fact->type == CADRE_FACT_MARK)
            status = cdr_sqlite_mark_frames(&b, fact, err);
        else if (fact->type == CADRE_FACT_MESSAGE &&
                 fact->u.message.message.position < 0)
            status = cdr_sqlite_add_message(&b, fact, err);
        else
            status = cadre_fail(err, CADRE_ESTORE,
                                "only marks and messages for an inbox are written "
                                "without a lease");
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

// What stands in the trace's row.
typedef struct held_lease {
    char owner[256];
    int64_t epoch, expires_at;
} held_lease;

static cadre_status read_lease(cdr_sqlite_connection *writer, cadre_id trace,
                               held_lease *held, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, writer, CDR_SQLITE_READ_LEASE);
    cdr_sqlite_call_id(&call, trace);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    if (status == CADRE_OK) {
        const char *owner = cdr_sqlite_take_text(&call);
        size_t len = strnlen(owner, sizeof(held->owner) - 1);
        memcpy(held->owner, owner, len);
        held->owner[len] = '\0';
        held->epoch = cdr_sqlite_take_number(&call);
        held->expires_at = cdr_sqlite_take_number(&call);
    }
    cdr_sqlite_call_end(&call);
    if (status != CADRE_DONE)
        return status;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace, id);
    return cadre_fail(err, CADRE_ENOTFOUND, "trace '%s' is not in the store", id);
}

static cadre_status write_lease(cdr_sqlite_connection *writer, cadre_id trace,
                                const held_lease *lease, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, writer, CDR_SQLITE_WRITE_LEASE);
    cdr_sqlite_call_id(&call, trace);
    cdr_sqlite_call_text(&call, lease->owner);
    cdr_sqlite_call_number(&call, lease->epoch);
    cdr_sqlite_call_number(&call, lease->expires_at);
    return cdr_sqlite_call_run(&call, NULL, err);
}

cadre_status cdr_sqlite_batch_lease(cdr_sqlite_connection *writer,
                                    const cadre_lease *wanted, int64_t *epoch,
                                    cadre_error *err)
{
    held_lease held = {.owner = ""};
    int64_t now = now_ms();
    size_t len = strlen(text_of(wanted->owner));
    if (len == 0 || len >= sizeof(held.owner))
        return cadre_fail(err, CADRE_EINVAL,
                          "a lease needs an owner of 1 to %zu bytes, not %zu",
                          sizeof(held.owner) - 1, len);
    cadre_status status = read_lease(writer, wanted->trace, &held, err);
    if (status != CADRE_OK)
        return status;
    bool is_own = strcmp(held.owner, wanted->owner) == 0;
    bool is_free = !held.owner[0] || held.expires_at <= now;
    bool gives_back = wanted->seconds <= 0;
    bool is_gone = wanted->from && strcmp(held.owner, wanted->from) == 0;
    if (!is_own && wanted->only_renew) {
        char id[CADRE_ID_TEXT_SIZE];
        cadre_id_text(wanted->trace, id);
        return cadre_fail(err, CADRE_ELOST, "trace '%s': the lease is not held", id);
    }
    if (!is_own && !(is_free || (is_gone && !gives_back))) {
        char id[CADRE_ID_TEXT_SIZE];
        cadre_id_text(wanted->trace, id);
        return cadre_fail(err, CADRE_EBUSY,
                          "trace '%s' is held by '%.100s' for %lld ms more", id,
                          held.owner, (long long)(held.expires_at - now));
    }
    if (gives_back && !is_own) {
        *epoch = held.epoch; // nobody's any more: nothing to give back
        return CADRE_OK;
    }
    if (!is_own)
        held.epoch++;
    memcpy(held.owner, wanted->owner, gives_back ? 0 : len + 1);
    if (gives_back)
        held.owner[0] = '\0';
    held.expires_at = gives_back ? 0 : now + (int64_t)wanted->seconds * 1000;
    status = write_lease(writer, wanted->trace, &held, err);
    if (status == CADRE_OK)
        *epoch = held.epoch;
    return status;
}

cadre_status cdr_sqlite_batch_forget(cdr_sqlite_connection *writer, cadre_id trace,
                                     cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, writer, CDR_SQLITE_FORGET_REFUSED);
    cdr_sqlite_call_id(&call, trace);
    cadre_status status = cdr_sqlite_call_run(&call, NULL, err);
    if (status != CADRE_OK)
        return status;
    cdr_sqlite_call_begin(&call, writer, CDR_SQLITE_FORGET_SKIPPED);
    cdr_sqlite_call_id(&call, trace);
    return cdr_sqlite_call_run(&call, NULL, err);
}
