//  network_private - what network.c (endpoints) and circuit.c know of each other

#ifndef SIMULATOR_NETWORK_PRIVATE_H
#define SIMULATOR_NETWORK_PRIVATE_H

#include "base/map.h"
#include "simulator/network.h"

enum { NETWORK_ENDPOINT_MAX = 512 };

struct network {
    realm_t *realm;               //  Whose it is
    map_t *bounds;                //  network_bound_t by key
    list_t all_bounds;            //  network_bound_t, also those that a death has unbound
    list_t circuits;              //  circuit_t, in order of dialling
    uint32_t circuit_count;       //  Ever dialled
    uint32_t next_port;           //  For wildcards
    uint32_t loss_ppm;            //  Of what is published
    uint32_t reorder_ppm;         //  Of what is published
    uint32_t queue;               //  Messages a subscriber may be behind at most
    network_figures_t figures;    //  For reports
};

struct network_bound {
    network_t *network;                      //  Where
    list_link_t link;                        //  In all_bounds
    realm_process_t *process;                //  Whose
    network_bound_watch_t watch;             //  Who accepts
    bool bound;                              //  False once its process is dead
    bool local;                              //  Only for dials from its own machine
    char key [NETWORK_ENDPOINT_MAX];         //  "tcp|MACHINE|PORT" and the like
    char endpoint [NETWORK_ENDPOINT_MAX];    //  As people write it, with the chosen port
};

//  Which bound an endpoint means, seen from a process; machine NULL: one that nobody knows.
typedef struct {
    bool tcp;                            //  Else ipc or inproc
    bool wildcard;                       //  Any address of the machine
    bool local;                          //  A loopback address
    bool any_port;                       //  The port is to be chosen
    realm_machine_t *machine;            //  Where it leads
    char host [NETWORK_ENDPOINT_MAX];    //  tcp: as written
    char name [NETWORK_ENDPOINT_MAX];    //  Port, path or name
} endpoint_t;

//  INVALID where it is none.
status_t network_parse_endpoint (endpoint_t *self, realm_process_t *from, const char *text, error_t *error);
//  What a bound is found by.
void network_endpoint_key (const endpoint_t *self, const realm_process_t *from, char key [NETWORK_ENDPOINT_MAX]);

//  Frees a circuit and all that is under way on it.
void circuit_destroy (circuit_t *self);

//  A process that held an end has ended.
void circuit_bury (circuit_t *self, realm_process_t *process, bool crashed, bool silent);

//  Its two processes may have become reachable or unreachable for each other.
void circuit_reconsider (circuit_t *self);

//  The circuit whose place in the network's list this is.
circuit_t *circuit_from_link (list_link_t *link);

#endif
