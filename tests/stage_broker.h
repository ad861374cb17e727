//  The broker of a stage (simulator/stage.h), with room for what tests send.

#ifndef TESTS_STAGE_BROKER_H
#define TESTS_STAGE_BROKER_H

#include "broker/broker.h"
#include "simulator/stage.h"

static const broker_options_t stage_broker_options = { .events = STAGE_EVENTS,
    .gone_after_ns = 600 * REALM_SECOND,
    .ring_bytes = 1 << 20,
    .subscriber_queue = 1000,
    .actors_max = 3000 };

//  A broker and those who live on it, two seconds after all were started.  Gives the stage.
static inline stage_t *
stage_with_broker (uint64_t seed, const stage_actor_t *actors, size_t count)
{
    stage_t *stage = stage_new (seed);
    stage_add (stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &stage_broker_options });
    for (size_t i = 0; i < count; i++)
        stage_add (stage, &actors [i]);
    stage_run (stage, 2 * REALM_SECOND);
    return stage;
}

//  The same with server/a and client/0, each on a machine of its own.
static inline stage_t *
stage_of_two (uint64_t seed, const actor_class_t *server, const actor_class_t *client)
{
    const stage_actor_t actors [] = { { .class = server, .instance = "a", .machine = "m1" },
        { .class = client, .instance = "0", .machine = "m2" } };
    return stage_with_broker (seed, actors, 2);
}

#endif
