// A network thread: its loop, and what comes to it from others.
#include "net/network_thread.h"

#include "net/network.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)1024 * 1024)
#define MEASURE_MS 200 // how long what is busy must have been so

static void wake(cdr_network_thread *thread)
{
    uint64_t one = 1;
    ssize_t n = write(thread->loop.wake_fd, &one, sizeof one);
    (void)n; // fails only when 2^64 wake-ups are on their way
}

static void thread_free(cdr_network_thread *thread)
{
    cdr_loop_fini(&thread->loop);
    cdr_mutex_fini(&thread->mu);
    free(thread);
}

// One owner of a transfer less; the last one frees, and so it goes for the thread.
static void release(cdr_transfer *transfer)
{
    cdr_network_thread *thread = transfer->thread;
    cdr_mutex_lock(&thread->mu);
    bool is_last = --transfer->n_owners == 0;
    bool is_thread_last = is_last && --thread->n_owners == 0;
    cdr_mutex_unlock(&thread->mu);
    if (is_last)
        free(transfer);
    if (is_thread_last)
        thread_free(thread);
}

void cdr_network_forget(cdr_transfer *transfer)
{
    atomic_fetch_sub(&transfer->thread->n_transfers, 1);
    release(transfer);
}

static cdr_transfer *take_incoming(cdr_network_thread *thread)
{
    cdr_mutex_lock(&thread->mu);
    cdr_transfer *first = thread->incoming;
    thread->incoming = NULL;
    thread->incoming_end = &thread->incoming;
    cdr_mutex_unlock(&thread->mu);
    return first;
}

static void start_incoming(cdr_network_thread *thread)
{
    cdr_transfer *transfer = take_incoming(thread);
    while (transfer) {
        cdr_transfer *next = transfer->next_incoming;
        cdr_loop_start(&thread->loop, transfer);
        transfer = next;
    }
}

static cdr_transfer *take_command(cdr_network_thread *thread, bool *resume)
{
    cdr_mutex_lock(&thread->mu);
    cdr_transfer *transfer = thread->commands;
    if (transfer) {
        thread->commands = transfer->next_command;
        if (!thread->commands)
            thread->commands_end = &thread->commands;
        *resume = transfer->wants_resume;
        transfer->wants_resume = false;
        transfer->is_commanded = false;
    }
    cdr_mutex_unlock(&thread->mu);
    return transfer;
}

static void obey_commands(cdr_network_thread *thread)
{
    cdr_transfer *transfer = NULL;
    bool resume = false;
    while ((transfer = take_command(thread, &resume))) {
        if (atomic_load(&transfer->cancelled))
            cdr_loop_cancel(&thread->loop, transfer);
        else if (resume)
            cdr_loop_resume(&thread->loop, transfer);
        release(transfer);
    }
}

static bool is_quitting(cdr_network_thread *thread)
{
    cdr_mutex_lock(&thread->mu);
    bool quitting = thread->is_quitting;
    cdr_mutex_unlock(&thread->mu);
    return quitting;
}

// Cancels all there is; commands that come from now on are dropped.
static void shut_down(cdr_network_thread *thread)
{
    cdr_transfer *next = NULL;
    for (cdr_transfer *transfer = take_incoming(thread); transfer; transfer = next) {
        next = transfer->next_incoming;
        atomic_store(&transfer->cancelled, true);
        cdr_loop_start(&thread->loop, transfer);
    }
    while (thread->loop.running)
        cdr_loop_cancel(&thread->loop, thread->loop.running);
    cdr_mutex_lock(&thread->mu);
    thread->is_closed = true;
    cdr_mutex_unlock(&thread->mu);
    obey_commands(thread);
}

// CPU time, not the time between two waits: on a machine that is busy with other things
// one more thread would not help.
static int64_t own_cpu_us(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void measure(cdr_network_thread *thread)
{
    int64_t passed_ms = thread->loop.now_ms - thread->since_ms;
    if (passed_ms < MEASURE_MS)
        return;
    int64_t cpu_us = own_cpu_us();
    int64_t percent = (cpu_us - thread->since_cpu_us) / (passed_ms * 10);
    atomic_store(&thread->busy_percent, (int)percent);
    thread->since_ms = thread->loop.now_ms;
    thread->since_cpu_us = cpu_us;
}

static void *run(void *arg)
{
    cdr_network_thread *thread = arg;
    thread->since_ms = thread->loop.now_ms;
    while (!is_quitting(thread)) {
        cdr_loop_wait(&thread->loop);
        start_incoming(thread);
        obey_commands(thread);
        cdr_loop_fire_timers(&thread->loop);
        measure(thread);
    }
    shut_down(thread);
    return NULL;
}

// No signal is handled on it, nor on the threads libcurl starts from it.
static int start_native(cdr_network_thread *thread)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc != 0)
        return rc;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread->thread, &attr, run, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    if (rc == 0)
        (void)pthread_setname_np(thread->thread, "cadre-network");
    return rc;
}

cadre_status cdr_network_thread_start(cdr_network_thread **out, cadre_error *err)
{
    cdr_network_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return cadre_fail(err, CADRE_ENOMEM, "network: no memory");
    cadre_status status = cdr_loop_init(&thread->loop, err);
    if (status != CADRE_OK) {
        free(thread);
        return status;
    }
    cdr_mutex_init(&thread->mu);
    atomic_init(&thread->n_transfers, 0);
    atomic_init(&thread->busy_percent, 0);
    thread->incoming_end = &thread->incoming;
    thread->commands_end = &thread->commands;
    thread->n_owners = 1;
    int rc = start_native(thread);
    if (rc != 0) {
        char text[128];
        thread_free(thread);
        return cadre_fail(err, CADRE_EBUSY, "network: cannot start a thread: %s",
                          strerror_r(rc, text, sizeof text));
    }
    *out = thread;
    return CADRE_OK;
}

void cdr_network_thread_stop(cdr_network_thread *thread)
{
    cdr_mutex_lock(&thread->mu);
    thread->is_quitting = true;
    cdr_mutex_unlock(&thread->mu);
    wake(thread);
    (void)pthread_join(thread->thread, NULL);
    // libcurl's part goes now; transfers that are not given back yet may still be
    // cancelled, to no effect.
    cdr_loop_close(&thread->loop);
    cdr_mutex_lock(&thread->mu);
    bool is_last = --thread->n_owners == 0;
    cdr_mutex_unlock(&thread->mu);
    if (is_last)
        thread_free(thread);
}

void cdr_network_thread_submit(cdr_network_thread *thread, cdr_transfer *transfer)
{
    transfer->thread = thread;
    transfer->n_owners = 2; // the caller and the thread
    cdr_mutex_lock(&thread->mu);
    bool was_empty = thread->incoming == NULL;
    *thread->incoming_end = transfer;
    thread->incoming_end = &transfer->next_incoming;
    thread->n_owners++;
    cdr_mutex_unlock(&thread->mu);
    if (was_empty)
        wake(thread);
}

// Puts a transfer on the list of commands, once.
static void command(cdr_transfer *transfer, bool resume)
{
    cdr_network_thread *thread = transfer->thread;
    bool must_wake = false;
    cdr_mutex_lock(&thread->mu);
    transfer->wants_resume |= resume;
    if (!thread->is_closed && !transfer->is_commanded) {
        must_wake = thread->commands == NULL;
        transfer->next_command = NULL;
        *thread->commands_end = transfer;
        thread->commands_end = &transfer->next_command;
        transfer->is_commanded = true;
        transfer->n_owners++;
    }
    cdr_mutex_unlock(&thread->mu);
    if (must_wake)
        wake(thread);
}

void cdr_transfer_cancel(cdr_transfer *transfer)
{
    if (!atomic_exchange(&transfer->cancelled, true))
        command(transfer, false);
}

void cdr_transfer_resume(cdr_transfer *transfer)
{
    command(transfer, true);
}

void cdr_transfer_free(cdr_transfer *transfer)
{
    if (transfer)
        release(transfer);
}
