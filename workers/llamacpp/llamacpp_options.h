//  llamacpp_options - what can be set about the adapter of llama-server

#ifndef WORKERS_LLAMACPP_LLAMACPP_OPTIONS_H
#define WORKERS_LLAMACPP_LLAMACPP_OPTIONS_H

#include "runtime/option.h"

typedef struct {
    const char *api_key;            //  "": none
    const char *model_file;         //  "": where the server says it is
    uint64_t connect_timeout_ns;    //  Of a request to it
    uint64_t probe_interval_ns;     //  Between two looks at its health
    uint64_t stall_timeout_ns;      //  Without a byte from it; 0: none
} llamacpp_options_t;

extern const option_t llamacpp_options_table [];

#endif
