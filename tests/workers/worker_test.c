//  The worker in front of an engine that does what the test says, good or bad.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "kv/sequence.h"
#include "runtime/timer.h"
#include "runtime/timer.h"
#include "tests/workers/stage.h"

//  ---- An engine without a will of its own ---------------------------------------------------------------------------

enum { RUNS_MAX = 4, MANY = 100000, TOKEN_NS = 10000, CLEAR_NS = 300000 };

struct engine_run {
    void *arg;                   //  The worker's
    engine_request_t request;    //  As given
};

struct engine {
    actor_t *actor;                   //  On whose thread
    engine_watch_t watch;             //  Whom to tell
    const namespace_t *space;         //  As the worker said
    model_card_t card;                //  As announced
    engine_run_t *runs [RUNS_MAX];    //  Under way, in order of arrival
    size_t run_count;                 //  How many
    size_t cancelled;                 //  So many were
    actor_timer_t timer;              //  For what the test asks, on the engine's own thread
    void (*act) (void);               //  What it asks
    actor_timer_t restart;            //  For when it becomes another one by itself
    size_t said;                      //  Tokens, where it says them by itself
};

static engine_t *s_engine;

static engine_t *
s_open (actor_t *actor, const engine_watch_t *watch, const engine_setup_t *setup, error_t *error)
{
    s_engine = memory_new (sizeof *s_engine);
    s_engine->actor = actor;
    s_engine->watch = *watch;
    s_engine->card = (model_card_t){ .model = SPAN ("puppet"),
        .fingerprint = 1,
        .block_size = 16,
        .context = 1000,
        .capacity = 100,
        .ranks = 1,
        .slots = 4,
        .engine = SPAN ("puppet"),
        .engine_version = SPAN ("1"),
        .tokenizing = SPAN ("bytes"),
        .sends_text = true,
        .kv_events = true };
    s_engine->space = watch->on_ready (watch->arg, &s_engine->card);
    return s_engine;
}

static void
s_close (engine_t *self)
{
    timer_stop (&self->timer);
    timer_stop (&self->restart);
    assert_int_equal (self->run_count, 0);
    memory_free (self);
}

static engine_run_t *
s_start (engine_t *self, const engine_request_t *request, void *arg, error_t *error)
{
    engine_run_t *run = memory_new (sizeof *run);
    *run = (engine_run_t){ arg, *request };
    self->runs [self->run_count++] = run;
    return run;
}

static void
s_free_run (engine_t *self, engine_run_t *run)
{
    size_t position = 0;
    while (self->runs [position] != run)
        position++;
    self->run_count--;
    memmove (self->runs + position, self->runs + position + 1, (self->run_count - position) * sizeof *self->runs);
    memory_free (run);
}

static void
s_cancel (engine_t *self, engine_run_t *run)
{
    self->cancelled++;
    s_free_run (self, run);
}

//  It never says that it has computed a prompt, but by a token.
static void
s_load (const engine_t *self, worker_load_t *load)
{
    for (size_t i = 0; i < self->run_count; i++)
        load->prefill_tokens += self->runs [i]->request.tokens.count;
    load->running = (uint32_t)self->run_count;
    load->kv_capacity = 100;
}

static const engine_class_t s_puppet = { .name = "puppet",
    .prioritises = true,
    .open = s_open,
    .close = s_close,
    .start = s_start,
    .cancel = s_cancel,
    .load = s_load };

static void
s_on_act (void *state, actor_t *actor, void *arg)
{
    s_engine->act ();
}

//  Has the engine do this, and waits until it is done.
static void
s_act (void (*act) (void))
{
    s_engine->act = act;
    timer_start (&s_engine->timer, s_engine->actor, 1, s_on_act, NULL);
    stage_run_ms (100);
}

static void
s_say (size_t count)
{
    uint32_t tokens [64], sizes [64];
    char text [64];
    for (size_t i = 0; i < count; i++) {
        tokens [i] = (uint32_t)i;
        sizes [i] = 1;
        text [i] = (char)('a' + i);
    }
    engine_tokens_t said = { tokens, sizes, count, span_of (text, count) };
    s_engine->watch.on_tokens (s_engine->watch.arg, s_engine->runs [0]->arg, &said);
}

static void
s_say_ten (void)
{
    s_say (10);
}

static void
s_say_one (void)
{
    s_say (1);
}

static void
s_end_run (const engine_end_t *end)
{
    engine_run_t *run = s_engine->runs [0];
    s_engine->watch.on_end (s_engine->watch.arg, run->arg, end);
    s_free_run (s_engine, run);
}

static void
s_end_well (void)
{
    s_end_run (&(engine_end_t){ .reason = FINISH_REASON_STOP, .prompt_tokens = 5, .completion_tokens = 10 });
}

static void
s_begin (void)
{
    stage_begin (1, &(worker_setup_t){ .engine = &s_puppet });
}

//  ---- Tests ---------------------------------------------------------------------------------------------------------

static void
test_what_the_engine_is_asked (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 20);
    request.delivered = 2;
    talk_t *talk = stage_generate (&request, 100, 0);
    stage_run_ms (50);
    assert_int_equal (s_engine->run_count, 1);
    const engine_request_t *asked = &s_engine->runs [0]->request;
    assert_int_equal (asked->tokens.count, 5);
    assert_int_equal (asked->delivered, 2);
    assert_int_equal (asked->max_tokens, 20);
    assert_true (asked->sampling->ignore_eos);
    s_act (s_say_ten);
    assert_string_equal (buffer_string (&talk->text), "abcdefghij");
    s_act (s_end_well);
    assert_true (talk->ended);
    assert_int_equal (talk->end.reason, FINISH_REASON_STOP);
    stage_end ();
}

//  The end waits for the tokens before it, the tokens for the credit.
static void
test_the_end_comes_behind_the_last_token (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 20);
    talk_t *talk = stage_generate (&request, 4, 0);
    stage_run_ms (50);
    s_act (s_say_ten);
    s_act (s_end_well);
    assert_int_equal (talk->tokens.count, 4);
    assert_false (talk->ended);
    stream_credit (&talk->stream, 100);
    stage_run_ms (50);
    assert_int_equal (talk->tokens.count, 10);
    assert_true (talk->ended);
    stage_end ();
}

static void
test_an_engine_that_says_too_much_is_cut_off (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 7);
    talk_t *talk = stage_generate (&request, 100, 0);
    stage_run_ms (50);
    s_act (s_say_ten);
    assert_true (talk->ended);
    assert_int_equal (talk->tokens.count, 7);
    assert_string_equal (buffer_string (&talk->text), "abcdefg");
    assert_int_equal (talk->end.reason, FINISH_REASON_LENGTH);
    assert_int_equal (talk->end.completion_tokens, 7);
    assert_int_equal (s_engine->cancelled, 1);
    assert_int_equal (stage_metric ("stator_worker_overruns_total"), 1);
    stage_end ();
}

static void
s_fail_run (void)
{
    s_end_run (&(engine_end_t){ .status = STATUS_INTERNAL, .detail = SPAN ("out of luck") });
}

static void
test_a_failure_is_told_at_once (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 20);
    talk_t *talk = stage_generate (&request, 3, 0);
    stage_run_ms (50);
    s_act (s_say_ten);
    s_act (s_fail_run);
    assert_true (talk->ended);
    assert_int_equal (talk->status, STATUS_INTERNAL);
    assert_string_equal (talk->error, "out of luck");
    assert_int_equal (stage_metric ("stator_worker_parked_tokens"), 0);
    stage_end ();
}

static void
s_fall_ill (void)
{
    s_engine->watch.on_health (s_engine->watch.arg, "it is hot");
}

static void
s_recover (void)
{
    s_engine->watch.on_health (s_engine->watch.arg, NULL);
}

static void
test_an_unwell_engine_takes_no_new_work (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 20);
    talk_t *running = stage_generate (&request, 100, 0);
    stage_run_ms (50);
    s_act (s_fall_ill);
    assert_true (stage_observed ()->draining);
    talk_t *refused = stage_generate (&request, 100, 0);
    stage_finish (refused);
    assert_int_equal (refused->status, STATUS_AGAIN);
    assert_string_equal (refused->error, "the engine is unwell: it is hot");
    s_act (s_say_ten);
    s_act (s_end_well);
    assert_int_equal (running->result, CALL_REPLIED);
    s_act (s_recover);
    assert_false (stage_observed ()->draining);
    stage_end ();
}

static void
s_store (void)
{
    static const hash128_t chain [] = { { 11, 1 }, { 12, 2 }, { 13, 3 } };
    s_engine->watch.on_stored (s_engine->watch.arg, SEQUENCE_ROOT, chain, 3);
    s_engine->watch.on_stored (s_engine->watch.arg, SEQUENCE_ROOT, chain, 2);
}

static void
s_remove (void)
{
    static const uint64_t chain [] = { 11, 12, 13 };
    s_engine->watch.on_removed (s_engine->watch.arg, chain, 3);
}

static void
s_become_another (void)
{
    uint64_t before = s_engine->space->id;
    s_engine->card.fingerprint++;
    s_engine->card.context = 2000;
    s_engine->space = s_engine->watch.on_ready (s_engine->watch.arg, &s_engine->card);
    assert_true (s_engine->space->id != before);
}

static void
test_blocks_are_told_once_and_go_with_the_engine (void **state)
{
    s_begin ();
    s_act (s_store);
    assert_int_equal (map_count (stage_observed ()->blocks), 3);
    s_act (s_remove);
    assert_int_equal (map_count (stage_observed ()->blocks), 2);
    s_act (s_become_another);
    assert_int_equal (map_count (stage_observed ()->blocks), 0);
    assert_int_equal (stage_observed ()->card.fingerprint, 2);
    assert_int_equal (stage_observed ()->card.context, 2000);
    assert_int_equal (stage_observed ()->strays, 0);
    stage_end ();
}

//  A hundred thousand blocks, in prompts of a thousand.
static void
s_store_many (void)
{
    enum { PROMPT = 1000 };
    static hash128_t prompt [PROMPT];
    for (uint64_t i = 0; i < MANY; i += PROMPT) {
        for (uint64_t k = 0; k < PROMPT; k++)
            prompt [k] = (hash128_t){ 1 + i + k, 7 };
        s_engine->watch.on_stored (s_engine->watch.arg, SEQUENCE_ROOT, prompt, PROMPT);
    }
}

//  Says a token every ten microseconds, until it has said 900.
static void
s_talk (void)
{
    s_say (1);
    if (++s_engine->said < 900)
        timer_start (&s_engine->timer, s_engine->actor, TOKEN_NS, s_on_act, NULL);
}

static void
s_on_restart (void *state, actor_t *actor, void *arg)
{
    s_become_another ();
}

//  A late joiner is told of all of it, and all of it is cleared meanwhile or after that: a token every ten microseconds comes as it
//  does without.
static void
test_tokens_flow_while_much_is_told_and_cleared (void **state)
{
    for (int clears = 0; clears < 2; clears++) {
        taking_t taking;
        s_begin ();
        s_act (s_store_many);
        assert_int_equal (stage_metric ("stator_kv_blocks_held"), MANY);
        generate_t request = stage_request ("hello", 1000);
        talk_t *talk = stage_generate (&request, 2000, 0);
        stage_run_ms (50);
        s_engine->act = s_talk;
        timer_start (&s_engine->timer, s_engine->actor, 1, s_on_act, NULL);
        stage_take (&taking, talk);
        if (clears)
            timer_start (&s_engine->restart, s_engine->actor, CLEAR_NS, s_on_restart, NULL);
        stage_run_ms (100);
        assert_true (taking.ended);
        assert_int_equal (taking.result, CALL_REPLIED);
        assert_int_equal (taking.blocks, clears ? 0 : MANY);
        assert_in_range (taking.cleared, clears ? 1 : 0, clears ? MANY - 1 : 0);
        assert_in_range (taking.tokens, clears ? 5 : 30, 900);
        s_act (s_become_another);
        assert_int_equal (stage_metric ("stator_kv_blocks_held"), 0);
        s_act (s_end_well);
        assert_int_equal (talk->tokens.count, 900);
        assert_in_range (talk->gap_ns, TOKEN_NS, 20 * TOKEN_NS);
        stage_end ();
    }
}

static void
s_show_life (void)
{
    s_engine->watch.on_progress (s_engine->watch.arg, s_engine->runs [0]->arg, 0, 0);
}

//  At 200 tokens a second.
static void
s_compute_fifty_tokens (void)
{
    s_engine->watch.on_progress (s_engine->watch.arg, s_engine->runs [0]->arg, 50, 250000000);
}

//  A long prompt is no reason for suspicion as long as it moves; an answer nobody reads is none either.
static void
test_progress_is_life (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 10);
    talk_t *talk = stage_generate (&request, 3, 0);
    for (int i = 0; i < 5; i++) {
        stage_run_ms (9000);
        s_act (s_show_life);
    }
    s_act (s_say_ten);
    s_act (s_end_well);
    stage_run_ms (100000);
    assert_int_equal (stage_metric ("stator_worker_suspect_total"), 0);
    assert_int_equal (talk->tokens.count, 3);
    assert_false (talk->ended || stage_observed ()->draining);
    stage_end ();
}

static void
s_answer_probe (void)
{
    assert_int_equal (s_engine->runs [0]->request.max_tokens, 1);
    s_say (1);
    s_end_well ();
}

//  Long prompts are computed for longer than short ones, by a fast engine for a shorter time: it may take five times what
//  is expected, and ten seconds.  The requests differ in nothing but their prompts.
static void
test_patience_follows_from_what_was_measured (void **state)
{
    static const struct {
        size_t prompt;           //  Tokens
        int measurements;        //  Of an engine that computes 200 tokens a second
        uint64_t patience_ms;    //  Until it is suspect
    } cases [] = {
        { 5, 0, 10000 },       //  The least
        { 900, 0, 49600 },     //  Of an engine that is not known: 100 tokens a second, and a second
        { 900, 40, 27500 },    //  Measured
        { 300, 40, 12500 },
        { 100, 40, 10000 },
    };
    char prompt [1000];
    memset (prompt, 'x', sizeof prompt);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s_begin ();
        prompt [cases [i].prompt] = '\0';
        generate_t request = stage_request (prompt, 10);
        talk_t *talk = stage_generate (&request, 100, 0);
        stage_run_ms (50);
        for (int j = 0; j < cases [i].measurements; j++)
            s_act (s_compute_fifty_tokens);
        stage_run_ms (cases [i].patience_ms - 400);
        assert_false (talk->ended);
        stage_run_ms (800);
        assert_true (talk->ended);
        assert_int_equal (talk->status, STATUS_UNREACHABLE);
        assert_int_equal (stage_metric ("stator_worker_suspect_total"), 1);
        stage_end ();
        prompt [cases [i].prompt] = 'x';
    }
}

//  What it expected of a long prompt is no excuse once that is computed.
static void
test_patience_ends_with_the_prompt (void **state)
{
    s_begin ();
    char prompt [901] = { 0 };
    memset (prompt, 'x', 900);
    generate_t request = stage_request (prompt, 20);
    talk_t *talk = stage_generate (&request, 100, 0);
    stage_run_ms (3000);
    s_act (s_say_ten);
    stage_run_ms (9500);
    assert_false (talk->ended);
    stage_run_ms (1000);
    assert_int_equal (talk->status, STATUS_UNREACHABLE);
    stage_end ();
}

//  Ten seconds without a token are nothing for an engine that needs three from one to the next.
static void
test_a_slow_engine_is_not_suspect (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 60);
    talk_t *talk = stage_generate (&request, 100, 0);
    stage_run_ms (50);
    for (int i = 0; i < 40; i++) {
        s_act (s_say_one);
        stage_run_ms (2900);
    }
    stage_run_ms (10000);
    assert_false (talk->ended);
    stage_run_ms (5000);
    assert_int_equal (talk->status, STATUS_UNREACHABLE);
    stage_end ();
}

static void
test_a_suspect_engine_is_probed_until_it_answers (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 10);
    talk_t *talk = stage_generate (&request, 100, 0);
    stage_run_ms (11000);
    assert_int_equal (talk->status, STATUS_UNREACHABLE);
    assert_int_equal (s_engine->cancelled, 1);
    assert_int_equal (s_engine->run_count, 1);
    assert_true (stage_observed ()->draining);
    stage_run_ms (20000);
    assert_int_equal (s_engine->cancelled, 3);
    assert_int_equal (s_engine->run_count, 1);
    s_act (s_answer_probe);
    assert_false (stage_observed ()->draining);
    assert_int_equal (stage_metric ("stator_generation_tokens_total"), 0);
    stage_end ();
}

static void
s_restart (void)
{
    s_end_run (&(engine_end_t){ .status = STATUS_UNREACHABLE, .detail = SPAN ("restarted") });
    s_become_another ();
}

static void
test_an_engine_that_was_restarted_is_not_suspect (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 10);
    stage_generate (&request, 100, 0);
    stage_run_ms (11000);
    assert_true (stage_observed ()->draining);
    s_act (s_restart);
    assert_false (stage_observed ()->draining);
    assert_int_equal (s_engine->run_count, 0);
    stage_end ();
}

static void
test_a_hint_the_engine_acts_on_is_accepted (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hello", 10);
    request.has_envelope = true;
    request.envelope.has_priority = true;
    talk_t *talk = stage_generate (&request, 100, 0);
    stage_run_ms (50);
    s_act (s_say_ten);
    s_act (s_end_well);
    assert_string_equal (talk->receipt, "priority accepted ");
    stage_end ();
}

static void
test_too_many_at_once_are_refused (void **state)
{
    static const worker_options_t common = { .block_size = 16,
        .load_interval_ns = 100000000,
        .requests_max = 2,
        .parked_max = 1000,
        .read_timeout_ns = 300000000000,
        .suspect_after_ns = 10000000000 };
    stage_begin (1, &(worker_setup_t){ .engine = &s_puppet, .common = &common });
    generate_t request = stage_request ("hello", 10);
    talk_t *first = stage_generate (&request, 100, 0);
    stage_generate (&request, 100, 0);
    talk_t *third = stage_generate (&request, 100, 0);
    stage_finish (third);
    assert_int_equal (third->status, STATUS_AGAIN);
    assert_string_equal (third->error, "2 generations are under way, which is the limit here");
    stream_cancel (&first->stream);
    stage_run_ms (50);
    assert_int_equal (s_engine->cancelled, 1);
    third = stage_generate (&request, 100, 0);
    stage_run_ms (50);
    assert_false (third->ended);
    stage_end ();
}

static void
test_a_bad_setup_is_no_worker (void **state)
{
    static const char secret [65] = { 1 };
    stage_begin (1, &(worker_setup_t){ .engine = &s_puppet, .secret = span_of (secret, sizeof secret) });
    assert_null (stage_worker ());
    assert_non_null (strstr (stage_warning (), "worker/0: a cluster secret has 1 to 64 bytes"));
    stage_end ();

    char name [300];
    memset (name, 'x', sizeof name);
    stage_begin (1, &(worker_setup_t){ .engine = &s_puppet, .model = span_of (name, sizeof name) });
    assert_null (stage_worker ());
    assert_non_null (strstr (stage_warning (), "model"));
    stage_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_the_engine_is_asked),
        cmocka_unit_test (test_the_end_comes_behind_the_last_token),
        cmocka_unit_test (test_an_engine_that_says_too_much_is_cut_off),
        cmocka_unit_test (test_a_failure_is_told_at_once),
        cmocka_unit_test (test_an_unwell_engine_takes_no_new_work),
        cmocka_unit_test (test_blocks_are_told_once_and_go_with_the_engine),
        cmocka_unit_test (test_progress_is_life),
        cmocka_unit_test (test_patience_follows_from_what_was_measured),
        cmocka_unit_test (test_patience_ends_with_the_prompt),
        cmocka_unit_test (test_a_slow_engine_is_not_suspect),
        cmocka_unit_test (test_a_suspect_engine_is_probed_until_it_answers),
        cmocka_unit_test (test_an_engine_that_was_restarted_is_not_suspect),
        cmocka_unit_test (test_a_hint_the_engine_acts_on_is_accepted),
        cmocka_unit_test (test_too_many_at_once_are_refused),
        cmocka_unit_test (test_tokens_flow_while_much_is_told_and_cleared),
        cmocka_unit_test (test_a_bad_setup_is_no_worker),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
