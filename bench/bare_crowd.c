// Many bare clients at once: multi handles of 1,000 transfers, two threads. See bare.h.
#include "bare.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    GROUP = 1000,
    N_THREADS = 2,
    MAX_GROUPS = 64, // of a thread
    N_EVENTS = 64
};

// What cadre's first request is, with one user turn.
static const char body[] =
    "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
    "\"messages\":[{\"role\":\"user\",\"content\":\"Go on.\"}]}";

typedef struct loop loop;

typedef struct group {
    loop *in;
    CURLM *multi;
    double due_us; // of libcurl's timer; below 0: none
} group;

typedef struct client {
    CURL *curl;
    struct curl_slist *headers;
    int turns_left;
} client;

struct loop {
    int epoll;
    int n_clients, n_running, n_groups, n_failed;
    client *clients;
    group groups[MAX_GROUPS];
    pthread_t thread;
};

static int on_socket(CURL *curl, curl_socket_t fd, int what, void *ctx, void *known)
{
    group *of = ctx;
    (void)curl;
    struct epoll_event event = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0U) |
                                          (what & CURL_POLL_OUT ? EPOLLOUT : 0U),
                                .data.u64 = (uint64_t)(of - of->in->groups) << 32 |
                                            (uint32_t)fd};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(of->in->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    epoll_ctl(of->in->epoll, known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
    curl_multi_assign(of->multi, fd, of);
    return 0;
}

static int on_timeout(CURLM *multi, long timeout_ms, void *ctx)
{
    group *of = ctx;
    (void)multi;
    of->due_us = timeout_ms < 0 ? -1 : bench_wall_us() + (double)timeout_ms * 1e3;
    return 0;
}

static void end_turn(group *of, CURL *curl, CURLcode code)
{
    client *who = NULL;
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, &who);
    curl_multi_remove_handle(of->multi, curl);
    if (code != CURLE_OK) {
        of->in->n_failed++;
        who->turns_left = 1;
    }
    if (--who->turns_left > 0)
        curl_multi_add_handle(of->multi, curl);
    else
        of->in->n_running--;
}

static void act(group *of, curl_socket_t fd, int events)
{
    int n = 0;
    curl_multi_socket_action(of->multi, fd, events, &n);
    for (CURLMsg *message = curl_multi_info_read(of->multi, &n); message != NULL;
         message = curl_multi_info_read(of->multi, &n))
        if (message->msg == CURLMSG_DONE)
            end_turn(of, message->easy_handle, message->data.result);
}

static int wait_ms(const loop *it)
{
    double first = -1;
    for (int i = 0; i < it->n_groups; i++) {
        double due = it->groups[i].due_us;
        if (due >= 0 && (first < 0 || due < first))
            first = due;
    }
    if (first < 0)
        return -1;
    double left = first - bench_wall_us();
    return left <= 0 ? 0 : (int)(left / 1e3) + 1;
}

static void fire_timers(loop *it)
{
    double now = bench_wall_us();
    for (int i = 0; i < it->n_groups; i++) {
        group *of = &it->groups[i];
        if (of->due_us < 0 || of->due_us > now)
            continue;
        of->due_us = -1;
        act(of, CURL_SOCKET_TIMEOUT, 0);
    }
}

static void *loop_main(void *arg)
{
    loop *it = arg;
    struct epoll_event events[N_EVENTS];
    while (it->n_running > 0) {
        int n = epoll_wait(it->epoll, events, N_EVENTS, wait_ms(it));
        for (int i = 0; i < n; i++) {
            uint32_t what = events[i].events;
            int mask = (what & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0) |
                       (what & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            act(&it->groups[events[i].data.u64 >> 32],
                (curl_socket_t)(uint32_t)events[i].data.u64, mask);
        }
        fire_timers(it);
    }
    return NULL;
}

static group *add_group(loop *it)
{
    group *of = &it->groups[it->n_groups++];
    *of = (group){.in = it, .multi = curl_multi_init(), .due_us = -1};
    curl_multi_setopt(of->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(of->multi, CURLMOPT_SOCKETDATA, of);
    curl_multi_setopt(of->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(of->multi, CURLMOPT_TIMERDATA, of);
    curl_multi_setopt(of->multi, CURLMOPT_MAXCONNECTS, (long)GROUP);
    return of;
}

static void loop_start(loop *it, int port, int n, int turns)
{
    *it = (loop){.epoll = epoll_create1(EPOLL_CLOEXEC),
                 .clients = calloc((size_t)n, sizeof(client)),
                 .n_clients = n,
                 .n_running = n};
    group *of = NULL;
    for (int i = 0; i < n; i++) {
        client *who = &it->clients[i];
        if (i % GROUP == 0)
            of = add_group(it);
        *who = (client){.turns_left = turns};
        who->curl = bare_easy(port, &who->headers);
        curl_easy_setopt(who->curl, CURLOPT_PRIVATE, who);
        curl_easy_setopt(who->curl, CURLOPT_POSTFIELDS, body);
        curl_multi_add_handle(of->multi, who->curl);
    }
    if (pthread_create(&it->thread, NULL, loop_main, it) != 0) {
        fprintf(stderr, "cadre-bench: no thread\n");
        exit(1);
    }
}

static void loop_free(loop *it)
{
    for (int i = 0; i < it->n_clients; i++) {
        curl_easy_cleanup(it->clients[i].curl);
        curl_slist_free_all(it->clients[i].headers);
    }
    for (int i = 0; i < it->n_groups; i++)
        curl_multi_cleanup(it->groups[i].multi);
    close(it->epoll);
    free(it->clients);
}

void bare_crowd(int port, int n, int turns, bare_cost *out)
{
    static loop loops[N_THREADS];
    double cpu = bench_cpu_us();
    double wall = bench_wall_us();
    for (int i = 0; i < N_THREADS; i++)
        loop_start(&loops[i], port, n / N_THREADS, turns);
    *out = (bare_cost){0};
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(loops[i].thread, NULL);
        out->failed += loops[i].n_failed;
    }
    out->wall_us = bench_wall_us() - wall;
    out->cpu_us = bench_cpu_us() - cpu;
    for (int i = 0; i < N_THREADS; i++)
        loop_free(&loops[i]);
}
