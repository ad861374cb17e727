//  fleet - the workers a router can choose from, and what it has given them to do
//
//  A worker is here from the moment the directory names it until it is gone; it can be chosen while it is alive, takes
//  work and serves the model.  What was routed to a worker is *active* until its end is reported, the worker or whoever
//  asked is replaced or gone, nothing is heard of it for an hour, or more are active than may: then the one goes that was
//  not heard of for longest.
//
//  How fast a worker computes is learnt from how long first tokens took, what waited before them included.

#ifndef ACTORS_ROUTER_FLEET_H
#define ACTORS_ROUTER_FLEET_H

#include "actors/router/policies/policy.h"
#include "base/array.h"
#include "kv/catalog/catalog.h"
#include "schemas/directory.h"
#include "schemas/load.h"
#include "schemas/route.h"

typedef struct fleet fleet_t;

//  A request that is not active any more, however that came.
typedef struct {
    catalog_ticket_t prefill;     //  What it was to bring
    bool is_guess;                //  Its worker says nothing of what it stores
    catalog_outcome_t outcome;    //  Then: what is known of it
} fleet_end_t;

typedef void (fleet_ended_fn) (void *arg, const fleet_end_t *end);

typedef struct {
    uint64_t load_stale_ns;      //  Age from which on a load report says nothing any more
    size_t active_max;           //  Requests at most, 1 or more
    fleet_ended_fn *on_ended;    //  Told of each that ends; NULL: nobody
    void *arg;                   //  For on_ended
} fleet_options_t;

//  Gives the fleet; never NULL.
fleet_t *fleet_new (const fleet_options_t *options);

//  Ends every request.
void fleet_destroy (fleet_t **self_p);

//  Another age, from now on.
void fleet_set_stale (fleet_t *self, uint64_t load_stale_ns);

//  A candidate as others are shown it.  Borrows its address.
candidate_t candidate_from_policy (const policy_candidate_t *candidate);

//  Whether this is another incarnation of a worker than the one that is known.
bool fleet_is_replaced (const fleet_t *self, const actor_entry_t *entry);

//  What the directory says of a worker.  STATUS_INVALID where its card cannot be read: it is not chosen then.
status_t fleet_see (fleet_t *self, const actor_entry_t *entry, error_t *error);

//  A load report.  source: event source of the worker.
void fleet_report (fleet_t *self, uint64_t source, const worker_load_t *load, uint64_t now_ns);

//  Fills the array with a policy_candidate_t for every rank of every worker that can serve the request, by address and
//  rank, with everything but overlap, live blocks and cost.  Addresses are borrowed until the next fleet_see.
//  reason: why nobody can, where nobody can.
void fleet_candidates (fleet_t *self, const route_t *request, uint64_t now_ns, array_t *candidates, error_t *reason);

//  The position of a rank of a worker, by its event source, in the array that fleet_candidates filled last, as long as that
//  is in the order it was filled in; POLICY_NONE where it is no candidate.
size_t fleet_position (const fleet_t *self, uint64_t source, uint16_t rank);

//  How long it will take a candidate to have computed so many blocks more, in ns.
uint64_t fleet_expected_ns (const fleet_t *self, const policy_candidate_t *candidate, uint32_t new_blocks);

//  How many blocks it computes in that time.
uint64_t fleet_blocks_in (const fleet_t *self, const policy_candidate_t *candidate, uint64_t ns);

//  Whether the worker says what it stores.
bool fleet_tells (const fleet_t *self, const policy_candidate_t *candidate);

//  What was routed.
typedef struct {
    span_t request;                //  Id
    span_t asker;                  //  Address of whoever asked
    uint64_t asker_incarnation;    //  Of that one; 0: the directory has not named it yet
    uint32_t new_blocks;           //  Not in the worker's cache, nor on the way there
    uint32_t prompt_blocks;        //  Of the prompt
    catalog_ticket_t prefill;      //  For on_ended
} fleet_request_t;

//  Counts a request as active.  Borrows all for the call.
void fleet_begin (fleet_t *self, const fleet_request_t *request, const policy_candidate_t *choice, uint64_t now_ns);

//  What the directory says of any actor: what it asked for before it was replaced, or until it was gone, is over.
void fleet_see_asker (fleet_t *self, const actor_entry_t *entry);

//  Its first token is there, or it ended.  An empty worker stands for wherever it is.  False where no such request is active
//  there.
bool fleet_progress (fleet_t *self, const route_progress_t *progress, uint64_t now_ns);

//  Drops requests nothing was heard of for too long.  Returns how many were dropped since it was called last, those included
//  that made room.
size_t fleet_expire (fleet_t *self, uint64_t now_ns);

//  Workers that the directory names, and requests that are active.
size_t fleet_workers (const fleet_t *self);
size_t fleet_active (const fleet_t *self);

#endif
