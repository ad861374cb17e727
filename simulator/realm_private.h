//  realm_private - what the realm's three sources know of each other: realm.c, realm_machine.c, realm_process.c

#ifndef SIMULATOR_REALM_PRIVATE_H
#define SIMULATOR_REALM_PRIVATE_H

#include "base/map.h"
#include "simulator/disk.h"
#include "simulator/network.h"
#include "simulator/realm.h"

struct realm {
    realm_options_t options;    //  As given
    uint64_t now_ns;            //  Virtual
    heap_t events;              //  realm_event_t, the future
    uint64_t log_hash;          //  Of everything that happened
    uint64_t fired;             //  Events so far
    uint64_t fired_now;         //  Of these, at this very instant
    network_t *network;         //  Between its processes
    map_t *programs;            //  realm_program_t by name
    array_t machines;           //  realm_machine_t *, in order of creation
    array_t processes;          //  realm_process_t *, all that ever were, in order of start
    array_t living;             //  Of these, those that live
    uint32_t ports;             //  Numbers given
    random_t start_random;      //  How long starts take
    random_t crash_random;      //  What crashes leave behind
};

struct realm_machine {
    realm_t *realm;      //  Where it stands
    char *name;          //  Also in the network
    uint32_t number;     //  Position in the realm
    uint32_t group;      //  Side of a partition; 0: none
    bool up;             //  Between boot and crash
    int64_t clock_ns;    //  Its wall clock against the realm's
    disk_t *disk;        //  Survives its processes
};

typedef enum { PROCESS_STARTING, PROCESS_RUNNING, PROCESS_DEAD } process_stage_t;

struct realm_process {
    realm_t *realm;                           //  Where it lives
    realm_machine_t *machine;                 //  On which machine
    realm_process_t *parent;                  //  Dies with it; NULL for none
    uint32_t number;                          //  As the system's process id
    uint32_t group;                           //  Side of a partition; 0: its machine's
    process_stage_t stage;                    //  Of its life
    bool frozen;                              //  Its events wait
    bool ending;                              //  `end` waits
    bool crashed;                             //  How it ends
    int exit_code;                            //  What the parent will hear
    const realm_program_t *program;           //  What it runs
    void *state;                              //  The program's own
    char **argv;                              //  Copies, NULL-terminated
    char *folder;                             //  State folder
    char *title;                              //  argv in one line
    list_t residents;                         //  resident_t
    list_t parked;                            //  realm_event_t of a frozen process
    realm_event_t begin;                      //  Start of the program
    realm_event_t end;                        //  Its end
    realm_event_t exit_notice;                //  Told to the parent
    realm_event_t signals [2];                //  TERM and HUP on their way; a second one of a kind merges
    void (*on_exit) (void *arg, int code);    //  Of the parent
    void *on_exit_arg;                        //  For on_exit
};

//  Ends a process now.  Not from inside one of its own events.
//  silent: its machine goes with it.
void realm_process_end (realm_process_t *self, int code, bool crashed, bool silent);

//  Frees a dead process.
void realm_process_destroy (realm_process_t **self_p);
void realm_machine_destroy (realm_machine_t **self_p);

#endif
