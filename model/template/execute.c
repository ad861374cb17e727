#include "model/template/render.h"

#include <string.h>

#include "model/template/template.h"

//  ---- Assigning -----------------------------------------------------------------------------------------------------

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

//  ---- Captured output -----------------------------------------------------------------------------------------------

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
    if (self->out->size > self->out_max || text.size > self->out_max - self->out->size) {
        value_fail (&self->heap, "the output is larger than a rendering may give");
        self->heap.error.status = STATUS_LIMIT;
        return;
    }
    value_write (&self->heap, text, self->out);
}

static void
s_print (render_t *self, value_t value)
{
    if (self->escapes && value.kind != VALUE_UNDEFINED)
        value = render_filter (self, SPAN ("escape"), value, &(args_t){ 0 });
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

//  ---- Loops ---------------------------------------------------------------------------------------------------------

//  The items that pass the loop's own `if`.
static value_t
s_filtered (render_t *self, const node_t *node, value_t *items, size_t count)
{
    value_t kept = value_new_list (&self->heap, VALUE_LIST);
    scope_t *outer = self->scope;
    scope_t *turn = NULL;
    for (size_t i = 0; i < count && value_step (&self->heap, 1); i++) {
        render_push_turn (self, outer, &turn);
        s_assign (self, node->a, items [i]);
        bool rebuilt = node->a->kind == NODE_TUPLE;    //  From what it was unpacked to
        if (value_is_true (evaluate (self, node->c)))
            value_list_add (&self->heap, kept.as.list, rebuilt ? evaluate (self, node->a) : items [i]);
    }
    render_pop (self, outer);
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

//  Goes on to the next item; false at the last one, where a loop that somebody has stays.
static bool
s_next_turn (value_loop_t *loop)
{
    if (loop->index + 1 == loop->count)
        return false;
    if (loop->text.size)
        loop->at += render_loop_item (loop, 0).as.text.size;
    loop->index++;
    return true;
}

static void
s_iterate (render_t *self, const node_t *node, value_loop_t *loop)
{
    scope_t *outer = self->scope;
    scope_t *turn = NULL;
    value_t loop_value = { .kind = VALUE_LOOP, .as.loop = loop };
    bool stop = !value_step (&self->heap, 1);
    self->loops++;
    while (!stop) {
        s_mark_seam (self);
        render_push_turn (self, outer, &turn);
        render_set (self, SPAN ("loop"), loop_value);
        s_assign (self, node->a, render_loop_item (loop, 0));
        execute (self, &node->body);
        stop = self->flow == FLOW_BREAK || !s_next_turn (loop) || !value_step (&self->heap, 1);
        self->flow = FLOW_ON;
    }
    s_mark_seam (self);
    self->loops--;
    render_pop (self, outer);
}

//  A range and a text are walked without items, unless they are filtered first.
static bool
s_open_loop (render_t *self, value_loop_t *loop, value_t iterable, bool filters)
{
    if (iterable.kind == VALUE_RANGE && !filters) {
        loop->range = iterable.as.list;
        loop->count = iterable.as.list->count;
        return true;
    }
    if (iterable.kind != VALUE_STRING || filters)
        return value_items (&self->heap, iterable, &loop->items, &loop->count);
    loop->text = iterable.as.text;
    loop->count = value_scan (&self->heap, loop->text) ? value_text_length (loop->text) : 0;
    return !value_heap_failed (&self->heap);
}

static value_loop_t *
s_take_loop (render_t *self)
{
    value_loop_t *loop = self->left;
    if (!loop)
        return value_alloc (&self->heap, sizeof *loop);
    self->left = loop->next;
    *loop = (value_loop_t){ 0 };
    return loop;
}

//  Where nobody has the loop it is used for the next one.
static void
s_leave_loop (render_t *self, value_loop_t *loop)
{
    if (loop->kept)
        return;
    loop->next = self->left;
    self->left = loop;
}

static void
s_loop (render_t *self, const node_t *node, value_t iterable, value_loop_t *loop)
{
    if (!s_open_loop (self, loop, iterable, node->c))
        return;
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

//  Runs a for node over what is iterable; depth for recursive loops.
static void
s_execute_loop (render_t *self, const node_t *node, value_t iterable, uint32_t depth)
{
    value_loop_t *loop = s_take_loop (self);
    if (!loop)
        return;
    loop->node = node;
    loop->depth = depth;
    s_loop (self, node, iterable, loop);
    s_leave_loop (self, loop);
}

//  ---- Macros --------------------------------------------------------------------------------------------------------

//  A macro may look into the scope later, at its loop, too.
static void
s_keep (scope_t *scope)
{
    scope->kept = true;
    for (size_t i = 0; i < scope->count; i++)
        if (scope->variables [i].value.kind == VALUE_LOOP)
            scope->variables [i].value.as.loop->kept = true;
}

static value_t
s_macro_value (render_t *self, const node_t *node)
{
    value_t value = { .kind = VALUE_FUNCTION };
    value.as.function = value_alloc (&self->heap, sizeof *value.as.function);
    if (!value.as.function)
        return (value_t){ 0 };
    value.as.function->macro = node;
    value.as.function->scope = self->scope;
    for (scope_t *scope = self->scope; scope && !scope->kept; scope = scope->parent)
        s_keep (scope);
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
        value_fail (&self->heap, "TypeError: a call block calls macros only");
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

//  The value of a parameter by position or name; undefined where it was not given.
static value_t
s_parameter (render_t *self, const arguments_t *parameters, size_t position, const args_t *args)
{
    const argument_t *parameter = &parameters->items [position];
    if (position < args->count)
        return args->items [position];
    for (size_t i = 0; i < args->keyword_count; i++)
        if (span_equal (args->names [i], parameter->name))
            return args->values [i];
    return parameter->value ? evaluate (self, parameter->value)
                            : value_undefined (&self->heap, "parameter '%.*s' was not provided",
                                  SPAN_ARG (span_slice (parameter->name, 0, 100)));
}

//  The position of a parameter that keywords may name; SIZE_MAX where there is none, or a position filled it.
static size_t
s_keyword_target (const arguments_t *parameters, span_t name, size_t filled)
{
    for (size_t i = filled; i < parameters->count; i++)
        if (span_equal (parameters->items [i].name, name))
            return i;
    return SIZE_MAX;
}

//  What no parameter took: kwargs and varargs where the macro speaks of them, else an error.
static void
s_bind_rest (render_t *self, const node_t *macro, const args_t *args)
{
    size_t count = macro->arguments.count;
    value_t names = value_new_dict (&self->heap, VALUE_DICT);
    value_t rest = value_new_list (&self->heap, VALUE_TUPLE);
    for (size_t i = 0; i < args->keyword_count && !value_heap_failed (&self->heap); i++)
        if (s_keyword_target (&macro->arguments, args->names [i], args->count) == SIZE_MAX)
            value_dict_set (&self->heap, names.as.dict, value_text (args->names [i]), args->values [i]);
    for (size_t i = count; i < args->count && !value_heap_failed (&self->heap); i++)
        value_list_add (&self->heap, rest.as.list, args->items [i]);
    if (value_heap_failed (&self->heap))
        return;
    if (names.as.dict->count && !(macro->op & MACRO_TAKES_KWARGS))
        value_fail (&self->heap, "TypeError: macro '%.*s' takes no keyword argument '%.*s'", SPAN_ARG (macro->text),
            SPAN_ARG (names.as.dict->pairs [0].key.as.text));
    if (rest.as.list->count && !(macro->op & MACRO_TAKES_VARARGS))
        value_fail (
            &self->heap, "TypeError: macro '%.*s' takes not more than %zu argument(s)", SPAN_ARG (macro->text), count);
    if (macro->op & MACRO_TAKES_KWARGS)
        render_set (self, SPAN ("kwargs"), names);
    if (macro->op & MACRO_TAKES_VARARGS)
        render_set (self, SPAN ("varargs"), rest);
}

//  A call block hands the macro a caller, if it speaks of one.
static void
s_bind_caller (render_t *self, const value_function_t *function)
{
    bool given = function->caller.kind == VALUE_FUNCTION;
    if (function->macro->op & MACRO_TAKES_CALLER)
        render_set (
            self, SPAN ("caller"), given ? function->caller : value_undefined (&self->heap, "No caller defined"));
    else if (given)
        value_fail (&self->heap, "TypeError: macro '%.*s' was invoked with two values for the special caller argument",
            SPAN_ARG (function->macro->text));
}

static value_t
s_call_macro (render_t *self, const value_function_t *function, const args_t *args)
{
    scope_t *outer = self->scope;
    const node_t *macro = function->macro;
    value_t result = { 0 };
    flow_t flow = self->flow;
    if (render_enter (self)) {
        render_push (self, function->scope);
        s_bind_caller (self, function);
        for (size_t i = 0; i < macro->arguments.count && !value_heap_failed (&self->heap); i++)
            render_set (self, macro->arguments.items [i].name, s_parameter (self, &macro->arguments, i, args));
        s_bind_rest (self, macro, args);
        result = s_capture (self, &macro->body);
        result.safe = self->escapes;
    }
    render_leave (self);
    self->flow = flow;
    render_pop (self, outer);
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
        s_execute_loop (self, loop->node, args->items [0], loop->depth + 1);
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
        return render_builtin (self, function.as.function->builtin, function.as.function->self, args);
    return s_call_macro (self, function.as.function, args);
}

//  ---- Statements ----------------------------------------------------------------------------------------------------

//  The scope of a captured body: what it sets stays inside.
static value_t
s_capture_in_scope (render_t *self, const nodes_t *body)
{
    scope_t *outer = self->scope;
    render_push (self, outer);
    value_t text = s_capture (self, body);
    render_pop (self, outer);
    return text;
}

//  A block sees the variables of the template, not of loops around it.
static void
s_block (render_t *self, const node_t *node)
{
    scope_t *outer = self->scope;
    scope_t *global = outer;
    while (global->parent && global->parent->parent)
        global = global->parent;
    render_push (self, global);
    execute (self, &node->body);
    render_pop (self, outer);
}

//  What its filters give is joined with what is around it as it is: only texts can be.
static void
s_filter_block (render_t *self, const node_t *node)
{
    value_t value = s_apply_filters (self, node->b, s_capture_in_scope (self, &node->body));
    if (value.kind == VALUE_STRING)
        s_print (self, value);
    else
        value_fail (&self->heap, "TypeError: expected str instance, %s found", value_type_name (value));
}

//  The values are those of the scope outside.
static void
s_with (render_t *self, const node_t *node)
{
    scope_t *outer = self->scope;
    render_push (self, outer);
    scope_t *inner = self->scope;
    for (size_t i = 0; i < node->arguments.count && !value_heap_failed (&self->heap); i++) {
        self->scope = outer;
        value_t value = evaluate (self, node->arguments.items [i].value);
        self->scope = inner;
        render_set (self, node->arguments.items [i].name, value);
    }
    execute (self, &node->body);
    render_pop (self, outer);
}

static void
s_autoescape (render_t *self, const node_t *node)
{
    scope_t *outer = self->scope;
    bool escapes = self->escapes;
    self->escapes = value_is_true (evaluate (self, node->a));
    render_push (self, outer);
    execute (self, &node->body);
    render_pop (self, outer);
    self->escapes = escapes;
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
        s_execute_loop (self, node, evaluate (self, node->b), 0);
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
        s_filter_block (self, node);
        break;
    case NODE_BREAK:
        self->flow = FLOW_BREAK;
        break;
    case NODE_CONTINUE:
        self->flow = FLOW_CONTINUE;
        break;
    case NODE_BLOCK:
        s_block (self, node);
        break;
    case NODE_GENERATION:
        s_print (self, s_capture_in_scope (self, &node->body));
        break;
    case NODE_WITH:
        s_with (self, node);
        break;
    case NODE_AUTOESCAPE:
        s_autoescape (self, node);
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
