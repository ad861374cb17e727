//  broker - event fabric and directory
//
//  The one actor that everybody knows from the configuration.  It fans out what sources hand over, keeps the last batches
//  of each for those who missed some, and knows who is alive where.  It never sees a prompt or a token, keeps only the
//  last incarnation of each address on disk, and may be killed and restarted under load: actors register again, rings
//  fill the gaps.

#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "broker/broker_options.h"
#include "runtime/actor.h"

//  Its options are a broker_options_t with the events endpoint filled in.
extern const actor_class_t broker_class;

#endif
