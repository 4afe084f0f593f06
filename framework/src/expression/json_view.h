// JSON in Lua, read where it lies: an object or list is a userdata that looks like a
// read-only table (index, #, pairs, ipairs, table.concat, table.unpack).
//
// null is nil; whole numbers stay exact. A view borrows the JSON, which must outlive
// the run and not change. Thread: that of the Lua state.
#ifndef CDR_JSON_VIEW_H
#define CDR_JSON_VIEW_H

#include <jansson.h>
#include <lua.h>
#include <stdbool.h>

// Makes views known to a new state. Raises errors.
void cdr_json_view_open(lua_State *lua);

// Pushes a value; NULL is nil. Raises "not enough memory".
void cdr_json_push(lua_State *lua, const json_t *value);

// The JSON of a view; NULL: the value at `index` is none.
const json_t *cdr_json_view_at(lua_State *lua, int index);

// "table" for views, else Lua's name of the type.
const char *cdr_json_type_name(lua_State *lua, int index);

// The iterator of pairs() for views: (view, key) to the next (key, value).
int cdr_json_view_next(lua_State *lua);

// Makes JSON of the Lua value at `index` and keeps it (sandbox.h) until the run ends:
// who needs it longer takes a reference. Raises what is no JSON.
const json_t *cdr_json_take(lua_State *lua, int index);

// About the bytes a value takes in Lua. What is deeper than CDR_JSON_MAX_DEPTH is not
// counted; `*is_too_deep`, unless NULL, is then set.
size_t cdr_json_weight(const json_t *value, int depth, bool *is_too_deep);

#endif
