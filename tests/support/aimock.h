// aimock, a mock of model providers that this project did not write: a Node.js program
// that scripts/aimock-install puts into tests/aimock/node_modules.
//
//     aimock mock;
//     if (aimock_start(&mock, (const char *const[]){"--chaos-drop", "1", NULL}))
//         ... use mock.base_url, aimock_journal(&mock) ...
//     aimock_stop(&mock);
//
// Thread: one at a time.
#ifndef AIMOCK_H
#define AIMOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct aimock {
    pid_t pid; // 0: not running
    int pidfd;
    int port;
    char base_url[64]; // "http://127.0.0.1:PORT/v1"
} aimock;

// Is it installed, with a Node.js it can use? If not, says on stderr what is missing.
bool aimock_is_there(void);

// Starts it on a free port with the fixtures of tests/aimock/fixtures, pieces of six
// characters and further options, and waits until it listens. False, and a failed
// check: it does not; `mock` may be stopped all the same.
bool aimock_start(aimock *mock, const char *const *options);
void aimock_stop(aimock *mock);

// What it was asked so far: an array of {method, path, headers, body, response}. A new
// reference; NULL, and a failed check, when it does not tell.
json_t *aimock_journal(const aimock *mock);

#endif
