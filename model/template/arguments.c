//  arguments - what a builtin was called with

#include "model/template/render.h"

#define COUNT_MAX (INT64_C (1) << 62)    //  No text or row is longer, and sums with their lengths stay in 64 bits

//  ---- Parameters ----------------------------------------------------------------------------------------------------

typedef struct {
    span_t name;      //  Or a sign: / * **
    bool optional;    //  ?
    bool whole;       //  #: a whole number
    bool bound;       //  :: a whole number or None
} parameter_t;

//  Takes the last byte of a word, where it is this one.
static bool
s_take_mark (span_t *word, char mark)
{
    bool marked = word->size > 1 && word->data [word->size - 1] == mark;
    word->size -= marked;
    return marked;
}

//  The next of a row of parameters; false at the end.
static bool
s_next_parameter (span_t *rest, parameter_t *parameter)
{
    *rest = span_trim (*rest);
    size_t end = span_find_byte (*rest, ' ');
    parameter->name = span_slice (*rest, 0, end);
    *rest = span_slice (*rest, end, rest->size);
    parameter->optional = s_take_mark (&parameter->name, '?');
    parameter->whole = s_take_mark (&parameter->name, '#');
    parameter->bound = s_take_mark (&parameter->name, ':');
    return parameter->name.size;
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

//  The value of a parameter by position, or by name unless it has none; NULL where it was not given.
static const value_t *
s_given (const args_t *args, size_t position, span_t name)
{
    if (position < args->count)
        return &args->items [position];
    for (size_t i = 0; i < args->keyword_count; i++)
        if (span_equal (args->names [i], name))
            return &args->values [i];
    return NULL;
}

static void
s_check_kind (render_t *render, const parameter_t *parameter, const value_t *value)
{
    if (!value || value->kind == VALUE_INT || value->kind == VALUE_BOOL)
        return;
    if (parameter->whole || (parameter->bound && value->kind != VALUE_NONE))
        value_fail (
            &render->heap, "TypeError: '%s' object cannot be interpreted as an integer", value_type_name (*value));
}

//  Whatever is called looks at its texts.
static void
s_scan_texts (value_heap_t *heap, const value_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values [i].kind == VALUE_STRING)
            value_scan (heap, values [i].as.text);
}

bool
args_check (render_t *render, const char *name, const char *parameters, const args_t *args)
{
    s_scan_texts (&render->heap, args->items, args->count);
    s_scan_texts (&render->heap, args->values, args->keyword_count);
    size_t position = 0, named = 0;
    bool by_position = false, any_positions = false, any_names = false;
    parameter_t parameter;
    for (span_t rest = span_from_string (parameters); s_next_parameter (&rest, &parameter);) {
        span_t word = parameter.name;
        by_position |= span_equal_string (word, "/");
        any_positions |= span_equal_string (word, "*");
        any_names |= span_equal_string (word, "**");
        if (word.data [0] == '/' || word.data [0] == '*')
            continue;
        bool given = position < args->count;
        if (!by_position)
            given |= s_check_parameter (render, name, word, position, args, &named);
        s_check_kind (render, &parameter, s_given (args, position, by_position ? SPAN ("") : word));
        if (!given && !parameter.optional)
            value_fail (&render->heap, "TypeError: %s() misses its argument '%.*s'", name, SPAN_ARG (word));
        position++;
    }
    if (args->count > position && !any_positions)
        value_fail (&render->heap, "TypeError: %s() takes at most %zu arguments, not %zu", name, position, args->count);
    if (args->keyword_count > named && !any_names)
        value_fail (&render->heap, "TypeError: %s() got an unexpected keyword argument", name);
    return !value_heap_failed (&render->heap);
}

//  ---- Access --------------------------------------------------------------------------------------------------------

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
args_whole (const args_t *self, size_t position, const char *name, int64_t otherwise)
{
    const value_t *value = args_get (self, position, name);
    if (value && value->kind == VALUE_INT)
        return value->as.integer;
    return value && value->kind == VALUE_BOOL ? value->as.truth : otherwise;
}

int64_t
args_int (const args_t *self, size_t position, const char *name, int64_t otherwise)
{
    int64_t whole = args_whole (self, position, name, otherwise);
    return whole > COUNT_MAX ? COUNT_MAX : whole < -COUNT_MAX ? -COUNT_MAX : whole;
}

span_t
args_text (const args_t *self, size_t position, const char *name, span_t otherwise)
{
    const value_t *value = args_get (self, position, name);
    return value && value->kind == VALUE_STRING ? value->as.text : otherwise;
}
