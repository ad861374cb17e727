//  pace - how long an engine needs, by what it needed of late
//
//  Two measurements, both of which forget: the time that computing a token of a prompt takes, weighted by tokens, and the
//  time from one report of a request's tokens to its next one.  Until an engine is known it is taken for a slow one
//  that needs a minute for a prompt at most: nobody waits for hours for one that hangs from the start.

#ifndef WORKERS_PACE_H
#define WORKERS_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t prompt_ns;        //  Spent on prompts of late; each report makes older ones weigh less
    uint64_t prompt_tokens;    //  Computed in it, in 256ths
    uint64_t gap_ns;           //  Between two reports of a request's tokens, of late
    bool measured;             //  A prompt was
} pace_t;

void pace_init (pace_t *self);

//  So many tokens of a prompt were computed in this time.
void pace_computed (pace_t *self, uint32_t tokens, uint64_t took_ns);

//  A request had tokens again after this time.
void pace_told (pace_t *self, uint64_t gap_ns);

//  Until it should have shown life, with so many tokens of a prompt before it.
uint64_t pace_expected_ns (const pace_t *self, uint64_t prompt_tokens);

#endif
