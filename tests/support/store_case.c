// See store_case.h.
#include "store_case.h"

#include "team/kinds.h"

#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

store_case tested;

// A store that takes a path gets one in a folder of its own.
static void store_open(store_case *s)
{
    CHECK_INT(s->ops->struct_size, sizeof(*s->ops));
    s->state = calloc(1, s->ops->state_size);
    snprintf(s->folder, sizeof(s->folder), "/tmp/cadre-store-XXXXXX");
    CHECK(s->state && mkdtemp(s->folder));
    char url[96];
    snprintf(url, sizeof(url), "%s/store.db", s->folder);
    cadre_status status = s->ops->init(s->state, url, NULL);
    if (status == CADRE_ECONFIG) {
        s->ops->fini(s->state);
        memset(s->state, 0, s->ops->state_size);
        status = s->ops->init(s->state, "", &s->err);
    }
    CHECK_OK(status, &s->err);
}

static void store_close(store_case *s)
{
    static const char *const files[] = {"", "-wal", "-shm", ".lock", "-journal"};
    s->ops->fini(s->state);
    free(s->state);
    for (size_t i = 0; i < N_OF(files); i++) {
        char path[96];
        snprintf(path, sizeof(path), "%s/store.db%s", s->folder, files[i]);
        unlink(path);
    }
    CHECK_INT(rmdir(s->folder), 0);
}

cadre_id store_id(uint64_t n)
{
    return n ? (cadre_id){.prefix = 77, .counter = n} : (cadre_id){0, 0};
}

cadre_fact fact_trace(uint64_t id)
{
    cadre_fact fact = {.type = CADRE_FACT_TRACE};
    fact.u.trace =
        (cadre_trace_row){.id = store_id(id), .team = "desk", .options = "{}"};
    return fact;
}

cadre_fact fact_conversation(uint64_t id, const char *session)
{
    cadre_fact fact = {.type = CADRE_FACT_CONVERSATION};
    fact.u.conversation =
        (cadre_conversation_row){.id = store_id(id), .session = session};
    return fact;
}

cadre_fact fact_frame(uint64_t id, uint64_t parent, const char *key)
{
    cadre_fact fact = {.type = CADRE_FACT_FRAME};
    fact.u.frame = (cadre_frame_row){.id = store_id(id),
                                     .parent = store_id(parent),
                                     .conversation = store_id(100),
                                     .key = key,
                                     .kind = "agent",
                                     .name = "alice",
                                     .referer = parent ? "agent" : "api",
                                     .status = CADRE_FRAME_RUNNING};
    return fact;
}

cadre_fact fact_running(uint64_t id, int attempts)
{
    cadre_fact fact = {.type = CADRE_FACT_RUNNING};
    fact.u.frame = (cadre_frame_row){
        .id = store_id(id), .status = CADRE_FRAME_RUNNING, .attempts = attempts};
    return fact;
}

cadre_fact fact_mark(uint64_t id, const char *reason)
{
    cadre_fact fact = {.type = CADRE_FACT_MARK};
    fact.u.frame = (cadre_frame_row){.id = store_id(id), .mark = reason};
    return fact;
}

cadre_fact fact_end(uint64_t id, const char *output)
{
    cadre_fact fact = {.type = CADRE_FACT_END};
    fact.u.frame = (cadre_frame_row){.id = store_id(id),
                                     .status = CADRE_FRAME_COMPLETED,
                                     .stop_reason = CADRE_STOP_FINAL,
                                     .output = output};
    return fact;
}

cadre_fact fact_added(cadre_fact frame, const char *delta)
{
    frame.u.frame.delta = delta;
    return frame;
}

cadre_fact fact_message(uint64_t in, uint64_t of, int64_t position, const char *text)
{
    cadre_fact fact = {.type = CADRE_FACT_MESSAGE};
    cadre_message_row *row = &fact.u.message;
    row->id = store_id(in * 1000000 + (uint64_t)position + 1);
    row->conversation = store_id(in);
    row->frame = store_id(of);
    row->message.text = text;
    row->message.position = position;
    return fact;
}

cadre_fact fact_in(cadre_fact frame, uint64_t conversation)
{
    frame.u.frame.conversation = store_id(conversation);
    return frame;
}

cadre_fact fact_owned(uint64_t id, uint64_t owner_conversation, uint64_t owner_frame)
{
    cadre_fact fact = fact_conversation(id, "");
    fact.u.conversation.owner_conversation = store_id(owner_conversation);
    fact.u.conversation.owner_frame = store_id(owner_frame);
    return fact;
}

cadre_fact fact_post(uint64_t id, uint64_t in, const char *text, const char *request)
{
    cadre_fact fact = {.type = CADRE_FACT_MESSAGE};
    cadre_message_row *row = &fact.u.message;
    row->id = store_id(id);
    row->conversation = store_id(in);
    row->message.text = text;
    row->message.position = -1;
    row->request_id = request;
    row->request_hash = request ? text : NULL;
    return fact;
}

cadre_status store_commit(store_case *s, uint64_t trace_id, cadre_fact *facts, size_t n)
{
    cadre_commit batch = {
        .trace = store_id(trace_id), .epoch = s->epoch, .facts = facts, .n_facts = n};
    cadre_error_clear(&s->err);
    return s->ops->commit(s->state, &batch, &s->err);
}

cadre_status store_post(store_case *s, cadre_fact *facts, size_t n)
{
    cadre_error_clear(&s->err);
    return s->ops->post(s->state, facts, n, &s->err);
}

bool store_refuses_post(store_case *s, cadre_fact fact)
{
    CHECK_OK(store_post(s, &fact, 1), &s->err);
    return fact.refused;
}

int64_t store_lease(store_case *s, const char *owner, int seconds, const char *from)
{
    const cadre_lease wanted = {
        .trace = store_id(1), .owner = owner, .seconds = seconds, .from = from};
    int64_t epoch = -1;
    cadre_error_clear(&s->err);
    cadre_status status = s->ops->lease(s->state, &wanted, &epoch, &s->err);
    CHECK_INT(status, s->err.status);
    return status == CADRE_OK ? epoch : -1;
}

void store_start(store_case *s)
{
    CHECK_COMMIT(s, 1, fact_conversation(100, ""), fact_trace(1),
                 fact_frame(1, 0, "root"));
}

static void note(store_case *s, const char *line)
{
    size_t len = strlen(s->seen);
    snprintf(s->seen + len, sizeof(s->seen) - len, "%s\n", line);
}

static cadre_status see_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    (void)err;
    char line[200];
    snprintf(line, sizeof(line), "%" PRIu64 "<%" PRIu64 " %s%s%s%s%s%s%s",
             row->id.counter, row->parent.counter, cadre_frame_status_name(row->status),
             row->mark[0] ? " marked " : "", row->mark, row->output[0] ? " = " : "",
             row->output, row->delta[0] ? " + " : "", row->delta);
    note(ctx, line);
    ((store_case *)ctx)->frame = *row;
    return CADRE_OK;
}

static cadre_status see_message(void *ctx, const cadre_message_row *row,
                                cadre_error *err)
{
    (void)err;
    char line[200];
    snprintf(line, sizeof(line), "%" PRId64 " %s", row->message.position,
             row->message.text);
    note(ctx, line);
    return CADRE_OK;
}

static cadre_status see_conversation(void *ctx, const cadre_conversation_row *row,
                                     cadre_error *err)
{
    store_case *s = ctx;
    (void)err;
    s->conversation = row->id.counter;
    return CADRE_OK;
}

static const cadre_store_reader frames_only = {.frame = see_frame};
const cadre_store_reader store_messages_only = {.message = see_message};

static const char *see(store_case *s, const cadre_query *query,
                       const cadre_store_reader *reader)
{
    s->seen[0] = '\0';
    cadre_error_clear(&s->err);
    cadre_store_reader own = *reader;
    own.ctx = s;
    CHECK_OK(s->ops->read(s->state, query, &own, &s->err), &s->err);
    return s->seen;
}

const char *store_read_trace(store_case *s, uint64_t id,
                             const cadre_store_reader *reader)
{
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(id)};
    return see(s, &query, reader);
}

const char *store_frames(store_case *s, uint64_t id)
{
    return store_read_trace(s, id, &frames_only);
}

const char *store_live(store_case *s, uint64_t id)
{
    const cadre_query query = {.kind = CADRE_QUERY_LIVE, .trace = store_id(id)};
    return see(s, &query, &frames_only);
}

const char *store_session(store_case *s, const char *name)
{
    const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = name};
    const cadre_store_reader reader = {.conversation = see_conversation,
                                       .message = see_message};
    s->conversation = 0;
    see(s, &query, &reader);
    char line[32];
    snprintf(line, sizeof(line), "in %" PRIu64, s->conversation);
    note(s, line);
    return s->seen;
}

// A suite has the name of its store.
static void set_up(void)
{
    const char *type = CU_get_current_suite()->pName;
    const cadre_store_ops *const *at = cdr_kinds_stores;
    while (*at && strcmp((*at)->type, type) != 0)
        at++;
    tested = (store_case){.ops = *at};
    if (CHECK(tested.ops != NULL))
        store_open(&tested);
}

static void tear_down(void)
{
    store_close(&tested);
}

// Adds a suite for each store. Returns how many tests there are, -1 when one was not
// added.
static int add_suites(const CU_TestInfo *tests)
{
    int n = 0;
    for (const cadre_store_ops *const *at = cdr_kinds_stores; *at; at++) {
        CU_pSuite suite = CU_add_suite_with_setup_and_teardown((*at)->type, NULL, NULL,
                                                               set_up, tear_down);
        for (int i = 0; suite && tests[i].pName; i++, n++) {
            if (!CU_add_test(suite, tests[i].pName, tests[i].pTestFunc))
                return -1;
        }
        if (!suite)
            return -1;
    }
    return n;
}

static int run(const char *name, const CU_TestInfo *tests)
{
    int n_added = add_suites(tests);
    if (n_added <= 0) {
        fprintf(stderr, "%s: no tests: %s\n", name, CU_get_error_msg());
        return EXIT_FAILURE;
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    bool all = CU_basic_run_tests() == CUE_SUCCESS &&
               CU_get_number_of_tests_run() == (unsigned)n_added &&
               CU_get_number_of_failures() == 0;
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}

int store_case_main(const char *suite, const CU_TestInfo *tests)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "%s: %s\n", suite, CU_get_error_msg());
        return EXIT_FAILURE;
    }
    int status = run(suite, tests);
    CU_cleanup_registry();
    return status;
}
