//  broker_options - what can be set about the broker

#ifndef BROKER_BROKER_OPTIONS_H
#define BROKER_BROKER_OPTIONS_H

#include "runtime/option.h"

typedef struct {
    const char *endpoint;        //  Of its ROUTER; "": in the run folder
    const char *events;          //  Of its XPUB; "": in the run folder
    const char *local_events;    //  Where its XPUB is bound too, for those of the same host; NULL: nowhere
    uint64_t heartbeat_ns;       //  Between two of an actor
    uint64_t lease_ns;           //  Silence after which an actor is unreachable
    uint64_t gone_after_ns;      //  Unreachable for this long: forgotten
    uint64_t ring_bytes;         //  Of events kept for replay, a source and stream
    uint64_t ring_budget;        //  Of all rings together
    int64_t subscriber_queue;    //  Messages a follower may be behind
    int64_t actors_max;          //  Entries of the directory
} broker_options_t;

extern const option_t broker_options_table [];

#endif
