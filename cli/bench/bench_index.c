//  stator bench index - a recorded stream of events and lookups, played to an index
//
//  Records are read 4096 at a time, as from a message that was just decoded, and then played; the clock runs while they are
//  played and until all is swept.  They are told to the index a few ahead of their turn, as a caller does that has a batch.
//
//  Each call is timed with the processor's counter, and what calls took together is scaled to processor time, so that being
//  interrupted does not count.  How long one call can be is asked of all of them: the stream is played again, the same calls
//  do the same, and the least that each took is what it takes where nobody interrupts.

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/bench/bench.h"
#include "cli/mapping.h"
#include "kv/index/stream.h"

enum { BATCH = 4096, AHEAD = 4, PASSES = 3, CACHE_LINE = 64, TYPES = STREAM_LOOKUP + 1 };

typedef struct {
    uint64_t blocks [TYPES];    //  Played, by type of record
    uint64_t ticks [TYPES];     //  That took so long
    array_t lookups;            //  uint64_t: ticks of each
    array_t calls;              //  uint64_t: ticks of each record, the least of all passes
    double cpu_s;               //  Of all calls
    double prep_cpu_s;          //  Of reading and counting them
    double wall_s;              //  While they were played
    double tick_ns;             //  Nanoseconds a tick, waiting and all
    double share;               //  How much of the calls' time was computing
    double memory;              //  Bytes of memory before the index was made; then, those it took
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

//  Ticks between two readings of the counter with nothing between them: so much of each call is not its own.  The mean of some
//  in a row, where nobody interrupts.
static double
s_reading_ticks (void)
{
    enum { ROWS = 64, READINGS = 64 };
    uint64_t least = UINT64_MAX;
    for (int row = 0; row < ROWS; row++) {
        uint64_t took = 0;
        for (int i = 0; i < READINGS; i++) {
            uint64_t start = s_ticks ();
            took += s_ticks () - start;
        }
        least = took < least ? took : least;
    }
    return (double)least / READINGS;
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

//  Some records in a row, and how long each took.
typedef struct {
    stream_record_t records [BATCH];    //  Borrowed from the file
    uint64_t took [BATCH];              //  Ticks
    size_t count;                       //  Of them
} batch_t;

//  Reads the next records, and their hashes into the processor's cache.
static status_t
s_read (batch_t *self, stream_t *stream, error_t *error)
{
    status_t status = STATUS_OK;
    volatile uint64_t sink = 0;
    self->count = 0;
    while (self->count < BATCH && stream->records && !status) {
        stream_record_t *record = &self->records [self->count];
        status = stream_next (stream, record, error);
        if (status)
            break;
        for (size_t i = 0; i < record->count; i += CACHE_LINE / sizeof (uint64_t))
            sink ^= record->hashes [i];
        self->count++;
    }
    return status;
}

static void
s_play (batch_t *self, player_t *player)
{
    for (size_t i = 0; i < self->count; i++) {
        if (i + AHEAD < self->count)
            player_expect (player, &self->records [i + AHEAD]);
        uint64_t start = s_ticks ();
        player_play (player, &self->records [i], false);
        self->took [i] = s_ticks () - start;
    }
}

static void
s_count (timing_t *self, const batch_t *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const stream_record_t *record = &batch->records [i];
        self->ticks [record->type] += batch->took [i];
        self->blocks [record->type] += record->count;
        if (record->type == STREAM_LOOKUP)
            *(uint64_t *)array_add (&self->lookups) = batch->took [i];
    }
    array_append (&self->calls, batch->took, batch->count);
}

//  The processor time and the time that passed since a moment are added to what was before; the moment is now then.
typedef struct {
    double cpu;     //  Moment
    double wall;    //  Moment
} moment_t;

static void
s_add_time (moment_t *since, double *cpu, double *wall)
{
    moment_t now = { bench_seconds (), bench_wall_seconds () };
    *cpu += now.cpu - since->cpu;
    *wall += now.wall - since->wall;
    *since = now;
}

//  How much of the time of all calls was computing.
static double
s_share (const timing_t *timing)
{
    uint64_t ticks = 0;
    for (int type = 0; type < TYPES; type++)
        ticks += timing->ticks [type];
    double computing = timing->cpu_s * 1e9 / ((double)ticks * timing->tick_ns);
    return computing < 1 ? computing : 1;
}

//  The first pass, of which all figures are but that of the longest call.
static status_t
s_time (player_t *player, stream_t stream, batch_t *batch, timing_t *timing, error_t *error)
{
    double read_s = 0;
    status_t status = STATUS_OK;
    uint64_t ticks = s_ticks ();
    moment_t moment = { bench_seconds (), bench_wall_seconds () };
    while (stream.records && !status) {
        status = s_read (batch, &stream, error);
        s_add_time (&moment, &timing->prep_cpu_s, &read_s);
        s_play (batch, player);
        if (!stream.records)
            player_drain (player);
        s_add_time (&moment, &timing->cpu_s, &timing->wall_s);
        s_count (timing, batch);
        s_add_time (&moment, &timing->prep_cpu_s, &read_s);
    }
    timing->tick_ns = (timing->wall_s + read_s) * 1e9 / (double)(s_ticks () - ticks);
    timing->memory = s_memory () - timing->memory;
    timing->share = s_share (timing);
    return status;
}

//  Another pass: keeps the least that each call took.
static status_t
s_time_again (const stream_t *stream, batch_t *batch, array_t *calls, error_t *error)
{
    stream_t rest = *stream;
    player_t *player = player_new (stream);
    uint64_t *least = calls->data;
    status_t status = STATUS_OK;
    while (rest.records && !status) {
        status = s_read (batch, &rest, error);
        s_play (batch, player);
        for (size_t i = 0; i < batch->count; i++, least++)
            *least = batch->took [i] < *least ? batch->took [i] : *least;
    }
    player_destroy (&player);
    malloc_trim (0);
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

static uint64_t
s_longest (const array_t *calls)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < calls->count; i++) {
        uint64_t ticks = ((const uint64_t *)calls->data) [i];
        longest = ticks > longest ? ticks : longest;
    }
    return longest;
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
    bench_cell_figure (cell, "prep_cpu_s", timing->prep_cpu_s);
    bench_cell_figure (cell, "Mops_per_core", timing->cpu_s > 0 ? (double)blocks / timing->cpu_s / 1e6 : 0);
    bench_cell_figure (cell, "stored_ns_blk", s_block_ns (timing, STREAM_STORED));
    bench_cell_figure (cell, "removed_ns_blk", s_block_ns (timing, STREAM_REMOVED));
    double lookups = (double)timing->ticks [STREAM_LOOKUP] * timing->tick_ns * timing->share / 1e3;
    bench_cell_figure (cell, "lookup_us", s_per (lookups, timing->lookups.count));
    bench_cell_figure (cell, "p50_us", s_quantile_us (timing, 0.5));
    bench_cell_figure (cell, "p99_us", s_quantile_us (timing, 0.99));
    bench_cell_figure (cell, "max_us", s_quantile_us (timing, 1));
    bench_cell_figure (cell, "clock_ns", s_reading_ticks () * timing->tick_ns);
    bench_cell_figure (cell, "pause_us", (double)s_longest (&timing->calls) * timing->tick_ns / 1e3);
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

//  Its memory is there before that of the index is: a number for each record, of which there are no more than there are bytes
//  for, whatever the header says.
static timing_t *
s_new_timing (const stream_t *stream)
{
    timing_t *self = memory_new (sizeof *self);
    size_t bytes = stream->rest.size / STREAM_RECORD_MIN, records = stream->records < bytes ? stream->records : bytes;
    array_init (&self->lookups, sizeof (uint64_t));
    array_init (&self->calls, sizeof (uint64_t));
    array_append (&self->lookups, NULL, records);
    array_append (&self->calls, NULL, records);
    array_cut (&self->lookups, 0);
    array_cut (&self->calls, 0);
    self->memory = s_memory ();
    return self;
}

static void
s_destroy_timing (timing_t *self)
{
    array_fini (&self->calls);
    array_fini (&self->lookups);
    memory_free (self);
}

static status_t
s_measure (const bench_run_t *run, const stream_t *stream, error_t *error)
{
    uint64_t mix = 0;
    batch_t *batch = memory_new (sizeof *batch);
    memset (batch, 0, sizeof *batch);    //  So that its memory is there before the index's is, as the timing's
    timing_t *timing = s_new_timing (stream);
    player_t *player = player_new (stream);
    status_t status = s_time (player, *stream, batch, timing, error);
    for (int pass = 1; pass < (run->quick ? 1 : PASSES) && !status; pass++)
        status = s_time_again (stream, batch, &timing->calls, error);
    if (!status && run->verify)
        status = s_verify (stream, &mix, error);
    if (!status)
        s_print (run->stream, player, timing, run->verify ? &mix : NULL);
    player_destroy (&player);
    memory_free (batch);
    s_destroy_timing (timing);
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
