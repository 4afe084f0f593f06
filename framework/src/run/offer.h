// The tools that a frame's model is offered: those it is given, those that its caller
// lends it, and the scope's where there is an edge.
//
// Thread: the frame's strand.
#ifndef CDR_OFFER_H
#define CDR_OFFER_H

#include "tree/tree.h"

typedef struct cdr_offer {
    const cadre_tool **tools;
    cadre_tool_info *infos; // as they are described to this frame
    size_t count;
} cdr_offer;

// Lists them, in the arena. False: no memory.
bool cdr_offer_init(cdr_offer *offer, cadre_frame *frame, cadre_tools tools,
                    cdr_arena *arena);

// Finds one by the name it is offered under; NULL: there is none.
const cadre_tool *cdr_offer_find(const cdr_offer *offer, const char *name);

// Gives the name of the one that goes over the wire under a name; NULL: there is none.
const char *cdr_offer_of_wire(const cdr_offer *offer, const char *wire);

// Gives "add, transfer_to_agent", or "none"; free() it. NULL: no memory.
char *cdr_offer_names(const cdr_offer *offer);

#endif
