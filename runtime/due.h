//  due - something that fires at a time
//
//  What timers, deadlines and deferred completions share: an entry in the actor's one heap, served by the port's one
//  alarm.  Firing never happens inside the call that set it.

#ifndef RUNTIME_DUE_H
#define RUNTIME_DUE_H

#include "base/heap.h"
#include "runtime/port.h"

typedef struct actor actor_t;
typedef struct due due_t;

//  The fields belong to the runtime.
struct due {
    heap_entry_t entry;            //  When
    void (*fire) (due_t *self);    //  What; the entry has left the heap when it is called
};

//  Fires at `at_ns` (a time that has passed: as soon as the present turn ends).  Set anew where it was set.
void due_at (due_t *self, actor_t *actor, uint64_t at_ns);

//  Fine on one that is not set.
void due_clear (due_t *self, actor_t *actor);

bool due_is_set (const due_t *self);

#endif
