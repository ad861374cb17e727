//  search - a text within a text

#ifndef MODEL_TOKENIZER_SEARCH_H
#define MODEL_TOKENIZER_SEARCH_H

#include "base/span.h"

//  Where the needle first stands in the text; text.size where it does not, or where it is empty.
size_t search_find (span_t text, span_t needle);

#endif
