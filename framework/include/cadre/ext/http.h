// An HTTP request that a wire format writes: URL, headers and a body in pieces. A
// failed allocation is remembered and reported by the framework.
//
// Thread: the frame's.
#ifndef CADRE_EXT_HTTP_H
#define CADRE_EXT_HTTP_H

#include "cadre/ext/transcript.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_http cadre_http;

CADRE_API void cadre_http_set_url(cadre_http *http, const char *format, ...)
    CADRE_PRINTF(2, 3);
// In place of an earlier one of this name, in whatever case.
CADRE_API void cadre_http_set_header(cadre_http *http, const char *name,
                                     const char *format, ...) CADRE_PRINTF(3, 4);
CADRE_API void cadre_http_append(cadre_http *http, const char *data, size_t len);
CADRE_API void cadre_http_append_text(cadre_http *http, const char *text);   // as it is
CADRE_API void cadre_http_append_string(cadre_http *http, const char *text); // JSON
// The same without the quotes, for strings that are put together from several texts.
CADRE_API void cadre_http_append_escaped(cadre_http *http, const char *text);
// A tool's name as providers take it (cadre_wire_name), without quotes.
CADRE_API void cadre_http_append_name(cadre_http *http, const char *name);
CADRE_API void cadre_http_append_json(cadre_http *http, const json_t *value);
CADRE_API void cadre_http_fail(cadre_http *http); // no memory: it is not sent

// Appends what `write` makes of this item: made once for each message, rendering and
// `format` (a static string: identity counts) and kept, so it is to be the same each
// time. What depends on the request, as a turn does by is_own, has several formats.
typedef void (*cadre_item_writer)(const cadre_request_item *item, cadre_http *http);
CADRE_API void cadre_http_append_item(cadre_http *http, const cadre_request_item *item,
                                      const char *format, cadre_item_writer write);
// The same for what is made of a turn with one item: an assistant's, with its calls. A
// renamed one is not kept: its ids depend on those before it.
typedef void (*cadre_turn_writer)(const cadre_turn *turn, cadre_http *http);
CADRE_API void cadre_http_append_turn(cadre_http *http, const cadre_turn *turn,
                                      const char *format, cadre_turn_writer write);

// Not writing turns again. A history grows at its end, so the body of a frame's last
// request may stand there still, up to the end of some turn: cadre_http_kept_turns says
// how many turns that are. 0: nothing is there, and what comes before the turns is to
// be written too. Behind each turn cadre_http_keep_turns says that the first n are
// written and that each request of the frame for this model, with this system text,
// that begins with these turns begins with these bytes. So what may change (tools) is
// written behind the turns; what an answer must fit stays the same for a frame.
CADRE_API size_t cadre_http_kept_turns(const cadre_http *http);
CADRE_API void cadre_http_keep_turns(cadre_http *http, size_t n_turns);
// Leaves at most the first `n_turns` of those that are kept, where the others are to be
// written otherwise this time. Returns how many there are.
CADRE_API size_t cadre_http_cut_turns(cadre_http *http, size_t n_turns);

#ifdef __cplusplus
}
#endif

#endif
