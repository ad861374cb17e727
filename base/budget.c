#include "base/budget.h"

#include <inttypes.h>

#include "base/bug.h"

void
budget_init (budget_t *self, const char *name, uint64_t limit)
{
    *self = (budget_t){ .name = name, .limit = limit };
}

status_t
budget_take (budget_t *self, uint64_t bytes, error_t *error)
{
    if (bytes > self->limit - self->used) {
        self->refused++;
        return error_set (error, STATUS_LIMIT,
            "%s: %" PRIu64 " bytes do not fit, %" PRIu64 " of %" PRIu64 " are in use", self->name, bytes, self->used,
            self->limit);
    }
    self->used += bytes;
    if (self->used > self->peak)
        self->peak = self->used;
    return STATUS_OK;
}

void
budget_give (budget_t *self, uint64_t bytes)
{
    BUG_ON (bytes > self->used);
    self->used -= bytes;
}
