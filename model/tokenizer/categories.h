//  categories - the general category of a character
//
//  By Unicode 16, whichever version the library that we ask was made for: what a model's tokenizer does with a text must not
//  depend on where it runs. Those who made the tokenizers have that version (Oniguruma 6.9.10, which Hugging Face's library uses).

#ifndef MODEL_TOKENIZER_CATEGORIES_H
#define MODEL_TOKENIZER_CATEGORIES_H

#include <stddef.h>
#include <stdint.h>
#include <utf8proc.h>

typedef struct {
    uint32_t first;                  //  From
    uint32_t last;                   //  to
    utf8proc_category_t category;    //  they are of this
} categories_row_t;

//  The category of any code point.
utf8proc_category_t categories_of (uint32_t code);

//  Older versions, by which parts of Hugging Face's library go.
typedef enum { UNICODE_8, UNICODE_9 } unicode_t;

//  What the category was in an older version: CN where a character came later. Right for marks, punctuation and what is of category
//  C; a few letters have changed theirs since.
utf8proc_category_t categories_in (unicode_t version, uint32_t code);

//  What came after Unicode 14, by rows, in order: for libraries that may not know it. NULL beyond the last.
const categories_row_t *categories_later (size_t row);

#endif
