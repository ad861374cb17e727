#include "runtime/keyring.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

struct keyring {
    char own_public [KEY_TEXT_SIZE];    //  "": none
    char own_secret [KEY_TEXT_SIZE];    //  "": none
    map_t *by_key;                      //  keyring_entry_t, owned
    map_t *by_name;                     //  The same
    map_t *by_address;                  //  Those that have one
};

keyring_t *
keyring_new (void)
{
    keyring_t *self = memory_new (sizeof *self);
    self->by_key = map_new (0);
    self->by_name = map_new (0);
    self->by_address = map_new (0);
    return self;
}

//  Not optimised away: the memory is volatile here.
static void
s_wipe (char *text, size_t size)
{
    for (volatile char *byte = text; size; size--)
        *byte++ = 0;
}

void
keyring_destroy (keyring_t **self_p)
{
    keyring_t *self = *self_p;
    if (!self)
        return;
    size_t cursor = 0;
    void *entry;
    while (map_next (self->by_key, &cursor, NULL, &entry))
        memory_free (entry);
    map_destroy (&self->by_key);
    map_destroy (&self->by_name);
    map_destroy (&self->by_address);
    s_wipe (self->own_secret, sizeof self->own_secret);
    memory_free (self);
    *self_p = NULL;
}

void
keyring_set_own (keyring_t *self, const char *public_key, const char *secret_key)
{
    snprintf (self->own_public, sizeof self->own_public, "%s", public_key);
    snprintf (self->own_secret, sizeof self->own_secret, "%s", secret_key);
}

const char *
keyring_own_public (const keyring_t *self)
{
    return *self->own_public ? self->own_public : NULL;
}

const char *
keyring_own_secret (const keyring_t *self)
{
    return *self->own_secret ? self->own_secret : NULL;
}

status_t
keyring_add (keyring_t *self, const keyring_entry_t *entry, error_t *error)
{
    span_t name = span_from_string (entry->name), key = span_from_string (entry->public_key);
    span_t address = span_from_string (entry->address);
    const keyring_entry_t *other = map_get (self->by_key, key);
    if (other)
        return error_set (error, STATUS_EXISTS, "'%s' and '%s' are the same key", other->name, entry->name);
    if (map_get (self->by_name, name))
        return error_set (error, STATUS_EXISTS, "two keys are called '%s'", entry->name);
    other = address.size ? map_get (self->by_address, address) : NULL;
    if (other)
        return error_set (
            error, STATUS_EXISTS, "'%s' and '%s' are both at %s", other->name, entry->name, entry->address);
    keyring_entry_t *copy = memory_new (sizeof *copy);
    *copy = *entry;
    map_put (self->by_key, key, copy);
    map_put (self->by_name, name, copy);
    if (address.size)
        map_put (self->by_address, address, copy);
    return STATUS_OK;
}

const keyring_entry_t *
keyring_find (const keyring_t *self, span_t public_key)
{
    return map_get (self->by_key, public_key);
}

const keyring_entry_t *
keyring_find_address (const keyring_t *self, span_t address)
{
    return map_get (self->by_address, address);
}
