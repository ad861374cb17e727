//  keyring - who this machine is, and whom it lets in
//
//  One key pair of its own, and a list of public keys, each with a name and roles (bits, as guard.h means them).  Where the
//  holder of a key is reached at a known address, whoever connects there demands that key.  A keyring is filled once and
//  then only read; a new state of affairs is a new keyring.

#ifndef RUNTIME_KEYRING_H
#define RUNTIME_KEYRING_H

#include "base/error.h"
#include "base/span.h"

typedef struct keyring keyring_t;

//  Sizes of C strings.
enum { KEY_TEXT_SIZE = 41, KEY_NAME_SIZE = 65, KEY_ADDRESS_SIZE = 129 };

typedef struct {
    char name [KEY_NAME_SIZE];          //  Of its holder
    char public_key [KEY_TEXT_SIZE];    //  Z85
    char address [KEY_ADDRESS_SIZE];    //  Host part of endpoints where the holder is reached; "": none is known
    uint32_t roles;                     //  A bit each
} keyring_entry_t;

//  Gives an empty keyring; never NULL.
keyring_t *keyring_new (void);

//  Wipes the secret key.  Nulls the caller's pointer.
void keyring_destroy (keyring_t **self_p);

//  The key pair that this machine proves itself with; Z85, copied.
void keyring_set_own (keyring_t *self, const char *public_key, const char *secret_key);

//  Z85; NULL where there is none.  Borrowed.
const char *keyring_own_public (const keyring_t *self);
const char *keyring_own_secret (const keyring_t *self);

//  Lets a key in.  Copies the entry.  STATUS_EXISTS where the name, the key or the address is taken.
status_t keyring_add (keyring_t *self, const keyring_entry_t *entry, error_t *error);

//  By key, and by the address of its holder; NULL where there is none.  Borrowed.
const keyring_entry_t *keyring_find (const keyring_t *self, span_t public_key);
const keyring_entry_t *keyring_find_address (const keyring_t *self, span_t address);

#endif
