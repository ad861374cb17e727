//  choice - whom a request can go to, what is known of each of them, and which one a policy takes
//
//  Puts together what the fleet, the index and the sessions know.  It costs as much as there are candidates, and holders of
//  the prompt and changes of them, together.

#ifndef ACTORS_ROUTER_CHOICE_H
#define ACTORS_ROUTER_CHOICE_H

#include "actors/router/fleet.h"
#include "actors/router/sessions.h"

//  Candidates that a decision record has at most.
enum { CHOICE_SHOWN = 16 };

//  What it is made from; all borrowed.
typedef struct {
    fleet_t *fleet;              //  Whom there is
    catalog_t *catalog;          //  Who has what
    sessions_t *sessions;        //  Where each was last
    const policy_t *policy;      //  Who takes one
    policy_weights_t weights;    //  For the policy
    bool foresees;               //  Whether what is being computed is looked at
} choice_sources_t;

//  Embedded: choice_init, choice_fini.
typedef struct {
    array_t candidates;    //  policy_candidate_t of the last request, by address and rank
    array_t overlaps;      //  catalog_overlap_t, scratch
} choice_t;

void choice_init (choice_t *self);
void choice_fini (choice_t *self);

//  The position of the candidate that the policy takes; POLICY_NONE where there is none, and the reason says why.
//  asked: turn and what was drawn come with it, the rest is filled in.
size_t choice_make (choice_t *self, const choice_sources_t *sources, const route_t *request, policy_request_t *asked,
    uint64_t now_ns, error_t *reason);

//  The session of a request; empty where it has none.  Borrowed.
span_t choice_session (const route_t *request);

//  The best candidates, best first and equals in their order, as others are shown them.  Returns how many.
size_t choice_best (const choice_t *self, candidate_t shown [CHOICE_SHOWN]);

#endif
