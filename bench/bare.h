// Bare libcurl clients: the floor of what goes over HTTP. They send what cadre sends
// and drop what comes.
#ifndef CADRE_BENCH_BARE_H
#define CADRE_BENCH_BARE_H

#include "bench.h"

#include <curl/curl.h>

// One easy handle, one request after the other on its connection.
typedef struct bare_client {
    CURL *curl;
    struct curl_slist *headers;
} bare_client;

void bare_open(bare_client *client, int port);
void bare_ask(bare_client *client, const char *body, size_t len);
void bare_close(bare_client *client);

// A handle that is set up for the server's port, with its own list of headers.
CURL *bare_easy(int port, struct curl_slist **headers);

typedef struct bare_cost {
    double wall_us, cpu_us;
    int failed;
} bare_cost;

// `n` clients at once, `turns` requests each, one after the other: a multi handle for
// each 1,000 of them, spread over two threads with an epoll loop each.
void bare_crowd(int port, int n, int turns, bare_cost *out);

#endif
