//  regex - the regular expressions of tokenizer.json
//
//  They are written for Oniguruma in its Ruby syntax. PCRE2 is what we have, and for what tokenizers use the two agree but
//  for a few spellings, which are rewritten first: what names a set of characters (sets.h), \b, (?m:, class intersections
//  [a&&[^b]], nested classes, {1,3}+. Text is matched as UTF-8 with Unicode properties. Every match has a limit.

#ifndef MODEL_TOKENIZER_REGEX_H
#define MODEL_TOKENIZER_REGEX_H

#include "base/error.h"
#include "base/span.h"

enum { REGEX_SIZE_MAX = 16384 };    //  Bytes of an expression

typedef struct regex regex_t;

//  Compiles an expression; borrows it for the call. Gives the regex through *regex.
//  STATUS_INVALID with the place where it is wrong, STATUS_LIMIT for one that is too long.
status_t regex_new (span_t expression, regex_t **regex, error_t *error);

void regex_destroy (regex_t **self_p);

//  Finds the first match at `from` or behind it; text is well-formed UTF-8. Sets *start and *end; STATUS_NOT_FOUND where
//  there is none, STATUS_LIMIT where matching takes too long. Not for two threads at once: the result lies in the regex.
status_t regex_find (regex_t *self, span_t text, size_t from, size_t *start, size_t *end, error_t *error);

#endif
