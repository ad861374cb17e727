#include "kv/index/shelf.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum { PAGE_BYTES = 4096 };    //  What a page of pieces takes at most, where more than one fits

void
shelf_init (shelf_t *self, size_t piece_size)
{
    *self = (shelf_t){ .piece_size = piece_size };
    while (piece_size << (self->bits + 1) <= PAGE_BYTES)
        self->bits++;
    array_init (&self->pages, sizeof (uint8_t *));
}

void
shelf_fini (shelf_t *self)
{
    for (size_t i = 0; i < self->pages.count; i++)
        memory_free (((uint8_t **)self->pages.data) [i]);
    array_fini (&self->pages);
}

static size_t
s_page_bytes (const shelf_t *self)
{
    return self->piece_size << self->bits;
}

static uint8_t *
s_piece (const shelf_t *self, size_t position)
{
    size_t in_page = position & ((1u << self->bits) - 1);
    return ((uint8_t **)self->pages.data) [position >> self->bits] + in_page * self->piece_size;
}

void *
shelf_take (shelf_t *self)
{
    if (self->count >> self->bits == self->pages.count)
        *(uint8_t **)array_add (&self->pages) = memory_resize (NULL, s_page_bytes (self));
    return s_piece (self, self->count++);
}

//  Frees the last page where it is empty and half of the one before is.
static void
s_trim (shelf_t *self)
{
    size_t pages = self->pages.count, half = ((1u << self->bits) + 1) / 2;
    if (self->count + half > (pages - 1) << self->bits)
        return;
    memory_free (*(uint8_t **)array_at (&self->pages, pages - 1));
    array_cut (&self->pages, pages - 1);
}

void *
shelf_give (shelf_t *self, void *piece)
{
    BUG_ON (self->count == 0);
    uint8_t *last = s_piece (self, --self->count);
    void *moved = last == piece ? NULL : memcpy (piece, last, self->piece_size);
    s_trim (self);
    return moved;
}
