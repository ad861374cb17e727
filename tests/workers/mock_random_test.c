//  A worker under random clients: whatever they do, every answer is the known one, and nothing is left behind.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "tests/workers/stage.h"
#include "workers/mock/mock.h"

enum { TALKS = 30, PROMPT_MAX = 1200, LENGTH_MAX = 150 };

//  A talk and what is to be checked of it.
typedef struct {
    talk_t *talk;                  //  On the stage
    char text [PROMPT_MAX + 1];    //  The prompt, without output
    size_t delivered;              //  Earlier output behind it
    uint32_t length;               //  Tokens asked for
    bool cancelled;                //  The client lost interest
} story_t;

static mock_options_t s_options;
static random_t s_random;
static story_t s_stories [TALKS];
static size_t s_count;

//  Prompts begin in one of few ways and differ at the end.
static void
s_write_prompt (char *text)
{
    size_t shared = random_below (&s_random, PROMPT_MAX - 100), own = 1 + random_below (&s_random, 90);
    uint64_t kind = random_below (&s_random, 3);
    for (size_t i = 0; i < shared; i++)
        text [i] = (char)('a' + (i * (kind + 1) / 3 + i) % 26);
    for (size_t i = shared; i < shared + own; i++)
        text [i] = (char)('A' + random_below (&s_random, 26));
    text [shared + own] = 0;
}

static uint32_t
s_expected (const story_t *story, size_t position)
{
    generate_t plain = stage_request (story->text, 1);
    return mock_token (&s_options, SPAN ("mock"), plain.tokens, &plain.sampling, position);
}

static void
s_open (void)
{
    story_t *story = &s_stories [s_count++];
    memset (story, 0, sizeof *story);
    s_write_prompt (story->text);
    story->length = 1 + (uint32_t)random_below (&s_random, LENGTH_MAX);
    story->delivered = random_below (&s_random, 3) ? 0 : random_below (&s_random, 100);
    char whole [PROMPT_MAX + 200];
    size_t size = strlen (story->text);
    memcpy (whole, story->text, size);
    for (size_t i = 0; i < story->delivered; i++)
        whole [size + i] = (char)s_expected (story, i);
    whole [size + story->delivered] = 0;
    generate_t request = stage_request (whole, story->length);
    request.delivered = (uint32_t)story->delivered;
    story->talk = stage_generate (&request, random_below (&s_random, 40), random_below (&s_random, 2) * 20);
}

static void
s_act (void)
{
    story_t *story = s_count ? &s_stories [random_below (&s_random, s_count)] : NULL;
    switch (random_below (&s_random, 6)) {
    case 0:
    case 1:
        if (s_count < TALKS)
            s_open ();
        break;
    case 2:
        if (story && !story->talk->ended)
            stream_credit (&story->talk->stream, story->talk->tokens.count + random_below (&s_random, 50));
        break;
    case 3:
        if (story && !story->talk->ended && !random_below (&s_random, 3)) {
            story->cancelled = true;
            stream_cancel (&story->talk->stream);
        }
        break;
    default:
        stage_run_ms (random_below (&s_random, 400));
    }
}

static void
s_check (const story_t *story)
{
    const talk_t *talk = story->talk;
    assert_true (talk->ended);
    for (size_t i = 0; i < talk->tokens.count; i++)
        assert_int_equal (*(uint32_t *)array_at (&talk->tokens, i), s_expected (story, story->delivered + i));
    assert_int_equal (talk->text.size, talk->tokens.count);
    if (story->cancelled)
        return;
    assert_int_equal (talk->result, CALL_REPLIED);
    assert_int_equal (talk->tokens.count, story->length);
    assert_int_equal (talk->end.completion_tokens, story->length);
    assert_int_equal (talk->end.prompt_tokens, strlen (story->text) + story->delivered);
}

static void
s_run (uint64_t seed)
{
    random_init (&s_random, seed);
    s_count = 0;
    s_options = (mock_options_t){ .capacity = 30 + (int64_t)random_below (&s_random, 60),
        .slots = 1 + (int64_t)random_below (&s_random, 6),
        .context = 10000,
        .seed = 1,
        .speed = random_below (&s_random, 5) ? 10000000 : 0,
        .answer_tokens = 100,
        .burst = 1 + (int64_t)random_below (&s_random, 5) };
    stage_begin (seed, &(worker_setup_t){ .engine = &mock_engine, .engine_options = &s_options });
    for (int step = 0; step < 150; step++)
        s_act ();
    for (size_t i = 0; i < s_count; i++)
        if (!s_stories [i].talk->ended)
            stream_credit (&s_stories [i].talk->stream, 1000);
    stage_run_ms (60000);
    for (size_t i = 0; i < s_count; i++)
        s_check (&s_stories [i]);

    const observed_t *seen = stage_observed ();
    assert_int_equal (seen->orphans, 0);
    assert_int_equal (seen->strays, 0);
    assert_true (map_count (seen->blocks) <= (size_t)s_options.capacity);
    assert_int_equal (map_count (seen->blocks), stage_metric ("stator_kv_blocks_held"));
    assert_int_equal (seen->load.running, 0);
    assert_int_equal (seen->load.waiting, 0);
    assert_int_equal (seen->load.prefill_tokens, 0);
    assert_int_equal (seen->load.kv_used, 0);
    assert_int_equal (stage_metric ("stator_worker_parked_tokens"), 0);
    stage_end ();
}

static void
test_every_answer_is_the_known_one (void **state)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        print_message ("seed %llu\n", (unsigned long long)seed);
        s_run (seed);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = { cmocka_unit_test (test_every_answer_is_the_known_one) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
