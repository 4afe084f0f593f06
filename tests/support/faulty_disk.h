// A disk that fails when a test says so: a layer over SQLite's own files, which all
// connections of the process get after faulty_disk_start. It never flushes, since what
// is under test is what becomes of an error, not of a power cut; so it is quick.
//
// Thread: _start and _plan while no store is open; the rest any.
#ifndef FAULTY_DISK_H
#define FAULTY_DISK_H

#include <stdbool.h>

// What may fail, to be combined.
typedef enum disk_call {
    DISK_OPEN = 1, // also of the memory that connections share
    DISK_READ = 2,
    DISK_WRITE = 4,
    DISK_SYNC = 8,
    DISK_TRUNCATE = 16,
    DISK_DELETE = 32
} disk_call;

typedef enum disk_fault {
    DISK_FAULT_IO,   // nothing is done: EIO
    DISK_FAULT_FULL, // nothing is done: ENOSPC
    DISK_FAULT_SHORT // a write does its first half: the disk is full
} disk_fault;

typedef struct disk_plan {
    unsigned calls;  // which are counted
    int at;          // the nth of them fails, from 1; 0: none
    bool is_lasting; // and all later ones
    disk_fault fault;
} disk_plan;

// Puts the layer over SQLite's default files, for good. False: SQLite refused.
bool faulty_disk_start(void);

void faulty_disk_plan(const disk_plan *plan); // counts from 0 again
int faulty_disk_count(void);                  // calls since then
int faulty_disk_failed(void);                 // how many of these failed

#endif
