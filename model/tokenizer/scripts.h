//  scripts - which script a character is of
//
//  For the pre-tokenizer UnicodeScripts, which cuts where the script changes, by Unicode 9 whatever came later.

#ifndef MODEL_TOKENIZER_SCRIPTS_H
#define MODEL_TOKENIZER_SCRIPTS_H

#include <stdint.h>

//  Goes with every script: spaces, and what Unicode 9 does not have.
enum { SCRIPT_ANY = 0 };

//  The number of the script of a code point.
unsigned scripts_of (uint32_t code);

#endif
