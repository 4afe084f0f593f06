// An easy handle of libcurl that is kept from transfer to transfer, with the options
// that never change set once.
//
// Thread: the network's. Its callbacks run inside libcurl and only note what came;
// nothing is removed or added there.
#ifndef CDR_EASY_H
#define CDR_EASY_H

#include "net/http_head.h"
#include "net/transfer.h"

typedef struct cdr_easy cdr_easy;
struct cdr_easy {
    CURL *handle;
    cdr_transfer *transfer; // whose turn it is
    cdr_head_reader head;
    char error[CURL_ERROR_SIZE];
    // What the options that depend on the URL are set for.
    bool for_https;
    bool for_loopback;
    cdr_easy *next_idle;
};

// NULL: no memory. Sockets are opened and closed through the loop.
cdr_easy *cdr_easy_new(struct cdr_loop *loop);
void cdr_easy_free(cdr_easy *easy); // NULL ok

// Sets the handle up for a transfer. False: no memory.
bool cdr_easy_prepare(cdr_easy *easy, cdr_transfer *transfer);

// Forgets the transfer; the handle borrows nothing of it any more.
void cdr_easy_release(cdr_easy *easy);

#endif
