#include "actors/router/choice.h"

#include "schemas/event_header.h"

void
choice_init (choice_t *self)
{
    array_init (&self->candidates, sizeof (policy_candidate_t));
    array_init (&self->overlaps, sizeof (catalog_overlap_t));
}

void
choice_fini (choice_t *self)
{
    array_fini (&self->candidates);
    array_fini (&self->overlaps);
}

span_t
choice_session (const route_t *request)
{
    return request->has_envelope && request->envelope.has_session ? request->envelope.session : SPAN ("");
}

//  What it reaches of the prompt, and what of that it has to wait for.
static void
s_set_overlap (const fleet_t *fleet, policy_candidate_t *candidate, const catalog_overlap_t *overlap, uint64_t now_ns)
{
    const reach_overlap_t *reached = &overlap->reached;
    uint64_t wait_ns = overlap->expected_ns > now_ns ? overlap->expected_ns - now_ns : 0;
    uint64_t awaited = reached->pending ? fleet_blocks_in (fleet, candidate, wait_ns) : 0;
    candidate->overlap_blocks = reached->total - reached->pending;
    candidate->host_blocks = reached->blocks [TIER_HOST];
    candidate->disk_blocks = reached->blocks [TIER_DISK];
    candidate->remote_blocks = reached->blocks [TIER_REMOTE];
    candidate->guessed_blocks = reached->approximate;
    candidate->pending_blocks = reached->pending;
    candidate->awaited_blocks = awaited < reached->pending ? (uint32_t)awaited : reached->pending;
}

//  What the fleet does not know of its candidates.
static void
s_complete (choice_t *self, const choice_sources_t *sources, const route_t *request, uint64_t now_ns)
{
    holder_kind_t last = sources->foresees ? HOLDER_PENDING : HOLDER_APPROXIMATE;
    array_cut (&self->overlaps, 0);
    catalog_match (sources->catalog, request->namespace_id, request->hashes, last, &self->overlaps);
    for (size_t i = 0; i < self->overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&self->overlaps, i);
        size_t position = fleet_position (sources->fleet, overlap->source, overlap->reached.rank);
        if (position != POLICY_NONE)
            s_set_overlap (sources->fleet, array_at (&self->candidates, position), overlap, now_ns);
    }
    for (size_t i = 0; i < self->candidates.count; i++) {
        policy_candidate_t *candidate = array_at (&self->candidates, i);
        candidate->live_blocks = sessions_live_blocks (sources->sessions, candidate->source, candidate->rank);
    }
}

//  The candidate that served the request's session before.  What the session wants there is not in its own way.
static size_t
s_find_last (choice_t *self, const choice_sources_t *sources, const route_t *request)
{
    session_place_t place = sessions_get (sources->sessions, choice_session (request));
    if (!place.worker.size)
        return POLICY_NONE;
    size_t last = fleet_position (sources->fleet, event_source (place.worker), place.rank);
    if (last != POLICY_NONE)
        ((policy_candidate_t *)array_at (&self->candidates, last))->live_blocks -= place.blocks;
    return last;
}

size_t
choice_make (choice_t *self, const choice_sources_t *sources, const route_t *request, policy_request_t *asked,
    uint64_t now_ns, error_t *reason)
{
    fleet_candidates (sources->fleet, request, now_ns, &self->candidates, reason);
    if (self->candidates.count == 0)
        return POLICY_NONE;
    s_complete (self, sources, request, now_ns);
    asked->prompt_blocks = (uint32_t)request->hashes.count;
    asked->last = s_find_last (self, sources, request);
    return sources->policy->choose (asked, &sources->weights, self->candidates.data, self->candidates.count);
}

size_t
choice_best (const choice_t *self, candidate_t shown [CHOICE_SHOWN])
{
    const policy_candidate_t *best [CHOICE_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < self->candidates.count; i++) {
        const policy_candidate_t *candidate = array_at (&self->candidates, i);
        if (count == CHOICE_SHOWN && !policy_is_better (candidate, best [count - 1]))
            continue;
        size_t place = count < CHOICE_SHOWN ? count++ : count - 1;
        for (; place && policy_is_better (candidate, best [place - 1]); place--)
            best [place] = best [place - 1];
        best [place] = candidate;
    }
    for (size_t i = 0; i < count; i++)
        shown [i] = candidate_from_policy (best [i]);
    return count;
}
