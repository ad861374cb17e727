//  sequence - the hash chain of one prompt
//
//  A sequence is the list of sequence hashes of a token stream cut into blocks.  Extending it costs only the new tokens:
//  the last hash and the partial block are kept.  A hash names its block and everything before it:
//      SipHash-2-4-128, under the namespace key, over
//          the parent's sequence hash (16 bytes; SEQUENCE_ROOT for the first block),
//          the block's tokens, each as 4 little-endian bytes,
//          for each item that touches the block, sorted by (hash, position): its hash (16 bytes), its position (4
//          little-endian bytes)
//  The number of tokens is fixed by the namespace, so the message reads in one way only.  An item is what stands in the
//  prompt for something that is not text (an image): its tokens are placeholders, equal for every image.
//
//  A sequence holds 16 bytes a block, less than the tokens it was given: whoever bounds the tokens bounds it.
//  Not thread-safe: one owner at a time.

#ifndef KV_SEQUENCE_H
#define KV_SEQUENCE_H

#include "kv/namespace.h"

//  The parent of every first block.
#define SEQUENCE_ROOT ((hash128_t){ 0, 0 })

typedef struct sequence sequence_t;

typedef struct {
    hash128_t hash;       //  Of its content
    uint32_t position;    //  Of its first placeholder, in tokens from the start of the prompt
    uint32_t count;       //  Placeholders, at least 1
} sequence_item_t;

//  Creates an empty chain.  Copies the namespace.  Gives the chain; never NULL.
sequence_t *sequence_new (const namespace_t *ns);

//  Destroys the chain and nulls the caller's pointer.  Safe to call twice.
void sequence_destroy (sequence_t **self_p);

//  Says what the tokens from item->position on stand for; before they are appended.  Items come in order and do not
//  overlap: STATUS_INVALID otherwise, and nothing is changed.
status_t sequence_add_item (sequence_t *self, const sequence_item_t *item, error_t *error);

//  Appends tokens; borrows them.  Only whole blocks become hashes, the rest waits for more.
//  Returns how many hashes were added.
size_t sequence_extend (sequence_t *self, const uint32_t *tokens, size_t count);

//  Appends tokens whose hashes are known: `hashes` are those that sequence_extend would add (BUG_ON another number).  No item
//  reaches into them.
void sequence_adopt (
    sequence_t *self, const uint32_t *tokens, size_t count, const hash128_t *hashes, size_t hash_count);

//  Cuts to the first `blocks` blocks (at most what there is); tokens of an unfinished block are forgotten.  An item that
//  began before the cut stays, for the tokens of it that come again.
void sequence_truncate (sequence_t *self, size_t blocks);

//  Tokens so far, those of the unfinished block included.
size_t sequence_tokens (const sequence_t *self);

//  The hashes so far, `*count` of them.  Borrowed: valid until the next extend, truncate or destroy.
const hash128_t *sequence_hashes (const sequence_t *self, size_t *count);

//  Copies what an index uses of the hashes `first` .. `first + count - 1` (which must be there): their first 64 bits.
void sequence_copy_short (const sequence_t *self, size_t first, size_t count, uint64_t *hashes);

//  The hashes of the whole blocks of `tokens` (no items), continuing `parent`.  `hashes` has room for
//  count / block size of them.  Returns how many there are.
size_t sequence_hash_tokens (
    const namespace_t *ns, hash128_t parent, const uint32_t *tokens, size_t count, hash128_t *hashes);

#endif
