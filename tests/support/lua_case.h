// Teams of files with hooks in Lua, over a driven model. One at a time.
//
// Running out of memory ends the program. Thread: the test's.
#ifndef SUPPORT_LUA_CASE_H
#define SUPPORT_LUA_CASE_H

#include "support/team_case.h"

extern team_case lua_team;

// Loads team.yaml, beside which `hooks` stands as hooks.lua. The team must be sound.
void lua_case_open(const char *team, const char *hooks);

// One agent, alice, with a tool `echo` that gives its arguments back; `names`: its
// hooks, "create next".
void lua_case_open_alice(const char *names, const char *hooks);

// A handoff `desk` over alice, bob and carol, alice first; `names`: those of alice.
void lua_case_open_desk(const char *names, const char *hooks);
void lua_case_close(void);

void lua_case_run(const char *input);

// The last run answered so.
void lua_case_check(const char *text);

// It failed with class hook and that text behind "agent 'alice': hook NAME: ".
void lua_case_check_failure(const char *hook, const char *text);

// Runs alice with one `create`, which returns the value of an expression as `output`
// through tostring; or fails with that text.
void lua_case_check_value(const char *expression, const char *value);
void lua_case_check_mistake(const char *statements, const char *text);

#endif
