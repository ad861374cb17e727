//  stator ps - what runs, and how it is
//
//  The directory says who is there, every actor is asked how it is, all at once; every host is asked what it runs.

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "cli/brief.h"
#include "cli/caller.h"
#include "cli/site.h"
#include "runtime/actor.h"
#include "schemas/directory.h"
#include "schemas/host.h"
#include "schemas/status.h"

enum { PS_MEMORY = 256 << 20, ADDRESS_COLUMN = 24, STATE_COLUMN = 13, ROUND_COLUMN = 15 };

typedef struct {
    site_flags_t site;      //  Which fleet
    uint64_t timeout_ns;    //  To wait for answers
    bool json;              //  For programs
} ps_flags_t;

static const option_t s_flags [] = {
    { .name = "site", .type = OPTION_INCLUDE, .table = site_flags_table, .offset = offsetof (ps_flags_t, site) },
    { .name = "timeout",
        .type = OPTION_DURATION,
        .fallback = "2s",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = offsetof (ps_flags_t, timeout_ns),
        .doc = "How long an actor may take to say how it is." },
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (ps_flags_t, json), .doc = "Say it as JSON." },
    OPTIONS_END,
};

//  One actor and what it answered.
typedef struct {
    actor_entry_t entry;                 //  As the directory has it
    caller_t *caller;                    //  To it; NULL: not asked
    uint64_t status_id;                  //  Of get_status
    uint64_t processes_id;               //  Of list_processes, where it is a host; 0: not asked
    bool has_status;                     //  It answered
    error_t error;                       //  Else: why not
    actor_status_t status;               //  What
    bool has_processes;                  //  Likewise
    list_processes_reply_t processes;    //  Likewise
} seen_t;

typedef struct {
    const invocation_t *invocation;    //  As typed
    uint64_t timeout_ms;               //  Of everything
    arena_t arena;                     //  All answers
    array_t seen;                      //  seen_t, by address
} ps_t;

//  ---- Asking --------------------------------------------------------------------------------------------------------

static bool
s_is_host (const seen_t *seen)
{
    return span_starts_with (seen->entry.address, SPAN ("host/"));
}

static void
s_ask (ps_t *self, seen_t *seen)
{
    char endpoint [ENDPOINT_MAX];
    get_status_t status = { 0 };
    list_processes_t processes = { 0 };
    if (!seen->entry.endpoint.size || !span_copy_string (caller_way (&seen->entry), endpoint, sizeof endpoint))
        return;
    seen->caller = caller_new (endpoint, &seen->error);
    if (!seen->caller)
        return;
    seen->status_id = caller_start (seen->caller, &get_status_message, &status, self->timeout_ms, 0);
    if (s_is_host (seen))
        seen->processes_id = caller_start (seen->caller, &list_processes_message, &processes, self->timeout_ms, 0);
}

static bool
s_hear_one (
    ps_t *self, seen_t *seen, uint64_t id, uint64_t left_ms, const message_type_t *type, void *reply, error_t *error)
{
    wire_message_t message;
    if (caller_answer (seen->caller, id, left_ms, &message, error) != STATUS_OK ||
        message.header.kind != FRAME_KIND_REPLY)
        return false;
    return message_decode (type, arena_copy (&self->arena, wire_body (&message)), &self->arena, reply, NULL) ==
           STATUS_OK;
}

static void
s_hear (ps_t *self, seen_t *seen, uint64_t until_ms)
{
    if (!seen->caller)
        return;
    uint64_t now_ms = caller_now_ms ();
    seen->has_status = s_hear_one (self, seen, seen->status_id, until_ms > now_ms ? until_ms - now_ms : 0,
        &actor_status_message, &seen->status, &seen->error);
    now_ms = caller_now_ms ();
    if (seen->processes_id)
        seen->has_processes = s_hear_one (self, seen, seen->processes_id, until_ms > now_ms ? until_ms - now_ms : 0,
            &list_processes_reply_message, &seen->processes, NULL);
    caller_destroy (&seen->caller);
}

//  The broker is not in its own directory.
static status_t
s_collect (ps_t *self, const char *broker, error_t *error)
{
    caller_t *caller = caller_new (broker, error);
    array_t entries;
    if (!caller)
        return error->status;
    array_init (&entries, sizeof (actor_entry_t));
    status_t status = caller_list_actors (caller, self->timeout_ms, &self->arena, &entries, error);
    caller_destroy (&caller);
    if (status != STATUS_OK) {
        array_fini (&entries);
        return error_prefix (error, "the broker at %s", broker);
    }
    seen_t first = {
        .entry = { .address = SPAN ("broker/0"), .endpoint = span_from_string (broker), .state = ACTOR_STATE_ALIVE }
    };
    array_append (&self->seen, &first, 1);
    for (size_t i = 0; i < entries.count; i++) {
        seen_t *seen = array_add (&self->seen);
        seen->entry = *(actor_entry_t *)array_at (&entries, i);
    }
    array_fini (&entries);
    for (size_t i = 0; i < self->seen.count; i++)
        s_ask (self, array_at (&self->seen, i));
    uint64_t until_ms = caller_now_ms () + self->timeout_ms;
    for (size_t i = 0; i < self->seen.count; i++)
        s_hear (self, array_at (&self->seen, i), until_ms);
    return STATUS_OK;
}

//  ---- Telling -------------------------------------------------------------------------------------------------------

static bool
s_is_well (const seen_t *seen)
{
    if (seen->entry.state == ACTOR_STATE_GONE)
        return true;
    if (seen->entry.state != ACTOR_STATE_ALIVE || !seen->has_status || !span_equal_string (seen->status.state, "ready"))
        return false;
    for (size_t i = 0; seen->has_processes && i < seen->processes.processes_count; i++)
        if (seen->processes.processes [i].state != PROCESS_STATE_RUNNING)
            return false;
    return true;
}

static span_t
s_state (const seen_t *seen)
{
    if (seen->entry.state != ACTOR_STATE_ALIVE)
        return span_from_string (actor_state_name (seen->entry.state));
    if (seen->has_status)
        return seen->status.state;
    return seen->error.status == STATUS_REFUSED ? SPAN ("refused") : SPAN ("silent");
}

static void
s_append_column (span_t text, size_t width, buffer_t *out)
{
    brief_append_text (text, SIZE_MAX, out);
    for (size_t i = text.size; i < width; i++)
        buffer_append_byte (out, ' ');
    if (text.size >= width)
        buffer_append_byte (out, ' ');
}

static void
s_append_longest_round (const actor_status_t *status, buffer_t *out)
{
    for (size_t i = 0; i < status->figures_count; i++)
        if (span_equal_string (status->figures [i].name, ACTOR_LONGEST_ROUND))
            brief_append_ms ((uint64_t)status->figures [i].value / 1000000, out);
}

static void
s_print_actor (const seen_t *seen, buffer_t *out)
{
    buffer_t uptime = { 0 }, longest = { 0 };
    if (seen->has_status) {
        brief_append_ms (seen->status.uptime_ms, &uptime);
        s_append_longest_round (&seen->status, &longest);
    }
    s_append_column (seen->entry.address, ADDRESS_COLUMN, out);
    s_append_column (s_state (seen), STATE_COLUMN, out);
    s_append_column (buffer_span (&uptime), STATE_COLUMN, out);
    s_append_column (buffer_span (&longest), ROUND_COLUMN, out);
    if (seen->has_status)
        brief_append_text (seen->status.detail, SIZE_MAX, out);
    else
        brief_append_text (span_from_string (seen->error.text), SIZE_MAX, out);
    while (out->size && out->data [out->size - 1] == ' ')
        out->size--;
    buffer_append_byte (out, '\n');
    buffer_fini (&longest);
    buffer_fini (&uptime);
}

static void
s_print_process (const host_process_t *process, buffer_t *out)
{
    buffer_t text = { 0 };
    s_append_column (process->name, ADDRESS_COLUMN, out);
    s_append_column (span_from_string (process_state_name (process->state)), STATE_COLUMN, out);
    brief_append_ms (process->uptime_ms, &text);
    s_append_column (buffer_span (&text), STATE_COLUMN, out);
    buffer_print (out, "%-9lld %-9u", (long long)process->pid, process->restarts);
    if (process->has_last_exit)
        buffer_print (out, " %d", process->last_exit);
    while (out->data [out->size - 1] == ' ')
        out->size--;
    buffer_append_byte (out, '\n');
    buffer_fini (&text);
}

static void
s_print_host (const seen_t *seen, buffer_t *out)
{
    buffer_t title = { 0 };
    buffer_print (&title, "PROCESS OF %.*s", SPAN_ARG (seen->entry.address));
    buffer_append_byte (out, '\n');
    s_append_column (buffer_span (&title), ADDRESS_COLUMN, out);
    buffer_append_string (out, "STATE        UPTIME       PID       RESTARTS  LAST EXIT\n");
    for (size_t i = 0; i < seen->processes.processes_count; i++)
        s_print_process (&seen->processes.processes [i], out);
    buffer_fini (&title);
}

static void
s_print (const ps_t *self, buffer_t *out)
{
    buffer_append_string (out, "ACTOR                   STATE        UPTIME       LONGEST ROUND\n");
    for (size_t i = 0; i < self->seen.count; i++)
        s_print_actor (array_at (&self->seen, i), out);
    for (size_t i = 0; i < self->seen.count; i++) {
        const seen_t *seen = array_at (&self->seen, i);
        if (seen->has_processes)
            s_print_host (seen, out);
    }
}

static void
s_write_json (const ps_t *self, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "actors");
    json_write_begin_array (&json);
    for (size_t i = 0; i < self->seen.count; i++) {
        const seen_t *seen = array_at (&self->seen, i);
        buffer_t text = { 0 };
        json_write_begin_object (&json);
        json_write_key (&json, "address");
        json_write_string (&json, seen->entry.address);
        json_write_key (&json, "state");
        json_write_string (&json, s_state (seen));
        if (!seen->has_status && seen->error.status != STATUS_OK) {
            json_write_key (&json, "error");
            json_write_string (&json, span_from_string (seen->error.text));
        }
        if (i) {
            json_write_key (&json, "entry");
            message_to_json (&actor_entry_message, &seen->entry, &text);
            json_write_raw (&json, buffer_span (&text));
        }
        buffer_clear (&text);
        if (seen->has_status) {
            json_write_key (&json, "status");
            message_to_json (&actor_status_message, &seen->status, &text);
            json_write_raw (&json, buffer_span (&text));
        }
        buffer_clear (&text);
        if (seen->has_processes) {
            json_write_key (&json, "runs");
            message_to_json (&list_processes_reply_message, &seen->processes, &text);
            json_write_raw (&json, buffer_span (&text));
        }
        json_write_end_object (&json);
        buffer_fini (&text);
    }
    json_write_end_array (&json);
    json_write_end_object (&json);
    buffer_append_byte (out, '\n');
}

//  ---- Running -------------------------------------------------------------------------------------------------------

static result_t
s_report (const ps_t *self, bool json)
{
    buffer_t text = { 0 };
    bool well = true;
    for (size_t i = 0; i < self->seen.count; i++)
        well &= s_is_well (array_at (&self->seen, i));
    if (json)
        s_write_json (self, &text);
    else
        s_print (self, &text);
    command_print (&text);
    buffer_fini (&text);
    return well ? RESULT_OK : RESULT_DEGRADED;
}

static result_t
s_run (const invocation_t *invocation)
{
    const ps_flags_t *flags = invocation->flags;
    ps_t ps = { .invocation = invocation, .timeout_ms = flags->timeout_ns / 1000000 };
    char broker [ENDPOINT_MAX] = "", events [ENDPOINT_MAX];
    error_t error;
    result_t result;
    arena_init (&ps.arena, PS_MEMORY);
    array_init (&ps.seen, sizeof (seen_t));
    status_t status = site_find_broker (&flags->site, broker, events, &error);
    if (status == STATUS_OK)
        status = s_collect (&ps, broker, &error);
    if (status == STATUS_OK)
        result = s_report (&ps, flags->json);
    else {
        command_complain (invocation->command, "%s", error.text);
        result = command_result (status);
    }
    array_fini (&ps.seen);
    arena_fini (&ps.arena);
    return result;
}

const command_t ps_command = {
    .name = "ps",
    .arguments = "",
    .doc = "List what runs and how it is.",
    .essay = "Exit code 3 where something that should be ready is not.\n",
    .table = s_flags,
    .flags_size = sizeof (ps_flags_t),
    .run = s_run,
};
