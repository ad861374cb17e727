//  least_loaded - where the fewest requests are, whatever is in the caches: for comparison

#include "actors/router/policies/policy.h"

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        candidates [i].cost = candidates [i].active;
    return policy_cheapest (request, candidates, count);
}

const policy_t policy_least_loaded = {
    .name = "least_loaded",
    .doc = "Goes where the fewest requests are.",
    .choose = s_choose,
};
