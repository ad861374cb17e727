//  stator call - any method of any actor, by hand
//
//  The schemas say what a method takes and gives, so every method there is can be called, in JSON both ways.

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/caller.h"
#include "cli/site.h"
#include "runtime/endpoint.h"

enum { CALL_MEMORY = 256 << 20 };

typedef struct {
    site_flags_t site;      //  Which fleet
    uint64_t timeout_ns;    //  Of the call; of silence in a stream
    int64_t credit;         //  Elements a stream may send
} call_flags_t;

static const option_t s_flags [] = {
    { .name = "site", .type = OPTION_INCLUDE, .table = site_flags_table, .offset = offsetof (call_flags_t, site) },
    { .name = "timeout",
        .type = OPTION_DURATION,
        .fallback = "10s",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = offsetof (call_flags_t, timeout_ns),
        .doc = "How long to wait for the answer, or for the next item of a stream." },
    { .name = "credit",
        .type = OPTION_INTEGER,
        .fallback = "1000000000",
        .max = INT64_MAX,
        .offset = offsetof (call_flags_t, credit),
        .doc = "How many elements a stream may send." },
    OPTIONS_END,
};

//  A call under way.
typedef struct {
    const invocation_t *invocation;    //  As typed
    const message_type_t *type;        //  The method
    uint64_t timeout_ms;               //  Of each wait
    arena_t arena;                     //  Request and answers
    caller_t *caller;                  //  To the callee
} call_run_t;

static status_t
s_print (call_run_t *self, const message_type_t *type, span_t body, error_t *error)
{
    buffer_t text = { 0 };
    arena_t arena;
    arena_init (&arena, CALL_MEMORY);
    void *message = arena_new (&arena, type->size);
    status_t status = message_decode (type, body, &arena, message, error);
    if (status == STATUS_OK) {
        message_to_json (type, message, &text);
        buffer_append_byte (&text, '\n');
        command_print (&text);
        fflush (stdout);
    }
    arena_fini (&arena);
    buffer_fini (&text);
    return status;
}

//  Prints what comes until the answer is whole.
static status_t
s_follow (call_run_t *self, uint64_t id, error_t *error)
{
    for (;;) {
        wire_message_t message;
        status_t status = caller_answer (self->caller, id, self->timeout_ms, &message, error);
        if (status != STATUS_OK)
            return status;
        frame_kind_t kind = message.header.kind;
        const message_type_t *type = kind == FRAME_KIND_REPLY  ? self->type->reply
                                     : kind == FRAME_KIND_ITEM ? self->type->item
                                                               : self->type->end;
        bool expected = kind == FRAME_KIND_REPLY || kind == FRAME_KIND_ITEM || kind == FRAME_KIND_END;
        if (!expected || !type)
            return error_set (error, STATUS_CORRUPT, "a message of kind %u is no answer to %s", kind, self->type->name);
        status = s_print (self, type, wire_body (&message), error);
        if (status != STATUS_OK || kind != FRAME_KIND_ITEM)
            return status;
    }
}

static status_t
s_find_method (const char *name, const message_type_t **type, error_t *error)
{
    *type = message_find_call (span_from_string (name));
    if (*type)
        return STATUS_OK;
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (name));
    for (size_t i = 0; i < message_count (); i++)
        if (message_at (i)->kind == MESSAGE_CALL || message_at (i)->kind == MESSAGE_STREAM)
            suggest_offer (&suggest, message_at (i)->name);
    return error_set (error, STATUS_INVALID, "no schema has the method '%.100s'%s", name, suggest_text (&suggest));
}

static status_t
s_call (call_run_t *self, const call_flags_t *flags, error_t *error)
{
    const char *const *words = self->invocation->words;
    char broker [ENDPOINT_MAX] = "", events [ENDPOINT_MAX], endpoint [ENDPOINT_MAX];
    status_t status = s_find_method (words [1], &self->type, error);
    if (status != STATUS_OK)
        return status;
    void *request = arena_new (&self->arena, self->type->size);
    status = message_from_json (
        self->type, span_from_string (self->invocation->count > 2 ? words [2] : "{}"), &self->arena, request, error);
    if (status == STATUS_OK && (!strstr (words [0], "://") || endpoint_leaves_machine (span_from_string (words [0]))))
        status = site_find_broker (&flags->site, broker, events, error);
    if (status == STATUS_OK)
        status = caller_resolve (broker, words [0], self->timeout_ms, endpoint, error);
    if (status == STATUS_OK && !(self->caller = caller_new (endpoint, error)))
        status = error->status;
    if (status != STATUS_OK)
        return status;
    uint64_t id = caller_start (self->caller, self->type, request, self->timeout_ms, (uint64_t)flags->credit);
    status = s_follow (self, id, error);
    if (status == STATUS_DEADLINE) {
        frame_header_t cancel = { .version = WIRE_VERSION, .kind = FRAME_KIND_CANCEL, .id = id };
        caller_send (self->caller, &cancel, NULL, NULL, NULL);
    }
    return status;
}

static result_t
s_run (const invocation_t *invocation)
{
    const call_flags_t *flags = invocation->flags;
    call_run_t call = { .invocation = invocation, .timeout_ms = flags->timeout_ns / 1000000 };
    error_t error;
    arena_init (&call.arena, CALL_MEMORY);
    status_t status = s_call (&call, flags, &error);
    if (status != STATUS_OK)
        command_complain (invocation->command, "%s", error.text);
    caller_destroy (&call.caller);
    arena_fini (&call.arena);
    return command_result (status);
}

const command_t call_command = {
    .name = "call",
    .arguments = "ADDRESS METHOD [JSON]",
    .doc = "Call a method of an actor and print its answer as JSON.",
    .essay = "ADDRESS is an actor's (router/0, worker/mock-0) or an endpoint (tcp://HOST:PORT, ipc://PATH). METHOD is "
             "one of\n"
             "docs/messages.md; JSON its fields by name, {} where left out. A stream prints a line for each item and "
             "one for its end.\n"
             "\n"
             "    stator call worker/mock-0 get_status\n"
             "    stator call router/0 drain\n",
    .table = s_flags,
    .flags_size = sizeof (call_flags_t),
    .words_min = 2,
    .words_max = 3,
    .run = s_run,
};
