//  namespace - whose blocks may be shared with whose
//
//  A namespace is (model-card fingerprint, LoRA adapter, tenant salt, block size).  Two namespaces never share a block: each
//  has a key of its own, derived from the cluster's secret, under which its sequence hashes are made.  Whoever does not
//  have the secret learns nothing from a hash, not even by trying prompts from a dictionary.
//
//  The key is BLAKE2b keyed with the secret, cut to 16 bytes, over
//      "stator namespace 1", then for fingerprint, LoRA and salt each: size as 8 little-endian bytes, the bytes;
//      then the block size as 4 little-endian bytes
//  so that no two different lists of parts give the same message.

#ifndef KV_NAMESPACE_H
#define KV_NAMESPACE_H

#include "base/error.h"
#include "base/hash.h"

enum { BLOCK_SIZE_MAX = 16384, CLUSTER_SECRET_MAX = 64 };

typedef struct {
    span_t fingerprint;     //  Of the model card: tokenizer, template and weights
    span_t lora;            //  Name of the adapter; empty for none
    span_t salt;            //  Of the tenant; empty for what everybody shares
    uint32_t block_size;    //  Tokens a block, 1..BLOCK_SIZE_MAX
} namespace_parts_t;

typedef struct {
    hash_key_t key;         //  Secret: never leaves the process
    uint64_t id;            //  Names the namespace in messages and files; says nothing about the key
    uint32_t block_size;    //  Tokens a block
} namespace_t;

//  Derives the key.  Borrows the secret (1..CLUSTER_SECRET_MAX bytes) and the parts for the call.
//  STATUS_INVALID for a secret or block size out of range; self is then as it was.
status_t namespace_init (namespace_t *self, span_t secret, const namespace_parts_t *parts, error_t *error);

//  The namespace of a model's plain requests: no LoRA, no salt; the card's fingerprint counts as 8 little-endian bytes.
//  Worker and frontend both make it, from the same card.
status_t namespace_init_model (
    namespace_t *self, span_t secret, uint64_t fingerprint, uint32_t block_size, error_t *error);

#endif
