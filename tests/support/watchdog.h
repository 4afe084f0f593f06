// A watchdog for tests of many threads: when nothing has happened for a while, it tells
// what was under way and where all threads stand, and ends the process.
//
// Thread: _start and _stop by one; `progress` and `tell` are called on a thread of its
// own.
#ifndef SUPPORT_WATCHDOG_H
#define SUPPORT_WATCHDOG_H

#include <stdint.h>

typedef struct watchdog {
    uint64_t (*progress)(void); // a number that changes as long as something happens
    void (*tell)(void);         // prints what is under way; it may come to no end
    int seconds;
} watchdog;

// One at a time. It is looked at while it runs: it must outlive _stop.
void watchdog_start(const watchdog *dog);
void watchdog_stop(void);

#endif
