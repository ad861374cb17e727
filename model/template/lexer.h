//  lexer - a template cut into tokens
//
//  Jinja's syntax with trim_blocks and lstrip_blocks on, as transformers sets them: the first line end behind a block tag
//  goes, and so do blanks between a line's start and a block tag; `-` takes all whitespace on its side, `+` switches the
//  automatic of its side off.  One line end at the end of the template is dropped.  Line ends are \n: whoever has others
//  changes them first, as template_compile does.

#ifndef MODEL_TEMPLATE_LEXER_H
#define MODEL_TEMPLATE_LEXER_H

#include "base/arena.h"
#include "base/error.h"

typedef enum {
    TOKEN_TEXT,           //  Outside of tags, whitespace control applied
    TOKEN_BLOCK_BEGIN,    //  {%
    TOKEN_BLOCK_END,      //  %}
    TOKEN_PRINT_BEGIN,    //  {{
    TOKEN_PRINT_END,      //  }}
    TOKEN_NAME,           //  Identifier or keyword
    TOKEN_STRING,         //  text: escapes resolved
    TOKEN_INTEGER,        //  integer; text: as it is written
    TOKEN_BIG,            //  text: the digits of a whole number beyond 64 bits
    TOKEN_FLOAT,          //  real; text: as it is written
    TOKEN_OPERATOR,       //  text: one of + - * / // % ** ~ ( ) [ ] { } . , : | = == != < <= > >=
    TOKEN_END,            //  Of the template
} token_kind_t;

typedef struct {
    token_kind_t kind;    //  What it is
    uint32_t line;        //  1-based
    span_t text;          //  Source, or resolved string
    int64_t integer;      //  TOKEN_INTEGER
    double real;          //  TOKEN_FLOAT
} token_t;

typedef struct {
    span_t source;           //  The template; borrowed
    arena_t *arena;          //  For resolved strings; borrowed
    size_t at;               //  Next byte
    uint32_t line;           //  Of it
    bool inside;             //  In a tag
    token_kind_t closing;    //  What ends the tag
    uint32_t depth;          //  Open brackets in the tag
    bool strip_next;         //  `-%}`: whitespace behind goes
    bool trim_next;          //  `%}`: one line end behind goes
} lexer_t;

//  Borrows both.
void lexer_init (lexer_t *self, span_t source, arena_t *arena);

//  The next token.  STATUS_INVALID with "line N: ...".
status_t lexer_next (lexer_t *self, token_t *token, error_t *error);

#endif
