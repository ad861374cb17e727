//  actor - how an actor lives
//
//  An actor is a state struct, a table of what it handles, and handlers.  It runs on one thread, owned by its port; it is
//  called, does what can be done now, and returns: a handler never waits.  It speaks through this context only:
//
//      calls it makes      call.h, stream.h         events it publishes    actor_publish
//      calls it serves     HANDLES_CALL             events it follows      HANDLES_EVENT
//      timers              timer.h                  who is there           HANDLES_ACTOR, directory.h
//
//  What the runtime does for every actor, so that no class repeats it: registers it with the broker and keeps its lease,
//  decodes and checks every message before a handler sees it, numbers and keeps its events until they are handed over,
//  notices and fills gaps in what it follows, answers ping, get_status, get_metrics, drain, replay and snapshot.
//
//  The life of an actor: actor_new (class init runs, sockets are bound, registration begins) - turns - actor_drain (the
//  class finishes what is under way and says actor_drained) - actor_destroy (class fini runs).

#ifndef RUNTIME_ACTOR_H
#define RUNTIME_ACTOR_H

#include "base/budget.h"
#include "runtime/guard.h"
#include "runtime/metrics.h"
#include "runtime/port.h"
#include "schemas/directory.h"
#include "schemas/event_header.h"
#include "schemas/message.h"

typedef struct actor actor_t;
typedef struct incoming incoming_t;
typedef struct snapshot snapshot_t;

enum { ADDRESS_MAX = 128, ENDPOINT_MAX = 256 };

//  The broker can be called by everybody and is in nobody's directory, for it is where directories come from.
#define BROKER_ADDRESS "broker/0"

//  A figure of every actor: how long it was busy at most before it looked again for what had arrived.  In ns.
#define ACTOR_LONGEST_ROUND "stator_round_longest_seconds"

//  ---- What a class is -----------------------------------------------------------------------------------------------

//  Whose event it is.
typedef struct {
    uint64_t source;         //  event_source of the address
    uint16_t stream;         //  STREAM_...
    uint64_t incarnation;    //  Of the source
    uint64_t sequence;       //  Of the batch it came in; of the snapshot where it came from one
    uint64_t wall_ns;        //  When it was published; for people
} origin_t;

//  A call or the opening of a stream.  message: of the type in the table; valid until the incoming is completed.
//  The handler or something it starts completes the incoming exactly once (incoming.h).
typedef void (actor_call_fn) (void *self, actor_t *actor, incoming_t *incoming, const void *message);

//  An event.  message: of the type in the table; borrowed.
typedef void (actor_event_fn) (void *self, actor_t *actor, const origin_t *origin, const void *message);

//  Forget whatever this source said on this stream: it was restarted (its new incarnation is in the origin), or a
//  snapshot follows.  Events that lead to the present state come next.
typedef void (actor_reset_fn) (void *self, actor_t *actor, const origin_t *origin);

//  Write the state that `source` has led to as events (snapshot_add).  source: this actor's own id, or, in an actor that
//  serves snapshots for others, any.  STATUS_NOT_FOUND where nothing is known of it.
//  incarnation, sequence: what the state contains; preset to the actor's own, set them for another source.  A state that
//  takes long to write is written in slices (snapshot_go_on).
typedef status_t (actor_snapshot_fn) (void *self, actor_t *actor, uint64_t source, snapshot_t *snapshot);

//  An actor of the service is new, changed state, or is gone.
typedef void (actor_seen_fn) (void *self, actor_t *actor, const actor_entry_t *entry);

typedef enum {
    HANDLER_END,
    HANDLER_CALL,
    HANDLER_EVENT,
    HANDLER_RESET,
    HANDLER_SNAPSHOT,
    HANDLER_ACTOR
} handler_kind_t;

typedef struct {
    handler_kind_t kind;               //  Which of the functions is set
    const message_type_t *type;        //  Call, event: what is handled
    uint16_t stream;                   //  Reset, snapshot: which stream
    const char *service;               //  Actor: which service; NULL for all
    actor_call_fn *on_call;            //  HANDLER_CALL
    actor_event_fn *on_event;          //  HANDLER_EVENT
    actor_event_fn *on_coming;         //  HANDLER_EVENT: told first, of some at a time; NULL: not
    actor_reset_fn *on_reset;          //  HANDLER_RESET
    actor_snapshot_fn *on_snapshot;    //  HANDLER_SNAPSHOT
    actor_seen_fn *on_actor;           //  HANDLER_ACTOR
} actor_handler_t;

//  clang-format off
#define HANDLES_CALL(message, function)                                       \
    {                                                                         \
        .kind = HANDLER_CALL, .type = &message##_message, .on_call = function \
    }
#define HANDLES_EVENT(message, function)                                        \
    {                                                                           \
        .kind = HANDLER_EVENT, .type = &message##_message, .on_event = function \
    }
//  Of up to eight events in a row of a batch `coming` is told before `function` is of the first, in their order: for what
//  can be brought nearer while others are handled.  It changes nothing that can be seen.
#define HANDLES_EVENT_AHEAD(message, coming, function)                                               \
    {                                                                                                \
        .kind = HANDLER_EVENT, .type = &message##_message, .on_event = function, .on_coming = coming \
    }
#define HANDLES_RESET(number, function)                               \
    {                                                                 \
        .kind = HANDLER_RESET, .stream = number, .on_reset = function \
    }
#define HANDLES_SNAPSHOT(number, function)                                  \
    {                                                                       \
        .kind = HANDLER_SNAPSHOT, .stream = number, .on_snapshot = function \
    }
#define HANDLES_ACTOR(name, function)                                \
    {                                                                \
        .kind = HANDLER_ACTOR, .service = name, .on_actor = function \
    }
#define HANDLERS_END        \
    {                       \
        .kind = HANDLER_END \
    }
//  clang-format on

typedef struct {
    const char *name;     //  The service: "router"
    size_t state_size;    //  Bytes of the state struct, handed to init zeroed
    //  options: of the class's own type, borrowed for the call.  On failure the class has undone what it did.
    status_t (*init) (void *self, actor_t *actor, const void *options, error_t *error);
    void (*fini) (void *self, actor_t *actor);
    const actor_handler_t *handlers;    //  Ends with HANDLERS_END
    //  Take no new work; call actor_drained when the last piece is done (at once is fine).  NULL: nothing to finish.
    void (*drain) (void *self, actor_t *actor);
    //  New options of the same type (only those marked live may differ).  NULL: nothing is live.
    void (*reload) (void *self, actor_t *actor, const void *options);
    //  One sentence on how it is, for get_status.  NULL: none.
    void (*describe) (void *self, actor_t *actor, buffer_t *out);
    //  Bring metrics up to date that are counted elsewhere; called before they are read.  NULL: none.
    void (*measure) (void *self, actor_t *actor);
    //  Tell of each metric that one of the class may keep, besides those of every actor.  NULL: none.
    void (*list_metrics) (metric_told_fn *told, void *arg);
    //  The broker's three: the ring it keeps of somebody else's stream (NULL where it has none), for replay; a source hands
    //  over a batch (frames: topic, header, payload; the answer is actor_acknowledge); and its own batches, which it hands
    //  to nobody but fans out.  NULL in every other class.
    const struct ring *(*find_ring) (void *self, uint64_t source, uint16_t stream, uint64_t incarnation);
    void (*on_handover) (void *self, actor_t *actor, span_t peer, const span_t frames [3]);
    void (*on_publish) (void *self, actor_t *actor, const span_t frames [3]);
    const char *snapshot_service;    //  Ask this service for snapshots before the source itself; NULL: only the source
} actor_class_t;

//  ---- Making and running one ----------------------------------------------------------------------------------------

typedef struct {
    const char *instance;     //  "0": the address is SERVICE/INSTANCE
    const char *endpoint;     //  Where its ROUTER binds; NULL: it only calls
    const char *local;        //  Endpoint that its ROUTER binds too, for those of the same host; NULL: none
    const char *broker;       //  Endpoint of the broker's ROUTER; NULL: it lives alone (the broker itself, tests)
    const char *events;       //  Endpoint of the broker's XPUB
    const char *host;         //  Name of the machine
    uint64_t process;         //  System id of the process
    uint64_t heartbeat_ns;    //  0: 1 s
    uint64_t lease_ns;        //  0: 5 s
    uint64_t ring_bytes;      //  Of each published stream; 0: 16 MiB
    uint64_t memory_bytes;    //  What load may take in all; 0: 1 GiB
    span_t card;              //  For the directory entry; empty: none
    const char *const *capabilities;    //  For the directory entry, NULL-terminated; NULL: none
    const guard_t *guard;    //  What holders of keys may do; borrowed as long as the actor lives; NULL: nothing
    void (*on_drained) (
        void *arg, actor_t *actor);    //  The actor may be destroyed, not from inside the call; NULL: nobody asks
    void *arg;                         //  For on_drained
} actor_options_t;

//  Starts an actor on a port.  Takes nothing, borrows all for the call, except the port, which it uses until destroyed.
//  Gives the actor; NULL where the class refused or a socket could not be bound.
actor_t *actor_new (const actor_class_t *class, port_t *port, const actor_options_t *options, const void *class_options,
    error_t *error);

//  The class's fini drops what it has under way; incomings it has not completed are freed unanswered.
void actor_destroy (actor_t **self_p);

//  Starts draining, as the drain call does.  on_drained follows, exactly once.
void actor_drain (actor_t *self);

//  Hands new options to the class.
void actor_reload (actor_t *self, const void *class_options);

//  ---- What a handler uses -------------------------------------------------------------------------------------------

uint64_t actor_now (const actor_t *self);     //  Monotonic ns: for logic
uint64_t actor_wall (const actor_t *self);    //  Wall-clock ns: for people
uint64_t actor_random (actor_t *self);        //  64 bits from the port
port_t *actor_port (const actor_t *self);     //  HTTP, processes, stores, files
metrics_t *actor_metrics (const actor_t *self);
budget_t *actor_budget (actor_t *self);             //  What load may take
void *actor_state (const actor_t *self);            //  The class's struct
const char *actor_address (const actor_t *self);    //  "router/0"
uint64_t actor_incarnation (const actor_t *self);
bool actor_is_draining (const actor_t *self);

//  What event_source gives for this actor.
uint64_t actor_source (const actor_t *self);

//  Tells of each metric that every actor may keep.
void actor_list_metrics (metric_told_fn *told, void *arg);

//  Appends all its metrics as text, those that are counted elsewhere brought up to date.
void actor_render_metrics (actor_t *self, buffer_t *out);

//  Publishes an event on the stream of its type, in order, with the others of this turn.  Borrows the event.
void actor_publish (actor_t *self, const message_type_t *type, const void *event);

//  The class has nothing under way any more (after drain).
void actor_drained (actor_t *self);

//  Replaces the card in the directory entry and announces it.  Borrows it.
void actor_set_card (actor_t *self, span_t card);

//  "ready" once the class can serve; until then get_status says "starting".  Actors start out ready: a class that is not
//  says so in init.
void actor_set_ready (actor_t *self, bool ready);

//  One line, as printf; the actor's address is put before it.
void actor_log (actor_t *self, log_level_t level, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

//  Sequence number of the last event this actor published on a stream; 0 where there is none.
uint64_t actor_published (const actor_t *self, uint16_t stream);

//  How far this actor has applied what a source publishes.  False while a snapshot is under way or nothing came yet; then only
//  *incarnation is set: the newest one heard of, 0 where none was.
bool actor_feed_position (
    const actor_t *self, uint16_t stream, uint64_t source, uint64_t *incarnation, uint64_t *sequence);

//  True while nothing is missing of what this actor follows on the stream from any source the directory knows.
bool actor_is_synced (const actor_t *self, uint16_t stream);

//  Inside a call's handler or on_handover: may whoever sent this speak for the address?  Counted as refused where not.
bool actor_sender_may_speak (actor_t *self, span_t address);

//  The broker's: raises its own incarnation, in init, before anything is published.
void actor_set_incarnation (actor_t *self, uint64_t incarnation);

//  Binds sockets of this actor again whose files somebody removed: counted, and said in the log.  Done with each heartbeat; an
//  actor without a broker does it itself.  other: one of its own; NULL where there is none.
void actor_mend (actor_t *self, port_socket_t *other);

//  The broker's: inside on_handover, sends the batch on through another socket, uncopied.  Its frames are gone afterwards.
void actor_forward (actor_t *self, port_socket_t *socket, const span_t frames [3]);

//  Batches that a source hands over before it waits for an acknowledgement.
enum { HANDOVER_WINDOW = 64 };

//  The broker's: tells a source that `sequence` of its stream and all before it are safe here.  Borrows peer, as it came
//  with the hand-over.  One in time is enough for many batches; where the peer is gone it is counted, and nothing is said.
void actor_acknowledge (actor_t *self, span_t peer, uint16_t stream, uint64_t sequence);

//  ---- Snapshots (inside an actor_snapshot_fn) -----------------------------------------------------------------------

//  Appends an event to the snapshot.  Borrows it.
void snapshot_add (snapshot_t *self, const message_type_t *type, const void *event);

//  Goes on with a snapshot: some more events.  *ended: whether those were the last, and the position is that of all.
//  STATUS_STALE and others where what came is of no use any more.
typedef status_t (snapshot_more_fn) (void *self, actor_t *actor, void *arg, snapshot_t *snapshot, bool *ended);

//  For a state that takes long to write: `more` is called, between other things, until all is there or nobody wants it any
//  more; then `free` (arg).  Events may be added between two calls of it as well.
void snapshot_go_on (snapshot_t *self, snapshot_more_fn *more, void (*free) (void *arg), void *arg);

//  For a source other than the actor itself: what the state contains.
void snapshot_set_position (snapshot_t *self, uint64_t incarnation, uint64_t sequence);

#endif
