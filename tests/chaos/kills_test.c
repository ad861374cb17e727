//  Whatever is killed, frozen or stuck while many answers stream: every token of every answer comes, once, and nobody is
//  refused.  The harness excuses nothing: it knows each byte that must come.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/frontend.h"
#include "actors/indexer/indexer.h"
#include "actors/router/router.h"
#include "base/arena.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "runtime/directory.h"
#include "simulator/harness.h"
#include "simulator/port/sim_port.h"
#include "simulator/stage.h"
#include "workers/mock/mock.h"
#include "workers/worker.h"

enum { WORKERS = 3, SEEDS = 6, STREAMING = 4, MAX_TOKENS = 64 };

#define MODEL "mock"

//  ---- An engine that can get stuck ----------------------------------------------------------------------------------

//  A mock whose reports nobody hears once it is stuck: its health is fine, but no token moves.  What it was asked for then
//  stays unheard when it goes on.

static bool s_stuck [WORKERS];    //  By the port in the engine's address

struct engine_run {
    engine_t *engine;    //  Whose
    void *inner;         //  The mock's; NULL once that has ended
    void *arg;           //  The worker's
    bool unheard;        //  Some of it was not told
};

struct engine {
    void *inner;             //  The mock
    engine_watch_t watch;    //  The worker's
    const bool *stuck;       //  It is
};

static bool
s_is_unheard (engine_run_t *run)
{
    run->unheard = run->unheard || *run->engine->stuck;
    return run->unheard;
}

static const namespace_t *
s_on_ready (void *arg, const model_card_t *card)
{
    engine_t *self = arg;
    return self->watch.on_ready (self->watch.arg, card);
}

static void
s_on_progress (void *arg, void *request, uint32_t tokens, uint64_t took_ns)
{
    engine_t *self = arg;
    engine_run_t *run = request;
    if (!s_is_unheard (run))
        self->watch.on_progress (self->watch.arg, run->arg, tokens, took_ns);
}

static void
s_on_tokens (void *arg, void *request, const engine_tokens_t *tokens)
{
    engine_t *self = arg;
    engine_run_t *run = request;
    if (!s_is_unheard (run))
        self->watch.on_tokens (self->watch.arg, run->arg, tokens);
}

static void
s_on_end (void *arg, void *request, const engine_end_t *end)
{
    engine_t *self = arg;
    engine_run_t *run = request;
    run->inner = NULL;
    if (s_is_unheard (run))
        return;
    self->watch.on_end (self->watch.arg, run->arg, end);
    memory_free (run);
}

static void
s_on_stored (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
    engine_t *self = arg;
    self->watch.on_stored (self->watch.arg, parent, hashes, count);
}

static void
s_on_removed (void *arg, const uint64_t *hashes, size_t count)
{
    engine_t *self = arg;
    self->watch.on_removed (self->watch.arg, hashes, count);
}

static void
s_on_load (void *arg)
{
    engine_t *self = arg;
    self->watch.on_load (self->watch.arg);
}

static engine_t *
s_open (actor_t *actor, const engine_watch_t *watch, const engine_setup_t *setup, error_t *error)
{
    engine_t *self = memory_new (sizeof *self);
    engine_watch_t inner = { .on_ready = s_on_ready,
        .on_progress = s_on_progress,
        .on_tokens = s_on_tokens,
        .on_end = s_on_end,
        .on_stored = s_on_stored,
        .on_removed = s_on_removed,
        .on_load = s_on_load,
        .arg = self };
    self->watch = *watch;
    self->stuck = &s_stuck [setup->url [0] - 'a'];
    self->inner = mock_engine.open (actor, &inner, setup, error);
    return self;
}

static void
s_close (engine_t *self)
{
    mock_engine.close (self->inner);
    memory_free (self);
}

static engine_run_t *
s_start (engine_t *self, const engine_request_t *request, void *arg, error_t *error)
{
    engine_run_t *run = memory_new (sizeof *run);
    *run = (engine_run_t){ .engine = self, .arg = arg, .unheard = *self->stuck };
    run->inner = mock_engine.start (self->inner, request, run, error);
    if (run->inner)
        return run;
    memory_free (run);
    return NULL;
}

static void
s_cancel (engine_t *self, engine_run_t *run)
{
    if (run->inner)
        mock_engine.cancel (self->inner, run->inner);
    memory_free (run);
}

static void
s_load (const engine_t *self, worker_load_t *load)
{
    mock_engine.load (self->inner, load);
}

static const engine_class_t s_engine = {
    .name = "mock", .open = s_open, .close = s_close, .start = s_start, .cancel = s_cancel, .load = s_load
};

//  ---- The fleet -----------------------------------------------------------------------------------------------------

static arena_t s_memory;
static broker_options_t s_broker;
static router_options_t s_router;
static indexer_options_t s_indexer;
static frontend_options_t s_frontend;
static worker_options_t s_common;
static mock_options_t s_mock;
static worker_setup_t s_workers [WORKERS];

static stage_t *s_stage;
static harness_t *s_harness;
static realm_program_t s_program;
static uint64_t s_seed;
static char s_scene [64];    //  For messages

static void
s_set_options (void)
{
    const option_target_t targets [] = { { broker_options_table, &s_broker }, { router_options_table, &s_router },
        { indexer_options_table, &s_indexer }, { frontend_options_table, &s_frontend },
        { worker_options_table, &s_common }, { mock_options_table, &s_mock } };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        option_set_defaults (targets [i], &(option_context_t){ .memory = &s_memory });
    s_broker.events = STAGE_EVENTS;
    s_router.blocks_max = s_indexer.blocks_max = 100000;
    s_frontend.host = "f0";
    s_frontend.allow_public = true;
    s_frontend.secret = SPAN ("secret");
}

static void
s_add (const actor_class_t *class, const char *instance, const char *machine, const void *options)
{
    stage_add (
        s_stage, &(stage_actor_t){ .class = class, .instance = instance, .machine = machine, .options = options });
}

static uint8_t
s_token (void *arg, int64_t seed, uint64_t position)
{
    sampling_t sampling = { .has_seed = true, .seed = seed };
    return (uint8_t)mock_token (&s_mock, SPAN (MODEL), (column_t){ 0 }, &sampling, position);
}

static bool
s_excuse_nothing (void *arg, uint64_t since_ns)
{
    return false;
}

static void
s_on_violation (void *arg, const char *sentence)
{
    fail_msg ("%s, seed %d: %s\n%s", s_scene, (int)s_seed, sentence, stage_log (s_stage));
}

static status_t
s_harness_start (realm_process_t *process, void **state, error_t *error)
{
    static const char *const urls [] = { "http://f0:8000", NULL };
    harness_options_t options = { .urls = urls,
        .model = MODEL,
        .interval_ns = 250 * REALM_MS,
        .prompt_bytes = 2000,
        .turns = 4,
        .max_tokens = MAX_TOKENS,
        .plain_ppm = 100000,
        .leave_ppm = 30000,
        .slow_ppm = 30000,
        .token = s_token,
        .excused = s_excuse_nothing,
        .on_violation = s_on_violation };
    s_harness = harness_new (sim_port_new (process), &options, s_seed);
    return STATUS_OK;
}

static void
s_harness_stop (realm_process_t *process, void *state)
{
    harness_destroy (&s_harness);
}

static void
s_begin (const char *scene, uint64_t seed)
{
    static const char *const names [WORKERS] = { "a", "b", "c" };
    static const char *const argv [] = { "harness", NULL };
    s_seed = seed;
    snprintf (s_scene, sizeof s_scene, "%s", scene);
    memset (s_stuck, 0, sizeof s_stuck);
    s_stage = stage_new (seed);
    s_add (&broker_class, "0", "m0", &s_broker);
    s_add (&router_class, "0", "m1", &s_router);
    s_add (&indexer_class, "0", "m2", &s_indexer);
    s_add (&frontend_class, "0", "f0", &s_frontend);
    for (size_t i = 0; i < WORKERS; i++) {
        s_workers [i] = (worker_setup_t){ .engine = &s_engine,
            .engine_options = &s_mock,
            .url = names [i],
            .secret = SPAN ("secret"),
            .model = SPAN (MODEL),
            .common = &s_common };
        s_add (&worker_class, names [i], names [i], &s_workers [i]);
    }
    stage_run (s_stage, 3 * REALM_SECOND);
    realm_t *realm = stage_realm (s_stage);
    s_program = (realm_program_t){ .name = "harness", .start = s_harness_start, .stop = s_harness_stop };
    realm_register_program (realm, &s_program);
    realm_process_start (realm_machine_new (realm, "h"), &(realm_start_t){ .argv = argv }, NULL);
}

static harness_figures_t
s_figures (void)
{
    harness_figures_t figures = { 0 };
    if (s_harness)
        harness_figures (s_harness, &figures);
    return figures;
}

//  Runs until so many answers stream.
static void
s_await_streams (void)
{
    for (int i = 0; s_figures ().streaming < STREAMING; i++) {
        stage_run (s_stage, 20 * REALM_MS);
        assert_true (i < 5000);
    }
}

static int64_t
s_sum (const char *address, const char *metric)
{
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value, sum = 0;
    while (metrics_next (actor_metrics (stage_find (s_stage, address)), &cursor, &name, &labels, &value))
        sum += strcmp (name, metric) == 0 ? value : 0;
    return sum;
}

//  Everybody takes work, and nothing of what was asked is left.  Returns how many answers moved.
static int64_t
s_end (void)
{
    harness_stop (s_harness);
    for (int i = 0; s_figures ().open && i < 300; i++)
        stage_run (s_stage, REALM_SECOND);
    harness_figures_t figures = s_figures ();
    assert_int_equal (figures.open, 0);
    assert_int_equal (figures.started, figures.whole + figures.left);
    stage_run (s_stage, 10 * REALM_SECOND);
    const actor_t *router = stage_find (s_stage, "router/0");
    static const char *const addresses [] = { "router/0", "indexer/0", "frontend/0", "worker/a", "worker/b",
        "worker/c" };
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const actor_entry_t *entry = directory_find (router, span_from_string (addresses [i]));
        assert_true (entry && entry->state == ACTOR_STATE_ALIVE && !entry->draining);
    }
    int64_t moved = s_sum ("frontend/0", "stator_migrations_total");
    stage_destroy (&s_stage);
    return moved;
}

//  ---- Strikes -------------------------------------------------------------------------------------------------------

//  Kills some at once, and starts them again after a while that depends on the seed.
static void
s_kill (const char *const addresses [2])
{
    for (size_t i = 0; i < 2 && addresses [i]; i++)
        realm_process_signal (stage_process (s_stage, addresses [i]), PROCESS_SIGNAL_KILL);
    stage_run (s_stage, (100 + s_seed * 137 % 1000) * REALM_MS);
    for (size_t i = 0; i < 2 && addresses [i]; i++)
        stage_start (s_stage, addresses [i]);
}

static void
test_what_is_killed_loses_no_token (void **state)
{
    static const struct {
        const char *scene;            //  For messages
        const char *addresses [2];    //  Who is killed
        bool moves;                   //  Answers go on elsewhere
    } rows [] = {
        { "worker and engine", { "worker/a" }, true },
        { "two workers", { "worker/a", "worker/b" }, true },
        { "router", { "router/0" }, false },
        { "broker", { "broker/0" }, false },
        { "indexer", { "indexer/0" }, false },
        { "core", { "router/0", "indexer/0" }, false },
        { "broker and worker", { "broker/0", "worker/c" }, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t moved = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            s_begin (rows [i].scene, seed);
            s_await_streams ();
            s_kill (rows [i].addresses);
            stage_run (s_stage, 10 * REALM_SECOND);
            moved += s_end ();
        }
        assert_int_equal (moved > 0, rows [i].moves);
    }
}

//  A process that stands still says nothing, not even that it is gone.
static void
test_a_frozen_worker_loses_no_token (void **state)
{
    int64_t moved = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        s_begin ("frozen worker", seed);
        s_await_streams ();
        realm_process_signal (stage_process (s_stage, "worker/a"), PROCESS_SIGNAL_STOP);
        stage_run (s_stage, (5 + seed * 7) * REALM_SECOND);
        realm_process_signal (stage_process (s_stage, "worker/a"), PROCESS_SIGNAL_CONT);
        stage_run (s_stage, 10 * REALM_SECOND);
        moved += s_end ();
    }
    assert_true (moved > 0);
}

//  Its worker is well and says so, and still it is out of rotation ten seconds later and what it had goes on elsewhere;
//  when it answers again it is back.
static void
test_a_stuck_engine_loses_no_token_and_comes_back (void **state)
{
    int64_t moved = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        s_begin ("stuck engine", seed);
        s_await_streams ();
        s_stuck [0] = true;
        stage_run (s_stage, 30 * REALM_SECOND);
        assert_int_equal (s_sum ("worker/a", "stator_worker_suspect_total"), 1);
        assert_true (directory_find (stage_find (s_stage, "router/0"), SPAN ("worker/a"))->draining);
        s_stuck [0] = false;
        stage_run (s_stage, 20 * REALM_SECOND);
        moved += s_end ();
    }
    assert_true (moved > 0);
}

static int
s_set_up (void **state)
{
    arena_init (&s_memory, SIZE_MAX);
    s_set_options ();
    return 0;
}

static int
s_tear_down (void **state)
{
    arena_fini (&s_memory);
    return 0;
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_is_killed_loses_no_token),
        cmocka_unit_test (test_a_frozen_worker_loses_no_token),
        cmocka_unit_test (test_a_stuck_engine_loses_no_token_and_comes_back),
    };
    return cmocka_run_group_tests (tests, s_set_up, s_tear_down);
}
