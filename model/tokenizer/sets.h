//  sets - what \p{NAME}, [:NAME:] and \w mean
//
//  A class of PCRE2 with the characters that Oniguruma's tables have (Unicode 16). PCRE2's own may be older: what came after
//  Unicode 14 is added as it is.

#ifndef MODEL_TOKENIZER_SETS_H
#define MODEL_TOKENIZER_SETS_H

#include "base/buffer.h"

typedef enum {
    SET_UNKNOWN,    //  Nobody here knows the name
    SET_IN,         //  The members are those of the set
    SET_OUT         //  The members are those that the set leaves out
} set_t;

//  Appends members, as a class of PCRE2 has them between its brackets. name: lower case, without blanks, hyphens and underscores;
//  of a property, a bracket (":alpha:"), or an escape ("\\w", and "[\\w]" in a class).
set_t sets_put (const char *name, buffer_t *members);

#endif
