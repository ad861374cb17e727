#include "model/template/render.h"

#include <string.h>

#include "model/template/template.h"

//  ---- Assigning ----

static void
s_assign (render_t *self, const node_t *target, value_t value)
{
    if (value_heap_failed (&self->heap))
        return;
    if (target->kind == NODE_NAME) {
        render_set (self, target->text, value);
        return;
    }
    if (target->kind == NODE_ATTRIBUTE) {
        value_t object = evaluate (self, target->a);
        if (object.kind == VALUE_NAMESPACE)
            value_dict_set (&self->heap, object.as.dict, value_text (target->text), value);
        else
            value_fail (&self->heap, "TemplateRuntimeError: cannot assign attribute on non-namespace object");
        return;
    }
    value_t *items;
    size_t count;
    if (!value_items (&self->heap, value, &items, &count))
        return;
    if (count != target->items.count) {
        value_fail (&self->heap, "ValueError: %s values to unpack (expected %zu, got %zu)",
            count > target->items.count ? "too many" : "not enough", target->items.count, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        s_assign (self, target->items.items [i], items [i]);
}

//  ---- Captured output ----

//  Runs a body with its output in a text of its own.
static value_t
s_capture (render_t *self, const nodes_t *body)
{
    buffer_t text = { 0 };
    buffer_t *outer = self->out;
    self->out = &text;
    execute (self, body);
    self->out = outer;
    return value_take_buffer (&self->heap, &text);
}

static void
s_write (render_t *self, span_t text)
{
    if (text.size > self->out_max - self->out->size) {
        value_fail (&self->heap, "the output is larger than a rendering may give");
        self->heap.error.status = STATUS_LIMIT;
        return;
    }
    buffer_append (self->out, text);
}

static void
s_print (render_t *self, value_t value)
{
    if (value.kind == VALUE_STRING) {
        s_write (self, value.as.text);
        return;
    }
    value_print (&self->heap, value, self->out);
    if (self->out->size > self->out_max)
        s_write (self, SPAN ("x"));
}

//  Filters of a block: the innermost has no value and takes this one.
static value_t
s_apply_filters (render_t *self, const node_t *filters, value_t input)
{
    if (!filters)
        return input;
    if (!render_enter (self)) {
        render_leave (self);
        return input;
    }
    node_t filter = *filters;
    node_t literal = { .kind = NODE_LITERAL, .line = filters->line };
    literal.value = filters->a ? s_apply_filters (self, filters->a, input) : input;
    filter.a = &literal;
    value_t result = evaluate (self, &filter);
    render_leave (self);
    return result;
}

//  ---- Loops ----

//  The items that pass the loop's own `if`.
static value_t
s_filtered (render_t *self, const node_t *node, value_t *items, size_t count)
{
    value_t kept = value_new_list (&self->heap, VALUE_LIST);
    scope_t *outer = self->scope;
    for (size_t i = 0; i < count && value_step (&self->heap, 1); i++) {
        render_push (self, outer);
        s_assign (self, node->a, items [i]);
        if (value_is_true (evaluate (self, node->c)))
            value_list_add (&self->heap, kept.as.list, items [i]);
    }
    self->scope = outer;
    return kept;
}

//  Notes a seam, where an outermost loop stands between two turns.
static void
s_mark_seam (render_t *self)
{
    array_t *seams = self->seams;
    size_t at = self->prompt->size - self->prompt_at;
    if (!seams || self->out != self->prompt || self->loops != 1)
        return;
    size_t count = seams->count - self->seams_from;
    size_t last = count ? *(size_t *)array_at (seams, seams->count - 1) : 0;
    if (at > last && count < TEMPLATE_SEAMS_MAX)
        array_append (seams, &at, 1);
}

static void
s_iterate (render_t *self, const node_t *node, value_loop_t *loop)
{
    scope_t *outer = self->scope;
    value_t loop_value = { .kind = VALUE_LOOP, .as.loop = loop };
    self->loops++;
    for (; loop->index < loop->count && value_step (&self->heap, 1); loop->index++) {
        s_mark_seam (self);
        render_push (self, outer);
        render_set (self, SPAN ("loop"), loop_value);
        s_assign (self, node->a, loop->items [loop->index]);
        execute (self, &node->body);
        bool stop = self->flow == FLOW_BREAK;
        self->flow = FLOW_ON;
        if (stop)
            break;
    }
    s_mark_seam (self);
    self->loops--;
    self->scope = outer;
}

void
execute_loop (render_t *self, const node_t *node, value_t iterable, uint32_t depth)
{
    value_loop_t *loop = value_alloc (&self->heap, sizeof *loop);
    if (!loop || !value_items (&self->heap, iterable, &loop->items, &loop->count))
        return;
    loop->node = node;
    loop->depth = depth;
    if (node->c) {
        value_t kept = s_filtered (self, node, loop->items, loop->count);
        if (value_heap_failed (&self->heap))
            return;
        loop->items = kept.as.list->items;
        loop->count = kept.as.list->count;
    }
    if (loop->count)
        s_iterate (self, node, loop);
    else
        execute (self, &node->otherwise);
}

//  ---- Macros ----

static value_t
s_macro_value (render_t *self, const node_t *node)
{
    value_t value = { .kind = VALUE_FUNCTION };
    value.as.function = value_alloc (&self->heap, sizeof *value.as.function);
    if (!value.as.function)
        return (value_t){ 0 };
    value.as.function->macro = node;
    value.as.function->scope = self->scope;
    return value;
}

static void
s_call_block (render_t *self, const node_t *node)
{
    value_t caller = s_macro_value (self, node);
    value_t function = evaluate (self, node->a->a);
    if (value_heap_failed (&self->heap))
        return;
    if (function.kind != VALUE_FUNCTION || !function.as.function->macro) {
        value_fail (&self->heap, "a call block calls macros only");
        return;
    }
    value_function_t with_caller = *function.as.function;
    with_caller.caller = caller;
    node_t callee = { .kind = NODE_LITERAL, .line = node->line };
    callee.value = (value_t){ .kind = VALUE_FUNCTION, .as.function = &with_caller };
    node_t call = *node->a;
    call.a = &callee;
    s_print (self, evaluate (self, &call));
}

//  Parameters become variables: positional, keyword, default, undefined; what is left over is an error, or varargs.
static void
s_bind (render_t *self, const node_t *macro, const args_t *args)
{
    const arguments_t *parameters = &macro->arguments;
    for (size_t i = 0; i < parameters->count && !value_heap_failed (&self->heap); i++) {
        const argument_t *parameter = &parameters->items [i];
        char name [128];
        span_copy_string (parameter->name, name, sizeof name);
        const value_t *given = args_get (args, i, name);
        if (given)
            render_set (self, parameter->name, *given);
        else if (parameter->value)
            render_set (self, parameter->name, evaluate (self, parameter->value));
        else
            render_set (self, parameter->name, value_undefined (&self->heap, "parameter '%s' was not provided", name));
    }
    if (args->count > parameters->count)
        value_fail (&self->heap, "TypeError: macro '%.*s' takes not more than %zu argument(s)", SPAN_ARG (macro->text),
            parameters->count);
}

static value_t
s_call_macro (render_t *self, const value_function_t *function, const args_t *args)
{
    scope_t *outer = self->scope;
    value_t result = { 0 };
    flow_t flow = self->flow;
    if (render_enter (self)) {
        render_push (self, function->scope);
        if (function->caller.kind == VALUE_FUNCTION)
            render_set (self, SPAN ("caller"), function->caller);
        s_bind (self, function->macro, args);
        result = s_capture (self, &function->macro->body);
    }
    render_leave (self);
    self->flow = flow;
    self->scope = outer;
    return result;
}

//  loop (items): the loop's body once more, one level deeper.
static value_t
s_call_loop (render_t *self, value_loop_t *loop, const args_t *args)
{
    buffer_t text = { 0 };
    buffer_t *outer = self->out;
    if (!loop->node->op || args->count != 1)
        return value_fail (&self->heap, "TypeError: this loop is not recursive");
    self->out = &text;
    if (render_enter (self))
        execute_loop (self, loop->node, args->items [0], loop->depth + 1);
    render_leave (self);
    self->out = outer;
    return value_take_buffer (&self->heap, &text);
}

value_t
render_call (render_t *self, value_t function, const args_t *args)
{
    if (value_heap_failed (&self->heap))
        return (value_t){ 0 };
    if (function.kind == VALUE_UNDEFINED)
        return render_undefined_error (self, function);
    if (function.kind == VALUE_LOOP)
        return s_call_loop (self, function.as.loop, args);
    if (function.kind != VALUE_FUNCTION)
        return value_fail (&self->heap, "TypeError: '%s' object is not callable", value_type_name (function));
    if (function.as.function->builtin)
        return function.as.function->builtin->call (self, function.as.function->self, args);
    return s_call_macro (self, function.as.function, args);
}

//  ---- Statements ----

//  The scope of a captured body: what it sets stays inside.
static value_t
s_capture_in_scope (render_t *self, const nodes_t *body)
{
    scope_t *outer = self->scope;
    render_push (self, outer);
    value_t text = s_capture (self, body);
    self->scope = outer;
    return text;
}

static void
s_statement (render_t *self, const node_t *node)
{
    switch (node->kind) {
    case NODE_OUTPUT:
        s_write (self, node->text);
        break;
    case NODE_PRINT:
        s_print (self, evaluate (self, node->a));
        break;
    case NODE_IF:
        execute (self, value_is_true (evaluate (self, node->a)) ? &node->body : &node->otherwise);
        break;
    case NODE_FOR:
        execute_loop (self, node, evaluate (self, node->b), 0);
        break;
    case NODE_SET:
        s_assign (self, node->a, evaluate (self, node->b));
        break;
    case NODE_SET_BLOCK:
        s_assign (self, node->a, s_apply_filters (self, node->b, s_capture_in_scope (self, &node->body)));
        break;
    case NODE_MACRO:
        render_set (self, node->text, s_macro_value (self, node));
        break;
    case NODE_CALL_BLOCK:
        s_call_block (self, node);
        break;
    case NODE_FILTER_BLOCK:
        s_print (self, s_apply_filters (self, node->b, s_capture_in_scope (self, &node->body)));
        break;
    case NODE_BREAK:
        self->flow = FLOW_BREAK;
        break;
    case NODE_CONTINUE:
        self->flow = FLOW_CONTINUE;
        break;
    case NODE_BLOCK:
        execute (self, &node->body);
        break;
    default:
        value_fail (&self->heap, "this is no statement");
    }
}

void
execute (render_t *self, const nodes_t *body)
{
    bool entered = render_enter (self);
    for (size_t i = 0; entered && i < body->count && self->flow == FLOW_ON && !value_heap_failed (&self->heap); i++) {
        self->line = body->items [i]->line;
        s_statement (self, body->items [i]);
    }
    render_leave (self);
}
