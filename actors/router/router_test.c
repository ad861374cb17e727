//  The router beside broker, indexer and workers that only say what they hold, in the simulated world.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "broker/broker.h"
#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "schemas/route.h"
#include "schemas/worker.h"
#include "simulator/stage.h"

enum { CHAIN = 10, FINGERPRINT = 77, NAMESPACE = 5 };

static const broker_options_t s_broker_options = { .events = STAGE_EVENTS,
    .gone_after_ns = 600 * REALM_SECOND,
    .ring_bytes = 1 << 20,
    .subscriber_queue = 1000,
    .actors_max = 100 };
static const indexer_options_t s_indexer_options = { .blocks_max = 100000 };
static const router_options_t s_router_options = { .mode = 0,
    .overlap_weight = 1000000,
    .load_weight = 1000000,
    .load_stale_ns = 5 * REALM_SECOND,
    .blocks_max = 100000 };

//  ---- A worker that holds the first `blocks` blocks of the chain ----

typedef struct {
    size_t blocks;    //  Held
} holder_state_t;

static uint8_t s_chain [CHAIN * HASH128_SIZE];

static void
s_make_chain (void)
{
    for (uint64_t i = 0; i < CHAIN; i++)
        hash128_to_bytes ((hash128_t){ 1000 + i, i }, s_chain + i * HASH128_SIZE);
}

static kv_stored_t
s_stored (size_t blocks)
{
    return (kv_stored_t){ .namespace_id = NAMESPACE, .tier = TIER_DEVICE, .hashes = { s_chain, blocks } };
}

static status_t
s_holder_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    holder_state_t *self = self_;
    self->blocks = *(const size_t *)options;
    kv_stored_t event = s_stored (self->blocks);
    actor_publish (actor, &kv_stored_message, &event);
    return STATUS_OK;
}

static status_t
s_holder_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    kv_stored_t event = s_stored (((holder_state_t *)self_)->blocks);
    snapshot_add (snapshot, &kv_stored_message, &event);
    return STATUS_OK;
}

static const actor_handler_t s_holder_handlers [] = {
    HANDLES_SNAPSHOT (STREAM_KV, s_holder_snapshot),
    HANDLERS_END,
};

static const actor_class_t s_holder_class = {
    .name = "worker", .state_size = sizeof (holder_state_t), .init = s_holder_init, .handlers = s_holder_handlers
};

//  ---- Who asks, and listens for decision records ----

typedef struct {
    call_t call;             //  Under way
    size_t done;             //  Calls completed
    call_result_t result;    //  Of the last one
    char worker [128];       //  Its answer
    uint32_t overlap;        //  Its answer
    char text [256];         //  Its error
    size_t records;          //  Decision records heard
    bool recorded_worker;    //  The last one named a worker
    uint32_t candidates;     //  The last one had this many
} asker_t;

static void
s_on_routed (void *self_, void *arg, call_result_t result, const void *reply_)
{
    asker_t *self = self_;
    const route_reply_t *reply = reply_;
    self->done++;
    self->result = result;
    snprintf (self->text, sizeof self->text, "%s", call_error (&self->call)->text);
    if (!reply)
        return;
    span_copy_string (reply->worker, self->worker, sizeof self->worker);
    self->overlap = reply->overlap_blocks;
}

static void
s_on_decided (void *self_, actor_t *actor, const origin_t *origin, const void *event_)
{
    asker_t *self = self_;
    const route_decided_t *event = event_;
    self->records++;
    self->recorded_worker = event->has_worker;
    self->candidates = event->candidate_count;
}

static void
s_asker_fini (void *self, actor_t *actor)
{
    call_drop (&((asker_t *)self)->call);
}

static const actor_handler_t s_asker_handlers [] = {
    HANDLES_EVENT (route_decided, s_on_decided),
    HANDLERS_END,
};

static const actor_class_t s_asker_class = {
    .name = "asker", .state_size = sizeof (asker_t), .fini = s_asker_fini, .handlers = s_asker_handlers
};

//  ---- The stage ----

static stage_t *s_stage;
static buffer_t s_card;
static const size_t s_held_a = 4;
static const size_t s_held_b = 8;

static void
s_add_worker (const char *instance, const char *machine, const size_t *held)
{
    stage_add (s_stage, &(stage_actor_t){ .class = &s_holder_class,
                            .instance = instance,
                            .machine = machine,
                            .options = held,
                            .card = buffer_span (&s_card) });
}

static void
s_add_router (void)
{
    stage_add (s_stage, &(stage_actor_t){ .class = &router_class, .instance = "0", .options = &s_router_options });
}

static void
s_begin (bool with_router)
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
    s_make_chain ();
    buffer_clear (&s_card);
    model_card_encode (&card, &s_card);
    s_stage = stage_new (11);
    stage_add (s_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &s_broker_options });
    stage_add (s_stage, &(stage_actor_t){ .class = &indexer_class, .instance = "0", .options = &s_indexer_options });
    s_add_worker ("a", "m1", &s_held_a);
    s_add_worker ("b", "m2", &s_held_b);
    stage_add (s_stage, &(stage_actor_t){ .class = &s_asker_class, .instance = "0" });
    if (with_router)
        s_add_router ();
    stage_run (s_stage, 3 * REALM_SECOND);
}

static asker_t *
s_asker (void)
{
    return actor_state (stage_find (s_stage, "asker/0"));
}

static void
s_ask (const char *request, const char *model, size_t blocks, const char *exclude)
{
    span_t excluded = span_from_string (exclude);
    route_t route = { .request = span_from_string (request),
        .model = span_from_string (model),
        .fingerprint = FINGERPRINT,
        .namespace_id = NAMESPACE,
        .hashes = { s_chain, blocks },
        .prompt_tokens = (uint32_t)blocks * 64,
        .exclude = &excluded,
        .exclude_count = exclude != NULL };
    s_asker ()->done = 0;
    call_start (&s_asker ()->call, stage_find (s_stage, "asker/0"), SPAN ("router/0"), &route_message, &route,
        REALM_SECOND, s_on_routed, NULL);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (s_asker ()->done, 1);
}

static void
s_check_answer (const char *worker, uint32_t overlap)
{
    assert_int_equal (s_asker ()->result, CALL_REPLIED);
    assert_string_equal (s_asker ()->worker, worker);
    assert_int_equal (s_asker ()->overlap, overlap);
    assert_true (s_asker ()->recorded_worker);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
    buffer_fini (&s_card);
}

static void
test_a_request_goes_where_its_blocks_are (void **state)
{
    s_begin (true);
    s_ask ("r1", "tiny", 10, NULL);
    s_check_answer ("worker/b", 8);
    assert_int_equal (s_asker ()->records, 1);
    assert_int_equal (s_asker ()->candidates, 2);
    s_end ();
}

//  The index of a router that comes late is whole before it says that it is ready.
static void
test_a_late_router_knows_the_same (void **state)
{
    s_begin (false);
    s_add_router ();
    stage_run (s_stage, 3 * REALM_SECOND);
    assert_true (actor_is_synced (stage_find (s_stage, "router/0"), STREAM_KV));
    s_ask ("r1", "tiny", 10, NULL);
    s_check_answer ("worker/b", 8);
    s_end ();
}

static void
test_a_worker_that_failed_the_request_is_left_out (void **state)
{
    s_begin (true);
    s_ask ("r1", "tiny", 10, "worker/b");
    s_check_answer ("worker/a", 4);
    s_end ();
}

static void
test_a_dead_worker_is_not_chosen (void **state)
{
    s_begin (true);
    stage_crash (s_stage, "worker/b");
    stage_run (s_stage, 7 * REALM_SECOND);
    s_ask ("r1", "tiny", 10, NULL);
    s_check_answer ("worker/a", 4);
    s_end ();
}

//  Restarted and empty: what its predecessor held is not credited to it.
static void
test_a_restarted_worker_is_believed_only_what_it_says_itself (void **state)
{
    static size_t held = 8;
    s_begin (true);
    s_add_worker ("c", "m3", &held);
    stage_run (s_stage, REALM_SECOND);
    held = 1;
    stage_crash (s_stage, "worker/c");
    stage_start (s_stage, "worker/c");
    stage_run (s_stage, 2 * REALM_SECOND);
    stage_crash (s_stage, "worker/a");
    stage_crash (s_stage, "worker/b");
    stage_run (s_stage, 7 * REALM_SECOND);
    s_ask ("r1", "tiny", 10, NULL);
    s_check_answer ("worker/c", 1);
    held = 8;
    s_end ();
}

static void
test_an_unknown_model_is_refused_and_recorded (void **state)
{
    s_begin (true);
    s_ask ("r1", "huge", 10, NULL);
    assert_int_equal (s_asker ()->result, CALL_FAILED);
    assert_string_equal (s_asker ()->text, "no worker serves huge");
    assert_int_equal (s_asker ()->records, 1);
    assert_false (s_asker ()->recorded_worker);
    s_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_request_goes_where_its_blocks_are),
        cmocka_unit_test (test_a_late_router_knows_the_same),
        cmocka_unit_test (test_a_worker_that_failed_the_request_is_left_out),
        cmocka_unit_test (test_a_dead_worker_is_not_chosen),
        cmocka_unit_test (test_a_restarted_worker_is_believed_only_what_it_says_itself),
        cmocka_unit_test (test_an_unknown_model_is_refused_and_recorded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
