// cadre: teams of LLM agents, in C.
//
// An object is used by one thread at a time unless its header says otherwise;
// callbacks run with no framework lock held. Objects that are NULL are refused with
// CADRE_EINVAL, or ignored where no status is returned.
//
// From C++ all works but the macros that make structs in place (CADRE_LLM(...) and the
// like), which are C: C++ fills the struct by hand, `struct_size` set to its sizeof.
#ifndef CADRE_CADRE_H
#define CADRE_CADRE_H

#include "cadre/error.h"

#include "cadre/agent.h"
#include "cadre/file.h"
#include "cadre/message.h"
#include "cadre/call.h"
#include "cadre/frame.h"
#include "cadre/hook.h"
#include "cadre/event.h"
#include "cadre/runtime.h"
#include "cadre/team.h"
#include "cadre/load.h"
#include "cadre/state.h"
#include "cadre/predicate.h"
#include "cadre/run.h"
#include "cadre/shape.h"
#include "cadre/record.h"
#include "cadre/trace.h"
#include "cadre/reenter.h"

#endif
