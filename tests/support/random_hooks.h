// Hooks of a random team: now and then each of them does one of the things it may.
//
// Thread: any.
#ifndef SUPPORT_RANDOM_HOOKS_H
#define SUPPORT_RANDOM_HOOKS_H

#include "cadre/hook.h"

const cadre_hooks *random_hooks(void); // static storage

#endif
