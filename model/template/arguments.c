//  arguments - what a builtin was called with

#include "model/template/render.h"

//  ---- Parameters ----

//  The next word of a row of parameters; false at the end.
static bool
s_next_word (span_t *rest, span_t *word, bool *optional)
{
    *rest = span_trim (*rest);
    size_t end = span_find_byte (*rest, ' ');
    *word = span_slice (*rest, 0, end);
    *rest = span_slice (*rest, end, rest->size);
    *optional = word->size && word->data [word->size - 1] == '?';
    word->size -= *optional;
    return word->size;
}

static bool
s_has_keyword (const args_t *args, span_t name)
{
    for (size_t i = 0; i < args->keyword_count; i++)
        if (span_equal (args->names [i], name))
            return true;
    return false;
}

//  One parameter against the arguments; *named counts those that came by name.
static bool
s_check_parameter (
    render_t *render, const char *name, span_t parameter, size_t position, const args_t *args, size_t *named)
{
    bool by_name = s_has_keyword (args, parameter);
    *named += by_name;
    if (by_name && position < args->count)
        value_fail (
            &render->heap, "TypeError: %s() got multiple values for argument '%.*s'", name, SPAN_ARG (parameter));
    return by_name;
}

bool
args_check (render_t *render, const char *name, const char *parameters, const args_t *args)
{
    size_t position = 0, named = 0;
    bool optional, by_position = false, any_positions = false, any_names = false;
    span_t word;
    for (span_t rest = span_from_string (parameters); s_next_word (&rest, &word, &optional);) {
        by_position |= span_equal_string (word, "/");
        any_positions |= span_equal_string (word, "*");
        any_names |= span_equal_string (word, "**");
        if (word.data [0] == '/' || word.data [0] == '*')
            continue;
        bool given = position < args->count;
        if (!by_position)
            given |= s_check_parameter (render, name, word, position, args, &named);
        if (!given && !optional)
            value_fail (&render->heap, "TypeError: %s() misses its argument '%.*s'", name, SPAN_ARG (word));
        position++;
    }
    if (args->count > position && !any_positions)
        value_fail (&render->heap, "TypeError: %s() takes at most %zu arguments, not %zu", name, position, args->count);
    if (args->keyword_count > named && !any_names)
        value_fail (&render->heap, "TypeError: %s() got an unexpected keyword argument", name);
    return !value_heap_failed (&render->heap);
}

//  ---- Access ----

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
