#include "model/template/syntax.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 100, ARGUMENTS_MAX = 1000 };

//  ---- What both files use -------------------------------------------------------------------------------------------

node_t *
syntax_fail (syntax_t *self, const char *format, ...)
{
    char text [256];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    if (!self->failed)
        error_set (self->error, STATUS_INVALID, "line %u: %s", self->token.line, text);
    self->failed = true;
    return NULL;
}

static void *
s_alloc (syntax_t *self, size_t size)
{
    void *memory = arena_new (self->arena, size);
    if (!memory)
        syntax_fail (self, "the template is too large");
    return memory;
}

node_t *
syntax_node (syntax_t *self, node_kind_t kind)
{
    node_t *node = self->failed ? NULL : s_alloc (self, sizeof *node);
    if (!node)
        return NULL;
    node->kind = kind;
    node->line = self->token.line;
    return node;
}

//  Room for one more in a row that doubles; NULL where there is none.
static void *
s_grow (syntax_t *self, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity || self->failed)
        return self->failed ? NULL : items;
    size_t wanted = *capacity ? *capacity * 2 : 4;
    void *grown = s_alloc (self, wanted * size);
    if (grown && count)
        memcpy (grown, items, count * size);
    if (grown)
        *capacity = wanted;
    return grown;
}

void
syntax_add (syntax_t *self, nodes_t *nodes, node_t *node)
{
    if (self->failed || !node)
        return;
    node_t **items = s_grow (self, nodes->items, nodes->count, &nodes->capacity, sizeof *items);
    if (!items)
        return;
    nodes->items = items;
    nodes->items [nodes->count++] = node;
}

void
syntax_add_argument (syntax_t *self, arguments_t *arguments, argument_t argument)
{
    if (self->failed)
        return;
    if (arguments->count == ARGUMENTS_MAX) {
        syntax_fail (self, "more than %d arguments", ARGUMENTS_MAX);
        return;
    }
    argument_t *items = s_grow (self, arguments->items, arguments->count, &arguments->capacity, sizeof *items);
    if (!items)
        return;
    arguments->items = items;
    arguments->items [arguments->count++] = argument;
}

void
syntax_next (syntax_t *self)
{
    if (!self->failed && lexer_next (&self->lexer, &self->token, self->error))
        self->failed = true;
}

bool
syntax_is (const syntax_t *self, token_kind_t kind, const char *text)
{
    return self->token.kind == kind && (!text || span_equal_string (self->token.text, text));
}

bool
syntax_accept (syntax_t *self, token_kind_t kind, const char *text)
{
    if (self->failed || !syntax_is (self, kind, text))
        return false;
    syntax_next (self);
    return true;
}

void
syntax_expect (syntax_t *self, token_kind_t kind, const char *text)
{
    const char *wanted = text                      ? text
                         : kind == TOKEN_BLOCK_END ? "%}"
                         : kind == TOKEN_PRINT_END ? "}}"
                         : kind == TOKEN_NAME      ? "a name"
                                                   : "a tag";
    bool ends_tag = kind == TOKEN_BLOCK_END || kind == TOKEN_PRINT_END;
    if (ends_tag && self->unknown.size && !self->failed)
        syntax_fail (self, "no filter or test is named '%.*s'", SPAN_ARG (span_slice (self->unknown, 0, 40)));
    if (syntax_accept (self, kind, text) || self->failed)
        return;
    syntax_fail (self, "expected %s, found '%.*s'", wanted, SPAN_ARG (span_slice (self->token.text, 0, 40)));
}

span_t
syntax_name (syntax_t *self)
{
    span_t name = self->token.text;
    syntax_expect (self, TOKEN_NAME, NULL);
    return name;
}

//  ---- Statements ----------------------------------------------------------------------------------------------------

typedef node_t *(statement_fn)(syntax_t *self);

static bool
s_at_end_word (const syntax_t *self, const char *const *ends)
{
    for (; *ends; ends++)
        if (syntax_is (self, TOKEN_NAME, *ends))
            return true;
    return false;
}

static node_t *s_statement (syntax_t *self);

//  What a body is besides its statements.
typedef struct {
    uint32_t loops;    //  Around it
    bool soft;         //  As in syntax_t
    unsigned uses;     //  As in syntax_t
} place_t;

//  Enters a body with a scope of its own; loops: those around it that break and continue may mean.
static place_t
s_enter_scope (syntax_t *self, uint32_t loops)
{
    place_t outer = { self->loops, self->soft, self->uses };
    self->loops = loops;
    self->soft = false;
    self->uses = 0;
    return outer;
}

static void
s_leave_scope (syntax_t *self, place_t outer)
{
    self->loops = outer.loops;
    self->soft = outer.soft;
    self->uses |= outer.uses;
}

//  Everything up to a tag whose first word is one of `ends` (NULL-terminated; empty: the template's end).  The word is
//  the present token afterwards.
static void
s_body (syntax_t *self, nodes_t *body, const char *const *ends)
{
    if (++self->depth > DEPTH_MAX)
        syntax_fail (self, "blocks are nested too deep");
    while (!self->failed && self->token.kind != TOKEN_END) {
        if (self->token.kind == TOKEN_TEXT) {
            node_t *node = syntax_node (self, NODE_OUTPUT);
            if (node)
                node->text = self->token.text;
            syntax_add (self, body, node);
            syntax_next (self);
        } else if (syntax_accept (self, TOKEN_PRINT_BEGIN, NULL)) {
            node_t *node = syntax_node (self, NODE_PRINT);
            if (node)
                node->a = syntax_expression (self, true);
            syntax_add (self, body, node);
            syntax_expect (self, TOKEN_PRINT_END, NULL);
        } else {
            syntax_expect (self, TOKEN_BLOCK_BEGIN, NULL);
            if (self->failed || s_at_end_word (self, ends))
                break;
            syntax_add (self, body, s_statement (self));
        }
    }
    if (!self->failed && self->token.kind == TOKEN_END && *ends)
        syntax_fail (self, "the template ends inside a block that %s would close", *ends);
    self->depth--;
}

static void
s_close (syntax_t *self, const char *word)
{
    syntax_expect (self, TOKEN_NAME, word);
    if (!self->failed && strcmp (word, "endblock") == 0 && self->token.kind == TOKEN_NAME)
        syntax_next (self);    //  {% endblock name %}
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
}

static node_t *
s_if (syntax_t *self)
{
    static const char *const ends [] = { "endif", "else", "elif", NULL };
    static const char *const last [] = { "endif", NULL };
    node_t *node = syntax_node (self, NODE_IF);
    bool soft = self->soft;
    if (!node)
        return NULL;
    self->soft = true;
    node->a = syntax_expression_no_choice (self);
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    s_body (self, &node->body, ends);
    if (syntax_accept (self, TOKEN_NAME, "elif")) {
        if (++self->depth > DEPTH_MAX)
            syntax_fail (self, "elif follows elif too often");
        syntax_add (self, &node->otherwise, s_if (self));
        self->depth--;
    } else {
        if (syntax_accept (self, TOKEN_NAME, "else")) {
            syntax_expect (self, TOKEN_BLOCK_END, NULL);
            s_body (self, &node->otherwise, last);
        }
        s_close (self, "endif");
    }
    self->soft = soft;
    return node;
}

static node_t *
s_for (syntax_t *self)
{
    static const char *const ends [] = { "endfor", "else", NULL };
    static const char *const last [] = { "endfor", NULL };
    node_t *node = syntax_node (self, NODE_FOR);
    if (!node)
        return NULL;
    node->a = syntax_target (self, false);
    syntax_expect (self, TOKEN_NAME, "in");
    node->b = syntax_expression_no_choice (self);
    if (syntax_accept (self, TOKEN_NAME, "if"))
        node->c = syntax_expression (self, false);
    node->op = syntax_accept (self, TOKEN_NAME, "recursive");
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    place_t outer = s_enter_scope (self, self->loops + 1);
    s_body (self, &node->body, ends);
    self->loops = outer.loops;
    if (syntax_accept (self, TOKEN_NAME, "else")) {
        syntax_expect (self, TOKEN_BLOCK_END, NULL);
        s_body (self, &node->otherwise, last);
    }
    s_leave_scope (self, outer);
    s_close (self, "endfor");
    return node;
}

static node_t *
s_set (syntax_t *self)
{
    static const char *const ends [] = { "endset", NULL };
    node_t *node = syntax_node (self, NODE_SET);
    if (!node)
        return NULL;
    node->a = syntax_target (self, true);
    if (syntax_accept (self, TOKEN_OPERATOR, "=")) {
        node->b = syntax_expression (self, true);
        syntax_expect (self, TOKEN_BLOCK_END, NULL);
        return node;
    }
    node->kind = NODE_SET_BLOCK;
    node->b = syntax_filters (self, NULL);
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    place_t outer = s_enter_scope (self, 0);
    s_body (self, &node->body, ends);
    s_leave_scope (self, outer);
    s_close (self, "endset");
    return node;
}

//  The body of what is called: names only a macro has are noted in op.
static void
s_macro_body (syntax_t *self, node_t *node, const char *const *ends)
{
    place_t outer = s_enter_scope (self, 0);
    s_body (self, &node->body, ends);
    node->op = self->uses;
    s_leave_scope (self, outer);
    s_close (self, ends [0]);
}

static node_t *
s_macro (syntax_t *self)
{
    static const char *const ends [] = { "endmacro", NULL };
    node_t *node = syntax_node (self, NODE_MACRO);
    if (!node)
        return NULL;
    node->text = syntax_target_name (self);
    syntax_expect (self, TOKEN_OPERATOR, "(");
    syntax_parameters (self, &node->arguments);
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    s_macro_body (self, node, ends);
    return node;
}

static node_t *
s_call_block (syntax_t *self)
{
    static const char *const ends [] = { "endcall", NULL };
    node_t *node = syntax_node (self, NODE_CALL_BLOCK);
    if (!node)
        return NULL;
    node->text = SPAN ("caller");
    if (syntax_accept (self, TOKEN_OPERATOR, "("))
        syntax_parameters (self, &node->arguments);
    node->a = syntax_expression (self, false);
    if (!self->failed && node->a->kind != NODE_CALL)
        return syntax_fail (self, "a call block needs a call");
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    s_macro_body (self, node, ends);
    return node;
}

//  A body with a scope of its own behind a tag that was read.
static node_t *
s_scoped_body (syntax_t *self, node_t *node, const char *const *ends)
{
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    place_t outer = s_enter_scope (self, 0);
    s_body (self, &node->body, ends);
    s_leave_scope (self, outer);
    s_close (self, ends [0]);
    return node;
}

static node_t *
s_filter_block (syntax_t *self)
{
    static const char *const ends [] = { "endfilter", NULL };
    node_t *node = syntax_node (self, NODE_FILTER_BLOCK);
    if (!node)
        return NULL;
    node->b = syntax_filters (self, syntax_filter (self, NULL));
    return s_scoped_body (self, node, ends);
}

static node_t *
s_generation (syntax_t *self)
{
    static const char *const ends [] = { "endgeneration", NULL };
    node_t *node = syntax_node (self, NODE_GENERATION);
    return node ? s_scoped_body (self, node, ends) : NULL;
}

static node_t *
s_block (syntax_t *self)
{
    static const char *const ends [] = { "endblock", NULL };
    node_t *node = syntax_node (self, NODE_BLOCK);
    if (!node)
        return NULL;
    node->text = syntax_name (self);
    return s_scoped_body (self, node, ends);
}

//  with a = 1, b = 2: the values see what is outside.
static node_t *
s_with (syntax_t *self)
{
    static const char *const ends [] = { "endwith", NULL };
    node_t *node = syntax_node (self, NODE_WITH);
    while (node && !self->failed && self->token.kind != TOKEN_BLOCK_END) {
        if (node->arguments.count)
            syntax_expect (self, TOKEN_OPERATOR, ",");
        argument_t variable = { .name = syntax_target_name (self) };
        syntax_expect (self, TOKEN_OPERATOR, "=");
        variable.value = syntax_expression (self, false);
        syntax_add_argument (self, &node->arguments, variable);
    }
    return node ? s_scoped_body (self, node, ends) : NULL;
}

static node_t *
s_autoescape (syntax_t *self)
{
    static const char *const ends [] = { "endautoescape", NULL };
    node_t *node = syntax_node (self, NODE_AUTOESCAPE);
    if (!node)
        return NULL;
    node->a = syntax_expression (self, false);
    return s_scoped_body (self, node, ends);
}

static node_t *
s_loop_control (syntax_t *self, node_kind_t kind, const char *word)
{
    node_t *node = syntax_node (self, kind);
    if (!self->loops)
        return syntax_fail (self, "'%s' outside of a loop", word);
    syntax_expect (self, TOKEN_BLOCK_END, NULL);
    return node;
}

static node_t *
s_break (syntax_t *self)
{
    return s_loop_control (self, NODE_BREAK, "break");
}

static node_t *
s_continue (syntax_t *self)
{
    return s_loop_control (self, NODE_CONTINUE, "continue");
}

static const struct {
    const char *word;       //  First of the tag
    statement_fn *parse;    //  The rest
} s_statements [] = {
    { "if", s_if },
    { "for", s_for },
    { "set", s_set },
    { "macro", s_macro },
    { "call", s_call_block },
    { "filter", s_filter_block },
    { "generation", s_generation },
    { "block", s_block },
    { "with", s_with },
    { "autoescape", s_autoescape },
    { "break", s_break },
    { "continue", s_continue },
};

static node_t *
s_statement (syntax_t *self)
{
    for (size_t i = 0; i < sizeof s_statements / sizeof *s_statements; i++)
        if (syntax_accept (self, TOKEN_NAME, s_statements [i].word))
            return s_statements [i].parse (self);
    return syntax_fail (self, "unknown tag '%.*s'", SPAN_ARG (span_slice (self->token.text, 0, 40)));
}

status_t
syntax_parse (syntax_t *self, span_t source, arena_t *arena, nodes_t *body, error_t *error)
{
    static const char *const no_ends [] = { NULL };
    error_t unasked;
    *self = (syntax_t){ .arena = arena, .error = error ? error : &unasked };
    error_clear (self->error);
    lexer_init (&self->lexer, source, arena);
    syntax_next (self);
    s_body (self, body, no_ends);
    return self->failed ? self->error->status : STATUS_OK;
}
