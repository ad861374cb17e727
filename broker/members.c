#include "broker/members.h"

#include <inttypes.h>

#include "base/memory.h"

static const uint64_t MS = 1000000;

static const metric_desc_t s_alive_metric = {
    .name = "stator_broker_actors_alive", .help = "Actors whose lease runs.", .kind = METRIC_GAUGE
};

static const metric_desc_t s_odd_tails_metric = { .name = "stator_broker_odd_tails_total",
    .help = "How far a source says it has come, where no batch has such a number or it has handed over more.",
    .kind = METRIC_COUNTER };

void
members_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_alive_metric, &s_odd_tails_metric, NULL };
    metrics_tell (all, told, arg);
}

void
members_init (members_t *self, actor_t *actor, tracks_t *tracks, uint64_t gone_after_ns)
{
    *self = (members_t){ .actor = actor, .tracks = tracks, .gone_after_ns = gone_after_ns };
    self->back_ns = self->heard_ns = actor_now (actor);
    self->by_address = map_new (actor_random (actor));
    self->by_source = map_new (actor_random (actor));
    heap_init (&self->dues);
    self->alive = metrics_get (actor_metrics (actor), &s_alive_metric, NULL);
    self->odd_tails = metrics_get (actor_metrics (actor), &s_odd_tails_metric, NULL);
}

static void
s_free (member_t *member)
{
    message_memory_fini (&member->memory);
    memory_free (member);
}

void
members_fini (members_t *self)
{
    size_t cursor = 0;
    void *member;
    while (map_next (self->by_address, &cursor, NULL, &member))
        s_free (member);
    heap_fini (&self->dues);
    map_destroy (&self->by_address);
    map_destroy (&self->by_source);
}

size_t
members_count (const members_t *self)
{
    return map_count (self->by_address);
}

member_t *
members_find (const members_t *self, span_t address)
{
    return map_get (self->by_address, address);
}

member_t *
members_find_source (const members_t *self, uint64_t source)
{
    return map_get_u64 (self->by_source, source);
}

//  ---- Signs of life -------------------------------------------------------------------------------------------------

static void
s_publish (members_t *self, const member_t *member)
{
    actor_changed_t event = { member->entry };
    actor_publish (self->actor, &actor_changed_message, &event);
}

static uint64_t
s_lease_ns (const member_t *member)
{
    return member->entry.lease_ms * MS;
}

//  Not even half a lease ago was anything heard from anybody.
static bool
s_hears_nobody (const members_t *self, uint64_t lease_ns)
{
    return actor_now (self->actor) - self->heard_ns > lease_ns / 2;
}

static void
s_hear (members_t *self, member_t *member)
{
    uint64_t now = actor_now (self->actor);
    if (s_hears_nobody (self, s_lease_ns (member)))
        self->back_ns = now;
    self->heard_ns = now;
    member->heard_ns = now;
}

//  It is looked at when, as things are now, it will be unreachable or gone.
static void
s_await (members_t *self, member_t *member, uint64_t not_before)
{
    bool is_alive = member->entry.state == ACTOR_STATE_ALIVE;
    uint64_t at = is_alive ? member->heard_ns + s_lease_ns (member) : member->lost_ns + self->gone_after_ns;
    if (heap_entry_is_queued (&member->due))
        heap_remove (&self->dues, &member->due);
    heap_insert (&self->dues, &member->due, at > not_before ? at : not_before);
}

static void
s_set_state (members_t *self, member_t *member, actor_state_t state)
{
    bool was_alive = member->entry.state == ACTOR_STATE_ALIVE;
    member->entry.state = state;
    member->lost_ns = actor_now (self->actor);
    s_await (self, member, 0);
    metric_add (self->alive, (state == ACTOR_STATE_ALIVE) - was_alive);
    s_publish (self, member);
}

//  Whoever read that it is unreachable reads that, too.
static void
s_welcome (const members_t *self, const member_t *member)
{
    if (member->entry.state == ACTOR_STATE_UNREACHABLE)
        actor_log (self->actor, LOG_INFO, "%.*s is back after %" PRIu64 " ms", SPAN_ARG (member->entry.address),
            (actor_now (self->actor) - member->heard_ns) / MS);
}

void
members_hear (members_t *self, member_t *member, bool draining)
{
    bool changed = member->entry.draining != draining;
    s_welcome (self, member);
    s_hear (self, member);
    member->entry.draining = draining;
    if (member->entry.state != ACTOR_STATE_ALIVE)
        s_set_state (self, member, ACTOR_STATE_ALIVE);
    else if (changed)
        s_publish (self, member);
}

//  What it has handed over it has published, and no stream gets as far as the largest numbers do.
static bool
s_is_odd (const track_t *track, uint64_t sequence)
{
    return sequence > EVENT_SEQUENCE_MAX || sequence < track->fanned_out;
}

static void
s_complain (members_t *self, member_t *member, const track_t *track, uint64_t sequence)
{
    metric_add (self->odd_tails, 1);
    if (!member->complained)
        actor_log (self->actor, LOG_WARNING,
            "%.*s says that it has come to %" PRIu64 " of stream %s, which cannot be: it has handed over %" PRIu64
            ", and no number is above %" PRIu64 "; further claims are counted",
            SPAN_ARG (member->entry.address), sequence, stream_name (track->stream), track->fanned_out,
            EVENT_SEQUENCE_MAX);
    member->complained = true;
}

void
members_note_tails (members_t *self, member_t *member, const stream_tail_t *tails, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t stream = tails [i].stream;
        if (!stream || stream >= STREAM_COUNT)
            continue;
        track_t *track =
            tracks_get (self->tracks, &member->tracks [stream], member->source, stream, member->entry.incarnation);
        if (s_is_odd (track, tails [i].sequence))
            s_complain (self, member, track, tails [i].sequence);
        else
            tracks_note_tail (self->tracks, track, tails [i].sequence);
    }
}

//  ---- Coming and going ----------------------------------------------------------------------------------------------

static member_t *
s_add (members_t *self, span_t address)
{
    member_t *member = memory_new (sizeof *member);
    message_memory_init (&member->memory);
    member->source = event_source (address);
    map_put (self->by_address, address, member);
    map_put_u64 (self->by_source, member->source, member);
    return member;
}

member_t *
members_enter (members_t *self, const actor_entry_t *entry)
{
    member_t *member = members_find (self, entry->address);
    bool was_alive = member && member->entry.state == ACTOR_STATE_ALIVE;
    if (member)
        s_welcome (self, member);
    else
        member = s_add (self, entry->address);
    if (member->entry.incarnation != entry->incarnation)
        member->complained = false;
    message_memory_copy (&member->memory, &actor_entry_message, entry, &member->entry);
    metric_add (self->alive, !was_alive);
    s_hear (self, member);
    s_await (self, member, 0);
    s_publish (self, member);
    return member;
}

void
members_remove (members_t *self, member_t *member)
{
    s_set_state (self, member, ACTOR_STATE_GONE);
    heap_remove (&self->dues, &member->due);
    for (uint16_t stream = 1; stream < STREAM_COUNT; stream++)
        tracks_end (self->tracks, &member->tracks [stream]);
    map_remove_u64 (self->by_source, member->source);
    map_remove (self->by_address, member->entry.address);
    s_free (member);
}

void
members_collect (const members_t *self, span_t service, span_t after, array_t *entries)
{
    size_t cursor = 0;
    void *value;
    while (map_next (self->by_address, &cursor, NULL, &value)) {
        const actor_entry_t *entry = &((const member_t *)value)->entry;
        span_t own = span_slice (entry->address, 0, span_find_byte (entry->address, '/'));
        if ((service.size == 0 || span_equal (own, service)) && span_compare (entry->address, after) > 0)
            array_append (entries, entry, 1);
    }
}

//  ---- Leases --------------------------------------------------------------------------------------------------------

static void
s_check_lease (members_t *self, member_t *member, uint64_t now)
{
    uint64_t lease_ns = s_lease_ns (member);
    bool deaf = s_hears_nobody (self, lease_ns) && members_count (self) > 1;
    bool judges = !deaf && now - self->back_ns > lease_ns;
    if (member->entry.state == ACTOR_STATE_ALIVE && judges && now - member->heard_ns > lease_ns) {
        actor_log (self->actor, LOG_WARNING, "%.*s is unreachable: nothing heard for %" PRIu64 " ms",
            SPAN_ARG (member->entry.address), (now - member->heard_ns) / MS);
        s_set_state (self, member, ACTOR_STATE_UNREACHABLE);
    } else if (member->entry.state == ACTOR_STATE_UNREACHABLE && now - member->lost_ns > self->gone_after_ns) {
        members_remove (self, member);
    } else {
        s_await (self, member, now);
    }
}

void
members_check_leases (members_t *self)
{
    uint64_t now = actor_now (self->actor);
    for (heap_entry_t *due; (due = heap_first (&self->dues)) != NULL && due->at < now;)
        s_check_lease (self, LIST_ENTRY (due, member_t, due), now);
}
