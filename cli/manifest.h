//  manifest - what a fleet consists of: the configuration file
//
//  One file says what runs: models, workers, and the options of each actor.  The rooms bring their own tables of options;
//  here they are put together, filled from a file and from flags, and checked for what no single row can see.  A fleet of
//  six lines works: every key has a default.

#ifndef CLI_MANIFEST_H
#define CLI_MANIFEST_H

#include "actors/frontend/frontend_options.h"
#include "actors/host/host_options.h"
#include "actors/indexer/indexer_options.h"
#include "actors/router/router_options.h"
#include "broker/broker_options.h"
#include "cli/engines.h"
#include "cli/roles.h"
#include "runtime/option.h"
#include "workers/worker_options.h"

enum { MANIFEST_VERSION = 1, MANIFEST_NAME_MAX = 64, MANIFEST_COUNT_MAX = 1000 };

#define ENGINE_NUMBER(number, folder, does) number,
typedef enum { ENGINES (ENGINE_NUMBER) } manifest_engine_t;
#undef ENGINE_NUMBER

typedef enum { PROCESS_CORE, PROCESS_OWN } manifest_process_t;

typedef struct {
    const char *name;         //  Of the cluster
    const char *state_dir;    //  Where what must survive lies; "": chosen by the user's environment
    const char *run_dir;      //  Where sockets and logs lie; "": chosen likewise
    const char *host;         //  Which of the hosts this machine is; "": there are none, or it is not asked
} manifest_cluster_t;

//  A machine of the fleet.
typedef struct {
    const char *name;         //  Also of its key
    const char *address;      //  IP address that it binds and the others connect to
    option_strings_t runs;    //  "broker", "core"
    place_t place;            //  In the file
} manifest_host_t;

typedef struct {
    const char *keys_dir;    //  Folder of certificates; "": `keys` in the state folder
    option_list_t roles;     //  manifest_role_t; none: the usual ones
} manifest_security_t;

typedef struct {
    const char *name;            //  Clients ask for it
    option_strings_t aliases;    //  Other names
    int64_t max_model_len;       //  Tokens of a request; 0: what the workers say
} manifest_model_t;

//  A group of like workers.
#define ENGINE_OPTIONS(number, folder, does) folder##_options_t folder;
typedef struct {
    const char *name;                //  Instances are NAME-0, NAME-1, ...
    int engine;                      //  manifest_engine_t
    const char *model;               //  Name in models
    int64_t count;                   //  How many
    const char *host;                //  Name in hosts; "": there are none
    const char *url;                 //  Of an engine that runs already; "": ours
    int64_t port;                    //  Of the first engine we start; the next ones follow
    option_strings_t command;        //  How to start one; none: it runs already, or needs no process
    option_strings_t environment;    //  NAME=value, for the command
    worker_options_t worker;         //  Whatever the engine
    ENGINES (ENGINE_OPTIONS)         //  A struct for each engine: what is set where it is that one
    place_t place;                   //  Of its command in the file
} manifest_worker_t;
#undef ENGINE_OPTIONS

typedef struct {
    int64_t instances;             //  How many actors
    int process;                   //  manifest_process_t
    frontend_options_t options;    //  Of each
} manifest_frontend_t;

typedef struct {
    int64_t instances;           //  How many actors
    int process;                 //  manifest_process_t
    router_options_t options;    //  Of each
} manifest_router_t;

typedef struct {
    int64_t instances;            //  How many actors
    int process;                  //  manifest_process_t
    indexer_options_t options;    //  Of each
} manifest_indexer_t;

typedef struct {
    int log_level;     //  log_level_t
    int log_format;    //  log_form_t of the port
} manifest_observability_t;

typedef struct {
    int64_t version;                           //  MANIFEST_VERSION
    manifest_cluster_t cluster;                //  Where it lives
    option_list_t hosts;                       //  manifest_host_t; none: all of it on one machine
    option_list_t models;                      //  manifest_model_t
    option_list_t workers;                     //  manifest_worker_t
    manifest_frontend_t frontend;              //  HTTP
    manifest_router_t router;                  //  Decisions
    manifest_indexer_t indexer;                //  Who has what
    broker_options_t broker;                   //  The bus
    host_options_t host;                       //  Supervision
    manifest_security_t security;              //  Who may do what
    manifest_observability_t observability;    //  What it says
    const guard_t *guard;                      //  Of security.roles
    arena_t memory;                            //  What all of these point to
} manifest_t;

//  The names of engines, by manifest_engine_t.
extern const char *const manifest_engines [];

//  Every key of the file, for help and manual.
extern const option_t manifest_table [];

//  The fleet that `stator run` starts when no file is named.
extern const char manifest_builtin [];

//  A command line: flags of the fleet, of the command itself, and other words.
typedef struct {
    const char *const *words;    //  Behind the verb; borrowed as long as the fleet lives
    size_t count;                //  How many
    option_target_t own;         //  The command's own flags; table NULL: none
} manifest_flags_t;

//  Reads a file, then the flags over it, and checks the whole.  Gives the fleet, also where there are complaints; then it
//  must not be used but for its destruction.  text, world: borrowed for the call.  flags: NULL for none; what is wrong
//  with them goes to the complaints too.
manifest_t *manifest_new (
    span_t text, const manifest_flags_t *flags, const config_world_t *world, complaints_t *complaints);

//  Frees it and nulls the pointer.  NULL is fine.
void manifest_destroy (manifest_t **self_p);

//  In the order of the file; `position` is below the count.  Borrowed, as all below.
const manifest_model_t *manifest_model (const manifest_t *self, size_t position);
const manifest_worker_t *manifest_worker (const manifest_t *self, size_t position);

//  What the core may house: "frontend", "router" and "indexer".
typedef struct {
    const char *service;           //  Of the addresses
    size_t count;                  //  Instances
    manifest_process_t process;    //  Where they are
} manifest_part_t;

enum { MANIFEST_PARTS = 3 };

//  In the order in which they drain.
void manifest_parts (const manifest_t *self, manifest_part_t parts [MANIFEST_PARTS]);

//  By name or alias; NULL where there is none.
const manifest_model_t *manifest_find_model (const manifest_t *self, const char *name);

//  True for what can be the name of an actor, and so part of topics and file names: no dot, which would end it in topics.
bool manifest_is_instance (const char *name);

//  ---- Hosts (manifest_hosts.c) --------------------------------------------------------------------------------------

//  Where the broker of such a fleet listens, unless the file says where.
#define MANIFEST_BROKER_PORT "7400"
#define MANIFEST_EVENTS_PORT "7401"

//  In the order of the file; `position` is below the count.
const manifest_host_t *manifest_host (const manifest_t *self, size_t position);

//  NULL where none has this name.
const manifest_host_t *manifest_find_host (const manifest_t *self, const char *name);

//  Says that none has this name, and which one was meant.  Returns STATUS_INVALID.
status_t manifest_refuse_host (const manifest_t *self, const char *name, error_t *error);

//  The one that this machine is; NULL where the fleet has no hosts, or cluster.host was not said.
const manifest_host_t *manifest_own_host (const manifest_t *self);

//  process: "broker", "core", "worker".  The first host that runs it; NULL where none does.
bool manifest_host_runs (const manifest_t *self, const manifest_host_t *host, const char *process);
const manifest_host_t *manifest_host_of (const manifest_t *self, const char *process);

//  Everything is here where manifest_own_host is NULL.
bool manifest_runs_here (const manifest_t *self, const char *process);
bool manifest_worker_is_here (const manifest_t *self, const manifest_worker_t *worker);

//  Writes "tcp://ADDRESS:PORT".
void manifest_host_endpoint (const manifest_host_t *host, const char *port, char *out, size_t size);

//  ---- Workers -------------------------------------------------------------------------------------------------------

//  The adapter of a group, and what was set about it, of the adapter's own type.
const engine_class_t *manifest_engine (const manifest_worker_t *worker);
const void *manifest_engine_options (const manifest_worker_t *worker);

//  Writes the instance name of one of a group, "mock-0".
void manifest_instance (const manifest_worker_t *worker, size_t position, char *out, size_t size);

//  What is filled in where it stands in braces in a command: its port, its instance name, its model, in this order.
extern const char *const manifest_placeholders [];

//  Writes the URL of an engine that we start for one of a group; empty where we start none.
void manifest_started_url (const manifest_worker_t *worker, size_t position, char *out, size_t size);

#endif
