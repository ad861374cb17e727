//  rehearsal_keys - who the machines of a rehearsal are, and whom they let in
//
//  Each machine has a key with the roles that what runs there needs, and a keyring with the keys of all.  A key that is
//  revoked is off every keyring but its owner's, which does not know yet.

#ifndef CLI_REHEARSAL_KEYS_H
#define CLI_REHEARSAL_KEYS_H

#include "runtime/guard.h"
#include "runtime/keyring.h"
#include "simulator/simulate.h"

typedef struct rehearsal_keys rehearsal_keys_t;

//  Keys for the machines of these roots.  Gives them; NULL where the guard has not the roles: the error says so.
rehearsal_keys_t *rehearsal_keys_new (const guard_t *guard, const simulate_root_t *roots, size_t count, error_t *error);
void rehearsal_keys_destroy (rehearsal_keys_t **self_p);

//  The keyring of a machine.  Borrowed until the next but one rehearsal_keys_set; NULL for a machine that has none.
const keyring_t *rehearsal_keys_find (const rehearsal_keys_t *self, const char *machine);

//  Revokes the key of a machine, or takes that back.  Every machine has a new keyring then.
void rehearsal_keys_set (rehearsal_keys_t *self, const char *machine, bool revoked);

#endif
