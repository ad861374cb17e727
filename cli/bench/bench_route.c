//  stator bench route - what a decision costs where many workers have some of the prompt
//
//  What is measured is all that a router does between reading a request and writing its record: matching the index, putting
//  together what is known of each candidate, the policy, and the best ones for the record.

#include <stdio.h>

#include "actors/router/choice.h"
#include "base/hash.h"
#include "base/memory.h"
#include "cli/bench/bench.h"
#include "schemas/event_header.h"
#include "schemas/worker.h"

enum { BLOCKS = 512, DECISIONS = 2000, QUICK_DECISIONS = 20, NAMESPACE = 5, LENGTHS = 8, NAME_MAX_BYTES = 32 };

typedef struct {
    const char *cell;    //  Name of the cell
    uint32_t workers;    //  That can serve the request
    uint32_t holding;    //  That have some of its blocks, each of several lengths
} sample_t;

static const sample_t s_samples [] = {
    { "10_holding_3", 10, 3 },
    { "100_holding_25", 100, 25 },
    { "1000_holding_0", 1000, 0 },
    { "1000_holding_250", 1000, 250 },
    { "1000_holding_1000", 1000, 1000 },
};

typedef struct {
    choice_sources_t sources;                  //  What decisions are made from
    choice_t choice;                           //  The last one
    uint8_t prompt [BLOCKS * HASH128_SIZE];    //  Its blocks
} house_t;

static void
s_add_worker (house_t *self, uint32_t number, bool holds)
{
    char address [NAME_MAX_BYTES], session [NAME_MAX_BYTES];
    snprintf (address, sizeof address, "worker/%04u", number);
    snprintf (session, sizeof session, "session %u", number);
    span_t name = span_from_string (address);
    model_card_t card = {
        .model = SPAN ("model"), .block_size = 64, .ranks = 1, .capacity = 100000, .kv_events = true
    };
    buffer_t bytes = { 0 };
    model_card_encode (&card, &bytes);
    actor_entry_t entry = {
        .address = name, .incarnation = 1, .state = ACTOR_STATE_ALIVE, .has_card = true, .card = buffer_span (&bytes)
    };
    fleet_see (self->sources.fleet, &entry, NULL);
    sessions_put (self->sources.sessions, span_from_string (session), name, 0, BLOCKS, 1);
    buffer_fini (&bytes);
    kv_stored_t stored = { .namespace_id = NAMESPACE,
        .hashes = { self->prompt, (size_t)BLOCKS * (1 + number % LENGTHS) / LENGTHS } };
    if (holds)
        catalog_stored (self->sources.catalog, event_source (name), &stored);
}

static void
s_open (house_t *self, const sample_t *sample)
{
    fleet_options_t options = { .load_stale_ns = 1, .active_max = 1 };
    self->sources = (choice_sources_t){ .fleet = fleet_new (&options),
        .catalog = catalog_new (NULL),
        .sessions = sessions_new (sample->workers, 1),
        .policy = policy_find ("kv"),
        .weights = { 1000000, 1000000, 800000 },
        .foresees = true };
    choice_init (&self->choice);
    for (uint64_t i = 0; i < BLOCKS; i++)
        hash128_to_bytes ((hash128_t){ hash_u64 (i), i }, self->prompt + i * HASH128_SIZE);
    for (uint32_t i = 0; i < sample->workers; i++)
        s_add_worker (self, i, i < sample->holding);
}

static void
s_close (house_t *self)
{
    choice_fini (&self->choice);
    sessions_destroy (&self->sources.sessions);
    catalog_destroy (&self->sources.catalog);
    fleet_destroy (&self->sources.fleet);
}

static status_t
s_decide (house_t *self, const sample_t *sample, uint64_t turn, error_t *error)
{
    candidate_t shown [CHOICE_SHOWN];
    error_t reason = { 0 };
    route_t request = { .model = SPAN ("model"), .namespace_id = NAMESPACE, .hashes = { self->prompt, BLOCKS } };
    policy_request_t asked = { .turn = turn };
    size_t position = choice_make (&self->choice, &self->sources, &request, &asked, 1, &reason);
    if (position == POLICY_NONE || self->choice.candidates.count != sample->workers)
        return error_set (
            error, STATUS_INTERNAL, "there are %zu candidates: %s", self->choice.candidates.count, reason.text);
    choice_best (&self->choice, shown);
    return STATUS_OK;
}

static status_t
s_measure (const bench_run_t *run, const sample_t *sample, error_t *error)
{
    static house_t house;
    bench_cell_t cell;
    uint64_t decisions = run->quick ? QUICK_DECISIONS : DECISIONS;
    status_t status = STATUS_OK;
    s_open (&house, sample);
    double start = bench_seconds ();
    for (uint64_t i = 0; i < decisions && !status; i++)
        status = s_decide (&house, sample, i, error);
    double took = bench_seconds () - start;
    s_close (&house);
    if (status)
        return status;
    bench_cell_begin (&cell, &bench_route, sample->cell);
    bench_cell_count (&cell, "decisions", decisions);
    bench_cell_figure (&cell, "decision_us", took * 1e6 / (double)decisions);
    bench_cell_print (&cell);
    return STATUS_OK;
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < sizeof s_samples / sizeof *s_samples && !status; i++)
        if (bench_wants (run, s_samples [i].cell))
            status = s_measure (run, &s_samples [i], error);
    return status;
}

const bench_t bench_route = {
    .name = "route",
    .arguments = "[CELL ...]",
    .doc = "A router decides where a prompt goes of which many workers have some.",
    .words_max = BENCH_CELLS,
    .run = s_run,
};
