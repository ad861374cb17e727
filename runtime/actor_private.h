//  actor_private - what the runtime's own files share
//
//  Nobody outside runtime/*.c includes this.  The struct of an actor, and for each part (links, incomings, sources, sinks,
//  directory) what the others may ask of it.

#ifndef RUNTIME_ACTOR_PRIVATE_H
#define RUNTIME_ACTOR_PRIVATE_H

#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "runtime/actor.h"
#include "runtime/call.h"
#include "runtime/due.h"
#include "runtime/incoming.h"
#include "runtime/ring.h"
#include "runtime/timer.h"
#include "runtime/wire.h"
#include "schemas/event.h"

typedef struct source source_t;
typedef struct feed feed_t;
typedef struct directory directory_t;
typedef struct gather gather_t;

//  What goes wrong on the wire, counted.
typedef enum {
    COUNT_MALFORMED,         //  Messages that are no messages
    COUNT_UNKNOWN_METHOD,    //  Calls of a method that is not here
    COUNT_BAD_REQUEST,       //  Calls whose body breaks its schema
    COUNT_OVERLOADED,        //  Calls there was no room for
    COUNT_TOO_LARGE,         //  Messages of this actor that are larger than a message may be, and were not sent
    COUNT_LATE,              //  Answers to calls that have completed
    COUNT_PEER_LOST,         //  Answers whose caller had gone
    COUNT_STALE,             //  Events of a replaced incarnation
    COUNT_GAP,               //  Holes noticed in a followed stream
    COUNT_REPLAYED,          //  Batches that came by replay
    COUNT_SNAPSHOT,          //  Snapshots taken over
    COUNT_FENCE,             //  Sources that were seen to have restarted
    COUNT_BAD_EVENT,         //  Events whose body breaks its schema
    COUNT_UNKEPT,            //  Batches behind a hole for which there was no room: they are asked for again
    COUNT_DROPPED,           //  Events that left a ring before the broker had them
    COUNT_REGISTERED,        //  Registrations, the first included
    COUNT_REFUSED,           //  Messages of peers whose roles do not allow them
    COUNT_REBOUND,           //  Sockets whose file somebody removed, and that were bound again
    COUNT_STRANGER,          //  Peers turned away before they could say anything
    COUNT_COUNT
} runtime_count_t;

struct actor {
    const actor_class_t *class;          //  What it is
    port_t *port;                        //  Its world
    void *state;                         //  The class's struct
    char address [ADDRESS_MAX];          //  SERVICE/INSTANCE
    uint64_t source;                     //  event_source of the address
    uint64_t incarnation;                //  Wall ns at start, or as the broker raised it
    uint64_t started_ns;                 //  Monotonic
    actor_options_t options;             //  Defaults filled in; pointers only valid during actor_new
    heap_t dues;                         //  due_t of timers, deadlines, completions
    wire_t wire;                         //  For sending
    gather_t *gather;                    //  Items that wait for the turn's end
    arena_t scratch;                     //  For what a handler reads; cleared at each message
    budget_t budget;                     //  What load may take
    metrics_t *metrics;                  //  All of it
    metric_t *counts [COUNT_COUNT];      //  The runtime's own
    metric_t *unrepaired;                //  Followed streams of which nobody has what is missing
    metric_t *rounds;                    //  How long each kept the thread
    metric_t *longest_round;             //  The longest of them
    metric_t *lost_lines;                //  Of its process; NULL where another actor says so
    metric_t *turned_away;               //  Likewise
    port_socket_t *router;               //  Calls to this actor; NULL where it only calls
    port_socket_t *events;               //  SUB on the broker; NULL where it lives alone
    map_t *handlers;                     //  Method -> actor_handler_t
    map_t *incomings;                    //  (peer, id) -> incoming_t, those that have outlived their handler
    incoming_t *serving;                 //  The one whose handler runs, until it is completed; NULL: none
    const span_t *reply;                 //  Frame of the reply that is being handed over; NULL: none is
    port_socket_t *reply_socket;         //  Where it came from
    map_t *links;                        //  Address -> link_t
    list_t doomed_links;                 //  Replaced in the turn that is running; freed at its end
    uint64_t next_call;                  //  Id of the next call
    source_t *sources [STREAM_COUNT];    //  By stream number; NULL: nothing published yet
    map_t *feeds;                        //  (stream, source) -> feed_t
    directory_t *directory;              //  Who is there
    buffer_t card;                       //  For the directory entry
    char host [ADDRESS_MAX];             //  Name of the machine
    char endpoint [ENDPOINT_MAX];        //  Bound
    char local [ENDPOINT_MAX];           //  Bound for those of the same host; "": none
    array_t capabilities;                //  char *, owned
    bool in_turn_end;                    //  Asked the port for on_turn_end
    bool ready;                          //  As the class says
    bool draining;                       //  actor_drain
    bool drained;                        //  actor_drained
};

//  ---- Shared by all parts -------------------------------------------------------------------------------------------

static inline const port_table_t *
actor_table (const actor_t *self)
{
    return self->port->table;
}

void actor_count (actor_t *self, runtime_count_t count);

//  Brings the metrics up to date that port and class count elsewhere.
void actor_note_counts (actor_t *self);

//  Asks for the turn's end: gathered items are sent, batches are flushed, doomed links freed.
void actor_want_turn_end (actor_t *self);

//  Registered, the class is ready, and nothing that is followed was missing at least once.
bool actor_accepts (const actor_t *self);

//  The class's handler of an event; NULL where it has none.
const actor_handler_t *actor_handler_of_event (const actor_t *self, const message_type_t *type);
const actor_handler_t *actor_handler_of (const actor_t *self, handler_kind_t kind, uint16_t stream);
bool actor_follows (const actor_t *self, uint16_t stream);

//  ---- Links: to whom this actor speaks (link.c) ---------------------------------------------------------------------

//  The link to an address; opened where the directory knows the way.  NULL and a sentence where it does not.
link_t *link_to (actor_t *self, span_t address, error_t *error);

//  Everything under way on the link fails as unreachable, and the link goes.
void link_break (actor_t *self, span_t address, const char *why);

//  The peer has said goodbye: what is under way has a moment to end well, and then fails as unreachable.  The next call does
//  not find this link any more.
void link_leave (actor_t *self, span_t address);

void link_destroy_all (actor_t *self);
void link_free_doomed (actor_t *self);

status_t link_send (link_t *self, const frame_header_t *header, const message_type_t *type, const void *message);
status_t link_send_frames (link_t *self, const frame_header_t *header, const span_t *frames, size_t count);

//  Completes a call or stream that is under way.  reply NULL unless result is CALL_REPLIED.
void call_complete (call_t *self, call_result_t result, const void *reply);

//  Fails one whose callee breaks the rules, and tells the callee to stop.  The call's error says how it does.
void call_break (call_t *self);

//  Decodes what the callee says, into the scratch.  NULL, counted and with the call's error set where it breaks its schema:
//  CORRUPT, for the request is not to blame.
void *call_decode (call_t *self, const message_type_t *type, span_t body);

//  Asks the callee of a call or stream whether it is still under way.
void link_probe (link_t *self, uint64_t id);

//  The due of a call fires: it completes with its result, at first CALL_DEADLINE.
void call_fire (due_t *due);

//  The opening of a stream: as call_start, without a deadline.  done and arg are the caller's to set.
void stream_start (
    call_t *self, actor_t *actor, span_t address, const message_type_t *type, const void *request, uint64_t credit);
void stream_start_encoded (
    call_t *self, actor_t *actor, span_t address, const message_type_t *type, buffer_t *request, uint64_t credit);

//  Items of these calls are coming, of STREAM_TOGETHER at most: brings nearer what is touched then, and lets those who listen
//  do the same (stream.c).  NULL in place of a call is fine, and so is one that is no stream.
void stream_expect (call_t *const *calls, size_t count);

//  An item of its stream arrived at `now_ns`, or the end (stream.c).
void stream_take_item (call_t *self, uint64_t position, span_t body, uint64_t now_ns);
void stream_take_end (call_t *self, uint64_t position, span_t body);

//  ---- Incomings (incoming.c) ----------------------------------------------------------------------------------------

void incoming_take (actor_t *self, const span_t *frames, size_t count);
void incoming_refuse_large (actor_t *self, span_t peer);
void incoming_refuse_shed (actor_t *self, const span_t *frames, size_t count);
void incoming_destroy_all (actor_t *self);

//  Something was said about a call or stream of this peer, and nobody was there to hear it.  Fine where it is over.
void incoming_lost (actor_t *self, span_t peer, uint64_t id);

//  ---- Items that share a message (gather.c) -------------------------------------------------------------------------

gather_t *gather_new (void);
void gather_destroy (gather_t **self_p);

//  Sends an item of a stream at the end of the turn, or before.  Borrows it.  False: it is too large to share a message.
bool gather_put (
    actor_t *self, span_t peer, uint64_t id, uint64_t position, const message_type_t *type, const void *item);

//  Sends what waits for a peer, or all of it, now.
void gather_flush (actor_t *self, span_t peer);
void gather_flush_all (actor_t *self);

//  ---- Builtin methods (builtin.c) -----------------------------------------------------------------------------------

//  Handlers that every actor has; the class's own of the same method win.
extern const actor_handler_t builtin_handlers [];

//  ---- Sources (source.c) --------------------------------------------------------------------------------------------

void source_publish (actor_t *self, const message_type_t *type, const void *event);
void source_flush_all (actor_t *self);
void source_destroy_all (actor_t *self);
void source_acknowledged (actor_t *self, uint16_t stream, uint64_t sequence);

//  The broker is a new one, or this actor's registration stands: hand over what it has not acknowledged.
void source_resend_all (actor_t *self);

//  The ring and last number of a stream; NULL, 0 where nothing was published.
const ring_t *source_ring (const actor_t *self, uint16_t stream);
uint64_t source_sequence (const actor_t *self, uint16_t stream);

//  Appends this actor's tails to a row of stream_tail_t.
void source_tails (const actor_t *self, array_t *tails);

//  ---- Feeds: what this actor follows (sink.c) -----------------------------------------------------------------------

status_t sink_open (actor_t *self, const char *endpoint, error_t *error);
void sink_destroy_all (actor_t *self);

//  A source has come at least this far.
void sink_note_tail (actor_t *self, uint64_t source, uint16_t stream, uint64_t incarnation, uint64_t sequence);

//  A source has registered anew: what an earlier incarnation said on any stream does not count any more, even if the new
//  one says nothing there.
void sink_fence (actor_t *self, uint64_t source, uint64_t incarnation);

//  This one is there now: what is missing of it, or what it keeps of others, is asked for again without a long pause.
void sink_ask_soon (actor_t *self, const actor_entry_t *helper);

//  A source is gone for good: forget how far it came.
void sink_forget (actor_t *self, uint64_t source);

//  ---- Directory (directory.c) ---------------------------------------------------------------------------------------

directory_t *directory_new (actor_t *actor);
void directory_destroy (directory_t **self_p);

//  Begins to register; does nothing for an actor that lives alone.
void directory_start (actor_t *actor);

//  Says goodbye; actor_said_goodbye follows when the broker has heard it, or does not answer.
void directory_stop (actor_t *actor);
void actor_said_goodbye (actor_t *self);

//  The state of this actor's own entry changed: tell the broker now, not at the next beat.
void directory_announce (actor_t *actor);

//  The card changed.
void directory_announce_card (actor_t *actor);

//  The same where what is followed has just become whole and the directory has not been told yet.
void directory_announce_if_synced (actor_t *actor);

bool directory_is_registered (const actor_t *actor);

//  Events and resets of the broker's life stream.
void directory_on_event (actor_t *actor, const message_type_t *type, const void *event);
void directory_on_reset (actor_t *actor);

#endif
