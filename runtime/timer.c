#include "runtime/timer.h"

#include "runtime/actor_private.h"

static void
s_fire (due_t *due)
{
    actor_timer_t *self = (actor_timer_t *)((char *)due - offsetof (actor_timer_t, due));
    self->on_due (self->actor->state, self->actor, self->arg);
}

void
timer_start (actor_timer_t *self, actor_t *actor, uint64_t delay_ns, actor_timer_fn *on_due, void *arg)
{
    self->actor = actor;
    self->on_due = on_due;
    self->arg = arg;
    self->due.fire = s_fire;
    uint64_t now = actor_now (actor);
    due_at (&self->due, actor, delay_ns < UINT64_MAX - now ? now + delay_ns : UINT64_MAX);
}

void
timer_stop (actor_timer_t *self)
{
    if (self->actor)
        due_clear (&self->due, self->actor);
}

bool
timer_is_running (const actor_timer_t *self)
{
    return due_is_set (&self->due);
}
