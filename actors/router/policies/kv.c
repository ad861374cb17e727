//  kv - stay where the cache is, start where the least waits
//
//  The cost of a worker is what it would have to compute for this request, plus what it still has to compute and keep for
//  others.  Where one worker has at least half of the prompt (the request's home), going elsewhere costs MOVE_BLOCKS on
//  top: a move is paid for later, by the sessions whose blocks it pushes out, and on agents' traffic it pays only when it
//  saves some 15 seconds of waiting, which is about as many blocks of prefill.

#include "actors/router/policies/policy.h"

enum { MOVE_BLOCKS = 2048 };
static const uint64_t UNIT = 1000000;

//  The position of the home; count where there is none.
static size_t
s_home (const policy_request_t *request, const policy_candidate_t *candidates, size_t count)
{
    size_t home = count;
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (candidates [i].overlap_blocks > most) {
            most = candidates [i].overlap_blocks;
            home = i;
        }
    return (uint64_t)most * 2 >= request->prompt_blocks ? home : count;
}

static uint64_t
s_cost (const policy_request_t *request, const policy_weights_t *weights, const policy_candidate_t *candidate)
{
    uint64_t prompt = request->prompt_blocks * UNIT;
    uint64_t saved = candidate->overlap_blocks * weights->overlap_weight;
    uint64_t load = (candidate->prefill_blocks + candidate->active_blocks) * weights->load_weight;
    return (saved < prompt ? prompt - saved : 0) + load;
}

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    size_t home = s_home (request, candidates, count);
    bool has_home = home < count;
    for (size_t i = 0; i < count; i++) {
        bool as_good = has_home && candidates [i].overlap_blocks == candidates [home].overlap_blocks;
        candidates [i].cost = s_cost (request, weights, &candidates [i]);
        if (has_home && !as_good)
            candidates [i].cost += MOVE_BLOCKS * weights->overlap_weight;
    }
    return policy_cheapest (request, candidates, count);
}

const policy_t policy_kv = {
    .name = "kv",
    .doc = "Weighs what is in a worker's cache against its load, and moves a conversation only when that clearly wins.",
    .choose = s_choose,
};
