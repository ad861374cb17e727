#include "runtime/stream.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/actor_private.h"

static void s_look (due_t *due);

//  Whether it is the callee's turn to say something.
static bool
s_waits (const stream_t *self)
{
    return self->options.idle_timeout_ns != PORT_NEVER && self->position < self->credit;
}

static void
s_look_later (stream_t *self)
{
    uint64_t at = self->heard_ns + CALL_PROBE_NS;
    uint64_t idle = self->waits_ns + self->options.idle_timeout_ns;
    self->call.due.fire = s_look;
    due_at (&self->call.due, self->call.actor, s_waits (self) && idle < at ? idle : at);
}

static void
s_probe (stream_t *self, uint64_t now)
{
    link_probe (self->call.link, self->call.id);
    self->heard_ns = now;
}

//  Time has passed: what was heard meanwhile only moved the times that are looked at here.
static void
s_look (due_t *due)
{
    stream_t *self = (stream_t *)((char *)due - offsetof (stream_t, call.due));
    call_t *call = &self->call;
    uint64_t now = actor_now (call->actor);
    if (call->result != CALL_DEADLINE || (s_waits (self) && now - self->waits_ns >= self->options.idle_timeout_ns)) {
        call_fire (due);
        return;
    }
    if (now - self->heard_ns >= CALL_PROBE_NS)
        s_probe (self, now);
    s_look_later (self);
}

static void
s_on_done (void *state, void *arg, call_result_t result, const void *end)
{
    stream_t *self = arg;
    self->options.on_end (state, self->arg, result, end);
}

static void
s_begin (stream_t *self, const stream_options_t *options, void *arg)
{
    BUG_ON (stream_is_active (self));
    *self = (stream_t){ .call.trace = self->call.trace, .options = *options, .credit = options->credit, .arg = arg };
}

//  The opening is under way, or will fail.
static void
s_listen (stream_t *self)
{
    self->call.done = s_on_done;
    self->call.arg = self;
    self->heard_ns = self->waits_ns = actor_now (self->call.actor);
    if (!due_is_set (&self->call.due))
        s_look_later (self);
}

void
stream_open (stream_t *self, actor_t *actor, span_t address, const message_type_t *type, const void *request,
    const stream_options_t *options, void *arg)
{
    s_begin (self, options, arg);
    stream_start (&self->call, actor, address, type, request, options->credit);
    s_listen (self);
}

void
stream_open_encoded (stream_t *self, actor_t *actor, span_t address, const message_type_t *type, buffer_t *request,
    const stream_options_t *options, void *arg)
{
    s_begin (self, options, arg);
    stream_start_encoded (&self->call, actor, address, type, request, options->credit);
    s_listen (self);
}

void
stream_trace (stream_t *self, span_t trace)
{
    call_trace (&self->call, trace);
}

void
stream_credit (stream_t *self, uint64_t position)
{
    if (!stream_is_active (self) || !self->call.link || position <= self->credit)
        return;
    bool was_idle = self->position == self->credit;
    self->credit = position;
    frame_header_t header = { .version = WIRE_VERSION,
        .kind = FRAME_KIND_CREDIT,
        .id = self->call.id,
        .has_position = true,
        .position = position };
    link_send (self->call.link, &header, NULL, NULL);
    if (was_idle) {
        self->waits_ns = actor_now (self->call.actor);
        s_look_later (self);
    }
}

void
stream_cancel (stream_t *self)
{
    call_cancel (&self->call);
}

void
stream_drop (stream_t *self)
{
    call_drop (&self->call);
}

bool
stream_is_active (const stream_t *self)
{
    return call_is_active (&self->call);
}

const error_t *
stream_error (const stream_t *self)
{
    return call_error (&self->call);
}

//  Ends a stream whose callee is not where it should be.
static void
s_break (stream_t *self, status_t status, const char *what, uint64_t position)
{
    error_set (
        &self->call.error, status, "%s at position %" PRIu64 ", expected %" PRIu64, what, position, self->position);
    call_break (&self->call);
}

//  NULL where what the callee says is not what it should, and the stream is broken therefore.
static const void *
s_decode (stream_t *self, const message_type_t *type, uint64_t position, span_t body)
{
    if (position != self->position) {
        s_break (self, STATUS_GAP, "a hole in the stream", position);
        return NULL;
    }
    const void *message = call_decode (&self->call, type, body);
    if (!message)
        call_break (&self->call);
    return message;
}

//  The consumer may drop or cancel the stream.
static void
s_hand_over (stream_t *self, const void *item)
{
    call_t *call = &self->call;
    uint64_t count = self->options.on_item (call->actor->state, self->arg, self->position, item);
    if (!stream_is_active (self) || !call->link)
        return;
    if (count > self->credit - self->position)
        s_break (self, STATUS_CORRUPT, "the callee sends beyond its credit", self->position + count);
    else
        self->position += count;
}

static const stream_t *
s_of (const call_t *call)
{
    return (const stream_t *)((const char *)call - offsetof (stream_t, call));
}

//  An engine's step has an item for each of many streams, and since the last step others used the caches.  Taken one after the
//  other, most of the time of an item would be waiting for memory: so it is asked for all at once.
void
stream_expect (call_t *const *calls, size_t count)
{
    const stream_t *told [STREAM_TOGETHER];
    size_t told_count = 0;
    for (size_t i = 0; i < count; i++)
        if (calls [i])
            memory_expect (s_of (calls [i]), offsetof (stream_t, call.due));
    for (size_t i = 0; i < count; i++)
        if (calls [i] && calls [i]->type->kind == MESSAGE_STREAM && s_of (calls [i])->options.on_coming)
            told [told_count++] = s_of (calls [i]);
    for (unsigned step = 0; step < STREAM_STEPS; step++)
        for (size_t i = 0; i < told_count; i++)
            told [i]->options.on_coming (told [i]->arg, step);
}

void
stream_take_item (call_t *call, uint64_t position, span_t body, uint64_t now_ns)
{
    stream_t *self = (stream_t *)((char *)call - offsetof (stream_t, call));
    const void *item = s_decode (self, call->type->item, position, body);
    if (!item)
        return;
    self->heard_ns = self->waits_ns = now_ns;
    s_hand_over (self, item);
}

void
stream_take_end (call_t *call, uint64_t position, span_t body)
{
    stream_t *self = (stream_t *)((char *)call - offsetof (stream_t, call));
    const void *end = s_decode (self, call->type->end, position, body);
    if (end)
        call_complete (call, CALL_REPLIED, end);
}
