// A model's answer while it is gathered: what wire formats write to through cadre_sink.
//
// Rules:
// 1. An answer is whole when a finish was seen; the end marker is one behind text or
//    whole calls, else it is not enough.
// 2. Complete calls decide: finish `stop` with calls becomes `tool_calls`; `length` and
//    `content_filter` are not overridden.
// 3. A call without an id gets one unique within the answer; a repeated id is made
//    unique; empty arguments are "{}", and what a server has sent twice counts once.
// 4. Items that only the model can read stand in order, each with its place.
// 5. Text that is not UTF-8 gets U+FFFD, also when a character is cut by the pieces.
// 6. No secret of the request stands in what is shown or kept, however it is cut: it is
//    covered with stars. What may become one is held back until more comes.
//
// Thread: the network thread fills it, the frame's thread reads it after that is done.
#ifndef CDR_ANSWER_H
#define CDR_ANSWER_H

#include "cadre/ext/model.h"

#include "net/secrets.h"
#include "net/think.h"

typedef struct cdr_answer_call {
    cdr_buf id, name, arguments;
    uint16_t half; // of a surrogate pair in the arguments; 0: none
} cdr_answer_call;

struct cadre_sink {
    cdr_buf text, reasoning;
    cdr_answer_call *calls;
    size_t n_calls;
    cdr_buf items;           // a JSON list without its last bracket; empty: none
    cdr_buf item;            // one that is not ended yet
    cadre_usage usage;       // model_calls and tool_calls are not used here
    int64_t n_cache_written; // of its input_tokens
    cadre_finish finish;
    bool ended;                           // the end marker was seen
    bool failed;                          // no memory
    char text_tail[4], reasoning_tail[4]; // a character that is not whole yet
    unsigned char n_text_tail, n_reasoning_tail;
    uint16_t text_half, reasoning_half; // of a surrogate pair; 0: none
    // Of the request; NULL: none. Must live until the answer is settled.
    const cdr_secrets *secrets;
    cdr_buf text_held, reasoning_held; // what may become a secret
    cdr_think think;                   // of the text
    const char *think_mark;            // an item, where that has reasoning
    // Shows a piece of text as it comes; optional. On the thread that fills it.
    void (*on_delta)(void *ctx, bool is_reasoning, const char *text, size_t len);
    void *ctx;
};

void cdr_answer_init(cadre_sink *sink);
void cdr_answer_fini(cadre_sink *sink);
void cdr_answer_clear(cadre_sink *sink); // before another attempt

// Ends what was cut, since nothing more comes.
void cdr_answer_end_texts(cadre_sink *sink);
// How many bytes were said so far, in whatever form.
size_t cdr_answer_size(const cadre_sink *sink);

// Applies the rules when the stream is done. Errors: class truncated (no finish was
// seen), empty_response (a finish, but neither text nor call; thoughts are none),
// content_filter, bad_response (a call without a name), ENOMEM. A `length` with calls
// drops the calls: they may be cut.
cadre_status cdr_answer_settle(cadre_sink *sink, cadre_error *err);

#endif
