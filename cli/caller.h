//  caller - one conversation with one actor, for verbs that ask and wait
//
//  A DEALER of its own, outside of any actor: it registers nowhere, and its functions wait.  What it says is the public
//  protocol (schemas/call.toml), frame by frame where a test wants to say it wrongly.

#ifndef CLI_CALLER_H
#define CLI_CALLER_H

#include "base/arena.h"
#include "base/array.h"
#include "runtime/actor.h"
#include "runtime/keyring.h"
#include "runtime/wire.h"
#include "schemas/directory.h"

typedef struct caller caller_t;

//  Gives the caller; NULL where the endpoint makes no sense.  Nobody needs to listen there yet.
caller_t *caller_new (const char *endpoint, error_t *error);
void caller_destroy (caller_t **self_p);

//  A number for the next call.
uint64_t caller_next_id (caller_t *self);

//  Sends a header and, where type is not NULL, a message.  STATUS_UNREACHABLE where it cannot leave, STATUS_LIMIT where it is
//  larger than SOCKET_MESSAGE_MAX.
status_t caller_send (
    caller_t *self, const frame_header_t *header, const message_type_t *type, const void *message, error_t *error);

//  Sends frames as they are.  The same.
status_t caller_send_frames (caller_t *self, const span_t *frames, size_t count, error_t *error);

//  Starts a call or stream; credit: of a stream.  Returns its id; where it could not be sent, its answer says why.
uint64_t caller_start (
    caller_t *self, const message_type_t *type, const void *request, uint64_t timeout_ms, uint64_t credit);

//  The next message of this call; borrows the caller until the next one.  An `error` message becomes its status and sentence.
//  STATUS_DEADLINE where none comes in time; STATUS_CORRUPT for one that breaks the protocol.
status_t caller_answer (caller_t *self, uint64_t id, uint64_t timeout_ms, wire_message_t *message, error_t *error);

//  A call and its reply, in the arena.
status_t caller_call (caller_t *self, const message_type_t *type, const void *request, uint64_t timeout_ms,
    arena_t *arena, void *reply, error_t *error);

//  All entries of the broker's directory, by address: actor_entry_t, appended; what they point to is in the arena.
status_t caller_list_actors (caller_t *broker, uint64_t timeout_ms, arena_t *arena, array_t *entries, error_t *error);

//  Finds where an address listens, by asking the broker; "broker/0" is the broker itself, an endpoint is taken as it is.
status_t caller_resolve (
    const char *broker, const char *address, uint64_t timeout_ms, char endpoint [ENDPOINT_MAX], error_t *error);

//  Says that no entry (actor_entry_t) has this address, and which one was meant.  Returns STATUS_NOT_FOUND.
status_t caller_refuse_address (const array_t *entries, const char *address, error_t *error);

//  Reads one of the figures that the actor at an address gives of itself (get_status), by the name of its metric.
status_t caller_find_figure (
    const char *broker, const char *address, const char *figure, uint64_t timeout_ms, int64_t *value, error_t *error);

//  Takes the keyring that callers made from now on prove themselves with, where an endpoint leaves the machine; NULL: none.
void caller_set_keys (keyring_t *keys);

//  This machine is that host of the fleet: its own actors are reached the plain way.  Copied.
void caller_set_host (const char *name);

//  Where an actor listens for us.  Borrows the entry.
span_t caller_way (const actor_entry_t *entry);

//  Prepares any libzmq socket to connect to the endpoint likewise.  STATUS_REFUSED where there is no key for it.
status_t caller_guard (void *socket, const char *endpoint, error_t *error);

//  Monotonic milliseconds.
uint64_t caller_now_ms (void);

//  The program's ZeroMQ context.
void *caller_zmq (void);

#endif
