//  random - anybody, whatever is in the caches: for comparison

#include "actors/router/policies/policy.h"

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    size_t choice = (size_t)(request->random % count);
    for (size_t i = 0; i < count; i++)
        candidates [i].cost = i != choice;
    return choice;
}

const policy_t policy_random = {
    .name = "random",
    .doc = "Draws lots.",
    .choose = s_choose,
};
