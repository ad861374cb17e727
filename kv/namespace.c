#include "kv/namespace.h"

#include "base/buffer.h"

static void
s_append_part (buffer_t *message, span_t part)
{
    buffer_append_u64_le (message, part.size);
    buffer_append (message, part);
}

status_t
namespace_init (namespace_t *self, span_t secret, const namespace_parts_t *parts, error_t *error)
{
    if (secret.size == 0 || secret.size > CLUSTER_SECRET_MAX)
        return error_set (error, STATUS_INVALID, "a cluster secret has 1 to %d bytes, this one has %zu",
            CLUSTER_SECRET_MAX, secret.size);
    if (parts->block_size == 0 || parts->block_size > BLOCK_SIZE_MAX)
        return error_set (
            error, STATUS_INVALID, "a block has 1 to %d tokens, not %u", BLOCK_SIZE_MAX, parts->block_size);

    buffer_t message;
    buffer_init (&message);
    buffer_append (&message, SPAN ("stator namespace 1"));
    s_append_part (&message, parts->fingerprint);
    s_append_part (&message, parts->lora);
    s_append_part (&message, parts->salt);
    buffer_append_u32_le (&message, parts->block_size);
    self->key = hash_key_derive (secret, buffer_span (&message));
    self->id = hash_keyed (&self->key, SPAN ("namespace")).high;
    self->block_size = parts->block_size;
    buffer_fini (&message);
    return STATUS_OK;
}

status_t
namespace_init_model (namespace_t *self, span_t secret, uint64_t fingerprint, uint32_t block_size, error_t *error)
{
    buffer_t bytes = { 0 };
    buffer_append_u64_le (&bytes, fingerprint);
    namespace_parts_t parts = { .fingerprint = buffer_span (&bytes), .block_size = block_size };
    status_t status = namespace_init (self, secret, &parts, error);
    buffer_fini (&bytes);
    return status;
}
