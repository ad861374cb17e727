//  memory - small allocations that cannot fail
//
//  A small allocation that fails ends the process with a sentence: there is nothing sensible to do without it.  What is
//  sized by input or load is charged to a budget first (base/budget.h) and fails as a status.

#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

enum { MEMORY_LINE = 64 };    //  Bytes of a line of the machine's caches

//  Zeroed memory; never NULL.  Gives it: memory_free.
void *memory_new (size_t size) __attribute__ ((malloc, alloc_size (1)));

//  The same for a table that is read here and there: it begins at a line of the machine's caches, and where it fills large pages
//  it lies in such, if the system gives them. All of it is there from the start.
void *memory_new_table (size_t size) __attribute__ ((malloc, alloc_size (1)));

//  Grows or shrinks; never NULL; new bytes are not zeroed.
void *memory_resize (void *memory, size_t size);

//  A copy of `size` bytes, with a NUL behind them that `size` does not count.
char *memory_copy (const void *data, size_t size);

//  A copy of a C string.
char *memory_copy_string (const char *string);

void memory_free (void *memory);

//  These bytes are used soon: meanwhile they are brought into the machine's caches.  Only a hint, which reads nothing.
static inline void
memory_expect (const void *memory, size_t size)
{
    const char *bytes = memory;
    for (size_t at = 0; at < size; at += MEMORY_LINE)
        __builtin_prefetch (bytes + at);
    if (size)
        __builtin_prefetch (bytes + size - 1);
}

//  Ends the process with a sentence on standard error: there is no memory for `what`, as "64 bytes" or "a thread".
void memory_give_up (const char *what) __attribute__ ((noreturn));

#endif
