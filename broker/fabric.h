//  fabric - the broker's XPUB: whatever is published goes to whoever subscribed
//
//  Who follows is asked for its key when it comes, and says nothing afterwards.  So after a change of keys the socket is
//  bound anew and all come again: those whose key was revoked would go on hearing otherwise.  What the others miss
//  meanwhile they find in the rings.  The same happens where followers subscribe to more than 4 MiB, each prefix counted
//  once, or to more than 16 MiB since it was bound, of which the library keeps every byte thirty times over.

#ifndef BROKER_FABRIC_H
#define BROKER_FABRIC_H

#include "base/map.h"
#include "broker/broker_options.h"
#include "runtime/timer.h"

typedef struct {
    actor_t *actor;           //  Whose
    const char *endpoint;     //  Where it is bound
    const char *local;        //  Where too, for followers of the same host; NULL: nowhere
    uint32_t queue;           //  Messages a follower may be behind
    port_socket_t *socket;    //  NULL while it is bound anew
    actor_timer_t rebind;     //  The next attempt
    uint32_t failures;        //  Attempts in vain since the socket was closed
    map_t *prefixes;          //  What is subscribed to, to the fabric itself; of outsiders
    uint64_t subscribed;      //  Bytes of that
    uint64_t begun;           //  Bytes of all that came into it since it was bound
    bool crowded;             //  They are too many: the next attempt is under way
    uint64_t turned_away;     //  Followers refused by the sockets before this one
    uint64_t overflowed;      //  Queues found full by those
    metric_t *refused;        //  All of them
    metric_t *overflows;      //  Likewise
    metric_t *strays;         //  Messages that are no subscription
    metric_t *crowds;         //  Times that they were too many
} fabric_t;

//  Tells of each metric.
void fabric_list_metrics (metric_told_fn *told, void *arg);

//  options: borrowed until the end.
status_t fabric_init (fabric_t *self, actor_t *actor, const broker_options_t *options, error_t *error);
void fabric_fini (fabric_t *self);

//  frames: topic, header, payload.
void fabric_publish (fabric_t *self, const span_t frames [3]);

//  Inside on_handover: the batch that is handed over, whose frames are gone afterwards.
void fabric_forward (fabric_t *self, const span_t frames [3]);

//  The keys may have changed.  Where the endpoint is not free again within a second, the log says so, and when it is.
void fabric_renew (fabric_t *self);

//  Brings the counts of refused followers and full queues up to date.
void fabric_count (fabric_t *self);

#endif
