// Views that are kept and brought up to date, compared with ones that are made anew,
// for frames of runs that are under way: each frame has one of each history.
//
// Thread: check from any; the others while no run is.
#ifndef SUPPORT_KEPT_VIEWS_H
#define SUPPORT_KEPT_VIEWS_H

#include "cadre/frame.h"

#include <stddef.h>

// Compares; to be called on the frame's thread, again and again while it lives.
void kept_views_check(cadre_frame *frame);

// Forgets all frames; fails the test when some were not the same.
void kept_views_close(void);

// How many were the same since the program began, of those that had been kept.
size_t kept_views_count(void);

#endif
