//  stator bench index - a recorded stream of events and lookups, played to an index
//
//  The clock starts before the first record and stops when all of it is swept; reading the file and printing are outside.
//  Each call is timed with the processor's counter, and what calls took together is scaled to processor time, so that
//  being interrupted does not count; the longest ones are waiting and all.  Records are told to the index a few ahead of
//  their turn, as a caller does that takes them from a batch.

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/mapping.h"
#include "kv/index/stream.h"

enum { AHEAD = 4, TYPES = STREAM_LOOKUP + 1 };

typedef struct {
    uint64_t blocks [TYPES];    //  Played, by type of record
    uint64_t ticks [TYPES];     //  That took so long
    array_t lookups;            //  uint64_t: ticks of each
    uint64_t longest;           //  Ticks of the longest call
    double cpu_s;               //  Of all of it
    double tick_ns;             //  Nanoseconds a tick, waiting and all
    double share;               //  How much of the calls' time was computing
    double memory;              //  Bytes of memory it took
} timing_t;

static uint64_t
s_ticks (void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc ();
#else
    return (uint64_t)(bench_wall_seconds () * 1e9);
#endif
}

//  Bytes of memory of this process that are no file's.
static double
s_memory (void)
{
    char line [128];
    uint64_t kilobytes = 0;
    malloc_trim (0);
    FILE *file = fopen ("/proc/self/status", "r");
    while (file && fgets (line, sizeof line, file)) {
        span_t rest = span_from_string (line), unit = SPAN (" kB"), key = SPAN ("RssAnon:");
        if (!span_starts_with (rest, key))
            continue;
        rest = span_trim (span_slice (rest, key.size, SIZE_MAX));
        span_to_u64 (span_slice (rest, 0, rest.size - unit.size), &kilobytes);
    }
    if (file)
        fclose (file);
    return (double)kilobytes * 1024;
}

static void
s_play_timed (player_t *player, const stream_record_t *record, timing_t *timing)
{
    uint64_t start = s_ticks ();
    player_play (player, record, false);
    uint64_t took = s_ticks () - start;
    timing->ticks [record->type] += took;
    timing->blocks [record->type] += record->count;
    if (took > timing->longest)
        timing->longest = took;
    if (record->type == STREAM_LOOKUP)
        *(uint64_t *)array_add (&timing->lookups) = took;
}

//  Plays all records, each told AHEAD records before its turn.
static status_t
s_play_all (player_t *player, stream_t stream, timing_t *timing, error_t *error)
{
    stream_record_t line [AHEAD];
    uint64_t records = stream.records;
    status_t status = STATUS_OK;
    for (uint64_t i = 0; i < records + AHEAD && !status; i++) {
        stream_record_t *slot = &line [i % AHEAD];
        if (i >= AHEAD)
            s_play_timed (player, slot, timing);
        if (i >= records)
            continue;
        status = stream_next (&stream, slot, error);
        if (!status)
            player_expect (player, slot);
    }
    player_drain (player);
    return status;
}

static status_t
s_time (player_t *player, const stream_t *stream, timing_t *timing, error_t *error)
{
    double memory = s_memory (), wall = bench_wall_seconds (), cpu = bench_seconds ();
    uint64_t ticks = s_ticks (), calls = 0;
    status_t status = s_play_all (player, *stream, timing, error);
    timing->cpu_s = bench_seconds () - cpu;
    timing->tick_ns = (bench_wall_seconds () - wall) * 1e9 / (double)(s_ticks () - ticks);
    timing->memory = s_memory () - memory - (double)(timing->lookups.capacity * sizeof (uint64_t));
    for (int type = 0; type < TYPES; type++)
        calls += timing->ticks [type];
    double computing = timing->cpu_s * 1e9 / ((double)calls * timing->tick_ns);
    timing->share = computing < 1 ? computing : 1;
    return status;
}

//  The number that differs as soon as one answer does.
static status_t
s_verify (const stream_t *stream, uint64_t *mix, error_t *error)
{
    stream_t rest = *stream;
    stream_record_t record;
    player_result_t result;
    player_t *player = player_new (stream);
    status_t status = STATUS_OK;
    while (rest.records && !status) {
        status = stream_next (&rest, &record, error);
        if (!status)
            player_play (player, &record, true);
    }
    player_result (player, &result);
    player_destroy (&player);
    *mix = result.mix;
    return status;
}

static int
s_compare (const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

//  The lookup that `share` of them are not slower than, in microseconds.
static double
s_quantile_us (const timing_t *timing, double share)
{
    size_t count = timing->lookups.count;
    if (!count)
        return 0;
    size_t at = (size_t)((double)(count - 1) * share);
    return (double)*(uint64_t *)array_at (&timing->lookups, at) * timing->tick_ns / 1e3;
}

static double
s_per (double amount, uint64_t count)
{
    return count ? amount / (double)count : 0;
}

static double
s_block_ns (const timing_t *timing, stream_type_t type)
{
    return s_per ((double)timing->ticks [type] * timing->tick_ns * timing->share, timing->blocks [type]);
}

static void
s_fill_times (bench_cell_t *cell, const timing_t *timing)
{
    uint64_t blocks = 0;
    for (int type = 0; type < TYPES; type++)
        blocks += timing->blocks [type];
    bench_cell_count (cell, "block_ops", blocks);
    bench_cell_figure (cell, "cpu_s", timing->cpu_s);
    bench_cell_figure (cell, "Mops_per_core", timing->cpu_s > 0 ? (double)blocks / timing->cpu_s / 1e6 : 0);
    bench_cell_figure (cell, "stored_ns_blk", s_block_ns (timing, STREAM_STORED));
    bench_cell_figure (cell, "removed_ns_blk", s_block_ns (timing, STREAM_REMOVED));
    double lookups = (double)timing->ticks [STREAM_LOOKUP] * timing->tick_ns * timing->share / 1e3;
    bench_cell_figure (cell, "lookup_us", s_per (lookups, timing->lookups.count));
    bench_cell_figure (cell, "p50_us", s_quantile_us (timing, 0.5));
    bench_cell_figure (cell, "p99_us", s_quantile_us (timing, 0.99));
    bench_cell_figure (cell, "max_us", s_quantile_us (timing, 1));
    bench_cell_figure (cell, "pause_us", (double)timing->longest * timing->tick_ns / 1e3);
}

static void
s_fill_answers (bench_cell_t *cell, const player_t *player, const timing_t *timing)
{
    player_result_t result;
    index_stats_t stats;
    player_result (player, &result);
    index_stats (player_index (player), &stats);
    bench_cell_count (cell, "memberships", stats.memberships);
    bench_cell_figure (cell, "B_per_member_rss", s_per (timing->memory, stats.memberships));
    bench_cell_figure (cell, "B_per_member", s_per ((double)stats.bytes, stats.memberships));
    bench_cell_count (cell, "lookups", result.lookups);
    bench_cell_count (cell, "pairs", result.pairs);
    bench_cell_count (cell, "sum", result.sum);
}

static void
s_print (const char *path, const player_t *player, timing_t *timing, const uint64_t *mix)
{
    const char *slash = strrchr (path, '/');
    char digits [20];
    bench_cell_t cell;
    array_sort (&timing->lookups, s_compare);
    bench_cell_begin (&cell, &bench_index, slash ? slash + 1 : path);
    bench_cell_text (&cell, "impl", "stator");
    s_fill_times (&cell, timing);
    s_fill_answers (&cell, player, timing);
    if (mix) {
        snprintf (digits, sizeof digits, "%016llx", (unsigned long long)*mix);
        bench_cell_text (&cell, "mix", digits);
    }
    bench_cell_print (&cell);
}

//  Reads each page, so that the file does not come from disk while the clock runs.
static void
s_load (span_t bytes)
{
    enum { PAGE = 4096 };
    volatile uint8_t sink = 0;
    for (size_t at = 0; at < bytes.size; at += PAGE)
        sink ^= bytes.data [at];
}

static status_t
s_measure (const bench_run_t *run, const stream_t *stream, error_t *error)
{
    timing_t timing = { 0 };
    uint64_t mix = 0;
    array_init (&timing.lookups, sizeof (uint64_t));
    player_t *player = player_new (stream);
    status_t status = s_time (player, stream, &timing, error);
    if (!status && run->verify)
        status = s_verify (stream, &mix, error);
    if (!status)
        s_print (run->stream, player, &timing, run->verify ? &mix : NULL);
    player_destroy (&player);
    array_fini (&timing.lookups);
    return status;
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    mapping_t file = { 0 };
    stream_t stream;
    if (!*run->stream)
        return error_set (error, STATUS_INVALID, "it needs a recorded stream: --stream FILE");
    status_t status = mapping_open (&file, run->stream, error);
    if (!status)
        status = stream_init (&stream, file.bytes, error);
    if (!status) {
        s_load (file.bytes);
        status = s_measure (run, &stream, error);
    }
    mapping_close (&file);
    return status;
}

const bench_t bench_index = {
    .name = "index",
    .arguments = "--stream FILE [--verify]",
    .doc = "A recorded stream (KVIS 1) of events and lookups is played to an index.",
    .run = s_run,
};
