//  sink - what this actor follows, and how nothing of it gets lost
//
//  For every source of a followed stream there is a feed: the incarnation, the number expected next, and the highest
//  number known to exist (the tail, from batches, from the broker's source_tails events and from its own tail in every
//  heartbeat reply).  A feed is in one of these states:
//
//      LIVE          batches are applied as they come
//      REPLAYING     some are missing: asked for at the broker, then at the source; what comes meanwhile waits
//      SNAPSHOTTING  no ring reaches back, or nothing is known yet: the state is taken over, then the rest is replayed
//      WAITING       nobody answered; tried again after a pause
//
//  An actor is not ready before it has all that there is of those who are alive.  A source of which nobody gives what is
//  missing, itself included, must not keep it from that for ever: after a while it is ready without.  The log says so then,
//  and a gauge; the pauses grow, until somebody comes who may help.  What follows the last batch that is there is applied
//  meanwhile, so a source that claims more than it ever published is heard all the same.
//
//  A newer incarnation resets the feed and what the class has learnt from it (the fence); an older one is counted and
//  ignored.  What waits is bounded, and taken from the actor's budget: when it grows too large it is dropped and counted,
//  since the tail remembers that it exists.

#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "runtime/actor_private.h"
#include "runtime/directory.h"
#include "runtime/stream.h"
#include "schemas/batch.h"
#include "schemas/event_header.h"

enum { PENDING_MAX_BYTES = 8 << 20, REPLAY_CREDIT = 64 };

//  Events that are decoded together, and what they may take before they are handled.
enum { TOGETHER = 8, TOGETHER_MAX_BYTES = 1 << 20 };
static const uint64_t IDLE_TIMEOUT_NS = 2000000000;
static const uint64_t PAUSE_NS = 500000000;
static const uint64_t PAUSE_MAX_NS = 30000000000;
static const uint64_t HOPE_NS = 10000000000;    //  Nobody could help for so long: what is missing is not waited for

typedef enum { FEED_LIVE, FEED_REPLAYING, FEED_SNAPSHOTTING, FEED_WAITING } feed_state_t;

//  Who is asked, in this order; each step that fails leads to the next.
typedef enum { ASK_BROKER_REPLAY, ASK_SOURCE_REPLAY, ASK_SERVICE_SNAPSHOT, ASK_SOURCE_SNAPSHOT, ASK_NOBODY } ask_t;

struct feed {
    actor_t *actor;          //  Who follows
    uint16_t stream;         //  Which stream
    uint64_t source;         //  Of which source
    uint64_t incarnation;    //  Its newest one known; 0: none
    uint64_t next;           //  Number expected next
    uint64_t tail;           //  Highest number known to exist
    bool fresh;              //  Nothing of this incarnation was applied yet
    feed_state_t state;      //  See above
    ask_t ask;               //  Who is being asked
    ring_t pending;          //  What came while something before it was missing
    uint64_t charged;        //  Bytes of the actor's budget, for pending
    stream_t repair;         //  The replay or snapshot under way
    uint64_t received;       //  Elements of it
    bool reset_done;         //  Snapshot: the class was told to forget
    uint64_t wanted;         //  Snapshot: number that it must reach
    bool complained;         //  Of an event of this incarnation
    bool despaired;          //  The log says that nobody can help
    uint64_t hopeless_ns;    //  Since when nobody can help; 0: somebody can, or need not
    uint64_t pause_ns;       //  WAITING: how long
    actor_timer_t pause;     //  WAITING
};

static void s_repair (feed_t *self);

//  ---- Applying ------------------------------------------------------------------------------------------------------

static origin_t
s_origin (const feed_t *self, uint64_t sequence, uint64_t wall_ns)
{
    return (origin_t){ self->source, self->stream, self->incarnation, sequence, wall_ns };
}

static bool
s_is_directory (const feed_t *self)
{
    return self->stream == STREAM_LIFE && self->source == event_source (SPAN (BROKER_ADDRESS));
}

static void
s_reset (feed_t *self)
{
    origin_t origin = s_origin (self, 0, 0);
    const actor_handler_t *handler = actor_handler_of (self->actor, HANDLER_RESET, self->stream);
    if (s_is_directory (self))
        directory_on_reset (self->actor);
    if (handler)
        handler->on_reset (self->actor->state, self->actor, &origin);
}

//  Events that are decoded and not handled yet, in order.  They lie in the actor's scratch memory.
typedef struct {
    const message_type_t *types [TOGETHER];        //  What they are
    const actor_handler_t *handlers [TOGETHER];    //  Whose they are; NULL: the directory's only
    void *events [TOGETHER];                       //  Decoded
    size_t count;                                  //  How many
} coming_t;

static void
s_apply_coming (feed_t *self, coming_t *coming, const origin_t *origin)
{
    actor_t *actor = self->actor;
    for (size_t i = 0; i < coming->count; i++) {
        if (s_is_directory (self))
            directory_on_event (actor, coming->types [i], coming->events [i]);
        if (coming->handlers [i])
            coming->handlers [i]->on_event (actor->state, actor, origin, coming->events [i]);
    }
    coming->count = 0;
    arena_clear (&actor->scratch);
}

//  Its address, for the log.
static span_t
s_name (const feed_t *self)
{
    const actor_entry_t *entry = directory_find_source (self->actor, self->source);
    return s_is_directory (self) ? SPAN (BROKER_ADDRESS) : entry ? entry->address : SPAN ("an unknown source");
}

//  Once: who sends one malformed event sends many.
static void
s_complain (feed_t *self, const message_type_t *type, const error_t *error)
{
    if (!self->complained)
        actor_log (self->actor, LOG_WARNING, "event %s of %.*s ignored: %s; further ones are counted", type->name,
            SPAN_ARG (s_name (self)), error->text);
    self->complained = true;
}

//  Decodes an event, behind those that are coming, and tells whoever wants to know that it comes.  One that is none of ours
//  or malformed does not.
static void
s_expect_event (feed_t *self, coming_t *coming, const message_type_t *type, span_t bytes, const origin_t *origin)
{
    actor_t *actor = self->actor;
    const actor_handler_t *handler = actor_handler_of_event (actor, type);
    if (!handler && !s_is_directory (self))
        return;
    error_t error = { 0 };
    void *event = arena_new (&actor->scratch, type->size ? type->size : 1);
    if (message_decode (type, bytes, &actor->scratch, event, &error)) {
        actor_count (actor, COUNT_BAD_EVENT);
        s_complain (self, type, &error);
        return;
    }
    if (handler && handler->on_coming)
        handler->on_coming (actor->state, actor, origin, event);
    coming->types [coming->count] = type;
    coming->handlers [coming->count] = handler;
    coming->events [coming->count++] = event;
}

//  Whether one more event is decoded before those that are coming are handled.
static bool
s_can_wait (const feed_t *self, const coming_t *coming)
{
    const actor_handler_t *handler = coming->count ? coming->handlers [coming->count - 1] : NULL;
    return handler && handler->on_coming && coming->count < TOGETHER && self->actor->scratch.used <= TOGETHER_MAX_BYTES;
}

//  One event after the other, but those of a handler that wants to know what comes are decoded some at a time.
static void
s_apply (feed_t *self, uint64_t sequence, uint64_t wall_ns, span_t payload)
{
    origin_t origin = s_origin (self, sequence, wall_ns);
    const message_type_t *type;
    span_t bytes;
    batch_reader_t reader;
    coming_t coming = { .count = 0 };
    batch_reader_init (&reader, self->stream, payload);
    arena_clear (&self->actor->scratch);
    while (batch_reader_next (&reader, &type, &bytes, NULL)) {
        if (type)
            s_expect_event (self, &coming, type, bytes, &origin);
        if (!s_can_wait (self, &coming))
            s_apply_coming (self, &coming, &origin);
    }
    s_apply_coming (self, &coming, &origin);
    if (reader.status)
        actor_count (self->actor, COUNT_BAD_EVENT);
    self->fresh = false;
}

//  A batch by live feed, replay or from what waits; true where it was the expected one.
static bool
s_advance (feed_t *self, uint64_t sequence, uint64_t wall_ns, span_t payload)
{
    if (sequence != self->next)
        return false;
    self->next++;
    s_apply (self, sequence, wall_ns, payload);
    return true;
}

static void
s_count_unkept (feed_t *self, uint64_t batches)
{
    metric_add (self->actor->counts [COUNT_UNKEPT], (int64_t)batches);
}

//  The budget follows what waits; where it has no room nothing waits.
static void
s_charge_pending (feed_t *self)
{
    budget_t *budget = &self->actor->budget;
    if (self->pending.bytes > self->charged && budget_take (budget, self->pending.bytes - self->charged, NULL)) {
        s_count_unkept (self, ring_clear (&self->pending));
    } else if (self->pending.bytes > self->charged) {
        self->charged = self->pending.bytes;
    }
    budget_give (budget, self->charged - self->pending.bytes);
    self->charged = self->pending.bytes;
}

static void
s_keep_pending (feed_t *self, const event_header_t *header, span_t payload)
{
    uint64_t dropped = self->pending.dropped;
    ring_push (&self->pending, header->sequence, header->wall_ns, payload);
    s_count_unkept (self, self->pending.dropped - dropped);
    s_charge_pending (self);
}

static void
s_drop_pending (feed_t *self)
{
    ring_clear (&self->pending);
    s_charge_pending (self);
}

static void
s_apply_pending (feed_t *self)
{
    const ring_batch_t *batch;
    while ((batch = ring_find (&self->pending, self->next)))
        s_advance (self, batch->sequence, batch->wall_ns, batch->payload);
    if (ring_last (&self->pending) < self->next)
        s_drop_pending (self);
}

//  Somebody can help, or nobody needs to.
static void
s_hope (feed_t *self)
{
    if (self->despaired)
        metric_add (self->actor->unrepaired, -1);
    self->despaired = false;
    self->hopeless_ns = 0;
    self->pause_ns = PAUSE_NS;
}

static void
s_despair (feed_t *self)
{
    if (self->despaired)
        return;
    self->despaired = true;
    metric_add (self->actor->unrepaired, 1);
    actor_log (self->actor, LOG_WARNING,
        "batches %" PRIu64 " to %" PRIu64 " of stream %s of %.*s are said to exist and nobody has them: they are "
        "asked for again, ever more rarely",
        self->fresh ? 1 : self->next, self->tail, stream_name (self->stream), SPAN_ARG (s_name (self)));
}

static bool
s_is_whole (const feed_t *self)
{
    return self->next > self->tail && !self->fresh;
}

//  Everything up to the tail is there, or the rest is asked for.
static void
s_settle (feed_t *self)
{
    s_apply_pending (self);
    if (s_is_whole (self)) {
        self->state = FEED_LIVE;
        timer_stop (&self->pause);
        s_hope (self);
        directory_announce_if_synced (self->actor);
        return;
    }
    self->ask = self->fresh ? ASK_SERVICE_SNAPSHOT : ASK_BROKER_REPLAY;
    s_repair (self);
}

//  ---- Repair --------------------------------------------------------------------------------------------------------

static void
s_try_again (void *state, actor_t *actor, void *arg)
{
    s_settle (arg);
}

static void
s_ask_next (feed_t *self)
{
    self->ask++;
    s_repair (self);
}

static uint64_t
s_on_replayed (void *state, void *arg, uint64_t position, const void *item)
{
    feed_t *self = arg;
    const replayed_batch_t *batch = item;
    actor_count (self->actor, COUNT_REPLAYED);
    self->received++;
    s_advance (self, batch->sequence, batch->wall_ns, batch->payload);
    stream_credit (&self->repair, self->received + REPLAY_CREDIT);
    return 1;
}

static void
s_on_replay_end (void *state, void *arg, call_result_t result, const void *end)
{
    feed_t *self = arg;
    if (result == CALL_REPLIED)
        s_settle (self);
    else
        s_ask_next (self);
}

//  The last number that is missing before what waits.
static uint64_t
s_missing_to (const feed_t *self)
{
    uint64_t first_waiting = ring_first (&self->pending);
    return first_waiting > self->next ? first_waiting - 1 : self->tail;
}

static void
s_begin_replay (feed_t *self, span_t address)
{
    static const stream_options_t options = {
        .on_item = s_on_replayed, .on_end = s_on_replay_end, .credit = REPLAY_CREDIT, .idle_timeout_ns = IDLE_TIMEOUT_NS
    };
    replay_t request = { self->source, self->stream, self->incarnation, self->next, s_missing_to (self) };
    self->state = FEED_REPLAYING;
    self->received = 0;
    stream_open (&self->repair, self->actor, address, &replay_message, &request, &options, self);
}

static uint64_t
s_on_snapshot_part (void *state, void *arg, uint64_t position, const void *item)
{
    feed_t *self = arg;
    const snapshot_part_t *part = item;
    if (!self->reset_done)
        s_reset (self);
    self->reset_done = true;
    self->received++;
    s_apply (self, 0, 0, part->payload);
    stream_credit (&self->repair, self->received + REPLAY_CREDIT);
    return 1;
}

//  Than what was asked for.
static bool
s_is_older (const feed_t *self, const snapshot_end_t *end)
{
    return end->incarnation < self->incarnation ||
           (end->incarnation == self->incarnation && end->sequence < self->wanted);
}

//  False, and counted, where no batch has such a number.
static bool
s_can_be (actor_t *actor, uint64_t sequence)
{
    if (sequence > EVENT_SEQUENCE_MAX)
        actor_count (actor, COUNT_MALFORMED);
    return sequence <= EVENT_SEQUENCE_MAX;
}

static void
s_on_snapshot_end (void *state, void *arg, call_result_t result, const void *message)
{
    feed_t *self = arg;
    const snapshot_end_t *end = message;
    if (result != CALL_REPLIED || s_is_older (self, end) || !s_can_be (self->actor, end->sequence)) {
        self->fresh = self->fresh || self->reset_done;
        s_ask_next (self);
        return;
    }
    if (!self->reset_done)
        s_reset (self);
    if (end->incarnation > self->incarnation) {    //  What waits is the older one's
        s_drop_pending (self);
        self->tail = end->sequence;
    }
    actor_count (self->actor, COUNT_SNAPSHOT);
    self->incarnation = end->incarnation;
    self->next = end->sequence + 1;
    self->fresh = false;
    if (self->tail < end->sequence)
        self->tail = end->sequence;
    s_settle (self);
}

static void
s_begin_snapshot (feed_t *self, span_t address)
{
    static const stream_options_t options = { .on_item = s_on_snapshot_part,
        .on_end = s_on_snapshot_end,
        .credit = REPLAY_CREDIT,
        .idle_timeout_ns = IDLE_TIMEOUT_NS };
    self->wanted = self->fresh ? 0 : s_missing_to (self);
    take_snapshot_t request = { self->source, self->stream, self->incarnation, self->wanted };
    self->state = FEED_SNAPSHOTTING;
    self->received = 0;
    self->reset_done = false;
    stream_open (&self->repair, self->actor, address, &take_snapshot_message, &request, &options, self);
}

//  The address of whoever is to be asked now; empty where there is none.
static span_t
s_whom (const feed_t *self)
{
    actor_t *actor = self->actor;
    const char *service = self->stream == STREAM_LIFE ? NULL : actor->class->snapshot_service;
    const actor_entry_t *entry = NULL;
    if (s_is_directory (self) || self->ask == ASK_BROKER_REPLAY)
        return self->ask == ASK_SERVICE_SNAPSHOT ? SPAN ("") : SPAN (BROKER_ADDRESS);
    if (self->ask == ASK_SERVICE_SNAPSHOT)
        entry = service ? directory_any (actor, service) : NULL;
    else
        entry = directory_find_source (actor, self->source);
    return entry && entry->state == ACTOR_STATE_ALIVE ? entry->address : SPAN ("");
}

static bool
s_is_hopeless (const feed_t *self)
{
    return self->hopeless_ns && actor_now (self->actor) - self->hopeless_ns >= HOPE_NS;
}

//  Without the directory nothing works: it is asked for as before.
static void
s_grow_pause (feed_t *self)
{
    if (!s_is_directory (self))
        self->pause_ns = self->pause_ns < PAUSE_MAX_NS / 2 ? self->pause_ns * 2 : PAUSE_MAX_NS;
}

static void
s_wait (feed_t *self)
{
    self->state = FEED_WAITING;
    if (!self->hopeless_ns)
        self->hopeless_ns = actor_now (self->actor);
    timer_start (&self->pause, self->actor, self->pause_ns, s_try_again, self);
    if (s_is_hopeless (self)) {
        s_despair (self);
        s_grow_pause (self);
        directory_announce_if_synced (self->actor);
    }
}

static void
s_repair (feed_t *self)
{
    while (self->ask != ASK_NOBODY && s_whom (self).size == 0)
        self->ask++;
    if (self->ask == ASK_NOBODY) {
        s_wait (self);
    } else if (self->ask < ASK_SERVICE_SNAPSHOT) {
        s_begin_replay (self, s_whom (self));
    } else {
        s_begin_snapshot (self, s_whom (self));
    }
}

//  ---- Feeds ---------------------------------------------------------------------------------------------------------

static feed_t *
s_feed (actor_t *actor, uint64_t source, uint16_t stream)
{
    uint8_t bytes [EVENT_KEY_SIZE];
    span_t key = event_key (source, stream, bytes);
    feed_t *self = map_get (actor->feeds, key);
    if (!self) {
        self = memory_new (sizeof *self);
        self->actor = actor;
        self->source = source;
        self->stream = stream;
        self->next = 1;
        self->fresh = true;
        self->pause_ns = PAUSE_NS;
        ring_init (&self->pending, PENDING_MAX_BYTES);
        map_put (actor->feeds, key, self);
    }
    return self;
}

static void
s_stop_repair (feed_t *self)
{
    stream_drop (&self->repair);
    timer_stop (&self->pause);
}

static void
s_feed_destroy (feed_t *self)
{
    uint8_t bytes [EVENT_KEY_SIZE];
    s_stop_repair (self);
    s_hope (self);
    map_remove (self->actor->feeds, event_key (self->source, self->stream, bytes));
    s_drop_pending (self);
    ring_fini (&self->pending);
    memory_free (self);
}

//  True where the incarnation is the present one, made so if need be.
static bool
s_fence (feed_t *self, uint64_t incarnation)
{
    if (incarnation < self->incarnation) {
        actor_count (self->actor, COUNT_STALE);
        return false;
    }
    if (incarnation == self->incarnation)
        return true;
    bool is_restart = self->incarnation != 0;
    s_stop_repair (self);
    s_drop_pending (self);
    self->incarnation = incarnation;
    self->next = 1;
    self->tail = 0;
    self->fresh = true;
    self->complained = false;
    self->state = FEED_LIVE;
    s_hope (self);
    if (is_restart) {
        actor_count (self->actor, COUNT_FENCE);
        s_reset (self);
    }
    return true;
}

//  Whether the next batch is applied as it comes: nothing under way brings it too.
static bool
s_goes_on (const feed_t *self)
{
    return self->state == FEED_LIVE || (self->state == FEED_WAITING && !self->fresh);
}

//  What waited for it comes too, and that may be all.
static void
s_look_behind (feed_t *self)
{
    if (self->state != FEED_WAITING)
        return;
    s_apply_pending (self);
    if (s_is_whole (self))
        s_settle (self);
}

static void
s_take_batch (feed_t *self, const event_header_t *header, span_t payload)
{
    if (!s_fence (self, header->incarnation) || header->sequence < self->next)
        return;
    if (header->sequence > self->tail)
        self->tail = header->sequence;
    if (s_goes_on (self) && s_advance (self, header->sequence, header->wall_ns, payload)) {
        s_look_behind (self);
        return;
    }
    s_keep_pending (self, header, payload);
    if (self->state != FEED_LIVE)
        return;
    if (!self->fresh)
        actor_count (self->actor, COUNT_GAP);
    s_settle (self);
}

void
sink_note_tail (actor_t *actor, uint64_t source, uint16_t stream, uint64_t incarnation, uint64_t sequence)
{
    bool is_directory = stream == STREAM_LIFE && source == event_source (SPAN (BROKER_ADDRESS));
    if (source == actor->source || (!is_directory && !actor_follows (actor, stream)))
        return;
    if (!s_can_be (actor, sequence))
        return;
    feed_t *self = s_feed (actor, source, stream);
    if (incarnation < self->incarnation || !s_fence (self, incarnation))
        return;
    if (sequence > self->tail)
        self->tail = sequence;
    if (self->state != FEED_LIVE || s_is_whole (self))
        return;
    if (self->fresh && sequence == 0) {
        self->fresh = false;    //  It exists and has said nothing yet
        return;
    }
    if (!self->fresh)
        actor_count (actor, COUNT_GAP);
    s_settle (self);
}

void
sink_fence (actor_t *actor, uint64_t source, uint64_t incarnation)
{
    for (uint16_t stream = 1; stream < STREAM_COUNT; stream++) {
        uint8_t bytes [EVENT_KEY_SIZE];
        if (map_get (actor->feeds, event_key (source, stream, bytes)))
            sink_note_tail (actor, source, stream, incarnation, 0);
    }
}

static void
s_ask_soon (feed_t *self)
{
    self->pause_ns = PAUSE_NS;
    timer_start (&self->pause, self->actor, self->pause_ns, s_try_again, self);
}

void
sink_ask_soon (actor_t *actor, const actor_entry_t *helper)
{
    const char *service = actor->class->snapshot_service;
    bool knows_all = service && address_is_of (helper->address, service);
    uint64_t source = event_source (helper->address);
    size_t cursor = 0;
    void *value;
    while (map_next (actor->feeds, &cursor, NULL, &value)) {
        feed_t *feed = value;
        if (feed->state == FEED_WAITING && (knows_all || feed->source == source))
            s_ask_soon (feed);
    }
}

void
sink_forget (actor_t *actor, uint64_t source)
{
    for (uint16_t stream = 1; stream < STREAM_COUNT; stream++) {
        uint8_t bytes [EVENT_KEY_SIZE];
        feed_t *feed = map_get (actor->feeds, event_key (source, stream, bytes));
        if (feed)
            s_feed_destroy (feed);
    }
}

//  What an absent source claims is hidden anyway: nobody waits for it.
static bool
s_source_is_alive (const feed_t *self)
{
    const actor_entry_t *entry = directory_find_source (self->actor, self->source);
    return entry && entry->state == ACTOR_STATE_ALIVE;
}

bool
actor_is_synced (const actor_t *self, uint16_t stream)
{
    size_t cursor = 0;
    void *value;
    if (self->options.broker && !directory_is_registered (self))
        return false;
    while (map_next (self->feeds, &cursor, NULL, &value)) {
        const feed_t *feed = value;
        bool is_due = feed->stream == stream && s_source_is_alive (feed) && !s_is_hopeless (feed);
        if ((is_due || s_is_directory (feed)) && (feed->state != FEED_LIVE || feed->fresh))
            return false;
    }
    return true;
}

bool
actor_feed_position (const actor_t *self, uint16_t stream, uint64_t source, uint64_t *incarnation, uint64_t *sequence)
{
    uint8_t bytes [EVENT_KEY_SIZE];
    const feed_t *feed = map_get (self->feeds, event_key (source, stream, bytes));
    *incarnation = feed ? feed->incarnation : 0;
    if (!feed || feed->fresh || feed->state == FEED_SNAPSHOTTING)
        return false;
    *sequence = feed->next - 1;
    return true;
}

//  ---- The socket ----------------------------------------------------------------------------------------------------

static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    actor_t *actor = arg;
    event_header_t header;
    if (count != 3 || event_header_decode (&header, frames [1], NULL)) {
        actor_count (actor, COUNT_MALFORMED);
        return;
    }
    if (header.source == actor->source)
        return;
    s_take_batch (s_feed (actor, header.source, header.stream), &header, frames [2]);
}

static void
s_on_dropped (void *arg, span_t first)
{
    actor_count (arg, COUNT_MALFORMED);
}

static void
s_subscribe (actor_t *self, const char *prefix)
{
    actor_table (self)->socket_subscribe (self->events, span_from_string (prefix));
}

status_t
sink_open (actor_t *self, const char *endpoint, error_t *error)
{
    if (!endpoint)
        return STATUS_OK;
    socket_options_t options = {
        .kind = SOCKET_SUB, .receive_queue = 10000, .on_message = s_on_message, .on_dropped = s_on_dropped, .arg = self
    };
    self->events = actor_table (self)->socket_open (self->port, &options, error);
    if (!self->events || actor_table (self)->socket_connect (self->events, endpoint, error))
        return error ? error->status : STATUS_IO;
    for (uint16_t stream = 1; stream < STREAM_COUNT; stream++) {
        char prefix [32];
        snprintf (prefix, sizeof prefix, "%s.", stream_name (stream));
        if (actor_follows (self, stream))
            s_subscribe (self, prefix);
    }
    if (!actor_follows (self, STREAM_LIFE))
        s_subscribe (self, "life." BROKER_ADDRESS ".");
    return STATUS_OK;
}

void
sink_destroy_all (actor_t *self)
{
    size_t cursor = 0;
    void *feed;
    while (map_next (self->feeds, &cursor, NULL, &feed))
        s_feed_destroy (feed);
    if (self->events)
        actor_table (self)->socket_close (self->events);
    self->events = NULL;
}
