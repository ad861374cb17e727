//  policy - how a worker is chosen among those that can serve a request
//
//  To add one: write its function in a file beside this one, declare it here, put a row into the table in policy.c and its
//  name into router_modes (actors/router/router_options.c), and run scripts/documents --write, which puts it into the
//  manual.  A policy is given candidates, all of them eligible, in the order of their addresses and ranks; it sets the
//  cost of each (lower is better, for the decision record) and picks one.  It decides by integers only, reads nothing else
//  and keeps nothing: what has to be remembered of a session, and what is drawn, comes with the request, so that a decision
//  can be replayed.

#ifndef ACTORS_ROUTER_POLICIES_POLICY_H
#define ACTORS_ROUTER_POLICIES_POLICY_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

//  One data-parallel rank of one worker, as the router sees it now.
typedef struct {
    span_t worker;              //  Address
    uint64_t source;            //  Event source of the worker
    uint16_t rank;              //  Data-parallel rank
    uint32_t overlap_blocks;    //  Leading blocks of the request that it reaches, of which
    uint32_t host_blocks;       //  are in the memory of its machine,
    uint32_t disk_blocks;       //  on its disk
    uint32_t remote_blocks;     //  or in a store, the others being on its device; and
    uint32_t guessed_blocks;    //  are known by a guess only
    uint32_t pending_blocks;    //  Leading blocks besides that it was sent to compute; 0: the policy does not foresee
    uint32_t awaited_blocks;    //  Of these, those that should not be computed by now
    uint64_t prefill_blocks;    //  Blocks of prompts it still has to compute for others
    uint64_t active_blocks;     //  Blocks of the prompts of its running requests
    uint32_t active;            //  Requests routed there and not finished
    uint64_t kv_used;           //  Blocks in use, as it last reported
    uint64_t kv_capacity;       //  Blocks it has room for; 0: it does not say
    uint64_t live_blocks;       //  Blocks that conversations which are not over will want there again
    uint64_t cost;              //  Set by the policy
} policy_candidate_t;

//  The position of no candidate.
#define POLICY_NONE SIZE_MAX

//  What is asked for.
typedef struct {
    uint32_t prompt_blocks;    //  Full blocks of the prompt
    uint64_t turn;             //  Requests decided before this one
    size_t last;               //  The candidate that served its session before; POLICY_NONE where none did
    uint64_t random;           //  Drawn for this decision, uniform
} policy_request_t;

//  What can be set, in millionths.
typedef struct {
    uint64_t overlap_weight;    //  What a block in the cache is worth
    uint64_t load_weight;       //  What a block that is still to be computed or kept for others costs
    uint64_t lower_weight;      //  What a block in a lower tier is worth of one on the device
} policy_weights_t;

typedef struct {
    const char *name;    //  As in the configuration
    const char *doc;     //  One sentence
    bool foresees;       //  It looks at what is being computed
    //  Sets every cost and returns the position of the choice.  count: at least 1.
    size_t (*choose) (
        const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count);
} policy_t;

extern const policy_t policy_affinity;
extern const policy_t policy_dynamo;
extern const policy_t policy_kv;
extern const policy_t policy_least_loaded;
extern const policy_t policy_random;
extern const policy_t policy_round_robin;
extern const policy_t policy_sticky;

//  NULL where none has this name.
const policy_t *policy_find (const char *name);

//  A number of blocks as costs count it.  Workers say such numbers, and none may win by saying what no product with a weight
//  has room for: four times the bound with the highest weight, and once more, fit.
uint64_t policy_blocks (uint64_t said);

//  Whether the first has the lower cost, or the same and fewer active requests.
bool policy_is_better (const policy_candidate_t *a, const policy_candidate_t *b);

//  The position of the best candidate.  What is equal still takes turns, so that conversations which begin on an idle fleet
//  spread over it.
size_t policy_cheapest (const policy_request_t *request, const policy_candidate_t *candidates, size_t count);

#endif
