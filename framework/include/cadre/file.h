// Files that come with a user's text: pictures, documents, sound, plain text.
//
// They become parts of the user's message and are kept with it; a model that sees the
// message is sent them, in the form its provider takes. cadre_message.parts is a JSON
// list with an object for each:
//
//     {"type": "image" or "file", "media_type": "image/png", "name": "a.png",
//      "data": base64, or "text": plain text, or "url": where it is}
//
// Thread: plain data.
#ifndef CADRE_FILE_H
#define CADRE_FILE_H

#include "cadre/error.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CADRE_FILE_MAX_BYTES ((size_t)20 * 1024 * 1024) // of each; providers take less

typedef struct cadre_file {
    const char *name; // shown to the model; NULL: "file"
    // NULL: told by the first bytes (PNG, JPEG, GIF, WebP, PDF, WAV, MP3; else text, if
    // it is UTF-8). Needed with a url.
    const char *media_type;
    const void *data; // borrowed and copied
    size_t size_bytes;
    const char *url; // the provider fetches it; `data` is NULL then
} cadre_file;

// Tells what kind of file these bytes are: "image/png", "text/plain"; NULL: none that
// models take.
CADRE_API const char *cadre_file_media_type(const void *data, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif
