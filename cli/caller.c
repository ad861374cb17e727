#include "cli/caller.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "base/bug.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "cli/multipart.h"
#include "runtime/endpoint.h"
#include "schemas/status.h"

struct caller {
    void *socket;          //  DEALER
    uint64_t last_id;      //  Of a call
    uint64_t unsent_id;    //  Of the last one that could not be sent
    error_t unsent;        //  Why
    multipart_t parts;     //  Received last
    buffer_t header;       //  Being sent
    buffer_t body;         //  Being sent
    char sender [64];      //  What the callee may log
    bool guarded;          //  Proves itself with a key
};

enum { SOCKETS_MAX = 16384, STATUS_MEMORY = 1 << 20 };

void *
caller_zmq (void)
{
    static void *context;
    if (!context) {
        context = zmq_ctx_new ();
        zmq_ctx_set (context, ZMQ_MAX_SOCKETS, SOCKETS_MAX);
    }
    return context;
}

uint64_t
caller_now_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

//  ---- Keys ----------------------------------------------------------------------------------------------------------

static keyring_t *s_keys;
static char s_host [KEY_NAME_SIZE];

void
caller_set_host (const char *name)
{
    snprintf (s_host, sizeof s_host, "%s", name);
}

span_t
caller_way (const actor_entry_t *entry)
{
    return entry->has_local && span_equal_string (entry->host, s_host) ? entry->local : entry->endpoint;
}

void
caller_set_keys (keyring_t *keys)
{
    keyring_destroy (&s_keys);
    s_keys = keys;
}

static void
s_set_text (void *socket, int option, const char *text)
{
    BUG_ON (zmq_setsockopt (socket, option, text, strlen (text)) != 0);
}

status_t
caller_guard (void *socket, const char *endpoint_text, error_t *error)
{
    span_t endpoint = span_from_string (endpoint_text), host = endpoint_host (endpoint);
    if (!endpoint_leaves_machine (endpoint))
        return STATUS_OK;
    const keyring_entry_t *server = s_keys ? keyring_find_address (s_keys, host) : NULL;
    if (!server)
        return error_set (error, STATUS_REFUSED, "%s leaves this machine, and no key is known of a host at %.*s; %s",
            endpoint_text, SPAN_ARG (host),
            s_keys ? "copy its certificate into your folder of keys"
                   : "name the fleet's file with --config and your key with --key");
    s_set_text (socket, ZMQ_CURVE_PUBLICKEY, keyring_own_public (s_keys));
    s_set_text (socket, ZMQ_CURVE_SECRETKEY, keyring_own_secret (s_keys));
    s_set_text (socket, ZMQ_CURVE_SERVERKEY, server->public_key);
    return STATUS_OK;
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

caller_t *
caller_new (const char *endpoint, error_t *error)
{
    caller_t *self = memory_new (sizeof *self);
    int none = 0;
    int64_t message_max = SOCKET_MESSAGE_MAX;
    self->socket = zmq_socket (caller_zmq (), ZMQ_DEALER);
    if (!self->socket) {
        error_set (error, STATUS_LIMIT, "cannot open a socket: %s", zmq_strerror (errno));
        memory_free (self);
        return NULL;
    }
    snprintf (self->sender, sizeof self->sender, "stator/%ld", (long)getpid ());
    zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt (self->socket, ZMQ_MAXMSGSIZE, &message_max, sizeof message_max);
    if (caller_guard (self->socket, endpoint, error) != STATUS_OK) {
        caller_destroy (&self);
        return NULL;
    }
    self->guarded = endpoint_leaves_machine (span_from_string (endpoint));
    if (zmq_connect (self->socket, endpoint) == 0)
        return self;
    error_set (error, STATUS_INVALID, "cannot connect to %s: %s", endpoint, zmq_strerror (errno));
    caller_destroy (&self);
    return NULL;
}

void
caller_destroy (caller_t **self_p)
{
    caller_t *self = *self_p;
    if (!self)
        return;
    multipart_fini (&self->parts);
    zmq_close (self->socket);
    buffer_fini (&self->header);
    buffer_fini (&self->body);
    memory_free (self);
    *self_p = NULL;
}

uint64_t
caller_next_id (caller_t *self)
{
    return ++self->last_id;
}

//  ---- Frames --------------------------------------------------------------------------------------------------------

//  Whoever read a larger one would hang up.
static status_t
s_check_size (const span_t *frames, size_t count, error_t *error)
{
    uint64_t size = socket_message_size (SOCKET_DEALER, frames, count);
    if (size <= SOCKET_MESSAGE_MAX)
        return STATUS_OK;
    return error_set (error, STATUS_LIMIT, "a message of %llu bytes was not sent: it may have %llu",
        (unsigned long long)size, (unsigned long long)SOCKET_MESSAGE_MAX);
}

status_t
caller_send_frames (caller_t *self, const span_t *frames, size_t count, error_t *error)
{
    status_t status = s_check_size (frames, count, error);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (zmq_send (
                self->socket, frames [i].data, frames [i].size, ZMQ_DONTWAIT | (i + 1 < count ? ZMQ_SNDMORE : 0)) < 0)
            return error_set (error, STATUS_UNREACHABLE, "cannot send: %s", zmq_strerror (errno));
    return STATUS_OK;
}

status_t
caller_send (
    caller_t *self, const frame_header_t *header, const message_type_t *type, const void *message, error_t *error)
{
    buffer_clear (&self->header);
    buffer_clear (&self->body);
    message_encode (&frame_header_message, header, &self->header);
    if (type)
        message_encode (type, message, &self->body);
    span_t frames [] = { SPAN (""), buffer_span (&self->header), buffer_span (&self->body) };
    return caller_send_frames (self, frames, type ? 3 : 2, error);
}

//  The next message, taken apart; borrows the caller until the next one.  STATUS_DEADLINE where none comes in time;
//  STATUS_CORRUPT where it breaks the protocol.
static status_t
s_receive (caller_t *self, uint64_t timeout_ms, wire_message_t *message, error_t *error)
{
    zmq_pollitem_t item = { .socket = self->socket, .events = ZMQ_POLLIN };
    uint64_t until_ms = caller_now_ms () + timeout_ms;
    while (!multipart_receive (&self->parts, self->socket)) {
        uint64_t now_ms = caller_now_ms ();
        if (now_ms >= until_ms)
            return error_set (error, STATUS_DEADLINE, "nothing came within %llu ms%s", (unsigned long long)timeout_ms,
                self->guarded
                    ? "; whoever does not know our key says nothing: our certificate must lie in its folder of "
                      "keys, and it must have had SIGHUP since"
                    : "");
        zmq_poll (&item, 1, (long)(until_ms - now_ms));
    }
    status_t status = wire_parse (self->parts.frames, self->parts.count, false, message, error);
    return status == STATUS_INVALID ? STATUS_CORRUPT : status;
}

//  ---- Calls ---------------------------------------------------------------------------------------------------------

uint64_t
caller_start (caller_t *self, const message_type_t *type, const void *request, uint64_t timeout_ms, uint64_t credit)
{
    frame_header_t header = {
        .version = WIRE_VERSION,
        .kind = FRAME_KIND_CALL,
        .id = caller_next_id (self),
        .has_method = true,
        .method = span_from_string (type->name),
        .has_deadline_ms = type->kind == MESSAGE_CALL,
        .deadline_ms = timeout_ms,
        .has_position = type->kind == MESSAGE_STREAM,
        .position = credit,
        .has_sender = true,
        .sender = span_from_string (self->sender),
    };
    if (caller_send (self, &header, type, request, &self->unsent) != STATUS_OK)
        self->unsent_id = header.id;
    return header.id;
}

static status_t
s_take_error (const wire_message_t *message, error_t *error)
{
    call_error_t failure;
    status_t status = message_decode (&call_error_message, wire_body (message), NULL, &failure, error);
    if (status != STATUS_OK)
        return STATUS_CORRUPT;
    status = failure.status && failure.status < STATUS_COUNT ? (status_t)failure.status : STATUS_INTERNAL;
    return error_set (error, status, "%s: %.*s", status_name (status), SPAN_ARG (failure.text));
}

status_t
caller_answer (caller_t *self, uint64_t id, uint64_t timeout_ms, wire_message_t *message, error_t *error)
{
    uint64_t until_ms = caller_now_ms () + timeout_ms;
    if (id == self->unsent_id)
        return error_set (error, self->unsent.status, "%s", self->unsent.text);
    for (;;) {
        uint64_t now_ms = caller_now_ms ();
        status_t status = s_receive (self, until_ms > now_ms ? until_ms - now_ms : 0, message, error);
        if (status != STATUS_OK)
            return status;
        if (message->header.id == id)
            return message->header.kind == FRAME_KIND_ERROR ? s_take_error (message, error) : STATUS_OK;
    }
}

status_t
caller_call (caller_t *self, const message_type_t *type, const void *request, uint64_t timeout_ms, arena_t *arena,
    void *reply, error_t *error)
{
    wire_message_t message;
    uint64_t id = caller_start (self, type, request, timeout_ms, 0);
    status_t status = caller_answer (self, id, timeout_ms, &message, error);
    if (status != STATUS_OK)
        return status;
    //  The frames go with the next message: what the reply points to is kept in the arena.
    span_t body = arena_copy (arena, wire_body (&message));
    return message_decode (type->reply, body, arena, reply, error);
}

//  ---- The directory -------------------------------------------------------------------------------------------------

status_t
caller_list_actors (caller_t *broker, uint64_t timeout_ms, arena_t *arena, array_t *entries, error_t *error)
{
    list_actors_t request = { 0 };
    list_actors_reply_t reply = { .more = true };
    status_t status = STATUS_OK;
    while (status == STATUS_OK && reply.more) {
        reply = (list_actors_reply_t){ 0 };
        status = caller_call (broker, &list_actors_message, &request, timeout_ms, arena, &reply, error);
        if (reply.actors_count == 0)
            break;
        array_append (entries, reply.actors, reply.actors_count);
        request.has_after = true;
        request.after = reply.actors [reply.actors_count - 1].address;
    }
    return status;
}

static bool
s_find_endpoint (const array_t *entries, const char *address, char endpoint [ENDPOINT_MAX])
{
    for (size_t i = 0; i < entries->count; i++) {
        const actor_entry_t *entry = array_at (entries, i);
        if (span_equal_string (entry->address, address) && span_copy_string (entry->endpoint, endpoint, ENDPOINT_MAX))
            return true;
    }
    return false;
}

status_t
caller_refuse_address (const array_t *entries, const char *address, error_t *error)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (address));
    for (size_t i = 0; i < entries->count; i++)
        suggest_offer_span (&suggest, ((const actor_entry_t *)array_at (entries, i))->address);
    return error_set (error, STATUS_NOT_FOUND, "the directory has no actor '%.100s'%s", address,
        suggest_best (&suggest) ? suggest_text (&suggest) : "; `stator ps` lists those that it has");
}

status_t
caller_resolve (
    const char *broker, const char *address, uint64_t timeout_ms, char endpoint [ENDPOINT_MAX], error_t *error)
{
    arena_t arena;
    array_t entries;
    if (strstr (address, "://") || strcmp (address, "broker/0") == 0 || strcmp (address, "broker") == 0) {
        snprintf (endpoint, ENDPOINT_MAX, "%s", strstr (address, "://") ? address : broker);
        return STATUS_OK;
    }
    caller_t *caller = caller_new (broker, error);
    if (!caller)
        return error->status;
    arena_init (&arena, SOCKET_MESSAGE_MAX);
    array_init (&entries, sizeof (actor_entry_t));
    status_t status = caller_list_actors (caller, timeout_ms, &arena, &entries, error);
    if (status != STATUS_OK)
        error_prefix (error, "the broker at %s", broker);
    else if (!s_find_endpoint (&entries, address, endpoint))
        status = caller_refuse_address (&entries, address, error);
    array_fini (&entries);
    arena_fini (&arena);
    caller_destroy (&caller);
    return status;
}

static status_t
s_read_figure (caller_t *caller, const char *figure, uint64_t timeout_ms, int64_t *value, error_t *error)
{
    arena_t arena;
    get_status_t request = { 0 };
    actor_status_t reply = { 0 };
    arena_init (&arena, STATUS_MEMORY);
    status_t status = caller_call (caller, &get_status_message, &request, timeout_ms, &arena, &reply, error);
    if (status == STATUS_OK)
        status = error_set (error, STATUS_NOT_FOUND, "%.*s has no figure %s", SPAN_ARG (reply.address), figure);
    for (size_t i = 0; i < reply.figures_count; i++)
        if (span_equal_string (reply.figures [i].name, figure)) {
            *value = reply.figures [i].value;
            status = STATUS_OK;
        }
    arena_fini (&arena);
    return status;
}

status_t
caller_find_figure (
    const char *broker, const char *address, const char *figure, uint64_t timeout_ms, int64_t *value, error_t *error)
{
    char endpoint [ENDPOINT_MAX];
    status_t status = caller_resolve (broker, address, timeout_ms, endpoint, error);
    if (status != STATUS_OK)
        return status;
    caller_t *caller = caller_new (endpoint, error);
    status = caller ? s_read_figure (caller, figure, timeout_ms, value, error) : error->status;
    caller_destroy (&caller);
    return status;
}
