#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bug.h"

enum {
    SENTENCE_SIZE = 128,
    SMALL = 1024,
    LARGE_PAGE = 2 << 20    //  Bytes of a large page
};

void
memory_give_up (const char *what)
{
    char sentence [SENTENCE_SIZE];
    snprintf (sentence, sizeof sentence, "out of memory: %s could not be had; raise the process's memory limit", what);
    bug_say (sentence);
    abort ();
}

static void *
s_checked (void *memory, size_t size)
{
    if (memory)
        return memory;
    char what [32];
    snprintf (what, sizeof what, "%zu bytes", size);
    memory_give_up (what);
}

//  glibc's calloc passes by the pieces that a thread keeps at hand (before 2.41), so for small ones malloc is faster;
//  large ones come from the system zeroed already.
void *
memory_new (size_t size)
{
    if (size > SMALL)
        return s_checked (calloc (1, size), size);
    return memset (s_checked (malloc (size ? size : 1), size), 0, size);
}

void *
memory_new_table (size_t size)
{
    size_t unit = size < LARGE_PAGE ? MEMORY_LINE : LARGE_PAGE;
    size_t whole = (size + unit - 1) / unit * unit;
    void *memory = s_checked (aligned_alloc (unit, whole ? whole : unit), size);
    if (unit == LARGE_PAGE)
        madvise (memory, whole, MADV_HUGEPAGE);
    return memset (memory, 0, size);
}

void *
memory_resize (void *memory, size_t size)
{
    return s_checked (realloc (memory, size ? size : 1), size);
}

char *
memory_copy (const void *data, size_t size)
{
    char *copy = s_checked (malloc (size + 1), size);
    if (size)
        memcpy (copy, data, size);
    copy [size] = '\0';
    return copy;
}

char *
memory_copy_string (const char *string)
{
    return memory_copy (string, strlen (string));
}

void
memory_free (void *memory)
{
    free (memory);
}
