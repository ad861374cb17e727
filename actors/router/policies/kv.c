//  kv - stay where the cache is, start where the least is wanted
//
//  A conversation's home is the worker that has at least half of its prompt, or else the one that served its session last
//  and still has some of it.
//  At home what counts is how long it would wait: what it would have to compute, and what is computed before.  Going
//  elsewhere costs MOVE_BLOCKS on top: a move is paid for later, by the sessions whose blocks it pushes out, and on agents'
//  traffic it pays only when it saves some 15 seconds of waiting, which is about as many blocks of prefill.  Where it would
//  not fit beside what live conversations want, each block that is too many costs CROWDING more: a fleet that is full
//  collapses by moving.
//  Blocks that it was sent to compute count like those it has: they are in the prefill that it owes until the first token, so
//  waiting for them costs what computing them would; but what should be computed by now is owed no more, and the wait is for
//  the rest.  So siblings that begin together with one new prompt go where the first of them went, as long as the queue there
//  is shorter than a move.
//  A block in a lower tier, or in a store, is worth less than one on the device, because it has to be fetched.
//  What has no home begins where the least is to be computed and wanted by live conversations, because it will come back
//  there: what is in flight now says little about that, as most conversations are waiting for a tool at any time.

#include "actors/router/policies/policy.h"

enum { MOVE_BLOCKS = 4096, CROWDING = 4 };
static const uint64_t UNIT = 1000000;

//  What will be there when its turn comes, in millionths of blocks on the device.
static uint64_t
s_worth (const policy_weights_t *weights, const policy_candidate_t *candidate)
{
    uint64_t lower = (uint64_t)candidate->host_blocks + candidate->disk_blocks + candidate->remote_blocks;
    uint64_t foreseen = (uint64_t)candidate->overlap_blocks + candidate->pending_blocks;
    return (foreseen - lower) * UNIT + lower * weights->lower_weight;
}

//  Blocks that it computes before: not those that are there by now, though it has not said so.
static uint64_t
s_owed (const policy_candidate_t *candidate)
{
    uint64_t computed = candidate->pending_blocks - candidate->awaited_blocks;
    uint64_t owed = policy_blocks (candidate->prefill_blocks);
    return owed > computed ? owed - computed : 0;
}

//  The position of the home; POLICY_NONE where there is none.
static size_t
s_home (const policy_request_t *request, const policy_weights_t *weights, const policy_candidate_t *candidates,
    size_t count)
{
    size_t home = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t worth = s_worth (weights, &candidates [i]);
        if (worth > most) {
            home = i;
            most = worth;
        }
    }
    if (most && most * 2 >= request->prompt_blocks * UNIT)
        return home;
    return request->last != POLICY_NONE && s_worth (weights, &candidates [request->last]) ? request->last : POLICY_NONE;
}

//  Blocks that will be wanted there again, or are in use by requests of no conversation.
static uint64_t
s_wanted (const policy_candidate_t *candidate)
{
    return policy_blocks (
        candidate->live_blocks > candidate->active_blocks ? candidate->live_blocks : candidate->active_blocks);
}

//  What it would push out there, of that.
static uint64_t
s_crowded_out (const policy_request_t *request, const policy_candidate_t *candidate)
{
    uint64_t wanted = s_wanted (candidate) + request->prompt_blocks;
    return candidate->kv_capacity && wanted > candidate->kv_capacity ? wanted - candidate->kv_capacity : 0;
}

//  A prompt has at most 2^20 blocks, a weight is at most 1000 and the rest is bounded (policy_blocks): nothing overflows.
static uint64_t
s_cost (const policy_request_t *request, const policy_weights_t *weights, const policy_candidate_t *candidate)
{
    uint64_t prompt = request->prompt_blocks * UNIT;
    uint64_t saved = s_worth (weights, candidate) / 1000 * weights->overlap_weight / 1000;
    return (saved < prompt ? prompt - saved : 0) + s_owed (candidate) * weights->load_weight;
}

static size_t
s_choose (
    const policy_request_t *request, const policy_weights_t *weights, policy_candidate_t *candidates, size_t count)
{
    size_t home = s_home (request, weights, candidates, count);
    uint64_t most = home == POLICY_NONE ? 0 : s_worth (weights, &candidates [home]);
    for (size_t i = 0; i < count; i++) {
        policy_candidate_t *candidate = &candidates [i];
        candidate->cost = s_cost (request, weights, candidate);
        if (home == POLICY_NONE)
            candidate->cost += s_wanted (candidate) * weights->load_weight;
        else if (s_worth (weights, candidate) < most)
            candidate->cost += (MOVE_BLOCKS + s_crowded_out (request, candidate) * CROWDING) * weights->overlap_weight;
    }
    return policy_cheapest (request, candidates, count);
}

const policy_t policy_kv = {
    .name = "kv",
    .doc = "Weighs what is in a worker's cache against its load and room, and moves a conversation only when that "
           "clearly wins.",
    .foresees = true,
    .choose = s_choose,
};
