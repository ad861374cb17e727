//  sim_port - the port of an actor that lives in a simulated process
//
//  The other implementation of runtime/port.h.  Whatever an actor asks of the world is answered by its realm: time and
//  delays are virtual, the network is simulator/network.h, files and stores lie on the machine's simulated disk, and a
//  program is a function.  A job runs in the moment in which it is done.

#ifndef SIMULATOR_PORT_SIM_PORT_H
#define SIMULATOR_PORT_SIM_PORT_H

#include "runtime/port.h"
#include "simulator/realm.h"

//  Gives the port; never NULL.  It lives until sim_port_destroy or until its process ends, whichever is first: in
//  the program's `stop` it is still there, but not heard any more.  Whoever makes its user fills in `user`.
port_t *sim_port_new (realm_process_t *process);

//  Who this port is and whom it lets in, from now on: names without cryptography, the own public key is believed.  Borrowed
//  until the next call or the port's end; may change meanwhile.  A port that was never given keys has plain endpoints only.
void sim_port_set_keys (port_t *self, const keyring_t *keys);

//  Runs what jobs are under way and calls their `done`, then destroys the port and nulls the caller's pointer.
//  Whatever was opened must have been closed.
void sim_port_destroy (port_t **self_p);

#endif
