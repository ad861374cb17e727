#include "schemas/batch.h"

#include "schemas/pack_reader.h"

enum { HEAD_SIZE = 5, ARRAY_32 = 0xdd, UINT_16 = 0xcd };    //  MessagePack: array 32 is dd and a big-endian count

static void
s_put_head (batch_t *self)
{
    uint8_t *head = self->bytes.data;
    uint32_t elements = (uint32_t)(self->count * 2);
    head [0] = ARRAY_32;
    for (int i = 0; i < 4; i++)
        head [1 + i] = (uint8_t)(elements >> (24 - 8 * i));
}

void
batch_init (batch_t *self)
{
    buffer_init (&self->bytes);
    batch_clear (self);
}

void
batch_fini (batch_t *self)
{
    buffer_fini (&self->bytes);
    self->count = 0;
}

void
batch_clear (batch_t *self)
{
    buffer_clear (&self->bytes);
    buffer_reserve (&self->bytes, HEAD_SIZE);
    buffer_commit (&self->bytes, HEAD_SIZE);
    self->count = 0;
}

static void
s_put_kind (buffer_t *out, uint16_t id)
{
    if (id < 0x80)
        buffer_append_byte (out, (uint8_t)id);
    else
        buffer_append (out, span_of ((uint8_t []){ UINT_16, (uint8_t)(id >> 8), (uint8_t)id }, 3));
}

void
batch_append (batch_t *self, const message_type_t *type, const void *event)
{
    BUG_ON (type->kind != MESSAGE_EVENT || self->count >= UINT32_MAX / 2);
    s_put_kind (&self->bytes, type->id);
    message_encode (type, event, &self->bytes);
    self->count++;
}

size_t
batch_size (const batch_t *self)
{
    return self->bytes.size;
}

span_t
batch_span (batch_t *self)
{
    s_put_head (self);
    return buffer_span (&self->bytes);
}

void
batch_reader_init (batch_reader_t *self, uint16_t stream, span_t payload)
{
    *self = (batch_reader_t){ .left = payload, .stream = stream };
}

static bool
s_fail (batch_reader_t *self, error_t *error, const char *problem)
{
    self->status = error_set (error, STATUS_INVALID, "a batch of stream %s %s", stream_name (self->stream), problem);
    return false;
}

static bool
s_begin (batch_reader_t *self, error_t *error)
{
    pack_reader_t pack;
    pack_item_t head;
    pack_reader_init (&pack, self->left);
    if (!pack_read (&pack, &head))
        return s_fail (self, error, pack.problem);
    if (head.kind != PACK_ARRAY || head.number % 2)
        return s_fail (self, error, "is no array of kind numbers and events");
    self->begun = true;
    self->count = head.number / 2;
    self->left = pack.left;
    return true;
}

bool
batch_reader_next (batch_reader_t *self, const message_type_t **type, span_t *bytes, error_t *error)
{
    if (self->status || (!self->begun && !s_begin (self, error)))
        return false;
    if (self->count == 0)
        return self->left.size ? s_fail (self, error, "has bytes behind its end") : false;
    pack_reader_t pack;
    pack_item_t kind;
    pack_reader_init (&pack, self->left);
    if (!pack_read (&pack, &kind))
        return s_fail (self, error, pack.problem);
    if (kind.kind != PACK_UINT || kind.number > UINT16_MAX)
        return s_fail (self, error, "has a kind that is no number from 0 to 65535");
    const uint8_t *start = pack.left.data;
    if (!pack_skip (&pack))
        return s_fail (self, error, pack.problem);
    *type = message_find_event (self->stream, (uint16_t)kind.number);
    *bytes = span_of (start, (size_t)(pack.left.data - start));
    self->left = pack.left;
    self->count--;
    return true;
}
