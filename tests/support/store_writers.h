// Threads that write to a store as fast as they can and tell each commit that has
// returned; who reads what they told knows what must be there whatever happened since.
//
// A commit is a frame that is born and ends, and a message in it. Each thread has a
// trace of its own, with a new one each time the store is opened.
//
// Thread: run by one of the process; told by one of another.
#ifndef STORE_WRITERS_H
#define STORE_WRITERS_H

#include "support/store_case.h"

enum {
    STORE_WRITERS_THREADS = 3
};

// So many commits of this trace have returned.
typedef struct commit_told {
    uint64_t trace, n;
} commit_told;

typedef struct store_writers {
    const char *url;      // of the sqlite store
    uint64_t first_trace; // and those after it
    int n_each;           // commits of each thread, then the store is closed and opened
                          // again; 0: no end
    double seconds;       // no store is opened any more after these
    int fd;               // a pipe's end: commit_told
} store_writers;

// Writes. Returns false when anything failed, and has said what on stderr.
bool store_writers_run(const store_writers *plan);

// What was told, by trace from `first` on.
typedef struct told_commits {
    uint64_t first;
    size_t n_traces; // room in `n`
    uint64_t *n;
    uint64_t total;
} told_commits;

// Reads what is told until the end, or so long (-1: no limit). Returns true at the end.
bool told_commits_read(told_commits *told, int fd, double seconds);

// Each trace has the commits that were told and at most one more.
void told_commits_check(const told_commits *told, const char *path);

double monotonic_s(void);

#endif
