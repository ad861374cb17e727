//  operate - what +, <, in and their kin do to two values, as in Python

#include <math.h>
#include <string.h>

#include "model/template/filters.h"

enum { COPIES_A_STEP = 16 };

static value_t
s_type_error (render_t *self, op_t op, value_t a, value_t b)
{
    static const char *const signs [] = { "+", "-", "*", "/", "//", "%", "** or pow()" };
    return value_fail (&self->heap, "TypeError: unsupported operand type(s) for %s: '%s' and '%s'", signs [op],
        value_type_name (a), value_type_name (b));
}

static int64_t
s_int (value_t value)
{
    return value.kind == VALUE_BOOL ? value.as.truth : value.as.integer;
}

static double
s_real (value_t value)
{
    return value.kind == VALUE_FLOAT ? value.as.real : (double)s_int (value);
}

static int64_t
s_floor_divide (int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

static value_t
s_power (render_t *self, int64_t base, int64_t exponent)
{
    int64_t result = 1;
    for (; exponent > 0; exponent--)
        if (!value_step (&self->heap, 1) || __builtin_mul_overflow (result, base, &result))
            return value_too_large (&self->heap);
    return value_int (result);
}

//  As Python's, whose powers are the library's, too.
static value_t
s_real_power (render_t *self, double base, double exponent)
{
    bool finite = isfinite (base) && isfinite (exponent);
    if (base == 0 && exponent < 0)
        return value_fail (&self->heap, "ZeroDivisionError: 0.0 cannot be raised to a negative power");
    if (finite && base < 0 && floor (exponent) != exponent)
        return value_fail (&self->heap, "a root of a negative number is complex, which is not supported");
    double power = pow (base, exponent);
    if (finite && isinf (power))
        return value_fail (&self->heap, "OverflowError: (34, 'Numerical result out of range')");
    return value_float (power);
}

static value_t
s_integers (render_t *self, op_t op, int64_t a, int64_t b)
{
    int64_t result = 0;
    bool overflow = false;
    if (b == 0 && (op == OP_DIVIDE || op == OP_FLOOR_DIVIDE || op == OP_MODULO))
        return value_fail (&self->heap, "ZeroDivisionError: division by zero");
    switch (op) {
    case OP_ADD:
        overflow = __builtin_add_overflow (a, b, &result);
        break;
    case OP_SUBTRACT:
        overflow = __builtin_sub_overflow (a, b, &result);
        break;
    case OP_MULTIPLY:
        overflow = __builtin_mul_overflow (a, b, &result);
        break;
    case OP_DIVIDE:
        return value_float ((double)((long double)a / (long double)b));    //  A double has not all their bits
    case OP_FLOOR_DIVIDE:
        overflow = a == INT64_MIN && b == -1;
        result = overflow ? 0 : s_floor_divide (a, b);
        break;
    case OP_MODULO:
        result = b == -1 ? 0 : a % b;
        result += result && (result < 0) != (b < 0) ? b : 0;
        break;
    default:
        return b < 0 ? s_real_power (self, (double)a, (double)b) : s_power (self, a, b);
    }
    return overflow ? value_too_large (&self->heap) : value_int (result);
}

enum { DOUBLED_A_STEP = 4 };

//  What is left of a when b was taken from it as often as it goes, exact: b is doubled and halved, and what is subtracted is
//  never less than half of what is there.
static double
s_rest (render_t *self, double a, double b)
{
    uint64_t doubled = 0;
    double rest = a < 0 ? -a : a, part = b < 0 ? -b : b, least = part;
    if (a - a != 0 || b != b)
        return a - a;
    if (b - b != 0)
        return a;
    for (; part <= rest / 2; doubled++)
        part *= 2;
    value_step (&self->heap, doubled / DOUBLED_A_STEP);
    for (; part >= least; part /= 2)
        rest -= rest >= part ? part : 0;
    return a < 0 ? -rest : rest;
}

//  a // b and a % b as Python has them: the rest has the sign of b.
static value_t
s_divide_whole (render_t *self, op_t op, double a, double b)
{
    double rest = s_rest (self, a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        rest += b;
        quotient -= 1;
    } else if (rest == 0) {
        rest = b < 0 ? -0.0 : 0.0;
    }
    double whole = floor (quotient);
    if (quotient == 0)
        whole = __builtin_copysign (0, a / b);
    else if (quotient - whole > 0.5)
        whole += 1;
    return value_float (op == OP_MODULO ? rest : whole);
}

static value_t
s_reals (render_t *self, op_t op, double a, double b)
{
    if (b == 0 && (op == OP_DIVIDE || op == OP_FLOOR_DIVIDE || op == OP_MODULO))
        return value_fail (&self->heap, "ZeroDivisionError: float division by zero");
    switch (op) {
    case OP_ADD:
        return value_float (a + b);
    case OP_SUBTRACT:
        return value_float (a - b);
    case OP_MULTIPLY:
        return value_float (a * b);
    case OP_DIVIDE:
        return value_float (a / b);
    case OP_FLOOR_DIVIDE:
    case OP_MODULO:
        return s_divide_whole (self, op, a, b);
    default:
        return s_real_power (self, a, b);
    }
}

static value_t
s_join_texts (render_t *self, span_t a, span_t b)
{
    uint8_t *memory = value_alloc (&self->heap, a.size + b.size);
    if (!memory)
        return (value_t){ 0 };
    if (a.size)
        memcpy (memory, a.data, a.size);
    if (b.size)
        memcpy (memory + a.size, b.data, b.size);
    return value_text (span_of (memory, a.size + b.size));
}

//  What is added to a safe text is escaped, and the sum is safe.
static value_t
s_add_texts (render_t *self, value_t a, value_t b)
{
    args_t none = { 0 };
    bool safe = a.safe || b.safe;
    if (safe)
        a = render_filter (self, SPAN ("escape"), a, &none);
    if (safe)
        b = render_filter (self, SPAN ("escape"), b, &none);
    value_t sum = s_join_texts (self, a.as.text, b.as.text);
    sum.safe = safe;
    return sum;
}

static value_t
s_join_lists (render_t *self, value_t a, value_t b)
{
    value_t result = value_new_list (&self->heap, a.kind);
    const value_t *sides [] = { &a, &b };
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides [side]->as.list->count && value_step (&self->heap, 1); i++)
            value_list_add (&self->heap, result.as.list, sides [side]->as.list->items [i]);
    return result;
}

static value_t
s_repeat_text (render_t *self, value_t what, int64_t times)
{
    size_t size = what.as.text.size;
    value_t repeated = value_text (SPAN (""));
    repeated.safe = what.safe;
    if (times <= 0 || size == 0)
        return repeated;
    if ((uint64_t)times > self->heap.arena.limit / size)
        return value_fail (&self->heap, "a repeated text is too long");
    if (!value_step (&self->heap, (uint64_t)times / COPIES_A_STEP))
        return (value_t){ 0 };
    uint8_t *memory = value_alloc (&self->heap, size * (size_t)times);
    for (int64_t i = 0; memory && i < times; i++)
        memcpy (memory + (size_t)i * size, what.as.text.data, size);
    repeated.as.text = span_of (memory, memory ? size * (size_t)times : 0);
    return repeated;
}

static value_t
s_repeat (render_t *self, value_t what, int64_t times)
{
    if (what.kind == VALUE_STRING)
        return s_repeat_text (self, what, times);
    value_t result = value_new_list (&self->heap, what.kind);
    for (int64_t i = 0; i < times && value_step (&self->heap, 1 + what.as.list->count); i++)
        for (size_t k = 0; k < what.as.list->count; k++)
            value_list_add (&self->heap, result.as.list, what.as.list->items [k]);
    return result;
}

static bool
s_is_whole (value_t value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_BOOL;
}

static value_t
s_add_mismatch (render_t *self, value_t a, value_t b)
{
    if (a.kind == VALUE_STRING)
        return value_fail (&self->heap, "TypeError: can only concatenate str (not \"%s\") to str", value_type_name (b));
    if (value_is_sequence (a))
        return value_fail (&self->heap, "TypeError: can only concatenate %s (not \"%s\") to %s", value_type_name (a),
            value_type_name (b), value_type_name (a));
    return s_type_error (self, OP_ADD, a, b);
}

static value_t
s_percent (render_t *self, value_t text, const args_t *args)
{
    return format_percent (self, text.as.text, args);
}

args_t
render_named (render_t *self, const value_dict_t *dict)
{
    args_t args = { 0 };
    args.names = value_alloc (&self->heap, (dict->count + 1) * sizeof *args.names);
    args.values = value_alloc (&self->heap, (dict->count + 1) * sizeof *args.values);
    for (size_t i = 0; !value_heap_failed (&self->heap) && i < dict->count; i++) {
        if (dict->pairs [i].key.kind != VALUE_STRING)
            continue;
        args.names [args.keyword_count] = dict->pairs [i].key.as.text;
        args.values [args.keyword_count++] = dict->pairs [i].value;
    }
    return args;
}

//  Python takes these for mappings, from which a text need not take anything.
static bool
s_may_be_left (value_t values)
{
    return values.kind == VALUE_DICT || values.kind == VALUE_LIST || values.kind == VALUE_RANGE ||
           values.kind == VALUE_UNDEFINED;
}

//  text % values: a tuple gives many, a dict names them; what is no tuple is one value.
static value_t
s_format (render_t *self, value_t text, value_t values)
{
    static const builtin_t percent = { "format", "/ * **", s_percent };
    args_t args = { .items = &values, .count = 1 };
    if (values.kind == VALUE_TUPLE)
        args = (args_t){ .items = values.as.list->items, .count = values.as.list->count };
    if (values.kind == VALUE_DICT && span_find_byte (text.as.text, '(') < text.as.text.size)
        args = render_named (self, values.as.dict);
    else if (s_may_be_left (values) && span_find_byte (text.as.text, '%') == text.as.text.size)
        args = (args_t){ 0 };
    return render_builtin (self, &percent, text, &args);
}

value_t
render_binary (render_t *self, op_t op, value_t a, value_t b)
{
    if (value_heap_failed (&self->heap))
        return (value_t){ 0 };
    if (op == OP_MODULO && a.kind == VALUE_STRING)
        return s_format (self, a, b);
    if (a.kind == VALUE_UNDEFINED || b.kind == VALUE_UNDEFINED)
        return render_undefined_error (self, a.kind == VALUE_UNDEFINED ? a : b);
    if (a.kind == VALUE_BIG || b.kind == VALUE_BIG)
        return value_too_large (&self->heap);
    if (s_is_whole (a) && s_is_whole (b))
        return s_integers (self, op, s_int (a), s_int (b));
    if (value_is_number (a) && value_is_number (b))
        return s_reals (self, op, s_real (a), s_real (b));
    if (op == OP_ADD && a.kind == VALUE_STRING && b.kind == VALUE_STRING)
        return s_add_texts (self, a, b);
    if (op == OP_ADD && value_is_sequence (a) && a.kind == b.kind)
        return s_join_lists (self, a, b);
    if (op == OP_ADD)
        return s_add_mismatch (self, a, b);
    bool a_repeats = a.kind == VALUE_STRING || value_is_sequence (a);
    bool b_repeats = b.kind == VALUE_STRING || value_is_sequence (b);
    if (op == OP_MULTIPLY && a_repeats && s_is_whole (b))
        return s_repeat (self, a, s_int (b));
    if (op == OP_MULTIPLY && b_repeats && s_is_whole (a))
        return s_repeat (self, b, s_int (a));
    return s_type_error (self, op, a, b);
}

bool
render_contains (render_t *self, value_t container, value_t item)
{
    value_t *items;
    size_t count;
    if (container.kind == VALUE_DICT && !value_is_hashable (&self->heap, item))
        value_fail (&self->heap, "TypeError: unhashable type: '%s'", value_type_name (item));
    if (container.kind == VALUE_DICT)
        return value_dict_get (&self->heap, container.as.dict, item) != NULL;
    if (container.kind == VALUE_STRING && item.kind == VALUE_UNDEFINED) {
        render_undefined_error (self, item);
        return false;
    }
    if (container.kind == VALUE_STRING && item.kind != VALUE_STRING) {
        value_fail (
            &self->heap, "TypeError: 'in <string>' requires string as left operand, not %s", value_type_name (item));
        return false;
    }
    if (container.kind == VALUE_STRING && value_search (&self->heap, container.as.text, item.as.text))
        return !item.as.text.size || filters_find (container.as.text, item.as.text).data;
    if (container.kind == VALUE_STRING)
        return false;
    bool walks = container.kind == VALUE_UNDEFINED || value_has_items (container);
    if (!walks) {
        value_fail (&self->heap, "TypeError: argument of type '%s' is not iterable", value_type_name (container));
        return false;
    }
    if (!value_items (&self->heap, container, &items, &count))
        return false;
    for (size_t i = 0; i < count && value_step (&self->heap, 1); i++)
        if (value_equal (&self->heap, items [i], item))
            return true;
    return false;
}

bool
render_compare (render_t *self, op_t op, value_t a, value_t b)
{
    int order;
    switch (op) {
    case OP_EQUAL:
        return value_equal (&self->heap, a, b);
    case OP_NOT_EQUAL:
        return !value_equal (&self->heap, a, b);
    case OP_IN:
        return render_contains (self, b, a);
    case OP_NOT_IN:
        return !render_contains (self, b, a);
    default:
        break;
    }
    if (!value_compare (&self->heap, a, b, &order))
        return false;
    switch (op) {
    case OP_LESS:
        return order < 0;
    case OP_LESS_EQUAL:
        return order <= 0;
    case OP_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}
