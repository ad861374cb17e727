//  A worker in front of a llama-server that can be made to misbehave.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/held_job.h"
#include "tests/workers/fake_llama.h"
#include "tests/workers/stage.h"
#include "workers/llamacpp/llamacpp.h"

static void
s_begin (void)
{
    static const worker_options_t common = { .block_size = 8,
        .load_interval_ns = 100000000,
        .requests_max = 100,
        .parked_max = 100000,
        .read_timeout_ns = 300000000000,
        .suspect_after_ns = 10000000000 };
    static const llamacpp_options_t options = { .api_key = "secret",
        .connect_timeout_ns = 1000000000,
        .probe_interval_ns = 1000000000,
        .stall_timeout_ns = 600000000000 };
    stage_add (&fake_llama_program);
    stage_begin (
        1, &(worker_setup_t){
               .engine = &llamacpp_engine, .engine_options = &options, .url = "http://a:8080/", .common = &common });
}

static int
s_set_up (void **state)
{
    fake_llama = (fake_llama_t){ 0 };
    return 0;
}

static talk_t *
s_finish (const generate_t *request)
{
    talk_t *talk = stage_generate (request, 1000, 0);
    stage_finish (talk);
    return talk;
}

static void
test_the_card_says_what_the_server_is (void **state)
{
    s_begin ();
    const model_card_t *card = &stage_observed ()->card;
    assert_int_equal (card->context, 512);
    assert_int_equal (card->slots, 2);
    assert_int_equal (card->capacity, 2 * 512 / 8);
    assert_int_equal (card->block_size, 8);
    assert_true (card->sends_text);
    assert_true (stage_observed ()->alive && !stage_observed ()->draining);
    stage_end ();
}

static void
test_tokens_and_text_arrive (void **state)
{
    s_begin ();
    generate_t request = stage_request ("Hello there, you", 5);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->result, CALL_REPLIED);
    assert_int_equal (talk->tokens.count, 5);
    assert_int_equal (*(uint32_t *)array_at (&talk->tokens, 4), 304);
    assert_string_equal (buffer_string (&talk->text), "w0 w1 w2 w3 w4 ");
    assert_int_equal (talk->end.reason, FINISH_REASON_LENGTH);
    assert_int_equal (talk->end.prompt_tokens, 16);
    assert_int_equal (talk->end.completion_tokens, 5);
    assert_int_equal (talk->end.cached_tokens, 0);
    stage_run_ms (100);
    assert_int_equal (map_count (stage_observed ()->blocks), 2);
    stage_end ();
}

static void
test_a_second_turn_goes_to_its_slot (void **state)
{
    s_begin ();
    generate_t request = stage_request ("The first conversation, which is long", 4);
    s_finish (&request);
    uint32_t slot = fake_llama.last_slot;
    request = stage_request ("Another one", 4);
    s_finish (&request);
    assert_int_not_equal (fake_llama.last_slot, slot);
    request = stage_request ("The first conversation, which is long and goes on", 4);
    talk_t *talk = s_finish (&request);
    assert_int_equal (fake_llama.last_slot, slot);
    assert_int_equal (talk->end.cached_tokens, 37);
    assert_int_equal (stage_metric ("stator_prompt_tokens_predicted_total"), 37);
    assert_int_equal (stage_metric ("stator_prompt_tokens_cached_total"), 37);
    assert_int_equal (stage_observed ()->orphans, 0);
    assert_int_equal (stage_observed ()->strays, 0);
    stage_end ();
}

//  The server lost its cache without a word: the next answer shows it, and the fleet is told.
static void
test_a_lost_cache_is_noticed (void **state)
{
    s_begin ();
    generate_t request = stage_request ("Sixteen letters. And sixteen more", 1);
    s_finish (&request);
    stage_run_ms (100);
    assert_int_equal (map_count (stage_observed ()->blocks), 4);
    fake_llama_forget ();
    request = stage_request ("Sixteen letters. And then something else that is long", 1);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->end.cached_tokens, 0);
    assert_int_equal (stage_metric ("stator_prompt_tokens_predicted_total"), 21);
    stage_run_ms (100);
    assert_int_equal (map_count (stage_observed ()->blocks), 6);
    assert_int_equal (stage_observed ()->stored, 4 + 6);
    assert_int_equal (stage_observed ()->orphans, 0);
    assert_int_equal (stage_observed ()->strays, 0);
    stage_end ();
}

static void
test_what_finds_no_slot_waits (void **state)
{
    s_begin ();
    talk_t *talks [4];
    for (int i = 0; i < 4; i++) {
        char text [32];
        snprintf (text, sizeof text, "request number %d", i);
        generate_t request = stage_request (text, 50);
        talks [i] = stage_generate (&request, 1000, 0);
    }
    stage_run_ms (300);
    assert_int_equal (stage_observed ()->load.running, 2);
    assert_int_equal (stage_observed ()->load.waiting, 2);
    for (int i = 0; i < 4; i++) {
        stage_finish (talks [i]);
        assert_int_equal (talks [i]->tokens.count, 50);
    }
    assert_true (talks [0]->last_ns < talks [2]->first_ns);
    stage_end ();
}

static void
test_a_cancel_hangs_up (void **state)
{
    s_begin ();
    generate_t request = stage_request ("never mind", 400);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_run_ms (200);
    assert_true (talk->tokens.count > 5);
    stream_cancel (&talk->stream);
    stage_run_ms (150);
    assert_int_equal (fake_llama.aborted, 1);
    assert_int_equal (stage_observed ()->load.running, 0);
    talk = s_finish (&request);
    assert_int_equal (talk->tokens.count, 400);
    stage_end ();
}

static void
test_stop_tokens_end_the_answer (void **state)
{
    static const uint32_t stop = 303;
    s_begin ();
    generate_t request = stage_request ("stop", 100);
    request.sampling.stop_tokens = column_of_u32 (&stop, 1);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->end.reason, FINISH_REASON_STOP);
    assert_int_equal (talk->tokens.count, 3);
    stage_run_ms (50);
    assert_int_equal (fake_llama.aborted, 1);
    stage_end ();
}

static void
test_failures_come_with_a_sentence (void **state)
{
    s_begin ();
    fake_llama.fails_at = 4;
    generate_t request = stage_request ("fail", 10);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->result, CALL_FAILED);
    assert_int_equal (talk->status, STATUS_INTERNAL);
    assert_string_equal (talk->error, "the engine says: Compute error");
    assert_int_equal (talk->tokens.count, 3);
    fake_llama.fails_at = 0;

    fake_llama.hangs_up_at = 4;
    talk = s_finish (&request);
    assert_int_equal (talk->status, STATUS_UNREACHABLE);
    assert_string_equal (talk->error, "the engine stopped in the middle of an answer");
    assert_int_equal (talk->tokens.count, 3);
    fake_llama.hangs_up_at = 0;

    fake_llama.refuses = true;
    talk = s_finish (&request);
    assert_int_equal (talk->status, STATUS_INVALID);
    assert_string_equal (talk->error, "the engine says: Prompt contains invalid tokens");
    fake_llama.refuses = false;

    fake_llama.cuts = true;
    talk = s_finish (&request);
    assert_int_equal (talk->result, CALL_REPLIED);
    assert_int_equal (talk->end.reason, FINISH_REASON_LENGTH);
    assert_int_equal (talk->tokens.count, 9);
    stage_end ();
}

static void
test_a_dead_server_takes_no_work_until_it_is_back (void **state)
{
    s_begin ();
    generate_t request = stage_request ("eight letters and more", 400);
    talk_t *running = stage_generate (&request, 1000, 0);
    talk_t *other = stage_generate (&request, 1000, 0);
    talk_t *waiting = stage_generate (&request, 1000, 0);
    stage_run_ms (300);
    assert_true (running->tokens.count > 10);
    stage_kill_added ();
    stage_run_ms (2000);
    assert_true (running->ended && other->ended && waiting->ended);
    assert_int_equal (running->status, STATUS_UNREACHABLE);
    assert_int_equal (waiting->status, STATUS_UNREACHABLE);
    assert_true (stage_observed ()->draining);
    talk_t *refused = s_finish (&request);
    assert_int_equal (refused->status, STATUS_AGAIN);

    stage_start_added ();
    stage_run_ms (3000);
    assert_false (stage_observed ()->draining);
    assert_int_equal (map_count (stage_observed ()->blocks), 0);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->tokens.count, 400);
    assert_int_equal (talk->end.cached_tokens, 0);
    stage_end ();
}

//  Its health is fine, but nothing moves: nobody waits for it longer than said, and it comes back when it does.
static void
test_a_hung_server_is_suspect (void **state)
{
    s_begin ();
    generate_t request = stage_request ("hang", 400);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_run_ms (300);
    fake_llama.hangs = true;
    stage_run_ms (9500);
    assert_false (talk->ended);
    stage_run_ms (600);
    assert_true (talk->ended);
    assert_int_equal (talk->status, STATUS_UNREACHABLE);
    assert_string_equal (talk->error, "the engine has work but moves no token");
    assert_true (stage_observed ()->draining);
    assert_int_equal (stage_metric ("stator_worker_suspect_total"), 1);
    talk_t *refused = s_finish (&request);
    assert_int_equal (refused->status, STATUS_AGAIN);

    stage_run_ms (100000);
    assert_true (stage_observed ()->draining);
    fake_llama.hangs = false;
    stage_run_ms (100);
    assert_false (stage_observed ()->draining);
    talk = s_finish (&request);
    assert_int_equal (talk->tokens.count, 400);
    stage_end ();
}

//  What is left to compute never becomes less than nothing.
static void
test_a_server_that_overstates_has_done_the_prompt_and_no_more (void **state)
{
    s_begin ();
    fake_llama.overstates = fake_llama.hangs = true;
    generate_t request = stage_request ("sixteen letters!", 4);
    talk_t *talk = stage_generate (&request, 1000, 0);
    stage_run_ms (300);
    talk_t *other = stage_generate (&request, 1000, 0);    //  Lets the load be said again
    stage_run_ms (300);
    assert_int_equal (stage_observed ()->load.running, 2);
    assert_in_range (stage_observed ()->load.prefill_tokens, 0, 16);
    fake_llama.hangs = false;
    stage_finish (other);
    stage_finish (talk);
    assert_int_equal (talk->tokens.count, 4);
    assert_true (talk->end.cached_tokens <= 16);
    stage_end ();
}

static void
test_a_loading_server_is_waited_for (void **state)
{
    fake_llama.loading = true;
    s_begin ();
    assert_int_equal (stage_observed ()->card.slots, 0);
    generate_t request = stage_request ("early", 4);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->status, STATUS_AGAIN);
    assert_string_equal (talk->error, "the engine is not there yet: the engine answered with HTTP status 503");
    fake_llama.loading = false;
    stage_run_ms (2000);
    assert_int_equal (stage_observed ()->card.slots, 2);
    talk = s_finish (&request);
    assert_int_equal (talk->tokens.count, 4);
    stage_end ();
}

static void
test_a_server_of_another_kind_is_named_as_such (void **state)
{
    fake_llama.stranger = true;
    s_begin ();
    generate_t request = stage_request ("anybody?", 4);
    talk_t *talk = s_finish (&request);
    assert_int_equal (talk->status, STATUS_AGAIN);
    assert_string_equal (talk->error, "the engine is not there yet: the engine says: no messages");
    stage_end ();
}

static void
test_a_prompt_begins_as_the_servers_own_chat (void **state)
{
    s_begin ();
    question_t question;
    stage_call (&question, &render_message,
        &(render_t){
            .model = SPAN ("mock"), .request = SPAN ("{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}") });
    assert_int_equal (question.result, CALL_REPLIED);
    assert_string_equal (question.bytes, "<s>Hi");
    stage_call (&question, &tokenize_message, &(tokenize_t){ .model = SPAN ("mock"), .text = SPAN ("Hi") });
    assert_int_equal (question.result, CALL_REPLIED);
    assert_memory_equal (question.bytes, "H\0\0\0i\0\0\0", 8);

    stage_call (&question, &render_message, &(render_t){ .model = SPAN ("mock"), .request = SPAN ("{}") });
    assert_int_equal (question.status, STATUS_INVALID);
    assert_string_equal (question.error, "the engine says: no messages");
    stage_end ();
}

//  What the server answers is read into the worker's memory, and that is bounded.
static void
test_an_answer_beyond_the_memory_that_is_left_is_refused (void **state)
{
    enum { CONTENT = 2000, ROOM_FOR_THE_CALL_ALONE = 4000 };
    s_begin ();
    budget_t *budget = actor_budget (stage_worker ());
    uint64_t limit = budget->limit, used = budget->used;
    buffer_t text = { 0 };
    buffer_print (&text, "{\"messages\":[{\"role\":\"user\",\"content\":\"%0*d\"}]}", CONTENT, 7);
    render_t request = { .model = SPAN ("mock"), .request = buffer_span (&text) };
    question_t question;
    budget->limit = used + ROOM_FOR_THE_CALL_ALONE;
    stage_call (&question, &render_message, &request);
    assert_int_equal (question.result, CALL_FAILED);
    assert_non_null (strstr (question.error, "do not fit"));
    assert_int_equal (budget->used, used);

    budget->limit = limit;
    stage_call (&question, &render_message, &request);
    assert_int_equal (question.result, CALL_REPLIED);
    assert_int_equal (budget->used, used);
    buffer_fini (&text);
    stage_end ();
}

//  ---- Questions that take long --------------------------------------------------------------------------------------

enum { LONG = 200000 };    //  Bytes that are worked on aside

//  Asks to tokenize a long text.
static void
s_ask_long (question_t *question)
{
    buffer_t text = { 0 };
    buffer_print (&text, "%0*d", LONG, 7);
    stage_ask (question, &tokenize_message, &(tokenize_t){ .model = SPAN ("mock"), .text = buffer_span (&text) });
    stage_run_ms (20000);
    assert_false (question->ended);
    buffer_fini (&text);
}

//  Who asks meanwhile has the answer, and the worker is there.
static void
s_assert_awake (void)
{
    question_t question;
    stage_call (&question, &tokenize_message, &(tokenize_t){ .model = SPAN ("mock"), .text = SPAN ("Hi") });
    assert_int_equal (question.result, CALL_REPLIED);
    assert_true (stage_observed ()->alive);
}

//  Once to write the question, once to read the answer: however long either takes, the worker does not wait for it.
static void
test_a_long_question_is_worked_on_aside (void **state)
{
    question_t question;
    s_begin ();
    uint64_t used = actor_budget (stage_worker ())->used;
    held_job_begin (actor_port (stage_worker ()));
    s_ask_long (&question);
    assert_true (actor_budget (stage_worker ())->used > used + 2 * LONG);
    s_assert_awake ();
    held_job_end ();
    stage_run_ms (20000);
    assert_false (question.ended);
    s_assert_awake ();
    held_job_end ();
    stage_run_ms (1000);
    assert_int_equal (question.result, CALL_REPLIED);
    assert_memory_equal (question.bytes,
        "0\0\0\0"
        "0\0\0\0",
        8);
    assert_int_equal (actor_budget (stage_worker ())->used, used);
    stage_end ();
}

//  The answer to a short question may be a long one.
static void
test_a_long_prompt_is_read_aside (void **state)
{
    question_t question;
    buffer_t text = { 0 };
    s_begin ();
    held_job_begin (actor_port (stage_worker ()));
    buffer_print (&text, "{\"messages\":[{\"role\":\"user\",\"content\":\"%0*d\"}]}", LONG, 7);
    stage_ask (&question, &render_message, &(render_t){ .model = SPAN ("mock"), .request = buffer_span (&text) });
    stage_run_ms (20000);
    assert_false (question.ended);
    s_assert_awake ();
    held_job_end ();
    stage_run_ms (1000);
    assert_int_equal (question.result, CALL_REPLIED);
    assert_memory_equal (question.bytes, "<s>000", 6);
    buffer_fini (&text);
    stage_end ();
}

static void
test_a_worker_may_end_while_a_question_is_worked_on (void **state)
{
    for (int jobs = 0; jobs < 2; jobs++) {
        question_t question;
        s_begin ();
        const port_table_t *table = held_job_begin (actor_port (stage_worker ()));
        s_ask_long (&question);
        if (jobs) {
            held_job_end ();
            stage_run_ms (1000);
        }
        table->job_start (held_job.port, held_job.run, held_job.done, held_job.arg, held_job.data);
        stage_end ();
    }
}

static void
test_a_question_beyond_the_memory_that_is_left_is_refused (void **state)
{
    question_t question;
    buffer_t text = { 0 };
    s_begin ();
    budget_t *budget = actor_budget (stage_worker ());
    uint64_t used = budget->used;
    budget->limit = used + 3 * LONG;
    buffer_print (&text, "%0*d", LONG, 7);
    stage_call (&question, &tokenize_message, &(tokenize_t){ .model = SPAN ("mock"), .text = buffer_span (&text) });
    assert_int_equal (question.status, STATUS_LIMIT);
    assert_non_null (strstr (question.error, "do not fit"));
    assert_int_equal (budget->used, used);
    buffer_fini (&text);
    stage_end ();
}

//  ---- What the model brings -----------------------------------------------------------------------------------------

//  The server's file, where the worker sees it; the server is looked at anew.
static void
s_put_model_file (span_t file)
{
    port_t *port = actor_port (stage_worker ());
    assert_int_equal (port->table->file_write (port, "/m/fake.gguf", file, false, NULL), STATUS_OK);
    stage_kill_added ();
    stage_run_ms (5000);
    stage_start_added ();
    stage_run_ms (5000);
}

static span_t
s_real_file (void)
{
    static char bytes [4 << 20];
    FILE *file = fopen ("tests/data/models/stories260K-f32.gguf", "rb");
    assert_non_null (file);
    size_t size = fread (bytes, 1, sizeof bytes, file);
    fclose (file);
    return span_of (bytes, size);
}

static void
s_files_of (const fetching_t *fetching, span_t files [BUNDLE_FILES])
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        files [i] = buffer_span (&fetching->files [i]);
}

//  No more of the file than the vocabulary, the template that the server uses, and what it does beside.
static void
test_the_models_files_are_given_as_the_reader_asks (void **state)
{
    span_t file = s_real_file (), files [BUNDLE_FILES];
    bundle_t *bundle = NULL;
    fetching_t fetching;
    s_begin ();
    assert_false (stage_observed ()->card.has_files);    //  It is not there yet
    s_put_model_file (file);
    const model_card_t *card = &stage_observed ()->card;
    assert_true (card->has_files);
    stage_fetch (&fetching, card->files, 1000);
    stage_fetch_finish (&fetching);
    assert_int_equal (fetching.result, CALL_REPLIED);
    assert_true (fetching.parts > 5);
    s_files_of (&fetching, files);
    assert_int_equal (bundle_fingerprint (files), card->files);
    assert_true (files [BUNDLE_GGUF].size < 100000 && span_starts_with (file, files [BUNDLE_GGUF]));
    assert_true (span_equal_string (files [BUNDLE_TEMPLATE], "x"));
    assert_int_equal (bundle_load (files, &bundle, NULL), STATUS_OK);
    assert_string_equal (buffer_string (&bundle->begin), "<s>");
    bundle_destroy (&bundle);
    stage_fetch_fini (&fetching);
    stage_end ();
}

static void
test_files_that_changed_are_not_given (void **state)
{
    fetching_t fetching;
    s_begin ();
    s_put_model_file (s_real_file ());
    stage_fetch (&fetching, stage_observed ()->card.files + 1, 1000);
    stage_fetch_finish (&fetching);
    assert_int_equal (fetching.status, STATUS_NOT_FOUND);

    stage_fetch (&fetching, stage_observed ()->card.files, 0);
    stage_run_ms (100);
    s_put_model_file (SPAN ("GGUF, but not for long"));
    stage_fetch_finish (&fetching);
    assert_int_equal (fetching.status, STATUS_AGAIN);
    assert_false (stage_observed ()->card.has_files);
    stage_end ();
}

//  The card stands until the next one, and so do its files: a server that is asked anew changes none of them before.
static void
test_files_stay_those_of_the_card_while_the_server_starts_anew (void **state)
{
    span_t files [BUNDLE_FILES];
    fetching_t fetching;
    s_begin ();
    s_put_model_file (s_real_file ());
    uint64_t card = stage_observed ()->card.files;
    stage_kill_added ();
    stage_run_ms (5000);
    fake_llama.template_now = "y";
    fake_llama.nameless = true;
    stage_start_added ();
    stage_run_ms (5000);
    assert_true (stage_observed ()->draining);
    stage_fetch (&fetching, card, 1000);
    stage_fetch_finish (&fetching);
    assert_int_equal (fetching.result, CALL_REPLIED);
    s_files_of (&fetching, files);
    assert_int_equal (bundle_fingerprint (files), card);
    stage_fetch_fini (&fetching);

    fake_llama.nameless = false;
    stage_run_ms (5000);
    assert_int_not_equal (stage_observed ()->card.files, card);
    stage_fetch (&fetching, stage_observed ()->card.files, 1000);
    stage_fetch_finish (&fetching);
    s_files_of (&fetching, files);
    assert_true (span_equal_string (files [BUNDLE_TEMPLATE], "y"));
    stage_fetch_fini (&fetching);
    stage_end ();
}

//  Gives the worker's own table.
static const port_table_t *
s_begin_holding (void)
{
    s_begin ();
    const port_table_t *table = held_job_begin (actor_port (stage_worker ()));
    s_put_model_file (s_real_file ());
    assert_non_null (held_job.run);
    return table;
}

//  However long that takes, the worker answers.
static void
test_a_model_file_is_read_aside (void **state)
{
    question_t question;
    s_begin_holding ();
    assert_true (stage_observed ()->draining);
    stage_run_ms (20000);
    stage_call (&question, &tokenize_message, &(tokenize_t){ .model = SPAN ("mock"), .text = SPAN ("Hi") });
    assert_int_equal (question.result, CALL_REPLIED);
    held_job_end ();
    stage_run_ms (1000);
    assert_false (stage_observed ()->draining);
    assert_true (stage_observed ()->card.has_files);
    stage_end ();
}

static void
test_a_worker_may_end_while_its_model_file_is_read (void **state)
{
    const port_table_t *table = s_begin_holding ();
    table->job_start (held_job.port, held_job.run, held_job.done, held_job.arg, held_job.data);
    stage_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup (test_the_card_says_what_the_server_is, s_set_up),
        cmocka_unit_test_setup (test_tokens_and_text_arrive, s_set_up),
        cmocka_unit_test_setup (test_a_second_turn_goes_to_its_slot, s_set_up),
        cmocka_unit_test_setup (test_a_lost_cache_is_noticed, s_set_up),
        cmocka_unit_test_setup (test_what_finds_no_slot_waits, s_set_up),
        cmocka_unit_test_setup (test_a_cancel_hangs_up, s_set_up),
        cmocka_unit_test_setup (test_an_answer_beyond_the_memory_that_is_left_is_refused, s_set_up),
        cmocka_unit_test_setup (test_stop_tokens_end_the_answer, s_set_up),
        cmocka_unit_test_setup (test_failures_come_with_a_sentence, s_set_up),
        cmocka_unit_test_setup (test_a_dead_server_takes_no_work_until_it_is_back, s_set_up),
        cmocka_unit_test_setup (test_a_hung_server_is_suspect, s_set_up),
        cmocka_unit_test_setup (test_a_server_that_overstates_has_done_the_prompt_and_no_more, s_set_up),
        cmocka_unit_test_setup (test_a_loading_server_is_waited_for, s_set_up),
        cmocka_unit_test_setup (test_a_server_of_another_kind_is_named_as_such, s_set_up),
        cmocka_unit_test_setup (test_a_prompt_begins_as_the_servers_own_chat, s_set_up),
        cmocka_unit_test_setup (test_a_long_question_is_worked_on_aside, s_set_up),
        cmocka_unit_test_setup (test_a_long_prompt_is_read_aside, s_set_up),
        cmocka_unit_test_setup (test_a_worker_may_end_while_a_question_is_worked_on, s_set_up),
        cmocka_unit_test_setup (test_a_question_beyond_the_memory_that_is_left_is_refused, s_set_up),
        cmocka_unit_test_setup (test_the_models_files_are_given_as_the_reader_asks, s_set_up),
        cmocka_unit_test_setup (test_files_that_changed_are_not_given, s_set_up),
        cmocka_unit_test_setup (test_a_model_file_is_read_aside, s_set_up),
        cmocka_unit_test_setup (test_a_worker_may_end_while_its_model_file_is_read, s_set_up),
        cmocka_unit_test_setup (test_files_stay_those_of_the_card_while_the_server_starts_anew, s_set_up),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
