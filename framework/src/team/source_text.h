// The bytes of a source file: are they text, and which line is it.
//
// Thread: any.
#ifndef CDR_SOURCE_TEXT_H
#define CDR_SOURCE_TEXT_H

#include "team/document.h"

// Checks size, UTF-8 and that there are only characters that YAML and JSON files may
// hold. Errors: ECONFIG; the document then has the problem, at the first character that
// is wrong.
cadre_status cdr_source_check(cdr_document *document, const char *text, size_t len);

// Bytes of the byte order mark that `text` starts with: 0 or 3.
size_t cdr_source_mark_length(const char *text, size_t len);

// Moves a place on over `len` bytes. Lines end with LF, CR LF or CR.
void cdr_place_advance(cdr_place *place, const char *text, size_t len);

#endif
