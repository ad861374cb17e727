//  parser - from tokens to a tree
//
//  Recursive descent over Jinja's grammar, with the extensions transformers uses: loop controls and {% generation %}.

#ifndef MODEL_TEMPLATE_PARSER_H
#define MODEL_TEMPLATE_PARSER_H

#include "model/template/ast.h"
#include "model/template/lexer.h"

typedef struct {
    lexer_t lexer;     //  Where tokens come from
    token_t token;     //  The next one
    arena_t *arena;    //  Of the tree
    uint32_t depth;    //  Of the recursion
    uint32_t loops;    //  Around the statement being parsed, since the last macro
    error_t *error;    //  First error
    bool failed;       //  Stop
} parser_t;

//  Parses a whole template into its statements.  Borrows source, arena and error.
status_t parser_parse (parser_t *self, span_t source, arena_t *arena, nodes_t *body, error_t *error);

//  ---- Between parser.c (statements) and parser_expression.c ----

node_t *parser_node (parser_t *self, node_kind_t kind);
void parser_add (parser_t *self, nodes_t *nodes, node_t *node);
void parser_add_argument (parser_t *self, arguments_t *arguments, argument_t argument);

//  Sets the error at the present token's line.  Returns NULL.
node_t *parser_fail (parser_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

void parser_next (parser_t *self);
bool parser_is (const parser_t *self, token_kind_t kind, const char *text);

//  Takes the token if it is this one.
bool parser_accept (parser_t *self, token_kind_t kind, const char *text);
void parser_expect (parser_t *self, token_kind_t kind, const char *text);
span_t parser_name (parser_t *self);

//  An expression; a tuple where commas follow and `tuple` is set.
node_t *parser_expression (parser_t *self, bool tuple);

//  An expression without `if ... else`: what a for loop walks.
node_t *parser_expression_no_choice (parser_t *self);

//  A name, an attribute or a tuple of names that is assigned to.
node_t *parser_target (parser_t *self);

//  `| filter ...` behind a value (NULL in a filter block).
node_t *parser_filters (parser_t *self, node_t *value);

//  One filter without the bar.
node_t *parser_filter (parser_t *self, node_t *value);

//  `(a, b=c)`: the arguments of a call, or the parameters of a macro.
void parser_arguments (parser_t *self, arguments_t *arguments);
void parser_parameters (parser_t *self, arguments_t *parameters);

#endif
