//  realm - machines, processes and one virtual clock
//
//  The realm is the simulator's world, and single-threaded: one heap of events, ordered by virtual time and then by
//  insertion; taking the first one is all that ever happens.  A handler takes no virtual time.  Machines carry processes,
//  a disk and a wall clock of their own; processes carry ports (simulator/port), on which the very same actors live as in
//  the real world.
//
//  The same seed gives the same run: randomness comes from streams forked by purpose, so that one more draw in one place
//  shifts nothing elsewhere; nothing is ordered by address; and every delivered event goes into one running hash.
//
//  Starting a program means calling a function registered under the program's name, as a real host starts an executable.
//  The end of a process, by its own will, by a crash, or by that of its machine, takes all it had at once: first it is
//  dead for the network, then its residents let go of their memory, unheard.

#ifndef SIMULATOR_REALM_H
#define SIMULATOR_REALM_H

#include "base/error.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/random.h"
#include "runtime/port.h"

typedef struct realm realm_t;
typedef struct realm_machine realm_machine_t;
typedef struct realm_process realm_process_t;
typedef struct disk disk_t;
typedef struct network network_t;

#define REALM_US UINT64_C (1000)
#define REALM_MS UINT64_C (1000000)
#define REALM_SECOND UINT64_C (1000000000)
#define REALM_HOUR (3600 * REALM_SECOND)

//  ---- The realm -----------------------------------------------------------------------------------------------------

typedef struct {
    uint64_t seed;    //  Of everything
    //  Each log line of every port, as it is written; NULL for nobody.  Borrowed for the call.
    void (*on_log) (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line);
    void *arg;    //  For on_log
} realm_options_t;

//  Gives the realm; never NULL.  Virtual time begins at one second.
realm_t *realm_new (const realm_options_t *options);

//  Ends every process first.  Nulls the caller's pointer.
void realm_destroy (realm_t **self_p);

//  The virtual clock, in ns.
uint64_t realm_now (const realm_t *self);

//  Borrowed for the realm's life.
network_t *realm_network (realm_t *self);

//  Runs until the clock stands at `until_ns`: everything due by then has happened.
void realm_run (realm_t *self, uint64_t until_ns);

//  Seeds a stream of its own for a purpose: the same seed and purpose give the same stream, whatever else is drawn.
void realm_fork_random (const realm_t *self, random_t *random, const char *purpose, uint64_t number);

//  ---- Events --------------------------------------------------------------------------------------------------------

typedef struct realm_event realm_event_t;
typedef void (realm_event_fn) (realm_event_t *event);

//  Embedded in whatever happens.  An event of a process waits while that process is frozen.
struct realm_event {
    heap_entry_t entry;          //  In the realm's heap
    list_link_t parked;          //  In its frozen process
    realm_process_t *process;    //  Whose it is; NULL for nobody's
    realm_event_fn *fire;    //  Called when it is due, after it has left the heap: it may be scheduled again or freed
};

//  The event must not be waiting.  A time in the past means now.
void realm_schedule (realm_t *self, realm_event_t *event, uint64_t at_ns);

//  Takes it back; nothing happens where it does not wait.
void realm_unschedule (realm_t *self, realm_event_t *event);

//  True between its scheduling and its firing, also while its process is frozen.
bool realm_event_waits (const realm_event_t *event);

//  Puts something that happened into the running hash.  kind, number: what and to whom; hash: of its bytes.
void realm_note (realm_t *self, uint32_t kind, uint32_t number, uint64_t hash);

//  Of everything noted so far, in order.
uint64_t realm_log_hash (const realm_t *self);

//  Events fired so far.
uint64_t realm_event_count (const realm_t *self);

//  Kinds of notes.
enum {
    NOTE_ALARM = 1,    //  A port's alarm was due
    NOTE_MESSAGE,      //  A message reached a socket
    NOTE_HTTP,         //  Something reached an exchange or a fetch
    NOTE_JOB,          //  A job was done
    NOTE_LINE,         //  A connection stood or fell
    NOTE_PROCESS,      //  A process began or ended
    NOTE_FAULT,        //  Something was broken or repaired
    NOTE_TURN,         //  A turn that was asked for outside of one
};

//  ---- Machines ------------------------------------------------------------------------------------------------------

//  name: also its name in the network.  Gives nothing: the machine is the realm's.
realm_machine_t *realm_machine_new (realm_t *realm, const char *name);
realm_machine_t *realm_machine_find (realm_t *realm, const char *name);

//  In order of creation; NULL at the end.
realm_machine_t *realm_machine_at (realm_t *realm, size_t position);

//  Borrowed for the realm's life.
const char *realm_machine_name (const realm_machine_t *self);

//  In order of creation, from 0.
uint32_t realm_machine_number (const realm_machine_t *self);

//  Borrowed for the realm's life.
disk_t *realm_machine_disk (realm_machine_t *self);

//  False between crash and boot.
bool realm_machine_is_up (const realm_machine_t *self);

//  Its wall clock, in ns since 1970.
uint64_t realm_machine_wall_ns (const realm_machine_t *self);

//  The wall clock jumps; the monotonic one never does.
void realm_machine_jump_clock (realm_machine_t *self, int64_t by_ns);

//  Every process dies, nobody is told, and what was not on disk is lost.  Until realm_machine_boot nothing starts there.
void realm_machine_crash (realm_machine_t *self);
void realm_machine_boot (realm_machine_t *self);

//  A number other than 0 puts it behind a partition: only those with the same number can speak with each other.
void realm_machine_set_group (realm_machine_t *self, uint32_t group);

//  ---- Programs and processes ----------------------------------------------------------------------------------------

typedef struct {
    const char *name;    //  As the last part of argv [0]
    void *arg;           //  The program's own
    //  The process begins: makes ports and actors.  A failure ends it with exit code 1, the sentence in the log.
    //  *state: the program's own, for the other two.
    status_t (*start) (realm_process_t *process, void **state, error_t *error);
    //  TERM or HUP; NULL: TERM ends the process with 143, HUP does nothing.
    void (*signal) (realm_process_t *process, void *state, process_signal_t signal);
    //  The process is over and its ports are dead: frees the state.  state: what start has set, NULL where it did not.
    void (*stop) (realm_process_t *process, void *state);
} realm_program_t;

//  program: borrowed for the realm's life.
void realm_register_program (realm_t *self, const realm_program_t *program);

typedef struct {
    const char *const *argv;    //  NULL-terminated
    const char *folder;         //  Working and state folder; NULL: the parent's, "/" without one
    realm_process_t *parent;    //  Dies with it; NULL for none
    //  Told in the parent's own time that it has ended.
    void (*on_exit) (void *arg, int code);
    void *arg;    //  For on_exit
} realm_start_t;

//  Starts a program after a drawn moment.  Gives nothing: the process is the realm's, and stays readable after its end, for
//  the realm's life.  NOT_FOUND: no such program; UNREACHABLE: the machine is down.
realm_process_t *realm_process_start (realm_machine_t *machine, const realm_start_t *options, error_t *error);

//  Ends it: soon, not from inside the call.
void realm_process_exit (realm_process_t *self, int code);
void realm_process_signal (realm_process_t *self, process_signal_t signal);

//  on_exit will not be called any more.
void realm_process_forget (realm_process_t *self);

//  Where it is.
realm_t *realm_process_realm (const realm_process_t *self);
realm_machine_t *realm_process_machine (const realm_process_t *self);

//  What it runs.
const realm_program_t *realm_process_program (const realm_process_t *self);

//  What the program's start has set; NULL before that and after its end.
void *realm_process_state (const realm_process_t *self);

//  As a system's process id: never given twice in a realm.
uint32_t realm_process_number (const realm_process_t *self);

//  Where its stores and files with relative paths are.
const char *realm_process_folder (const realm_process_t *self);

//  What it was started with.  Borrowed for the life of the process.
const char *const *realm_process_argv (const realm_process_t *self);

//  The words of argv in one line.
const char *realm_process_title (const realm_process_t *self);

//  From its start, before the program begins, to its end.
bool realm_process_is_alive (const realm_process_t *self);
bool realm_process_is_frozen (const realm_process_t *self);

//  Those that live, in order of their start; NULL at the end.
realm_process_t *realm_process_at (realm_t *realm, size_t position);

//  As realm_machine_set_group, for one process; 0: its machine's.
void realm_process_set_group (realm_process_t *self, uint32_t group);

//  True where a message from one could arrive at the other now.
bool realm_process_reaches (const realm_process_t *self, const realm_process_t *other);

//  ---- Residents -----------------------------------------------------------------------------------------------------

//  What lives in a process and goes with it.  Embedded.
typedef struct resident {
    list_link_t link;    //  In the process
    //  The process has ended, by its own will or by `crashed`: from now on it is not heard any more.
    void (*on_death) (struct resident *self, bool crashed);
    //  After the program's stop: let go of the memory.
    void (*on_burial) (struct resident *self);
} resident_t;

//  The resident must be in no process.
void realm_process_move_in (realm_process_t *self, resident_t *resident);

//  It leaves before the process ends.
void realm_process_move_out (realm_process_t *self, resident_t *resident);

//  A number for each port, in order of creation.
uint32_t realm_next_port_number (realm_t *self);

//  A log line of a process.
void realm_process_log (realm_process_t *self, log_level_t level, span_t line);

#endif
