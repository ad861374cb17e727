//  kv - stay where the cache is, start where the least is going on
//
//  A conversation's home is the worker that has at least half of its prompt, or else the one that served its session last
//  and still has some of it.
//  At home what counts is how long it would wait: what it would have to compute, and what is computed before.  Going
//  elsewhere costs MOVE_BLOCKS on top: a move is paid for later, by the sessions whose blocks it pushes out, and on agents'
//  traffic it pays only when it saves some 15 seconds of waiting, which is about as many blocks of prefill.  What has no
//  home begins where the least is to be computed and in use, because it will come back there.

#include "actors/router/policies/policy.h"

enum { MOVE_BLOCKS = 4096 };
static const uint64_t UNIT = 1000000;

//  The position of the home; POLICY_NONE where there is none.
static size_t
s_home (const policy_request_t *request, const policy_candidate_t *candidates, size_t count)
{
    size_t home = 0;
    for (size_t i = 1; i < count; i++)
        if (candidates [i].overlap_blocks > candidates [home].overlap_blocks)
            home = i;
    uint64_t most = candidates [home].overlap_blocks;
    if (most && most * 2 >= request->prompt_blocks)
        return home;
    return request->last != POLICY_NONE && candidates [request->last].overlap_blocks ? request->last : POLICY_NONE;
}

static uint64_t
s_cost (
    const policy_request_t *request, const policy_weights_t *weights, const policy_candidate_t *candidate, bool placing)
{
    uint64_t prompt = request->prompt_blocks * UNIT;
    uint64_t saved = candidate->overlap_blocks * weights->overlap_weight;
    uint64_t load = candidate->prefill_blocks + (placing ? candidate->active_blocks : 0);
    return (saved < prompt ? prompt - saved : 0) + load * weights->load_weight;
}

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    size_t home = s_home (request, candidates, count);
    bool placing = home == POLICY_NONE;
    for (size_t i = 0; i < count; i++) {
        candidates [i].cost = s_cost (request, weights, &candidates [i], placing);
        if (!placing && candidates [i].overlap_blocks < candidates [home].overlap_blocks)
            candidates [i].cost += MOVE_BLOCKS * weights->overlap_weight;
    }
    return policy_cheapest (request, candidates, count);
}

const policy_t policy_kv = {
    .name = "kv",
    .doc = "Weighs what is in a worker's cache against its load, and moves a conversation only when that clearly wins.",
    .choose = s_choose,
};
