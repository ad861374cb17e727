#include "cli/rehearsal_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/memory.h"

typedef struct {
    keyring_entry_t entry;    //  On the keyrings of all
    bool revoked;             //  Of the others, it is not
    keyring_t *keyring;       //  Its own
    keyring_t *last;          //  The one before; NULL: none
} holder_t;

struct rehearsal_keys {
    array_t holders;    //  holder_t, one a machine
};

static holder_t *
s_find (const rehearsal_keys_t *self, const char *machine)
{
    for (size_t i = 0; i < self->holders.count; i++) {
        holder_t *holder = array_at (&self->holders, i);
        if (strcmp (holder->entry.address, machine) == 0)
            return holder;
    }
    return NULL;
}

static holder_t *
s_add (rehearsal_keys_t *self, const char *machine)
{
    holder_t *holder = array_add (&self->holders);
    keyring_entry_t *entry = &holder->entry;
    snprintf (entry->name, sizeof entry->name, "%s", machine);
    snprintf (entry->address, sizeof entry->address, "%s", machine);
    snprintf (entry->public_key, sizeof entry->public_key, "the key of %.20s", machine);
    return holder;
}

static keyring_t *
s_make_keyring (const rehearsal_keys_t *self, const holder_t *owner)
{
    keyring_t *keyring = keyring_new ();
    keyring_set_own (keyring, owner->entry.public_key, "a secret");
    for (size_t i = 0; i < self->holders.count; i++) {
        const holder_t *holder = array_at (&self->holders, i);
        if (holder == owner || !holder->revoked)
            BUG_ON (keyring_add (keyring, &holder->entry, NULL));
    }
    return keyring;
}

static void
s_make_keyrings (rehearsal_keys_t *self)
{
    for (size_t i = 0; i < self->holders.count; i++) {
        holder_t *holder = array_at (&self->holders, i);
        keyring_destroy (&holder->last);
        holder->last = holder->keyring;
        holder->keyring = s_make_keyring (self, holder);
    }
}

//  What runs on a machine gives its key the role.
static status_t
s_grant (rehearsal_keys_t *self, const guard_t *guard, const simulate_root_t *root, error_t *error)
{
    uint32_t roles = 0;
    const char *service = root->argv [2];
    holder_t *holder = s_find (self, root->machine);
    if (!holder)
        holder = s_add (self, root->machine);
    if (strcmp (service, "broker") == 0)
        return STATUS_OK;    //  It is asked, and asks nobody
    span_t role = strcmp (service, "worker") == 0 ? SPAN ("worker") : SPAN ("core");
    status_t status = guard_parse_roles (guard, role, &roles, error);
    holder->entry.roles |= roles;
    return status;
}

rehearsal_keys_t *
rehearsal_keys_new (const guard_t *guard, const simulate_root_t *roots, size_t count, error_t *error)
{
    rehearsal_keys_t *self = memory_new (sizeof *self);
    array_init (&self->holders, sizeof (holder_t));
    status_t status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = s_grant (self, guard, &roots [i], error);
    if (status)
        rehearsal_keys_destroy (&self);
    else
        s_make_keyrings (self);
    return self;
}

void
rehearsal_keys_destroy (rehearsal_keys_t **self_p)
{
    rehearsal_keys_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < self->holders.count; i++) {
        holder_t *holder = array_at (&self->holders, i);
        keyring_destroy (&holder->keyring);
        keyring_destroy (&holder->last);
    }
    array_fini (&self->holders);
    memory_free (self);
    *self_p = NULL;
}

const keyring_t *
rehearsal_keys_find (const rehearsal_keys_t *self, const char *machine)
{
    const holder_t *holder = s_find (self, machine);
    return holder ? holder->keyring : NULL;
}

void
rehearsal_keys_set (rehearsal_keys_t *self, const char *machine, bool revoked)
{
    holder_t *holder = s_find (self, machine);
    BUG_ON (!holder);
    holder->revoked = revoked;
    s_make_keyrings (self);
}
