#include <string.h>

#include "model/template/filters.h"
#include "model/template/syntax.h"

enum { DEPTH_MAX = 200 };

static node_t *s_choice (syntax_t *self);
static node_t *s_unary (syntax_t *self, bool filters);

//  Every recursive rule enters here.
static bool
s_enter (syntax_t *self)
{
    if (++self->depth > DEPTH_MAX)
        syntax_fail (self, "an expression is nested too deep");
    return !self->failed;
}

static node_t *
s_leave (syntax_t *self, node_t *node)
{
    self->depth--;
    return node;
}

static bool
s_accept_operator (syntax_t *self, const char *text)
{
    return syntax_accept (self, TOKEN_OPERATOR, text);
}

static node_t *
s_pair (syntax_t *self, node_kind_t kind, op_t op, node_t *a, node_t *b)
{
    node_t *node = syntax_node (self, kind);
    if (!node)
        return NULL;
    node->op = op;
    node->a = a;
    node->b = b;
    return node;
}

//  ---- Literals and names --------------------------------------------------------------------------------------------

static node_t *
s_literal (syntax_t *self, value_t value)
{
    node_t *node = syntax_node (self, NODE_LITERAL);
    if (node)
        node->value = value;
    syntax_next (self);
    return node;
}

//  Strings that stand side by side are one.
static node_t *
s_string (syntax_t *self)
{
    buffer_t text = { 0 };
    node_t *node = syntax_node (self, NODE_LITERAL);
    while (!self->failed && self->token.kind == TOKEN_STRING) {
        buffer_append (&text, self->token.text);
        syntax_next (self);
    }
    if (node)
        node->value = value_text (arena_copy (self->arena, buffer_span (&text)));
    buffer_fini (&text);
    return node;
}

//  The constant of a name; NULL where it is none.
static const value_t *
s_constant (span_t name)
{
    static const struct {
        const char *name;
        value_t value;
    } constants [] = {
        { "true", { .kind = VALUE_BOOL, .as.truth = true } },
        { "True", { .kind = VALUE_BOOL, .as.truth = true } },
        { "false", { .kind = VALUE_BOOL } },
        { "False", { .kind = VALUE_BOOL } },
        { "none", { .kind = VALUE_NONE } },
        { "None", { .kind = VALUE_NONE } },
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (span_equal_string (name, constants [i].name))
            return &constants [i].value;
    return NULL;
}

//  caller, varargs and kwargs make a macro take what they hold.
static void
s_note_macro_name (syntax_t *self, span_t name)
{
    self->uses |= span_equal_string (name, "caller")    ? MACRO_TAKES_CALLER
                  : span_equal_string (name, "varargs") ? MACRO_TAKES_VARARGS
                  : span_equal_string (name, "kwargs")  ? MACRO_TAKES_KWARGS
                                                        : 0;
}

static node_t *
s_name (syntax_t *self)
{
    const value_t *constant = s_constant (self->token.text);
    if (constant)
        return s_literal (self, *constant);
    node_t *node = syntax_node (self, NODE_NAME);
    if (node)
        node->text = self->token.text;
    s_note_macro_name (self, self->token.text);
    syntax_next (self);
    return node;
}

static node_t *
s_list (syntax_t *self)
{
    node_t *node = syntax_node (self, NODE_LIST);
    syntax_next (self);
    while (!self->failed && !syntax_is (self, TOKEN_OPERATOR, "]")) {
        syntax_add (self, &node->items, syntax_expression (self, false));
        if (!s_accept_operator (self, ","))
            break;
    }
    syntax_expect (self, TOKEN_OPERATOR, "]");
    return node;
}

static node_t *
s_dict (syntax_t *self)
{
    node_t *node = syntax_node (self, NODE_DICT);
    syntax_next (self);
    while (!self->failed && !syntax_is (self, TOKEN_OPERATOR, "}")) {
        syntax_add (self, &node->items, syntax_expression (self, false));
        syntax_expect (self, TOKEN_OPERATOR, ":");
        syntax_add (self, &node->items, syntax_expression (self, false));
        if (!s_accept_operator (self, ","))
            break;
    }
    syntax_expect (self, TOKEN_OPERATOR, "}");
    return node;
}

static node_t *
s_group (syntax_t *self)
{
    syntax_next (self);
    node_t *node =
        syntax_is (self, TOKEN_OPERATOR, ")") ? syntax_node (self, NODE_TUPLE) : syntax_expression (self, true);
    syntax_expect (self, TOKEN_OPERATOR, ")");
    return node;
}

static node_t *
s_primary (syntax_t *self)
{
    switch (self->token.kind) {
    case TOKEN_NAME:
        return s_name (self);
    case TOKEN_STRING:
        return s_string (self);
    case TOKEN_INTEGER:
        return s_literal (self, value_int (self->token.integer));
    case TOKEN_BIG:
        return s_literal (self, (value_t){ .kind = VALUE_BIG, .as.text = self->token.text });
    case TOKEN_FLOAT:
        return s_literal (self, value_float (self->token.real));
    default:
        break;
    }
    if (syntax_is (self, TOKEN_OPERATOR, "("))
        return s_group (self);
    if (syntax_is (self, TOKEN_OPERATOR, "["))
        return s_list (self);
    if (syntax_is (self, TOKEN_OPERATOR, "{"))
        return s_dict (self);
    return syntax_fail (self, "an expression is missing");
}

//  ---- What follows a value ------------------------------------------------------------------------------------------

static node_t *
s_attribute (syntax_t *self, node_t *value)
{
    node_t *node = syntax_node (self, NODE_ATTRIBUTE);
    if (!node)
        return NULL;
    node->a = value;
    if (self->token.kind != TOKEN_INTEGER) {
        node->text = syntax_name (self);
        return node;
    }
    node->kind = NODE_ITEM;    //  x.0
    node->b = s_literal (self, value_int (self->token.integer));
    return node;
}

static node_t *
s_slice_part (syntax_t *self)
{
    bool absent = syntax_is (self, TOKEN_OPERATOR, ":") || syntax_is (self, TOKEN_OPERATOR, "]") ||
                  syntax_is (self, TOKEN_OPERATOR, ",");
    return absent ? NULL : syntax_expression (self, false);
}

//  One part of a subscript: a value, or a slice.
static node_t *
s_subscript_part (syntax_t *self)
{
    node_t *first = s_slice_part (self);
    if (!s_accept_operator (self, ":"))
        return first ? first : syntax_fail (self, "an index is missing");
    node_t *slice = syntax_node (self, NODE_SLICE);
    node_t *second = s_slice_part (self);
    node_t *third = s_accept_operator (self, ":") ? s_slice_part (self) : NULL;
    if (!slice)
        return NULL;
    slice->a = first;
    slice->b = second;
    slice->c = third;
    return slice;
}

//  x [part], or x [part, part ...]: a tuple.
static node_t *
s_subscript (syntax_t *self, node_t *value)
{
    node_t *index = s_subscript_part (self);
    if (syntax_is (self, TOKEN_OPERATOR, ",")) {
        node_t *tuple = syntax_node (self, NODE_TUPLE);
        if (tuple)
            syntax_add (self, &tuple->items, index);
        while (tuple && !self->failed && s_accept_operator (self, ","))
            syntax_add (self, &tuple->items, s_subscript_part (self));
        index = tuple;
    }
    syntax_expect (self, TOKEN_OPERATOR, "]");
    return s_pair (self, NODE_ITEM, 0, value, index);
}

static bool
s_is_repeated (const arguments_t *arguments, span_t name)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (name.size && span_equal (arguments->items [i].name, name))
            return true;
    return false;
}

//  Positions before names, both before what stars spread.
static void
s_check_order (syntax_t *self, const arguments_t *arguments, const argument_t *argument)
{
    int stars = 0;
    bool named = false;
    for (size_t i = 0; i < arguments->count; i++) {
        stars = arguments->items [i].stars > stars ? arguments->items [i].stars : stars;
        named |= arguments->items [i].name.size > 0;
    }
    bool fits = argument->stars == 2      ? stars < 2
                : argument->stars == 1    ? !stars
                : argument->name.size > 0 ? stars < 2
                                          : !stars && !named;
    if (!fits)
        syntax_fail (self, "an argument stands where none of its kind may");
    if (s_is_repeated (arguments, argument->name))
        syntax_fail (self, "the argument '%.*s' is given twice", SPAN_ARG (span_slice (argument->name, 0, 40)));
}

//  `(a, b=c)`: the arguments of a call.
static void
s_arguments (syntax_t *self, arguments_t *arguments)
{
    while (!self->failed && !syntax_is (self, TOKEN_OPERATOR, ")")) {
        argument_t argument = { 0 };
        argument.stars = s_accept_operator (self, "**") ? 2 : s_accept_operator (self, "*") ? 1 : 0;
        argument.value = syntax_expression (self, false);
        if (!argument.stars && argument.value && argument.value->kind == NODE_NAME && s_accept_operator (self, "=")) {
            argument.name = argument.value->text;
            argument.value = syntax_expression (self, false);
        }
        s_check_order (self, arguments, &argument);
        syntax_add_argument (self, arguments, argument);
        if (!s_accept_operator (self, ","))
            break;
    }
    syntax_expect (self, TOKEN_OPERATOR, ")");
}

void
syntax_parameters (syntax_t *self, arguments_t *parameters)
{
    while (!self->failed && !syntax_is (self, TOKEN_OPERATOR, ")")) {
        argument_t parameter = { .name = syntax_target_name (self) };
        if (s_accept_operator (self, "="))
            parameter.value = syntax_expression (self, false);
        else if (parameters->count && parameters->items [parameters->count - 1].value)
            syntax_fail (self, "a parameter without a default follows one that has one");
        if (s_is_repeated (parameters, parameter.name))
            syntax_fail (self, "the parameter '%.*s' occurs twice", SPAN_ARG (span_slice (parameter.name, 0, 40)));
        syntax_add_argument (self, parameters, parameter);
        if (!s_accept_operator (self, ","))
            break;
    }
    syntax_expect (self, TOKEN_OPERATOR, ")");
}

static node_t *
s_call (syntax_t *self, node_t *value)
{
    node_t *node = syntax_node (self, NODE_CALL);
    if (!node)
        return NULL;
    node->a = value;
    s_arguments (self, &node->arguments);
    return node;
}

//  A filter's or a test's name may have dots.
static span_t
s_dotted_name (syntax_t *self)
{
    span_t name = syntax_name (self);
    while (!self->failed && s_accept_operator (self, ".")) {
        span_t part = syntax_name (self);
        if (self->failed)
            break;
        name = span_of (name.data, (size_t)(part.data + part.size - name.data));
    }
    return name;
}

node_t *
syntax_filter (syntax_t *self, node_t *value)
{
    node_t *node = syntax_node (self, NODE_FILTER);
    if (!node)
        return NULL;
    node->a = value;
    node->text = s_dotted_name (self);
    if (!self->soft && !filters_lookup (node->text))
        self->unknown = node->text;
    if (s_accept_operator (self, "("))
        s_arguments (self, &node->arguments);
    return node;
}

static bool
s_ends_test (const syntax_t *self)
{
    static const char *const words [] = { "else", "or", "and" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (syntax_is (self, TOKEN_NAME, words [i]))
            return true;
    return false;
}

//  A test may take one argument without brackets: x is divisibleby 3.
static void
s_bare_argument (syntax_t *self, node_t *test)
{
    token_kind_t kind = self->token.kind;
    bool begins = kind == TOKEN_NAME || kind == TOKEN_STRING || kind == TOKEN_INTEGER || kind == TOKEN_BIG ||
                  kind == TOKEN_FLOAT || syntax_is (self, TOKEN_OPERATOR, "[") || syntax_is (self, TOKEN_OPERATOR, "{");
    if (!begins || s_ends_test (self))
        return;
    if (syntax_is (self, TOKEN_NAME, "is")) {
        syntax_fail (self, "tests cannot be chained with is");
        return;
    }
    syntax_add_argument (self, &test->arguments, (argument_t){ .value = s_unary (self, false) });
}

static node_t *
s_test (syntax_t *self, node_t *value)
{
    bool negated = syntax_accept (self, TOKEN_NAME, "not");
    node_t *node = syntax_node (self, NODE_TEST);
    if (!node)
        return NULL;
    node->a = value;
    node->text = s_dotted_name (self);
    if (!self->soft && !tests_find (node->text))
        self->unknown = node->text;
    if (s_accept_operator (self, "("))
        s_arguments (self, &node->arguments);
    else
        s_bare_argument (self, node);
    return negated ? s_pair (self, NODE_NOT, 0, node, NULL) : node;
}

static node_t *
s_postfix (syntax_t *self, node_t *value)
{
    while (!self->failed) {
        if (s_accept_operator (self, "."))
            value = s_attribute (self, value);
        else if (s_accept_operator (self, "["))
            value = s_subscript (self, value);
        else if (s_accept_operator (self, "("))
            value = s_call (self, value);
        else
            break;
    }
    return value;
}

node_t *
syntax_filters (syntax_t *self, node_t *value)
{
    while (!self->failed) {
        if (s_accept_operator (self, "|"))
            value = syntax_filter (self, value);
        else if (syntax_accept (self, TOKEN_NAME, "is"))
            value = s_test (self, value);
        else if (s_accept_operator (self, "("))
            value = s_call (self, value);
        else
            break;
    }
    return value;
}

//  ---- Operators, the loosest last -----------------------------------------------------------------------------------

static node_t *
s_unary (syntax_t *self, bool filters)
{
    node_t *node;
    if (!s_enter (self))
        return s_leave (self, NULL);
    if (s_accept_operator (self, "-"))
        node = s_pair (self, NODE_UNARY, OP_MINUS, s_unary (self, false), NULL);
    else if (s_accept_operator (self, "+"))
        node = s_pair (self, NODE_UNARY, OP_PLUS, s_unary (self, false), NULL);
    else
        node = s_primary (self);
    node = s_postfix (self, node);
    return s_leave (self, filters ? syntax_filters (self, node) : node);
}

static node_t *
s_power (syntax_t *self)
{
    node_t *left = s_unary (self, true);
    while (!self->failed && s_accept_operator (self, "**"))
        left = s_pair (self, NODE_BINARY, OP_POWER, left, s_unary (self, true));
    return left;
}

static node_t *
s_product (syntax_t *self)
{
    static const struct {
        const char *text;
        op_t op;
    } operators [] = { { "*", OP_MULTIPLY }, { "/", OP_DIVIDE }, { "//", OP_FLOOR_DIVIDE }, { "%", OP_MODULO } };
    node_t *left = s_power (self);
    for (size_t i = 0; !self->failed && i < sizeof operators / sizeof *operators;) {
        if (!s_accept_operator (self, operators [i].text)) {
            i++;
            continue;
        }
        left = s_pair (self, NODE_BINARY, operators [i].op, left, s_power (self));
        i = 0;
    }
    return left;
}

static node_t *
s_concat (syntax_t *self)
{
    node_t *first = s_product (self);
    if (!syntax_is (self, TOKEN_OPERATOR, "~"))
        return first;
    node_t *node = syntax_node (self, NODE_CONCAT);
    if (!node)
        return NULL;
    syntax_add (self, &node->items, first);
    while (!self->failed && s_accept_operator (self, "~"))
        syntax_add (self, &node->items, s_product (self));
    return node;
}

static node_t *
s_sum (syntax_t *self)
{
    node_t *left = s_concat (self);
    while (!self->failed) {
        if (s_accept_operator (self, "+"))
            left = s_pair (self, NODE_BINARY, OP_ADD, left, s_concat (self));
        else if (s_accept_operator (self, "-"))
            left = s_pair (self, NODE_BINARY, OP_SUBTRACT, left, s_concat (self));
        else
            break;
    }
    return left;
}

//  The comparison that begins here; false where there is none.
static bool
s_comparison (syntax_t *self, op_t *op)
{
    static const struct {
        const char *text;
        op_t op;
    } operators [] = { { "==", OP_EQUAL }, { "!=", OP_NOT_EQUAL }, { "<=", OP_LESS_EQUAL }, { "<", OP_LESS },
        { ">=", OP_GREATER_EQUAL }, { ">", OP_GREATER } };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        *op = operators [i].op;
        if (s_accept_operator (self, operators [i].text))
            return true;
    }
    *op = OP_IN;
    if (syntax_accept (self, TOKEN_NAME, "in"))
        return true;
    *op = OP_NOT_IN;
    if (!syntax_accept (self, TOKEN_NAME, "not"))
        return false;
    syntax_expect (self, TOKEN_NAME, "in");
    return true;
}

static node_t *
s_compare (syntax_t *self)
{
    op_t op;
    node_t *first = s_sum (self);
    if (self->failed || !s_comparison (self, &op))
        return first;
    node_t *node = syntax_node (self, NODE_COMPARE);
    if (!node)
        return NULL;
    node->a = first;
    do
        syntax_add (self, &node->items, s_pair (self, NODE_OPERAND, op, s_sum (self), NULL));
    while (!self->failed && s_comparison (self, &op));
    return node;
}

static node_t *
s_not (syntax_t *self)
{
    if (!syntax_accept (self, TOKEN_NAME, "not"))
        return s_compare (self);
    if (!s_enter (self))
        return s_leave (self, NULL);
    node_t *node = s_pair (self, NODE_NOT, 0, s_not (self), NULL);
    return s_leave (self, node);
}

static node_t *
s_and (syntax_t *self)
{
    node_t *left = s_not (self);
    while (!self->failed && syntax_accept (self, TOKEN_NAME, "and"))
        left = s_pair (self, NODE_AND, 0, left, s_not (self));
    return left;
}

static node_t *
s_or (syntax_t *self)
{
    node_t *left = s_and (self);
    while (!self->failed && syntax_accept (self, TOKEN_NAME, "or"))
        left = s_pair (self, NODE_OR, 0, left, s_and (self));
    return left;
}

//  Names of filters and tests inside a choice are looked up where they are reached.
static node_t *
s_choice (syntax_t *self)
{
    span_t unknown = self->unknown;
    node_t *value = s_or (self);
    while (!self->failed && syntax_accept (self, TOKEN_NAME, "if")) {
        node_t *node = syntax_node (self, NODE_CHOICE);
        if (!node)
            return NULL;
        node->a = value;
        node->b = s_or (self);
        if (syntax_accept (self, TOKEN_NAME, "else"))
            node->c = s_choice (self);
        value = node;
        self->unknown = unknown;
    }
    return value;
}

static bool
s_ends_tuple (const syntax_t *self)
{
    token_kind_t kind = self->token.kind;
    return kind == TOKEN_BLOCK_END || kind == TOKEN_PRINT_END || syntax_is (self, TOKEN_OPERATOR, ")") ||
           syntax_is (self, TOKEN_NAME, "in") || syntax_is (self, TOKEN_NAME, "recursive");
}

//  One item, or a tuple where a comma follows it.
static node_t *
s_tuple (syntax_t *self, node_t *(*item) (syntax_t *self), bool tuple)
{
    if (!s_enter (self))
        return s_leave (self, NULL);
    node_t *first = item (self);
    if (!tuple || self->failed || !syntax_is (self, TOKEN_OPERATOR, ","))
        return s_leave (self, first);
    node_t *node = syntax_node (self, NODE_TUPLE);
    if (!node)
        return s_leave (self, NULL);
    syntax_add (self, &node->items, first);
    while (!self->failed && s_accept_operator (self, ",") && !s_ends_tuple (self))
        syntax_add (self, &node->items, item (self));
    return s_leave (self, node);
}

node_t *
syntax_expression (syntax_t *self, bool tuple)
{
    return s_tuple (self, s_choice, tuple);
}

node_t *
syntax_expression_no_choice (syntax_t *self)
{
    return s_tuple (self, s_or, true);
}

//  ---- Targets -------------------------------------------------------------------------------------------------------

span_t
syntax_target_name (syntax_t *self)
{
    if (s_constant (self->token.text))
        syntax_fail (self, "cannot assign to '%.*s'", SPAN_ARG (span_slice (self->token.text, 0, 40)));
    s_note_macro_name (self, self->token.text);
    return syntax_name (self);
}

static node_t *
s_single_target (syntax_t *self)
{
    if (s_accept_operator (self, "(")) {
        node_t *inner = syntax_target (self, false);
        syntax_expect (self, TOKEN_OPERATOR, ")");
        return inner;
    }
    node_t *name = syntax_node (self, NODE_NAME);
    if (name)
        name->text = syntax_target_name (self);
    return name;
}

//  A name, or name.attribute.
static node_t *
s_attribute_target (syntax_t *self)
{
    node_t *name = s_single_target (self);
    if (self->failed || name->kind != NODE_NAME || !s_accept_operator (self, "."))
        return name;
    node_t *node = syntax_node (self, NODE_ATTRIBUTE);
    if (!node)
        return NULL;
    node->a = name;
    node->text = syntax_name (self);
    return node;
}

node_t *
syntax_target (syntax_t *self, bool attributes)
{
    return s_tuple (self, attributes ? s_attribute_target : s_single_target, true);
}
