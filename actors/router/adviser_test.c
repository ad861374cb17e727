//  A policy that is a program of its own, and everything it may do wrong: a stage on which it speaks raw frames.  The
//  router's own policy (kv) sends every request to worker/b, where more of it lies; the one outside prefers worker/a.

#include "base/memory.h"
#include "runtime/wire.h"
#include "tests/router/fixture.h"

#include <math.h>

static const char ENDPOINT [] = "tcp://m9:7450";
static const uint64_t DEADLINE_NS = 50 * REALM_MS;
static const uint64_t PAUSE_NS = 2 * REALM_SECOND;

//  ---- The policy ----------------------------------------------------------------------------------------------------

typedef enum {
    SCORES,
    CHOICE,
    HOLD,
    ERROR,
    TOO_FEW,
    NOTHING,
    BOTH,
    UNKNOWN,
    NOT_A_NUMBER,
    NO_MESSAGE,
    NO_HEADER
} way_t;

static struct {
    way_t way;                        //  How it answers
    const char *choice;               //  Whom it chooses
    size_t asked;                     //  Questions heard by those that ever ran
    uint32_t prompt_blocks;           //  Of the last one
    size_t candidates;                //  Of the last one
    uint32_t overlaps [2];            //  Of its first two candidates
    char workers [2][ADDRESS_MAX];    //  The same
    uint64_t held [ASKS_MAX];         //  Ids of those not answered yet
    uint8_t peer [16];                //  Who asked them
    size_t peer_size;                 //  Bytes of it
    size_t held_count;                //  How many
} s_policy;

typedef struct {
    wire_t wire;              //  For sending
    arena_t memory;           //  Of what is read
    port_socket_t *socket;    //  ROUTER
} policy_state_t;

static void
s_send (policy_state_t *self, span_t peer, uint64_t id, const score_candidates_reply_t *reply)
{
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_REPLY, .id = id };
    wire_send (&self->wire, self->socket, peer, &header, &score_candidates_reply_message, reply);
}

static void
s_send_bytes (policy_state_t *self, span_t peer, uint64_t id, span_t head, span_t body)
{
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_REPLY, .id = id };
    span_t frames [] = { peer, SPAN (""), head, body };
    if (head.size)
        self->wire.port->table->socket_send (self->socket, frames, 4);
    else
        wire_send_frames (&self->wire, self->socket, peer, &header, &body, 1);
}

static void
s_answer (policy_state_t *self, span_t peer, uint64_t id)
{
    candidate_score_t scores [] = { { 7.5 }, { s_policy.way == NOT_A_NUMBER ? NAN : -2 }, { 3 } };
    bool chooses = s_policy.way == CHOICE || s_policy.way == UNKNOWN || s_policy.way == BOTH;
    bool is_scored = s_policy.way != CHOICE && s_policy.way != UNKNOWN && s_policy.way != NOTHING;
    score_candidates_reply_t reply = { .scores = scores,
        .scores_count = is_scored ? s_policy.candidates - (s_policy.way == TOO_FEW) : 0,
        .has_worker = chooses,
        .worker = s_policy.way == UNKNOWN ? SPAN ("worker/z") : span_from_string (s_policy.choice) };
    if (s_policy.way == ERROR)
        wire_send_error (&self->wire, self->socket, peer, id, STATUS_INTERNAL, "division by zero");
    else if (s_policy.way == NO_MESSAGE)
        s_send_bytes (self, peer, id, SPAN (""), SPAN ("\xc1"));
    else if (s_policy.way == NO_HEADER)
        s_send_bytes (self, peer, id, SPAN ("\xc1"), SPAN ("\x80"));
    else
        s_send (self, peer, id, &reply);
}

static void
s_note_question (policy_state_t *self, const wire_message_t *message)
{
    score_candidates_t question;
    assert_int_equal (message->header.kind, FRAME_KIND_CALL);
    assert_true (span_equal_string (message->header.method, "score_candidates"));
    assert_int_equal (
        message_decode (&score_candidates_message, wire_body (message), &self->memory, &question, NULL), 0);
    s_policy.asked++;
    s_policy.prompt_blocks = question.prompt_blocks;
    s_policy.candidates = question.candidates_count;
    for (size_t i = 0; i < question.candidates_count && i < 2; i++) {
        s_policy.overlaps [i] = question.candidates [i].overlap_blocks;
        span_copy_string (question.candidates [i].worker, s_policy.workers [i], ADDRESS_MAX);
    }
}

//  Anything but a call would have to be answered by a REP socket: nothing else may come.
static void
s_on_question (void *arg, const span_t *frames, size_t count)
{
    policy_state_t *self = arg;
    wire_message_t message;
    arena_clear (&self->memory);
    assert_int_equal (wire_parse (frames, count, true, &message, NULL), STATUS_OK);
    s_note_question (self, &message);
    if (s_policy.way != HOLD) {
        s_answer (self, message.peer, message.header.id);
        return;
    }
    s_policy.held [s_policy.held_count++] = message.header.id;
    s_policy.peer_size = message.peer.size;
    memcpy (s_policy.peer, message.peer.data, message.peer.size);
}

static status_t
s_policy_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    policy_state_t *self = self_;
    port_t *port = actor_port (actor);
    socket_options_t socket = { .kind = SOCKET_ROUTER, .on_message = s_on_question, .arg = self };
    wire_init (&self->wire, port);
    arena_init (&self->memory, SIZE_MAX);
    self->socket = port->table->socket_open (port, &socket, error);
    return port->table->socket_bind (self->socket, ENDPOINT, error);
}

static void
s_policy_fini (void *self_, actor_t *actor)
{
    policy_state_t *self = self_;
    actor_port (actor)->table->socket_close (self->socket);
    wire_fini (&self->wire);
    arena_fini (&self->memory);
}

static const actor_handler_t s_policy_handlers [] = { HANDLERS_END };

static const actor_class_t s_policy_class = { .name = "policy",
    .state_size = sizeof (policy_state_t),
    .init = s_policy_init,
    .fini = s_policy_fini,
    .handlers = s_policy_handlers };

//  ---- The story's words ---------------------------------------------------------------------------------------------

static int
s_build (void **state)
{
    memset (&s_policy, 0, sizeof s_policy);
    s_policy.choice = "worker/a";
    fixture_options.policy_endpoint = ENDPOINT;
    fixture_options.policy_deadline_ns = DEADLINE_NS;
    fixture_options.policy_pause_ns = PAUSE_NS;
    fixture_options.policy_failures_max = 3;
    fixture_options.policy_waiting_max = 10;
    fixture_begin (true);
    stage_add (fixture_stage, &(stage_actor_t){ .class = &s_policy_class, .instance = "0", .machine = "m9" });
    return 0;
}

static int
s_leave (void **state)
{
    fixture_end ();
    return 0;
}

static actor_t *
s_router (void)
{
    return stage_find (fixture_stage, "router/0");
}

//  Requests by what came of them.
static int64_t
s_count (const char *result)
{
    char wanted [64];
    const char *name, *labels;
    int64_t value;
    snprintf (wanted, sizeof wanted, "result=\"%s\"", result);
    for (size_t cursor = 0; metrics_next (actor_metrics (s_router ()), &cursor, &name, &labels, &value);)
        if (strcmp (name, "stator_router_policy_requests_total") == 0 && strcmp (labels, wanted) == 0)
            return value;
    return -1;
}

//  Asks, and returns how long the answer took.
static uint64_t
s_ask (void)
{
    uint64_t before = actor_now (s_router ());
    fixture_ask ("r", "tiny", 10, NULL);
    return fixture_asker ()->answered_ns - before;
}

static void
s_check_decided (const char *policy, const char *worker)
{
    assert_string_equal (fixture_asker ()->policy, policy);
    assert_string_equal (fixture_asker ()->worker, worker);
}

static void
s_check_passed_over (const char *because)
{
    s_check_decided ("kv", "worker/b");
    assert_non_null (strstr (fixture_asker ()->reason, because));
}

static void
s_answer_held (way_t way)
{
    s_policy.way = way;
    for (size_t i = 0; i < s_policy.held_count; i++)
        s_answer (actor_state (stage_find (fixture_stage, "policy/0")), span_of (s_policy.peer, s_policy.peer_size),
            s_policy.held [i]);
    s_policy.held_count = 0;
}

//  ---- The story -----------------------------------------------------------------------------------------------------

static void
test_the_highest_score_decides (void **state)
{
    uint64_t took = s_ask ();
    s_check_decided ("outside", "worker/a");
    assert_true (took < DEADLINE_NS);
    assert_int_equal (s_count ("given"), 1);
    assert_string_equal (fixture_asker ()->reason, "4 of 10 blocks there, cost 0");
}

static void
test_it_is_told_who_there_is (void **state)
{
    s_ask ();
    assert_int_equal (s_policy.prompt_blocks, 10);
    assert_string_equal (s_policy.workers [0], "worker/a");
    assert_string_equal (s_policy.workers [1], "worker/b");
    assert_int_equal (s_policy.overlaps [0], 4);
    assert_int_equal (s_policy.overlaps [1], 8);
}

static void
test_a_choice_decides (void **state)
{
    s_policy.way = CHOICE;
    s_ask ();
    s_check_decided ("outside", "worker/a");
    s_policy.choice = "worker/b";
    s_ask ();
    s_check_decided ("outside", "worker/b");
}

//  Three workers: what it said of each is not read as said of the next one when the first leaves meanwhile.
static void
test_scores_stay_with_their_workers (void **state)
{
    static const size_t held = 0;
    fixture_add_worker ("c", "m3", &held);
    stage_run (fixture_stage, 2 * REALM_SECOND);
    s_policy.way = HOLD;
    fixture_options.policy_deadline_ns = REALM_SECOND;
    actor_reload (s_router (), &fixture_options);
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    stage_drain (fixture_stage, "worker/a");
    stage_run (fixture_stage, 500 * REALM_MS);
    s_answer_held (SCORES);
    stage_run (fixture_stage, 100 * REALM_MS);
    s_check_decided ("outside", "worker/c");
}

//  What it says cannot be used: the router's own policy decides at once, and says why.
static void
test_a_wrong_answer_is_passed_over (void **state)
{
    static const struct {
        way_t way;              //  How it answers
        const char *result;     //  How that is counted
        const char *because;    //  How that is recorded
    } rows [] = {
        { TOO_FEW, "wrong", "its answer cannot be used" },
        { NOTHING, "wrong", "its answer cannot be used" },
        { BOTH, "wrong", "its answer cannot be used" },
        { UNKNOWN, "wrong", "its answer cannot be used" },
        { NOT_A_NUMBER, "wrong", "its answer cannot be used" },
        { NO_MESSAGE, "wrong", "its answer cannot be used" },
        { ERROR, "failed", "it answered with an error" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s_policy.way = SCORES;
        s_ask ();
        int64_t before = s_count (rows [i].result);
        s_policy.way = rows [i].way;
        assert_true (s_ask () < DEADLINE_NS);
        s_check_passed_over (rows [i].because);
        assert_int_equal (s_count (rows [i].result), before + 1);
    }
}

static void
test_silence_costs_the_deadline_and_no_more (void **state)
{
    static const way_t silent [] = { HOLD, NO_HEADER };
    for (size_t i = 0; i < 2; i++) {
        s_policy.way = silent [i];
        uint64_t took = s_ask ();
        s_check_passed_over ("it did not answer in time");
        assert_in_range (took, DEADLINE_NS, DEADLINE_NS + 20 * REALM_MS);
        assert_int_equal (s_count ("late"), i + 1);
    }
}

//  After three failures a dead one costs nothing; once the pause is over one request finds out that it is back.
static void
test_a_dead_one_is_not_asked_until_it_is_back (void **state)
{
    stage_crash (fixture_stage, "policy/0");
    for (size_t i = 0; i < 3; i++)
        assert_true (s_ask () >= DEADLINE_NS);
    assert_true (s_ask () < DEADLINE_NS);
    s_check_passed_over ("it failed too often");
    assert_int_equal (s_count ("late"), 3);
    assert_int_equal (s_count ("paused"), 1);
    assert_non_null (strstr (stage_log (fixture_stage), "is not asked for a while"));

    stage_run (fixture_stage, PAUSE_NS);
    assert_true (s_ask () >= DEADLINE_NS);
    assert_true (s_ask () < DEADLINE_NS);

    stage_start (fixture_stage, "policy/0");
    stage_run (fixture_stage, PAUSE_NS);
    s_ask ();
    s_check_decided ("outside", "worker/a");
    assert_non_null (strstr (stage_log (fixture_stage), "decides again"));
}

//  While one request tries whether it is back, the others do not wait.
static void
test_only_one_tries (void **state)
{
    s_policy.way = ERROR;
    for (size_t i = 0; i < 3; i++)
        s_ask ();
    stage_run (fixture_stage, PAUSE_NS);
    s_policy.way = HOLD;
    size_t before = s_policy.asked;
    fixture_start ("r1", "tiny", 10, NULL);
    fixture_start ("r2", "tiny", 10, NULL);
    fixture_start ("r3", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    assert_int_equal (s_policy.asked, before + 1);
    assert_int_equal (s_count ("paused"), 2);
    stage_run (fixture_stage, REALM_SECOND);
}

//  Both were asked on one connection: the answer that comes too late is ignored, the other one counts.
static void
test_a_late_answer_is_ignored_and_the_next_one_is_not (void **state)
{
    s_policy.way = HOLD;
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, DEADLINE_NS - 20 * REALM_MS);
    fixture_start ("r2", "tiny", 10, NULL);
    stage_run (fixture_stage, 30 * REALM_MS);
    s_check_passed_over ("it did not answer in time");
    s_answer_held (CHOICE);
    stage_run (fixture_stage, REALM_SECOND);
    s_check_decided ("outside", "worker/a");
    assert_int_equal (s_count ("late"), 1);
    assert_int_equal (s_count ("given"), 1);
}

//  What was asked while it was away is not what it hears first when it is back.
static void
test_nothing_stale_waits_for_one_that_comes_back (void **state)
{
    stage_crash (fixture_stage, "policy/0");
    s_ask ();
    s_ask ();
    stage_start (fixture_stage, "policy/0");
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_int_equal (s_policy.asked, 0);
    s_ask ();
    assert_int_equal (s_policy.asked, 1);
    s_check_decided ("outside", "worker/a");
}

static void
test_no_more_than_allowed_wait (void **state)
{
    fixture_options.policy_waiting_max = 1;
    actor_reload (s_router (), &fixture_options);
    s_policy.way = HOLD;
    fixture_start ("r1", "tiny", 10, NULL);
    fixture_start ("r2", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    s_check_passed_over ("too much waits for it");
    assert_int_equal (s_count ("busy"), 1);
    s_answer_held (CHOICE);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (s_count ("given"), 1);
}

static void
test_a_worker_that_left_meanwhile_is_not_chosen (void **state)
{
    s_policy.way = HOLD;
    fixture_options.policy_deadline_ns = REALM_SECOND;
    actor_reload (s_router (), &fixture_options);
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    stage_drain (fixture_stage, "worker/a");
    stage_run (fixture_stage, 500 * REALM_MS);
    s_answer_held (CHOICE);
    stage_run (fixture_stage, 100 * REALM_MS);
    s_check_passed_over ("what it chose is gone");
    assert_int_equal (s_count ("gone"), 1);
}

static void
test_a_caller_that_gives_up_is_forgotten (void **state)
{
    s_policy.way = HOLD;
    call_cancel (fixture_start ("r1", "tiny", 10, NULL));
    stage_run (fixture_stage, 20 * REALM_MS);
    assert_int_equal (fixture_asker ()->records, 1);
    assert_false (fixture_asker ()->recorded_worker);
    assert_string_equal (fixture_asker ()->reason, "cancelled while the policy outside was asked");
    s_answer_held (CHOICE);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_asker ()->records, 1);
}

static void
s_on_told (void *self, void *arg, call_result_t result, const void *reply)
{
    *(bool *)arg = result == CALL_REPLIED;
}

static bool
s_is_idle (void)
{
    buffer_t text = { 0 };
    router_class.describe (actor_state (s_router ()), s_router (), &text);
    bool idle = strstr (buffer_string (&text), "requests active: 0,") != NULL;
    buffer_fini (&text);
    return idle;
}

//  Its connection fell, and with it the cancel: that the request has ended is all that comes.
static void
test_a_request_that_ends_while_it_waits_is_not_decided (void **state)
{
    call_t call = { 0 };
    bool told = false;
    route_progress_t end = { .request = SPAN ("r1"), .finished = true };
    s_policy.way = HOLD;
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 20 * REALM_MS);
    call_start (&call, stage_find (fixture_stage, "asker/0"),
        &(call_options_t){ .address = SPAN ("router/0"),
            .type = &route_progress_message,
            .request = &end,
            .timeout_ns = REALM_SECOND,
            .done = s_on_told,
            .arg = &told });
    stage_run (fixture_stage, REALM_SECOND);
    assert_true (told);
    assert_int_equal (fixture_asker ()->records, 1);
    assert_false (fixture_asker ()->recorded_worker);
    assert_true (s_is_idle ());
}

//  Asked for again before it is decided, it is decided once.
static void
test_a_request_that_is_asked_for_again_waits_once (void **state)
{
    s_policy.way = HOLD;
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 5 * REALM_MS);
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    assert_int_equal (fixture_asker ()->records, 1);
    assert_false (fixture_asker ()->recorded_worker);
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_asker ()->records, 2);
    assert_true (fixture_asker ()->recorded_worker);
    assert_false (s_is_idle ());
}

static void
test_a_router_that_drains_decides_what_waits (void **state)
{
    s_policy.way = HOLD;
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    stage_drain (fixture_stage, "router/0");
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_asker ()->done, 1);
    fixture_check_answer ("worker/b", 8);
    assert_null (s_router ());
}

static void
test_a_router_that_ends_forgets_what_waits (void **state)
{
    s_policy.way = HOLD;
    fixture_start ("r1", "tiny", 10, NULL);
    stage_run (fixture_stage, 10 * REALM_MS);
    stage_crash (fixture_stage, "router/0");
    assert_int_equal (fixture_asker ()->records, 0);
}

static void
test_a_reload_takes_it_away_and_brings_it_back (void **state)
{
    fixture_options.policy_endpoint = "";
    actor_reload (s_router (), &fixture_options);
    s_ask ();
    s_check_decided ("kv", "worker/b");
    assert_string_equal (fixture_asker ()->reason, "8 of 10 blocks there, cost 2000000");
    fixture_options.policy_endpoint = ENDPOINT;
    actor_reload (s_router (), &fixture_options);
    s_ask ();
    s_check_decided ("outside", "worker/a");
}

#define STORY(test) cmocka_unit_test_setup_teardown (test, s_build, s_leave)

int
main (void)
{
    const struct CMUnitTest tests [] = {
        STORY (test_the_highest_score_decides),
        STORY (test_it_is_told_who_there_is),
        STORY (test_a_choice_decides),
        STORY (test_scores_stay_with_their_workers),
        STORY (test_a_wrong_answer_is_passed_over),
        STORY (test_silence_costs_the_deadline_and_no_more),
        STORY (test_a_dead_one_is_not_asked_until_it_is_back),
        STORY (test_only_one_tries),
        STORY (test_a_late_answer_is_ignored_and_the_next_one_is_not),
        STORY (test_nothing_stale_waits_for_one_that_comes_back),
        STORY (test_no_more_than_allowed_wait),
        STORY (test_a_worker_that_left_meanwhile_is_not_chosen),
        STORY (test_a_caller_that_gives_up_is_forgotten),
        STORY (test_a_request_that_ends_while_it_waits_is_not_decided),
        STORY (test_a_request_that_is_asked_for_again_waits_once),
        STORY (test_a_router_that_drains_decides_what_waits),
        STORY (test_a_router_that_ends_forgets_what_waits),
        STORY (test_a_reload_takes_it_away_and_brings_it_back),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
