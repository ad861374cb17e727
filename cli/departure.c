#include "cli/departure.h"

typedef struct {
    unsigned phase;    //  In which it finishes
    bool asked;        //  It has been named by departure_next
    bool drained;      //  It has finished
} member_t;

void
departure_init (departure_t *self)
{
    *self = (departure_t){ 0 };
    array_init (&self->members, sizeof (member_t));
}

void
departure_fini (departure_t *self)
{
    array_fini (&self->members);
}

void
departure_add (departure_t *self, unsigned phase)
{
    *(member_t *)array_add (&self->members) = (member_t){ .phase = phase };
}

bool
departure_ask (departure_t *self)
{
    bool is_first = !self->asked;
    self->asked = true;
    return is_first;
}

void
departure_note_drained (departure_t *self, size_t position)
{
    member_t *member = array_at (&self->members, position);
    self->drained += !member->drained;
    member->drained = true;
}

bool
departure_is_over (const departure_t *self)
{
    return self->drained == self->members.count;
}

//  The first of the lowest phase that has not finished; NULL where all have.
static const member_t *
s_lowest (const departure_t *self)
{
    const member_t *lowest = NULL;
    for (size_t i = 0; i < self->members.count; i++) {
        const member_t *member = array_at (&self->members, i);
        if (!member->drained && (!lowest || member->phase < lowest->phase))
            lowest = member;
    }
    return lowest;
}

bool
departure_next (departure_t *self, size_t *position)
{
    bool departing = self->asked || self->drained;
    const member_t *lowest = departing ? s_lowest (self) : NULL;
    for (size_t i = 0; lowest && i < self->members.count; i++) {
        member_t *member = array_at (&self->members, i);
        if (member->drained || member->asked || member->phase != lowest->phase)
            continue;
        member->asked = true;
        *position = i;
        return true;
    }
    return false;
}
