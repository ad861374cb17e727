//  network - connections between processes: what stands between two simulated sockets
//
//  A circuit is one TCP-like connection: what is sent arrives in order after a drawn delay, or not at all once the circuit has
//  fallen.  Message sockets and HTTP both stand on circuits.
//
//  *  A circuit is dialled to an endpoint.  Where nobody is bound the dialler hears that it is down, a moment later.
//  *  Behind a partition what is sent waits, and arrives when the partition heals; after about ten seconds the circuit falls
//     and what waited is lost.
//  *  Whoever closes an end, or dies, lets what is already under way arrive; the other end then hears that it is down.
//     After a crash the newest of what was under way is lost.  A machine that crashes says nothing: its peers notice as
//     in a partition.

#ifndef SIMULATOR_NETWORK_H
#define SIMULATOR_NETWORK_H

#include "simulator/parcel.h"
#include "simulator/realm.h"

typedef struct circuit circuit_t;
typedef struct network_bound network_bound_t;

//  ---- Circuits ------------------------------------------------------------------------------------------------------

//  Which end of a circuit.
typedef enum { END_DIALLER, END_BINDER } circuit_end_t;

//  Told in the time of the process that holds the end.
typedef struct {
    //  It stands.
    void (*on_up) (void *arg);
    //  Something arrived.  parcel: borrowed; may be NULL where the sender gave none.
    void (*on_parcel) (void *arg, uint32_t kind, parcel_t *parcel);
    //  It fell, or was never there: the end is released, and nothing follows.
    void (*on_down) (void *arg);
} circuit_watch_t;

//  Dials.  endpoint: "tcp://HOST:PORT", "ipc://PATH" or "inproc://NAME"; INVALID for others.
//  watch: borrowed for its life.  Held by the caller until on_down or circuit_close.
circuit_t *circuit_dial (
    realm_process_t *process, const char *endpoint, const circuit_watch_t *watch, void *arg, error_t *error);

//  Names who holds the binder's end; called from on_accept.
void circuit_take (circuit_t *self, const circuit_watch_t *watch, void *arg);

//  Sends towards the other end.  parcel: takes a reference of its own; may be NULL.  kind: the sender's own.
void circuit_send (circuit_t *self, circuit_end_t from, uint32_t kind, parcel_t *parcel);

//  The same, late by `late_ns`, without holding its place among the others.
void circuit_send_late (circuit_t *self, circuit_end_t from, uint32_t kind, parcel_t *parcel, uint64_t late_ns);

//  Parcels sent from this end that have not arrived.
uint32_t circuit_under_way (const circuit_t *self, circuit_end_t from);

//  Lets go of an end: no callback follows there, and the other end hears of it behind what is under way.
void circuit_close (circuit_t *self, circuit_end_t end);

//  "HOST:PORT" of the other side, or what stands for it.  Borrowed.
const char *circuit_peer (const circuit_t *self, circuit_end_t end);

//  ---- Endpoints -----------------------------------------------------------------------------------------------------

typedef struct {
    //  Somebody dialled; circuit_take or circuit_close.
    void (*on_accept) (void *arg, circuit_t *circuit);
    void *arg;    //  For on_accept
} network_bound_watch_t;

//  Binds; "tcp://ADDRESS:*" chooses a port.  EXISTS names who holds it.  Held until network_bound_close.
network_bound_t *network_bound_open (
    realm_process_t *process, const char *endpoint, const network_bound_watch_t *watch, error_t *error);
void network_bound_close (network_bound_t *self);

//  With the port that was chosen.  Borrowed.
const char *network_bound_endpoint (const network_bound_t *self);

//  ---- For the realm -------------------------------------------------------------------------------------------------

//  realm: borrowed for the network's life.  Gives the network; never NULL.
network_t *network_new (realm_t *realm);

//  What is under way is gone; whoever holds an end or is bound must have let go before.  Nulls the caller's pointer.
void network_destroy (network_t **self_p);

//  Drops what a process that ended had.  silent: its machine went with it, nobody hears.
void network_bury (network_t *self, realm_process_t *process, bool crashed, bool silent);

//  Somebody became reachable or unreachable.
void network_reconsider (network_t *self);

typedef struct {
    uint64_t delivered;         //  Parcels that arrived
    uint64_t lost;              //  Parcels that never will
    uint64_t dialled;           //  Dialled
    uint64_t refused;           //  Dialled where nobody was bound
    uint64_t fallen;            //  Fell by partition, silence or crash
    uint64_t published_lost;    //  Lost on the legs that may lose
    uint64_t reordered;         //  Overtaken there
    uint64_t full;              //  Sends that found a queue full; of what is published, the first in a row
} network_figures_t;

//  Since the start.  Borrowed for the network's life; sockets count in it.
network_figures_t *network_figures (network_t *self);

//  Parts per million of what is published that is lost or overtaken, from now on.
void network_set_publishing (network_t *self, uint32_t loss_ppm, uint32_t reorder_ppm);

//  Messages a subscriber may be behind, from now on, where its publisher would allow more; UINT32_MAX at the start.
void network_set_queue (network_t *self, uint32_t messages);
uint32_t network_queue (const network_t *self);

//  As last set; 0 at the start.
uint32_t network_loss_ppm (const network_t *self);
uint32_t network_reorder_ppm (const network_t *self);

#endif
