#include "cli/brief.h"

#include <inttypes.h>
#include <string.h>

//  A sentence is shown whole, a document is not.
enum { TEXT_SHOWN = 200, DEPTH_SHOWN = 2 };

static bool
s_is_there (const message_field_t *field, const void *message)
{
    const uint8_t *base = message;
    if (field->list)
        return true;
    return !field->optional || *(const bool *)(const void *)(base + field->aside);
}

void
brief_append_text (span_t text, size_t shown_max, buffer_t *out)
{
    span_t shown = span_slice (text, 0, shown_max);
    for (size_t i = 0; i < shown.size; i++)
        buffer_append_byte (out, shown.data [i] < ' ' || shown.data [i] == 0x7f ? '?' : shown.data [i]);
    if (shown.size < text.size)
        buffer_append_string (out, "...");
}

static void s_append_fields (const message_type_t *type, const void *message, unsigned depth, buffer_t *out);

static void
s_append_value (const message_field_t *field, const void *value, unsigned depth, buffer_t *out)
{
    switch (field->kind) {
    case FIELD_BOOL:
        buffer_append_string (out, *(const bool *)value ? "yes" : "no");
        break;
    case FIELD_U8:
        buffer_print (out, "%u", *(const uint8_t *)value);
        break;
    case FIELD_U16:
        buffer_print (out, "%u", *(const uint16_t *)value);
        break;
    case FIELD_U32:
        buffer_print (out, "%" PRIu32, *(const uint32_t *)value);
        break;
    case FIELD_U64:
        buffer_print (out, "%" PRIu64, *(const uint64_t *)value);
        break;
    case FIELD_I32:
        buffer_print (out, "%" PRId32, *(const int32_t *)value);
        break;
    case FIELD_I64:
        buffer_print (out, "%" PRId64, *(const int64_t *)value);
        break;
    case FIELD_F64:
        buffer_print (out, "%g", *(const double *)value);
        break;
    case FIELD_HASH128:
        buffer_print (out, "%08" PRIx64, ((const hash128_t *)value)->high >> 32);
        break;
    case FIELD_ENUM:
        buffer_append_string (out, message_enum_name (field->enumeration, *(const uint32_t *)value));
        break;
    case FIELD_STRING:
        brief_append_text (*(const span_t *)value, TEXT_SHOWN, out);
        break;
    case FIELD_BIN:
        buffer_print (out, "%zu bytes", ((const span_t *)value)->size);
        break;
    case FIELD_STRUCT:
        buffer_append_byte (out, '{');
        if (depth < DEPTH_SHOWN)
            s_append_fields (field->structure, value, depth + 1, out);
        buffer_append_byte (out, '}');
        break;
    }
}

//  Columns know their own length; other lists have it aside.
static size_t
s_list_count (const message_field_t *field, const void *message)
{
    const uint8_t *base = message;
    if (field->kind == FIELD_U32 || field->kind == FIELD_U64 || field->kind == FIELD_HASH128)
        return ((const column_t *)(const void *)(base + field->offset))->count;
    return *(const size_t *)(const void *)(base + field->aside);
}

static void
s_append_fields (const message_type_t *type, const void *message, unsigned depth, buffer_t *out)
{
    const char *between = "";
    for (size_t i = 0; i < type->field_count; i++) {
        const message_field_t *field = &type->fields [i];
        if (!s_is_there (field, message))
            continue;
        if (field->list && !s_list_count (field, message))
            continue;
        buffer_print (out, "%s%s=", between, field->name);
        between = " ";
        if (field->list)
            buffer_print (out, "[%zu]", s_list_count (field, message));
        else
            s_append_value (field, (const uint8_t *)message + field->offset, depth, out);
    }
}

void
brief_append (const message_type_t *type, const void *message, buffer_t *out)
{
    s_append_fields (type, message, 0, out);
}

void
brief_append_ms (uint64_t ms, buffer_t *out)
{
    uint64_t seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (days)
        buffer_print (out, "%" PRIu64 "d %" PRIu64 "h", days, hours % 24);
    else if (hours)
        buffer_print (out, "%" PRIu64 "h %" PRIu64 "min", hours, minutes % 60);
    else if (minutes)
        buffer_print (out, "%" PRIu64 "min %" PRIu64 "s", minutes, seconds % 60);
    else if (seconds)
        buffer_print (out, "%" PRIu64 ".%" PRIu64 "s", seconds, ms % 1000 / 100);
    else
        buffer_print (out, "%" PRIu64 "ms", ms);
}
