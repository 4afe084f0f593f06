// cadre: teams of LLM agents, in C.
//
// An object is used by one thread at a time unless its header says otherwise;
// callbacks run with no framework lock held.
#ifndef CADRE_CADRE_H
#define CADRE_CADRE_H

#include "cadre/error.h"

#include "cadre/agent.h"
#include "cadre/message.h"
#include "cadre/call.h"
#include "cadre/frame.h"
#include "cadre/event.h"
#include "cadre/runtime.h"
#include "cadre/team.h"
#include "cadre/run.h"

#endif
