// Order in Lua without chance: tables are walked by sorted keys, and sorting is stable.
// Lua's own `next` follows hashes, whose seed differs between processes, and its `sort`
// may look at the clock.
//
// Thread: that of the Lua state.
#ifndef CDR_ORDER_H
#define CDR_ORDER_H

#include <lua.h>

// Pushes a list of the keys of the table at `index`: numbers, then texts by their
// bytes, then booleans. Raises an error for other keys. Returns how many.
lua_Integer cdr_order_push_keys(lua_State *lua, int index);

// table.sort(list [, is_before])
int cdr_order_sort(lua_State *lua);

#endif
