//  broker - event fabric and directory
//
//  Two tables.  `members` holds an entry for each actor: it registers, renews by heartbeats, becomes unreachable when its
//  lease runs out, gone after ten minutes of that or when it says goodbye.  For one lease after the start nobody is
//  reported absent: whoever was registered with the broker before has that long to come back.  Where nothing is heard from
//  anybody it is the broker that was cut off or stood still: it judges nobody then, nor for one lease
//  afterwards.  `tracks` holds, for each stream of each source, how far it came and the ring.
//
//  What survives the broker is one number an address, its last incarnation, in a store: a process whose clock went back
//  must not begin below it, or those who follow would take it for a ghost.
//
//  A batch is fanned out once: a number that is not higher than the last one is acknowledged again and dropped.  Numbers
//  may jump (the source's ring overflowed while the broker was away); those who follow see the hole and take a snapshot.
//  The tails that moved are published four times a second, behind the batches on the same leg, so whoever has less than a
//  tail says has really lost something.

#include "broker/broker.h"

#include <inttypes.h>
#include <string.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"
#include "broker/fabric.h"
#include "runtime/incoming.h"
#include "runtime/ring.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/event_header.h"
#include "schemas/message_memory.h"

static const uint64_t SWEEP_NS = 250000000;
static const uint64_t MS = 1000000;

enum { LEASE_MIN_MS = 100, LEASE_MAX_MS = 3600000, PAGE_MAX = 1000 };

//  A restarted actor needs a number above its last one, so the last ones are not given away.  As a time: the year 2262.
static const uint64_t INCARNATION_MAX = INT64_MAX;

typedef enum {
    COUNT_BAD_BATCH,      //  Hand-overs that break a rule
    COUNT_STALE_BATCH,    //  Of a replaced incarnation
    COUNT_STRANGER,       //  Of a source that is not registered
    COUNT_FOREIGN,        //  Of a key that may not speak for the source
    COUNT_DUPLICATE,      //  Handed over again
    COUNT_JUMP,           //  Numbers that were skipped by their source
    COUNT_BATCH,          //  Fanned out
    COUNT_COUNT
} broker_count_t;

//  What the directory knows of one actor.
typedef struct {
    actor_entry_t entry;        //  Lies in `memory`
    message_memory_t memory;    //  Of the entry
    uint64_t heard_ns;          //  Last sign of life
    uint64_t lost_ns;           //  When it became unreachable
    heap_entry_t due;           //  In `dues`: when it is looked at next, which a sign of life does not move
} member_t;

//  One stream of one source.
typedef struct {
    uint64_t source;         //  source_id
    uint16_t stream;         //  Number
    uint64_t incarnation;    //  Of the source
    uint64_t sequence;       //  Last one known: fanned out, or said in a heartbeat
    uint64_t fanned_out;     //  Last one fanned out
    list_link_t moved;       //  In `moved` where it has, since the last source_tails
    ring_t ring;             //  The last batches
} track_t;

typedef struct {
    actor_t *actor;                    //  Itself
    fabric_t fabric;                   //  Where it publishes
    map_t *members;                    //  Address -> member_t, owned
    map_t *sources;                    //  source_id -> member_t
    heap_t dues;                       //  member_t, the one to be looked at first
    map_t *tracks;                     //  (source, stream) -> track_t, owned
    list_t moved;                      //  track_t, those that came further since the last source_tails
    uint64_t ring_limit;               //  Bytes of each ring, as all were last told
    uint64_t ring_bytes_used;          //  Of all rings
    port_store_t *store;               //  Address -> last incarnation; NULL where it cannot be had
    bool unsynced;                     //  The machine's crash would lose some of it
    actor_timer_t sweep;               //  Leases and tails
    uint64_t back_ns;                  //  When it was last back: at its start, or after a silence of everybody
    uint64_t heard_ns;                 //  Last sign of life of anybody
    broker_options_t options;          //  Defaults filled in
    metric_t *counts [COUNT_COUNT];    //  What came by
    metric_t *ring_bytes;              //  Of all rings
    metric_t *alive;                   //  Actors alive
} broker_t;

static const char *const s_count_names [COUNT_COUNT] = {
    [COUNT_BAD_BATCH] = "malformed",
    [COUNT_STALE_BATCH] = "stale",
    [COUNT_STRANGER] = "not_registered",
    [COUNT_FOREIGN] = "foreign",
    [COUNT_DUPLICATE] = "duplicate",
    [COUNT_JUMP] = "jump",
    [COUNT_BATCH] = "fanned_out",
};

static const metric_desc_t s_batches_metric = { .name = "stator_broker_batches_total",
    .help = "Batches handed over, by what became of them.",
    .kind = METRIC_COUNTER };
static const metric_desc_t s_ring_metric = {
    .name = "stator_broker_ring_bytes", .help = "Events kept to fill gaps with.", .kind = METRIC_GAUGE
};
static const metric_desc_t s_alive_metric = {
    .name = "stator_broker_actors_alive", .help = "Actors whose lease runs.", .kind = METRIC_GAUGE
};

//  ---- Tracks ----

static track_t *
s_find_track (const broker_t *self, uint64_t source, uint16_t stream)
{
    uint8_t key [EVENT_KEY_SIZE];
    return map_get (self->tracks, event_key (source, stream, key));
}

//  Call before a ring changes, and s_end_ring afterwards: its bytes are out of the sum in between.
static void
s_begin_ring (broker_t *self, const track_t *track)
{
    self->ring_bytes_used -= track->ring.bytes;
}

static void
s_end_ring (broker_t *self, const track_t *track)
{
    self->ring_bytes_used += track->ring.bytes;
}

static uint64_t
s_ring_share (const broker_t *self)
{
    uint64_t limit = self->options.ring_bytes, budget = self->options.ring_budget, shares = 1;
    while (shares < map_count (self->tracks))
        shares *= 2;
    return budget && budget / shares < limit ? budget / shares : limit;
}

//  All rings together keep within their budget: each has an equal share of it, at most its own limit.  There are as many
//  shares as the next power of two, so that not every new ring changes all others.
static void
s_share_rings (broker_t *self)
{
    uint64_t limit = s_ring_share (self);
    size_t cursor = 0;
    void *value;
    if (limit == self->ring_limit)
        return;
    self->ring_limit = limit;
    while (map_next (self->tracks, &cursor, NULL, &value)) {
        track_t *track = value;
        s_begin_ring (self, track);
        ring_set_limit (&track->ring, limit);
        s_end_ring (self, track);
    }
}

static void
s_note_move (broker_t *self, track_t *track)
{
    if (!list_link_is_linked (&track->moved))
        list_append (&self->moved, &track->moved);
}

//  The track, made where there is none, and begun anew for a newer incarnation.
static track_t *
s_track (broker_t *self, uint64_t source, uint16_t stream, uint64_t incarnation)
{
    track_t *track = s_find_track (self, source, stream);
    if (!track) {
        uint8_t key [EVENT_KEY_SIZE];
        track = memory_new (sizeof *track);
        track->source = source;
        track->stream = stream;
        ring_init (&track->ring, self->ring_limit);
        map_put (self->tracks, event_key (source, stream, key), track);
        s_share_rings (self);
    }
    if (incarnation > track->incarnation) {
        s_begin_ring (self, track);
        ring_clear (&track->ring);
        s_end_ring (self, track);
        track->incarnation = incarnation;
        track->sequence = 0;
        track->fanned_out = 0;
        s_note_move (self, track);
    }
    return track;
}

static void
s_note_tails (broker_t *self, const actor_entry_t *entry, const stream_tail_t *tails, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (stream_name (tails [i].stream), "unknown") == 0)
            continue;
        track_t *track = s_track (self, event_source (entry->address), tails [i].stream, entry->incarnation);
        if (tails [i].sequence > track->sequence) {
            track->sequence = tails [i].sequence;
            s_note_move (self, track);
        }
    }
}

static void
s_drop_tracks (broker_t *self, uint64_t source)
{
    for (uint16_t stream = 1; stream < STREAM_COUNT; stream++) {
        uint8_t key [EVENT_KEY_SIZE];
        track_t *track = map_remove (self->tracks, event_key (source, stream, key));
        if (!track)
            continue;
        s_begin_ring (self, track);
        ring_fini (&track->ring);
        if (list_link_is_linked (&track->moved))
            list_remove (&self->moved, &track->moved);
        memory_free (track);
    }
    s_share_rings (self);
}

static void
s_append_tail (array_t *tails, const track_t *track)
{
    source_tail_t tail = { track->source, track->stream, track->incarnation, track->sequence };
    array_append (tails, &tail, 1);
}

static void
s_publish_tails (broker_t *self)
{
    array_t tails;
    array_init (&tails, sizeof (source_tail_t));
    for (list_link_t *link; (link = list_take_first (&self->moved)) != NULL;)
        s_append_tail (&tails, LIST_ENTRY (link, track_t, moved));
    source_tails_t event = { tails.data, tails.count };
    if (tails.count)
        actor_publish (self->actor, &source_tails_message, &event);
    array_fini (&tails);
}

//  ---- Fabric ----

static void
s_on_publish (void *self_, actor_t *actor, const span_t frames [3])
{
    fabric_publish (&((broker_t *)self_)->fabric, frames);
}

static void
s_count (broker_t *self, broker_count_t count)
{
    metric_add (self->counts [count], 1);
}

//  The member whose batch this is; NULL, counted, where it may not be one.
static const member_t *
s_sender (broker_t *self, const event_header_t *header, span_t topic)
{
    const member_t *member = map_get_u64 (self->sources, header->source);
    buffer_t expected = { 0 };
    if (!member || header->incarnation > member->entry.incarnation) {
        s_count (self, COUNT_STRANGER);
        return NULL;
    }
    if (header->incarnation < member->entry.incarnation) {
        s_count (self, COUNT_STALE_BATCH);
        return NULL;
    }
    event_topic_append (&expected, header->stream, member->entry.address);
    bool may = actor_sender_may_speak (self->actor, member->entry.address);
    bool matches =
        may && span_equal (buffer_span (&expected), topic) && header->stream < STREAM_COUNT && header->sequence;
    buffer_fini (&expected);
    if (!matches)
        s_count (self, may ? COUNT_BAD_BATCH : COUNT_FOREIGN);
    return matches ? member : NULL;
}

static void
s_on_handover (void *self_, actor_t *actor, span_t peer, const span_t frames [3])
{
    broker_t *self = self_;
    event_header_t header;
    if (event_header_decode (&header, frames [1], NULL)) {
        s_count (self, COUNT_BAD_BATCH);
        return;
    }
    if (!s_sender (self, &header, frames [0]))
        return;
    track_t *track = s_track (self, header.source, header.stream, header.incarnation);
    if (header.sequence <= track->fanned_out) {
        s_count (self, COUNT_DUPLICATE);
    } else {
        s_count (self, header.sequence == track->fanned_out + 1 ? COUNT_BATCH : COUNT_JUMP);
        s_begin_ring (self, track);
        ring_push (&track->ring, header.sequence, header.wall_ns, frames [2]);
        s_end_ring (self, track);
        track->fanned_out = header.sequence;
        if (header.sequence > track->sequence)
            track->sequence = header.sequence;
        s_note_move (self, track);
        fabric_publish (&self->fabric, frames);
    }
    actor_acknowledge (actor, peer, header.stream, track->fanned_out);
}

static const ring_t *
s_find_ring (void *self_, uint64_t source, uint16_t stream, uint64_t incarnation)
{
    const track_t *track = s_find_track (self_, source, stream);
    return track && track->incarnation == incarnation ? &track->ring : NULL;
}

//  ---- Members ----

static void
s_publish_member (broker_t *self, const member_t *member)
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
s_hears_nobody (const broker_t *self, uint64_t lease_ns)
{
    return actor_now (self->actor) - self->heard_ns > lease_ns / 2;
}

static void
s_hear (broker_t *self, member_t *member)
{
    uint64_t now = actor_now (self->actor);
    if (s_hears_nobody (self, s_lease_ns (member)))
        self->back_ns = now;
    self->heard_ns = now;
    member->heard_ns = now;
}

static void
s_member_free (member_t *self)
{
    message_memory_fini (&self->memory);
    memory_free (self);
}

//  It is looked at when, as things are now, it will be unreachable or gone.
static void
s_await (broker_t *self, member_t *member, uint64_t not_before)
{
    bool is_alive = member->entry.state == ACTOR_STATE_ALIVE;
    uint64_t at = is_alive ? member->heard_ns + s_lease_ns (member) : member->lost_ns + self->options.gone_after_ns;
    if (heap_entry_is_queued (&member->due))
        heap_remove (&self->dues, &member->due);
    heap_insert (&self->dues, &member->due, at > not_before ? at : not_before);
}

static void
s_set_state (broker_t *self, member_t *member, actor_state_t state)
{
    bool was_alive = member->entry.state == ACTOR_STATE_ALIVE;
    member->entry.state = state;
    member->lost_ns = actor_now (self->actor);
    s_await (self, member, 0);
    metric_add (self->alive, (state == ACTOR_STATE_ALIVE) - was_alive);
    s_publish_member (self, member);
}

static void
s_remove (broker_t *self, member_t *member)
{
    uint64_t source = event_source (member->entry.address);
    s_set_state (self, member, ACTOR_STATE_GONE);
    heap_remove (&self->dues, &member->due);
    s_drop_tracks (self, source);
    map_remove_u64 (self->sources, source);
    map_remove (self->members, member->entry.address);
    s_member_free (member);
}

static bool
s_is_word (span_t text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data [i];
        bool fine = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                    byte == '-' || byte == '_' || byte == ':';
        if (!fine)
            return false;
    }
    return text.size > 0;
}

static bool
s_is_address (span_t address)
{
    size_t slash = span_find_byte (address, '/');
    return s_is_word (span_slice (address, 0, slash)) && s_is_word (span_slice (address, slash + 1, address.size));
}

static uint64_t
s_last_incarnation (broker_t *self, span_t address)
{
    const member_t *known = map_get (self->members, address);
    span_t stored = { NULL, 0 };
    uint64_t last = 0;
    if (self->store)
        stored = actor_port (self->actor)->table->store_get (self->store, address);
    for (size_t i = 0; stored.size == 8 && i < 8; i++)
        last |= (uint64_t)stored.data [i] << (8 * i);
    return known && known->entry.incarnation > last ? known->entry.incarnation : last;
}

static void
s_remember_incarnation (broker_t *self, span_t address, uint64_t incarnation)
{
    const port_table_t *table = actor_port (self->actor)->table;
    buffer_t value = { 0 };
    error_t error = { 0 };
    buffer_append_u64_le (&value, incarnation);
    if (self->store && (table->store_put (self->store, address, buffer_span (&value), &error) ||
                           table->store_commit (self->store, false, &error)))
        actor_log (
            self->actor, LOG_WARNING, "the last incarnation of %.*s is not kept: %s", SPAN_ARG (address), error.text);
    self->unsynced = self->store != NULL;
    buffer_fini (&value);
}

//  One sync for all that came since the last sweep.
static void
s_sync_incarnations (broker_t *self)
{
    error_t error = { 0 };
    if (self->unsynced && actor_port (self->actor)->table->store_commit (self->store, true, &error))
        actor_log (
            self->actor, LOG_WARNING, "last incarnations are not safe from a crash of this machine: %s", error.text);
    self->unsynced = false;
}

//  Whether an actor may enter; the sentence says why not.
static status_t
s_admit (broker_t *self, const register_actor_t *request, error_t *error)
{
    const actor_entry_t *entry = &request->entry;
    const member_t *known = map_get (self->members, entry->address);
    const member_t *same_source = map_get_u64 (self->sources, event_source (entry->address));
    uint64_t last = s_last_incarnation (self, entry->address);
    if (!s_is_address (entry->address))
        return error_set (error, STATUS_INVALID,
            "an address is SERVICE/INSTANCE of letters, digits and -_: only; a dot ends it in topics");
    if (entry->lease_ms < LEASE_MIN_MS || entry->lease_ms > LEASE_MAX_MS)
        return error_set (error, STATUS_INVALID, "a lease is %d to %d ms", LEASE_MIN_MS, LEASE_MAX_MS);
    if (entry->incarnation > INCARNATION_MAX && entry->incarnation > last)
        return error_set (error, STATUS_INVALID,
            "an incarnation is at most %" PRIu64 ", ns since 1970: look at the clock", INCARNATION_MAX);
    if (same_source != known || event_source (entry->address) == actor_source (self->actor))
        return error_set (error, STATUS_EXISTS, "another address has the same source id; take another instance name");
    if (!known && map_count (self->members) >= (size_t)self->options.actors_max)
        return error_set (error, STATUS_LIMIT, "the directory is full: %zu actors", map_count (self->members));
    if (request->renewed && entry->incarnation < last)
        return error_set (error, STATUS_STALE, "a newer %.*s has taken its place", SPAN_ARG (entry->address));
    return STATUS_OK;
}

static member_t *
s_enter (broker_t *self, const actor_entry_t *entry)
{
    member_t *member = map_get (self->members, entry->address);
    if (!member) {
        member = memory_new (sizeof *member);
        message_memory_init (&member->memory);
        map_put (self->members, entry->address, member);
        map_put_u64 (self->sources, event_source (entry->address), member);
    } else if (member->entry.state == ACTOR_STATE_ALIVE) {
        metric_add (self->alive, -1);
    }
    message_memory_copy (&member->memory, &actor_entry_message, entry, &member->entry);
    metric_add (self->alive, 1);
    s_hear (self, member);
    s_await (self, member, 0);
    return member;
}

//  False, and answered, where the sender's key is not for this address.
static bool
s_may_speak (actor_t *actor, incoming_t *incoming, span_t address)
{
    if (actor_sender_may_speak (actor, address))
        return true;
    incoming_fail (incoming, STATUS_REFUSED, "this key may not speak for %.*s: its roles do not allow it",
        SPAN_ARG (span_slice (address, 0, ADDRESS_MAX)));
    return false;
}

//  A process whose clock went back starts with a number that is not above the last one: it gets a higher one.
static void
s_on_register (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    broker_t *self = self_;
    const register_actor_t *request = message;
    error_t error = { 0 };
    if (!s_may_speak (actor, incoming, request->entry.address))
        return;
    if (s_admit (self, request, &error)) {
        incoming_fail (incoming, error.status, "%s", error.text);
        return;
    }
    actor_entry_t entry = request->entry;
    uint64_t last = s_last_incarnation (self, entry.address);
    entry.state = ACTOR_STATE_ALIVE;
    if (!request->renewed && entry.incarnation <= last)
        entry.incarnation = last + 1;
    if (entry.incarnation > last)
        s_remember_incarnation (self, entry.address, entry.incarnation);
    member_t *member = s_enter (self, &entry);
    s_note_tails (self, &member->entry, request->tails, request->tails_count);
    s_publish_member (self, member);
    register_reply_t reply = { actor_incarnation (actor), entry.incarnation, actor_published (actor, STREAM_LIFE) };
    incoming_reply (incoming, &reply);
}

static void
s_on_heartbeat (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    broker_t *self = self_;
    const heartbeat_t *beat = message;
    if (!s_may_speak (actor, incoming, beat->address))
        return;
    member_t *member = map_get (self->members, beat->address);
    heartbeat_reply_t reply = { member && member->entry.incarnation == beat->incarnation, actor_incarnation (actor),
        actor_published (actor, STREAM_LIFE) };
    if (reply.known) {
        s_hear (self, member);
        s_note_tails (self, &member->entry, beat->tails, beat->tails_count);
        bool changed = member->entry.draining != beat->draining;
        member->entry.draining = beat->draining;
        if (member->entry.state != ACTOR_STATE_ALIVE)
            s_set_state (self, member, ACTOR_STATE_ALIVE);
        else if (changed)
            s_publish_member (self, member);
    }
    incoming_reply (incoming, &reply);
}

static void
s_on_unregister (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    broker_t *self = self_;
    const unregister_actor_t *request = message;
    if (!s_may_speak (actor, incoming, request->address))
        return;
    member_t *member = map_get (self->members, request->address);
    unregister_reply_t reply = { 0 };
    if (member && member->entry.incarnation == request->incarnation)
        s_remove (self, member);
    incoming_reply (incoming, &reply);
}

static int
s_by_address (const void *a, const void *b)
{
    return span_compare (((const actor_entry_t *)a)->address, ((const actor_entry_t *)b)->address);
}

//  Those of a service, "" for all, behind an address.
static void
s_collect_members (const broker_t *self, span_t service, span_t after, array_t *entries)
{
    size_t cursor = 0;
    void *value;
    while (map_next (self->members, &cursor, NULL, &value)) {
        const actor_entry_t *entry = &((const member_t *)value)->entry;
        span_t own = span_slice (entry->address, 0, span_find_byte (entry->address, '/'));
        if ((service.size == 0 || span_equal (own, service)) && span_compare (entry->address, after) > 0)
            array_append (entries, entry, 1);
    }
}

static void
s_on_list (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    const list_actors_t *request = message;
    array_t entries;
    array_init (&entries, sizeof (actor_entry_t));
    s_collect_members (self_, request->service, request->after, &entries);
    array_sort (&entries, s_by_address);
    bool more = entries.count > PAGE_MAX;
    list_actors_reply_t reply = { entries.data, more ? PAGE_MAX : entries.count, .has_more = more, .more = more };
    incoming_reply (incoming, &reply);
    array_fini (&entries);
}

static status_t
s_on_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    broker_t *self = self_;
    array_t entries, tails;
    if (source != actor_source (actor))
        return STATUS_NOT_FOUND;
    array_init (&entries, sizeof (actor_entry_t));
    array_init (&tails, sizeof (source_tail_t));
    s_collect_members (self, SPAN (""), SPAN (""), &entries);
    for (size_t i = 0; i < entries.count; i++) {
        actor_changed_t event = { *(actor_entry_t *)array_at (&entries, i) };
        snapshot_add (snapshot, &actor_changed_message, &event);
    }
    size_t cursor = 0;
    void *track;
    while (map_next (self->tracks, &cursor, NULL, &track))
        s_append_tail (&tails, track);
    source_tails_t event = { tails.data, tails.count };
    snapshot_add (snapshot, &source_tails_message, &event);
    array_fini (&tails);
    array_fini (&entries);
    return STATUS_OK;
}

//  ---- Sweep ----

static void
s_check_lease (broker_t *self, member_t *member, uint64_t now)
{
    uint64_t lease_ns = s_lease_ns (member);
    bool deaf = s_hears_nobody (self, lease_ns) && map_count (self->members) > 1;
    bool judges = !deaf && now - self->back_ns > lease_ns;
    if (member->entry.state == ACTOR_STATE_ALIVE && judges && now - member->heard_ns > lease_ns) {
        actor_log (self->actor, LOG_WARNING, "%.*s is unreachable: nothing heard for %" PRIu64 " ms",
            SPAN_ARG (member->entry.address), (now - member->heard_ns) / MS);
        s_set_state (self, member, ACTOR_STATE_UNREACHABLE);
    } else if (member->entry.state == ACTOR_STATE_UNREACHABLE && now - member->lost_ns > self->options.gone_after_ns) {
        s_remove (self, member);
    } else {
        s_await (self, member, now);
    }
}

static void
s_on_sweep (void *self_, actor_t *actor, void *arg)
{
    broker_t *self = self_;
    uint64_t now = actor_now (actor);
    for (heap_entry_t *due; (due = heap_first (&self->dues)) != NULL && due->at < now;)
        s_check_lease (self, LIST_ENTRY (due, member_t, due), now);
    s_publish_tails (self);
    metric_set (self->ring_bytes, (int64_t)self->ring_bytes_used);
    s_sync_incarnations (self);
    fabric_count (&self->fabric);
    timer_start (&self->sweep, actor, SWEEP_NS, s_on_sweep, NULL);
}

//  ---- Life ----

//  Without a store the broker works, and says what it cannot promise.
static void
s_open_store (broker_t *self)
{
    port_t *port = actor_port (self->actor);
    store_options_t options = { .name = "directory", .format = "directory/1", .size_max = 64 << 20 };
    error_t error = { 0 };
    span_t own = span_from_string (actor_address (self->actor));
    self->store = port->table->store_open (port, &options, &error);
    if (!self->store)
        actor_log (self->actor, LOG_WARNING, "last incarnations are not kept, clocks must not go back: %s", error.text);
    uint64_t last = s_last_incarnation (self, own);
    if (actor_incarnation (self->actor) <= last)
        actor_set_incarnation (self->actor, last + 1);
    s_remember_incarnation (self, own, actor_incarnation (self->actor));
}

static status_t
s_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    broker_t *self = self_;
    self->actor = actor;
    self->back_ns = self->heard_ns = actor_now (actor);
    self->options = *(const broker_options_t *)options;
    status_t status = fabric_init (&self->fabric, actor, &self->options, error);
    if (status)
        return status;
    self->members = map_new (actor_random (actor));
    self->sources = map_new (actor_random (actor));
    self->tracks = map_new (actor_random (actor));
    self->ring_limit = self->options.ring_bytes;
    heap_init (&self->dues);
    list_init (&self->moved);
    s_open_store (self);
    self->ring_bytes = metrics_get (actor_metrics (actor), &s_ring_metric, NULL);
    self->alive = metrics_get (actor_metrics (actor), &s_alive_metric, NULL);
    for (int i = 0; i < COUNT_COUNT; i++) {
        buffer_t labels = { 0 };
        buffer_print (&labels, "result=\"%s\"", s_count_names [i]);
        self->counts [i] = metrics_get (actor_metrics (actor), &s_batches_metric, buffer_string (&labels));
        buffer_fini (&labels);
    }
    timer_start (&self->sweep, actor, SWEEP_NS, s_on_sweep, NULL);
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    broker_t *self = self_;
    size_t cursor = 0;
    void *value;
    timer_stop (&self->sweep);
    while (map_next (self->members, &cursor, NULL, &value))
        s_member_free (value);
    cursor = 0;
    while (map_next (self->tracks, &cursor, NULL, &value)) {
        ring_fini (&((track_t *)value)->ring);
        memory_free (value);
    }
    heap_fini (&self->dues);
    map_destroy (&self->members);
    map_destroy (&self->sources);
    map_destroy (&self->tracks);
    if (self->store)
        actor_port (actor)->table->store_close (self->store);
    fabric_fini (&self->fabric);
}

static void
s_reload (void *self_, actor_t *actor, const void *options)
{
    fabric_renew (&((broker_t *)self_)->fabric);
}

static void
s_describe (void *self_, actor_t *actor, buffer_t *out)
{
    broker_t *self = self_;
    buffer_print (out, "%" PRId64 " of %zu actors alive, %zu streams followed", metric_value (self->alive),
        map_count (self->members), map_count (self->tracks));
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (register_actor, s_on_register),
    HANDLES_CALL (heartbeat, s_on_heartbeat),
    HANDLES_CALL (unregister_actor, s_on_unregister),
    HANDLES_CALL (list_actors, s_on_list),
    HANDLES_SNAPSHOT (STREAM_LIFE, s_on_snapshot),
    HANDLERS_END,
};

const actor_class_t broker_class = {
    .name = "broker",
    .state_size = sizeof (broker_t),
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .reload = s_reload,
    .describe = s_describe,
    .find_ring = s_find_ring,
    .on_handover = s_on_handover,
    .on_publish = s_on_publish,
};
