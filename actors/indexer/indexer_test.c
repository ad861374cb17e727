//  What an indexer answers to whoever asks who has a prompt.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "actors/indexer/indexer.h"
#include "runtime/call.h"
#include "schemas/kv.h"
#include "tests/stage_broker.h"

enum { CHAIN = 10, NAMESPACE = 5, ROWS_MAX = 8, NAME_BYTES = 32 };

static uint8_t s_chain [CHAIN * HASH128_SIZE];
static stage_t *s_stage;

//  ---- Who has blocks: leading ones, by tier -------------------------------------------------------------------------

typedef struct {
    size_t leading [TIER_REMOTE + 1];    //  Blocks
} holdings_t;

static status_t
s_holder_init (void *self, actor_t *actor, const void *options, error_t *error)
{
    const holdings_t *holdings = options;
    for (unsigned tier = 0; tier <= TIER_REMOTE; tier++) {
        kv_stored_t event = {
            .namespace_id = NAMESPACE, .tier = (tier_t)tier, .hashes = { s_chain, holdings->leading [tier] }
        };
        if (event.hashes.count)
            actor_publish (actor, &kv_stored_message, &event);
    }
    return STATUS_OK;
}

static const actor_handler_t s_no_handlers [] = { HANDLERS_END };

static const actor_class_t s_holder_class = {
    .name = "worker", .state_size = 1, .init = s_holder_init, .handlers = s_no_handlers
};

//  ---- Who asks ------------------------------------------------------------------------------------------------------

typedef struct {
    char owner [NAME_BYTES];    //  Address
    tier_t tier;                //  Where
    uint32_t blocks;            //  How many
} row_t;

typedef struct {
    call_t call;                      //  To the indexer
    row_t rows [ROWS_MAX];            //  Its answer
    size_t count;                     //  Of them
    call_result_t result;             //  Of the last call
    char best [NAME_BYTES];           //  explain_prefix: who reaches most
    uint32_t best_blocks;             //  So much
    overlap_end_t ends [ROWS_MAX];    //  By row: why there are no more
} asker_t;

static void
s_on_matched (void *self_, void *arg, call_result_t result, const void *reply_)
{
    asker_t *self = self_;
    const match_prefix_reply_t *reply = reply_;
    assert_int_equal (result, CALL_REPLIED);
    assert_true (reply->overlaps_count <= ROWS_MAX);
    for (self->count = 0; self->count < reply->overlaps_count; self->count++) {
        const holder_overlap_t *overlap = &reply->overlaps [self->count];
        row_t *row = &self->rows [self->count];
        span_copy_string (overlap->owner, row->owner, sizeof row->owner);
        row->tier = overlap->tier;
        row->blocks = overlap->blocks;
    }
}

static void
s_on_explained (void *self_, void *arg, call_result_t result, const void *reply_)
{
    asker_t *self = self_;
    const explain_prefix_reply_t *reply = reply_;
    self->result = result;
    if (result != CALL_REPLIED)
        return;
    for (self->count = 0; self->count < reply->tiers_count; self->count++) {
        const tier_explanation_t *tier = &reply->tiers [self->count];
        self->rows [self->count] = (row_t){ .tier = tier->tier, .blocks = tier->blocks };
        self->ends [self->count] = tier->end;
    }
    self->best_blocks = reply->best;
    assert_int_equal (reply->has_best_owner, reply->best > 0);
    span_copy_string (reply->best_owner, self->best, sizeof self->best);
}

static void
s_asker_fini (void *self, actor_t *actor)
{
    call_drop (&((asker_t *)self)->call);
}

static const actor_class_t s_asker_class = {
    .name = "asker", .state_size = sizeof (asker_t), .fini = s_asker_fini, .handlers = s_no_handlers
};

static const asker_t *
s_ask (void)
{
    asker_t *asker = actor_state (stage_find (s_stage, "asker/0"));
    match_prefix_t query = { .namespace_id = NAMESPACE, .hashes = { s_chain, CHAIN } };
    call_start (&asker->call, stage_find (s_stage, "asker/0"),
        &(call_options_t){ .address = SPAN ("indexer/0"),
            .type = &match_prefix_message,
            .request = &query,
            .timeout_ns = REALM_SECOND,
            .done = s_on_matched });
    stage_run (s_stage, REALM_SECOND);
    return asker;
}

static const asker_t *
s_ask_why (const char *owner, uint64_t namespace_id)
{
    asker_t *asker = actor_state (stage_find (s_stage, "asker/0"));
    explain_prefix_t query = {
        .namespace_id = namespace_id, .owner = span_from_string (owner), .hashes = { s_chain, CHAIN }
    };
    call_start (&asker->call, stage_find (s_stage, "asker/0"),
        &(call_options_t){ .address = SPAN ("indexer/0"),
            .type = &explain_prefix_message,
            .request = &query,
            .timeout_ns = REALM_SECOND,
            .done = s_on_explained });
    stage_run (s_stage, REALM_SECOND);
    return asker;
}

static void
s_add_holder (const char *instance, const holdings_t *holdings)
{
    stage_add (s_stage,
        &(stage_actor_t){ .class = &s_holder_class, .instance = instance, .machine = instance, .options = holdings });
}

static int
s_set_up (void **state)
{
    static const indexer_options_t options = { .blocks_max = 100000 };
    for (uint64_t i = 0; i < CHAIN; i++)
        hash128_to_bytes ((hash128_t){ 1000 + i, i }, s_chain + i * HASH128_SIZE);
    s_stage = stage_new (11);
    stage_add (s_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &stage_broker_options });
    stage_add (s_stage, &(stage_actor_t){ .class = &indexer_class, .instance = "0", .options = &options });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_asker_class, .instance = "0" });
    return 0;
}

static int
s_tear_down (void **state)
{
    stage_destroy (&s_stage);
    return 0;
}

static void
s_assert_rows (const asker_t *asker, const row_t *rows, size_t count)
{
    assert_int_equal (asker->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal (asker->rows [i].owner, rows [i].owner);
        assert_int_equal (asker->rows [i].tier, rows [i].tier);
        assert_int_equal (asker->rows [i].blocks, rows [i].blocks);
    }
}

//  A worker that has a block in two tiers has it once, in the faster; the most comes first.
static void
test_an_answer_says_what_each_worker_reaches_by_tier (void **state)
{
    static const holdings_t some = { { [TIER_DEVICE] = 3, [TIER_HOST] = 8 } }, more = { { [TIER_DEVICE] = 6 } };
    static const row_t rows [] = { { "worker/b", TIER_DEVICE, 6 }, { "worker/a", TIER_HOST, 5 },
        { "worker/a", TIER_DEVICE, 3 } };
    s_add_holder ("a", &some);
    s_add_holder ("b", &more);
    stage_run (s_stage, 3 * REALM_SECOND);
    s_assert_rows (s_ask (), rows, 3);
}

//  What it says is that of those who are there to serve it.
static void
test_an_answer_names_nobody_who_is_away (void **state)
{
    static const holdings_t some = { { [TIER_DEVICE] = 3 } }, more = { { [TIER_DEVICE] = 6 } };
    static const row_t rows [] = { { "worker/a", TIER_DEVICE, 3 } };
    s_add_holder ("a", &some);
    s_add_holder ("b", &more);
    stage_run (s_stage, 3 * REALM_SECOND);
    assert_int_equal (s_ask ()->count, 2);
    stage_crash (s_stage, "worker/b");
    stage_run (s_stage, 7 * REALM_SECOND);
    s_assert_rows (s_ask (), rows, 1);
}

//  Of whoever is there, tier by tier; what others reach stands beside it, of those who are there.
static void
test_somebody_who_wonders_is_told_why (void **state)
{
    static const holdings_t some = { { [TIER_DEVICE] = 3, [TIER_HOST] = 8 } }, whole = { { [TIER_DEVICE] = CHAIN } };
    s_add_holder ("a", &some);
    s_add_holder ("b", &whole);
    stage_run (s_stage, 3 * REALM_SECOND);
    const asker_t *asker = s_ask_why ("worker/a", NAMESPACE);
    assert_int_equal (asker->count, 2);
    assert_int_equal (asker->rows [0].tier, TIER_DEVICE);
    assert_int_equal (asker->rows [0].blocks, 3);
    assert_int_equal (asker->ends [0], OVERLAP_END_ELSEWHERE);
    assert_int_equal (asker->rows [1].tier, TIER_HOST);
    assert_int_equal (asker->rows [1].blocks, 8);
    assert_string_equal (asker->best, "worker/b");
    assert_int_equal (asker->best_blocks, CHAIN);
    assert_int_equal (s_ask_why ("worker/b", NAMESPACE)->ends [0], OVERLAP_END_WHOLE);
    assert_int_equal (s_ask_why ("worker/b", NAMESPACE + 1)->ends [0], OVERLAP_END_STRANGER);
    assert_int_equal (asker->best_blocks, 0);
    assert_int_equal (s_ask_why ("worker/nobody", NAMESPACE)->result, CALL_FAILED);
    assert_int_equal (s_ask_why ("asker/0", NAMESPACE)->count, 0);
    stage_crash (s_stage, "worker/b");
    stage_run (s_stage, 7 * REALM_SECOND);
    assert_string_equal (s_ask_why ("worker/a", NAMESPACE)->best, "worker/a");
    assert_int_equal (asker->best_blocks, 8);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test_setup_teardown (test_an_answer_says_what_each_worker_reaches_by_tier, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_an_answer_names_nobody_who_is_away, s_set_up, s_tear_down),
        cmocka_unit_test_setup_teardown (test_somebody_who_wonders_is_told_why, s_set_up, s_tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
