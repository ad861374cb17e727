//  arguments - what a builtin was called with

#include "model/template/render.h"

const value_t *
args_get (const args_t *self, size_t position, const char *name)
{
    if (position < self->count)
        return &self->items [position];
    for (size_t i = 0; name && i < self->keyword_count; i++)
        if (span_equal_string (self->names [i], name))
            return &self->values [i];
    return NULL;
}

value_t
args_or (const args_t *self, size_t position, const char *name, value_t otherwise)
{
    const value_t *value = args_get (self, position, name);
    return value ? *value : otherwise;
}

int64_t
args_int (const args_t *self, size_t position, const char *name, int64_t otherwise)
{
    const value_t *value = args_get (self, position, name);
    if (value && value->kind == VALUE_INT)
        return value->as.integer;
    return value && value->kind == VALUE_BOOL ? value->as.truth : otherwise;
}

span_t
args_text (const args_t *self, size_t position, const char *name, span_t otherwise)
{
    const value_t *value = args_get (self, position, name);
    return value && value->kind == VALUE_STRING ? value->as.text : otherwise;
}
