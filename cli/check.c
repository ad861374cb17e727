//  stator check - what is wrong with a configuration, all of it, with its place

#include <stdio.h>

#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/metrics_page.h"
#include "cli/site.h"

typedef struct {
    bool json;             //  For programs
    bool print;            //  The configuration as it is understood
    bool print_default;    //  The shipped file
    bool print_manual;     //  The page of the manual
    bool print_metrics;    //  The page on metrics
} check_flags_t;

static const option_t s_flags [] = {
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (check_flags_t, json), .doc = "Say it as JSON." },
    { .name = "print",
        .type = OPTION_BOOL,
        .offset = offsetof (check_flags_t, print),
        .doc = "Print the configuration with every key, as it is understood." },
    { .name = "print_default",
        .type = OPTION_BOOL,
        .offset = offsetof (check_flags_t, print_default),
        .doc = "Print a file with every key, its default and what it does." },
    { .name = "print_manual",
        .type = OPTION_BOOL,
        .offset = offsetof (check_flags_t, print_manual),
        .doc = "Print the manual of the configuration in Markdown." },
    { .name = "print_metrics",
        .type = OPTION_BOOL,
        .offset = offsetof (check_flags_t, print_metrics),
        .doc = "Print the list of metrics in Markdown." },
    OPTIONS_END,
};

static const char s_default_head [] =
    "#  The configuration of a fleet: every key with its default, and what it does.\n"
    "#\n"
    "#  Nothing here has to be said. A file of these six lines works:\n"
    "#\n"
    "#      version: 1\n"
    "#      models:\n"
    "#        - name: demo\n"
    "#      workers:\n"
    "#        - engine: mock\n"
    "#          model: demo\n"
    "#\n"
    "#  Sizes are written 64MiB or 2GB, durations 250ms, 30s, 20min. ${NAME} and ${NAME:-default} are replaced by "
    "environment\n"
    "#  variables, except in single quotes. Every key outside a list is a flag too: router.mode is --router-mode,\n"
    "#  where no other flag is said.\n"
    "#  `stator check FILE` says what is wrong with a file. This one is printed by `stator check --print-default`.\n"
    "\n";

static const char s_manual_head [] = "# Configuration\n"
                                     "\n"
                                     "One YAML file says what a fleet is; `stator up FILE` runs it, `stator check "
                                     "FILE` says what is wrong with it, each mistake with its\n"
                                     "line and column. Every key has a default. The smallest file:\n"
                                     "\n"
                                     "```yaml\n"
                                     "version: 1\n"
                                     "models:\n"
                                     "  - name: demo\n"
                                     "workers:\n"
                                     "  - engine: mock\n"
                                     "    model: demo\n"
                                     "```\n"
                                     "\n"
                                     "`examples/default.yaml` has every key with its default. Sizes are written "
                                     "`64MiB` or `2GB`, durations `250ms`, `30s`, `20min`.\n"
                                     "`${NAME}` and `${NAME:-default}` are replaced by environment variables, except "
                                     "in single quotes; `$${` writes `${`. A secret may\n"
                                     "be `file:PATH`. Every key outside a list is a flag too: `router.mode` is "
                                     "`--router-mode`, where no other flag is said, and\n"
                                     "`--no-frontend-local-prompts` says false. "
                                     "Anchors, aliases and tags are refused.\n"
                                     "\n"
                                     "This page is printed by `stator check --print-manual`.\n";

static result_t
s_print_table (const char *head, void (*print) (buffer_t *out))
{
    buffer_t text = { 0 };
    buffer_append_string (&text, head);
    print (&text);
    command_print (&text);
    buffer_fini (&text);
    return RESULT_OK;
}

static void
s_print_default (buffer_t *out)
{
    option_print_config ((option_target_t){ .table = manifest_table }, out);
}

static void
s_print_manual (buffer_t *out)
{
    option_print_manual (manifest_table, 2, out);
}

static void
s_write_json (const char *path, complaints_t *complaints, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    complaints_sort (complaints);
    json_write_begin_object (&json);
    json_write_key (&json, "file");
    json_write_string (&json, span_from_string (path));
    json_write_key (&json, "valid");
    json_write_bool (&json, !complaints_any (complaints));
    json_write_key (&json, "complaints");
    json_write_begin_array (&json);
    for (size_t i = 0; i < complaints->list.count; i++) {
        const complaint_t *complaint = array_at (&complaints->list, i);
        json_write_begin_object (&json);
        json_write_key (&json, "line");
        json_write_u64 (&json, complaint->place.line);
        json_write_key (&json, "column");
        json_write_u64 (&json, complaint->place.column);
        json_write_key (&json, "text");
        json_write_string (&json, span_from_string (complaint->text));
        json_write_end_object (&json);
    }
    json_write_end_array (&json);
    json_write_key (&json, "omitted");
    json_write_u64 (&json, complaints->omitted);
    json_write_end_object (&json);
    buffer_append_byte (out, '\n');
}

static void
s_summarise (const char *path, const manifest_t *fleet, buffer_t *out)
{
    size_t workers = 0;
    for (size_t i = 0; i < fleet->workers.count; i++)
        workers += (size_t)manifest_worker (fleet, i)->count;
    buffer_print (out, "%s: good: %zu model%s, %zu worker%s\n", path, fleet->models.count,
        fleet->models.count == 1 ? "" : "s", workers, workers == 1 ? "" : "s");
}

static result_t
s_report (const char *path, const check_flags_t *flags, manifest_t *fleet, complaints_t *complaints)
{
    bool bad = complaints_any (complaints);
    buffer_t text = { 0 };
    if (flags->json)
        s_write_json (path, complaints, &text);
    else if (bad)
        command_print_complaints (complaints);
    else if (flags->print)
        option_print_config ((option_target_t){ manifest_table, fleet }, &text);
    else
        s_summarise (path, fleet, &text);
    command_print (&text);
    buffer_fini (&text);
    return bad ? RESULT_USAGE : RESULT_OK;
}

static result_t
s_run (const invocation_t *invocation)
{
    const check_flags_t *flags = invocation->flags;
    if (flags->print_default)
        return s_print_table (s_default_head, s_print_default);
    if (flags->print_manual)
        return s_print_table (s_manual_head, s_print_manual);
    if (flags->print_metrics)
        return s_print_table ("", metrics_page_print);
    const char *path = invocation->count ? invocation->words [0] : "fleet.yaml";
    buffer_t text = { 0 };
    error_t error;
    result_t result;
    if (environment_read_file (path, CONFIG_SIZE_MAX, &text, &error) != STATUS_OK) {
        command_complain (invocation->command, "%s", error.text);
        result = RESULT_USAGE;
    } else {
        complaints_t complaints;
        complaints_init (&complaints, path);
        manifest_t *fleet = manifest_new (buffer_span (&text), &invocation->all, &environment_world, &complaints);
        site_check_contents (buffer_span (&text), &complaints);
        site_check_keys (fleet, false, &complaints);
        site_check_programs (fleet, &complaints);
        result = s_report (path, flags, fleet, &complaints);
        manifest_destroy (&fleet);
        complaints_fini (&complaints);
    }
    buffer_fini (&text);
    return result;
}

const command_t check_command = {
    .name = "check",
    .arguments = "[FILE]",
    .doc = "Say what is wrong with a configuration file, all of it.",
    .essay =
        "Reads FILE (fleet.yaml where none is named, - for standard input) as `stator up` would, and prints a line\n"
        "\"FILE:LINE:COLUMN: what is wrong\" for each mistake. Nothing is started.\n",
    .table = s_flags,
    .flags_size = sizeof (check_flags_t),
    .takes_fleet = true,
    .words_max = 1,
    .run = s_run,
};
