//  stator worker test - is this a worker?

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/suggest.h"
#include "cli/conformance.h"
#include "cli/site.h"
#include "schemas/directory.h"

enum { WORKER_MEMORY = 64 << 20 };

typedef struct {
    site_flags_t site;        //  Which fleet
    uint64_t timeout_ns;      //  For each answer
    const char *model;        //  Whom to ask for; "": as the card says
    option_strings_t only;    //  Only these checks
    bool drain;               //  Also check draining
    bool json;                //  For programs
} worker_flags_t;

static const option_t s_flags [] = {
    { .name = "site", .type = OPTION_INCLUDE, .table = site_flags_table, .offset = offsetof (worker_flags_t, site) },
    { .name = "timeout",
        .type = OPTION_DURATION,
        .fallback = "30s",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = offsetof (worker_flags_t, timeout_ns),
        .doc = "How long it may take to answer." },
    { .name = "model",
        .type = OPTION_STRING,
        .offset = offsetof (worker_flags_t, model),
        .doc = "Which model to ask for, where no card says it." },
    { .name = "only",
        .type = OPTION_STRINGS,
        .offset = offsetof (worker_flags_t, only),
        .example = "credit,cancel",
        .doc = "Run these checks only." },
    { .name = "drain",
        .type = OPTION_BOOL,
        .offset = offsetof (worker_flags_t, drain),
        .doc = "Check draining too, which ends the worker." },
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (worker_flags_t, json), .doc = "Say it as JSON." },
    OPTIONS_END,
};

//  What is tested.
typedef struct {
    arena_t arena;                   //  The directory's answer
    char endpoint [ENDPOINT_MAX];    //  Of the worker
    bool has_card;                   //  The directory has its card
    model_card_t card;               //  It
} subject_t;

static bool
s_is_subject (const subject_t *self, const actor_entry_t *entry, const char *name)
{
    return span_equal_string (entry->address, name) || span_equal_string (entry->endpoint, self->endpoint);
}

static status_t
s_choose (subject_t *self, const array_t *entries, const char *name, error_t *error)
{
    for (size_t i = 0; i < entries->count; i++) {
        const actor_entry_t *entry = array_at (entries, i);
        if (!s_is_subject (self, entry, name))
            continue;
        span_copy_string (caller_way (entry), self->endpoint, sizeof self->endpoint);
        self->has_card = entry->has_card && message_decode (&model_card_message, entry->card, &self->arena, &self->card,
                                                error) == STATUS_OK;
        return STATUS_OK;
    }
    return caller_refuse_address (entries, name, error);
}

//  Looks the worker up; a broker that is not there is fine where an endpoint was given.
static status_t
s_look_up (subject_t *self, const char *broker, const char *name, uint64_t timeout_ms, error_t *error)
{
    array_t entries;
    array_init (&entries, sizeof (actor_entry_t));
    caller_t *caller = caller_new (broker, error);
    status_t status = caller ? caller_list_actors (caller, timeout_ms, &self->arena, &entries, error) : error->status;
    caller_destroy (&caller);
    if (status == STATUS_OK)
        status = s_choose (self, &entries, name, error);
    array_fini (&entries);
    return status;
}

static status_t
s_find (subject_t *self, const worker_flags_t *flags, const char *name, error_t *error)
{
    char broker [ENDPOINT_MAX] = "", events [ENDPOINT_MAX];
    bool is_endpoint = strstr (name, "://") != NULL;
    if (is_endpoint)
        snprintf (self->endpoint, sizeof self->endpoint, "%s", name);
    status_t status = site_find_broker (&flags->site, broker, events, error);
    if (status == STATUS_OK)
        status = s_look_up (self, broker, name, flags->timeout_ns / 1000000, error);
    return is_endpoint ? STATUS_OK : status;
}

//  Names of checks that nobody knows would leave out what was meant.
static status_t
s_check_only (const worker_flags_t *flags, error_t *error)
{
    for (size_t i = 0; i < flags->only.count; i++) {
        const char *name = flags->only.items [i];
        bool known = false;
        suggest_t suggest;
        suggest_init (&suggest, span_from_string (name));
        for (size_t j = 0; j < conformance_count (); j++) {
            suggest_offer (&suggest, conformance_check (j)->name);
            known = known || strcmp (conformance_check (j)->name, name) == 0;
        }
        if (!known)
            return error_set (error, STATUS_INVALID, "there is no check '%.100s'%s", name, suggest_text (&suggest));
    }
    return STATUS_OK;
}

static bool
s_is_chosen (const worker_flags_t *flags, const char *name)
{
    for (size_t i = 0; i < flags->only.count; i++)
        if (strcmp (flags->only.items [i], name) == 0)
            return true;
    return !flags->only.count;
}

static void
s_print_result (
    const worker_flags_t *flags, const check_t *check, check_result_t result, const char *note, buffer_t *out)
{
    static const char *const words [] = { [CHECK_PASSED] = "ok", [CHECK_FAILED] = "FAIL", [CHECK_SKIPPED] = "skip" };
    if (!flags->json) {
        buffer_print (out, "%-5s %-15s %s%s%s\n", words [result], check->name, check->claim, *note ? ": " : "", note);
        return;
    }
    static const char *const names [] = {
        [CHECK_PASSED] = "passed", [CHECK_FAILED] = "failed", [CHECK_SKIPPED] = "skipped"
    };
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "check");
    json_write_string (&json, span_from_string (check->name));
    json_write_key (&json, "result");
    json_write_string (&json, span_from_string (names [result]));
    json_write_key (&json, "claim");
    json_write_string (&json, span_from_string (check->claim));
    json_write_key (&json, "note");
    json_write_string (&json, span_from_string (note));
    json_write_end_object (&json);
    buffer_append_byte (out, '\n');
}

//  Ends behind the first check, a ping, where nobody is there: each further one would wait as long to say the same.
static result_t
s_test (const worker_flags_t *flags, const conformance_t *conformance)
{
    size_t counts [3] = { 0 };
    for (size_t i = 0; i < conformance_count (); i++) {
        const check_t *check = conformance_check (i);
        buffer_t line = { 0 };
        error_t note;
        if (!s_is_chosen (flags, check->name))
            continue;
        check_result_t result = conformance_run (conformance, i, &note);
        counts [result]++;
        s_print_result (flags, check, result, note.text, &line);
        command_print (&line);
        fflush (stdout);
        buffer_fini (&line);
        if (i == 0 && result == CHECK_FAILED && note.status == STATUS_DEADLINE) {
            command_complain (
                &worker_command, "nobody answers at %s; the other checks are left out", conformance->endpoint);
            break;
        }
    }
    if (!flags->json)
        printf ("%zu passed, %zu failed, %zu skipped\n", counts [CHECK_PASSED], counts [CHECK_FAILED],
            counts [CHECK_SKIPPED]);
    return counts [CHECK_FAILED] || !counts [CHECK_PASSED] ? RESULT_FAILED : RESULT_OK;
}

static result_t
s_run (const invocation_t *invocation)
{
    const worker_flags_t *flags = invocation->flags;
    subject_t subject = { .has_card = false };
    error_t error;
    result_t result;
    if (s_check_only (flags, &error) != STATUS_OK) {
        command_complain (invocation->command, "%s", error.text);
        return RESULT_USAGE;
    }
    arena_init (&subject.arena, WORKER_MEMORY);
    status_t status = s_find (&subject, flags, invocation->words [1], &error);
    if (status == STATUS_OK) {
        conformance_t conformance = {
            .endpoint = subject.endpoint,
            .card = subject.has_card ? &subject.card : NULL,
            .model = *flags->model || !subject.has_card ? span_from_string (flags->model) : subject.card.model,
            .timeout_ms = flags->timeout_ns / 1000000,
            .drain = flags->drain,
        };
        result = s_test (flags, &conformance);
    } else {
        command_complain (invocation->command, "%s", error.text);
        result = command_result (status);
    }
    arena_fini (&subject.arena);
    return result;
}

static const char *const s_choices [] = { "test", NULL };

const command_t worker_command = {
    .name = "worker",
    .arguments = "test ENDPOINT",
    .doc = "Check whether something speaks the worker protocol.",
    .essay = "ENDPOINT is where the worker listens (tcp://HOST:PORT, ipc://PATH), or its address in a fleet "
             "(worker/mock-0). Each\n"
             "check is a small conversation over the public protocol, docs/messages.md; the last line counts them.\n",
    .table = s_flags,
    .flags_size = sizeof (worker_flags_t),
    .choices = s_choices,
    .words_min = 2,
    .words_max = 2,
    .run = s_run,
};
