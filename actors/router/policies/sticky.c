//  sticky - a session stays where it began

#include "actors/router/policies/policy.h"

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    bool placed = request->last != POLICY_NONE;
    for (size_t i = 0; i < count; i++)
        candidates [i].cost = placed ? i != request->last : candidates [i].active;
    return policy_cheapest (request, candidates, count);
}

const policy_t policy_sticky = {
    .name = "sticky",
    .doc = "Keeps a session where it began, for as long as that worker can be chosen; a new one goes where the fewest "
           "requests are.",
    .choose = s_choose,
};
