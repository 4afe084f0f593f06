// See shelf.h.
#include "shelf.h"

#include <stdlib.h>
#include <string.h>

// The low bits of a tag count up with ids: neighbours stand on different shelves.
static unsigned shelf_of_tag(uint32_t tag)
{
    return (tag ^ tag >> 16) % CDR_MEMORY_SHELVES;
}

unsigned cdr_memory_shelf_number(cadre_id trace)
{
    return shelf_of_tag(cdr_memory_tag_of_id(trace));
}

cdr_memory_trace_shelf *cdr_memory_shelf_of_trace(cdr_memory_store *store, cadre_id id)
{
    return &store->traces[cdr_memory_shelf_number(id)];
}

unsigned cdr_memory_shelf_of_id(cadre_id conversation)
{
    return shelf_of_tag(cdr_memory_tag_of_id(conversation));
}

uint32_t cdr_memory_tag_of_name(const char *session)
{
    return cdr_memory_tag_of_key((cadre_id){0, 0}, session);
}

unsigned cdr_memory_shelf_of_name(const char *session)
{
    return shelf_of_tag(cdr_memory_tag_of_name(session));
}

cdr_memory_trace *cdr_memory_find_trace_locked(const cdr_memory_trace_shelf *shelf,
                                               cadre_id id, uint32_t *number)
{
    uint32_t tag = cdr_memory_tag_of_id(id);
    uint32_t at = tag;
    while ((*number = cdr_memory_index_next(&shelf->traces.index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_trace *trace = shelf->traces.rows[*number];
        if (cadre_id_equal(trace->id, id))
            return trace;
    }
    return NULL;
}

cdr_memory_conversation *
cdr_memory_find_conversation_locked(const cdr_memory_table *table, cadre_id id)
{
    uint32_t tag = cdr_memory_tag_of_id(id);
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&table->index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_conversation *conversation = table->rows[number];
        if (cadre_id_equal(conversation->row.id, id))
            return conversation;
    }
    return NULL;
}

cdr_memory_conversation *
cdr_memory_find_name_locked(const cdr_memory_session_shelf *shelf, const char *session)
{
    uint32_t tag = cdr_memory_tag_of_name(session);
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&shelf->names.index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_conversation *conversation = shelf->names.rows[number];
        if (strcmp(conversation->session, session) == 0)
            return conversation;
    }
    return NULL;
}

void cdr_memory_trace_free(cdr_memory_trace *trace)
{
    for (uint32_t i = 0; i < trace->conversations.n_rows; i++)
        cdr_memory_conversation_free(trace->conversations.rows[i]);
    cdr_memory_table_fini(&trace->conversations);
    cdr_memory_table_fini(&trace->frames);
    cdr_memory_index_fini(&trace->keys);
    cdr_memory_region_fini(&trace->region);
    free(trace->lease_owner);
    free(trace);
}

void cdr_memory_store_init(cdr_memory_store *store)
{
    memset(store, 0, sizeof(*store));
    pthread_mutex_init(&store->readers_mu, NULL);
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES; i++) {
        pthread_mutex_init(&store->traces[i].mu, NULL);
        pthread_mutex_init(&store->sessions[i].mu, NULL);
    }
}

void cdr_memory_store_fini(cdr_memory_store *store)
{
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES; i++) {
        cdr_memory_trace_shelf *traces = &store->traces[i];
        for (uint32_t k = 0; k < traces->traces.n_rows; k++)
            cdr_memory_trace_free(traces->traces.rows[k]);
        cdr_memory_table_fini(&traces->traces);
        pthread_mutex_destroy(&traces->mu);
        cdr_memory_session_shelf *sessions = &store->sessions[i];
        for (uint32_t k = 0; k < sessions->conversations.n_rows; k++)
            cdr_memory_conversation_free(sessions->conversations.rows[k]);
        cdr_memory_table_fini(&sessions->conversations);
        cdr_memory_table_fini(&sessions->names);
        pthread_mutex_destroy(&sessions->mu);
    }
    pthread_mutex_destroy(&store->readers_mu);
}

static void free_graves(cdr_memory_trace *graves)
{
    while (graves) {
        cdr_memory_trace *next = graves->next_grave;
        cdr_memory_trace_free(graves);
        graves = next;
    }
}

void cdr_memory_reader_enter(cdr_memory_store *store)
{
    pthread_mutex_lock(&store->readers_mu);
    store->n_readers++;
    pthread_mutex_unlock(&store->readers_mu);
}

void cdr_memory_reader_leave(cdr_memory_store *store)
{
    cdr_memory_trace *graves = NULL;
    pthread_mutex_lock(&store->readers_mu);
    if (--store->n_readers == 0) {
        graves = store->graves;
        store->graves = NULL;
    }
    pthread_mutex_unlock(&store->readers_mu);
    free_graves(graves);
}

void cdr_memory_bury(cdr_memory_store *store, cdr_memory_trace *trace)
{
    bool is_looked_at;
    pthread_mutex_lock(&store->readers_mu);
    is_looked_at = store->n_readers > 0;
    if (is_looked_at) {
        trace->next_grave = store->graves;
        store->graves = trace;
    }
    pthread_mutex_unlock(&store->readers_mu);
    if (!is_looked_at)
        cdr_memory_trace_free(trace);
}
