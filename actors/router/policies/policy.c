#include "actors/router/policies/policy.h"

#include <string.h>

static const policy_t *const s_policies [] = {
    &policy_kv,
    &policy_affinity,
    &policy_dynamo,
    &policy_sticky,
    &policy_least_loaded,
    &policy_random,
    &policy_round_robin,
};

const policy_t *
policy_find (const char *name)
{
    for (size_t i = 0; i < sizeof s_policies / sizeof *s_policies; i++)
        if (strcmp (s_policies [i]->name, name) == 0)
            return s_policies [i];
    return NULL;
}

uint64_t
policy_blocks (uint64_t said)
{
    static const uint64_t MOST = UINT64_C (1) << 31;
    return said < MOST ? said : MOST;
}

bool
policy_is_better (const policy_candidate_t *a, const policy_candidate_t *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->active < b->active;
}

size_t
policy_cheapest (const policy_request_t *request, const policy_candidate_t *candidates, size_t count)
{
    size_t first = (size_t)(request->turn % count), best = first;
    for (size_t i = 1; i < count; i++) {
        size_t next = (first + i) % count;
        if (policy_is_better (&candidates [next], &candidates [best]))
            best = next;
    }
    return best;
}
