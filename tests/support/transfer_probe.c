// A probe for the network's transfers.
#include "support/transfer_probe.h"

#include "support/check.h"

#include "base/clock.h"

#include <stdio.h>

#define PATIENCE_MS 10000

int64_t probe_now_ns(void)
{
    return cdr_clock_now_ns(cdr_clock_real());
}

static void on_head(void *ctx, const cdr_http_head *head)
{
    transfer_probe *probe = ctx;
    cdr_mutex_lock(&probe->mu);
    probe->n_heads++;
    probe->head_status = head->status;
    probe->retry_after_ms = head->retry_after_ms;
    (void)snprintf(probe->content_type, sizeof probe->content_type, "%s",
                   head->content_type);
    (void)snprintf(probe->location, sizeof probe->location, "%s", head->location);
    cdr_mutex_unlock(&probe->mu);
}

static cdr_flow on_data(void *ctx, const char *data, size_t len)
{
    transfer_probe *probe = ctx;
    cdr_mutex_lock(&probe->mu);
    CHECK_INT(probe->n_done, 0);
    CHECK_INT(probe->n_heads, 1);
    cdr_buf_append(&probe->body, data, len);
    probe->n_data++;
    cdr_flow flow = probe->decide ? probe->decide(probe, data, len) : CDR_FLOW_GO;
    cdr_cond_broadcast(&probe->changed);
    cdr_mutex_unlock(&probe->mu);
    return flow;
}

static void on_done(void *ctx, const cdr_transfer_end *end)
{
    transfer_probe *probe = ctx;
    cdr_mutex_lock(&probe->mu);
    probe->n_done++;
    probe->end = *end;
    (void)snprintf(probe->message, sizeof probe->message, "%s", end->message);
    probe->end.message = probe->message;
    probe->done_ns = probe_now_ns();
    cdr_cond_broadcast(&probe->changed);
    cdr_mutex_unlock(&probe->mu);
}

static const cdr_transfer_handler handler = {on_head, on_data, on_done};

void probe_init(transfer_probe *probe, cdr_network *network)
{
    *probe = (transfer_probe){.network = network, .body = CDR_BUF_INIT};
    cdr_mutex_init(&probe->mu);
    cdr_cond_init(&probe->changed);
}

void probe_fini(transfer_probe *probe)
{
    if (probe->transfer)
        (void)probe_await_done(probe);
    cdr_transfer_free(probe->transfer);
    cdr_buf_fini(&probe->body);
    cdr_cond_fini(&probe->changed);
    cdr_mutex_fini(&probe->mu);
}

bool probe_start(transfer_probe *probe, const cdr_http_request *request)
{
    cadre_error err = CADRE_ERROR_INIT;
    return CHECK_OK(cdr_network_start(probe->network, request, &handler, probe,
                                      &probe->transfer, &err),
                    &err);
}

bool probe_get(transfer_probe *probe, const char *url)
{
    const cdr_http_request request = {.url = url};
    return probe_start(probe, &request);
}

bool probe_await_done(transfer_probe *probe)
{
    int64_t until_ms = cdr_clock_now_ms(cdr_clock_real()) + PATIENCE_MS;
    cdr_mutex_lock(&probe->mu);
    while (probe->n_done == 0 &&
           cdr_cond_wait_until(&probe->changed, &probe->mu, until_ms)) {
    }
    bool done = probe->n_done > 0;
    cdr_mutex_unlock(&probe->mu);
    return CHECK(done);
}

bool probe_await_bytes(transfer_probe *probe, size_t n)
{
    int64_t until_ms = cdr_clock_now_ms(cdr_clock_real()) + PATIENCE_MS;
    cdr_mutex_lock(&probe->mu);
    while (probe->body.len < n && probe->n_done == 0 &&
           cdr_cond_wait_until(&probe->changed, &probe->mu, until_ms)) {
    }
    bool came = probe->body.len >= n;
    cdr_mutex_unlock(&probe->mu);
    return CHECK(came);
}

void probe_check_end(transfer_probe *probe, cdr_transfer_result result, int status)
{
    if (!probe_await_done(probe))
        return;
    cdr_mutex_lock(&probe->mu);
    if (!CHECK_INT(probe->end.result, result))
        CHECK_TEXT(probe->message, "(the end's message, see above)");
    CHECK_INT(probe->end.status, status);
    CHECK_INT(probe->end.bytes, probe->body.len);
    CHECK_INT(probe->n_done, 1);
    cdr_mutex_unlock(&probe->mu);
}
