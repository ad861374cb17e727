//  frontend_options - what can be set about a frontend

#ifndef ACTORS_FRONTEND_FRONTEND_OPTIONS_H
#define ACTORS_FRONTEND_FRONTEND_OPTIONS_H

#include "actors/frontend/retry_budget.h"
#include "runtime/option.h"

typedef struct {
    const char *host;             //  Address to listen on
    int64_t port;                 //  TCP port; 0: the system chooses
    bool allow_public;            //  Listen where other machines can reach it
    uint64_t head_max;            //  Bytes of request line and headers
    uint64_t head_timeout_ns;     //  From first byte to the head's end
    uint64_t body_max;            //  Bytes of one body
    uint64_t body_timeout_ns;     //  From the head's end to the body's
    uint64_t body_budget;         //  Bytes of all bodies in flight
    uint64_t idle_timeout_ns;     //  Of a connection between requests
    uint64_t write_timeout_ns;    //  Of a client that does not read
    int64_t connections_max;      //  Open at once
    int64_t requests_max;         //  In progress at once
    uint64_t keep_alive_ns;       //  Silence after which a streamed answer gets a comment
    uint64_t route_timeout_ns;    //  For the router's decision
    uint64_t stall_timeout_ns;    //  Without a token; 0: none
    int64_t attempts;             //  Workers tried for one request
    retry_limits_t retries;       //  Of all requests together
    bool local_prompts;           //  Made here, where they can be
    uint64_t memo;                //  Bytes for what became of them, each model
    int64_t check_every;          //  Prompts made here to one that is compared; 0: none
    bool migrate_unseeded;        //  What is drawn without a seed may go on elsewhere
    //  Filled in by whoever starts it, in no table.
    span_t secret;              //  Of the cluster
    option_strings_t models;    //  Names that the configuration promises, aliases too
} frontend_options_t;

extern const option_t frontend_options_table [];

#endif
