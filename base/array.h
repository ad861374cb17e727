//  array - a growing row of equal elements
//
//  Embedded: array_init, array_fini.  Pointers into it are valid until the next call that can grow or move it.

#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/bug.h"

typedef struct {
    void *data;             //  First element
    size_t count;           //  Elements in use
    size_t capacity;        //  Elements there is room for
    size_t element_size;    //  Bytes
} array_t;

void array_init (array_t *self, size_t element_size);
void array_fini (array_t *self);

//  The element at `position`, which must be below count.  Borrowed.
static inline void *
array_at (const array_t *self, size_t position)
{
    BUG_ON (position >= self->count);
    return (char *)self->data + position * self->element_size;
}

//  Makes room for `count` more elements: for whoever knows how many will come, at most.
void array_reserve (array_t *self, size_t count);

//  Appends a zeroed element and returns it.
void *array_add (array_t *self);

//  Appends `count` elements; borrows `elements`, which may be NULL for zeroed ones.  Returns the first new one; NULL for none.
void *array_append (array_t *self, const void *elements, size_t count);

//  Cuts to `count` elements, which must not be more than there are.
void array_cut (array_t *self, size_t count);

//  Removes one element; the rest keeps its order.
void array_remove (array_t *self, size_t position);

//  Removes the first `count` elements; the rest moves to the front.
void array_drop_front (array_t *self, size_t count);

//  Sorts; compare must order any two elements that differ, so that the result does not depend on the algorithm.
void array_sort (array_t *self, int (*compare) (const void *a, const void *b));

#endif
