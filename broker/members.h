//  members - who is alive where
//
//  An actor registers, renews by heartbeats, becomes unreachable when its lease runs out, and is gone after ten minutes of
//  that or when it says goodbye.  For one lease after the start nobody is reported absent: whoever was registered with the
//  broker before has that long to come back.  Where nothing is heard from anybody it is the broker that was cut off or
//  stood still: it judges nobody then, nor for one lease afterwards.
//
//  Every change is published.

#ifndef BROKER_MEMBERS_H
#define BROKER_MEMBERS_H

#include "base/heap.h"
#include "base/map.h"
#include "broker/tracks.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "schemas/message_memory.h"

//  What the directory knows of one actor.
typedef struct {
    actor_entry_t entry;               //  Lies in `memory`
    message_memory_t memory;           //  Of the entry
    uint64_t source;                   //  event_source of its address
    track_t *tracks [STREAM_COUNT];    //  By stream number; NULL: nothing known of it
    uint64_t heard_ns;                 //  Last sign of life
    uint64_t lost_ns;                  //  When it became unreachable
    bool complained;                   //  Of what this incarnation says of its streams
    heap_entry_t due;                  //  In `dues`: when it is looked at next, which a sign of life does not move
} member_t;

typedef struct {
    actor_t *actor;            //  The broker
    tracks_t *tracks;          //  What the members publish
    uint64_t gone_after_ns;    //  Unreachable for this long: forgotten
    map_t *by_address;         //  member_t, owned
    map_t *by_source;          //  member_t
    heap_t dues;               //  member_t, the one to be looked at first
    uint64_t back_ns;          //  When the broker was last back: at its start, or after a silence of everybody
    uint64_t heard_ns;         //  Last sign of life of anybody
    metric_t *alive;           //  How many are
    metric_t *odd_tails;       //  Claims about a stream that cannot be
} members_t;

//  Tells of each metric.
void members_list_metrics (metric_told_fn *told, void *arg);

void members_init (members_t *self, actor_t *actor, tracks_t *tracks, uint64_t gone_after_ns);
void members_fini (members_t *self);

size_t members_count (const members_t *self);

//  NULL where there is none.  Borrowed until it is gone.
member_t *members_find (const members_t *self, span_t address);
member_t *members_find_source (const members_t *self, uint64_t source);

//  The member with this entry, new or in place of the one it had, and heard of just now.  Copies the entry.
member_t *members_enter (members_t *self, const actor_entry_t *entry);

//  A sign of life.
void members_hear (members_t *self, member_t *member, bool draining);

//  What it says of its streams.  What cannot be is counted, and the first of it a line in the log.
void members_note_tails (members_t *self, member_t *member, const stream_tail_t *tails, size_t count);

//  It is gone, and so are its tracks.
void members_remove (members_t *self, member_t *member);

//  Appends the actor_entry_t of those of a service, "" for all, whose address is behind `after`.  They borrow the members.
void members_collect (const members_t *self, span_t service, span_t after, array_t *entries);

//  Looks at those whose time has come.
void members_check_leases (members_t *self);

#endif
