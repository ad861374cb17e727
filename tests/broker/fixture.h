//  fixture - the bus in the simulated world
//
//  A source keeps a set of numbers and publishes every change, a follower mirrors it.  Whatever breaks on the way, once it
//  is quiet the two are equal.

#ifndef TESTS_BROKER_FIXTURE_H
#define TESTS_BROKER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "broker/broker.h"
#include "runtime/directory.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "simulator/network.h"
#include "simulator/port/sim_port.h"
#include "simulator/stage.h"

enum { NUMBERS = 256, RING = 1 << 20 };

//  ---- A source: every few milliseconds one number comes or goes -----------------------------------------------------

typedef struct {
    actor_t *actor;          //  Itself
    bool has [NUMBERS];      //  The set
    actor_timer_t change;    //  The next one
    bool quiet;              //  No more changes
} source_state_t;

static inline hash128_t
s_hash (uint64_t number)
{
    return (hash128_t){ number + 1, 0 };
}

static inline void
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

static inline void
s_change (void *self_, actor_t *actor, void *arg)
{
    source_state_t *self = self_;
    if (self->quiet)
        return;
    for (uint64_t i = actor_random (actor) % 3; i < 3; i++)
        s_publish (self, actor_random (actor) % NUMBERS);
    timer_start (&self->change, actor, 5 * REALM_MS, s_change, NULL);
}

static inline status_t
s_source_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    source_state_t *self = self_;
    self->actor = actor;
    timer_start (&self->change, actor, REALM_MS, s_change, NULL);
    return STATUS_OK;
}

static inline void
s_source_fini (void *self_, actor_t *actor)
{
    timer_stop (&((source_state_t *)self_)->change);
}

static inline status_t
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

//  ---- A follower of one source --------------------------------------------------------------------------------------

typedef struct {
    bool has [NUMBERS];    //  The mirror
    size_t events;         //  Applied
    size_t resets;         //  Times it had to forget
    size_t doubles;        //  Changes that were none: a lost or repeated event
    size_t alive;          //  Times the source was seen alive
    size_t unreachable;    //  Times it was seen unreachable
} follower_state_t;

static inline void
s_mirror (follower_state_t *self, column_t hashes, bool stored)
{
    for (size_t i = 0; i < hashes.count; i++) {
        bool *has = &self->has [column_hash128 (hashes, i).high - 1];
        self->doubles += *has == stored;
        *has = stored;
    }
    self->events++;
}

static inline void
s_on_stored (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
    s_mirror (self, ((const kv_stored_t *)event)->hashes, true);
}

static inline void
s_on_removed (void *self, actor_t *actor, const origin_t *origin, const void *event)
{
    s_mirror (self, ((const kv_removed_t *)event)->hashes, false);
}

static inline void
s_on_reset (void *self_, actor_t *actor, const origin_t *origin)
{
    follower_state_t *self = self_;
    memset (self->has, 0, sizeof self->has);
    self->resets++;
}

static inline void
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

//  ---- Keys: each machine has one, and so has a stranger -------------------------------------------------------------

static const char *const s_all [] = { "*", NULL };
static const char *const s_of_bus [] = { "broker.*", "*.ping", "*.replay", "*.take_snapshot", NULL };
static const char *const s_sources [] = { "source/*", NULL };
static const char *const s_followers [] = { "follower/*", NULL };
static const guard_role_t s_roles [] = { { "source", s_sources, s_of_bus }, { "follower", s_followers, s_of_bus },
    { "broker", s_all, s_all } };
static const guard_t s_guard = { s_roles, 3 };
enum { ROLE_SOURCE = 1, ROLE_FOLLOWER = 2, ROLE_BROKER = 4 };

//  ---- The stage -----------------------------------------------------------------------------------------------------

static const char *const bus_addresses [] = { "broker/0", "source/0", "follower/0" };
static const char *const bus_machines [] = { "m0", "left", "right" };
typedef enum { BROKER, SOURCE, FOLLOWER } role_t;

static stage_t *bus_stage;
static broker_options_t bus_options;
static uint64_t bus_follower_memory;    //  What load may take there; 0: the default
static keyring_t *bus_keys [3];         //  By role; NULL: plain endpoints

static inline void
bus_add (role_t role)
{
    const actor_class_t *classes [] = { &broker_class, &s_source_class, &s_follower_class };
    stage_add (bus_stage, &(stage_actor_t){ .class = classes [role],
                              .instance = "0",
                              .machine = bus_machines [role],
                              .options = role == BROKER ? &bus_options : NULL,
                              .ring_bytes = bus_options.ring_bytes,
                              .memory_bytes = role == FOLLOWER ? bus_follower_memory : 0,
                              .keys = bus_keys [role],
                              .guard = &s_guard });
}

static inline void
bus_run (uint64_t ns)
{
    stage_run (bus_stage, ns);
}

static inline void
bus_separate (role_t role, bool separate)
{
    realm_machine_set_group (realm_machine_find (stage_realm (bus_stage), bus_machines [role]), separate);
}

static inline void
bus_begin (uint64_t seed, uint64_t ring_bytes)
{
    bus_options = (broker_options_t){ .events = STAGE_EVENTS,
        .gone_after_ns = 600 * REALM_SECOND,
        .ring_bytes = ring_bytes,
        .subscriber_queue = 10000,
        .actors_max = 100 };
    bus_stage = stage_new (seed);
    bus_add (BROKER);
    bus_add (SOURCE);
}

static inline void
bus_begin_all (uint64_t seed, uint64_t ring_bytes)
{
    bus_begin (seed, ring_bytes);
    bus_add (FOLLOWER);
    bus_run (2 * REALM_SECOND);
}

static inline source_state_t *
bus_source (void)
{
    return actor_state (stage_find (bus_stage, "source/0"));
}

static inline follower_state_t *
bus_follower (void)
{
    return actor_state (stage_find (bus_stage, "follower/0"));
}

static inline int64_t
bus_metric (role_t role, const char *wanted, const char *label)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    while (metrics_next (actor_metrics (stage_find (bus_stage, bus_addresses [role])), &cursor, &name, &labels, &value))
        if (strcmp (name, wanted) == 0 && strcmp (labels, label) == 0)
            return value;
    return -1;
}

static inline int64_t
bus_count (role_t role, const char *kind)
{
    char label [64];
    snprintf (label, sizeof label, "kind=\"%s\"", kind);
    return bus_metric (role, "stator_bus_events_total", label);
}

//  The source falls silent; when all is repaired the mirror equals the set.
static inline void
bus_check_equal_once_quiet (void)
{
    bus_source ()->quiet = true;
    bus_run (10 * REALM_SECOND);
    assert_true (actor_is_synced (stage_find (bus_stage, "follower/0"), STREAM_KV));
    assert_memory_equal (bus_follower ()->has, bus_source ()->has, sizeof bus_source ()->has);
}

static inline void
bus_end (void)
{
    stage_destroy (&bus_stage);
    for (int i = 0; i < 3; i++)
        keyring_destroy (&bus_keys [i]);
}

#endif
