//  world - what the real ports of one process share
//
//  One ZeroMQ context (so that inproc endpoints work), one pool of threads for jobs, one place for log lines, and the
//  process-wide initialisation of the libraries.  Make it before the first thread starts; destroy it after the last port.

#ifndef RUNTIME_PORT_WORLD_H
#define RUNTIME_PORT_WORLD_H

#include "runtime/port/gate.h"
#include "runtime/port/job.h"
#include "runtime/port/log_sink.h"

typedef struct world world_t;

typedef struct {
    uint32_t job_threads;     //  Of the pool; 0: as many as there are cores, 2 to 8
    const char *log_path;     //  File that log lines are appended to; NULL: standard error
    log_level_t log_level;    //  Lines below it are left out
    log_form_t log_form;      //  AUTO: for people on a terminal, else JSON
} world_options_t;

//  options: borrowed; NULL for the defaults.  Gives the world; NULL where the log file cannot be opened.  Ignores SIGPIPE
//  and SIGXFSZ in the process: a write that fails says so itself.
world_t *world_new (const world_options_t *options, error_t *error);

//  Destroys the world and nulls the caller's pointer.  Waits up to half a second for messages that are being sent.
void world_destroy (world_t **self_p);

//  Takes the keyring of the process, in place of the one before; NULL: none.  Without one, no endpoint that leaves the
//  machine is bound or connected.  A new one holds for new peers and for the next message of those that are connected.
//  From any thread.
void world_set_keys (world_t *self, keyring_t *keys);

//  Gives back to the system what was freed.  The allocator keeps it otherwise, for each thread as much as that ever had: a
//  process that was flooded once would look for ever as if it still were.  Takes microseconds where nothing is free, but a
//  fifth of a second where half of a gigabyte is, in small pieces, and who allocates waits meanwhile.  Returns ns after
//  which to do it again: so late that it takes no more than a two-hundredth of a core.  From any thread.
uint64_t world_trim (void);

//  True for the first who asks: it speaks for the process.  From any thread.
bool world_claim_voice (world_t *self);

//  All borrowed.
gate_t *world_gate (const world_t *self);
void *world_zmq (const world_t *self);
job_pool_t *world_jobs (const world_t *self);
log_sink_t *world_log (const world_t *self);

#endif
