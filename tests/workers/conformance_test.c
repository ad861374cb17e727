//  The conformance checks: ours pass, and each kind of cheating is found.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/workers/fake_llama.h"
#include "tests/workers/stage.h"
#include "workers/conformance.h"
#include "workers/llamacpp/llamacpp.h"
#include "workers/mock/mock.h"

static char s_failed [1024];
static size_t s_passed;
static bool s_done;

static void
s_on_verdict (void *arg, const char *name, verdict_t verdict, const char *sentence)
{
    s_passed += verdict == VERDICT_PASSED;
    if (verdict != VERDICT_FAILED)
        return;
    size_t used = strlen (s_failed);
    snprintf (s_failed + used, sizeof s_failed - used, "%s: %s\n", name, sentence);
}

static void
s_on_done (void *arg, uint32_t failed)
{
    s_done = true;
    assert_int_equal (failed > 0, *s_failed != 0);
}

static void
s_check (span_t worker, bool drains)
{
    *s_failed = 0;
    s_passed = 0;
    s_done = false;
    conformance_options_t options = {
        .worker = worker, .drains = drains, .on_verdict = s_on_verdict, .on_done = s_on_done
    };
    stage_join (&conformance_class, &options);
    for (int i = 0; !s_done && i < 3000; i++)
        stage_run_ms (100);
    assert_true (s_done);
}

static mock_options_t
s_mock (void)
{
    return (mock_options_t){
        .capacity = 1000, .slots = 8, .context = 2000, .seed = 1, .speed = 1000000, .answer_tokens = 100, .burst = 1
    };
}

static void
test_the_mock_keeps_the_protocol (void **state)
{
    mock_options_t options = s_mock ();
    stage_begin (1, &(worker_setup_t){ .engine = &mock_engine, .engine_options = &options });
    s_check (SPAN ("worker/0"), true);
    assert_string_equal (s_failed, "");
    assert_int_equal (s_passed, 13);
    stage_end ();
}

static void
test_an_endpoint_is_an_address_too (void **state)
{
    mock_options_t options = s_mock ();
    stage_begin (1, &(worker_setup_t){ .engine = &mock_engine, .engine_options = &options });
    s_check (SPAN ("tcp://a:7500"), false);
    assert_string_equal (s_failed, "");
    assert_int_equal (s_passed, 12);
    stage_end ();
}

static void
test_nobody_there (void **state)
{
    mock_options_t options = s_mock ();
    stage_begin (1, &(worker_setup_t){ .engine = &mock_engine, .engine_options = &options });
    s_check (SPAN ("worker/9"), false);
    assert_true (strncmp (s_failed, "ping: worker/9 is not known in the directory\n", 45) == 0);
    stage_end ();
}

static const llamacpp_options_t s_llamacpp = {
    .api_key = "", .connect_timeout_ns = 1000000000, .probe_interval_ns = 1000000000, .stall_timeout_ns = 600000000000
};
static const worker_options_t s_common = { .block_size = 16,
    .load_interval_ns = 100000000,
    .requests_max = 100,
    .parked_max = 100000,
    .suspect_after_ns = 30000000000 };

static void
s_begin_llamacpp (void)
{
    fake_llama = (fake_llama_t){ 0 };
    stage_add (&fake_llama_program);
    stage_begin (1,
        &(worker_setup_t){
            .engine = &llamacpp_engine, .engine_options = &s_llamacpp, .url = "http://a:8080", .common = &s_common });
}

static void
test_llamacpp_keeps_the_protocol (void **state)
{
    s_begin_llamacpp ();
    s_check (SPAN ("worker/0"), true);
    assert_string_equal (s_failed, "");
    assert_int_equal (s_passed, 13);
    stage_end ();
}

static void
test_an_engine_that_fails_is_found_out (void **state)
{
    s_begin_llamacpp ();
    fake_llama.fails_at = 6;
    s_check (SPAN ("worker/0"), false);
    assert_non_null (strstr (s_failed, "generate: the generation failed: the engine says: Compute error\n"));
    assert_non_null (strstr (s_failed, "credit: "));
    stage_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_mock_keeps_the_protocol),
        cmocka_unit_test (test_an_endpoint_is_an_address_too),
        cmocka_unit_test (test_nobody_there),
        cmocka_unit_test (test_llamacpp_keeps_the_protocol),
        cmocka_unit_test (test_an_engine_that_fails_is_found_out),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
