//  memo - what became of the prompts before
//
//  A harness sends its whole history again with every turn.  A memo remembers the tokens and sequence hashes of prompts,
//  so that a turn costs what is new in it: the known bytes are compared and their tokens copied, the rest is tokenised and
//  hashed.
//
//  A prompt is cut at seams, where the tokenizer vouches that both sides tokenise apart (tokenizer_seams).  A stretch from
//  seam to seam is an entry below the entry of the stretch before it; the namespace is the first.  A prompt walks down from
//  there as far as its stretches are known.  So an entry stands for all bytes from the prompt's beginning to its end, and
//  what is found is right under any edit of the history: an edit leads to other entries.
//
//  Right by comparison, not by luck: a hash finds a candidate, then its bytes are compared.  A hash that two stretches
//  share costs one of them its entry, never a wrong token, and nobody's prompt is answered from another's.  Whoever does
//  not share a namespace shares no entry either.
//
//  Bounded in bytes.  What was unused for longest goes first; an entry counts as used after those below it, so that the
//  oldest one never has any.  Not thread-safe: one owner at a time.

#ifndef MODEL_MEMO_MEMO_H
#define MODEL_MEMO_MEMO_H

#include "kv/sequence.h"
#include "model/tokenizer/tokenizer.h"

typedef struct memo memo_t;

//  tokenizer: borrowed as long as the memo.  bytes_max: of all entries, between two calls; one prompt adds at most half of
//  it.  seed: a random number, so that nobody can aim at hashes.  Gives the memo; never NULL.
memo_t *memo_new (tokenizer_t *tokenizer, uint64_t bytes_max, uint64_t seed);

//  Nulls the caller's pointer.
void memo_destroy (memo_t **self_p);

//  Appends the tokens of a rendered prompt, special tokens recognised and none added, and gives their hash chain: the same
//  that tokenizer_encode and sequence_extend make of it.  Where tokenizer_encode fails it fails the same way; tokens are
//  then as they were, and no chain is given.
status_t memo_encode (
    memo_t *self, const namespace_t *ns, span_t prompt, array_t *tokens, sequence_t **chain, error_t *error);

typedef struct {
    uint64_t prompts;    //  Encoded
    uint64_t bytes;      //  Of these prompts
    uint64_t known;      //  Of these bytes, in entries
    uint64_t evicted;    //  Entries that went to make room
    uint64_t entries;    //  Now
    uint64_t used;       //  Bytes they take, now
} memo_counts_t;

memo_counts_t memo_counts (const memo_t *self);

#endif
