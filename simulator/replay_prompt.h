//  replay_prompt - the prompts of one thread of a trace, as tokens
//
//  A trace names blocks and does not say what is in them; a simulated engine wants tokens.  So each block gets tokens made
//  up from its number and the session's key: the same block of the same session has the same ones, no two others do.  The
//  tail of a prompt that fills no block is like no other tail.  A token is a byte.

#ifndef SIMULATOR_REPLAY_PROMPT_H
#define SIMULATOR_REPLAY_PROMPT_H

#include "kv/sequence.h"
#include "simulator/trace.h"

typedef struct {
    uint64_t key;            //  Of the session's tokens
    uint32_t block_size;     //  Tokens
    array_t tokens;          //  uint32_t
    sequence_t *sequence;    //  Names their blocks
} replay_prompt_t;

//  The empty prompt of a new thread.  space: names its blocks; borrowed for the call.
void replay_prompt_init (replay_prompt_t *self, const namespace_t *space, uint64_t key);
void replay_prompt_fini (replay_prompt_t *self);

//  From the prompt of the thread's request before it to this one.  tail: a number of its own within the session.
void replay_prompt_set (replay_prompt_t *self, const trace_t *trace, const trace_request_t *request, uint64_t tail);

#endif
