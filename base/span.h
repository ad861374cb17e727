//  span - a borrowed run of bytes
//
//  Everything that crosses an interface as bytes or text crosses it as a span: a pointer and a size, never a guess at a
//  terminating NUL. A span owns nothing; its header comment elsewhere says for how long it stays valid.

#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *data;    //  First byte; may be NULL when size is 0
    size_t size;            //  Bytes
} span_t;

//  A span over a string literal, its NUL left out.
#define SPAN(literal) ((span_t){ (const uint8_t *)(literal), sizeof (literal) - 1 })

//  For printf: printf ("%.*s", SPAN_ARG (text)).
#define SPAN_ARG(span) (int)(span).size, (const char *)(span).data

//  A span over any bytes.
static inline span_t
span_of (const void *data, size_t size)
{
    return (span_t){ data, size };
}

//  A span over a C string; NULL gives the empty span.
static inline span_t
span_from_string (const char *string)
{
    return string ? span_of (string, strlen (string)) : (span_t){ NULL, 0 };
}

//  The bytes from `start` on, at most `size` of them; both are cut to what is there.
static inline span_t
span_slice (span_t self, size_t start, size_t size)
{
    if (start > self.size)
        start = self.size;
    if (size > self.size - start)
        size = self.size - start;
    return size ? span_of (self.data + start, size) : SPAN ("");
}

static inline bool
span_equal (span_t a, span_t b)
{
    return a.size == b.size && (a.size == 0 || memcmp (a.data, b.data, a.size) == 0);
}

static inline bool
span_equal_string (span_t a, const char *string)
{
    return span_equal (a, span_from_string (string));
}

bool span_starts_with (span_t self, span_t prefix);

//  ASCII letters compare without case, as HTTP header names do.
bool span_equal_nocase (span_t a, span_t b);

//  Memory order, the shorter first on a tie: < 0, 0, > 0.
int span_compare (span_t a, span_t b);

//  Position of a byte, or self.size where it does not occur.
size_t span_find_byte (span_t self, uint8_t byte);

//  Without leading and trailing spaces, tabs and line ends.
span_t span_trim (span_t self);

//  Copies into a C string of `size` bytes, cut to fit, always terminated.  Returns false where it was cut.
bool span_copy_string (span_t self, char *out, size_t size);

//  Reads a decimal number without sign that fills the whole span.  False for anything else, overflow included.
bool span_to_u64 (span_t self, uint64_t *value);

//  Whether it is a number as JSON writes it: -0.5, 1e3.
bool span_is_number (span_t self);

//  Reads a decimal number as JSON writes it (-0.5, 1e3) that fills the whole span of at most 128 bytes.  False for anything
//  else, and for what a double cannot hold.
bool span_to_double (span_t self, double *value);

#endif
