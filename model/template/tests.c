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
    return value.kind == VALUE_STRING || value_is_indexed (value) || value.kind == VALUE_DICT ||
           value.kind == VALUE_UNDEFINED;
}

static bool
s_iterable (render_t *render, value_t value, const args_t *args)
{
    return s_sequence (render, value, args) || value_has_items (value) || value.kind == VALUE_LOOP;
}

static bool
s_number (render_t *render, value_t value, const args_t *args)
{
    return value_is_numeric (value);
}

static bool
s_integer (render_t *render, value_t value, const args_t *args)
{
    return value.kind == VALUE_INT || value.kind == VALUE_BIG;
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
    return value.kind == VALUE_FUNCTION || value.kind == VALUE_LOOP || value.kind == VALUE_UNDEFINED;
}

//  The remainder of a division, for odd, even and divisibleby.
static bool
s_divides (render_t *render, value_t value, value_t divisor, int64_t remainder)
{
    value_t rest = render_binary (render, OP_MODULO, value, divisor);
    return value_equal (&render->heap, rest, value_int (remainder)) && !value_heap_failed (&render->heap);
}

static bool
s_odd (render_t *render, value_t value, const args_t *args)
{
    return s_divides (render, value, value_int (2), 1);
}

static bool
s_even (render_t *render, value_t value, const args_t *args)
{
    return s_divides (render, value, value_int (2), 0);
}

static bool
s_divisible (render_t *render, value_t value, const args_t *args)
{
    return s_divides (render, value, *args_get (args, 0, "num"), 0);
}

static bool
s_all_cased (render_t *render, value_t value, bool (*has) (uint32_t point), bool (*lacks) (uint32_t point))
{
    bool found = false;
    span_t text = value_to_text (&render->heap, value).as.text;
    value_scan (&render->heap, text);
    for (size_t at = 0, size; at < text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        if (lacks (point) || unicode_is_title (point))
            return false;
        found |= has (point);
    }
    return found;
}

static bool
s_lower (render_t *render, value_t value, const args_t *args)
{
    return s_all_cased (render, value, unicode_is_lower, unicode_is_upper);
}

static bool
s_upper (render_t *render, value_t value, const args_t *args)
{
    return s_all_cased (render, value, unicode_is_upper, unicode_is_lower);
}

static bool
s_compare (render_t *render, op_t op, value_t value, const args_t *args)
{
    const value_t *other = args_get (args, 0, op == OP_IN ? "seq" : "other");
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
    return value.kind != VALUE_UNDEFINED && other->kind == value.kind && value_equal (&render->heap, *other, value);
}

//  A key of a dict, as Jinja has its filters and tests.
static bool
s_is_name (render_t *render, value_t value)
{
    if (!value_is_hashable (&render->heap, value))
        value_fail (&render->heap, "TypeError: unhashable type: '%s'", value_type_name (value));
    return value.kind == VALUE_STRING;
}

static bool
s_filter (render_t *render, value_t value, const args_t *args)
{
    return s_is_name (render, value) && filters_lookup (value.as.text);
}

static bool
s_test (render_t *render, value_t value, const args_t *args)
{
    return s_is_name (render, value) && tests_find (value.as.text);
}

static bool
s_escaped (render_t *render, value_t value, const args_t *args)
{
    return value.safe;
}

static const test_t s_tests [] = {
    { "defined", "", s_defined },
    { "undefined", "", s_undefined },
    { "none", "", s_none },
    { "string", "", s_string },
    { "mapping", "", s_mapping },
    { "sequence", "", s_sequence },
    { "iterable", "", s_iterable },
    { "number", "", s_number },
    { "integer", "", s_integer },
    { "float", "", s_float },
    { "boolean", "", s_boolean },
    { "true", "", s_true },
    { "false", "", s_false },
    { "callable", "", s_callable },
    { "odd", "", s_odd },
    { "even", "", s_even },
    { "divisibleby", "num", s_divisible },
    { "lower", "", s_lower },
    { "upper", "", s_upper },
    { "eq", "other", s_equal },
    { "equalto", "other", s_equal },
    { "==", "other", s_equal },
    { "ne", "other", s_not_equal },
    { "!=", "other", s_not_equal },
    { "lt", "other", s_less },
    { "lessthan", "other", s_less },
    { "<", "other", s_less },
    { "le", "other", s_less_equal },
    { "<=", "other", s_less_equal },
    { "gt", "other", s_greater },
    { "greaterthan", "other", s_greater },
    { ">", "other", s_greater },
    { "ge", "other", s_greater_equal },
    { ">=", "other", s_greater_equal },
    { "in", "seq", s_in },
    { "sameas", "other", s_same_as },
    { "filter", "", s_filter },
    { "test", "", s_test },
    { "escaped", "", s_escaped },
    { NULL, NULL, NULL },
};

const test_t *
tests_find (span_t name)
{
    for (const test_t *test = s_tests; test->name; test++)
        if (span_equal_string (name, test->name))
            return test;
    return NULL;
}

bool
render_test (render_t *self, span_t name, value_t input, const args_t *args)
{
    if (value_heap_failed (&self->heap))
        return false;
    const test_t *test = tests_find (name);
    if (test)
        return args_check (self, test->name, test->parameters, args) && test->test (self, input, args);
    value_fail (&self->heap, "TemplateRuntimeError: No test named '%.*s' found.", SPAN_ARG (name));
    return false;
}
