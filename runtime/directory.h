//  directory - who is there, as this actor knows it
//
//  Follows the broker's life stream.  While the broker is away nothing changes; after its return entries that do not
//  come back within a lease become unreachable, and ten minutes later are gone.

#ifndef RUNTIME_DIRECTORY_H
#define RUNTIME_DIRECTORY_H

#include "runtime/actor.h"

//  The entry of an address in any state; NULL where none is known.  Borrowed until the handler returns.
const actor_entry_t *directory_find (const actor_t *actor, span_t address);

//  The entry whose event_source this is.
const actor_entry_t *directory_find_source (const actor_t *actor, uint64_t source);

//  Walks the entries of a service (NULL: all) by order of first sight: start with *cursor 0; NULL at the end.
const actor_entry_t *directory_next (const actor_t *actor, const char *service, size_t *cursor);

//  The alive, not draining instance of a service with the highest rendezvous score for a key: every actor that sees the
//  same directory names the same one.  NULL where there is none.
const actor_entry_t *directory_owner (const actor_t *actor, const char *service, span_t key);

//  Any alive, not draining instance of a service: the first by address.  NULL where there is none.
const actor_entry_t *directory_any (const actor_t *actor, const char *service);

//  True for an address of this service ("router/0" is of "router").
bool address_is_of (span_t address, const char *service);

#endif
