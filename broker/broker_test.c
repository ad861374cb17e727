//  Events through the broker, in the simulated world: a source keeps a set of numbers and publishes every change, a
//  follower mirrors it.  Whatever breaks on the way, once it is quiet the two are equal.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "broker/broker.h"
#include "runtime/directory.h"
#include "runtime/timer.h"
#include "schemas/call.h"
#include "schemas/event.h"
#include "schemas/event_header.h"
#include "schemas/kv.h"
#include "simulator/network.h"
#include "simulator/port/sim_port.h"
#include "simulator/stage.h"

enum { NUMBERS = 256, RING = 1 << 20 };

//  ---- A source: every few milliseconds one number comes or goes ----

typedef struct {
    actor_t *actor;          //  Itself
    bool has [NUMBERS];      //  The set
    actor_timer_t change;    //  The next one
    bool quiet;              //  No more changes
} source_state_t;

static hash128_t
s_hash (uint64_t number)
{
    return (hash128_t){ number + 1, 0 };
}

static void
s_publish (source_state_t *self, uint64_t number)
{
    uint8_t bytes [HASH128_SIZE];
    hash128_to_bytes (s_hash (number), bytes);
    column_t column = { bytes, 1 };
    kv_stored_t stored = { .tier = TIER_DEVICE, .hashes = column };
    kv_removed_t removed = { .tier = TIER_DEVICE, .hashes = column };
    self->has [number] = !self->has [number];
    if (self->has [number])
        actor_publish (self->actor, &kv_stored_message, &stored);
    else
        actor_publish (self->actor, &kv_removed_message, &removed);
}

static void
s_change (void *self_, actor_t *actor, void *arg)
{
    source_state_t *self = self_;
    if (self->quiet)
        return;
    for (uint64_t i = actor_random (actor) % 3; i < 3; i++)
        s_publish (self, actor_random (actor) % NUMBERS);
    timer_start (&self->change, actor, 5 * REALM_MS, s_change, NULL);
}

static status_t
s_source_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    source_state_t *self = self_;
    self->actor = actor;
    timer_start (&self->change, actor, REALM_MS, s_change, NULL);
    return STATUS_OK;
}

static void
s_source_fini (void *self_, actor_t *actor)
{
    timer_stop (&((source_state_t *)self_)->change);
}

static status_t
s_source_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    source_state_t *self = self_;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint8_t bytes [HASH128_SIZE];
        hash128_to_bytes (s_hash (i), bytes);
        kv_stored_t stored = { .tier = TIER_DEVICE, .hashes = { bytes, 1 } };
        if (self->has [i])
            snapshot_add (snapshot, &kv_stored_message, &stored);
    }
    return STATUS_OK;
}

static const actor_handler_t s_source_handlers [] = {
    HANDLES_SNAPSHOT (STREAM_KV, s_source_snapshot),
    HANDLERS_END,
};

static const actor_class_t s_source_class = { .name = "source",
    .state_size = sizeof (source_state_t),
    .init = s_source_init,
    .fini = s_source_fini,
    .handlers = s_source_handlers };

//  ---- A follower of one source ----

typedef struct {
    bool has [NUMBERS];    //  The mirror
    size_t events;         //  Applied
    size_t resets;         //  Times it had to forget
    size_t doubles;        //  Changes that were none: a lost or repeated event
    size_t alive;          //  Times the source was seen alive
    size_t unreachable;    //  Times it was seen unreachable
} follower_state_t;

static void
s_mirror (follower_state_t *self, column_t hashes, bool stored)
{
    for (size_t i = 0; i < hashes.count; i++) {
        bool *has = &self->has [column_hash128 (hashes, i).high - 1];
        self->doubles += *has == stored;
        *has = stored;
    }
    self->events++;
}

static void
s_on_stored (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
    s_mirror (self, ((const kv_stored_t *)event)->hashes, true);
}

static void
s_on_removed (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
    s_mirror (self, ((const kv_removed_t *)event)->hashes, false);
}

static void
s_on_reset (void *self_, actor_t *actor, const origin_t *origin)
{
    follower_state_t *self = self_;
    memset (self->has, 0, sizeof self->has);
    self->resets++;
}

static void
s_on_source (void *self_, actor_t *actor, const actor_entry_t *entry)
{
    follower_state_t *self = self_;
    self->alive += entry->state == ACTOR_STATE_ALIVE;
    self->unreachable += entry->state == ACTOR_STATE_UNREACHABLE;
}

static const actor_handler_t s_follower_handlers [] = {
    HANDLES_EVENT (kv_stored, s_on_stored),
    HANDLES_EVENT (kv_removed, s_on_removed),
    HANDLES_RESET (STREAM_KV, s_on_reset),
    HANDLES_ACTOR ("source", s_on_source),
    HANDLERS_END,
};

static const actor_class_t s_follower_class = {
    .name = "follower", .state_size = sizeof (follower_state_t), .handlers = s_follower_handlers
};

//  ---- Keys: each machine has one, and so has a stranger ----

static const char *const s_all [] = { "*", NULL };
static const char *const s_of_bus [] = { "broker.*", "*.ping", "*.replay", "*.take_snapshot", NULL };
static const char *const s_sources [] = { "source/*", NULL };
static const char *const s_followers [] = { "follower/*", NULL };
static const guard_role_t s_roles [] = { { "source", s_sources, s_of_bus }, { "follower", s_followers, s_of_bus },
    { "broker", s_all, s_all } };
static const guard_t s_guard = { s_roles, 3 };
enum { ROLE_SOURCE = 1, ROLE_FOLLOWER = 2, ROLE_BROKER = 4 };

static const keyring_entry_t s_known_keys [] = { { "m0", "KEY-M0", "m0", ROLE_BROKER },
    { "left", "KEY-LEFT", "left", ROLE_SOURCE }, { "right", "KEY-RIGHT", "right", ROLE_FOLLOWER } };
enum { KNOWN_KEYS = sizeof s_known_keys / sizeof *s_known_keys };

//  The keyring of the holder of `own`, with those of the known keys whose bits are set.
static keyring_t *
s_keyring (const char *own, unsigned known)
{
    keyring_t *keys = keyring_new ();
    keyring_set_own (keys, own, "secret");
    for (size_t i = 0; i < KNOWN_KEYS; i++)
        if (known >> i & 1)
            assert_int_equal (keyring_add (keys, &s_known_keys [i], NULL), STATUS_OK);
    return keys;
}

//  ---- The stage ----

static const char *const s_addresses [] = { "broker/0", "source/0", "follower/0" };
static const char *const s_machines [] = { "m0", "left", "right" };
typedef enum { BROKER, SOURCE, FOLLOWER } role_t;

static stage_t *s_stage;
static broker_options_t s_options;
static uint64_t s_follower_memory;    //  What load may take there; 0: the default
static keyring_t *s_keys [3];         //  By role; NULL: plain endpoints

static void
s_add (role_t role)
{
    const actor_class_t *classes [] = { &broker_class, &s_source_class, &s_follower_class };
    stage_add (s_stage, &(stage_actor_t){ .class = classes [role],
                            .instance = "0",
                            .machine = s_machines [role],
                            .options = role == BROKER ? &s_options : NULL,
                            .ring_bytes = s_options.ring_bytes,
                            .memory_bytes = role == FOLLOWER ? s_follower_memory : 0,
                            .keys = s_keys [role],
                            .guard = &s_guard });
}

static void
s_run (uint64_t ns)
{
    stage_run (s_stage, ns);
}

static void
s_separate (role_t role, bool separate)
{
    realm_machine_set_group (realm_machine_find (stage_realm (s_stage), s_machines [role]), separate);
}

static void
s_begin (uint64_t seed, uint64_t ring_bytes)
{
    s_options = (broker_options_t){ .events = STAGE_EVENTS,
        .gone_after_ns = 600 * REALM_SECOND,
        .ring_bytes = ring_bytes,
        .subscriber_queue = 10000,
        .actors_max = 100 };
    s_stage = stage_new (seed);
    s_add (BROKER);
    s_add (SOURCE);
}

static void
s_begin_all (uint64_t seed, uint64_t ring_bytes)
{
    s_begin (seed, ring_bytes);
    s_add (FOLLOWER);
    s_run (2 * REALM_SECOND);
}

static source_state_t *
s_source (void)
{
    return actor_state (stage_find (s_stage, "source/0"));
}

static follower_state_t *
s_follower (void)
{
    return actor_state (stage_find (s_stage, "follower/0"));
}

static int64_t
s_metric (role_t role, const char *wanted, const char *label)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (metrics_next (actor_metrics (stage_find (s_stage, s_addresses [role])), &cursor, &name, &labels, &value))
        if (strcmp (name, wanted) == 0 && strcmp (labels, label) == 0)
            return value;
    return -1;
}

static int64_t
s_count (role_t role, const char *kind)
{
    char label [64];
    snprintf (label, sizeof label, "kind=\"%s\"", kind);
    return s_metric (role, "stator_bus_events_total", label);
}

//  The source falls silent; when all is repaired the mirror equals the set.
static void
s_check_equal_once_quiet (void)
{
    s_source ()->quiet = true;
    s_run (10 * REALM_SECOND);
    assert_true (actor_is_synced (stage_find (s_stage, "follower/0"), STREAM_KV));
    assert_memory_equal (s_follower ()->has, s_source ()->has, sizeof s_source ()->has);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
    for (int i = 0; i < 3; i++)
        keyring_destroy (&s_keys [i]);
}

//  Each with the key of its machine and everybody's on its keyring, but for the source's own, which is given.
static void
s_give_keys (const char *source)
{
    s_keys [BROKER] = s_keyring ("KEY-M0", 7);
    s_keys [SOURCE] = s_keyring (source, 7);
    s_keys [FOLLOWER] = s_keyring ("KEY-RIGHT", 7);
}

static int64_t
s_strangers (void)
{
    return s_metric (BROKER, "stator_broker_followers_refused_total", "");
}

//  ---- Stories ----

static void
test_a_follower_mirrors_its_source (void **state)
{
    s_begin_all (1, RING);
    s_run (5 * REALM_SECOND);
    assert_true (s_follower ()->events > 500);
    s_check_equal_once_quiet ();
    assert_int_equal (s_follower ()->doubles, 0);
    assert_int_equal (s_count (FOLLOWER, "gap"), 0);
    s_end ();
}

//  Who comes late takes the state over, then follows.
static void
test_a_late_follower_begins_with_a_snapshot (void **state)
{
    s_begin (2, RING);
    s_run (10 * REALM_SECOND);
    s_add (FOLLOWER);
    s_run (3 * REALM_SECOND);
    assert_int_equal (s_count (FOLLOWER, "snapshot"), 2);    //  The directory's, and the source's
    s_check_equal_once_quiet ();
    assert_int_equal (s_follower ()->doubles, 0);
    s_end ();
}

//  Killed under load for two seconds: what was published meanwhile comes out of the source's ring.
static void
test_a_killed_broker_costs_nothing (void **state)
{
    s_begin_all (3, RING);
    size_t resets = s_follower ()->resets;
    stage_crash (s_stage, s_addresses [BROKER]);
    s_run (2 * REALM_SECOND);
    size_t events = s_follower ()->events;
    stage_start (s_stage, s_addresses [BROKER]);
    s_run (5 * REALM_SECOND);
    assert_true (s_follower ()->events > events + 500);
    assert_int_equal (s_follower ()->unreachable, 0);
    assert_true (s_count (SOURCE, "registered") >= 2);
    s_check_equal_once_quiet ();
    assert_int_equal (s_follower ()->resets, resets);
    assert_int_equal (s_follower ()->doubles, 0);
    s_end ();
}

//  A restarted source begins from nothing: what its predecessor had is forgotten, not mixed in.
static void
test_a_restarted_source_is_fenced (void **state)
{
    s_begin_all (4, RING);
    s_run (3 * REALM_SECOND);
    stage_crash (s_stage, s_addresses [SOURCE]);
    s_run (REALM_SECOND);
    stage_start (s_stage, s_addresses [SOURCE]);
    s_run (3 * REALM_SECOND);
    assert_int_equal (s_count (FOLLOWER, "fence"), 1);
    assert_true (s_follower ()->resets >= 1);
    s_check_equal_once_quiet ();
    s_end ();
}

static const budget_t *
s_lose_some (uint64_t memory)
{
    s_follower_memory = memory;
    s_begin_all (5, RING);
    network_set_publishing (realm_network (stage_realm (s_stage)), 200000, 50000);
    s_run (20 * REALM_SECOND);
    assert_true (s_count (FOLLOWER, "gap") > 10 && s_count (FOLLOWER, "replayed") > 10);
    s_source ()->quiet = true;
    s_run (5 * REALM_SECOND);
    network_set_publishing (realm_network (stage_realm (s_stage)), 0, 0);
    s_check_equal_once_quiet ();
    assert_int_equal (s_follower ()->doubles, 0);
    s_follower_memory = 0;
    return actor_budget (stage_find (s_stage, "follower/0"));
}

//  One in five messages to followers is lost, the last ones too: all of it comes back.  What waits behind a hole is in the
//  follower's budget; where that has no room all of it is given up, counted, and asked for.
static void
test_what_the_fabric_drops_is_replayed (void **state)
{
    const budget_t *budget = s_lose_some (1 << 20);
    assert_true (budget->peak && !budget->used && !budget->refused);
    s_end ();
    budget = s_lose_some (112);
    assert_true (budget->peak && budget->refused > 5);
    assert_true (s_count (FOLLOWER, "unkept") > (int64_t)budget->refused);    //  At times several batches wait
    s_end ();
}

//  Where no ring reaches back far enough the state is taken over whole.
static void
test_a_ring_that_is_too_short_leads_to_a_snapshot (void **state)
{
    s_begin_all (6, 2000);
    int64_t before = s_count (FOLLOWER, "snapshot");
    s_separate (FOLLOWER, true);
    s_run (30 * REALM_SECOND);
    s_separate (FOLLOWER, false);
    s_run (10 * REALM_SECOND);
    assert_true (s_count (FOLLOWER, "snapshot") > before);
    s_check_equal_once_quiet ();
    s_end ();
}

static int64_t
s_fanned_out (void)
{
    return s_metric (BROKER, "stator_broker_batches_total", "result=\"fanned_out\"");
}

//  The broker is away for so long that far more batches leave the source's ring than it ever has under way.
static void
test_a_source_goes_on_after_more_was_lost_than_its_window_holds (void **state)
{
    s_begin_all (11, 2000);
    s_run (REALM_SECOND);
    stage_crash (s_stage, s_addresses [BROKER]);
    s_run (30 * REALM_SECOND);
    stage_start (s_stage, s_addresses [BROKER]);
    s_run (10 * REALM_SECOND);
    assert_true (s_count (SOURCE, "dropped") > 1000);
    int64_t fanned_out = s_fanned_out ();
    s_run (10 * REALM_SECOND);
    assert_true (s_fanned_out () > fanned_out + 500);
    s_check_equal_once_quiet ();
    s_end ();
}

static int64_t
s_ring_bytes (void)
{
    return s_metric (BROKER, "stator_broker_ring_bytes", "");
}

//  However many sources there are, what is kept of them fits the budget; without one each ring fills up to its limit.
static void
test_all_rings_together_keep_to_their_budget (void **state)
{
    enum { BUDGET = 3000 };
    s_begin_all (8, RING);
    s_run (30 * REALM_SECOND);
    assert_true (s_ring_bytes () > BUDGET);
    s_end ();
    s_begin (8, RING);
    s_options.ring_budget = BUDGET;
    stage_crash (s_stage, s_addresses [BROKER]);
    stage_start (s_stage, s_addresses [BROKER]);
    s_add (FOLLOWER);
    s_run (30 * REALM_SECOND);
    assert_true (s_ring_bytes () > 0 && s_ring_bytes () <= BUDGET);
    s_check_equal_once_quiet ();
    s_end ();
}

//  Cut off for longer than its lease, a source is unreachable; back, it is alive, and nothing was forgotten.
static void
test_a_source_that_was_cut_off_comes_back (void **state)
{
    s_begin_all (7, RING);
    size_t resets = s_follower ()->resets;
    s_separate (SOURCE, true);
    s_run (8 * REALM_SECOND);
    assert_int_equal (s_follower ()->unreachable, 1);
    s_separate (SOURCE, false);
    s_run (10 * REALM_SECOND);
    assert_int_equal (s_follower ()->alive, 2);
    s_check_equal_once_quiet ();
    assert_int_equal (s_follower ()->resets, resets);
    s_end ();
}

//  A broker that stood still, or was cut off from everybody, hears nobody for longer than a lease: nobody is absent for
//  that.
static void
test_a_broker_that_was_away_reports_nobody_absent (void **state)
{
    s_begin_all (8, RING);
    realm_process_t *broker = stage_process (s_stage, s_addresses [BROKER]);
    realm_process_signal (broker, PROCESS_SIGNAL_STOP);
    s_run (7 * REALM_SECOND);
    realm_process_signal (broker, PROCESS_SIGNAL_CONT);
    s_run (10 * REALM_SECOND);
    assert_int_equal (s_follower ()->unreachable, 0);
    s_separate (BROKER, true);
    s_run (20 * REALM_SECOND);
    s_separate (BROKER, false);
    s_run (10 * REALM_SECOND);
    assert_int_equal (s_follower ()->unreachable, 0);
    s_check_equal_once_quiet ();
    s_end ();
}

//  Whoever hands over and listens in raw frames, beside an actor.
typedef struct {
    port_socket_t *broker;    //  DEALER
    port_socket_t *events;    //  SUB
    size_t acknowledged;      //  Hand-overs
    size_t heard;             //  Batches on the bus
} witness_t;

static void
s_on_acknowledged (void *arg, const span_t *frames, size_t count)
{
    ((witness_t *)arg)->acknowledged++;
}

static void
s_on_batch (void *arg, const span_t *frames, size_t count)
{
    ((witness_t *)arg)->heard++;
}

static void
s_witness_open (witness_t *self)
{
    port_t *port = actor_port (stage_find (s_stage, "source/0"));
    const port_table_t *table = port->table;
    socket_options_t dealer = { .kind = SOCKET_DEALER, .on_message = s_on_acknowledged, .arg = self };
    socket_options_t sub = { .kind = SOCKET_SUB, .on_message = s_on_batch, .arg = self };
    *self = (witness_t){ table->socket_open (port, &dealer, NULL), table->socket_open (port, &sub, NULL), 0, 0 };
    assert_int_equal (table->socket_connect (self->broker, STAGE_BROKER, NULL), STATUS_OK);
    assert_int_equal (table->socket_connect (self->events, STAGE_EVENTS, NULL), STATUS_OK);
    table->socket_subscribe (self->events, SPAN ("kv."));
    s_run (REALM_SECOND);
}

static void
s_witness_close (witness_t *self)
{
    const port_table_t *table = actor_port (stage_find (s_stage, "source/0"))->table;
    table->socket_close (self->broker);
    table->socket_close (self->events);
}

//  Hands over an empty batch in the name of the source.
static void
s_hand_over (witness_t *self, uint64_t incarnation, uint64_t sequence)
{
    uint8_t bytes [EVENT_HEADER_SIZE];
    buffer_t header = { 0 }, topic = { 0 };
    frame_header_t frame = { .version = 1, .kind = FRAME_KIND_EVENT };
    event_header_t event = { .version = EVENT_VERSION,
        .stream = STREAM_KV,
        .source = event_source (SPAN ("source/0")),
        .incarnation = incarnation,
        .sequence = sequence };
    frame_header_encode (&frame, &header);
    event_header_encode (&event, bytes);
    event_topic_append (&topic, STREAM_KV, SPAN ("source/0"));
    span_t frames [] = { SPAN (""), buffer_span (&header), buffer_span (&topic), span_of (bytes, sizeof bytes),
        SPAN ("\x90") };
    const port_table_t *table = actor_port (stage_find (s_stage, "source/0"))->table;
    assert_int_equal (table->socket_send (self->broker, frames, 5), STATUS_OK);
    s_run (REALM_SECOND);
    buffer_fini (&header);
    buffer_fini (&topic);
}

static int64_t
s_batches (const char *result)
{
    char label [64];
    snprintf (label, sizeof label, "result=\"%s\"", result);
    return s_metric (BROKER, "stator_broker_batches_total", label);
}

//  A source that heard no acknowledgement hands over again; it is told once more, and nobody else.
static void
test_a_batch_that_is_handed_over_twice_is_fanned_out_once (void **state)
{
    witness_t witness;
    s_begin_all (20, RING);
    s_source ()->quiet = true;
    s_witness_open (&witness);
    const actor_t *source = stage_find (s_stage, "source/0");
    uint64_t next = actor_published (source, STREAM_KV) + 1;
    s_hand_over (&witness, actor_incarnation (source), next);
    assert_int_equal (witness.heard, 1);
    s_hand_over (&witness, actor_incarnation (source), next);
    assert_int_equal (witness.heard, 1);
    assert_int_equal (witness.acknowledged, 2);
    assert_int_equal (s_batches ("duplicate"), 1);
    s_witness_close (&witness);
    s_end ();
}

//  What was replaced may still be running somewhere.
static void
test_what_an_old_incarnation_publishes_reaches_nobody (void **state)
{
    witness_t witness;
    s_begin_all (21, RING);
    s_source ()->quiet = true;
    s_witness_open (&witness);
    const actor_t *source = stage_find (s_stage, "source/0");
    s_hand_over (&witness, actor_incarnation (source) - 1, actor_published (source, STREAM_KV) + 1);
    assert_int_equal (witness.heard, 0);
    assert_int_equal (witness.acknowledged, 0);
    assert_int_equal (s_batches ("stale"), 1);
    s_witness_close (&witness);
    s_end ();
}

//  Those who follow subscribe; whoever sends anything else there is heard of.
static void
test_stray_messages_to_the_bus_are_counted (void **state)
{
    s_begin_all (22, RING);
    port_t *port = actor_port (stage_find (s_stage, "source/0"));
    socket_options_t options = { .kind = SOCKET_DEALER };
    port_socket_t *stray = port->table->socket_open (port, &options, NULL);
    span_t frames [] = { SPAN ("\x01"), SPAN ("hello") };
    assert_int_equal (port->table->socket_connect (stray, STAGE_EVENTS, NULL), STATUS_OK);
    assert_int_equal (s_metric (BROKER, "stator_broker_strays_total", ""), 0);
    port->table->socket_send (stray, frames, 2);
    port->table->socket_send (stray, frames + 1, 1);
    s_run (REALM_SECOND);
    assert_int_equal (s_metric (BROKER, "stator_broker_strays_total", ""), 2);
    port->table->socket_close (stray);
    s_end ();
}

static void
test_with_the_right_keys_nothing_is_different (void **state)
{
    s_give_keys ("KEY-LEFT");
    s_begin_all (9, RING);
    stage_crash (s_stage, s_addresses [BROKER]);
    s_run (2 * REALM_SECOND);
    stage_start (s_stage, s_addresses [BROKER]);
    s_run (5 * REALM_SECOND);
    assert_true (s_follower ()->events > 500);
    assert_int_equal (s_count (BROKER, "refused"), 0);
    s_check_equal_once_quiet ();
    s_end ();
}

static void
test_a_stranger_is_turned_away_and_counted (void **state)
{
    s_give_keys ("KEY-EVE");
    s_begin_all (10, RING);
    assert_int_equal (s_count (SOURCE, "registered"), 0);
    assert_int_equal (s_follower ()->alive, 0);
    assert_true (s_strangers () > 0);
    s_end ();
}

//  A key that is let in, but for something else.
static void
test_nobody_speaks_for_a_source_without_the_role_for_it (void **state)
{
    s_give_keys ("KEY-RIGHT");
    s_begin_all (11, RING);
    assert_int_equal (s_count (SOURCE, "registered"), 0);
    assert_int_equal (s_follower ()->alive, 0);
    assert_true (s_count (BROKER, "refused") > 0);
    s_end ();
}

//  Revoked in the middle of it all: what it says afterwards is refused, although its connections stand.
static void
test_a_revoked_key_says_nothing_more (void **state)
{
    s_give_keys ("KEY-LEFT");
    s_begin_all (12, RING);
    assert_true (s_follower ()->events > 0);
    keyring_t *revoked = s_keyring ("KEY-M0", 5);
    sim_port_set_keys (actor_port (stage_find (s_stage, "broker/0")), revoked);
    s_run (100 * REALM_MS);
    size_t events = s_follower ()->events;
    s_run (10 * REALM_SECOND);
    assert_int_equal (s_follower ()->events, events);
    assert_int_equal (s_follower ()->unreachable, 1);
    assert_true (s_count (BROKER, "refused") > 10);
    sim_port_set_keys (actor_port (stage_find (s_stage, "broker/0")), s_keys [BROKER]);
    s_run (10 * REALM_SECOND);
    s_check_equal_once_quiet ();
    keyring_destroy (&revoked);
    s_end ();
}

//  Who follows says nothing, so it must be asked who it is once more.
static void
test_a_follower_whose_key_is_revoked_hears_nothing_more (void **state)
{
    s_give_keys ("KEY-LEFT");
    s_begin_all (13, RING);
    actor_t *broker = stage_find (s_stage, "broker/0");
    keyring_t *revoked = s_keyring ("KEY-M0", 3);
    sim_port_set_keys (actor_port (broker), revoked);
    actor_reload (broker, NULL);
    s_run (REALM_SECOND);
    size_t events = s_follower ()->events;
    s_run (10 * REALM_SECOND);
    assert_int_equal (s_follower ()->events, events);
    assert_true (s_strangers () > 0);
    sim_port_set_keys (actor_port (broker), s_keys [BROKER]);
    s_run (10 * REALM_SECOND);
    assert_true (s_follower ()->events > events);
    s_check_equal_once_quiet ();
    keyring_destroy (&revoked);
    s_end ();
}

static void
s_break_something (random_t *random)
{
    uint64_t choice = random_below (random, 6);
    if (choice < 2 || choice == 2) {
        role_t role = (role_t)choice;
        stage_crash (s_stage, s_addresses [role]);
        s_run (random_below (random, 4000) * REALM_MS + REALM_MS);
        stage_start (s_stage, s_addresses [role]);
    } else if (choice == 3) {
        role_t role = (role_t)random_below (random, 3);
        s_separate (role, true);
        s_run (random_below (random, 15000) * REALM_MS);
        s_separate (role, false);
    } else if (choice == 4) {
        network_set_publishing (realm_network (stage_realm (s_stage)), 300000, 100000);
        s_run (random_below (random, 3000) * REALM_MS);
        network_set_publishing (realm_network (stage_realm (s_stage)), 0, 0);
    } else {
        realm_machine_jump_clock (
            realm_machine_find (stage_realm (s_stage), s_machines [SOURCE]), -(int64_t)(10 * REALM_SECOND));
    }
    s_run (random_below (random, 4000) * REALM_MS);
}

static void
test_whatever_breaks_they_are_equal_once_quiet (void **state)
{
    for (uint64_t seed = 100; seed < 160; seed++) {
        random_t random;
        random_init (&random, seed);
        print_message ("seed %llu\n", (unsigned long long)seed);
        s_begin_all (seed, random_chance (&random, 500000) ? 3000 : RING);
        for (int i = 0; i < 8; i++)
            s_break_something (&random);
        s_run (15 * REALM_SECOND);
        s_check_equal_once_quiet ();
        s_end ();
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_follower_mirrors_its_source),
        cmocka_unit_test (test_a_late_follower_begins_with_a_snapshot),
        cmocka_unit_test (test_a_killed_broker_costs_nothing),
        cmocka_unit_test (test_a_restarted_source_is_fenced),
        cmocka_unit_test (test_what_the_fabric_drops_is_replayed),
        cmocka_unit_test (test_a_ring_that_is_too_short_leads_to_a_snapshot),
        cmocka_unit_test (test_a_source_goes_on_after_more_was_lost_than_its_window_holds),
        cmocka_unit_test (test_all_rings_together_keep_to_their_budget),
        cmocka_unit_test (test_a_source_that_was_cut_off_comes_back),
        cmocka_unit_test (test_a_broker_that_was_away_reports_nobody_absent),
        cmocka_unit_test (test_a_batch_that_is_handed_over_twice_is_fanned_out_once),
        cmocka_unit_test (test_what_an_old_incarnation_publishes_reaches_nobody),
        cmocka_unit_test (test_stray_messages_to_the_bus_are_counted),
        cmocka_unit_test (test_with_the_right_keys_nothing_is_different),
        cmocka_unit_test (test_a_stranger_is_turned_away_and_counted),
        cmocka_unit_test (test_nobody_speaks_for_a_source_without_the_role_for_it),
        cmocka_unit_test (test_a_revoked_key_says_nothing_more),
        cmocka_unit_test (test_a_follower_whose_key_is_revoked_hears_nothing_more),
        cmocka_unit_test (test_whatever_breaks_they_are_equal_once_quiet),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
