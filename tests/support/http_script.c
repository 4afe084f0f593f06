// Scripts of the test server: copies of steps, and those made from case folders.
#include "support/http_script.h"

#include "support/case_files.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char stream_head[] = "HTTP/1.1 200 OK\r\n"
                                  "Content-Type: text/event-stream\r\n"
                                  "Connection: close\r\n\r\n";

void *http_alloc(void *old, size_t size)
{
    void *fresh = realloc(old, size > 0 ? size : 1);
    if (!fresh) {
        (void)fprintf(stderr, "test server: no memory for %zu bytes\n", size);
        abort();
    }
    return fresh;
}

// Numbers until the first word that is none ("hold").
static void parse_sizes(http_play *play, const char *chunks)
{
    const char *at = chunks;
    for (;;) {
        char *end = NULL;
        unsigned long size = strtoul(at, &end, 10);
        if (end == at)
            break;
        size_t n = play->n_sizes;
        if ((n & (n - 1)) == 0)
            play->sizes = http_alloc(play->sizes, (n > 0 ? 2 * n : 1) * sizeof(size_t));
        play->sizes[play->n_sizes++] = size > 0 ? size : 1;
        at = end;
    }
}

size_t http_play_size(const http_play *play, size_t i)
{
    if (play->n_sizes == 0)
        return play->len > 0 ? play->len : 1;
    return play->sizes[i < play->n_sizes ? i : play->n_sizes - 1];
}

http_script *http_script_new(const http_step *steps)
{
    size_t n = 0;
    while (steps[n].kind != HTTP_STEP_END)
        n++;
    http_script *script = http_alloc(NULL, sizeof *script);
    script->n_plays = n + 1;
    script->plays = http_alloc(NULL, (n + 1) * sizeof *script->plays);
    for (size_t i = 0; i <= n; i++) {
        http_play *play = &script->plays[i];
        *play = (http_play){.kind = steps[i].kind, .len = steps[i].len};
        if (play->len > 0) {
            play->data = http_alloc(NULL, play->len);
            memcpy(play->data, steps[i].data, play->len);
        }
        if (steps[i].chunks)
            parse_sizes(play, steps[i].chunks);
    }
    return script;
}

void http_script_free(http_script *script)
{
    if (!script)
        return;
    for (size_t i = 0; i < script->n_plays; i++) {
        free(script->plays[i].data);
        free(script->plays[i].sizes);
    }
    free(script->plays);
    free(script);
}

http_script *http_script_new_answer(int status, const char *headers,
                                    const char *content_type, const char *body)
{
    char head[512];
    int len = snprintf(head, sizeof head,
                       "HTTP/1.1 %d Scripted\r\nContent-Type: %s\r\n"
                       "Content-Length: %zu\r\n",
                       status, content_type, strlen(body));
    cdr_buf answer = CDR_BUF_INIT;
    cdr_buf_append(&answer, head, (size_t)len);
    cdr_buf_append_text(&answer, headers ? headers : "");
    cdr_buf_append_text(&answer, "\r\n");
    cdr_buf_append_text(&answer, body);
    http_step steps[] = {{HTTP_STEP_SEND, answer.data, answer.len, NULL}, HTTP_END};
    http_script *script = http_script_new(steps);
    cdr_buf_fini(&answer);
    return script;
}

// Each HTTP chunk becomes a write of its own: a SEND step.
http_script *http_script_new_stream(const char *body, size_t len, const char *chunks)
{
    http_play cuts = {.kind = HTTP_STEP_SEND, .len = len};
    parse_sizes(&cuts, chunks ? chunks : "");
    cdr_buf bytes = CDR_BUF_INIT;
    cdr_buf sizes = CDR_BUF_INIT;
    char line[64];
    cdr_buf_append_text(&bytes, "HTTP/1.1 200 OK\r\n"
                                "Content-Type: text/event-stream\r\n"
                                "Transfer-Encoding: chunked\r\n\r\n");
    (void)snprintf(line, sizeof line, "%zu", bytes.len);
    cdr_buf_append_text(&sizes, line);
    size_t at = 0;
    for (size_t i = 0; at < len; i++) {
        size_t size = http_play_size(&cuts, i);
        size = size < len - at ? size : len - at;
        int head_len = snprintf(line, sizeof line, "%zx\r\n", size);
        cdr_buf_append(&bytes, line, (size_t)head_len);
        cdr_buf_append(&bytes, body + at, size);
        cdr_buf_append_text(&bytes, "\r\n");
        (void)snprintf(line, sizeof line, " %zu", size + (size_t)head_len + 2);
        cdr_buf_append_text(&sizes, line);
        at += size;
    }
    cdr_buf_append_text(&bytes, "0\r\n\r\n");
    http_step steps[] = {{HTTP_STEP_SEND, bytes.data, bytes.len, sizes.data}, HTTP_END};
    http_script *script = http_script_new(steps);
    free(cuts.sizes);
    cdr_buf_fini(&bytes);
    cdr_buf_fini(&sizes);
    return script;
}

http_script *http_script_new_case(const char *folder, int attempt)
{
    char name[64];
    size_t len = 0;
    const char *head = "";
    (void)snprintf(name, sizeof name, "response.%d.http", attempt);
    char *body = case_file_read(folder, name, &len);
    if (!body && attempt == 1)
        body = case_file_read(folder, "response.http", &len);
    if (!body && attempt == 1) {
        body = case_file_read(folder, "stream.sse", &len);
        head = stream_head;
    }
    if (!body)
        return NULL;
    char *chunks = case_file_read(folder, "chunks.txt", NULL);
    bool holds = chunks && strstr(chunks, "hold");
    http_step steps[] = {{HTTP_STEP_SEND, head, strlen(head), NULL},
                         {HTTP_STEP_SEND, body, len, chunks},
                         {holds ? HTTP_STEP_HOLD : HTTP_STEP_CLOSE, NULL, 0, NULL},
                         {holds ? HTTP_STEP_CLOSE : HTTP_STEP_END, NULL, 0, NULL},
                         HTTP_END};
    http_script *script = http_script_new(steps);
    free(body);
    free(chunks);
    return script;
}
