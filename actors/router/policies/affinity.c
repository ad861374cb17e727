//  affinity - where most of the prompt is, whatever the load

#include "actors/router/policies/policy.h"

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        candidates [i].cost = request->prompt_blocks - candidates [i].overlap_blocks;
    return policy_cheapest (request, candidates, count);
}

const policy_t policy_affinity = {
    .name = "affinity",
    .doc = "Goes where most of the prompt is; a new one where least is going on.",
    .choose = s_choose,
};
