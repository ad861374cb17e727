#include "simulator/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"

//  What both forms of the report show, beside names and violations.
typedef struct {
    const char *section;    //  Object it stands in; NULL: the outermost
    const char *name;       //  Key
    uint64_t value;         //  Figure
} row_t;

enum { ROWS_MAX = 64 };

static uint64_t
s_share (uint64_t sum, uint64_t count)
{
    return count ? sum / count : 0;
}

static size_t
s_rows (const simulate_report_t *report, uint64_t wall_ns, row_t rows [ROWS_MAX])
{
    const harness_figures_t *figures = &report->harness;
    const row_t fixed [] = {
        { NULL, "virtual_seconds", report->virtual_ns / REALM_SECOND },
        { NULL, "events", report->events },
        { NULL, "virtual_seconds_per_second", wall_ns ? report->virtual_ns / (wall_ns / REALM_MS + 1) / REALM_MS : 0 },
        { "requests", "started", figures->started },
        { "requests", "whole", figures->whole },
        { "requests", "left", figures->left },
        { "requests", "refused", figures->refused },
        { "requests", "broken", figures->broken },
        { "requests", "open", figures->open },
        { "requests", "tokens", figures->tokens },
        { "requests", "prompt_tokens", figures->prompt_tokens },
        { "requests", "cached_tokens", figures->cached_tokens },
        { "requests", "first_token_mean_ms", s_share (figures->first_token_ns, figures->first_tokens) / REALM_MS },
        { "requests", "first_token_max_ms", figures->first_token_max_ns / REALM_MS },
        { "network", "delivered", report->network.delivered },
        { "network", "lost", report->network.lost },
        { "network", "published_lost", report->network.published_lost },
        { "network", "reordered", report->network.reordered },
        { "network", "full", report->network.full },
        { "network", "fallen", report->network.fallen },
        { "network", "refused", report->network.refused },
        { "index", "looks", report->index.looks },
        { "index", "behind", report->index.behind },
        { "index", "compared", report->index.compared },
        { "index", "wrong", report->index.wrong },
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed [0]; i++)
        rows [count++] = fixed [i];
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        rows [count++] = (row_t){ "faults", fault_name ((fault_kind_t)kind), report->faults [kind] };
    for (int situation = 0; situation < SITUATION_COUNT; situation++)
        rows [count++] =
            (row_t){ "situations", situation_name ((situation_t)situation), report->situations [situation] };
    return count;
}

static size_t
s_violations_shown (const simulate_report_t *report)
{
    return report->violation_count < SIMULATE_VIOLATIONS_MAX ? report->violation_count : SIMULATE_VIOLATIONS_MAX;
}

void
simulate_report_print (const simulate_report_t *report, uint64_t wall_ns, buffer_t *out)
{
    row_t rows [ROWS_MAX];
    size_t count = s_rows (report, wall_ns, rows);
    buffer_print (out, "seed %" PRIu64 "\n", report->seed);
    const char *section = NULL;
    for (size_t i = 0; i < count; i++) {
        if (rows [i].section != section)
            buffer_print (out, "%s\n", rows [i].section);
        section = rows [i].section;
        buffer_print (out, "%s%-28s %12" PRIu64 "\n", section ? "  " : "", rows [i].name, rows [i].value);
    }
    buffer_print (out, "log_hash %016" PRIx64 "\n%" PRIu64 " violations\n", report->log_hash, report->violation_count);
    for (size_t i = 0; i < s_violations_shown (report); i++)
        buffer_print (out, "  %s\n", report->violations [i]);
}

static void
s_write_rows (json_writer_t *writer, const row_t *rows, size_t count)
{
    const char *section = NULL;
    for (size_t i = 0; i < count; i++) {
        if (rows [i].section != section) {
            if (section)
                json_write_end_object (writer);
            json_write_key (writer, rows [i].section);
            json_write_begin_object (writer);
            section = rows [i].section;
        }
        json_write_key (writer, rows [i].name);
        json_write_u64 (writer, rows [i].value);
    }
    json_write_end_object (writer);
}

void
simulate_report_json (const simulate_report_t *report, uint64_t wall_ns, buffer_t *out)
{
    row_t rows [ROWS_MAX];
    json_writer_t writer;
    char hash [17];
    size_t count = s_rows (report, wall_ns, rows);
    snprintf (hash, sizeof hash, "%016" PRIx64, report->log_hash);
    json_writer_init (&writer, out);
    json_write_begin_object (&writer);
    json_write_key (&writer, "seed");
    json_write_u64 (&writer, report->seed);
    json_write_key (&writer, "log_hash");
    json_write_string (&writer, span_from_string (hash));
    s_write_rows (&writer, rows, count);
    json_write_key (&writer, "violation_count");
    json_write_u64 (&writer, report->violation_count);
    json_write_key (&writer, "violations");
    json_write_begin_array (&writer);
    for (size_t i = 0; i < s_violations_shown (report); i++)
        json_write_string (&writer, span_from_string (report->violations [i]));
    json_write_end_array (&writer);
    json_write_end_object (&writer);
    buffer_append_byte (out, '\n');
}
