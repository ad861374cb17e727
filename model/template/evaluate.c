#include "model/template/render.h"

#include <string.h>

//  ---- Small things --------------------------------------------------------------------------------------------------

bool
render_enter (render_t *self)
{
    if (++self->depth > RENDER_DEPTH_MAX)
        value_fail (&self->heap, "the template recurses too deep");
    return value_step (&self->heap, 1);
}

void
render_leave (render_t *self)
{
    self->depth--;
}

value_t
render_undefined_error (render_t *self, value_t value)
{
    return value_fail (&self->heap, "UndefinedError: %.*s", SPAN_ARG (value.as.text));
}

const builtin_t *
builtin_find (const builtin_t *table, span_t name)
{
    for (; table->name; table++)
        if (span_equal_string (name, table->name))
            return table;
    return NULL;
}

//  ---- Names ---------------------------------------------------------------------------------------------------------

enum { VARIABLES_A_STEP = 16, ARGUMENTS_KEPT = 4 };

static value_t *
s_find (render_t *self, span_t name)
{
    for (const scope_t *scope = self->scope; scope; scope = scope->parent) {
        if (!value_step (&self->heap, scope->count / VARIABLES_A_STEP))
            return NULL;
        for (size_t i = scope->count; i > 0; i--)
            if (value_same_text (&self->heap, scope->variables [i - 1].name, name))
                return &scope->variables [i - 1].value;
    }
    return NULL;
}

//  Scopes lie in the heap: a macro keeps the one it was defined in.
void
render_push (render_t *self, scope_t *parent)
{
    scope_t *scope = self->scopes;
    if (scope)
        self->scopes = scope->parent;
    else if (!(scope = value_alloc (&self->heap, sizeof *scope)))
        return;
    scope->parent = parent;
    self->scope = scope;
}

void
render_pop (render_t *self, scope_t *outer)
{
    scope_t *scope = self->scope;
    self->scope = outer;
    if (scope == outer || scope->kept)
        return;
    scope->count = 0;
    scope->parent = self->scopes;
    self->scopes = scope;
}

void
render_push_turn (render_t *self, scope_t *parent, scope_t **last)
{
    if (*last) {
        (*last)->count = 0;
        self->scope = *last;
        return;
    }
    render_push (self, parent);
    *last = self->scope != parent ? self->scope : NULL;
}

void
render_set (render_t *self, span_t name, value_t value)
{
    scope_t *scope = self->scope;
    if (!value_step (&self->heap, scope->count / VARIABLES_A_STEP))
        return;
    for (size_t i = 0; i < scope->count; i++)
        if (value_same_text (&self->heap, scope->variables [i].name, name)) {
            scope->variables [i].value = value;
            return;
        }
    if (scope->count == scope->capacity) {
        size_t capacity = scope->capacity ? scope->capacity * 2 : 8;
        variable_t *grown = value_alloc (&self->heap, capacity * sizeof *grown);
        if (!grown)
            return;
        if (scope->count)
            memcpy (grown, scope->variables, scope->count * sizeof *grown);
        scope->variables = grown;
        scope->capacity = capacity;
    }
    scope->variables [scope->count++] = (variable_t){ name, value };
}

value_t
render_function (render_t *self, const builtin_t *builtin, value_t bound)
{
    value_t value = { .kind = VALUE_FUNCTION };
    value.as.function = value_alloc (&self->heap, sizeof *value.as.function);
    if (!value.as.function)
        return (value_t){ 0 };
    value.as.function->builtin = builtin;
    value.as.function->self = bound;
    if (bound.kind == VALUE_LOOP)
        bound.as.loop->kept = true;
    return value;
}

static value_t
s_name (render_t *self, span_t name)
{
    value_t *found = s_find (self, name);
    if (found)
        return *found;
    const builtin_t *builtin = builtin_find (globals_table, name);
    if (builtin)
        return render_function (self, builtin, value_none ());
    return value_missing (&self->heap, NULL, name);
}

static value_t
s_comparison (render_t *self, const node_t *node)
{
    value_t left = evaluate (self, node->a);
    for (size_t i = 0; i < node->items.count; i++) {
        value_t right = evaluate (self, node->items.items [i]->a);
        if (value_heap_failed (&self->heap))
            return (value_t){ 0 };
        if (!render_compare (self, node->items.items [i]->op, left, right))
            return value_bool (false);
        left = right;
    }
    return value_bool (true);
}

static value_t
s_unary (render_t *self, const node_t *node)
{
    value_t value = evaluate (self, node->a);
    if (value.kind == VALUE_UNDEFINED)
        return render_undefined_error (self, value);
    if (value.kind == VALUE_BIG)
        return node->op == OP_PLUS ? value : value_too_large (&self->heap);
    if (!value_is_number (value))
        return value_fail (&self->heap, "TypeError: bad operand type for unary %c: '%s'",
            node->op == OP_MINUS ? '-' : '+', value_type_name (value));
    if (node->op == OP_PLUS)
        return value.kind == VALUE_BOOL ? value_int (value.as.truth) : value;
    if (value.kind == VALUE_FLOAT)
        return value_float (-value.as.real);
    return render_binary (self, OP_SUBTRACT, value_int (0), value);
}

static value_t
s_concat (render_t *self, const node_t *node)
{
    buffer_t text = { 0 };
    for (size_t i = 0; i < node->items.count && !value_heap_failed (&self->heap); i++)
        value_print (&self->heap, evaluate (self, node->items.items [i]), &text);
    return value_take_buffer (&self->heap, &text);
}

//  ---- Calls ---------------------------------------------------------------------------------------------------------

value_t
render_builtin (render_t *self, const builtin_t *builtin, value_t object, const args_t *args)
{
    if (object.kind == VALUE_STRING)
        value_scan (&self->heap, object.as.text);
    if (value_heap_failed (&self->heap) || !args_check (self, builtin->name, builtin->parameters, args))
        return (value_t){ 0 };
    return object.safe ? render_safe_method (self, builtin, object, args) : builtin->call (self, object, args);
}

//  Items that *value or **value spreads.
static size_t
s_spread_size (value_t value)
{
    return value.kind == VALUE_DICT ? value.as.dict->count : value_has_items (value) ? value.as.list->count : 0;
}

static void
s_add_keyword (args_t *args, span_t name, value_t value)
{
    args->names [args->keyword_count] = name;
    args->values [args->keyword_count++] = value;
}

static void
s_spread_items (render_t *self, args_t *args, value_t value)
{
    value_t *items;
    size_t count;
    if (value.kind == VALUE_STRING)
        value_fail (&self->heap, "a text is not spread into arguments");
    else if (value_items (&self->heap, value, &items, &count))
        for (size_t i = 0; i < count; i++)
            args->items [args->count++] = items [i];
}

static void
s_spread_pairs (render_t *self, args_t *args, value_t value)
{
    if (value.kind != VALUE_DICT) {
        value_fail (&self->heap, "TypeError: argument after ** must be a mapping, not %s", value_type_name (value));
        return;
    }
    for (size_t i = 0; i < value.as.dict->count; i++) {
        const value_pair_t *pair = &value.as.dict->pairs [i];
        if (pair->key.kind == VALUE_STRING)
            s_add_keyword (args, pair->key.as.text, pair->value);
        else
            value_fail (&self->heap, "TypeError: keywords must be strings");
    }
}

static void
s_add_argument (render_t *self, args_t *args, const argument_t *argument, value_t value)
{
    if (argument->name.size)
        s_add_keyword (args, argument->name, value);
    else if (argument->stars == 2)
        s_spread_pairs (self, args, value);
    else if (argument->stars == 1)
        s_spread_items (self, args, value);
    else
        args->items [args->count++] = value;
}

//  Where a few arguments lie during a call: the heap only grows, and loops call again and again.
typedef struct {
    value_t items [ARGUMENTS_KEPT];     //  Positional
    span_t names [ARGUMENTS_KEPT];      //  Of keywords
    value_t values [ARGUMENTS_KEPT];    //  Of keywords
} kept_t;

//  Evaluates arguments; *list and **dict spread, in the heap.
static args_t
s_spread_arguments (render_t *self, const arguments_t *arguments)
{
    args_t args = { 0 };
    size_t room = arguments->count + 1;
    value_t *values = arguments->count ? value_alloc (&self->heap, room * sizeof *values) : NULL;
    for (size_t i = 0; values && i < arguments->count && !value_heap_failed (&self->heap); i++) {
        values [i] = evaluate (self, arguments->items [i].value);
        room += arguments->items [i].stars ? s_spread_size (values [i]) : 0;
    }
    if (!values || value_heap_failed (&self->heap))
        return args;
    args.items = value_alloc (&self->heap, room * sizeof *args.items);
    args.names = value_alloc (&self->heap, room * sizeof *args.names);
    args.values = value_alloc (&self->heap, room * sizeof *args.values);
    for (size_t i = 0; i < arguments->count && !value_heap_failed (&self->heap); i++)
        s_add_argument (self, &args, &arguments->items [i], values [i]);
    return args;
}

//  kept: as long as the arguments are used.
static args_t
s_evaluate_arguments (render_t *self, const arguments_t *arguments, kept_t *kept)
{
    args_t args = { .items = kept->items, .names = kept->names, .values = kept->values };
    bool spreads = arguments->count > ARGUMENTS_KEPT;
    for (size_t i = 0; !spreads && i < arguments->count; i++)
        spreads = arguments->items [i].stars;
    if (spreads)
        return s_spread_arguments (self, arguments);
    for (size_t i = 0; i < arguments->count && !value_heap_failed (&self->heap); i++)
        s_add_argument (self, &args, &arguments->items [i], evaluate (self, arguments->items [i].value));
    return args;
}

//  What an attribute is taken of: a loop is not kept for that.
static value_t
s_object (render_t *self, const node_t *node)
{
    return node->kind == NODE_NAME && value_step (&self->heap, 1) ? s_name (self, node->text) : evaluate (self, node);
}

//  A method of an object is called without making a function of it first.
static value_t
s_call (render_t *self, const node_t *node)
{
    kept_t kept;
    if (node->a->kind == NODE_ATTRIBUTE) {
        value_t object = s_object (self, node->a->a);
        const builtin_t *method = render_find_method (object, node->a->text);
        args_t args = s_evaluate_arguments (self, &node->arguments, &kept);
        if (value_heap_failed (&self->heap))
            return (value_t){ 0 };
        return method ? render_builtin (self, method, object, &args)
                      : render_call (self, render_attribute (self, object, node->a->text), &args);
    }
    value_t function = evaluate (self, node->a);
    args_t args = s_evaluate_arguments (self, &node->arguments, &kept);
    return render_call (self, function, &args);
}

static value_t
s_filter (render_t *self, const node_t *node)
{
    kept_t kept;
    value_t input = evaluate (self, node->a);
    args_t args = s_evaluate_arguments (self, &node->arguments, &kept);
    return render_filter (self, node->text, input, &args);
}

static value_t
s_test (render_t *self, const node_t *node)
{
    kept_t kept;
    value_t input = evaluate (self, node->a);
    args_t args = s_evaluate_arguments (self, &node->arguments, &kept);
    return value_bool (render_test (self, node->text, input, &args));
}

static value_t
s_items (render_t *self, const node_t *node, value_kind_t kind)
{
    value_t list = value_new_list (&self->heap, kind);
    for (size_t i = 0; i < node->items.count && !value_heap_failed (&self->heap); i++)
        value_list_add (&self->heap, list.as.list, evaluate (self, node->items.items [i]));
    return list;
}

static value_t
s_dict (render_t *self, const node_t *node)
{
    value_t dict = value_new_dict (&self->heap, VALUE_DICT);
    for (size_t i = 0; i + 1 < node->items.count && !value_heap_failed (&self->heap); i += 2) {
        value_t key = evaluate (self, node->items.items [i]);
        value_dict_set (&self->heap, dict.as.dict, key, evaluate (self, node->items.items [i + 1]));
    }
    return dict;
}

static value_t
s_choice (render_t *self, const node_t *node)
{
    if (value_is_true (evaluate (self, node->b)))
        return evaluate (self, node->a);
    if (node->c)
        return evaluate (self, node->c);
    return value_undefined (&self->heap,
        "the inline if-expression on line %u evaluated to false and no else section was "
        "defined.",
        node->line);
}

static value_t
s_item (render_t *self, const node_t *node)
{
    value_t object = evaluate (self, node->a);
    if (!node->b)
        return value_fail (&self->heap, "an index is missing");
    return node->b->kind == NODE_SLICE ? render_slice (self, object, node->b)
                                       : render_item (self, object, evaluate (self, node->b));
}

static value_t
s_evaluate (render_t *self, const node_t *node)
{
    value_t a;
    switch (node->kind) {
    case NODE_LITERAL:
        return node->value;
    case NODE_NAME:
        a = s_name (self, node->text);
        if (a.kind == VALUE_LOOP)
            a.as.loop->kept = true;
        return a;
    case NODE_LIST:
        return s_items (self, node, VALUE_LIST);
    case NODE_TUPLE:
        return s_items (self, node, VALUE_TUPLE);
    case NODE_DICT:
        return s_dict (self, node);
    case NODE_UNARY:
        return s_unary (self, node);
    case NODE_BINARY:
        a = evaluate (self, node->a);
        return render_binary (self, node->op, a, evaluate (self, node->b));
    case NODE_COMPARE:
        return s_comparison (self, node);
    case NODE_AND:
        a = evaluate (self, node->a);
        return value_is_true (a) ? evaluate (self, node->b) : a;
    case NODE_OR:
        a = evaluate (self, node->a);
        return value_is_true (a) ? a : evaluate (self, node->b);
    case NODE_NOT:
        return value_bool (!value_is_true (evaluate (self, node->a)));
    case NODE_CHOICE:
        return s_choice (self, node);
    case NODE_CONCAT:
        return s_concat (self, node);
    case NODE_ATTRIBUTE:
        a = s_object (self, node->a);
        return value_heap_failed (&self->heap) ? a : render_attribute (self, a, node->text);
    case NODE_ITEM:
        return s_item (self, node);
    case NODE_CALL:
        return s_call (self, node);
    case NODE_FILTER:
        return s_filter (self, node);
    case NODE_TEST:
        return s_test (self, node);
    default:
        return value_fail (&self->heap, "this cannot be evaluated");
    }
}

value_t
evaluate (render_t *self, const node_t *node)
{
    value_t value = { 0 };
    if (render_enter (self))
        value = s_evaluate (self, node);
    render_leave (self);
    return value_heap_failed (&self->heap) ? (value_t){ 0 } : value;
}
