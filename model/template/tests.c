//  tests - what may stand behind `is`

#include "model/template/filters.h"
#include "model/template/unicode.h"

static bool
s_defined (render_t *render, value_t value, const args_t *args)
{
    return value.kind != VALUE_UNDEFINED;
}

static bool
s_undefined (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_UNDEFINED;
}

static bool
s_none (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_NONE;
}

static bool
s_string (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_STRING;
}

static bool
s_mapping (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_DICT;
}

static bool
s_sequence (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_STRING || value_is_sequence (value) || value.kind == VALUE_DICT ||
           value.kind == VALUE_UNDEFINED;
}

static bool
s_iterable (render_t *render, value_t value, const args_t *args)
{
    return s_sequence (render, value, args) || value.kind == VALUE_ITERATOR || value.kind == VALUE_LOOP;
}

static bool
s_number (render_t *render, value_t value, const args_t *args)
{
    return value_is_number (value);
}

static bool
s_integer (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_INT;
}

static bool
s_float (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_FLOAT;
}

static bool
s_boolean (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_BOOL;
}

static bool
s_true (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_BOOL && value.as.truth;
}

static bool
s_false (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_BOOL && !value.as.truth;
}

static bool
s_callable (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_FUNCTION;
}

//  The remainder of a division, for odd, even and divisibleby.
static bool
s_divides (render_t *render, value_t value, int64_t divisor, int64_t remainder)
{
    value_t rest = render_binary (render, OP_MODULO, value, value_int (divisor));
    return value_equal (rest, value_int (remainder)) && !value_heap_failed (&render->heap);
}

static bool
s_odd (render_t *render, value_t value, const args_t *args)
{
    return s_divides (render, value, 2, 1);
}

static bool
s_even (render_t *render, value_t value, const args_t *args)
{
    return s_divides (render, value, 2, 0);
}

static bool
s_divisible (render_t *render, value_t value, const args_t *args)
{
    return s_divides (render, value, args_int (args, 0, "num", 0), 0);
}

static bool
s_all_cased (value_t value, bool (*has) (uint32_t point), bool (*not ) (uint32_t point))
{
    bool found = false;
    for (size_t at = 0, size; value.kind == VALUE_STRING && at < value.as.text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (value.as.text, at, 4), &size);
        if (not(point))
            return false;
        found |= has (point);
    }
    return found;
}

static bool
s_lower (render_t *render, value_t value, const args_t *args)
{
    return s_all_cased (value, unicode_is_lower, unicode_is_upper);
}

static bool
s_upper (render_t *render, value_t value, const args_t *args)
{
    return s_all_cased (value, unicode_is_upper, unicode_is_lower);
}

static bool
s_compare (render_t *render, op_t op, value_t value, const args_t *args)
{
    const value_t *other = args_get (args, 0, "other");
    if (!other) {
        value_fail (&render->heap, "TypeError: this test needs an argument");
        return false;
    }
    return render_compare (render, op, value, *other);
}

static bool
s_equal (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_EQUAL, value, args);
}

static bool
s_not_equal (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_NOT_EQUAL, value, args);
}

static bool
s_less (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_LESS, value, args);
}

static bool
s_less_equal (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_LESS_EQUAL, value, args);
}

static bool
s_greater (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_GREATER, value, args);
}

static bool
s_greater_equal (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_GREATER_EQUAL, value, args);
}

static bool
s_in (render_t *render, value_t value, const args_t *args)
{
    return s_compare (render, OP_IN, value, args);
}

static bool
s_same_as (render_t *render, value_t value, const args_t *args)
{
    const value_t *other = args_get (args, 0, "other");
    return other && other->kind == value.kind && value_equal (*other, value);
}

static bool
s_filter (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_STRING && filters_lookup (value.as.text);
}

const test_t tests_table [] = {
    { "defined", s_defined },
    { "undefined", s_undefined },
    { "none", s_none },
    { "string", s_string },
    { "mapping", s_mapping },
    { "sequence", s_sequence },
    { "iterable", s_iterable },
    { "number", s_number },
    { "integer", s_integer },
    { "float", s_float },
    { "boolean", s_boolean },
    { "true", s_true },
    { "false", s_false },
    { "callable", s_callable },
    { "odd", s_odd },
    { "even", s_even },
    { "divisibleby", s_divisible },
    { "lower", s_lower },
    { "upper", s_upper },
    { "eq", s_equal },
    { "equalto", s_equal },
    { "==", s_equal },
    { "ne", s_not_equal },
    { "!=", s_not_equal },
    { "lt", s_less },
    { "lessthan", s_less },
    { "<", s_less },
    { "le", s_less_equal },
    { "<=", s_less_equal },
    { "gt", s_greater },
    { "greaterthan", s_greater },
    { ">", s_greater },
    { "ge", s_greater_equal },
    { ">=", s_greater_equal },
    { "in", s_in },
    { "sameas", s_same_as },
    { "filter", s_filter },
    { NULL, NULL },
};

bool
render_test (render_t *self, span_t name, value_t input, const args_t *args)
{
    if (value_heap_failed (&self->heap))
        return false;
    for (const test_t *test = tests_table; test->name; test++)
        if (span_equal_string (name, test->name))
            return test->test (self, input, args);
    value_fail (&self->heap, "TemplateRuntimeError: No test named '%.*s' found.", SPAN_ARG (name));
    return false;
}
