#include "actors/indexer/indexer_options.h"

#include <stddef.h>

const option_t indexer_options_table [] = {
    { .name = "blocks_max",
        .type = OPTION_INTEGER,
        .fallback = "16000000",
        .min = 1000,
        .max = 1000000000,
        .offset = offsetof (indexer_options_t, blocks_max),
        .doc = "Unique blocks of all models that the index keeps; beyond that new ones are counted and not known.",
        .advice = "Raise it when the fleet's caches together hold more: about 100 bytes each." },
    OPTIONS_END
};
