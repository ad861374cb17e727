#include "workers/worker_options.h"

#include <stddef.h>

#define FIELD(name) offsetof (worker_options_t, name)

const option_t worker_options_table [] = {
    { .name = "block_size",
        .type = OPTION_INTEGER,
        .fallback = "64",
        .min = 1,
        .max = 16384,
        .offset = FIELD (block_size),
        .doc = "Tokens a block: the grain in which caches are counted.",
        .advice = "All workers of a model must agree. Smaller finds a little more, and costs memory in the index." },
    { .name = "load_interval",
        .type = OPTION_DURATION,
        .fallback = "100ms",
        .min = 1000000,
        .max = 60000000000,
        .offset = FIELD (load_interval_ns),
        .doc = "Least time between two load reports." },
    { .name = "requests_max",
        .type = OPTION_INTEGER,
        .fallback = "1024",
        .min = 1,
        .max = 1000000,
        .offset = FIELD (requests_max),
        .doc = "Requests accepted at once, waiting ones included; what comes beyond goes to another worker." },
    { .name = "parked_max",
        .type = OPTION_INTEGER,
        .fallback = "1000000",
        .min = 1000,
        .max = 1000000000,
        .offset = FIELD (parked_max),
        .doc = "Tokens kept for readers slower than the engine, all requests together; beyond it the slowest one is "
               "cancelled." },
    { .name = "read_timeout",
        .type = OPTION_DURATION,
        .fallback = "5min",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = FIELD (read_timeout_ns),
        .doc = "A request whose tokens wait for so long while its reader takes none is given up." },
    { .name = "suspect_after",
        .type = OPTION_DURATION,
        .fallback = "10s",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = FIELD (suspect_after_ns),
        .doc = "An engine that has work but moves no token for so long, and for five times as long as it should have "
               "needed by its own pace, gets no more work, and its requests go elsewhere.",
        .advice = "Whatever its health check says. It is tried again with one token." },
    OPTIONS_END
};
