// "Did you mean": the known name that is nearest to a wrong one.
// Thread: any.
#ifndef CDR_NEAREST_H
#define CDR_NEAREST_H

#include <stddef.h>

// Returns the name with the smallest edit distance (insert, delete, replace, swap of
// neighbours; ASCII case ignored), the first of several, if it is at most a third of
// the length of `name`, at least 1, and not everything is different; else the shortest
// that starts with `name`, if that is 3 characters or more. Names over 64 characters
// are not near anything. NULL: none is near. Borrowed from `names`.
const char *cdr_nearest(const char *name, const char *const *names, size_t n_names);

#endif
