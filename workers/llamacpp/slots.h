//  slots - what each slot of a llama-server has in its cache
//
//  The server says little about its cache, so this is bookkeeping from what was sent: a slot holds the tokens of its last
//  request, prompt and output, of which the engine has computed so many.  A new request keeps the prefix it shares with
//  the slot and drops the rest.  What the engine says it has reused (cache_n) corrects the belief.
//
//  Blocks follow: a block is there when all its tokens are computed in a slot, and gone when any of them is dropped.

#ifndef WORKERS_LLAMACPP_SLOTS_H
#define WORKERS_LLAMACPP_SLOTS_H

#include "kv/sequence.h"
#include "schemas/column.h"

#define SLOT_NONE UINT32_MAX

typedef struct slots slots_t;

typedef struct {
    void (*on_stored) (void *arg, hash128_t parent, const hash128_t *hashes, size_t count);
    void (*on_removed) (void *arg, const uint64_t *hashes, size_t count);
    void *arg;    //  For both
} slots_watch_t;

//  count: slots of the server.  Copies the namespace.  Gives them, all empty; never NULL.
slots_t *slots_new (uint32_t count, const namespace_t *space, const slots_watch_t *watch);

//  Tells nobody of what was in them.
void slots_destroy (slots_t **self_p);

//  The idle slot for this prompt: the one with the longest common prefix among those that keep at least half of what they
//  have, else the least recently used.  SLOT_NONE where all are busy.
uint32_t slots_choose (const slots_t *self, column_t prompt);

//  A request begins in an idle slot.  Returns how many of its tokens the engine should find there: at least one is always
//  computed anew.
size_t slots_begin (slots_t *self, uint32_t slot, column_t prompt);

//  The engine found so many tokens: what was believed beyond them is not there.
void slots_reused (slots_t *self, uint32_t slot, size_t tokens);

//  The first so many tokens of the prompt are computed.
void slots_computed (slots_t *self, uint32_t slot, size_t tokens);

//  These tokens were generated; all but the last are computed, and so is the prompt.
void slots_generated (slots_t *self, uint32_t slot, const uint32_t *tokens, size_t count);

//  The request is over, at this moment for the order of use.  cached: tokens now in the slot, as the engine said;
//  SIZE_MAX: it did not say.
void slots_end (slots_t *self, uint32_t slot, size_t cached, uint64_t now_ns);

//  Tokens computed in busy slots.
uint64_t slots_busy_tokens (const slots_t *self);

//  Tokens computed in a slot.
size_t slots_tokens (const slots_t *self, uint32_t slot);

#endif
