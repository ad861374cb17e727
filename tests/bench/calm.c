//  One call of each kind, on an index, a catalog and a worker's holdings that hold much and have met what is worst for the call.
//
//      bench_calm BLOCKS
//
//  BLOCKS is what the largest worker has; others have some of them too, and there are crowds of small ones.  Prints a JSON object a
//  kind of call: the processor time of the longest of several.  tests/bench/calm counts instructions instead.

#include "tests/bench/calm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

//  ---- Blocks and crowds ---------------------------------------------------------------------------------------------

uint64_t
calm_name (uint64_t number)
{
    return hash_u64 (number + 1);
}

void
calm_name_blocks (world_t *self, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        self->hashes [i] = calm_name (first + i);
        hash128_to_bytes ((hash128_t){ self->hashes [i], 0 }, self->packed + i * HASH128_SIZE);
    }
}

void
calm_name_new (world_t *self, uint64_t count)
{
    calm_name_blocks (self, self->next, count);
    self->next += count;
}

void
calm_name_event (world_t *self)
{
    calm_name_new (self, EVENT);
}

void
calm_name_query (world_t *self)
{
    calm_name_blocks (self, 0, QUERY);
}

//  How many more there are before a row is full that doubles, or a table that does so at three quarters.
static uint64_t
s_until_full (uint64_t count)
{
    uint64_t full = 1;
    while (full < count)
        full *= 2;
    return full / 4 * 3 >= count ? full / 4 * 3 - count : full - count;
}

void
calm_let_come (world_t *self, crowd_t crowd, step_fn *come)
{
    const uint64_t *came = &self->came [crowd];
    while (
        *came < LEAST + self->blocks / CROWDED || (s_until_full (*came) > NEAR && s_until_full (*came - NEAR) > NEAR))
        come (self);
}

//  ---- Holdings ------------------------------------------------------------------------------------------------------

static void
s_ignore_run (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
}

static void
s_hold (world_t *self)
{
    hash128_t hashes [EVENT];
    for (int i = 0; i < EVENT; i++)
        hashes [i] = (hash128_t){ self->hashes [i], 0 };
    holdings_add (self->holdings, SEQUENCE_ROOT, hashes, EVENT, s_ignore_run, NULL);
}

static void
s_let_hold (world_t *self)
{
    self->holdings = holdings_new ();
    for (uint64_t i = 0; i < self->blocks; i += EVENT) {
        calm_name_event (self);
        s_hold (self);
    }
}

static void
s_clear_holdings (world_t *self)
{
    holdings_clear (self->holdings);
}

static void
s_shed_holdings (world_t *self)
{
    holdings_shed (self->holdings);
}

//  ---- What is measured ----------------------------------------------------------------------------------------------

static const case_t s_holdings_cases [] = {
    { "holdings_clear", s_let_hold, s_clear_holdings, 1 },
    { "holdings_add", calm_name_event, s_hold, 20 },
    { "holdings_shed", NULL, s_shed_holdings, 10 },
    { 0 },
};

static double
s_cpu_us (void)
{
    struct timespec now;
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

//  Who counts instructions knows these two by their names: what is counted, and when to write down how many.
__attribute__ ((noinline)) static void
calm_call (step_fn *call, world_t *self)
{
    call (self);
    self->calls++;
}

__attribute__ ((noinline)) static double
calm_try (step_fn *call, world_t *self)
{
    double start = s_cpu_us ();
    calm_call (call, self);
    return s_cpu_us () - start;
}

static void
s_measure (const case_t *each, world_t *self)
{
    double longest = 0;
    for (int i = 0; i < each->tries; i++) {
        if (each->prepare)
            each->prepare (self);
        double took = calm_try (each->call, self);
        longest = took > longest ? took : longest;
    }
    printf ("{\"call\": \"%s\", \"tries\": %d, \"cpu_us\": %.1f}\n", each->name, each->tries, longest);
}

static void
s_measure_all (const case_t *cases, world_t *self)
{
    for (; cases->name; cases++)
        s_measure (cases, self);
}

static void
s_release (world_t *self)
{
    holdings_destroy (&self->holdings);
    catalog_destroy (&self->fleet);
    index_load_fini (&self->reading);
    index_destroy (&self->copy);
    index_snapshot_destroy (&self->writing);
    buffer_fini (&self->bytes);
    catalog_snapshot_destroy (&self->snapshot);
    catalog_destroy (&self->catalog);
    array_fini (&self->overlaps);
    index_match_fini (&self->match);
    index_destroy (&self->index);
}

int
main (int argc, char **argv)
{
    static world_t world;
    world.blocks = argc > 1 ? strtoull (argv [1], NULL, 10) : 100000;
    index_match_init (&world.match);
    array_init (&world.overlaps, sizeof (index_overlap_t));
    calm_fill_index (&world);
    calm_fill_catalog (&world);
    s_measure_all (calm_index_cases, &world);
    s_measure_all (calm_catalog_cases, &world);
    s_measure_all (s_holdings_cases, &world);
    s_release (&world);
    return 0;
}
