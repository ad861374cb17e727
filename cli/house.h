//  house - a process of the real world: each actor of an assembly on a thread of its own, until a signal ends them
//
//  SIGTERM and SIGINT drain: actors finish what is under way, phase by phase (departure.h), and the process ends with 0.  A
//  second one ends at once.  An actor that drains by itself takes the others along.  SIGHUP gives the actors new options,
//  and one line in the log says what has been taken.  Signals are blocked from house_new on and waited for in house_wait, so
//  whoever starts threads of its own does so in between.

#ifndef CLI_HOUSE_H
#define CLI_HOUSE_H

#include "cli/assembly.h"
#include "cli/command.h"
#include "runtime/port/world.h"

typedef struct house house_t;

//  What holds from a reload on.
typedef struct {
    const assembly_actor_t *actors;    //  Once more, in the same order, with their options; NULL where they stay
    log_level_t log_level;             //  The least that is logged
    const char *changed;               //  Names of what is different, for the log; "": nothing is
} house_reload_t;

typedef struct {
    const char *state_dir;     //  Of stores and files
    const char *log_path;      //  File for log lines; NULL: standard error
    log_form_t log_form;       //  For people or for programs
    log_level_t log_level;     //  The least that is logged
    log_level_t news_level;    //  Of the line that says what a reload has changed
    //  At the start and at SIGHUP: gives the keyring that is to hold from now on; NULL in it for none; appends to `news`
    //  what is different since the last time.  Where it fails the one before stays, and a start fails.  The function may be
    //  NULL.
    status_t (*read_keys) (void *arg, keyring_t **keys, buffer_t *news, error_t *error);
    //  SIGHUP: says what is to hold from now on, borrowed until the next one.  Where it fails everything stays, and the log
    //  says why; actors that are named all the same are given the options that they have, and so learn of the wish.  The
    //  function may be NULL.
    status_t (*on_reload) (void *arg, house_reload_t *reload, error_t *error);
    //  Now and then, at most every ten seconds: appends a line for the log where there is something to say.  The function may be
    //  NULL.
    void (*on_tidy) (void *arg, buffer_t *news);
    void *arg;    //  For the three
} house_options_t;

//  actors: of an assembly, or made otherwise; borrowed as long as the house lives.  Gives the house, with every actor
//  made but none running; NULL where one could not be made: the error names it.
house_t *house_new (const assembly_actor_t *actors, size_t count, const house_options_t *options, error_t *error);

//  Lets every actor run.
void house_start (house_t *self);

//  Waits for signals and for the actors to end, which they do when they have drained.  RESULT_FAILED where it ended at
//  once.
result_t house_wait (house_t *self);

//  Ends what still runs, at once.
void house_destroy (house_t **self_p);

#endif
