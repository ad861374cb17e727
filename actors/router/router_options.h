//  router_options - what can be set about a router

#ifndef ACTORS_ROUTER_ROUTER_OPTIONS_H
#define ACTORS_ROUTER_ROUTER_OPTIONS_H

#include "runtime/option.h"

//  The policies, by name.
extern const char *const router_modes [];

typedef struct {
    int mode;                  //  Position in router_modes
    int64_t overlap_weight;    //  Millionths
    int64_t load_weight;       //  Millionths
    uint64_t load_stale_ns;    //  Age at which a load report says nothing any more
    int64_t blocks_max;        //  Of its index
} router_options_t;

extern const option_t router_options_table [];

#endif
