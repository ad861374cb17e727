//  store - ordered keys on disk: LMDB, one writer
//
//  A store belongs to one actor: a lock on the file refuses a second opener, in this process or another.  So LMDB's own
//  locks are left out: they would tie an open transaction to the thread that began it, and an actor may go on in another.
//  Puts go into a write transaction that opens with the first of them; reads see it while it is open, and a read
//  transaction that is renewed for every call otherwise, so that no page of an old state is in use when one is written.
//
//  Not synced unless asked: what was committed survives a crash of the process, not of the machine.  The map has its
//  final size from the start, because LMDB pulls a map away under its readers when it is resized.
//
//  The functions are those of port_table_t (runtime/port.h), with the state folder in place of the port.

#ifndef RUNTIME_PORT_STORE_H
#define RUNTIME_PORT_STORE_H

#include "runtime/port.h"

port_store_t *store_open (const char *folder, const store_options_t *options, error_t *error);
span_t store_get (port_store_t *self, span_t key);
status_t store_put (port_store_t *self, span_t key, span_t value, error_t *error);
status_t store_delete (port_store_t *self, span_t key, error_t *error);
status_t store_commit (port_store_t *self, bool sync, error_t *error);
bool store_next (port_store_t *self, span_t from, bool after, span_t *key, span_t *value);
void store_close (port_store_t *self);

#endif
