//  map - byte strings to pointers, in insertion order
//
//  Entries lie in one dense row in the order they were put; a table of positions finds them by hash.  Iteration follows
//  the row, so nothing ever depends on addresses.  Removing leaves a hole that the next rebuild closes.  Keys are copied;
//  values are borrowed.  The hash is seeded by the map, so that keys from outside cannot be aimed at one slot.

#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/span.h"

typedef struct map map_t;

//  seed: of the hash; any number for keys of our own, a random one for keys from outside.  Gives the map; never NULL.
map_t *map_new (uint64_t seed);

//  Frees the map, not its values.  Nulls the caller's pointer.
void map_destroy (map_t **self_p);

size_t map_count (const map_t *self);

//  NULL where there is no such key.
void *map_get (const map_t *self, span_t key);

//  Sets the value (not NULL) of a key.  Returns the value it replaces; NULL where the key is new.
void *map_put (map_t *self, span_t key, void *value);

//  Removes a key.  Returns its value; NULL where there was none.
void *map_remove (map_t *self, span_t key);

//  The same with a number for a key.
void *map_get_u64 (const map_t *self, uint64_t key);
void *map_put_u64 (map_t *self, uint64_t key, void *value);
void *map_remove_u64 (map_t *self, uint64_t key);

//  Walks the entries in insertion order: start with *cursor 0; false at the end.  key may be NULL.  Removing the entry
//  just returned is fine; putting new keys during the walk is not.
bool map_next (const map_t *self, size_t *cursor, span_t *key, void **value);

#endif
