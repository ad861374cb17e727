//  loop - the event loop of one actor's thread
//
//  A libevent base with what a port needs on top: an alarm with the precision of a timerfd, one callback at the end of a
//  turn, tasks that run at the end of the round or in the next one, and tasks posted from other threads.
//
//  A round is: poll, then everything that is ready, in order, then the tasks that finish the round; whatever asks to run
//  again (a deferred task) runs in the next round, behind the poll.  So nothing that always has more to do starves the rest.
//
//  Not thread-safe but for loop_post and loop_stop: one thread owns the loop, and everything registered with it.

#ifndef RUNTIME_PORT_LOOP_H
#define RUNTIME_PORT_LOOP_H

#include "base/error.h"
#include "base/list.h"

#include <event2/event.h>

typedef struct loop loop_t;

typedef void (loop_fn) (void *arg);

//  Embedded in whoever wants to run later.  Zeroed but for `run` and `arg` before its first use.
typedef struct {
    list_link_t link;    //  In a list of the loop while it waits
    list_t *list;        //  Which one; NULL while it does not wait, or was posted
    loop_fn *run;        //  Called once for each time it was queued
    void *arg;           //  For run
} loop_task_t;

typedef struct {
    loop_fn *on_alarm;                                 //  The alarm is due
    loop_fn *on_turn_end;                              //  Asked for by loop_turn_end
    void (*on_round) (void *arg, uint64_t busy_ns);    //  A round is over; may be left NULL
    void *arg;                                         //  For all
} loop_user_t;

//  user: copied.  Gives the loop; NULL where the system has no descriptors left.
loop_t *loop_new (const loop_user_t *user, error_t *error);

//  Destroys the loop and nulls the caller's pointer.  Everything registered with it must be gone.
void loop_destroy (loop_t **self_p);

//  For bufferevents, listeners and events of those that live on this loop.  Borrowed.
struct event_base *loop_base (loop_t *self);

//  Monotonic ns.
uint64_t loop_now_ns (void);

//  on_alarm is called at or after `at_ns` (monotonic); a later setting replaces it; 0 clears it.
void loop_alarm (loop_t *self, uint64_t at_ns);

//  on_turn_end is called once, behind the callback in progress and those that were ready with it.
void loop_turn_end (loop_t *self);

//  Runs the task in the next round; nothing where it waits already.  Borrows it until it runs.
void loop_defer (loop_t *self, loop_task_t *task);

//  As loop_defer, but at the end of this round, behind what was ready; where such a task asks, in the next round.
void loop_finish (loop_t *self, loop_task_t *task);

//  Number of this round, from 1: another one once what finishes the round has been started.
uint64_t loop_round (loop_t *self);

//  Takes back a task; nothing where it does not wait.
void loop_undefer (loop_t *self, loop_task_t *task);

//  Runs a task on the loop's thread, soon.  From any thread.  The task must not wait already, and cannot be taken back.
void loop_post (loop_t *self, loop_task_t *task);

//  Someone will post later: loop_settle waits for it.  loop_release is its opposite.
void loop_hold (loop_t *self);
void loop_release (loop_t *self);

//  Runs until loop_stop.
void loop_run (loop_t *self);

//  Ends one loop_run, also one that starts only afterwards.  From any thread.
void loop_stop (loop_t *self);

//  Runs until nobody holds the loop any more.
void loop_settle (loop_t *self);

//  For callbacks of whoever has events of its own on this loop, first thing: a round is busy from the first of them on.
void loop_note (loop_t *self);

//  Makes an event of this loop that is not added yet; never NULL.  what: as in libevent.  Gives it: event_free.
struct event *loop_event (loop_t *self, int fd, short what, event_callback_fn run, void *arg);

//  Adds an event with a timeout from now.
void loop_event_after (struct event *event, uint64_t timeout_ns);

#endif
