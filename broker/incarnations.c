#include "broker/incarnations.h"

static const port_table_t *
s_table (const incarnations_t *self)
{
    return actor_port (self->actor)->table;
}

void
incarnations_open (incarnations_t *self, actor_t *actor)
{
    store_options_t options = { .name = "directory", .format = "directory/1", .size_max = 64 << 20 };
    error_t error = { 0 };
    *self = (incarnations_t){ .actor = actor };
    self->store = s_table (self)->store_open (actor_port (actor), &options, &error);
    if (!self->store)
        actor_log (actor, LOG_WARNING, "last incarnations are not kept, clocks must not go back: %s", error.text);
}

void
incarnations_close (incarnations_t *self)
{
    if (self->store)
        s_table (self)->store_close (self->store);
    self->store = NULL;
}

uint64_t
incarnations_get (const incarnations_t *self, span_t address)
{
    span_t stored = { NULL, 0 };
    uint64_t last = 0;
    if (self->store)
        stored = s_table (self)->store_get (self->store, address);
    for (size_t i = 0; stored.size == 8 && i < 8; i++)
        last |= (uint64_t)stored.data [i] << (8 * i);
    return last;
}

void
incarnations_put (incarnations_t *self, span_t address, uint64_t incarnation)
{
    buffer_t value = { 0 };
    error_t error = { 0 };
    buffer_append_u64_le (&value, incarnation);
    if (self->store && (s_table (self)->store_put (self->store, address, buffer_span (&value), &error) ||
                           s_table (self)->store_commit (self->store, false, &error)))
        actor_log (
            self->actor, LOG_WARNING, "the last incarnation of %.*s is not kept: %s", SPAN_ARG (address), error.text);
    self->unsynced = self->store != NULL;
    buffer_fini (&value);
}

void
incarnations_sync (incarnations_t *self)
{
    error_t error = { 0 };
    if (self->unsynced && s_table (self)->store_commit (self->store, true, &error))
        actor_log (
            self->actor, LOG_WARNING, "last incarnations are not safe from a crash of this machine: %s", error.text);
    self->unsynced = false;
}
