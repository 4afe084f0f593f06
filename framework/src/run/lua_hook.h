// Hooks in Lua: the functions of a file as the C hooks that everything else knows.
//
// Rules:
// 1. A call of a hook is one run of its file's sandbox: the file defines its functions
//    anew, then the one is called with `ctx`. Nothing is kept from one to the next, so
//    what a resume does again is what was done.
// 2. What `ctx` gives is what the frame has (lua_context.c), and its operations
//    (lua_host.c), whose statuses go through Lua as they are: EPARKED parks.
// 3. What a function returns is done when it has returned (lua_hook.c).
//
// Thread: as cadre/hook.h; a set by any number at once.
#ifndef CDR_LUA_HOOK_H
#define CDR_LUA_HOOK_H

#include "cadre/hook.h"

#include "team/hook_file.h"

// Makes C hooks of a set, which must outlive them.
void cdr_lua_hooks_fill(cdr_hook_set *set, cadre_hooks *out);

#endif
