//  categories - the general category of a character
//
//  By Unicode 16, whichever version the library that we ask was made for: what a model's tokenizer does with a text must not
//  depend on where it runs. Those who made the tokenizers have that version (Oniguruma 6.9.10, which Hugging Face's library uses).

#ifndef MODEL_TOKENIZER_CATEGORIES_H
#define MODEL_TOKENIZER_CATEGORIES_H

#include <stdint.h>
#include <utf8proc.h>

//  The category of any code point.
utf8proc_category_t categories_of (uint32_t code);

#endif
