//  fixture - what the tests of the router share: a stage with workers that only say what they hold, and who asks

#ifndef TESTS_ROUTER_FIXTURE_H
#define TESTS_ROUTER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "schemas/route.h"
#include "schemas/worker.h"
#include "tests/stage_broker.h"

enum { CHAIN = 10, FINGERPRINT = 77, NAMESPACE = 5, ASKS_MAX = 4 };

static const indexer_options_t fixture_indexer_options = { .blocks_max = 100000 };
static router_options_t fixture_options = { .mode = 0,
    .overlap_weight = 1000000,
    .load_weight = 1000000,
    .lower_weight = 800000,
    .load_stale_ns = 5 * REALM_SECOND,
    .blocks_max = 100000,
    .sessions_max = 1000 };

static stage_t *fixture_stage;

//  ---- A worker that holds the first `blocks` blocks of the chain ----------------------------------------------------

typedef struct {
    size_t blocks;    //  Held
} holder_state_t;

static uint8_t fixture_chain [CHAIN * HASH128_SIZE];

static inline void
fixture_make_chain (void)
{
    for (uint64_t i = 0; i < CHAIN; i++)
        hash128_to_bytes ((hash128_t){ 1000 + i, i }, fixture_chain + i * HASH128_SIZE);
}

static inline kv_stored_t
fixture_stored (size_t blocks)
{
    return (kv_stored_t){ .namespace_id = NAMESPACE, .tier = TIER_DEVICE, .hashes = { fixture_chain, blocks } };
}

static inline status_t
fixture_holder_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    holder_state_t *self = self_;
    self->blocks = *(const size_t *)options;
    kv_stored_t event = fixture_stored (self->blocks);
    actor_publish (actor, &kv_stored_message, &event);
    return STATUS_OK;
}

static inline status_t
fixture_holder_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    kv_stored_t event = fixture_stored (((holder_state_t *)self_)->blocks);
    snapshot_add (snapshot, &kv_stored_message, &event);
    return STATUS_OK;
}

static const actor_handler_t fixture_holder_handlers [] = {
    HANDLES_SNAPSHOT (STREAM_KV, fixture_holder_snapshot),
    HANDLERS_END,
};

static const actor_class_t fixture_holder_class = { .name = "worker",
    .state_size = sizeof (holder_state_t),
    .init = fixture_holder_init,
    .handlers = fixture_holder_handlers };

//  ---- Who asks, and listens for decision records --------------------------------------------------------------------

typedef struct {
    call_t calls [ASKS_MAX];    //  Under way
    size_t done;                //  Calls completed since the last fixture_ask
    call_result_t result;       //  Of the last one
    char worker [128];          //  Its answer
    uint32_t overlap;           //  Its answer
    char text [256];            //  Its error
    uint64_t answered_ns;       //  When
    size_t records;             //  Decision records heard
    bool recorded_worker;       //  The last one named a worker
    uint32_t candidates;        //  The last one had this many
    uint32_t pending;           //  Of the first of these: blocks that it is computing
    uint32_t guessed;           //  And blocks that it is guessed to have
    char policy [64];           //  Of the last one
    char reason [256];          //  Of the last one
} asker_t;

static inline void
fixture_on_routed (void *self_, void *arg, call_result_t result, const void *reply_)
{
    asker_t *self = self_;
    const route_reply_t *reply = reply_;
    self->done++;
    self->result = result;
    self->answered_ns = actor_now (stage_find (fixture_stage, "asker/0"));
    snprintf (self->text, sizeof self->text, "%s", call_error (arg)->text);
    if (!reply)
        return;
    span_copy_string (reply->worker, self->worker, sizeof self->worker);
    self->overlap = reply->overlap_blocks;
}

static inline void
fixture_on_decided (void *self_, actor_t *actor, const origin_t *origin, const void *event_)
{
    asker_t *self = self_;
    const route_decided_t *event = event_;
    self->records++;
    self->recorded_worker = event->has_worker;
    self->candidates = event->candidate_count;
    self->pending = event->candidates_count ? event->candidates [0].pending_blocks : 0;
    self->guessed = event->candidates_count ? event->candidates [0].guessed_blocks : 0;
    span_copy_string (event->policy, self->policy, sizeof self->policy);
    span_copy_string (event->reason, self->reason, sizeof self->reason);
}

static inline void
fixture_asker_fini (void *self, actor_t *actor)
{
    for (size_t i = 0; i < ASKS_MAX; i++)
        call_drop (&((asker_t *)self)->calls [i]);
}

static const actor_handler_t fixture_asker_handlers [] = {
    HANDLES_EVENT (route_decided, fixture_on_decided),
    HANDLERS_END,
};

static const actor_class_t fixture_asker_class = {
    .name = "asker", .state_size = sizeof (asker_t), .fini = fixture_asker_fini, .handlers = fixture_asker_handlers
};

//  ---- The stage: broker, indexer, two such workers, the asker -------------------------------------------------------

static buffer_t fixture_card;
static const size_t fixture_held_a = 4;
static const size_t fixture_held_b = 8;

static inline void
fixture_add_worker (const char *instance, const char *machine, const size_t *held)
{
    stage_add (fixture_stage, &(stage_actor_t){ .class = &fixture_holder_class,
                                  .instance = instance,
                                  .machine = machine,
                                  .options = held,
                                  .card = buffer_span (&fixture_card) });
}

static inline void
fixture_add_router (void)
{
    stage_add (fixture_stage, &(stage_actor_t){ .class = &router_class, .instance = "0", .options = &fixture_options });
}

static inline void
fixture_begin (bool with_router)
{
    model_card_t card = { .model = SPAN ("tiny"),
        .fingerprint = FINGERPRINT,
        .block_size = 64,
        .context = 4096,
        .capacity = 100,
        .ranks = 1,
        .slots = 4,
        .engine = SPAN ("test"),
        .engine_version = SPAN ("1"),
        .tokenizing = SPAN ("bytes"),
        .kv_events = true };
    fixture_make_chain ();
    buffer_clear (&fixture_card);
    model_card_encode (&card, &fixture_card);
    fixture_stage = stage_new (11);
    stage_add (
        fixture_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &stage_broker_options });
    stage_add (fixture_stage,
        &(stage_actor_t){ .class = &indexer_class, .instance = "0", .options = &fixture_indexer_options });
    fixture_add_worker ("a", "m1", &fixture_held_a);
    fixture_add_worker ("b", "m2", &fixture_held_b);
    stage_add (fixture_stage, &(stage_actor_t){ .class = &fixture_asker_class, .instance = "0" });
    if (with_router)
        fixture_add_router ();
    stage_run (fixture_stage, 3 * REALM_SECOND);
}

static inline asker_t *
fixture_asker (void)
{
    return actor_state (stage_find (fixture_stage, "asker/0"));
}

//  Asks where a request goes, without waiting for the answer.
static inline call_t *
fixture_start (const char *request, const char *model, size_t blocks, const char *exclude)
{
    call_t *call = fixture_asker ()->calls;
    while (call_is_active (call))
        call++;
    span_t excluded = span_from_string (exclude);
    route_t route = { .request = span_from_string (request),
        .model = span_from_string (model),
        .fingerprint = FINGERPRINT,
        .namespace_id = NAMESPACE,
        .hashes = { fixture_chain, blocks },
        .prompt_tokens = (uint32_t)blocks * 64,
        .exclude = &excluded,
        .exclude_count = exclude != NULL };
    call_start (call, stage_find (fixture_stage, "asker/0"),
        &(call_options_t){ .address = SPAN ("router/0"),
            .type = &route_message,
            .request = &route,
            .timeout_ns = REALM_SECOND,
            .done = fixture_on_routed,
            .arg = call });
    return call;
}

static inline void
fixture_ask (const char *request, const char *model, size_t blocks, const char *exclude)
{
    fixture_asker ()->done = 0;
    fixture_start (request, model, blocks, exclude);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_asker ()->done, 1);
}

static inline void
fixture_check_answer (const char *worker, uint32_t overlap)
{
    assert_int_equal (fixture_asker ()->result, CALL_REPLIED);
    assert_string_equal (fixture_asker ()->worker, worker);
    assert_int_equal (fixture_asker ()->overlap, overlap);
    assert_true (fixture_asker ()->recorded_worker);
}

static inline void
fixture_end (void)
{
    stage_destroy (&fixture_stage);
    buffer_fini (&fixture_card);
}

#endif
