//  ruby - Oniguruma's Ruby syntax as PCRE2 writes it

#ifndef MODEL_TOKENIZER_RUBY_H
#define MODEL_TOKENIZER_RUBY_H

#include "base/buffer.h"

//  Appends the expression as PCRE2 must see it to match what Oniguruma matches. What is wrong stays wrong, for PCRE2 to say.
void ruby_to_pcre (span_t expression, buffer_t *pattern);

#endif
