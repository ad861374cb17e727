//  host_options - what can be set about a host

#ifndef ACTORS_HOST_HOST_OPTIONS_H
#define ACTORS_HOST_HOST_OPTIONS_H

#include "runtime/option.h"

typedef struct {
    uint64_t restart_delay_ns;        //  Before the first restart
    uint64_t restart_delay_max_ns;    //  The delay doubles up to this
    uint64_t healthy_after_ns;        //  Running this long forgets earlier crashes
    int64_t looping_after;            //  Crashes in a row that make a loop
    uint64_t ready_timeout_ns;        //  To become ready
    uint64_t probe_interval_ns;       //  Between two questions whether it is ready
    uint64_t drain_timeout_ns;        //  To finish what is under way
    uint64_t stop_timeout_ns;         //  Between being asked to end and being killed
} host_options_t;

extern const option_t host_options_table [];

#endif
