// Requests with a name: started once, however often they are made.
//
// Rules:
// 1. A request id is unique in its conversation. It is kept with the user's input, with
//    a digest of the content: the input and the inputs that were given.
// 2. Of two that start at once with the same id the store takes one; the other looks
//    again and finds the first.
//
// Thread: any.
#ifndef CDR_REQUEST_H
#define CDR_REQUEST_H

#include "run/run.h"

// As cdr_run_start, of a start with a request id.
cadre_status cdr_request_start(const cdr_start *start, cadre_run **out,
                               cadre_error *err);

#endif
