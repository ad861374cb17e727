#include "runtime/stream.h"

#include <inttypes.h>

#include "base/bug.h"
#include "runtime/actor_private.h"

//  Whether the callee may be waited for: it has credit left to use.
static void
s_watch_idle (stream_t *self)
{
    call_t *call = &self->call;
    if (self->options.idle_timeout_ns == PORT_NEVER)
        return;
    if (self->position < self->credit)
        due_at (&call->due, call->actor, actor_now (call->actor) + self->options.idle_timeout_ns);
    else
        due_clear (&call->due, call->actor);
}

static void
s_on_done (void *state, void *arg, call_result_t result, const void *end)
{
    stream_t *self = arg;
    self->options.on_end (state, self->arg, result, end);
}

void
stream_open (stream_t *self, actor_t *actor, span_t address, const message_type_t *type, const void *request,
    const stream_options_t *options, void *arg)
{
    BUG_ON (stream_is_active (self));
    *self = (stream_t){ .call.trace = self->call.trace, .options = *options, .credit = options->credit, .arg = arg };
    stream_start (&self->call, actor, address, type, request, options->credit);
    self->call.done = s_on_done;
    self->call.arg = self;
    if (!due_is_set (&self->call.due))
        s_watch_idle (self);
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
    if (was_idle)
        s_watch_idle (self);
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

//  Ends a stream whose callee breaks the rules.
static void
s_break (stream_t *self, status_t status, const char *what, uint64_t position)
{
    call_t *call = &self->call;
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_CANCEL, .id = call->id };
    link_send (call->link, &header, NULL, NULL);
    error_set (&call->error, status, "%s at position %" PRIu64 ", expected %" PRIu64, what, position, self->position);
    call_complete (call, CALL_FAILED, NULL);
}

static void
s_take_item (stream_t *self, const void *item)
{
    call_t *call = &self->call;
    uint64_t count = self->options.on_item (call->actor->state, self->arg, self->position, item);
    if (!stream_is_active (self) || !call->link)
        return;    //  The consumer has dropped or cancelled it
    if (count > self->credit - self->position) {
        s_break (self, STATUS_INVALID, "the callee sends beyond its credit", self->position + count);
        return;
    }
    self->position += count;
    s_watch_idle (self);
}

void
stream_take (call_t *call, const wire_message_t *message)
{
    stream_t *self = (stream_t *)((char *)call - offsetof (stream_t, call));
    bool is_end = message->header.kind == FRAME_KIND_END;
    const message_type_t *type = is_end ? call->type->end : call->type->item;
    arena_t *scratch = &call->actor->scratch;
    if (message->header.position != self->position) {
        s_break (self, STATUS_GAP, "a hole in the stream", message->header.position);
        return;
    }
    void *body = arena_new (scratch, type->size ? type->size : 1);
    if (message_decode (type, wire_body (message), scratch, body, &call->error)) {
        actor_count (call->actor, COUNT_MALFORMED);
        call_complete (call, CALL_FAILED, NULL);
    } else if (is_end) {
        call_complete (call, CALL_REPLIED, body);
    } else {
        s_take_item (self, body);
    }
}
