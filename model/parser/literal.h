//  literal - a value in Python's notation, or Gemma's, written as JSON
//
//  a=1, b='x' inside f(...) becomes "a": 1, "b": "x"; True, None, tuples, sets, both quotes, alone or as three, their escapes,
//  strings side by side and numbers (0x1f, 1_000, .5, and 007 as 7) as Python has them.  A quote inside a string is part of it
//  where none can end: 'sed 's/a/b/' f'.
//  Gemma's {k:<|"|>v<|"|>} has a quote of its own, between which nothing is an escape, and bare keys up to ':' and bare values up
//  to ',' or a closing bracket, in which blanks and other quotes mean nothing.  A word of more than LITERAL_WORD_MAX bytes is a
//  string.  Incremental; whatever comes in, what comes out is JSON.

#ifndef MODEL_PARSER_LITERAL_H
#define MODEL_PARSER_LITERAL_H

#include "base/buffer.h"

enum { LITERAL_DEPTH_MAX = 64, LITERAL_WORD_MAX = 256 };

typedef struct {
    const char *quote;               //  A quote beside ' and "; NULL: none
    const char *ends [2];            //  What ends it outside strings, whatever is open; NULL: nothing
    uint8_t stops [3];               //  Their first bytes, and that of the quote
    bool has_markers;                //  There is a quote or an end
    uint64_t objects;                //  A bit a level: it is an object
    uint32_t depth;                  //  Open brackets
    bool started;                    //  Something stands before the next element of the level
    bool in_key;                     //  A key comes next, or is being read
    bool keyed;                      //  A key came, its value has not
    bool undecided;                  //  It is the first of its level, which is a set where no value comes
    bool bare;                       //  The same: it was a word
    size_t brace;                    //  Where the level's bracket stands in what was written
    uint8_t open_quote;              //  The string being read ends so; 1: at `quote`; 2: as a word does; 0: no string
    bool begun;                      //  It has a byte
    bool tripled;                    //  Three quotes end it
    bool escaped;                    //  Behind a backslash
    char digits [8];                 //  Of a numeric escape
    uint8_t digits_size;             //  How many came
    uint8_t digits_want;             //  How many belong to it
    uint8_t digits_base;             //  8 or 16
    bool done;                       //  The outermost bracket closed
    uint32_t word_size;              //  Bytes of the bare word being read
    char word [LITERAL_WORD_MAX];    //  They; nothing where there are none
} literal_t;

//  arguments: start inside the brackets of a call, whose arguments become an object ("{" is written with the first byte).
void literal_init (literal_t *self, const char *quote, bool arguments);

//  Outside strings each of two markers (NULL: none) ends it, too, whatever is open.
void literal_end_at (literal_t *self, const char *a, const char *b);

//  Goes on; appends JSON.  Returns the bytes that were read: fewer than there are where it is done, where a quote or an end
//  marker may be unfinished (not with `last`), or where an end marker stands or the input is too deep, which *broken says.
size_t literal_feed (literal_t *self, span_t text, bool last, buffer_t *out, bool *broken);

//  Whether a string is open that a quote ends.
bool literal_in_string (const literal_t *self);

//  Whether what was written may still change, and must not be passed on.
static inline bool
literal_is_undecided (const literal_t *self)
{
    return self->undecided;
}

//  In the middle of a string: the byte that may end it.  Until that comes, JSON has the string's bytes as they are, but for
//  those that it writes with a backslash.  0: not in the middle of one.
uint8_t literal_string_end (const literal_t *self);

//  Appends what makes the JSON whole.
void literal_close (literal_t *self, buffer_t *out);

#endif
