// A bare libcurl client, one request after the other. See bare.h.
#include "bare.h"

#include <stdio.h>
#include <stdlib.h>

static size_t drop(char *data, size_t size, size_t n, void *ctx)
{
    (void)data;
    (void)ctx;
    return size * n;
}

CURL *bare_easy(int port, struct curl_slist **headers)
{
    char url[64];
    CURL *curl = curl_easy_init();
    *headers = curl_slist_append(NULL, "Content-Type: application/json");
    *headers = curl_slist_append(*headers, "Authorization: Bearer none");
    *headers = curl_slist_append(*headers, "Expect:");
    if (curl == NULL || *headers == NULL) {
        fprintf(stderr, "cadre-bench: no memory\n");
        exit(1);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/chat/completions", port);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
    return curl;
}

void bare_open(bare_client *client, int port)
{
    client->curl = bare_easy(port, &client->headers);
}

void bare_ask(bare_client *client, const char *body, size_t len)
{
    curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
    curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, body);
    if (curl_easy_perform(client->curl) != CURLE_OK) {
        fprintf(stderr, "cadre-bench: the bare client failed\n");
        exit(1);
    }
}

void bare_close(bare_client *client)
{
    curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->headers);
}
