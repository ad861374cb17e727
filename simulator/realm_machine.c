#include "simulator/realm_private.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

//  The world's wall clock begins on 1 January 2026.
#define WALL_BEGIN (UINT64_C (1767225600) * REALM_SECOND)

realm_machine_t *
realm_machine_new (realm_t *realm, const char *name)
{
    BUG_ON (realm_machine_find (realm, name));
    realm_machine_t *self = memory_new (sizeof *self);
    *self = (realm_machine_t){ .realm = realm,
        .name = memory_copy_string (name),
        .number = (uint32_t)realm->machines.count,
        .up = true,
        .disk = disk_new () };
    array_append (&realm->machines, &self, 1);
    return self;
}

void
realm_machine_destroy (realm_machine_t **self_p)
{
    realm_machine_t *self = *self_p;
    disk_destroy (&self->disk);
    memory_free (self->name);
    memory_free (self);
    *self_p = NULL;
}

realm_machine_t *
realm_machine_at (realm_t *realm, size_t position)
{
    return position < realm->machines.count ? *(realm_machine_t **)array_at (&realm->machines, position) : NULL;
}

realm_machine_t *
realm_machine_find (realm_t *realm, const char *name)
{
    for (size_t i = 0; i < realm->machines.count; i++)
        if (strcmp (realm_machine_at (realm, i)->name, name) == 0)
            return realm_machine_at (realm, i);
    return NULL;
}

const char *
realm_machine_name (const realm_machine_t *self)
{
    return self->name;
}

uint32_t
realm_machine_number (const realm_machine_t *self)
{
    return self->number;
}

disk_t *
realm_machine_disk (realm_machine_t *self)
{
    return self->disk;
}

bool
realm_machine_is_up (const realm_machine_t *self)
{
    return self->up;
}

uint64_t
realm_machine_wall_ns (const realm_machine_t *self)
{
    return WALL_BEGIN + self->realm->now_ns + (uint64_t)self->clock_ns;
}

void
realm_machine_jump_clock (realm_machine_t *self, int64_t by_ns)
{
    self->clock_ns += by_ns;
    realm_note (self->realm, NOTE_FAULT, self->number, (uint64_t)by_ns);
}

void
realm_machine_crash (realm_machine_t *self)
{
    if (!self->up)
        return;
    self->up = false;
    realm_note (self->realm, NOTE_FAULT, self->number, 0);
    array_t *living = &self->realm->living;
    for (size_t i = living->count; i-- > 0;) {
        if (i >= living->count)
            continue;
        realm_process_t *process = *(realm_process_t **)array_at (living, i);
        if (process->machine == self)
            realm_process_end (process, 137, true, true);
    }
    disk_crash (self->disk, &self->realm->crash_random);
}

void
realm_machine_boot (realm_machine_t *self)
{
    self->up = true;
}

void
realm_machine_set_group (realm_machine_t *self, uint32_t group)
{
    self->group = group;
    realm_note (self->realm, NOTE_FAULT, self->number, group);
    network_reconsider (self->realm->network);
}
