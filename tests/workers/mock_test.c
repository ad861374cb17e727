//  A worker with a simulated engine: what its clients see.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schemas/status.h"
#include "tests/workers/stage.h"
#include "workers/mock/mock.h"
#include "workers/mock/timing.h"

static const uint64_t MS = 1000000;

static mock_options_t s_options;

static void
s_begin (void)
{
    stage_begin (1, &(worker_setup_t){ .engine = &mock_engine, .engine_options = &s_options });
}

static int
s_set_up (void **state)
{
    s_options = (mock_options_t){
        .capacity = 1000, .slots = 8, .context = 100000, .seed = 1, .speed = 1000000, .answer_tokens = 100, .burst = 1
    };
    return 0;
}

static const char *
s_letters (size_t count)
{
    static char text [65536];
    for (size_t i = 0; i < count; i++)
        text [i] = (char)('a' + (i * i / 7 + i) % 26);
    text [count] = 0;
    return text;
}

static void
test_the_answer_is_known_beforehand (void **state)
{
    s_begin ();
    generate_t request = stage_request ("Tell me.", 50);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->result, CALL_REPLIED);
    assert_int_equal (talk->end.reason, FINISH_REASON_LENGTH);
    assert_int_equal (talk->end.prompt_tokens, 8);
    assert_int_equal (talk->end.completion_tokens, 50);
    assert_int_equal (talk->tokens.count, 50);
    for (size_t i = 0; i < 50; i++) {
        uint32_t token = *(uint32_t *)array_at (&talk->tokens, i);
        assert_int_equal (token, mock_token (&s_options, SPAN ("mock"), request.tokens, &request.sampling, i));
        assert_int_equal (token, talk->text.data [i]);
        assert_in_range (token, ' ', '~');
    }
    stage_end ();
}

//  The network takes less than 3 ms here, more or less for the first than for the last; everything else is the engine's.
static void
s_assert_took (uint64_t ns, uint64_t expected_ns)
{
    if (ns + 3 * MS < expected_ns || ns > expected_ns + 3 * MS)
        fail_msg ("took %.3f ms instead of %.3f", (double)ns / 1e6, (double)expected_ns / 1e6);
}

static void
test_an_idle_engine_takes_the_published_time (void **state)
{
    s_begin ();
    generate_t request = stage_request (s_letters (6400), 65);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    s_assert_took (talk->first_ns - talk->started_ns, timing_prefill_ns (6400, 0));
    s_assert_took (talk->last_ns - talk->first_ns, 64 * timing_itl_ns (102, 1000));
    stage_end ();
}

static void
test_speed_divides_every_time (void **state)
{
    s_options.speed = 10 * 1000000;
    s_begin ();
    generate_t request = stage_request (s_letters (6400), 65);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    s_assert_took (talk->first_ns - talk->started_ns, timing_prefill_ns (6400, 0) / 10);
    s_assert_took (talk->last_ns - talk->first_ns, 64 * timing_itl_ns (102, 1000) / 10);
    stage_end ();
}

//  While a prompt is computed, decodes get a quarter of the engine.
static void
test_decodes_wait_for_prompts (void **state)
{
    s_begin ();
    generate_t request = stage_request ("first", 200);
    talk_t *first = stage_generate (&request, 1000, 0);
    stage_run_ms (500);
    size_t before = first->tokens.count;
    generate_t second = stage_request (s_letters (60000), 1);
    talk_t *talk = stage_generate (&second, 1000, 0);
    stage_finish (talk);
    uint64_t alone = timing_prefill_ns (60000, 0);
    s_assert_took (talk->first_ns - talk->started_ns, alone * 4 / 3);
    uint64_t expected = alone / 3 / timing_itl_ns (942, 1000);
    assert_in_range (first->tokens.count - before, expected - 1, expected + 2);
    stage_end ();
}

static void
test_the_second_turn_finds_the_first_in_the_cache (void **state)
{
    s_begin ();
    generate_t request = stage_request (s_letters (640), 100);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->end.cached_tokens, 0);

    char turn [4096];
    snprintf (turn, sizeof turn, "%s%s And now?", s_letters (640), buffer_string (&talk->text));
    request = stage_request (turn, 10);
    talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->end.prompt_tokens, 749);
    assert_int_equal (talk->end.cached_tokens, 704);
    s_assert_took (talk->first_ns - talk->started_ns, timing_prefill_ns (45, 704));

    talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->end.cached_tokens, 704);
    assert_int_equal (stage_metric ("stator_prompt_tokens_cached_total"), 1408);
    assert_int_equal (stage_metric ("stator_generation_tokens_total"), 120);
    stage_end ();
}

static void
test_a_prompt_that_is_all_cached_still_computes_one_token (void **state)
{
    s_begin ();
    generate_t request = stage_request (s_letters (640), 1);
    stage_finish (stage_generate (&request, 1000, 0));
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->end.cached_tokens, 639);
    stage_end ();
}

static void
test_nothing_is_sent_beyond_the_credit (void **state)
{
    s_begin ();
    generate_t request = stage_request ("count", 10);
    talk_t *talk = stage_generate (&request, 0, 0);
    stage_run_ms (10000);
    assert_int_equal (talk->tokens.count, 0);
    assert_int_equal (stage_metric ("stator_worker_parked_tokens"), 10);
    stream_credit (&talk->stream, 3);
    stage_run_ms (100);
    assert_int_equal (talk->tokens.count, 3);
    assert_int_equal (talk->items, 1);
    stream_credit (&talk->stream, 9);
    stage_run_ms (100);
    assert_int_equal (talk->tokens.count, 9);
    assert_false (talk->ended);
    stream_credit (&talk->stream, 10);
    stage_run_ms (100);
    assert_true (talk->ended);
    assert_int_equal (talk->tokens.count, 10);
    assert_int_equal (stage_metric ("stator_worker_parked_tokens"), 0);
    stage_end ();
}

static void
test_a_slow_reader_gets_everything_in_order (void **state)
{
    s_begin ();
    generate_t request = stage_request ("slowly", 300);
    talk_t *talk = stage_generate (&request, 7, 7);
    stage_finish (talk);
    assert_int_equal (talk->tokens.count, 300);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal (*(uint32_t *)array_at (&talk->tokens, i),
            mock_token (&s_options, SPAN ("mock"), request.tokens, &request.sampling, i));
    stage_end ();
}

static void
test_a_reader_that_is_gone_is_given_up (void **state)
{
    s_begin ();
    generate_t request = stage_request ("anybody?", 50);
    talk_t *gone = stage_generate (&request, 5, 0);
    talk_t *slow = stage_generate (&request, 5, 0);
    for (uint64_t credit = 6; credit < 30; credit++) {
        stage_run_ms (60000);
        stream_credit (&slow->stream, credit);
    }
    assert_int_equal (gone->status, STATUS_DEADLINE);
    assert_false (slow->ended);
    assert_int_equal (stage_metric ("stator_worker_unread_total"), 1);
    stage_end ();
}

//  Whoever tips the scales: the one that goes may be any of them, and the engine is in the middle of its report.
static void
s_overfill (int64_t parked_max)
{
    worker_options_t common = { .block_size = 64,
        .load_interval_ns = 100 * MS,
        .requests_max = 10,
        .parked_max = parked_max,
        .read_timeout_ns = 300000000000,
        .suspect_after_ns = 30000 * MS };
    stage_begin (1, &(worker_setup_t){ .engine = &mock_engine, .engine_options = &s_options, .common = &common });
    generate_t request = stage_request ("a", 400);
    talk_t *slow = stage_generate (&request, 10, 0);
    talk_t *slowest = stage_generate (&request, 0, 0);
    talk_t *good = stage_generate (&request, 50, 50);
    for (int i = 0; i < 10000 && !slowest->ended; i++)
        stage_run_ms (1);
    assert_int_equal (slowest->status, STATUS_LIMIT);
    assert_false (slow->ended);
    stage_finish (good);
    assert_int_equal (good->tokens.count, 400);
    assert_int_equal (slow->status, STATUS_LIMIT);
    assert_int_equal (stage_metric ("stator_worker_overruns_total"), 2);
    assert_int_equal (stage_metric ("stator_worker_parked_tokens"), 0);
    stage_end ();
}

static void
test_the_slowest_reader_goes_when_too_much_waits (void **state)
{
    s_overfill (100);
    s_overfill (101);
}

static void
test_a_cancel_frees_the_engine (void **state)
{
    s_begin ();
    generate_t request = stage_request (s_letters (640), 5000);
    talk_t *decoding = stage_generate (&request, 10000, 0);
    stage_run_ms (500);
    assert_true (decoding->tokens.count > 10);
    generate_t long_one = stage_request (s_letters (30000), 10);
    talk_t *prefilling = stage_generate (&long_one, 1000, 0);
    talk_t *waiting = stage_generate (&long_one, 1000, 0);
    stage_run_ms (150);
    assert_int_equal (stage_observed ()->load.running, 2);
    assert_int_equal (stage_observed ()->load.waiting, 1);
    assert_true (stage_observed ()->load.prefill_tokens > 50000);
    stream_cancel (&waiting->stream);
    stream_cancel (&decoding->stream);
    stream_cancel (&prefilling->stream);
    stage_run_ms (300);
    assert_true (decoding->ended && prefilling->ended && waiting->ended);
    assert_int_equal (decoding->result, CALL_CANCELLED);
    assert_int_equal (stage_observed ()->load.running, 0);
    assert_int_equal (stage_observed ()->load.waiting, 0);
    assert_int_equal (stage_observed ()->load.prefill_tokens, 0);
    assert_int_equal (stage_observed ()->load.kv_used, 0);
    stage_end ();
}

static void
test_a_resumed_request_goes_on_with_the_same_tokens (void **state)
{
    s_begin ();
    const char *prompt = "Once upon a time";
    generate_t request = stage_request (prompt, 40);
    talk_t *whole = stage_generate (&request, 1000, 0);
    stage_finish (whole);

    char resumed [64];
    snprintf (resumed, sizeof resumed, "%s%.15s", prompt, buffer_string (&whole->text));
    request = stage_request (resumed, 25);
    request.delivered = 15;
    talk_t *rest = stage_generate (&request, 1000, 0);
    stage_finish (rest);
    assert_int_equal (rest->tokens.count, 25);
    assert_string_equal (buffer_string (&rest->text), buffer_string (&whole->text) + 15);
    assert_int_equal (rest->end.completion_tokens, 25);
    assert_int_equal (rest->end.prompt_tokens, 31);
    stage_end ();
}

static void
test_stop_strings_and_natural_ends (void **state)
{
    s_begin ();
    generate_t request = stage_request ("stop?", 1000);
    talk_t *talk = stage_generate (&request, 2000, 0);
    stage_finish (talk);
    char stop [6] = { 0 };
    memcpy (stop, talk->text.data + 70, 5);
    size_t expected = (size_t)(strstr (buffer_string (&talk->text), stop) - (const char *)talk->text.data);

    span_t stops [] = { SPAN ("never said"), span_from_string (stop) };
    request.sampling.stop = stops;
    request.sampling.stop_count = 2;
    talk = stage_generate (&request, 2000, 0);
    stage_finish (talk);
    assert_int_equal (talk->end.reason, FINISH_REASON_STOP);
    assert_string_equal (talk->detail, stop);
    assert_int_equal (talk->tokens.count, expected);

    request = stage_request ("how long?", 0);
    request.sampling = (sampling_t){ 0 };
    talk = stage_generate (&request, 2000, 0);
    stage_finish (talk);
    assert_int_equal (talk->end.reason, FINISH_REASON_STOP);
    assert_in_range (talk->tokens.count, 50, 150);
    stage_end ();
}

static void
test_seeds_and_stop_tokens (void **state)
{
    s_begin ();
    generate_t request = stage_request ("one", 30);
    request.sampling.has_seed = true;
    request.sampling.seed = 7;
    talk_t *one = stage_generate (&request, 100, 0);
    request = stage_request ("another", 30);
    request.sampling.has_seed = true;
    request.sampling.seed = 7;
    talk_t *other = stage_generate (&request, 100, 0);
    stage_finish (one);
    stage_finish (other);
    assert_string_equal (buffer_string (&one->text), buffer_string (&other->text));

    uint32_t stop = one->text.data [20];
    request.sampling.stop_tokens = column_of_u32 (&stop, 1);
    talk_t *stopped = stage_generate (&request, 100, 0);
    stage_finish (stopped);
    assert_int_equal (stopped->end.reason, FINISH_REASON_STOP);
    assert_int_equal (stopped->tokens.count, strchr (buffer_string (&one->text), (int)stop) - (char *)one->text.data);
    stage_end ();
}

static void
s_assert_refused (const generate_t *request, status_t status, const char *sentence)
{
    talk_t *talk = stage_generate (request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->result, CALL_FAILED);
    assert_string_equal (talk->error, sentence);
    assert_int_equal (talk->status, status);
}

static void
test_bad_requests_are_refused_with_a_sentence (void **state)
{
    s_options.context = 1000;
    s_options.capacity = 10;
    s_begin ();
    generate_t request = stage_request ("", 10);
    s_assert_refused (&request, STATUS_INVALID, "the prompt has no tokens");
    request = stage_request ("a", 0);
    s_assert_refused (&request, STATUS_INVALID, "max_tokens is 0");
    request = stage_request ("a", 10);
    request.model = SPAN ("gpt");
    s_assert_refused (&request, STATUS_NOT_FOUND, "model \"gpt\" is not served here, but \"mock\" is");
    request = stage_request ("a", 10);
    request.rank = 1;
    s_assert_refused (&request, STATUS_INVALID, "there is no rank 1");
    request = stage_request ("ab", 10);
    request.delivered = 2;
    s_assert_refused (&request, STATUS_INVALID, "2 tokens are said to be earlier output, but there are only 2");
    request = stage_request (s_letters (1000), 10);
    s_assert_refused (&request, STATUS_LIMIT, "the prompt has 1000 tokens, the context of this model is 1000 tokens");
    request = stage_request (s_letters (700), 10);
    s_assert_refused (&request, STATUS_LIMIT, "the request needs KV for 710 tokens, the engine has room for 640");
    request = stage_request ("a", 10);
    static const uint32_t stranger = 256;
    request.tokens = column_of_u32 (&stranger, 1);
    s_assert_refused (&request, STATUS_INVALID, "a token of the prompt is not in the vocabulary of 256");
    assert_int_equal (stage_metric ("stator_worker_refused_total"), 8);
    stage_end ();
}

static void
test_max_tokens_end_at_the_context (void **state)
{
    s_options.context = 100;
    s_begin ();
    generate_t request = stage_request (s_letters (90), 1000);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_finish (talk);
    assert_int_equal (talk->tokens.count, 10);
    assert_int_equal (talk->end.reason, FINISH_REASON_LENGTH);
    stage_end ();
}

static void
test_a_request_waits_until_its_kv_fits (void **state)
{
    s_options.capacity = 20;
    s_begin ();
    generate_t request = stage_request (s_letters (640), 320);
    talk_t *first = stage_generate (&request, 1000, 0);
    generate_t other = stage_request (s_letters (641) + 1, 64);
    talk_t *second = stage_generate (&other, 1000, 0);
    stage_run_ms (1000);
    assert_int_equal (stage_observed ()->load.waiting, 1);
    stage_finish (second);
    assert_true (first->ended && first->last_ns <= second->first_ns);
    stage_end ();
}

//  Prompts of all lengths through a small cache: what was published is what a late joiner is told.
static void
test_published_blocks_are_those_of_the_snapshot (void **state)
{
    s_options.capacity = 60;
    s_options.speed = 1000 * 1000000;
    s_begin ();
    for (int i = 0; i < 60; i++) {
        char text [4000];
        snprintf (text, sizeof text, "%d%s", i % 7, s_letters (200 + (size_t)i * 37 % 1500));
        generate_t request = stage_request (text, 100);
        stage_finish (stage_generate (&request, 1000, 0));
    }
    stage_run_ms (200);
    const observed_t *seen = stage_observed ();
    assert_int_equal (seen->orphans, 0);
    assert_int_equal (seen->strays, 0);
    size_t held = map_count (seen->blocks);
    assert_in_range (held, 30, 60);
    assert_int_equal (held, stage_metric ("stator_kv_blocks_held"));

    map_t *before = map_new (0);
    span_t key;
    void *value;
    for (size_t cursor = 0; map_next (seen->blocks, &cursor, &key, &value);)
        map_put (before, key, value);
    stage_restart_client ();
    assert_int_equal (map_count (seen->blocks), held);
    for (size_t cursor = 0; map_next (seen->blocks, &cursor, &key, &value);)
        assert_non_null (map_get (before, key));
    assert_int_equal (seen->orphans, 0);
    map_destroy (&before);
    stage_end ();
}

static void
test_load_is_reported_when_it_changes_and_at_every_heartbeat (void **state)
{
    s_begin ();
    size_t before = stage_observed ()->loads;
    stage_run_ms (10000);
    assert_in_range (stage_observed ()->loads - before, 9, 11);
    generate_t request = stage_request (s_letters (640), 1000);
    stage_generate (&request, 10000, 0);
    stage_run_ms (50);
    assert_int_equal (stage_observed ()->load.running, 1);
    assert_int_equal (stage_observed ()->load.kv_capacity, 1000);
    before = stage_observed ()->loads;
    stage_run_ms (2000);
    assert_in_range (stage_observed ()->loads - before, 1, 21);
    stage_end ();
}

static void
test_a_draining_worker_finishes_and_refuses (void **state)
{
    s_begin ();
    assert_false (stage_observed ()->draining);
    generate_t request = stage_request ("finish me", 200);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_run_ms (100);
    actor_drain (stage_worker ());
    stage_run_ms (100);
    assert_true (stage_observed ()->draining);
    s_assert_refused (&request, STATUS_AGAIN, "this worker is draining; ask another one");
    stage_finish (talk);
    assert_int_equal (talk->result, CALL_REPLIED);
    assert_int_equal (talk->tokens.count, 200);
    stage_end ();
}

static void
test_the_card_says_what_is_served (void **state)
{
    static const char *const aliases [] = { "also", "too" };
    stage_begin (1, &(worker_setup_t){ .engine = &mock_engine,
                        .engine_options = &s_options,
                        .model = SPAN ("big"),
                        .aliases = aliases,
                        .alias_count = 2,
                        .context_max = 5000 });
    const model_card_t *card = &stage_observed ()->card;
    assert_int_equal (card->block_size, 64);
    assert_int_equal (card->context, 5000);
    assert_int_equal (card->capacity, 1000);
    assert_int_equal (card->slots, 8);
    assert_int_equal (card->aliases_count, 2);
    generate_t request = stage_request ("a", 3);
    s_assert_refused (&request, STATUS_NOT_FOUND, "model \"mock\" is not served here, but \"big\" is");
    request.model = SPAN ("too");
    talk_t *talk = stage_generate (&request, 10, 0);
    stage_finish (talk);
    assert_int_equal (talk->tokens.count, 3);
    stage_end ();
}

static void
test_hints_and_questions_get_an_answer (void **state)
{
    s_begin ();
    generate_t request = stage_request ("a", 3);
    request.has_envelope = true;
    request.envelope.has_priority = true;
    request.envelope.priority = 5;
    talk_t *talk = stage_generate (&request, 10, 0);
    stage_finish (talk);
    assert_string_equal (talk->receipt, "priority rejected the engine serves requests in the order of their arrival");

    question_t question;
    stage_call (&question, &tokenize_message, &(tokenize_t){ .model = SPAN ("mock"), .text = SPAN ("a") });
    assert_int_equal (question.status, STATUS_UNSUPPORTED);
    assert_string_equal (question.error, "mock has neither chat template nor tokenizer");

    stage_call (&question, &get_status_message, &(get_status_t){ 0 });
    assert_string_equal (question.bytes, "mock serves mock: 0 running, 0 waiting, 0 of 1000 blocks in use, 0 held");
    stage_end ();
}

static void
test_without_time_everything_is_done_at_once (void **state)
{
    s_options.speed = 0;
    s_options.burst = 16;
    s_begin ();
    generate_t request = stage_request (s_letters (60000), 1000);
    talk_t *talk = stage_generate (&request, 5000, 0);
    stage_finish (talk);
    assert_int_equal (talk->tokens.count, 1000);
    assert_in_range (talk->items, 50, 70);
    assert_in_range (talk->last_ns - talk->started_ns, 0, 10 * MS);
    stage_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup (test_the_answer_is_known_beforehand, s_set_up),
        cmocka_unit_test_setup (test_an_idle_engine_takes_the_published_time, s_set_up),
        cmocka_unit_test_setup (test_speed_divides_every_time, s_set_up),
        cmocka_unit_test_setup (test_decodes_wait_for_prompts, s_set_up),
        cmocka_unit_test_setup (test_the_second_turn_finds_the_first_in_the_cache, s_set_up),
        cmocka_unit_test_setup (test_a_prompt_that_is_all_cached_still_computes_one_token, s_set_up),
        cmocka_unit_test_setup (test_nothing_is_sent_beyond_the_credit, s_set_up),
        cmocka_unit_test_setup (test_a_slow_reader_gets_everything_in_order, s_set_up),
        cmocka_unit_test_setup (test_a_reader_that_is_gone_is_given_up, s_set_up),
        cmocka_unit_test_setup (test_the_slowest_reader_goes_when_too_much_waits, s_set_up),
        cmocka_unit_test_setup (test_a_cancel_frees_the_engine, s_set_up),
        cmocka_unit_test_setup (test_a_resumed_request_goes_on_with_the_same_tokens, s_set_up),
        cmocka_unit_test_setup (test_stop_strings_and_natural_ends, s_set_up),
        cmocka_unit_test_setup (test_seeds_and_stop_tokens, s_set_up),
        cmocka_unit_test_setup (test_bad_requests_are_refused_with_a_sentence, s_set_up),
        cmocka_unit_test_setup (test_max_tokens_end_at_the_context, s_set_up),
        cmocka_unit_test_setup (test_a_request_waits_until_its_kv_fits, s_set_up),
        cmocka_unit_test_setup (test_published_blocks_are_those_of_the_snapshot, s_set_up),
        cmocka_unit_test_setup (test_load_is_reported_when_it_changes_and_at_every_heartbeat, s_set_up),
        cmocka_unit_test_setup (test_a_draining_worker_finishes_and_refuses, s_set_up),
        cmocka_unit_test_setup (test_the_card_says_what_is_served, s_set_up),
        cmocka_unit_test_setup (test_hints_and_questions_get_an_answer, s_set_up),
        cmocka_unit_test_setup (test_without_time_everything_is_done_at_once, s_set_up),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
