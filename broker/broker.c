//  broker - event fabric and directory
//
//  The actor: what it is told and what becomes of it.  members.h knows who is alive where, tracks.h how far each stream of
//  each source came, fabric.h who follows, incarnations.h what survives a restart.
//
//  A batch is fanned out once: a number that is not higher than the last one is acknowledged again and dropped.  Numbers
//  may jump (the source's ring overflowed while the broker was away); those who follow see the hole and take a snapshot.
//  The tails that moved are published four times a second, behind the batches on the same leg, so whoever has less than a
//  tail says has really lost something.

#include "broker/broker.h"

#include <inttypes.h>

#include "broker/fabric.h"
#include "broker/incarnations.h"
#include "broker/members.h"
#include "broker/tracks.h"
#include "runtime/incoming.h"
#include "runtime/timer.h"
#include "schemas/event.h"

static const uint64_t SWEEP_NS = 250000000;

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

typedef struct {
    actor_t *actor;                    //  Itself
    broker_options_t options;          //  Defaults filled in
    fabric_t fabric;                   //  Where it publishes
    incarnations_t incarnations;       //  The last of each address
    tracks_t tracks;                   //  What was published
    members_t members;                 //  By whom
    actor_timer_t sweep;               //  Leases, tails and acknowledgements
    metric_t *counts [COUNT_COUNT];    //  What came by
    metric_t *ring_bytes;              //  Of all rings
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
    .kind = METRIC_COUNTER,
    .labels = "result" };
static const metric_desc_t s_ring_metric = {
    .name = "stator_broker_ring_bytes", .help = "Events kept to fill gaps with.", .kind = METRIC_GAUGE
};

//  ---- Fabric --------------------------------------------------------------------------------------------------------

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
static member_t *
s_sender (broker_t *self, const event_header_t *header, span_t topic)
{
    member_t *member = members_find_source (&self->members, header->source);
    if (!member || header->incarnation > member->entry.incarnation) {
        s_count (self, COUNT_STRANGER);
        return NULL;
    }
    if (header->incarnation < member->entry.incarnation) {
        s_count (self, COUNT_STALE_BATCH);
        return NULL;
    }
    if (!actor_sender_may_speak (self->actor, member->entry.address)) {
        s_count (self, COUNT_FOREIGN);
        return NULL;
    }
    if (!header->stream || header->stream >= STREAM_COUNT ||
        !event_topic_is (topic, header->stream, member->entry.address)) {
        s_count (self, COUNT_BAD_BATCH);
        return NULL;
    }
    return member;
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
    member_t *member = s_sender (self, &header, frames [0]);
    if (!member)
        return;
    track_t *track =
        tracks_get (&self->tracks, &member->tracks [header.stream], header.source, header.stream, header.incarnation);
    if (header.sequence <= track->fanned_out) {
        s_count (self, COUNT_DUPLICATE);
    } else {
        s_count (self, header.sequence == track->fanned_out + 1 ? COUNT_BATCH : COUNT_JUMP);
        tracks_push (&self->tracks, track, &header, frames [2]);
        fabric_forward (&self->fabric, frames);
    }
    tracks_owe (&self->tracks, track, peer);
}

static const ring_t *
s_find_ring (void *self_, uint64_t source, uint16_t stream, uint64_t incarnation)
{
    const member_t *member = members_find_source (&((broker_t *)self_)->members, source);
    const track_t *track = member && stream < STREAM_COUNT ? member->tracks [stream] : NULL;
    return track && track->incarnation == incarnation ? &track->ring : NULL;
}

//  ---- Directory -----------------------------------------------------------------------------------------------------

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
s_last_incarnation (const broker_t *self, span_t address)
{
    const member_t *known = members_find (&self->members, address);
    uint64_t last = incarnations_get (&self->incarnations, address);
    return known && known->entry.incarnation > last ? known->entry.incarnation : last;
}

//  Whether an actor may enter; the sentence says why not.
static status_t
s_admit (broker_t *self, const register_actor_t *request, error_t *error)
{
    const actor_entry_t *entry = &request->entry;
    const member_t *known = members_find (&self->members, entry->address);
    const member_t *same_source = members_find_source (&self->members, event_source (entry->address));
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
    if (!known && members_count (&self->members) >= (size_t)self->options.actors_max)
        return error_set (error, STATUS_LIMIT, "the directory is full: %zu actors", members_count (&self->members));
    if (request->renewed && entry->incarnation < last)
        return error_set (error, STATUS_STALE, "a newer %.*s has taken its place", SPAN_ARG (entry->address));
    return STATUS_OK;
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
        incarnations_put (&self->incarnations, entry.address, entry.incarnation);
    member_t *member = members_enter (&self->members, &entry);
    members_note_tails (&self->members, member, request->tails, request->tails_count);
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
    member_t *member = members_find (&self->members, beat->address);
    heartbeat_reply_t reply = { member && member->entry.incarnation == beat->incarnation, actor_incarnation (actor),
        actor_published (actor, STREAM_LIFE) };
    if (reply.known) {
        members_hear (&self->members, member, beat->draining);
        members_note_tails (&self->members, member, beat->tails, beat->tails_count);
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
    member_t *member = members_find (&self->members, request->address);
    unregister_reply_t reply = { 0 };
    if (member && member->entry.incarnation == request->incarnation)
        members_remove (&self->members, member);
    incoming_reply (incoming, &reply);
}

static int
s_by_address (const void *a, const void *b)
{
    return span_compare (((const actor_entry_t *)a)->address, ((const actor_entry_t *)b)->address);
}

static void
s_on_list (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    broker_t *self = self_;
    const list_actors_t *request = message;
    array_t entries;
    array_init (&entries, sizeof (actor_entry_t));
    members_collect (&self->members, request->service, request->after, &entries);
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
    members_collect (&self->members, SPAN (""), SPAN (""), &entries);
    for (size_t i = 0; i < entries.count; i++) {
        actor_changed_t event = { *(actor_entry_t *)array_at (&entries, i) };
        snapshot_add (snapshot, &actor_changed_message, &event);
    }
    tracks_append_tails (&self->tracks, &tails);
    source_tails_t event = { tails.data, tails.count };
    snapshot_add (snapshot, &source_tails_message, &event);
    array_fini (&tails);
    array_fini (&entries);
    return STATUS_OK;
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static void
s_on_sweep (void *self_, actor_t *actor, void *arg)
{
    broker_t *self = self_;
    members_check_leases (&self->members);
    tracks_publish_moved (&self->tracks);
    tracks_acknowledge (&self->tracks);
    metric_set (self->ring_bytes, (int64_t)self->tracks.bytes_used);
    incarnations_sync (&self->incarnations);
    fabric_count (&self->fabric);
    actor_mend (actor, self->fabric.socket);
    timer_start (&self->sweep, actor, SWEEP_NS, s_on_sweep, NULL);
}

//  What holds for everybody holds for the broker: it begins above its last incarnation.
static void
s_begin_above_last (broker_t *self)
{
    span_t own = span_from_string (actor_address (self->actor));
    uint64_t last = incarnations_get (&self->incarnations, own);
    if (actor_incarnation (self->actor) <= last)
        actor_set_incarnation (self->actor, last + 1);
    incarnations_put (&self->incarnations, own, actor_incarnation (self->actor));
}

static void
s_make_metrics (broker_t *self)
{
    metrics_t *metrics = actor_metrics (self->actor);
    self->ring_bytes = metrics_get (metrics, &s_ring_metric, NULL);
    for (int i = 0; i < COUNT_COUNT; i++) {
        buffer_t labels = { 0 };
        buffer_print (&labels, "result=\"%s\"", s_count_names [i]);
        self->counts [i] = metrics_get (metrics, &s_batches_metric, buffer_string (&labels));
        buffer_fini (&labels);
    }
}

static status_t
s_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    broker_t *self = self_;
    self->actor = actor;
    self->options = *(const broker_options_t *)options;
    status_t status = fabric_init (&self->fabric, actor, &self->options, error);
    if (status)
        return status;
    incarnations_open (&self->incarnations, actor);
    s_begin_above_last (self);
    tracks_init (&self->tracks, actor, self->options.ring_bytes, self->options.ring_budget);
    members_init (&self->members, actor, &self->tracks, self->options.gone_after_ns);
    s_make_metrics (self);
    timer_start (&self->sweep, actor, SWEEP_NS, s_on_sweep, NULL);
    return STATUS_OK;
}

static void
s_fini (void *self_, actor_t *actor)
{
    broker_t *self = self_;
    timer_stop (&self->sweep);
    members_fini (&self->members);
    tracks_fini (&self->tracks);
    incarnations_close (&self->incarnations);
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
    size_t streams = self->tracks.all.count;
    buffer_print (out, "%" PRId64 " of %zu actors alive, %zu stream%s followed", metric_value (self->members.alive),
        members_count (&self->members), streams, streams == 1 ? "" : "s");
}

static const actor_handler_t s_handlers [] = {
    HANDLES_CALL (register_actor, s_on_register),
    HANDLES_CALL (heartbeat, s_on_heartbeat),
    HANDLES_CALL (unregister_actor, s_on_unregister),
    HANDLES_CALL (list_actors, s_on_list),
    HANDLES_SNAPSHOT (STREAM_LIFE, s_on_snapshot),
    HANDLERS_END,
};

static void
s_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_batches_metric, &s_ring_metric, NULL };
    metrics_tell (all, told, arg);
    members_list_metrics (told, arg);
    fabric_list_metrics (told, arg);
}

const actor_class_t broker_class = {
    .name = "broker",
    .state_size = sizeof (broker_t),
    .list_metrics = s_list_metrics,
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
    .reload = s_reload,
    .describe = s_describe,
    .find_ring = s_find_ring,
    .on_handover = s_on_handover,
    .on_publish = s_on_publish,
};
