//  faults - what breaks, drawn from the seed
//
//  Each kind of fault strikes at random times, so many an hour on average, somewhere that is drawn among what is there,
//  and is repaired after a drawn while.  Every other crash of a machine lies in wait until one has written what it can take.
//  Whoever starts processes is not told: what was killed is started again by its supervisor, as in a real fleet.  faults_stop
//  repairs everything at once: the quiet in which a fleet has to converge.

#ifndef SIMULATOR_FAULTS_H
#define SIMULATOR_FAULTS_H

#include "simulator/realm.h"

typedef enum {
    FAULT_PROCESS_CRASH,    //  A process is killed
    FAULT_DRAIN,            //  A process is asked to end
    FAULT_MACHINE_CRASH,    //  A machine goes down, and boots again later
    FAULT_PARTITION,        //  A process or a machine is cut off from all others
    FAULT_FREEZE,           //  A process stands still
    FAULT_CLOCK_JUMP,       //  A machine's wall clock jumps, forwards or back
    FAULT_FULL_DISK,        //  A machine's disk takes nothing more
    FAULT_PUBLISH_LOSS,     //  Much of what is published is lost or overtaken, and queues are short
    FAULT_REVOKED_KEY,      //  Nobody lets in a machine's key any more
    FAULT_TWIN,             //  A process is started once more while it lives
    FAULT_COUNT
} fault_kind_t;

//  Whether harnesses may feel a fault.
typedef enum {
    FEELS_NOTHING,     //  They may not
    FEELS_RECOVERY,    //  By itself they may not; but what is struck beside it does not come back before it is repaired
    FEELS_ALL          //  They may
} fault_feeling_t;

typedef struct {
    uint32_t per_hour [FAULT_COUNT];    //  How often, on average; 0: never
    const realm_machine_t *spared;      //  Nothing happens to it: where the harnesses are; NULL: none
    //  A fault strikes, before its effect.  process, machine: whom; NULL where it is neither.
    //  Returns what harnesses may feel of it (faults_since).
    fault_feeling_t (*on_fault) (void *arg, fault_kind_t kind, realm_process_t *process, realm_machine_t *machine);
    void *arg;    //  For on_fault
    //  Revokes the key of a machine, or takes that back; NULL: machines have no keys.
    void (*set_key) (void *keys, realm_t *realm, const realm_machine_t *machine, bool revoked);
    void *keys;    //  For set_key
} faults_options_t;

typedef struct faults faults_t;

//  "process_crash" and so on.
const char *fault_name (fault_kind_t kind);

//  A usual mix: some of each an hour.
void faults_set_usual (faults_options_t *options);

//  Begins to break things.  Gives the faults; never NULL.
faults_t *faults_new (realm_t *realm, const faults_options_t *options);
void faults_destroy (faults_t **self_p);

//  Repairs everything; nothing breaks any more.
void faults_stop (faults_t *self);

//  How often a kind has struck.
uint64_t faults_count (const faults_t *self, fault_kind_t kind);

//  True where something that harnesses may feel was broken at this time or since, or had been repaired so shortly before
//  that it may still show.
bool faults_since (const faults_t *self, uint64_t since_ns);

#endif
