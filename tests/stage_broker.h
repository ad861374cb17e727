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

#endif
