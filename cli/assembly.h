//  assembly - the actors of one process, ready to be started
//
//  Which actors a process houses, and what each is given, follows from the fleet and the service: `broker`, `core` (all
//  frontends, routers and indexers that have no process of their own), or one `worker`.  An assembly starts nothing:
//  processes of the real world put each actor on a thread (house.h), the simulator on a simulated process.

#ifndef CLI_ASSEMBLY_H
#define CLI_ASSEMBLY_H

#include "cli/manifest.h"
#include "runtime/actor.h"

typedef struct {
    const char *run_dir;      //  Of sockets; ipc endpoints lie in it
    const char *bind_host;    //  Bind at tcp://HOST:* instead (simulated machines); NULL: in run_dir
    const char *machine;      //  Name of the machine
    span_t secret;            //  Of the cluster
} assembly_site_t;

//  One actor.  What is left out of its options is who it tells that it has drained, and its process.
typedef struct {
    const actor_class_t *class;    //  What it is
    actor_options_t options;       //  How it lives
    const void *class_options;     //  What the class wants to know
    unsigned phase;                //  Of draining: lower ones finish first
} assembly_actor_t;

typedef struct assembly assembly_t;

//  service: "broker", "core", "frontend", "router", "indexer", "worker".  instance: its name; NULL: all of the service.
//  Gives the assembly; NULL where there is no such thing.  fleet: borrowed as long as it lives; site: for the call.
assembly_t *assembly_new (
    const manifest_t *fleet, const assembly_site_t *site, const char *service, const char *instance, error_t *error);
void assembly_destroy (assembly_t **self_p);

//  Its actors, in order of start.  Borrowed.
size_t assembly_count (const assembly_t *self);
const assembly_actor_t *assembly_actor (const assembly_t *self, size_t position);

//  The endpoints of the broker as those who live here know them.
void assembly_broker (
    const manifest_t *fleet, const assembly_site_t *site, char endpoint [ENDPOINT_MAX], char events [ENDPOINT_MAX]);

//  Where an actor binds: at the address of this host, at site->bind_host, or at the socket `name` in the run folder.
void assembly_endpoint (
    const manifest_t *fleet, const assembly_site_t *site, const char *name, char out [ENDPOINT_MAX]);

//  Where it binds too, for those of the same host; false where there are no hosts, and so nowhere else.
bool assembly_local (const manifest_t *fleet, const assembly_site_t *site, const char *name, char out [ENDPOINT_MAX]);

#endif
