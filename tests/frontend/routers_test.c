//  Routers that know less than the frontend that asks them.

#include "runtime/incoming.h"
#include "tests/frontend/fixture.h"

//  One that hears late that worker/a is gone.
static void
s_on_late_route (void *self, actor_t *actor, incoming_t *incoming, const void *message)
{
    const route_t *request = message;
    incoming_reply (
        incoming, &(route_reply_t){ .worker = request->exclude_count ? SPAN ("worker/b") : SPAN ("worker/a") });
}

static const actor_handler_t s_late_router_handlers [] = { HANDLES_CALL (route, s_on_late_route), HANDLERS_END };

static const actor_class_t s_late_router_class = {
    .name = "router", .state_size = 1, .handlers = s_late_router_handlers
};

//  It is told, and the request does not use up its attempts.
static void
test_a_worker_that_is_gone_is_not_asked_for_again (void **state)
{
    fixture_begin (2);
    stage_add (fixture_stage, &(stage_actor_t){ .class = &s_late_router_class, .instance = "1" });
    stage_crash (fixture_stage, "router/0");
    actor_drain (stage_find (fixture_stage, "worker/a"));
    stage_run (fixture_stage, 10 * REALM_SECOND);
    chat_t *chat = fixture_ask (CHAT (",\"max_tokens\":3"));
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_string_equal (fixture_ended.worker, "worker/b");
    assert_int_equal (fixture_ended.last.migrations, 1);
    fixture_end ();
}

//  One that has just begun, as far as the frontend that asks it can tell.
typedef struct {
    uint32_t asked;    //  So often
} new_router_t;

static void
s_on_new_route (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    new_router_t *self = self_;
    if (++self->asked < 3)
        incoming_fail (incoming, STATUS_NOT_FOUND, "no worker serves tiny");
    else
        incoming_reply (incoming, &(route_reply_t){ .worker = SPAN ("worker/a") });
}

static const actor_handler_t s_new_router_handlers [] = { HANDLES_CALL (route, s_on_new_route), HANDLERS_END };

static const actor_class_t s_new_router_class = {
    .name = "router", .state_size = sizeof (new_router_t), .handlers = s_new_router_handlers
};

//  Broker and router were killed at once: the new ones hear of the workers a moment later than of the frontend's request.
static void
test_a_router_that_knows_of_no_worker_yet_is_asked_again (void **state)
{
    fixture_begin (1);
    stage_add (fixture_stage, &(stage_actor_t){ .class = &s_new_router_class, .instance = "1" });
    stage_crash (fixture_stage, "router/0");
    stage_run (fixture_stage, 10 * REALM_SECOND);
    chat_t *chat = fixture_ask (CHAT (",\"max_tokens\":3"));
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_int_equal (chat->status, 200);
    assert_string_equal (fixture_ended.worker, "worker/a");
    fixture_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_worker_that_is_gone_is_not_asked_for_again),
        cmocka_unit_test (test_a_router_that_knows_of_no_worker_yet_is_asked_again),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
