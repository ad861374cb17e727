#include "model/gguf.h"

#include <string.h>

#include "base/bug.h"

enum { DEPTH_MAX = 4 };    //  Arrays in arrays

//  Bytes of a value; 0: it says itself.
static const uint8_t s_sizes [GGUF_TYPES] = {
    [GGUF_U8] = 1,
    [GGUF_I8] = 1,
    [GGUF_U16] = 2,
    [GGUF_I16] = 2,
    [GGUF_U32] = 4,
    [GGUF_I32] = 4,
    [GGUF_F32] = 4,
    [GGUF_BOOL] = 1,
    [GGUF_U64] = 8,
    [GGUF_I64] = 8,
    [GGUF_F64] = 8,
};

typedef struct {
    span_t file;       //  All there is
    size_t at;         //  Next byte
    error_t *error;    //  The caller's
} reader_t;

static uint64_t
s_number (const uint8_t *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = size; i-- > 0;)
        number = number << 8 | bytes [i];
    return number;
}

static status_t
s_too_short (const reader_t *self)
{
    return error_set (
        self->error, STATUS_INVALID, "GGUF: the metadata go on behind the end of what is there, at byte %zu", self->at);
}

static status_t
s_read (reader_t *self, size_t size, uint64_t *number)
{
    if (size > self->file.size - self->at)
        return s_too_short (self);
    *number = s_number (self->file.data + self->at, size);
    self->at += size;
    return STATUS_OK;
}

static status_t
s_read_string (reader_t *self, span_t *string)
{
    uint64_t size = 0;
    status_t status = s_read (self, 8, &size);
    if (status)
        return status;
    if (size > self->file.size - self->at)
        return s_too_short (self);
    *string = span_slice (self->file, self->at, size);
    self->at += size;
    return STATUS_OK;
}

static status_t
s_read_type (reader_t *self, gguf_type_t *type)
{
    uint64_t number = 0;
    status_t status = s_read (self, 4, &number);
    if (status)
        return status;
    if (number >= GGUF_TYPES)
        return error_set (self->error, STATUS_INVALID, "GGUF: type %llu at byte %zu is none",
            (unsigned long long)number, self->at - 4);
    *type = (gguf_type_t)number;
    return STATUS_OK;
}

static status_t s_pass_array (reader_t *self, gguf_type_t *element, uint64_t *count, size_t *start, unsigned depth);

//  Passes over `count` values of a type. Each takes a byte at least, so the file bounds the walk.
static status_t
s_pass (reader_t *self, gguf_type_t type, uint64_t count, unsigned depth)
{
    if (s_sizes [type]) {
        if (count > (self->file.size - self->at) / s_sizes [type])
            return s_too_short (self);
        self->at += count * s_sizes [type];
        return STATUS_OK;
    }
    status_t status = STATUS_OK;
    for (uint64_t i = 0; i < count && !status; i++) {
        span_t string;
        gguf_type_t element = 0;
        uint64_t inner = 0;
        size_t start;
        status = type == GGUF_STRING ? s_read_string (self, &string)
                                     : s_pass_array (self, &element, &inner, &start, depth + 1);
    }
    return status;
}

static status_t
s_pass_array (reader_t *self, gguf_type_t *element, uint64_t *count, size_t *start, unsigned depth)
{
    if (depth == DEPTH_MAX)
        return error_set (self->error, STATUS_INVALID, "GGUF: arrays nested too deep at byte %zu", self->at);
    status_t status = s_read_type (self, element);
    if (!status)
        status = s_read (self, 8, count);
    *start = self->at;
    return status ? status : s_pass (self, *element, *count, depth);
}

static status_t
s_read_entry (reader_t *self, gguf_entry_t *entry)
{
    size_t start = 0;
    status_t status = s_read_string (self, &entry->key);
    if (!status)
        status = s_read_type (self, &entry->type);
    if (status)
        return status;
    entry->count = 1;
    entry->element = entry->type;
    if (entry->type == GGUF_STRING)
        return s_read_string (self, &entry->data);
    start = self->at;
    status = entry->type == GGUF_ARRAY ? s_pass_array (self, &entry->element, &entry->count, &start, 0)
                                       : s_pass (self, entry->type, 1, 0);
    entry->data = span_slice (self->file, start, self->at - start);
    return status;
}

status_t
gguf_init (gguf_t *self, span_t file, error_t *error)
{
    reader_t reader = { file, 4, error };
    uint64_t version = 0, entries = 0;
    *self = (gguf_t){ 0 };
    array_init (&self->entries, sizeof (gguf_entry_t));
    if (!span_starts_with (file, SPAN ("GGUF")))
        return error_set (error, STATUS_INVALID, "GGUF: it does not begin like one");
    status_t status = s_read (&reader, 4, &version);
    if (!status && version != 2 && version != 3)
        return error_set (
            error, STATUS_UNSUPPORTED, "GGUF: version %llu; this program reads 2 and 3", (unsigned long long)version);
    if (!status)
        status = s_read (&reader, 8, &self->tensors);
    if (!status)
        status = s_read (&reader, 8, &entries);
    for (uint64_t i = 0; i < entries && !status; i++) {
        gguf_entry_t entry;
        status = s_read_entry (&reader, &entry);
        if (!status)
            array_append (&self->entries, &entry, 1);
    }
    if (status) {
        gguf_fini (self);
        return status;
    }
    self->version = (uint32_t)version;
    self->end = reader.at;
    return STATUS_OK;
}

void
gguf_fini (gguf_t *self)
{
    array_fini (&self->entries);
}

//  ---- Values --------------------------------------------------------------------------------------------------------

//  The entry of a key, the first where it comes twice; NULL where there is none.
static const gguf_entry_t *
s_find (const gguf_t *self, const char *key)
{
    for (size_t i = 0; i < self->entries.count; i++) {
        const gguf_entry_t *entry = array_at (&self->entries, i);
        if (span_equal_string (entry->key, key))
            return entry;
    }
    return NULL;
}

span_t
gguf_string (const gguf_t *self, const char *key)
{
    const gguf_entry_t *entry = s_find (self, key);
    if (!entry || entry->type != GGUF_STRING)
        return (span_t){ NULL, 0 };
    return entry->data;
}

bool
gguf_u64 (const gguf_t *self, const char *key, uint64_t *value)
{
    const gguf_entry_t *entry = s_find (self, key);
    if (!entry || entry->type == GGUF_STRING || entry->type == GGUF_ARRAY || entry->type == GGUF_F32 ||
        entry->type == GGUF_F64 || entry->type == GGUF_BOOL)
        return false;
    bool is_signed =
        entry->type == GGUF_I8 || entry->type == GGUF_I16 || entry->type == GGUF_I32 || entry->type == GGUF_I64;
    if (is_signed && entry->data.data [entry->data.size - 1] & 0x80)
        return false;
    *value = s_number (entry->data.data, entry->data.size);
    return true;
}

bool
gguf_flag (const gguf_t *self, const char *key, bool otherwise)
{
    const gguf_entry_t *entry = s_find (self, key);
    return entry && entry->type == GGUF_BOOL ? entry->data.data [0] != 0 : otherwise;
}

const gguf_entry_t *
gguf_array (const gguf_t *self, const char *key, gguf_type_t element)
{
    const gguf_entry_t *entry = s_find (self, key);
    return entry && entry->type == GGUF_ARRAY && entry->element == element ? entry : NULL;
}

bool
gguf_next_string (const gguf_entry_t *array, size_t *cursor, span_t *string)
{
    BUG_ON (array->element != GGUF_STRING);
    if (*cursor == array->data.size)
        return false;
    *string = span_slice (array->data, *cursor + 8, s_number (array->data.data + *cursor, 8));
    *cursor += 8 + string->size;
    return true;
}

int32_t
gguf_i32_at (const gguf_entry_t *array, size_t position)
{
    BUG_ON (position >= array->count || array->element != GGUF_I32);
    return (int32_t)s_number (array->data.data + 4 * position, 4);
}

float
gguf_f32_at (const gguf_entry_t *array, size_t position)
{
    BUG_ON (position >= array->count || array->element != GGUF_F32);
    uint32_t bits = (uint32_t)s_number (array->data.data + 4 * position, 4);
    float value;
    memcpy (&value, &bits, sizeof value);
    return value;
}
