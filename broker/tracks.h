//  tracks - how far each stream of each source came, and its last batches
//
//  A track belongs to whoever knows the source, who keeps a pointer to it for each stream.  What they have in common is
//  here: the memory of their rings, which they share; which of them moved since followers were told; and which owe their
//  source an acknowledgement.
//
//  An acknowledgement is owed for each batch that was handed over, and given for many: when half of what a source may have
//  under way is owed, and with the next tracks_acknowledge.  One that is lost with its connection costs nothing: the source
//  hands over again, and is told again.

#ifndef BROKER_TRACKS_H
#define BROKER_TRACKS_H

#include "base/list.h"
#include "runtime/actor.h"
#include "runtime/ring.h"
#include "schemas/event_header.h"

//  One stream of one source.
typedef struct {
    uint64_t source;         //  source_id
    uint16_t stream;         //  Number
    uint64_t incarnation;    //  Of the source
    uint64_t sequence;       //  Last one known: fanned out, or said in a heartbeat
    uint64_t fanned_out;     //  Last one fanned out
    ring_t ring;             //  The last batches
    list_link_t in_all;      //  In tracks_t
    list_link_t moved;       //  In tracks_t where it has, since the last source_tails
    buffer_t peer;           //  Who handed over what is not acknowledged
    uint32_t owed;           //  How many batches that are
    list_link_t owing;       //  In tracks_t where it is any
} track_t;

typedef struct {
    actor_t *actor;          //  The broker
    list_t all;              //  track_t, owned
    list_t moved;            //  Those that came further since the last source_tails
    list_t owing;            //  Those that owe an acknowledgement
    uint64_t ring_bytes;     //  Most that a ring may have
    uint64_t ring_budget;    //  Of all rings; 0: no bound
    uint64_t ring_limit;     //  Of each ring, as all were last told
    uint64_t bytes_used;     //  Of all rings
} tracks_t;

//  ring_bytes, ring_budget: as in broker_options_t.
void tracks_init (tracks_t *self, actor_t *actor, uint64_t ring_bytes, uint64_t ring_budget);
void tracks_fini (tracks_t *self);

//  The track at `place`, made where there is none, and begun anew for a newer incarnation.  Borrowed.
track_t *tracks_get (tracks_t *self, track_t **place, uint64_t source, uint16_t stream, uint64_t incarnation);

//  Ends the track at `place`, if there is one.
void tracks_end (tracks_t *self, track_t **place);

//  Its source has come at least this far.
void tracks_note_tail (tracks_t *self, track_t *track, uint64_t sequence);

//  A batch that is fanned out: its number is above track->fanned_out.  Copies the payload.
void tracks_push (tracks_t *self, track_t *track, const event_header_t *header, span_t payload);

//  A batch was handed over, by this peer of the broker's ROUTER: it will be acknowledged.  Borrows peer.
void tracks_owe (tracks_t *self, track_t *track, span_t peer);

//  Gives what is owed.
void tracks_acknowledge (tracks_t *self);

//  Publishes the tails that have moved.
void tracks_publish_moved (tracks_t *self);

//  Appends the tails of all, source_tail_t.
void tracks_append_tails (const tracks_t *self, array_t *tails);

#endif
