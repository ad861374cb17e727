//  link - the caller's side: one DEALER a peer, and what is under way on it
//
//  A link is opened at the first call to an address and stays.  When the directory says that the peer was replaced, moved
//  or lost, the link breaks: everything under way on it fails as unreachable, and the next call opens a new one.  The
//  broker's link is the exception: its endpoint is configured, and it outlives the broker.
//
//  A peer that drained said all it had to say before its goodbye, but the goodbye comes by way of the broker, and may be
//  heard first.  So its link is retired: nothing new begins on it, and what is under way may still end well for a second.
//
//  A link to a stranger, a program that is no actor, is opened at an endpoint.  A stranger may be a REP socket, which has to
//  answer whatever it is sent, so it is sent calls and nothing else.  When it misses a deadline its link is retired: the
//  next call opens a new one, so that nothing stale waits for a program that comes back; what is under way on the old one
//  may still be answered, and the last of it closes it.

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/actor_private.h"
#include "runtime/directory.h"
#include "runtime/stream.h"

enum { MS = 1000000 };

//  What a peer said before its goodbye is here by then: its process gives it to the network for half a second.
static const uint64_t FAREWELL_NS = 1000000000;

struct link {
    actor_t *actor;                 //  Whose
    char address [ENDPOINT_MAX];    //  Of the peer; of a stranger its endpoint
    bool is_stranger;               //  No actor
    bool retired;                   //  Not in the map any more, closed when nothing is under way
    port_socket_t *socket;          //  DEALER
    map_t *calls;                   //  Id -> call_t
    list_t active;                  //  The same, oldest first
    uint64_t ended;                 //  Calls that were on it
    due_t farewell;                 //  The peer has left: when nothing more is expected of it
    list_link_t in_doomed;          //  Waits to be freed
};

static span_t
s_address (const link_t *self)
{
    return span_from_string (self->address);
}

static void s_on_message (void *arg, const span_t *frames, size_t count);
static void s_on_dropped (void *arg, span_t first);
static void s_on_farewell (due_t *due);

static link_t *
s_open (actor_t *actor, span_t address, const char *endpoint, error_t *error)
{
    link_t *self = memory_new (sizeof *self);
    self->actor = actor;
    span_copy_string (address, self->address, sizeof self->address);
    socket_options_t options = { .kind = SOCKET_DEALER,
        .send_queue = 10000,
        .receive_queue = 10000,
        .on_message = s_on_message,
        .on_dropped = s_on_dropped,
        .arg = self };
    self->socket = actor_table (actor)->socket_open (actor->port, &options, error);
    if (!self->socket || actor_table (actor)->socket_connect (self->socket, endpoint, error)) {
        if (self->socket)
            actor_table (actor)->socket_close (self->socket);
        memory_free (self);
        return NULL;
    }
    self->calls = map_new (0);
    self->farewell.fire = s_on_farewell;
    list_init (&self->active);
    map_put (actor->links, s_address (self), self);
    return self;
}

//  The plain way where both are of one host.
static span_t
s_way (const actor_t *actor, const actor_entry_t *entry)
{
    bool neighbour = entry->has_local && span_equal_string (entry->host, actor->host);
    return neighbour ? entry->local : entry->endpoint;
}

link_t *
link_to (actor_t *actor, span_t address, error_t *error)
{
    link_t *link = map_get (actor->links, address);
    if (link)
        return link;
    if (span_equal (address, SPAN (BROKER_ADDRESS)) && actor->options.broker)
        return s_open (actor, address, actor->options.broker, error);
    const actor_entry_t *entry = directory_find (actor, address);
    char endpoint [ENDPOINT_MAX];
    if (!entry || entry->state != ACTOR_STATE_ALIVE || entry->endpoint.size == 0 ||
        !span_copy_string (s_way (actor, entry), endpoint, sizeof endpoint)) {
        error_set (error, STATUS_UNREACHABLE, "%.*s is %s", SPAN_ARG (address),
            entry ? actor_state_name (entry->state) : "not known in the directory");
        return NULL;
    }
    return s_open (actor, address, endpoint, error);
}

//  The link to a program that is no actor.
static link_t *
s_link_to_stranger (actor_t *actor, const char *endpoint, error_t *error)
{
    link_t *link = map_get (actor->links, span_from_string (endpoint));
    if (!link)
        link = s_open (actor, span_from_string (endpoint), endpoint, error);
    if (link)
        link->is_stranger = true;
    return link;
}

static void
s_doom (link_t *self)
{
    list_append (&self->actor->doomed_links, &self->in_doomed);
    actor_want_turn_end (self->actor);
}

static void
s_retire (link_t *self)
{
    if (self->retired)
        return;
    map_remove (self->actor->links, s_address (self));
    self->retired = true;
}

static void
s_free (link_t *self)
{
    due_clear (&self->farewell, self->actor);
    actor_table (self->actor)->socket_close (self->socket);
    map_destroy (&self->calls);
    memory_free (self);
}

static void
s_fail_all (link_t *self, const char *why)
{
    list_link_t *first;
    while ((first = list_first (&self->active))) {
        call_t *call = LIST_ENTRY (first, call_t, in_link);
        error_set (&call->error, STATUS_UNREACHABLE, "%s %s", self->address, why);
        call_complete (call, CALL_FAILED, NULL);
    }
}

//  The link leaves the map at once, so that calls made by the ones that fail here open a new one; the socket, which may
//  be the one whose message is being handled, goes at the turn's end.
void
link_break (actor_t *actor, span_t address, const char *why)
{
    link_t *self = map_remove (actor->links, address);
    if (!self)
        return;
    s_doom (self);
    s_fail_all (self, why);
}

//  The last to fail dooms it.
static void
s_on_farewell (due_t *due)
{
    link_t *self = (link_t *)((char *)due - offsetof (link_t, farewell));
    s_fail_all (self, "has left");
}

void
link_leave (actor_t *actor, span_t address)
{
    link_t *self = map_get (actor->links, address);
    if (!self)
        return;
    s_retire (self);
    if (list_first (&self->active))
        due_at (&self->farewell, actor, actor_now (actor) + FAREWELL_NS);
    else
        s_doom (self);
}

void
link_free_doomed (actor_t *actor)
{
    list_link_t *first;
    while ((first = list_take_first (&actor->doomed_links)))
        s_free (LIST_ENTRY (first, link_t, in_doomed));
}

void
link_destroy_all (actor_t *actor)
{
    size_t cursor = 0;
    void *link;
    while (map_next (actor->links, &cursor, NULL, &link))
        s_free (link);
}

status_t
link_send (link_t *self, const frame_header_t *header, const message_type_t *type, const void *message)
{
    return wire_send (&self->actor->wire, self->socket, SPAN (""), header, type, message);
}

status_t
link_send_frames (link_t *self, const frame_header_t *header, const span_t *frames, size_t count)
{
    return wire_send_frames (&self->actor->wire, self->socket, SPAN (""), header, frames, count);
}

//  Says something about a call or stream that is under way.
static void
s_tell (link_t *self, frame_kind_t kind, uint64_t id)
{
    frame_header_t header = { .version = WIRE_VERSION, .kind = kind, .id = id };
    if (!self->is_stranger)
        link_send (self, &header, NULL, NULL);
}

void
link_probe (link_t *self, uint64_t id)
{
    s_tell (self, FRAME_KIND_PROBE, id);
}

//  ---- Calls ---------------------------------------------------------------------------------------------------------

static void s_look (due_t *due);

static void
s_look_later (call_t *self, uint64_t now)
{
    uint64_t at = now + CALL_PROBE_NS;
    self->due.fire = s_look;
    due_at (&self->due, self->actor, self->deadline_ns < at ? self->deadline_ns : at);
}

void
call_fire (due_t *due)
{
    call_t *self = (call_t *)((char *)due - offsetof (call_t, due));
    if (self->result == CALL_DEADLINE && self->link) {
        s_tell (self->link, FRAME_KIND_CANCEL, self->id);
        if (self->link->is_stranger)
            s_retire (self->link);
        error_set (
            &self->error, STATUS_DEADLINE, "%s did not answer %s in time", self->link->address, self->type->name);
    }
    call_complete (self, self->result, NULL);
}

//  Time has passed for a plain call.
static void
s_look (due_t *due)
{
    call_t *self = (call_t *)((char *)due - offsetof (call_t, due));
    uint64_t now = actor_now (self->actor);
    if (self->result != CALL_DEADLINE || now >= self->deadline_ns) {
        call_fire (due);
        return;
    }
    link_probe (self->link, self->id);
    s_look_later (self, now);
}

//  Completes in a later turn.
static void
s_complete_soon (call_t *self, call_result_t result)
{
    self->result = result;
    due_at (&self->due, self->actor, 0);
}

static void
s_leave_link (call_t *self)
{
    if (!self->link)
        return;
    link_t *link = self->link;
    map_remove_u64 (link->calls, self->id);
    list_remove (&link->active, &self->in_link);
    link->ended++;
    if (link->retired && !list_first (&link->active))
        s_doom (link);
    self->link = NULL;
}

//  What remains when a call is over: nothing of it is known to the runtime any more.
static void
s_detach (call_t *self)
{
    s_leave_link (self);
    due_clear (&self->due, self->actor);
    self->actor = NULL;
}

//  What an opening says.
typedef struct {
    const void *request;    //  A message of the call's type, where it is not
    buffer_t *encoded;      //  encoded already; taken
    uint64_t timeout_ns;    //  On the wire; PORT_NEVER for none
    uint64_t credit;        //  Of a stream
    size_t size;            //  Bytes of the request, once they are known
} opening_t;

static status_t
s_send_opening (call_t *self, opening_t *opening)
{
    uint64_t timeout_ns = opening->timeout_ns;
    frame_header_t header = {
        .version = WIRE_VERSION,
        .kind = FRAME_KIND_CALL,
        .id = self->id,
        .has_method = true,
        .method = span_from_string (self->type->name),
        .has_deadline_ms = timeout_ns != PORT_NEVER,
        .deadline_ms = (timeout_ns + MS - 1) / MS,
        .has_position = self->type->kind == MESSAGE_STREAM,
        .position = opening->credit,
        .has_trace = self->trace.size != 0,
        .trace = self->trace,
        .has_sender = true,
        .sender = span_from_string (self->actor->address),
        .has_gathers = self->type->kind == MESSAGE_STREAM,
        .gathers = true,
    };
    self->trace = SPAN ("");
    opening->size = opening->encoded ? opening->encoded->size : 0;
    if (opening->encoded)
        return wire_send_encoded (&self->actor->wire, self->link->socket, SPAN (""), &header, opening->encoded);
    status_t status = link_send (self->link, &header, self->type, opening->request);
    opening->size = self->actor->wire.body.size;
    return status;
}

//  Why the opening was not sent.  One that is too large would be so anywhere.
static void
s_explain (call_t *self, status_t status, size_t size)
{
    if (status != STATUS_LIMIT) {
        error_set (&self->error, STATUS_LIMIT,
            "%s takes nothing now: it is far behind, or has turned this process away", self->link->address);
        return;
    }
    actor_count (self->actor, COUNT_TOO_LARGE);
    error_set (&self->error, STATUS_INVALID, "%s of %zu bytes was not sent: a message has at most %" PRIu64,
        self->type->name, size, SOCKET_MESSAGE_MAX);
}

static void
s_enter_link (call_t *self, link_t *link)
{
    self->link = link;
    map_put_u64 (link->calls, self->id, self);
    list_append (&link->active, &self->in_link);
}

static void
s_begin (call_t *self, actor_t *actor, const message_type_t *type)
{
    BUG_ON (call_is_active (self));
    *self = (call_t){
        .actor = actor, .type = type, .id = ++actor->next_call, .result = CALL_DEADLINE, .trace = self->trace
    };
    self->due.fire = call_fire;
}

//  Shared by calls and streams: on return the call is under way, or will fail in a later turn.
//  link: NULL where there is none, and the call's error says why.
static void
s_open_on (call_t *self, link_t *link, opening_t opening)
{
    if (!link) {
        s_complete_soon (self, CALL_FAILED);
        return;
    }
    s_enter_link (self, link);
    status_t status = s_send_opening (self, &opening);
    if (status) {
        s_explain (self, status, opening.size);
        s_complete_soon (self, CALL_FAILED);
    }
}

static void
s_await_reply (call_t *self, const call_options_t *options)
{
    self->done = options->done;
    self->arg = options->arg;
    uint64_t now = actor_now (self->actor);
    self->deadline_ns = now + options->timeout_ns;
    if (!due_is_set (&self->due))
        s_look_later (self, now);
}

static link_t *
s_link_for (call_t *self, const call_options_t *options)
{
    return options->endpoint ? s_link_to_stranger (self->actor, options->endpoint, &self->error)
                             : link_to (self->actor, options->address, &self->error);
}

void
call_start (call_t *self, actor_t *actor, const call_options_t *options)
{
    BUG_ON (options->type->kind != MESSAGE_CALL || options->timeout_ns == PORT_NEVER);
    opening_t opening = { .request = options->request, .encoded = options->encoded, .timeout_ns = options->timeout_ns };
    s_begin (self, actor, options->type);
    s_open_on (self, s_link_for (self, options), opening);
    if (options->encoded)
        buffer_fini (options->encoded);
    s_await_reply (self, options);
}

keeper_t
call_keep (const actor_t *actor)
{
    if (!actor->reply || actor->reply->size < SOCKET_KEEP_MIN)
        return (keeper_t){ 0 };
    return actor_table (actor)->socket_keep (actor->reply_socket, actor->reply);
}

void
call_trace (call_t *self, span_t trace)
{
    self->trace = trace;
}

void
call_complete (call_t *self, call_result_t result, const void *reply)
{
    void *state = self->actor->state;
    s_detach (self);
    self->done (state, self->arg, result, reply);
}

static void
s_tell_cancel (call_t *self)
{
    if (self->link)
        s_tell (self->link, FRAME_KIND_CANCEL, self->id);
}

void
call_break (call_t *self)
{
    s_tell_cancel (self);
    call_complete (self, CALL_FAILED, NULL);
}

//  The callee hears of it now, the caller in a later turn.
static void
s_end_soon (call_t *self, call_result_t result)
{
    s_tell_cancel (self);
    s_leave_link (self);
    s_complete_soon (self, result);
}

void
call_cancel (call_t *self)
{
    if (!call_is_active (self))
        return;
    error_set (&self->error, STATUS_CANCELLED, "cancelled");
    s_end_soon (self, CALL_CANCELLED);
}

void
call_drop (call_t *self)
{
    if (!call_is_active (self))
        return;
    s_tell_cancel (self);
    s_detach (self);
}

bool
call_is_active (const call_t *self)
{
    return self->actor != NULL;
}

const error_t *
call_error (const call_t *self)
{
    return &self->error;
}

//  ---- Streams: the opening is a call; the rest is in stream.c -------------------------------------------------------

void
stream_start (
    call_t *self, actor_t *actor, span_t address, const message_type_t *type, const void *request, uint64_t credit)
{
    BUG_ON (type->kind != MESSAGE_STREAM);
    s_begin (self, actor, type);
    s_open_on (self, link_to (actor, address, &self->error),
        (opening_t){ .request = request, .timeout_ns = PORT_NEVER, .credit = credit });
}

void
stream_start_encoded (
    call_t *self, actor_t *actor, span_t address, const message_type_t *type, buffer_t *request, uint64_t credit)
{
    BUG_ON (type->kind != MESSAGE_STREAM);
    s_begin (self, actor, type);
    s_open_on (self, link_to (actor, address, &self->error),
        (opening_t){ .encoded = request, .timeout_ns = PORT_NEVER, .credit = credit });
    buffer_fini (request);
}

//  ---- What arrives --------------------------------------------------------------------------------------------------

void *
call_decode (call_t *self, const message_type_t *type, span_t body)
{
    actor_t *actor = self->actor;
    void *message = arena_take (&actor->scratch, type->size ? type->size : 1);
    if (message_decode (type, body, &actor->scratch, message, &self->error) == STATUS_OK)
        return message;
    actor_count (actor, COUNT_MALFORMED);
    self->error.status = STATUS_CORRUPT;
    return NULL;
}

static void
s_take_reply (call_t *call, const wire_message_t *message)
{
    actor_t *actor = call->actor;
    const void *reply = call_decode (call, call->type->reply, wire_body (message));
    actor->reply = message->body;
    actor->reply_socket = call->link->socket;
    call_complete (call, reply ? CALL_REPLIED : CALL_FAILED, reply);
    actor->reply = NULL;
}

static void
s_take_error (call_t *call, const wire_message_t *message)
{
    const call_error_t *failure = call_decode (call, &call_error_message, wire_body (message));
    if (failure) {
        bool is_known = failure->status && failure->status < STATUS_COUNT;
        error_set (
            &call->error, is_known ? (status_t)failure->status : STATUS_INTERNAL, "%.*s", SPAN_ARG (failure->text));
    }
    call_complete (call, CALL_FAILED, NULL);
}

//  What the peer sent cannot be read, and may have been an item of any of its streams: each would wait for it as long as
//  nothing follows.  An answer that was lost so is found out by a probe.
static void
s_take_garbage (link_t *self)
{
    actor_count (self->actor, COUNT_MALFORMED);
    for (list_link_t *link = list_first (&self->active), *next; link; link = next) {
        call_t *call = LIST_ENTRY (link, call_t, in_link);
        next = list_next (&self->active, link);
        if (call->type->kind != MESSAGE_STREAM)
            continue;
        error_set (&call->error, STATUS_CORRUPT, "%s sent a message that cannot be read", self->address);
        s_end_soon (call, CALL_FAILED);
    }
}

//  Whether the lists are of one length, and the items as long as they are said to be.
static bool
s_is_whole (const gathered_items_t *gathered)
{
    uint64_t bytes = 0;
    size_t count = gathered->ids.count;
    if (gathered->positions.count != count || gathered->sizes.count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        bytes += column_u32 (gathered->sizes, i);
    return bytes == gathered->items.size;
}

static void
s_take (link_t *self, const wire_message_t *message)
{
    actor_t *actor = self->actor;
    if (message->header.kind == FRAME_KIND_ACK) {
        source_acknowledged (actor, (uint16_t)message->header.id, message->header.position);
        return;
    }
    call_t *call = map_get_u64 (self->calls, message->header.id);
    bool is_stream = call && call->type->kind == MESSAGE_STREAM;
    if (!call)
        actor_count (actor, COUNT_LATE);
    else if (message->header.kind == FRAME_KIND_ERROR)
        s_take_error (call, message);
    else if (message->header.kind == FRAME_KIND_REPLY && !is_stream)
        s_take_reply (call, message);
    else if (message->header.kind == FRAME_KIND_ITEM && is_stream)
        stream_take_item (call, message->header.position, wire_body (message), actor_now (actor));
    else if (message->header.kind == FRAME_KIND_END && is_stream)
        stream_take_end (call, message->header.position, wire_body (message));
    else
        actor_count (actor, COUNT_MALFORMED);
}

static void
s_take_item (link_t *self, call_t *call, uint64_t position, span_t body, uint64_t now)
{
    arena_clear (&self->actor->scratch);
    if (!call)
        actor_count (self->actor, COUNT_LATE);
    else if (call->type->kind != MESSAGE_STREAM)
        actor_count (self->actor, COUNT_MALFORMED);
    else
        stream_take_item (call, position, body, now);
}

//  Some items, from `first` on; returns the bytes of those behind them.  Whoever is told of one may break the link, and be done
//  with the calls of others.
static span_t
s_take_some (link_t *self, const gathered_items_t *gathered, size_t first, span_t bytes, uint64_t now)
{
    call_t *calls [STREAM_TOGETHER];
    size_t left = gathered->ids.count - first, count = left < STREAM_TOGETHER ? left : STREAM_TOGETHER;
    uint64_t ended = self->ended;
    for (size_t i = 0; i < count; i++)
        calls [i] = map_get_u64 (self->calls, column_u64 (gathered->ids, first + i));
    stream_expect (calls, count);
    for (size_t i = 0; i < count && !list_link_is_linked (&self->in_doomed); i++) {
        size_t position = first + i;
        span_t body = span_slice (bytes, 0, column_u32 (gathered->sizes, position));
        bytes = span_slice (bytes, body.size, bytes.size - body.size);
        call_t *call =
            self->ended == ended ? calls [i] : map_get_u64 (self->calls, column_u64 (gathered->ids, position));
        s_take_item (self, call, column_u64 (gathered->positions, position), body, now);
    }
    return bytes;
}

static void
s_take_items (link_t *self, const wire_message_t *message)
{
    gathered_items_t gathered;
    if (message_decode (&gathered_items_message, wire_body (message), NULL, &gathered, NULL) ||
        !s_is_whole (&gathered)) {
        s_take_garbage (self);
        return;
    }
    uint64_t now = actor_now (self->actor);
    span_t rest = gathered.items;
    for (size_t i = 0; i < gathered.ids.count && !list_link_is_linked (&self->in_doomed); i += STREAM_TOGETHER)
        rest = s_take_some (self, &gathered, i, rest, now);
}

static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    link_t *self = arg;
    wire_message_t message;
    arena_clear (&self->actor->scratch);
    if (list_link_is_linked (&self->in_doomed))
        return;    //  Broken in this very turn
    if (wire_parse (frames, count, false, &message, NULL))
        s_take_garbage (self);
    else if (message.header.kind == FRAME_KIND_ITEMS)
        s_take_items (self, &message);
    else
        s_take (self, &message);
}

static void
s_on_dropped (void *arg, span_t first)
{
    s_take_garbage (arg);
}
