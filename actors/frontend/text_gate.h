//  text_gate - from the bytes of tokens to text that may be shown
//
//  Tokens end where they like: inside a character, inside a stop string.  The gate gives out whole characters only, keeps
//  back what could still become a stop string, and ends the text before one.  Bytes that can never become a character
//  come out as U+FFFD, one for each maximal malformed part.  What is kept is less than a stop string and a character.

#ifndef ACTORS_FRONTEND_TEXT_GATE_H
#define ACTORS_FRONTEND_TEXT_GATE_H

#include "base/buffer.h"

enum { STOP_STRINGS_MAX = 16, STOP_STRING_MAX = 256 };

typedef struct {
    const span_t *stops;    //  Stop strings, none empty; borrowed
    size_t stop_count;      //  How many
    buffer_t held;          //  Not given out yet
    bool stopped;           //  A stop string was met: nothing comes out any more
} text_gate_t;

//  stops: borrowed as long as the gate; may be NULL where count is 0.
void text_gate_init (text_gate_t *self, const span_t *stops, size_t count);
void text_gate_fini (text_gate_t *self);

//  Whether text_gate_put would give out these bytes as they are, and keep nothing.
bool text_gate_lets_pass (const text_gate_t *self, span_t bytes);

//  Takes the bytes of some tokens and appends to `out` the text that is certain now.  False once a stop string was met.
bool text_gate_put (text_gate_t *self, span_t bytes, buffer_t *out);

//  The text is over: appends what was kept.
void text_gate_flush (text_gate_t *self, buffer_t *out);

#endif
