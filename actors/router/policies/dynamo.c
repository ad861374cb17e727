//  dynamo - the cost that Dynamo's router publishes, at temperature 0
//
//  cost = w x (blocks that the worker would have to compute, the ones it owes others included) + blocks its requests then
//  use.  Of equals one is drawn.  Its prefill_load_scale w is our overlap_weight.  For comparison: it has no price for
//  leaving a warm worker, so under load it moves sessions away from their blocks.

#include "actors/router/policies/policy.h"

static const uint64_t UNIT = 1000000;

static uint64_t
s_cost (const policy_request_t *request, const policy_weights_t *weights, const policy_candidate_t *candidate)
{
    uint64_t prefill = policy_blocks (candidate->prefill_blocks) + request->prompt_blocks - candidate->overlap_blocks;
    uint64_t decode = policy_blocks (candidate->active_blocks) + request->prompt_blocks;
    return prefill * weights->overlap_weight + decode * UNIT;
}

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    size_t choice = 0;
    size_t equals = 0;
    for (size_t i = 0; i < count; i++) {
        candidates [i].cost = s_cost (request, weights, &candidates [i]);
        if (candidates [i].cost < candidates [choice].cost || equals == 0) {
            choice = i;
            equals = 1;
        } else
            equals += candidates [i].cost == candidates [choice].cost;
    }
    for (size_t i = 0, skipped = (size_t)(request->random % equals); i < count; i++)
        if (candidates [i].cost == candidates [choice].cost && skipped-- == 0)
            return i;
    return choice;
}

const policy_t policy_dynamo = {
    .name = "dynamo",
    .doc = "The cost that Dynamo's router publishes: blocks to compute and blocks in use, and no price for moving.",
    .choose = s_choose,
};
