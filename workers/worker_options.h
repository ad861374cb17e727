//  worker_options - what can be set about a worker, whatever engine is behind it

#ifndef WORKERS_WORKER_OPTIONS_H
#define WORKERS_WORKER_OPTIONS_H

#include "runtime/option.h"

typedef struct {
    int64_t block_size;           //  Tokens
    uint64_t load_interval_ns;    //  Least time between two load reports
    int64_t requests_max;         //  Accepted at once
    int64_t parked_max;           //  Tokens that wait for credit, all requests together
    uint64_t read_timeout_ns;     //  Tokens wait, and their reader takes none
    uint64_t suspect_after_ns;    //  Without a token though there is work
} worker_options_t;

extern const option_t worker_options_table [];

#endif
