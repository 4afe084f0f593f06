// Plain scalars by the strict form of YAML 1.2's core schema (see yaml.h).
// Source: YAML 1.2.2, 10.3.2.
//
// Thread: any.
#ifndef CDR_YAML_SCALAR_H
#define CDR_YAML_SCALAR_H

#include <jansson.h>

// Reads a plain scalar: null, a boolean, an integer, a real, else a string. The text
// is UTF-8, ends with a NUL and holds none. New reference; NULL: no memory.
json_t *cdr_yaml_scalar_read(const char *text, size_t len);

#endif
