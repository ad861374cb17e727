//  words - the split regexes that nearly all models use, by hand
//
//  Byte-level vocabularies cut text into words, numbers, signs and blanks before they encode it, by a regular expression.
//  A few expressions serve nearly all models, and what they say is simple: at each place the first alternative that fits,
//  as long as it can be. Each of those has a grammar here, a row of a table that one scanner follows; it gives what the
//  general way (model/tokenizer/regex.h) gives, about ten times as fast. words_test.c holds the two against each other.

#ifndef MODEL_TOKENIZER_WORDS_H
#define MODEL_TOKENIZER_WORDS_H

#include "base/span.h"

typedef struct words words_t;

enum { WORDS_EXPRESSIONS = 3 };    //  Expressions in a row that one grammar may stand for

//  The grammar that gives what these expressions give, each cutting the pieces of the one before and keeping what it
//  matches and what lies between; NULL where there is none. Lives for ever.
const words_t *words_for (const span_t *expressions, size_t count);

//  The grammars there are, by number, with the expressions each stands for (NULL beyond the last of a row): for tests.
//  NULL beyond the last grammar.
const words_t *words_at (size_t number, const char *const **expressions);

//  The end of the piece that begins at `at`, which is below text.size. text: well-formed UTF-8.
size_t words_next (const words_t *self, span_t text, size_t at);

#endif
