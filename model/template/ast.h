//  ast - a compiled template as a tree
//
//  Nodes lie in the arena of the template and never change after parsing: any number of renderings may walk them.  Names
//  and literals borrow the template's own copy of its source.

#ifndef MODEL_TEMPLATE_AST_H
#define MODEL_TEMPLATE_AST_H

#include "model/template/value.h"

typedef enum {
    //  Expressions
    NODE_LITERAL,      //  value
    NODE_NAME,         //  text
    NODE_LIST,         //  items
    NODE_TUPLE,        //  items
    NODE_DICT,         //  items: key, value, key, value ...
    NODE_UNARY,        //  op, a
    NODE_BINARY,       //  op, a, b
    NODE_COMPARE,      //  a, items: NODE_OPERAND each
    NODE_OPERAND,      //  op, a
    NODE_AND,          //  a, b
    NODE_OR,           //  a, b
    NODE_NOT,          //  a
    NODE_CHOICE,       //  a if b else c (c may be NULL)
    NODE_CONCAT,       //  items, joined by ~
    NODE_ATTRIBUTE,    //  a . text
    NODE_ITEM,         //  a [b]
    NODE_SLICE,        //  a : b : c, each may be NULL
    NODE_CALL,         //  a (arguments)
    NODE_FILTER,       //  a | text (arguments); a NULL in a filter block
    NODE_TEST,         //  a is text (arguments)
    //  Statements
    NODE_OUTPUT,          //  text, printed as it is
    NODE_PRINT,           //  a, printed
    NODE_IF,              //  a, body, otherwise
    NODE_FOR,             //  target a in b if c: body; otherwise; recursive in op
    NODE_SET,             //  a = b
    NODE_SET_BLOCK,       //  a = body, filters in b
    NODE_MACRO,           //  text (parameters): body
    NODE_CALL_BLOCK,      //  a (a call), parameters, body
    NODE_FILTER_BLOCK,    //  b (filters), body
    NODE_BREAK,           //
    NODE_CONTINUE,        //
    NODE_BLOCK,           //  body, in a scope of its own: block
    NODE_GENERATION,      //  body, captured and printed: generation
    NODE_WITH,            //  arguments become variables of body
    NODE_AUTOESCAPE,      //  a decides whether what body prints is escaped
} node_kind_t;

typedef enum {
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_FLOOR_DIVIDE,
    OP_MODULO,
    OP_POWER,
    OP_MINUS,
    OP_PLUS,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_IN,
    OP_NOT_IN,
} op_t;

//  op of a NODE_MACRO or NODE_CALL_BLOCK: which names its body uses that only a macro has.
enum { MACRO_TAKES_CALLER = 1, MACRO_TAKES_VARARGS = 2, MACRO_TAKES_KWARGS = 4 };

typedef struct node node_t;

//  A row of nodes.
typedef struct {
    node_t **items;     //  In the arena
    size_t count;       //  Nodes
    size_t capacity;    //  Room
} nodes_t;

//  An argument of a call, or a parameter of a macro.
typedef struct {
    span_t name;      //  Keyword or parameter; empty for a positional argument
    node_t *value;    //  Argument, or default; NULL where there is none
    int stars;        //  1: *value, 2: **value
} argument_t;

typedef struct {
    argument_t *items;    //  In the arena
    size_t count;         //  Arguments
    size_t capacity;      //  Room
} arguments_t;

struct node {
    node_kind_t kind;    //  Which members count
    unsigned op;         //  op_t, or as the kind says
    uint32_t line;       //  1-based
    span_t text;         //  Name or text
    value_t value;       //  Literal
    node_t *a;           //  Children, by kind
    node_t *b;
    node_t *c;
    nodes_t items;            //  Elements
    arguments_t arguments;    //  Of calls, filters, tests; parameters of macros
    nodes_t body;             //  Statements
    nodes_t otherwise;        //  Statements of else
};

#endif
