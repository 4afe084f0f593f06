// The event queue: bounded for a run's threads, never waiting for the network's.
#include "support/check.h"

#include "tree/queue.h"

#include <pthread.h>
#include <string.h>

static cdr_queue queue;

static void push_delta(const char *message, const char *text)
{
    cadre_event event = {.type = CADRE_EVENT_TEXT_DELTA, .frame_id = "f", .agent = "a"};
    event.u.delta.message_id = message;
    event.u.delta.text = text;
    event.u.delta.len = strlen(text);
    cdr_queue_push_delta(&queue, &event, NULL);
}

static void push_text(const char *text)
{
    cadre_event event = {
        .type = CADRE_EVENT_TOOL_PROGRESS, .frame_id = "f", .agent = "a"};
    event.u.tool_progress.call_id = "c";
    event.u.tool_progress.name = "n";
    event.u.tool_progress.text = text;
    cdr_queue_push_take(&queue, cdr_event_new(&event, NULL));
}

static void fill(void)
{
    static char big[CDR_QUEUE_LIMIT];
    memset(big, 'x', sizeof big - 1);
    push_text(big);
}

static void test_queue__merges_neighbouring_deltas_of_one_message(void)
{
    cdr_queue_init(&queue);
    push_delta("m1", "one ");
    push_delta("m1", "two");
    push_delta("m2", "other");
    push_delta("m1", "three");
    cdr_event_node *list = cdr_queue_take(&queue);
    if (CHECK(list != NULL && list->next != NULL && list->next->next != NULL)) {
        CHECK_TEXT(list->event.u.delta.text, "one two");
        CHECK_INT(list->event.u.delta.len, 7);
        CHECK_TEXT(list->next->event.u.delta.text, "other");
        CHECK_TEXT(list->next->next->event.u.delta.text, "three");
        CHECK(list->next->next->next == NULL);
    }
    cdr_event_free_list(list);
    cdr_queue_fini(&queue);
}

static void test_queue__keeps_order_and_is_empty_after_close(void)
{
    cdr_queue_init(&queue);
    push_text("1");
    push_delta("m", "2");
    push_text("3");
    cdr_queue_close(&queue);
    cdr_event_node *list = cdr_queue_take(&queue);
    CHECK_TEXT(list->event.u.tool_progress.text, "1");
    CHECK_TEXT(list->next->event.u.delta.text, "2");
    CHECK_TEXT(list->next->next->event.u.tool_progress.text, "3");
    CHECK(cdr_queue_take(&queue) == NULL);
    cdr_event_free_list(list);
    cdr_queue_fini(&queue);
}

static void *push_one_more(void *arg)
{
    (void)arg;
    push_text("more");
    return NULL;
}

// Until the producer stands and waits; it cannot tell by itself.
static void await_blocked(void)
{
    bool is_blocked = false;
    while (!is_blocked) {
        cdr_mutex_lock(&queue.mu);
        is_blocked = queue.n_blocked == 1;
        cdr_mutex_unlock(&queue.mu);
    }
}

static pthread_t block_a_producer(void)
{
    pthread_t thread;
    fill();
    pthread_create(&thread, NULL, push_one_more, NULL);
    await_blocked();
    return thread;
}

static size_t count(cdr_event_node *list)
{
    size_t n = 0;
    for (const cdr_event_node *at = list; at != NULL; at = at->next)
        n++;
    cdr_event_free_list(list);
    return n;
}

static void test_queue__a_full_one_blocks_until_it_is_read(void)
{
    cdr_queue_init(&queue);
    pthread_t thread = block_a_producer();
    CHECK_INT(count(cdr_queue_take(&queue)), 1);
    pthread_join(thread, NULL);
    CHECK_INT(count(cdr_queue_take(&queue)), 1);
    cdr_queue_fini(&queue);
}

static void test_queue__an_abort_frees_a_blocked_producer(void)
{
    cdr_queue_init(&queue);
    pthread_t thread = block_a_producer();
    cdr_queue_widen(&queue);
    pthread_join(thread, NULL);
    fill(); // does not wait any more
    CHECK_INT(count(cdr_queue_take(&queue)), 3);
    cdr_queue_fini(&queue);
}

static void test_queue__keeps_nothing_when_nobody_listens(void)
{
    cdr_queue_init(&queue);
    pthread_t thread = block_a_producer();
    cdr_queue_deafen(&queue);
    pthread_join(thread, NULL);
    fill();
    fill();
    push_delta("m", "text");
    CHECK(cdr_queue_is_deaf(&queue));
    CHECK_INT(queue.bytes, 0);
    cdr_queue_close(&queue);
    CHECK(cdr_queue_take(&queue) == NULL);
    cdr_queue_fini(&queue);
}

static void count_resume(void *ctx)
{
    ++*(int *)ctx;
}

static void test_queue__resumes_paused_transfers_when_read(void)
{
    int resumed = 0;
    cdr_paused first = {.resume = count_resume, .ctx = &resumed};
    cdr_paused second = first;
    cdr_queue_init(&queue);
    CHECK(!cdr_queue_is_full(&queue, &first));
    fill();
    push_delta("m", "never waits");
    CHECK(cdr_queue_is_full(&queue, &first));
    CHECK(cdr_queue_is_full(&queue, &first)); // twice is once
    CHECK(cdr_queue_is_full(&queue, &second));
    cdr_queue_forget(&queue, &second);
    CHECK_INT(resumed, 0);
    CHECK_INT(count(cdr_queue_take(&queue)), 2);
    CHECK_INT(resumed, 1);
    CHECK(!first.is_listed);
    cdr_queue_fini(&queue);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_queue__merges_neighbouring_deltas_of_one_message),
    CHECK_TEST(test_queue__keeps_order_and_is_empty_after_close),
    CHECK_TEST(test_queue__a_full_one_blocks_until_it_is_read),
    CHECK_TEST(test_queue__an_abort_frees_a_blocked_producer),
    CHECK_TEST(test_queue__keeps_nothing_when_nobody_listens),
    CHECK_TEST(test_queue__resumes_paused_transfers_when_read),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("tree/queue", tests);
}
