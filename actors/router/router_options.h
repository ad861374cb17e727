//  router_options - what can be set about a router

#ifndef ACTORS_ROUTER_ROUTER_OPTIONS_H
#define ACTORS_ROUTER_ROUTER_OPTIONS_H

#include "runtime/option.h"

//  The policies, by name.
extern const char *const router_modes [];

typedef struct {
    int mode;                       //  Position in router_modes
    int64_t overlap_weight;         //  Millionths
    int64_t load_weight;            //  Millionths
    int64_t lower_weight;           //  Millionths
    uint64_t load_stale_ns;         //  Age at which a load report says nothing any more
    int64_t blocks_max;             //  Of its index
    int64_t sessions_max;           //  Whose last worker is remembered
    const char *policy_endpoint;    //  Of the policy outside; "" or NULL: none
    uint64_t policy_deadline_ns;    //  For its answer
    int64_t policy_failures_max;    //  In a row, that begin a pause
    uint64_t policy_pause_ns;       //  How long it is not asked
    int64_t policy_waiting_max;     //  Requests that wait for it at a time
} router_options_t;

extern const option_t router_options_table [];

#endif
