#include "simulator/replay_tally.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_writer.h"

static const uint64_t MILLION = 1000000, MS_NS = 1000000;

void
replay_tally_init (replay_tally_t *self, size_t workers)
{
    *self = (replay_tally_t){ 0 };
    array_init (&self->ttft, sizeof (uint64_t));
    array_init (&self->computed_tokens, sizeof (uint64_t));
    array_append (&self->computed_tokens, NULL, workers);
}

void
replay_tally_fini (replay_tally_t *self)
{
    array_fini (&self->ttft);
    array_fini (&self->computed_tokens);
}

void
replay_tally_open (replay_tally_t *self, uint64_t now_ns)
{
    self->open = true;
    self->opened_ns = now_ns;
}

void
replay_tally_wait (replay_tally_t *self, uint64_t ttft_ns)
{
    *(uint64_t *)array_add (&self->ttft) = ttft_ns;
}

static uint32_t
s_least (uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void
replay_tally_end (replay_tally_t *self, const replay_served_t *served)
{
    if (!self->open)
        return;
    replay_report_t *report = &self->report;
    report->completed++;
    if (!served->counted)
        return;
    //  An engine computes at least the last token, though it has the whole block.
    uint32_t hit =
        s_least ((served->cached_tokens + served->block_size - 1) / served->block_size, served->prompt_blocks);
    report->prompt_blocks += served->prompt_blocks;
    report->hit_blocks += hit;
    report->reusable_blocks += served->reusable_blocks;
    if (served->elsewhere_blocks > hit)
        report->duplicate_tokens += (uint64_t)(served->elsewhere_blocks - hit) * served->block_size;
    *(uint64_t *)array_at (&self->computed_tokens, served->worker) += served->prompt_tokens - served->cached_tokens;
}

//  ---- The report ----------------------------------------------------------------------------------------------------

static int
s_by_number (const void *a_, const void *b_)
{
    uint64_t a = *(const uint64_t *)a_, b = *(const uint64_t *)b_;
    return a < b ? -1 : a > b;
}

//  The smallest value that at least so many hundredths of all do not exceed.
static uint64_t
s_percentile (const array_t *sorted, uint64_t hundredths)
{
    size_t rank = (sorted->count * hundredths + 99) / 100;
    return sorted->count ? *(const uint64_t *)array_at (sorted, rank ? rank - 1 : 0) : 0;
}

static uint64_t
s_millionths (uint64_t part, uint64_t whole)
{
    return whole ? part / whole * MILLION + part % whole * MILLION / whole : 0;
}

static uint64_t
s_imbalance (const array_t *values)
{
    uint64_t sum = 0, most = 0;
    for (size_t i = 0; i < values->count; i++) {
        uint64_t value = *(const uint64_t *)array_at (values, i);
        sum += value;
        most = value > most ? value : most;
    }
    return s_millionths (most * values->count, sum);
}

void
replay_tally_close (replay_tally_t *self, uint64_t now_ns)
{
    self->open = false;
    self->report.window_ns = now_ns - self->opened_ns;
    array_sort (&self->ttft, s_by_number);
    self->report.ttft_p50_ns = s_percentile (&self->ttft, 50);
    self->report.ttft_p90_ns = s_percentile (&self->ttft, 90);
    self->report.ttft_p99_ns = s_percentile (&self->ttft, 99);
    self->report.imbalance = s_imbalance (&self->computed_tokens);
}

enum { ROWS = 18 };

//  A figure: a count, or, where it has decimals, millionths.
typedef struct {
    const char *name;    //  Key
    bool decimals;       //  In millionths
    uint64_t value;      //  Figure
} row_t;

static void
s_rows (const replay_report_t *self, uint64_t seed, row_t rows [ROWS])
{
    const row_t all [ROWS] = {
        { "hit_rate", true, s_millionths (self->hit_blocks, self->prompt_blocks) },
        { "reuse_of_infinite", true, s_millionths (self->hit_blocks, self->reusable_blocks) },
        { "ttft_p50_ms", false, self->ttft_p50_ns / MS_NS },
        { "ttft_p90_ms", false, self->ttft_p90_ns / MS_NS },
        { "ttft_p99_ms", false, self->ttft_p99_ns / MS_NS },
        { "requests_per_s", true, s_millionths (self->completed * 1000, self->window_ns / MS_NS) },
        { "moved_turns", true, s_millionths (self->moved, self->turns) },
        { "imbalance", true, self->imbalance },
        { "duplicate_prefill_tokens", false, self->duplicate_tokens },
        { "sessions", false, self->sessions },
        { "requests", false, self->requests },
        { "waiting", false, self->waiting },
        { "failed", false, self->failed },
        { "completed", false, self->completed },
        { "prompt_blocks", false, self->prompt_blocks },
        { "hit_blocks", false, self->hit_blocks },
        { "window_s", false, self->window_ns / MS_NS / 1000 },
        { "seed", false, seed },
    };
    for (size_t i = 0; i < ROWS; i++)
        rows [i] = all [i];
}

static void
s_print_value (const row_t *row, buffer_t *out)
{
    if (row->decimals)
        buffer_print (out, "%" PRIu64 ".%06" PRIu64, row->value / MILLION, row->value % MILLION);
    else
        buffer_print (out, "%" PRIu64, row->value);
}

void
replay_report_json (const replay_report_t *self, uint64_t seed, uint64_t log_hash, buffer_t *out)
{
    row_t rows [ROWS];
    char hash [17];
    json_writer_t writer;
    snprintf (hash, sizeof hash, "%016" PRIx64, log_hash);
    s_rows (self, seed, rows);
    json_writer_init (&writer, out);
    json_write_begin_object (&writer);
    for (size_t i = 0; i < ROWS; i++) {
        buffer_t value = { 0 };
        s_print_value (&rows [i], &value);
        json_write_key (&writer, rows [i].name);
        json_write_raw (&writer, buffer_span (&value));
        buffer_fini (&value);
    }
    json_write_key (&writer, "log_hash");
    json_write_string (&writer, span_from_string (hash));
    json_write_end_object (&writer);
    buffer_append_byte (out, '\n');
}

void
replay_report_print (const replay_report_t *self, uint64_t seed, uint64_t log_hash, buffer_t *out)
{
    row_t rows [ROWS];
    s_rows (self, seed, rows);
    for (size_t i = 0; i < ROWS; i++) {
        buffer_print (out, "%-26s", rows [i].name);
        s_print_value (&rows [i], out);
        buffer_append_byte (out, '\n');
    }
    buffer_print (out, "%-26s%016" PRIx64 "\n", "log_hash", log_hash);
}
