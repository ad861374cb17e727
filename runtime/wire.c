#include "runtime/wire.h"

#include "base/bug.h"

void
wire_init (wire_t *self, port_t *port)
{
    self->port = port;
    buffer_init (&self->header);
    buffer_init (&self->body);
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_EVENT };
    buffer_init (&self->handover);
    message_encode (&frame_header_message, &header, &self->handover);
}

void
wire_fini (wire_t *self)
{
    buffer_fini (&self->header);
    buffer_fini (&self->body);
    buffer_fini (&self->handover);
}

//  Puts what stands before the body into `all`, and returns how many frames it is.
static size_t
s_begin (wire_t *self, span_t peer, const frame_header_t *header, span_t *all)
{
    size_t used = 0;
    if (peer.size)
        all [used++] = peer;
    buffer_clear (&self->header);
    message_encode (&frame_header_message, header, &self->header);
    all [used++] = SPAN ("");
    all [used++] = buffer_span (&self->header);
    return used;
}

status_t
wire_send_frames (
    wire_t *self, port_socket_t *socket, span_t peer, const frame_header_t *header, const span_t *frames, size_t count)
{
    BUG_ON (count > WIRE_BODY_FRAMES);
    span_t all [3 + WIRE_BODY_FRAMES];
    size_t used = s_begin (self, peer, header, all);
    for (size_t i = 0; i < count; i++)
        all [used++] = frames [i];
    return self->port->table->socket_send (socket, all, used);
}

status_t
wire_send_encoded (wire_t *self, port_socket_t *socket, span_t peer, const frame_header_t *header, buffer_t *body)
{
    span_t all [4];
    size_t used = s_begin (self, peer, header, all);
    all [used++] = buffer_span (body);
    bool is_large = body->size >= SOCKET_KEEP_MIN;
    keeper_t keeper = keeper_of_buffer (body);
    status_t status = is_large ? self->port->table->socket_send_kept (socket, all, used, &keeper)
                               : self->port->table->socket_send (socket, all, used);
    keeper_release (&keeper);
    return status;
}

status_t
wire_send (wire_t *self, port_socket_t *socket, span_t peer, const frame_header_t *header, const message_type_t *type,
    const void *message)
{
    if (!type)
        return wire_send_frames (self, socket, peer, header, NULL, 0);
    buffer_clear (&self->body);
    message_encode (type, message, &self->body);
    span_t body = buffer_span (&self->body);
    return wire_send_frames (self, socket, peer, header, &body, 1);
}

status_t
wire_send_error (wire_t *self, port_socket_t *socket, span_t peer, uint64_t id, status_t status, const char *text)
{
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_ERROR, .id = id };
    call_error_t error = { .status = (uint16_t)status, .text = span_from_string (text) };
    return wire_send (self, socket, peer, &header, &call_error_message, &error);
}

status_t
wire_parse (const span_t *frames, size_t count, bool routed, wire_message_t *message, error_t *error)
{
    *message = (wire_message_t){ 0 };
    if (routed) {
        BUG_ON (count == 0);
        message->peer = frames [0];
        frames++;
        count--;
    }
    if (count < 2 || frames [0].size != 0)
        return error_set (
            error, STATUS_INVALID, "a message begins with an empty frame and a header, this one does not");
    status_t status = message_decode (&frame_header_message, frames [1], NULL, &message->header, error);
    if (status)
        return status;
    message->body = frames + 2;
    message->body_count = count - 2;
    if (message->header.version != WIRE_VERSION)
        return error_set (error, STATUS_UNSUPPORTED, "protocol version %u is not spoken here, only version %u",
            message->header.version, WIRE_VERSION);
    return STATUS_OK;
}

bool
wire_is_handover (const wire_t *self, const span_t *frames, size_t count)
{
    return count > 2 && frames [1].size == 0 && span_equal (frames [2], buffer_span (&self->handover));
}

span_t
wire_body (const wire_message_t *message)
{
    return message->body_count ? message->body [0] : SPAN ("");
}
