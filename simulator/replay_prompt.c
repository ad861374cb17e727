#include "simulator/replay_prompt.h"

enum { TOKENS_A_WORD = 8, TOKEN_BITS = 8 };

//  Block numbers are below this (trace.c), so that tails have numbers of their own.
static const uint64_t TAILS = UINT64_C (1) << 63;

void
replay_prompt_init (replay_prompt_t *self, const namespace_t *space, uint64_t key)
{
    self->key = key;
    self->block_size = space->block_size;
    self->sequence = sequence_new (space);
    array_init (&self->tokens, sizeof (uint32_t));
}

void
replay_prompt_fini (replay_prompt_t *self)
{
    sequence_destroy (&self->sequence);
    array_fini (&self->tokens);
}

static void
s_add_tokens (replay_prompt_t *self, uint64_t number, size_t count)
{
    uint32_t *tokens = array_append (&self->tokens, NULL, count);
    uint64_t block = hash_u64 (self->key ^ number);
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++, word >>= TOKEN_BITS) {
        if (i % TOKENS_A_WORD == 0)
            word = hash_u64 (block + i);
        tokens [i] = (uint8_t)word;
    }
}

void
replay_prompt_set (replay_prompt_t *self, const trace_t *trace, const trace_request_t *request, uint64_t tail)
{
    size_t kept = (size_t)request->keep * self->block_size;
    const trace_run_t *runs = trace_runs (trace, request);
    array_cut (&self->tokens, kept);
    sequence_truncate (self->sequence, request->keep);
    for (uint32_t i = 0; i < request->run_count; i++)
        for (uint32_t k = 0; k < runs [i].count; k++)
            s_add_tokens (self, runs [i].first + k, self->block_size);
    s_add_tokens (self, TAILS | tail, request->prompt_tokens - self->tokens.count);
    const uint32_t *tokens = self->tokens.data;
    sequence_extend (self->sequence, tokens + kept, self->tokens.count - kept);
}
