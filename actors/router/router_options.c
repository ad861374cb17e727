#include "actors/router/router_options.h"

#include <stddef.h>

#define FIELD(name) offsetof (router_options_t, name)

const char *const router_modes [] = { "kv", "round_robin", NULL };

const option_t router_options_table [] = {
    { .name = "mode",
        .type = OPTION_ENUM,
        .fallback = "kv",
        .words = router_modes,
        .offset = FIELD (mode),
        .doc = "How a worker is chosen: kv weighs what is in its cache against its load, round_robin takes turns.",
        .advice = "round_robin is for comparison: it recomputes what another worker has.",
        .traits = OPTION_LIVE },
    { .name = "overlap_weight",
        .type = OPTION_DECIMAL,
        .fallback = "1.0",
        .max = 1000000000,
        .offset = FIELD (overlap_weight),
        .doc = "What a block found in a worker's cache is worth, in blocks that need not be computed.",
        .advice = "Lower it when one worker collects all the load, 0 ignores caches.",
        .traits = OPTION_LIVE },
    { .name = "load_weight",
        .type = OPTION_DECIMAL,
        .fallback = "1.0",
        .max = 1000000000,
        .offset = FIELD (load_weight),
        .doc = "What a block that a worker still has to compute or keep for others costs.",
        .traits = OPTION_LIVE },
    { .name = "load_stale",
        .type = OPTION_DURATION,
        .fallback = "5s",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = FIELD (load_stale_ns),
        .traits = OPTION_LIVE,
        .doc = "Age from which on a worker's last load report is not believed; what was routed to it since still "
               "counts." },
    { .name = "blocks_max",
        .type = OPTION_INTEGER,
        .fallback = "16000000",
        .min = 1000,
        .max = 1000000000,
        .offset = FIELD (blocks_max),
        .doc = "Unique blocks its index keeps; beyond that the oldest unused ones are forgotten.",
        .advice = "Raise it when the fleet's caches together hold more: about 100 bytes each." },
    OPTIONS_END
};
