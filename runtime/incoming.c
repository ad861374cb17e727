//  incoming - the callee's side of calls and streams
//
//  Every incoming is known by (peer, id) until it is completed, so that credit and cancel find it.  It owns a copy of the
//  request's bytes, or keeps them where they are many, and an arena for what was decoded from them: the handler may keep the
//  message as long as the incoming.
//  ROUTER sockets do not say when a peer goes; that shows when a send finds nobody, at the caller's deadline, and where a
//  stream's handler has set a patience, when no credit comes.  All are cancels, told to the handler in a later turn, never
//  from inside its own call.
//
//  Most calls are answered by their handler before it returns.  So an incoming enters the map, and its deadline the heap,
//  only where it outlives its handler: nothing can ask for it before.

#include "runtime/incoming.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/actor_private.h"

enum { MS = 1000000, PEER_MAX = 255, INCOMINGS_MAX = 100000, STREAMS_MAX = 75000, MESSAGE_MAX = 64 << 20 };

struct incoming {
    actor_t *actor;                    //  Who serves it
    const actor_handler_t *handler;    //  With what
    uint8_t key [8 + PEER_MAX];        //  id, peer
    size_t key_size;                   //  Bytes of it
    uint64_t id;                       //  On the wire
    arena_t arena;                     //  The body, and what was decoded from it
    span_t request;                    //  The body
    keeper_t keeper;                   //  Of a large one, which is not in the arena
    size_t copied;                     //  Bytes of the arena that are the body's
    uint64_t charged;                  //  Of the actor's budget, for all of this
    char sender [ADDRESS_MAX];         //  As the caller gave it
    char trace [64];                   //  traceparent
    uint64_t deadline_ns;              //  UINT64_MAX: none
    due_t due;                         //  The deadline, or a cancel that waits for the turn's end
    incoming_watch_t watch;            //  Who to tell
    uint64_t credit;                   //  Stream: send below this
    uint64_t position;                 //  Stream: next element
    bool gathers;                      //  Stream: its items may share a message with others
    bool cancelled;                    //  Nobody listens any more
    bool told;                         //  on_cancel was called
};

static span_t
s_peer (const incoming_t *self)
{
    return span_of (self->key + 8, self->key_size - 8);
}

static size_t
s_make_key (uint8_t key [8 + PEER_MAX], span_t peer, uint64_t id)
{
    memcpy (key, &id, 8);
    memcpy (key + 8, peer.data, peer.size);
    return 8 + peer.size;
}

//  One that has outlived its handler; NULL where there is none.
static incoming_t *
s_find (actor_t *actor, span_t peer, uint64_t id)
{
    uint8_t key [8 + PEER_MAX];
    return map_get (actor->incomings, span_of (key, s_make_key (key, peer, id)));
}

//  What an incoming takes of the budget.
static uint64_t
s_cost (size_t request_size)
{
    return sizeof (incoming_t) + request_size;
}

static void
s_free (incoming_t *self)
{
    due_clear (&self->due, self->actor);
    if (self->watch.on_free)
        self->watch.on_free (self->watch.arg);
    budget_give (&self->actor->budget, self->charged);
    keeper_release (&self->keeper);
    arena_fini (&self->arena);
    memory_free (self);
}

static void
s_complete (incoming_t *self)
{
    if (self->actor->serving == self)
        self->actor->serving = NULL;
    else
        map_remove (self->actor->incomings, span_of (self->key, self->key_size));
    s_free (self);
}

//  The last word; it overtakes no item.
static void
s_send_error (const incoming_t *self, status_t status, const char *text)
{
    gather_flush (self->actor, s_peer (self));
    wire_send_error (&self->actor->wire, self->actor->router, s_peer (self), self->id, status, text);
}

//  ---- Cancel --------------------------------------------------------------------------------------------------------

static void
s_tell_cancelled (incoming_t *self)
{
    self->cancelled = true;
    if (self->told || !self->watch.on_cancel)
        return;
    self->told = true;
    self->watch.on_cancel (self->watch.arg, self);
}

//  The deadline, a send that found nobody, or a caller that gives no credit; the last one is told so.
static void
s_fire (due_t *due)
{
    incoming_t *self = (incoming_t *)((char *)due - offsetof (incoming_t, due));
    if (!self->cancelled && actor_now (self->actor) < self->deadline_ns)
        s_send_error (self, STATUS_DEADLINE, "the stream is given up: no credit came for too long");
    s_tell_cancelled (self);
}

//  While credit is left it is not the caller who is waited for.
static void
s_wait_for_credit (incoming_t *self)
{
    uint64_t until = self->deadline_ns;
    if (!self->watch.patience_ns || self->cancelled)
        return;
    if (self->position == self->credit && actor_now (self->actor) + self->watch.patience_ns < until)
        until = actor_now (self->actor) + self->watch.patience_ns;
    if (until == UINT64_MAX)
        due_clear (&self->due, self->actor);
    else
        due_at (&self->due, self->actor, until);
}

//  A send came to nothing: tell the handler when it has returned.
static void
s_lose (incoming_t *self, runtime_count_t count)
{
    self->cancelled = true;
    actor_count (self->actor, count);
    due_at (&self->due, self->actor, 0);
}

//  What the handler says is too large to be said: the caller hears that instead.
static void
s_refuse_own (incoming_t *self, const message_type_t *type, size_t size)
{
    char text [ERROR_TEXT_MAX];
    snprintf (text, sizeof text, "%s of %zu bytes was not sent: a message has at most %" PRIu64, type->name, size,
        SOCKET_MESSAGE_MAX);
    wire_send_error (&self->actor->wire, self->actor->router, s_peer (self), self->id, STATUS_INVALID, text);
    s_lose (self, COUNT_TOO_LARGE);
}

//  What was gathered in the handler that runs is nobody's whom the map knows yet.
void
incoming_lost (actor_t *actor, span_t peer, uint64_t id)
{
    incoming_t *serving = actor->serving;
    bool is_serving = serving && serving->id == id && span_equal (s_peer (serving), peer);
    incoming_t *self = is_serving ? serving : s_find (actor, peer, id);
    if (self && !self->cancelled)
        s_lose (self, COUNT_PEER_LOST);
}

//  ---- What the handler does -----------------------------------------------------------------------------------------

static void
s_note_sent (incoming_t *self, status_t status, const message_type_t *type, size_t size)
{
    if (status == STATUS_LIMIT)
        s_refuse_own (self, type, size);
    else if (status)
        s_lose (self, COUNT_PEER_LOST);
}

static void
s_send (incoming_t *self, frame_kind_t kind, const message_type_t *type, const void *message)
{
    gather_flush (self->actor, s_peer (self));
    if (self->cancelled)
        return;
    frame_header_t header = { .version = WIRE_VERSION, .kind = kind, .id = self->id };
    header.has_position = kind == FRAME_KIND_ITEM || kind == FRAME_KIND_END;
    header.position = self->position;
    status_t status = wire_send (&self->actor->wire, self->actor->router, s_peer (self), &header, type, message);
    s_note_sent (self, status, type, self->actor->wire.body.size);
}

void
incoming_watch (incoming_t *self, const incoming_watch_t *watch)
{
    self->watch = *watch;
    s_wait_for_credit (self);
}

void
incoming_reply (incoming_t *self, const void *reply)
{
    BUG_ON (self->handler->type->kind != MESSAGE_CALL);
    s_send (self, FRAME_KIND_REPLY, self->handler->type->reply, reply);
    s_complete (self);
}

void
incoming_reply_encoded (incoming_t *self, buffer_t *reply)
{
    BUG_ON (self->handler->type->kind != MESSAGE_CALL);
    actor_t *actor = self->actor;
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_REPLY, .id = self->id };
    size_t size = reply->size;
    gather_flush (actor, s_peer (self));
    status_t status = STATUS_OK;
    if (!self->cancelled)
        status = wire_send_encoded (&actor->wire, actor->router, s_peer (self), &header, reply);
    buffer_fini (reply);
    s_note_sent (self, status, self->handler->type->reply, size);
    s_complete (self);
}

keeper_t
incoming_keep (incoming_t *self)
{
    return keeper_take (&self->keeper);
}

void
incoming_fail (incoming_t *self, status_t status, const char *format, ...)
{
    char text [ERROR_TEXT_MAX];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    if (!self->cancelled)
        s_send_error (self, status, text);
    s_complete (self);
}

uint64_t
incoming_credit (const incoming_t *self)
{
    return self->credit;
}

uint64_t
incoming_position (const incoming_t *self)
{
    return self->position;
}

void
incoming_send (incoming_t *self, uint64_t count, const void *item)
{
    BUG_ON (self->handler->type->kind != MESSAGE_STREAM);
    BUG_ON (count > self->credit - self->position);
    const message_type_t *type = self->handler->type->item;
    if (!self->gathers || self->cancelled ||
        !gather_put (self->actor, s_peer (self), self->id, self->position, type, item))
        s_send (self, FRAME_KIND_ITEM, type, item);
    self->position += count;
    s_wait_for_credit (self);
}

void
incoming_end (incoming_t *self, const void *end)
{
    BUG_ON (self->handler->type->kind != MESSAGE_STREAM);
    s_send (self, FRAME_KIND_END, self->handler->type->end, end);
    s_complete (self);
}

const char *
incoming_sender (const incoming_t *self)
{
    return self->sender;
}

span_t
incoming_trace (const incoming_t *self)
{
    return span_from_string (self->trace);
}

//  ---- What arrives --------------------------------------------------------------------------------------------------

static void
s_refuse (actor_t *actor, const wire_message_t *message, runtime_count_t count, status_t status, const char *text)
{
    actor_count (actor, count);
    wire_send_error (&actor->wire, actor->router, message->peer, message->header.id, status, text);
}

static void
s_take_body (incoming_t *self, const wire_message_t *message)
{
    self->request = wire_body (message);
    if (self->request.size >= SOCKET_KEEP_MIN) {
        self->keeper = actor_table (self->actor)->socket_keep (self->actor->router, message->body);
        return;
    }
    self->request = arena_copy (&self->arena, self->request);
    self->copied = self->request.size;
}

static incoming_t *
s_new (actor_t *actor, const actor_handler_t *handler, const wire_message_t *message, span_t body)
{
    incoming_t *self = memory_new (sizeof *self);
    self->actor = actor;
    self->handler = handler;
    self->id = message->header.id;
    self->key_size = s_make_key (self->key, message->peer, message->header.id);
    arena_init (&self->arena, MESSAGE_MAX + body.size);
    s_take_body (self, message);
    self->charged = s_cost (body.size);
    span_copy_string (message->header.sender, self->sender, sizeof self->sender);
    span_copy_string (message->header.trace, self->trace, sizeof self->trace);
    self->credit = message->header.position;
    self->gathers = message->header.gathers;
    self->deadline_ns = UINT64_MAX;
    self->due.fire = s_fire;
    uint64_t now = actor_now (actor);
    if (message->header.has_deadline_ms && message->header.deadline_ms < (UINT64_MAX - now) / MS)
        self->deadline_ns = now + message->header.deadline_ms * MS;
    return self;
}

//  A byte of the body can be a struct in the message.
static status_t
s_charge_message (incoming_t *self, error_t *error)
{
    uint64_t bytes = self->arena.used - self->copied;
    status_t status = budget_take (&self->actor->budget, bytes, error);
    if (status == STATUS_OK)
        self->charged += bytes;
    return status;
}

//  The handler has returned and will complete it later.
static void
s_enter (incoming_t *self)
{
    map_put (self->actor->incomings, span_of (self->key, self->key_size), self);
    if (self->deadline_ns != UINT64_MAX && !due_is_set (&self->due))
        due_at (&self->due, self->actor, self->deadline_ns);
}

static void
s_dispatch (incoming_t *self)
{
    actor_t *actor = self->actor;
    const message_type_t *type = self->handler->type;
    error_t error;
    actor->serving = self;
    void *message = arena_new (&self->arena, type->size ? type->size : 1);
    if (message_decode (type, self->request, &self->arena, message, &error)) {
        actor_count (actor, COUNT_BAD_REQUEST);
        incoming_fail (self, error.status, "%s", error.text);
        return;
    }
    if (s_charge_message (self, &error)) {
        actor_count (actor, COUNT_OVERLOADED);
        incoming_fail (self, error.status, "%s", error.text);
        return;
    }
    self->handler->on_call (actor->state, actor, self, message);
    if (actor->serving)
        s_enter (self);
    actor->serving = NULL;
}

//  Whoever lost its roles is not told what this actor has.
static bool
s_may_call (actor_t *actor, const wire_message_t *message)
{
    char text [ERROR_TEXT_MAX];
    socket_sender_t sender = actor_table (actor)->socket_sender (actor->router);
    if (guard_may_call (actor->options.guard, &sender, actor->class->name, message->header.method))
        return true;
    snprintf (text, sizeof text, "%s%s%s may not call %s.%.*s: its roles do not allow it", *sender.name ? "key '" : "",
        *sender.name ? sender.name : "a key that is not known here (any more)", *sender.name ? "'" : "",
        actor->class->name, SPAN_ARG (span_slice (message->header.method, 0, 64)));
    s_refuse (actor, message, COUNT_REFUSED, STATUS_REFUSED, text);
    return false;
}

//  Streams that nobody gives credit to last for as long as somebody is patient: calls have room beside them.
static bool
s_has_room (const actor_t *actor, const actor_handler_t *handler)
{
    size_t most = handler->type->kind == MESSAGE_STREAM ? STREAMS_MAX : INCOMINGS_MAX;
    return map_count (actor->incomings) < most;
}

static void
s_take_call (actor_t *actor, const wire_message_t *message)
{
    char text [160];
    span_t body = wire_body (message);
    if (!s_may_call (actor, message))
        return;
    const actor_handler_t *handler = map_get (actor->handlers, message->header.method);
    if (!handler) {
        snprintf (text, sizeof text, "%s has no method '%.*s'; get_status lists those it has", actor->address,
            SPAN_ARG (span_slice (message->header.method, 0, 64)));
        s_refuse (actor, message, COUNT_UNKNOWN_METHOD, STATUS_NOT_FOUND, text);
        return;
    }
    if (s_find (actor, message->peer, message->header.id)) {
        s_refuse (actor, message, COUNT_MALFORMED, STATUS_INVALID, "a call with this id is under way already");
        return;
    }
    if (!s_has_room (actor, handler) || budget_take (&actor->budget, s_cost (body.size), NULL)) {
        snprintf (text, sizeof text, "%s has too many calls under way; try again later", actor->address);
        s_refuse (actor, message, COUNT_OVERLOADED, STATUS_LIMIT, text);
        return;
    }
    s_dispatch (s_new (actor, handler, message, body));
}

static void
s_take_credit (incoming_t *self, const wire_message_t *message)
{
    if (self->handler->type->kind != MESSAGE_STREAM || message->header.position <= self->credit)
        return;
    self->credit = message->header.position;
    s_wait_for_credit (self);
    if (self->watch.on_credit && !self->cancelled)
        self->watch.on_credit (self->watch.arg, self);
}

static void
s_take_handover (actor_t *actor, span_t peer, const span_t *frames, size_t count)
{
    if (actor->class->on_handover && count == 3)
        actor->class->on_handover (actor->state, actor, peer, frames);
    else
        actor_count (actor, COUNT_MALFORMED);
}

static void
s_take_follow_up (actor_t *actor, const wire_message_t *message)
{
    incoming_t *incoming = s_find (actor, message->peer, message->header.id);
    socket_sender_t sender = actor_table (actor)->socket_sender (actor->router);
    if (sender.proven && !sender.roles) {
        actor_count (actor, COUNT_REFUSED);
        return;
    }
    if (message->header.kind == FRAME_KIND_PROBE) {
        if (incoming && incoming->watch.probe_suffices)
            s_wait_for_credit (incoming);
        if (!incoming)
            wire_send_error (&actor->wire, actor->router, message->peer, message->header.id, STATUS_GAP,
                "no such call is under way here: its opening or its answer was lost");
        return;
    }
    if (!incoming)
        return;    //  Completed while the message was under way
    if (message->header.kind == FRAME_KIND_CREDIT)
        s_take_credit (incoming, message);
    else
        s_tell_cancelled (incoming);
}

void
incoming_refuse_large (actor_t *actor, span_t peer)
{
    wire_message_t message = { .peer = peer };
    s_refuse (actor, &message, COUNT_MALFORMED, STATUS_LIMIT, "a message with too many frames or bytes was dropped");
}

//  A batch that is not acknowledged is handed over again.
void
incoming_refuse_shed (actor_t *actor, const span_t *frames, size_t count)
{
    wire_message_t message;
    bool is_call = !wire_is_handover (&actor->wire, frames, count) &&
                   wire_parse (frames, count, true, &message, NULL) == STATUS_OK && message.peer.size <= PEER_MAX &&
                   message.header.kind == FRAME_KIND_CALL;
    if (is_call)
        s_refuse (actor, &message, COUNT_OVERLOADED, STATUS_LIMIT,
            "it is far behind with what it was sent, and takes nothing large now");
    else
        actor_count (actor, COUNT_OVERLOADED);
}

void
incoming_take (actor_t *actor, const span_t *frames, size_t count)
{
    wire_message_t message;
    error_t error;
    if (wire_is_handover (&actor->wire, frames, count)) {
        s_take_handover (actor, frames [0], frames + 3, count - 3);
        return;
    }
    status_t status = wire_parse (frames, count, true, &message, &error);
    if (!status && message.peer.size > PEER_MAX)
        status = error_set (&error, STATUS_INVALID, "the name of a peer has more than %d bytes", PEER_MAX);
    if (status) {
        s_refuse (actor, &message, COUNT_MALFORMED, error.status, error.text);
        return;
    }
    switch (message.header.kind) {
    case FRAME_KIND_CALL:
        s_take_call (actor, &message);
        break;
    case FRAME_KIND_CREDIT:
    case FRAME_KIND_CANCEL:
    case FRAME_KIND_PROBE:
        s_take_follow_up (actor, &message);
        break;
    case FRAME_KIND_EVENT:
        s_take_handover (actor, message.peer, message.body, message.body_count);
        break;
    default:
        s_refuse (actor, &message, COUNT_MALFORMED, STATUS_INVALID,
            "a callee takes call, credit, probe, cancel and event only");
        break;
    }
}

void
incoming_destroy_all (actor_t *actor)
{
    size_t cursor = 0;
    void *incoming;
    while (map_next (actor->incomings, &cursor, NULL, &incoming)) {
        map_remove (actor->incomings, span_of (((incoming_t *)incoming)->key, ((incoming_t *)incoming)->key_size));
        s_free (incoming);
    }
}

void
actor_acknowledge (actor_t *self, span_t peer, uint16_t stream, uint64_t sequence)
{
    frame_header_t header = {
        .version = WIRE_VERSION, .kind = FRAME_KIND_ACK, .id = stream, .has_position = true, .position = sequence
    };
    if (wire_send_frames (&self->wire, self->router, peer, &header, NULL, 0) != STATUS_OK)
        actor_count (self, COUNT_PEER_LOST);
}
