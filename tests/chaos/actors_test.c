//  Real actors on a stage: they find each other, follow each other's events, and survive what is done to them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "broker/broker.h"
#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/load.h"
#include "schemas/status.h"
#include "simulator/network.h"
#include "simulator/stage.h"

//  ---- A source that counts, and a follower that checks --------------------------------------------------------------

typedef struct {
    actor_t *actor;        //  Itself
    uint32_t published;    //  Events so far
} counter_t;

static status_t
s_counter_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    ((counter_t *)self_)->actor = actor;
    return STATUS_OK;
}

static const actor_handler_t s_counter_handlers [] = { HANDLERS_END };

static const actor_class_t s_counter_class = {
    .name = "counter", .state_size = sizeof (counter_t), .init = s_counter_init, .handlers = s_counter_handlers
};

typedef struct {
    uint32_t next;      //  Expected
    uint32_t holes;     //  Events that did not come
    uint32_t resets;    //  Incarnations and snapshots
    uint32_t coming;    //  One behind the last that it was told would come
    uint32_t sudden;    //  Events that it was not told of
    uint32_t ahead;     //  The most events, each one's own included, that it was told of before one was handled
} follower_t;

static void
s_follower_on_coming (void *self_, actor_t *actor, const origin_t *origin, const void *message)
{
    ((follower_t *)self_)->coming = ((const worker_load_t *)message)->running + 1;
}

static void
s_follower_on_load (void *self_, actor_t *actor, const origin_t *origin, const void *message)
{
    follower_t *self = self_;
    const worker_load_t *load = message;
    self->holes += load->running - self->next;
    uint32_t ahead = self->coming - load->running;
    self->sudden += self->coming <= load->running;
    self->ahead = ahead > self->ahead ? ahead : self->ahead;
    self->next = load->running + 1;
}

static void
s_follower_on_reset (void *self_, actor_t *actor, const origin_t *origin)
{
    follower_t *self = self_;
    self->next = 0;
    self->resets++;
}

static const actor_handler_t s_follower_handlers [] = {
    HANDLES_EVENT_AHEAD (worker_load, s_follower_on_coming, s_follower_on_load),
    HANDLES_RESET (STREAM_LOAD, s_follower_on_reset),
    HANDLERS_END,
};

static const actor_class_t s_follower_class = {
    .name = "follower", .state_size = sizeof (follower_t), .handlers = s_follower_handlers
};

//  ---- One that asks the counter for ever ----------------------------------------------------------------------------

typedef struct {
    actor_t *actor;         //  Itself
    call_t call;            //  Under way
    actor_timer_t pause;    //  Where nobody could be asked
    uint64_t replied_ns;    //  When the last answer came
} asker_t;

static void s_ask (void *self_, actor_t *actor, void *arg);

//  Asks again at once, unless nobody is there to be asked.
static void
s_on_answer (void *self_, void *arg, call_result_t result, const void *reply)
{
    asker_t *self = self_;
    const actor_entry_t *entry = directory_find (self->actor, SPAN ("counter/0"));
    if (result == CALL_REPLIED)
        self->replied_ns = actor_now (self->actor);
    if (result == CALL_FAILED && entry && entry->state == ACTOR_STATE_ALIVE)
        s_ask (self, self->actor, NULL);
    else
        timer_start (&self->pause, self->actor, 10 * REALM_MS, s_ask, NULL);
}

static void
s_ask (void *self_, actor_t *actor, void *arg)
{
    asker_t *self = self_;
    call_start (&self->call, actor,
        &(call_options_t){ .address = SPAN ("counter/0"),
            .type = &ping_message,
            .request = &(ping_t){ 0 },
            .timeout_ns = 30 * REALM_SECOND,
            .done = s_on_answer });
}

static status_t
s_asker_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    asker_t *self = self_;
    self->actor = actor;
    timer_start (&self->pause, actor, REALM_SECOND, s_ask, NULL);
    return STATUS_OK;
}

static void
s_asker_fini (void *self_, actor_t *actor)
{
    call_drop (&((asker_t *)self_)->call);
    timer_stop (&((asker_t *)self_)->pause);
}

static const actor_handler_t s_asker_handlers [] = { HANDLERS_END };

static const actor_class_t s_asker_class = { .name = "asker",
    .state_size = sizeof (asker_t),
    .init = s_asker_init,
    .fini = s_asker_fini,
    .handlers = s_asker_handlers };

static stage_t *s_stage;
static broker_options_t s_broker_options;
static arena_t s_memory;

static int
s_set_up (void **state)
{
    s_stage = stage_new (11);
    arena_init (&s_memory, SIZE_MAX);
    option_target_t target = { broker_options_table, &s_broker_options };
    option_set_defaults (target, &(option_context_t){ .memory = &s_memory });
    s_broker_options.events = STAGE_EVENTS;
    stage_add (s_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &s_broker_options });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_counter_class, .instance = "0", .machine = "m1" });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_follower_class, .instance = "0", .machine = "m2" });
    stage_run (s_stage, 3 * REALM_SECOND);
    return 0;
}

static int
s_tear_down (void **state)
{
    stage_destroy (&s_stage);
    arena_fini (&s_memory);
    return 0;
}

static void
s_publish (int count)
{
    actor_t *actor = stage_find (s_stage, "counter/0");
    counter_t *counter = actor_state (actor);
    for (int i = 0; i < count; i++) {
        worker_load_t load = { .running = counter->published++ };
        actor_publish (actor, &worker_load_message, &load);
        stage_run (s_stage, 100 * REALM_MS);
    }
}

static follower_t *
s_follower (void)
{
    return actor_state (stage_find (s_stage, "follower/0"));
}

static void
test_actors_find_each_other (void **state)
{
    const actor_t *actor = stage_find (s_stage, "counter/0");
    const actor_entry_t *entry = directory_find (actor, SPAN ("follower/0"));
    assert_non_null (entry);
    assert_int_equal (entry->state, ACTOR_STATE_ALIVE);
}

static void
test_events_reach_a_follower (void **state)
{
    s_publish (20);
    assert_int_equal (s_follower ()->next, 20);
    assert_int_equal (s_follower ()->holes, 0);
    assert_int_equal (s_follower ()->sudden, 0);
}

//  Of a batch some events are told ahead of their turn, in their order.
static void
test_a_follower_is_told_what_comes (void **state)
{
    actor_t *actor = stage_find (s_stage, "counter/0");
    for (uint32_t i = 0; i < 20; i++)
        actor_publish (actor, &worker_load_message, &(worker_load_t){ .running = i });
    stage_run (s_stage, 100 * REALM_MS);
    assert_int_equal (s_follower ()->next, 20);
    assert_int_equal (s_follower ()->holes, 0);
    assert_int_equal (s_follower ()->sudden, 0);
    assert_int_equal (s_follower ()->ahead, 8);
}

static void
test_what_the_network_loses_comes_from_a_ring (void **state)
{
    network_t *network = realm_network (stage_realm (s_stage));
    network_set_publishing (network, 300000, 100000);
    s_publish (50);
    stage_run (s_stage, 5 * REALM_SECOND);
    network_set_publishing (network, 0, 0);
    assert_true (network_figures (network)->published_lost > 0 && network_figures (network)->reordered > 0);
    stage_run (s_stage, 5 * REALM_SECOND);
    assert_int_equal (s_follower ()->next, 50);
    assert_int_equal (s_follower ()->holes, 0);
}

static void
test_a_broker_that_crashes_loses_no_event (void **state)
{
    s_publish (10);
    stage_crash (s_stage, "broker/0");
    s_publish (10);
    stage_start (s_stage, "broker/0");
    s_publish (10);
    stage_run (s_stage, 20 * REALM_SECOND);
    assert_int_equal (s_follower ()->next, 30);
    assert_int_equal (s_follower ()->holes, 0);
}

static void
test_a_crashed_actor_becomes_unreachable_and_comes_back_newer (void **state)
{
    const actor_t *observer = stage_find (s_stage, "follower/0");
    uint64_t before = directory_find (observer, SPAN ("counter/0"))->incarnation;
    stage_crash (s_stage, "counter/0");
    stage_run (s_stage, 10 * REALM_SECOND);
    assert_int_equal (directory_find (observer, SPAN ("counter/0"))->state, ACTOR_STATE_UNREACHABLE);
    stage_start (s_stage, "counter/0");
    stage_run (s_stage, 3 * REALM_SECOND);
    const actor_entry_t *entry = directory_find (observer, SPAN ("counter/0"));
    assert_int_equal (entry->state, ACTOR_STATE_ALIVE);
    assert_true (entry->incarnation > before);
}

//  What a source said before it was restarted is forgotten, even if it says nothing afterwards.
static void
test_a_restarted_source_that_is_silent_is_fenced (void **state)
{
    s_publish (5);
    assert_int_equal (s_follower ()->next, 5);
    stage_crash (s_stage, "counter/0");
    stage_start (s_stage, "counter/0");
    stage_run (s_stage, 5 * REALM_SECOND);
    assert_int_equal (s_follower ()->next, 0);
    assert_true (s_follower ()->resets > 0);
}

//  The restarted actor has another endpoint; whoever calls again as soon as the old one is given up finds the new one.
static void
test_who_calls_again_at_once_finds_the_new_one (void **state)
{
    stage_add (s_stage, &(stage_actor_t){ .class = &s_asker_class, .instance = "0", .machine = "m2" });
    stage_run (s_stage, 3 * REALM_SECOND);
    stage_crash (s_stage, "counter/0");
    stage_start (s_stage, "counter/0");
    stage_run (s_stage, 10 * REALM_SECOND);
    const asker_t *asker = actor_state (stage_find (s_stage, "asker/0"));
    assert_true (realm_now (stage_realm (s_stage)) - asker->replied_ns < REALM_SECOND);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, s_set_up, s_tear_down)

int
main (void)
{
    const struct CMUnitTest tests [] = {
        TEST (test_actors_find_each_other),
        TEST (test_events_reach_a_follower),
        TEST (test_a_follower_is_told_what_comes),
        TEST (test_what_the_network_loses_comes_from_a_ring),
        TEST (test_a_broker_that_crashes_loses_no_event),
        TEST (test_a_restarted_source_that_is_silent_is_fenced),
        TEST (test_who_calls_again_at_once_finds_the_new_one),
        TEST (test_a_crashed_actor_becomes_unreachable_and_comes_back_newer),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
