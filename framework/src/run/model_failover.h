// Failover: a call whose model fails for good asks the next one of its list.
//
// Rules:
// 1. The list is that of the model the agent asks: itself, then its `fallback`. The
// lists
//    of those are not followed. Scripted models have none.
// 2. The next one is asked, with the same messages and in the same frame, when a
// failure
//    has used up the attempts that it may have, and another model may do better: not
//    after a request that is wrong, nor one that a content filter refused.
// 3. A model whose server, key or quota failed so cools down: as long as its server
// said,
//    else a minute. All calls of the process that have another one pass it over.
// 4. Each is asked once in a call. Those that do not cool come first, in the order of
//    the list, then the others, first whose time is over first.
// 5. Each has its own attempts, times, key and limits. A call that was cut begins again
//    with the list; what it had tried before counts for the first one.
// 6. A `retry` event tells of each change.
//
// Thread: the strand that asks.
#ifndef CDR_MODEL_FAILOVER_H
#define CDR_MODEL_FAILOVER_H

#include "run/model_call.h"

// Chooses whom the call asks first: what it may use is reckoned at that one's price.
void cdr_model_failover_start(cdr_model_call *call);

// Tells that it is not the first of the list, since that is passed over.
void cdr_model_failover_tell(cdr_model_call *call);

// The attempts at the call's model are used up: has it cool down, where it must, and
// chooses whom to ask next. False: nobody; the failure stands.
bool cdr_model_failover_next(cdr_model_call *call, const cadre_error *failure);

// The call's model has answered: it cools no more.
void cdr_model_failover_end(cdr_model_call *call);

// Says whose call of which model failed, unless the text does (a script without a step
// names the agent), and which models were asked before that one.
void cdr_model_failover_name(const cdr_model_call *call, cadre_error *failure);

#endif
