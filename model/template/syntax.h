//  syntax - from tokens to a tree
//
//  Recursive descent over Jinja's grammar, with the extensions transformers uses: loop controls and {% generation %}.

#ifndef MODEL_TEMPLATE_SYNTAX_H
#define MODEL_TEMPLATE_SYNTAX_H

#include "model/template/ast.h"
#include "model/template/lexer.h"

typedef struct {
    lexer_t lexer;     //  Where tokens come from
    token_t token;     //  The next one
    arena_t *arena;    //  Of the tree
    uint32_t depth;    //  Of the recursion
    uint32_t loops;    //  Around the statement being parsed, since the last macro
    bool soft;         //  Inside an if and nothing closer: unknown filters and tests fail only where they are reached
    span_t unknown;    //  Filter or test of this tag that does not exist; empty: none
    unsigned uses;     //  MACRO_TAKES_... of names that occurred so far
    error_t *error;    //  First error
    bool failed;       //  Stop
} syntax_t;

//  Parses a whole template into its statements.  Borrows source, arena and error.
status_t syntax_parse (syntax_t *self, span_t source, arena_t *arena, nodes_t *body, error_t *error);

//  ---- Between parser.c (statements) and syntax_expression.c ---------------------------------------------------------

node_t *syntax_node (syntax_t *self, node_kind_t kind);
void syntax_add (syntax_t *self, nodes_t *nodes, node_t *node);
void syntax_add_argument (syntax_t *self, arguments_t *arguments, argument_t argument);

//  Sets the error at the present token's line.  Returns NULL.
node_t *syntax_fail (syntax_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

void syntax_next (syntax_t *self);
bool syntax_is (const syntax_t *self, token_kind_t kind, const char *text);

//  Takes the token if it is this one.
bool syntax_accept (syntax_t *self, token_kind_t kind, const char *text);
void syntax_expect (syntax_t *self, token_kind_t kind, const char *text);
span_t syntax_name (syntax_t *self);

//  An expression; a tuple where commas follow and `tuple` is set.
node_t *syntax_expression (syntax_t *self, bool tuple);

//  An expression or tuple without `if ... else`: what a for loop walks, what an if asks.
node_t *syntax_expression_no_choice (syntax_t *self);

//  A name or a tuple of names that is assigned to; attributes of names too, where `attributes` is set.
node_t *syntax_target (syntax_t *self, bool attributes);

//  A single name that is assigned to.
span_t syntax_target_name (syntax_t *self);

//  `| filter ...` behind a value (NULL in a filter block).
node_t *syntax_filters (syntax_t *self, node_t *value);

//  One filter without the bar.
node_t *syntax_filter (syntax_t *self, node_t *value);

//  `(a, b=c)`: the parameters of a macro.
void syntax_parameters (syntax_t *self, arguments_t *parameters);

#endif
