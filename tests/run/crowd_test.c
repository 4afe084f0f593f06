// A run that nobody reads, among a hundred that somebody waits for: it stands still at
// the bound of its queue, its server is not read either, and the others do not notice.
// When it is read again nothing is missing.
#include "support/check.h"
#include "support/http_server.h"

#include "cadre/cadre.h"

#include "base/buf.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define N_OTHERS 100
#define PIECE_BYTES ((size_t)4096)
// Far more than a queue and the buffers of a socket on both sides hold.
#define LONG_BYTES ((size_t)24 * 1024 * 1024)
// What may be held of an answer that nobody reads: of 64 KiB in the queue and of as
// much on the way, with all that goes with it. The test's own memory does not change.
#define HELD_BYTES ((size_t)4 * 1024 * 1024)

typedef struct crowd {
    http_server *server;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_error err;
} crowd;

// What is allocated; 0 under a sanitizer, which has an allocator of its own.
static size_t count_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// The text at a place of the long answer; letters only.
static char letter_at(size_t i)
{
    return (char)('a' + (i / PIECE_BYTES + i) % 26);
}

static void add_long_answer(http_server *server)
{
    cdr_buf body = CDR_BUF_INIT;
    char piece[PIECE_BYTES + 1];

    piece[PIECE_BYTES] = '\0';
    for (size_t at = 0; at < LONG_BYTES; at += PIECE_BYTES) {
        for (size_t i = 0; i < PIECE_BYTES; i++)
            piece[i] = letter_at(at + i);
        cdr_buf_printf(
            &body, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", piece);
    }
    cdr_buf_append_text(&body, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":"
                               "\"stop\"}]}\n\ndata: [DONE]\n\n");
    CHECK(!body.failed);
    http_server_add_stream(server, body.data, body.len, "65536");
    cdr_buf_fini(&body);
}

static void add_short_answer(http_server *server)
{
    static const char body[] =
        "data: {\"choices\":[{\"delta\":{\"content\":\"It came.\"},\"finish_reason\":"
        "\"stop\"}]}\n\ndata: [DONE]\n\n";

    http_server_add_stream(server, body, sizeof(body) - 1, NULL);
}

static int choose(void *ctx, const http_request *request)
{
    (void)ctx;
    return strstr(request->body, "tell it all") ? 0 : 1;
}

static bool crowd_open(crowd *it)
{
    char url[80];

    *it = (crowd){.err = CADRE_ERROR_INIT};
    it->server = http_server_start(&(http_server_config){.choose = choose});
    add_long_answer(it->server);
    add_short_answer(it->server);
    (void)snprintf(url, sizeof(url), "%s/v1", http_server_url(it->server));
    if (!CHECK_OK(cadre_runtime_open(NULL, &it->runtime, &it->err), &it->err))
        return false;
    it->team = cadre_team_new(it->runtime, "crowd");
    cadre_team_add_model(it->team, CADRE_MODEL(.name = "near", .model = "openai/test",
                                               .base_url = url, .api_key_env = ""));
    cadre_team_add_llm(it->team, CADRE_LLM(.name = "solo", .model = "near",
                                           .instructions = "Answer."));
    return CHECK_OK(cadre_team_seal(it->team, &it->err), &it->err);
}

static void crowd_close(crowd *it)
{
    cadre_team_free(it->team);
    cadre_runtime_close(it->runtime);
    http_server_stop(it->server);
}

static cadre_run *start(crowd *it, const char *input)
{
    cadre_run *run = NULL;

    CHECK_OK(cadre_run_start(it->team, CADRE_RUN(.input = input), &run, &it->err),
             &it->err);
    return run;
}

// Checks that a piece of the long answer is the one that belongs there; counts it.
static void check_piece(const cadre_event *event, size_t *n_read)
{
    const char *text = event->u.delta.text;
    size_t i = 0;

    while (i < event->u.delta.len && text[i] == letter_at(*n_read + i))
        i++;
    CHECK_INT(i, event->u.delta.len);
    *n_read += event->u.delta.len;
}

// Reads up to the first piece of text (`only_first`) or to the end.
static void read_long(crowd *it, cadre_run *run, bool only_first, size_t *n_read)
{
    const cadre_event *event = NULL;
    cadre_status status = CADRE_OK;

    while ((status = cadre_run_next(run, &event, &it->err)) == CADRE_OK) {
        if (event->type != CADRE_EVENT_TEXT_DELTA)
            continue;
        check_piece(event, n_read);
        if (only_first)
            return;
    }
    CHECK_STATUS(status, CADRE_DONE, NULL);
}

static void check_others(crowd *it, cadre_run *const *others)
{
    for (size_t i = 0; i < N_OTHERS; i++) {
        const cadre_result *result = NULL;
        if (!others[i])
            continue;
        CHECK_OK(cadre_run_wait(others[i], &result, &it->err), &it->err);
        CHECK_TEXT(result->text, "It came.");
        CHECK_INT(result->status, CADRE_FRAME_COMPLETED);
    }
}

static void check_long_result(crowd *it, cadre_run *run)
{
    const cadre_result *result = NULL;
    size_t n_right = 0;

    CHECK_OK(cadre_run_wait(run, &result, &it->err), &it->err);
    CHECK_INT(strlen(result->text), LONG_BYTES);
    while (result->text[n_right] && result->text[n_right] == letter_at(n_right))
        n_right++;
    CHECK_INT(n_right, LONG_BYTES);
}

static void test_crowd__a_run_that_nobody_reads_holds_up_no_other(void)
{
    crowd it;
    cadre_run *others[N_OTHERS] = {NULL};
    size_t n_read = 0;

    if (crowd_open(&it)) {
        cadre_run *slow = start(&it, "tell it all");
        if (slow)
            read_long(&it, slow, true, &n_read);
        size_t before = count_bytes();
        for (size_t i = 0; i < N_OTHERS; i++)
            others[i] = start(&it, "where is it?");
        check_others(&it, others);
        for (size_t i = 0; i < N_OTHERS; i++)
            cadre_run_free(others[i]);
        // The long answer is still being sent, since nobody takes it.
        CHECK(http_server_await_scripts(it.server, N_OTHERS));
        CHECK_INT(http_server_played_count(it.server), N_OTHERS);
        CHECK(count_bytes() <= before + HELD_BYTES);
        if (slow) {
            read_long(&it, slow, false, &n_read);
            CHECK_INT(n_read, LONG_BYTES);
            check_long_result(&it, slow);
        }
        cadre_run_free(slow);
        CHECK(http_server_await_scripts(it.server, N_OTHERS + 1));
    }
    crowd_close(&it);
}

static void test_crowd__a_run_that_nobody_reads_can_be_cancelled_and_freed(void)
{
    crowd it;
    size_t n_read = 0;

    if (crowd_open(&it)) {
        cadre_run *slow = start(&it, "tell it all");
        if (slow) {
            read_long(&it, slow, true, &n_read);
            cadre_run_free(slow);
            CHECK(http_server_await_client_close(it.server, 0, NULL));
        }
    }
    crowd_close(&it);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_crowd__a_run_that_nobody_reads_holds_up_no_other),
        CHECK_TEST(test_crowd__a_run_that_nobody_reads_can_be_cancelled_and_freed),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/crowd", tests);
}
