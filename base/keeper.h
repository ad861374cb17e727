//  keeper - what keeps bytes in memory that somebody else made
//
//  Large bytes change hands uncopied: whoever has their keeper has them, until he lets it go, once, on any thread.

#ifndef BASE_KEEPER_H
#define BASE_KEEPER_H

#include "base/buffer.h"
#include "base/memory.h"

//  Zero: nothing is kept.
typedef struct {
    void (*release) (void *owner);    //  Lets the bytes go
    void *owner;                      //  For release
} keeper_t;

//  Keeps nothing afterwards.
static inline void
keeper_release (keeper_t *self)
{
    keeper_t keeper = *self;
    *self = (keeper_t){ 0 };
    if (keeper.release)
        keeper.release (keeper.owner);
}

//  Whoever had the keeper has none afterwards.
static inline keeper_t
keeper_take (keeper_t *from)
{
    keeper_t keeper = *from;
    *from = (keeper_t){ 0 };
    return keeper;
}

//  The buffer is empty afterwards; its bytes stay where they are.
static inline keeper_t
keeper_of_buffer (buffer_t *buffer)
{
    keeper_t keeper = { memory_free, buffer->data };
    *buffer = (buffer_t){ 0 };
    return keeper;
}

#endif
