//  stage - actors in a small realm, for tests and replays
//
//  Each actor of a stage has a process of its own, on a machine that the test names, and all know one broker.  The test
//  runs virtual time, looks at what the actors hold, and breaks things:
//
//      stage_t *stage = stage_new (seed);
//      stage_add (stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &broker });
//      stage_add (stage, &(stage_actor_t){ .class = &indexer_class, .instance = "0", .options = &indexer });
//      stage_run (stage, 2 * REALM_SECOND);
//      indexer_t *indexer = actor_state (stage_find (stage, "indexer/0"));
//      stage_crash (stage, "broker/0");
//      stage_start (stage, "broker/0");
//      stage_destroy (&stage);
//
//  The first actor of class "broker" binds STAGE_BROKER and STAGE_EVENTS on the machine "m0".

#ifndef SIMULATOR_STAGE_H
#define SIMULATOR_STAGE_H

#include "runtime/actor.h"
#include "simulator/realm.h"

typedef struct stage stage_t;

#define STAGE_BROKER "tcp://m0:7400"
#define STAGE_EVENTS "tcp://m0:7401"

typedef struct {
    const actor_class_t *class;    //  What it is
    const char *instance;          //  "0"
    const char *machine;           //  NULL: "m0"; made where it is not there
    const void *options;           //  Of the class; borrowed for the stage's life
    span_t card;                   //  For the directory entry; borrowed for the stage's life
    uint64_t ring_bytes;           //  Of each published stream; 0: the default
    uint64_t memory_bytes;         //  What load may take; 0: the default
    const keyring_t *keys;         //  Of its port; borrowed for the stage's life; NULL: plain endpoints only
    const guard_t *guard;          //  What holders of keys may do with it; borrowed likewise
} stage_actor_t;

//  Gives the stage; never NULL.
stage_t *stage_new (uint64_t seed);
void stage_destroy (stage_t **self_p);

//  Where its processes run.  Borrowed for the stage's life.
realm_t *stage_realm (stage_t *self);

//  Adds an actor and starts it.
void stage_add (stage_t *self, const stage_actor_t *actor);

//  Runs this much virtual time.
void stage_run (stage_t *self, uint64_t time_ns);

//  The actor of an address, "router/0"; NULL while it does not run.
actor_t *stage_find (stage_t *self, const char *address);

//  Its process, the last one; NULL for an address that was never added.
realm_process_t *stage_process (stage_t *self, const char *address);

//  Kills its process, and runs a moment.
void stage_crash (stage_t *self, const char *address);

//  Starts it again, and runs a moment.
void stage_start (stage_t *self, const char *address);

//  Asks it to drain; its process ends when it has.
void stage_drain (stage_t *self, const char *address);

//  The last log lines, oldest first, for a test that failed.  Borrowed until the next run.
const char *stage_log (stage_t *self);

#endif
