#include <string.h>

#include "model/template/parser.h"

enum { DEPTH_MAX = 200 };

static node_t *s_choice (parser_t *self);
static node_t *s_unary (parser_t *self, bool filters);

//  Every recursive rule enters here.
static bool
s_enter (parser_t *self)
{
    if (++self->depth > DEPTH_MAX)
        parser_fail (self, "an expression is nested too deep");
    return !self->failed;
}

static node_t *
s_leave (parser_t *self, node_t *node)
{
    self->depth--;
    return node;
}

static bool
s_accept_operator (parser_t *self, const char *text)
{
    return parser_accept (self, TOKEN_OPERATOR, text);
}

static node_t *
s_pair (parser_t *self, node_kind_t kind, op_t op, node_t *a, node_t *b)
{
    node_t *node = parser_node (self, kind);
    if (!node)
        return NULL;
    node->op = op;
    node->a = a;
    node->b = b;
    return node;
}

//  ---- Literals and names ----

static node_t *
s_literal (parser_t *self, value_t value)
{
    node_t *node = parser_node (self, NODE_LITERAL);
    if (node)
        node->value = value;
    parser_next (self);
    return node;
}

//  Strings that stand side by side are one.
static node_t *
s_string (parser_t *self)
{
    buffer_t text = { 0 };
    node_t *node = parser_node (self, NODE_LITERAL);
    while (!self->failed && self->token.kind == TOKEN_STRING) {
        buffer_append (&text, self->token.text);
        parser_next (self);
    }
    if (node)
        node->value = value_text (arena_copy (self->arena, buffer_span (&text)));
    buffer_fini (&text);
    return node;
}

static node_t *
s_name (parser_t *self)
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
        if (span_equal_string (self->token.text, constants [i].name))
            return s_literal (self, constants [i].value);
    node_t *node = parser_node (self, NODE_NAME);
    if (node)
        node->text = self->token.text;
    parser_next (self);
    return node;
}

static node_t *
s_list (parser_t *self)
{
    node_t *node = parser_node (self, NODE_LIST);
    parser_next (self);
    while (!self->failed && !parser_is (self, TOKEN_OPERATOR, "]")) {
        parser_add (self, &node->items, parser_expression (self, false));
        if (!s_accept_operator (self, ","))
            break;
    }
    parser_expect (self, TOKEN_OPERATOR, "]");
    return node;
}

static node_t *
s_dict (parser_t *self)
{
    node_t *node = parser_node (self, NODE_DICT);
    parser_next (self);
    while (!self->failed && !parser_is (self, TOKEN_OPERATOR, "}")) {
        parser_add (self, &node->items, parser_expression (self, false));
        parser_expect (self, TOKEN_OPERATOR, ":");
        parser_add (self, &node->items, parser_expression (self, false));
        if (!s_accept_operator (self, ","))
            break;
    }
    parser_expect (self, TOKEN_OPERATOR, "}");
    return node;
}

static node_t *
s_group (parser_t *self)
{
    parser_next (self);
    node_t *node =
        parser_is (self, TOKEN_OPERATOR, ")") ? parser_node (self, NODE_TUPLE) : parser_expression (self, true);
    parser_expect (self, TOKEN_OPERATOR, ")");
    return node;
}

static node_t *
s_primary (parser_t *self)
{
    switch (self->token.kind) {
    case TOKEN_NAME:
        return s_name (self);
    case TOKEN_STRING:
        return s_string (self);
    case TOKEN_INTEGER:
        return s_literal (self, value_int (self->token.integer));
    case TOKEN_FLOAT:
        return s_literal (self, value_float (self->token.real));
    default:
        break;
    }
    if (parser_is (self, TOKEN_OPERATOR, "("))
        return s_group (self);
    if (parser_is (self, TOKEN_OPERATOR, "["))
        return s_list (self);
    if (parser_is (self, TOKEN_OPERATOR, "{"))
        return s_dict (self);
    return parser_fail (self, "an expression is missing");
}

//  ---- What follows a value ----

static node_t *
s_attribute (parser_t *self, node_t *value)
{
    node_t *node = parser_node (self, NODE_ATTRIBUTE);
    if (!node)
        return NULL;
    node->a = value;
    if (self->token.kind != TOKEN_INTEGER) {
        node->text = parser_name (self);
        return node;
    }
    node->kind = NODE_ITEM;    //  x.0
    node->b = s_literal (self, value_int (self->token.integer));
    return node;
}

static node_t *
s_slice_part (parser_t *self)
{
    bool absent = parser_is (self, TOKEN_OPERATOR, ":") || parser_is (self, TOKEN_OPERATOR, "]") ||
                  parser_is (self, TOKEN_OPERATOR, ",");
    return absent ? NULL : parser_expression (self, false);
}

static node_t *
s_subscript (parser_t *self, node_t *value)
{
    node_t *first = s_slice_part (self);
    if (!s_accept_operator (self, ":")) {
        parser_expect (self, TOKEN_OPERATOR, "]");
        return s_pair (self, NODE_ITEM, 0, value, first);
    }
    node_t *slice = parser_node (self, NODE_SLICE);
    node_t *second = s_slice_part (self);
    node_t *third = s_accept_operator (self, ":") ? s_slice_part (self) : NULL;
    parser_expect (self, TOKEN_OPERATOR, "]");
    if (!slice)
        return NULL;
    slice->a = first;
    slice->b = second;
    slice->c = third;
    return s_pair (self, NODE_ITEM, 0, value, slice);
}

void
parser_arguments (parser_t *self, arguments_t *arguments)
{
    while (!self->failed && !parser_is (self, TOKEN_OPERATOR, ")")) {
        argument_t argument = { 0 };
        argument.stars = s_accept_operator (self, "**") ? 2 : s_accept_operator (self, "*") ? 1 : 0;
        argument.value = parser_expression (self, false);
        if (!argument.stars && argument.value && argument.value->kind == NODE_NAME && s_accept_operator (self, "=")) {
            argument.name = argument.value->text;
            argument.value = parser_expression (self, false);
        }
        parser_add_argument (self, arguments, argument);
        if (!s_accept_operator (self, ","))
            break;
    }
    parser_expect (self, TOKEN_OPERATOR, ")");
}

void
parser_parameters (parser_t *self, arguments_t *parameters)
{
    while (!self->failed && !parser_is (self, TOKEN_OPERATOR, ")")) {
        argument_t parameter = { .name = parser_name (self) };
        if (s_accept_operator (self, "="))
            parameter.value = parser_expression (self, false);
        parser_add_argument (self, parameters, parameter);
        if (!s_accept_operator (self, ","))
            break;
    }
    parser_expect (self, TOKEN_OPERATOR, ")");
}

static node_t *
s_call (parser_t *self, node_t *value)
{
    node_t *node = parser_node (self, NODE_CALL);
    if (!node)
        return NULL;
    node->a = value;
    parser_arguments (self, &node->arguments);
    return node;
}

//  A filter's or a test's name may have dots.
static span_t
s_dotted_name (parser_t *self)
{
    span_t name = parser_name (self);
    while (!self->failed && s_accept_operator (self, ".")) {
        span_t part = parser_name (self);
        name = span_of (name.data, (size_t)(part.data + part.size - name.data));
    }
    return name;
}

node_t *
parser_filter (parser_t *self, node_t *value)
{
    node_t *node = parser_node (self, NODE_FILTER);
    if (!node)
        return NULL;
    node->a = value;
    node->text = s_dotted_name (self);
    if (s_accept_operator (self, "("))
        parser_arguments (self, &node->arguments);
    return node;
}

static bool
s_ends_test (const parser_t *self)
{
    static const char *const words [] = { "else", "or", "and", "is", "if", "in", "not" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (parser_is (self, TOKEN_NAME, words [i]))
            return true;
    return false;
}

//  A test may take one argument without brackets: x is divisibleby 3.
static void
s_bare_argument (parser_t *self, node_t *test)
{
    token_kind_t kind = self->token.kind;
    bool begins = kind == TOKEN_NAME || kind == TOKEN_STRING || kind == TOKEN_INTEGER || kind == TOKEN_FLOAT ||
                  parser_is (self, TOKEN_OPERATOR, "[") || parser_is (self, TOKEN_OPERATOR, "{");
    if (!begins || s_ends_test (self))
        return;
    parser_add_argument (self, &test->arguments, (argument_t){ .value = s_unary (self, false) });
}

static node_t *
s_test (parser_t *self, node_t *value)
{
    bool negated = parser_accept (self, TOKEN_NAME, "not");
    node_t *node = parser_node (self, NODE_TEST);
    if (!node)
        return NULL;
    node->a = value;
    node->text = s_dotted_name (self);
    if (s_accept_operator (self, "("))
        parser_arguments (self, &node->arguments);
    else
        s_bare_argument (self, node);
    return negated ? s_pair (self, NODE_NOT, 0, node, NULL) : node;
}

static node_t *
s_postfix (parser_t *self, node_t *value)
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
parser_filters (parser_t *self, node_t *value)
{
    while (!self->failed) {
        if (s_accept_operator (self, "|"))
            value = parser_filter (self, value);
        else if (parser_accept (self, TOKEN_NAME, "is"))
            value = s_test (self, value);
        else if (s_accept_operator (self, "("))
            value = s_call (self, value);
        else
            break;
    }
    return value;
}

//  ---- Operators, the loosest last ----

static node_t *
s_unary (parser_t *self, bool filters)
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
    return s_leave (self, filters ? parser_filters (self, node) : node);
}

static node_t *
s_power (parser_t *self)
{
    node_t *left = s_unary (self, true);
    while (!self->failed && s_accept_operator (self, "**"))
        left = s_pair (self, NODE_BINARY, OP_POWER, left, s_unary (self, true));
    return left;
}

static node_t *
s_product (parser_t *self)
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
s_concat (parser_t *self)
{
    node_t *first = s_product (self);
    if (!parser_is (self, TOKEN_OPERATOR, "~"))
        return first;
    node_t *node = parser_node (self, NODE_CONCAT);
    if (!node)
        return NULL;
    parser_add (self, &node->items, first);
    while (!self->failed && s_accept_operator (self, "~"))
        parser_add (self, &node->items, s_product (self));
    return node;
}

static node_t *
s_sum (parser_t *self)
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
s_comparison (parser_t *self, op_t *op)
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
    if (parser_accept (self, TOKEN_NAME, "in"))
        return true;
    *op = OP_NOT_IN;
    if (!parser_accept (self, TOKEN_NAME, "not"))
        return false;
    parser_expect (self, TOKEN_NAME, "in");
    return true;
}

static node_t *
s_compare (parser_t *self)
{
    op_t op;
    node_t *first = s_sum (self);
    if (self->failed || !s_comparison (self, &op))
        return first;
    node_t *node = parser_node (self, NODE_COMPARE);
    if (!node)
        return NULL;
    node->a = first;
    do
        parser_add (self, &node->items, s_pair (self, NODE_OPERAND, op, s_sum (self), NULL));
    while (!self->failed && s_comparison (self, &op));
    return node;
}

static node_t *
s_not (parser_t *self)
{
    if (!parser_accept (self, TOKEN_NAME, "not"))
        return s_compare (self);
    if (!s_enter (self))
        return s_leave (self, NULL);
    node_t *node = s_pair (self, NODE_NOT, 0, s_not (self), NULL);
    return s_leave (self, node);
}

static node_t *
s_and (parser_t *self)
{
    node_t *left = s_not (self);
    while (!self->failed && parser_accept (self, TOKEN_NAME, "and"))
        left = s_pair (self, NODE_AND, 0, left, s_not (self));
    return left;
}

node_t *
parser_expression_no_choice (parser_t *self)
{
    node_t *left = s_and (self);
    while (!self->failed && parser_accept (self, TOKEN_NAME, "or"))
        left = s_pair (self, NODE_OR, 0, left, s_and (self));
    return left;
}

static node_t *
s_choice (parser_t *self)
{
    node_t *value = parser_expression_no_choice (self);
    while (!self->failed && parser_accept (self, TOKEN_NAME, "if")) {
        node_t *node = parser_node (self, NODE_CHOICE);
        if (!node)
            return NULL;
        node->a = value;
        node->b = parser_expression_no_choice (self);
        if (parser_accept (self, TOKEN_NAME, "else"))
            node->c = s_choice (self);
        value = node;
    }
    return value;
}

static bool
s_ends_tuple (const parser_t *self)
{
    token_kind_t kind = self->token.kind;
    return kind == TOKEN_BLOCK_END || kind == TOKEN_PRINT_END || parser_is (self, TOKEN_OPERATOR, ")");
}

node_t *
parser_expression (parser_t *self, bool tuple)
{
    if (!s_enter (self))
        return s_leave (self, NULL);
    node_t *first = s_choice (self);
    if (!tuple || self->failed || !parser_is (self, TOKEN_OPERATOR, ","))
        return s_leave (self, first);
    node_t *node = parser_node (self, NODE_TUPLE);
    if (!node)
        return s_leave (self, NULL);
    parser_add (self, &node->items, first);
    while (!self->failed && s_accept_operator (self, ",") && !s_ends_tuple (self))
        parser_add (self, &node->items, s_choice (self));
    return s_leave (self, node);
}

//  ---- Targets ----

static node_t *
s_single_target (parser_t *self)
{
    if (s_accept_operator (self, "(")) {
        node_t *inner = parser_target (self);
        parser_expect (self, TOKEN_OPERATOR, ")");
        return inner;
    }
    node_t *name = parser_node (self, NODE_NAME);
    if (!name)
        return NULL;
    name->text = parser_name (self);
    if (!s_accept_operator (self, "."))
        return name;
    node_t *node = parser_node (self, NODE_ATTRIBUTE);
    if (!node)
        return NULL;
    node->a = name;
    node->text = parser_name (self);
    return node;
}

node_t *
parser_target (parser_t *self)
{
    if (!s_enter (self))
        return s_leave (self, NULL);
    node_t *first = s_single_target (self);
    if (self->failed || !parser_is (self, TOKEN_OPERATOR, ","))
        return s_leave (self, first);
    node_t *node = parser_node (self, NODE_TUPLE);
    if (!node)
        return s_leave (self, NULL);
    parser_add (self, &node->items, first);
    while (!self->failed && s_accept_operator (self, ",") && self->token.kind == TOKEN_NAME &&
           !parser_is (self, TOKEN_NAME, "in"))
        parser_add (self, &node->items, s_single_target (self));
    return s_leave (self, node);
}
