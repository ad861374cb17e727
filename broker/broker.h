//  broker - event fabric and directory
//
//  The one actor that everybody knows from the configuration.  It fans out what sources hand over, keeps the last batches
//  of each for those who missed some, and knows who is alive where.  It never sees a prompt or a token, keeps nothing on
//  disk, and may be killed and restarted under load: actors register again, rings fill the gaps.

#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "runtime/actor.h"

typedef struct {
    const char *events;     //  Endpoint its XPUB binds
    uint64_t ring_bytes;    //  Of each stream of each source; 0: 1 MiB
    uint64_t gone_ns;       //  How long an actor may be unreachable before it is gone; 0: 10 minutes
    uint32_t actors_max;    //  Entries; 0: 10000
} broker_options_t;

extern const actor_class_t broker_class;

#endif
