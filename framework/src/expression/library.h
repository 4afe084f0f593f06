// What a script may name: Lua's own functions as far as they are harmless, and ours.
//
// Thread: that of the Lua state.
#ifndef CDR_LIBRARY_H
#define CDR_LIBRARY_H

#include <lauxlib.h>
#include <lua.h>

// Pushes a table of all global names. Raises errors.
void cdr_library_push(lua_State *lua);

// The global names, ended by NULL; first the CDR_LIBRARY_N_OWN that are not Lua's.
extern const char *const cdr_library_names[];
#define CDR_LIBRARY_N_OWN 5

// Ours (functions.c), ended by {NULL, NULL}: those five, and what replaces Lua's.
extern const luaL_Reg cdr_functions[];

// string.format without addresses (functions.c); Lua's own is upvalue 1.
int cdr_function_format(lua_State *lua);

// table.move for at most a million places; Lua's own is upvalue 1.
int cdr_function_move(lua_State *lua);

#endif
