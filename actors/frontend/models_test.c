//  What workers register, seen as models.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/frontend/models.h"

static models_t *s_models;
static error_t s_sentence;

//  A worker of this address is seen with a card, in a state.
static models_news_t
s_see_as (const char *address, const model_card_t *card, actor_state_t state, bool draining)
{
    buffer_t bytes = { 0 };
    model_card_encode (card, &bytes);
    actor_entry_t entry = { .address = span_from_string (address),
        .state = state,
        .draining = draining,
        .has_card = true,
        .card = buffer_span (&bytes) };
    s_sentence = (error_t){ 0 };
    models_news_t news = models_see (s_models, &entry, 1000, &s_sentence);
    buffer_fini (&bytes);
    return news;
}

static span_t s_alias = { (const uint8_t *)"nick", 4 };

static model_card_t
s_card (const char *model, uint64_t fingerprint)
{
    return (model_card_t){ .model = span_from_string (model),
        .aliases = &s_alias,
        .aliases_count = 1,
        .fingerprint = fingerprint,
        .block_size = 64,
        .context = 100,
        .ranks = 1,
        .tokenizing = SPAN ("bytes") };
}

static models_news_t
s_see (const char *address, const char *model, uint64_t fingerprint)
{
    model_card_t card = s_card (model, fingerprint);
    return s_see_as (address, &card, ACTOR_STATE_ALIVE, false);
}

static models_news_t
s_see_gone (const char *address)
{
    model_card_t card = s_card ("any", 1);
    return s_see_as (address, &card, ACTOR_STATE_GONE, false);
}

static uint64_t
s_find (const char *name)
{
    const model_t *model = models_find (s_models, span_from_string (name));
    return model ? model->fingerprint : 0;
}

static int
s_begin (void **state)
{
    s_models = models_new (SPAN ("secret"));
    return 0;
}

static int
s_end (void **state)
{
    models_destroy (&s_models);
    return 0;
}

static void
test_a_model_is_found_under_all_its_names (void **state)
{
    assert_int_equal (s_see ("worker/a", "big", 7), MODELS_APPEARED);
    assert_int_equal (s_see ("worker/b", "big", 7), MODELS_SAME);
    assert_int_equal (s_find ("big"), 7);
    assert_int_equal (s_find ("nick"), 7);
    assert_int_equal (s_find ("big@0000000000000007"), 7);
    assert_int_equal (s_find ("other"), 0);
    assert_int_equal (models_count (s_models), 1);
    assert_int_equal (models_accepting (s_models), 2);
}

//  Whoever sees the same cards resolves the name in the same way, whatever the order they came in.
static void
test_a_name_means_the_model_that_more_workers_serve (void **state)
{
    s_see ("worker/c", "big", 9);
    assert_int_equal (s_see ("worker/a", "big", 7), MODELS_CONFLICT);
    assert_non_null (strstr (s_sentence.text, "worker/a serves another model under the name big"));
    assert_int_equal (s_find ("big"), 7);
    s_see ("worker/d", "big", 9);
    assert_int_equal (s_find ("big"), 9);
    assert_int_equal (s_find ("big@0000000000000007"), 7);

    size_t cursor = 0, listed = 0;
    span_t name;
    const model_t *model;
    char names [128] = "";
    while (models_next_name (s_models, &cursor, &name, &model)) {
        snprintf (names + strlen (names), sizeof names - strlen (names), "%.*s ", SPAN_ARG (name));
        listed++;
    }
    assert_int_equal (listed, 3);
    assert_string_equal (names, "big nick big@0000000000000007 ");
}

//  Also where its model stays, or the same worker says another one now.
static void
test_an_alias_goes_with_the_last_card_that_says_it (void **state)
{
    model_card_t plain = s_card ("m", 1);
    plain.aliases_count = 0;
    s_see ("worker/a", "m", 1);
    s_see ("worker/b", "m", 1);
    assert_int_equal (s_see_as ("worker/a", &plain, ACTOR_STATE_ALIVE, false), MODELS_SAME);
    assert_int_equal (s_find ("nick"), 1);
    s_see_gone ("worker/b");
    assert_int_equal (s_find ("nick"), 0);
    assert_int_equal (s_find ("m"), 1);
}

//  An alias never takes the name of a model away.
static void
test_a_models_own_name_comes_before_an_alias (void **state)
{
    s_see ("worker/a", "big", 1);
    s_see ("worker/b", "big", 1);
    assert_int_equal (s_find ("nick"), 1);
    s_see ("worker/c", "nick", 5);
    assert_int_equal (s_find ("nick"), 5);
}

static void
test_a_model_goes_with_its_last_worker (void **state)
{
    s_see ("worker/a", "big", 7);
    s_see ("worker/b", "big", 7);
    assert_int_equal (s_see_gone ("worker/a"), MODELS_SAME);
    assert_int_equal (s_find ("nick"), 7);
    assert_int_equal (s_see_gone ("worker/b"), MODELS_VANISHED);
    assert_int_equal (s_find ("big"), 0);
    assert_int_equal (s_find ("nick"), 0);
    assert_int_equal (s_see_gone ("worker/b"), MODELS_SAME);
}

//  Unreachable or draining, it is known, but nothing is sent to it.
static void
test_only_workers_that_take_work_are_chosen (void **state)
{
    model_card_t card = s_card ("big", 7);
    s_see ("worker/a", "big", 7);
    s_see ("worker/b", "big", 7);
    const model_t *model = models_find (s_models, SPAN ("big"));
    assert_true (span_equal (models_worker (s_models, model, 0), SPAN ("worker/a")));
    assert_true (span_equal (models_worker (s_models, model, 1), SPAN ("worker/b")));
    assert_true (span_equal (models_worker (s_models, model, 2), SPAN ("worker/a")));
    s_see_as ("worker/a", &card, ACTOR_STATE_ALIVE, true);
    assert_true (span_equal (models_worker (s_models, model, 0), SPAN ("worker/b")));
    s_see_as ("worker/b", &card, ACTOR_STATE_UNREACHABLE, false);
    assert_int_equal (models_worker (s_models, model, 0).size, 0);
    assert_int_equal (s_find ("big"), 7);
}

static void
test_a_worker_may_come_back_with_another_model (void **state)
{
    s_see ("worker/a", "big", 7);
    assert_int_equal (s_see ("worker/a", "small", 8), MODELS_APPEARED);
    assert_int_equal (s_find ("big"), 0);
    assert_int_equal (s_find ("small"), 8);
    assert_int_equal (s_find ("nick"), 8);
}

static void
test_cards_that_cannot_be_served_are_refused (void **state)
{
    model_card_t nameless = s_card ("", 1);
    model_card_t foreign = s_card ("big", 1);
    model_card_t mute = s_card ("big", 1);
    model_card_t blockless = s_card ("big", 1);
    foreign.tokenizing = SPAN ("runes");
    mute.tokenizing = SPAN ("engine");
    blockless.block_size = 0;
    const model_card_t *const cards [] = { &nameless, &foreign, &mute, &blockless };
    for (size_t i = 0; i < sizeof cards / sizeof cards [0]; i++) {
        assert_int_equal (s_see_as ("worker/a", cards [i], ACTOR_STATE_ALIVE, false), MODELS_UNUSABLE);
        assert_non_null (strstr (s_sentence.text, "worker/a"));
    }
    actor_entry_t garbage = {
        .address = SPAN ("worker/b"), .state = ACTOR_STATE_ALIVE, .has_card = true, .card = SPAN ("\xc1")
    };
    assert_int_equal (models_see (s_models, &garbage, 0, &s_sentence), MODELS_UNUSABLE);
    assert_int_equal (models_count (s_models), 0);
}

static void
s_see_files (const char *address, uint64_t files)
{
    model_card_t card = s_card ("m", 1);
    card.has_files = files != 0;
    card.files = files;
    s_see_as (address, &card, ACTOR_STATE_ALIVE, false);
}

//  Not those of the card that was seen last: a fleet that changes its engines one by one changes the files once.
static void
test_a_models_files_are_those_of_most_cards (void **state)
{
    static const struct {
        const char *worker;    //  Whose card is seen
        uint64_t files;        //  What it brings
        uint64_t expected;     //  What the model brings then
    } steps [] = { { "worker/a", 0, 0 }, { "worker/b", 5, 5 }, { "worker/a", 0, 5 }, { "worker/c", 5, 5 },
        { "worker/d", 4, 5 }, { "worker/c", 4, 4 }, { "worker/b", 5, 4 }, { "worker/c", 6, 4 }, { "worker/d", 6, 6 },
        { "worker/b", 6, 6 }, { "worker/a", 0, 6 } };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        s_see_files (steps [i].worker, steps [i].files);
        assert_int_equal (models_find (s_models, SPAN ("m"))->files, steps [i].expected);
    }
    s_see_gone ("worker/b");
    s_see_gone ("worker/c");
    assert_int_equal (models_find (s_models, SPAN ("m"))->files, 6);
    s_see_files ("worker/d", 0);
    assert_int_equal (models_find (s_models, SPAN ("m"))->files, 0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_a_model_is_found_under_all_its_names, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_a_name_means_the_model_that_more_workers_serve, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_an_alias_goes_with_the_last_card_that_says_it, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_a_models_own_name_comes_before_an_alias, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_a_model_goes_with_its_last_worker, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_only_workers_that_take_work_are_chosen, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_a_worker_may_come_back_with_another_model, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_a_models_files_are_those_of_most_cards, s_begin, s_end),
        cmocka_unit_test_setup_teardown (test_cards_that_cannot_be_served_are_refused, s_begin, s_end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
