//  indexer_options - what can be set about an indexer

#ifndef ACTORS_INDEXER_INDEXER_OPTIONS_H
#define ACTORS_INDEXER_INDEXER_OPTIONS_H

#include "runtime/option.h"

typedef struct {
    int64_t blocks_max;    //  Of the index
} indexer_options_t;

extern const option_t indexer_options_table [];

#endif
