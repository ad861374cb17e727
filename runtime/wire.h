//  wire - frames of calls, streams and hand-over
//
//  [peer][empty][frame_header][body ...] on a ROUTER, the same without the peer on a DEALER.  The empty frame lets a
//  plain REQ socket in any language call any actor.

#ifndef RUNTIME_WIRE_H
#define RUNTIME_WIRE_H

#include "runtime/port.h"
#include "schemas/call.h"
#include "schemas/message.h"

enum { WIRE_VERSION = 1, WIRE_BODY_FRAMES = 3 };

//  Where frames are written before they are sent; one an actor, reused.
typedef struct {
    port_t *port;         //  Whose sockets these are
    buffer_t header;      //  frame_header
    buffer_t body;        //  The message behind it
    buffer_t handover;    //  The frame_header of every hand-over
} wire_t;

void wire_init (wire_t *self, port_t *port);
void wire_fini (wire_t *self);

//  Sends a header and, where type is not NULL, a message.  peer: empty on a DEALER.
status_t wire_send (wire_t *self, port_socket_t *socket, span_t peer, const frame_header_t *header,
    const message_type_t *type, const void *message);

//  Sends a header and frames that are encoded already, at most WIRE_BODY_FRAMES.
status_t wire_send_frames (
    wire_t *self, port_socket_t *socket, span_t peer, const frame_header_t *header, const span_t *frames, size_t count);

//  Sends a header and a message that is encoded already, uncopied where it is large.  body: taken, and empty afterwards.
status_t wire_send_encoded (
    wire_t *self, port_socket_t *socket, span_t peer, const frame_header_t *header, buffer_t *body);

//  Sends an error for a call.
status_t wire_send_error (
    wire_t *self, port_socket_t *socket, span_t peer, uint64_t id, status_t status, const char *text);

//  What arrived, taken apart.
typedef struct {
    span_t peer;              //  ROUTER: who sent it; else empty
    frame_header_t header;    //  Decoded; borrows the frames
    const span_t *body;       //  Frames behind the header
    size_t body_count;        //  How many
} wire_message_t;

//  Takes a message apart; borrows the frames.  routed: the first frame is the peer (ROUTER).
//  STATUS_INVALID for anything malformed, STATUS_UNSUPPORTED for another version (the header is filled in then).
status_t wire_parse (const span_t *frames, size_t count, bool routed, wire_message_t *message, error_t *error);

//  Whether what arrived at a ROUTER is a hand-over with the header that all actors write: then there is nothing to take apart.
bool wire_is_handover (const wire_t *self, const span_t *frames, size_t count);

//  The one body frame, empty where there is none.
span_t wire_body (const wire_message_t *message);

#endif
