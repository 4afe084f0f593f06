// The connections of the test server: what one does between accept and close, and
// the state they share. Private to the server; all functions run on its thread with
// `mu` held.
#ifndef SUPPORT_HTTP_CONNECTION_H
#define SUPPORT_HTTP_CONNECTION_H

#include "support/http_script.h"
#include "support/http_server.h"

#include <pthread.h>

typedef struct http_record { // a request with its storage
    http_request request;
    char *head; // request line and headers, cut up by NULs
    char *body;
    size_t body_len; // as announced
    bool whole;
} http_record;

typedef enum http_connection_state {
    HTTP_CONNECTION_READING,
    HTTP_CONNECTION_PLAYING,
    HTTP_CONNECTION_DRAINING, // after CLOSE
    HTTP_CONNECTION_CLOSED
} http_connection_state;

typedef struct http_connection {
    int fd;
    int number;
    http_connection_state state;
    uint32_t interest; // what epoll watches
    char *in;          // bytes not yet taken by a request
    size_t in_len;
    size_t in_capacity;
    http_record *record; // the request whose body is being read
    const http_script *script;
    size_t step;
    size_t sent;    // bytes of this step
    size_t n_sends; // of this step
    int64_t due_ns; // pacing: no send before; 0: none waits
    bool deaf;
    int64_t held;      // place in the queue of the held; 0: not held
    int64_t closed_ns; // by the client; 0: not
} http_connection;

struct http_server {
    http_server_config config;
    http_script *fallback; // when there is no script
    int listen_fd;
    int epoll_fd;
    int wake_fd;
    int *fillers; // connections that fill the backlog of a black hole
    int n_fillers;
    pthread_t thread;
    char url[64];

    pthread_mutex_t mu;
    pthread_cond_t changed;
    http_script **scripts; // guarded by mu, as is all below
    int n_scripts;
    http_record **records;
    int n_records;
    int n_whole;
    http_connection **connections;
    int n_connections;
    int n_held;
    int n_due; // connections with a due_ns
    int n_played;
    int64_t next_hold;
    int64_t releases;
    bool release_all;
    bool quit;
};

int64_t http_now_ns(void);
void http_die(const char *what); // with errno's text

// Takes an accepted socket.
void http_connection_add(http_server *server, int fd);
void http_connection_free(http_connection *conn);
void http_record_free(http_record *record);

// Handles what epoll reported.
void http_connection_on_event(http_server *server, http_connection *conn,
                              uint32_t events);

// Goes on where it stood: after a release, or when a paced send is due.
void http_connection_go_on(http_server *server, http_connection *conn);

#endif
