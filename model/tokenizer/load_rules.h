//  load_rules - the rules of a file, each pair once
//
//  Some files list a pair more than once, with what it becomes or what it waits for in between. Readers differ: Hugging Face's
//  library goes by the last of such rules, llama.cpp by the first.

#ifndef MODEL_TOKENIZER_LOAD_RULES_H
#define MODEL_TOKENIZER_LOAD_RULES_H

#include "model/tokenizer/merges.h"

typedef enum { RULES_FIRST, RULES_LAST } rules_t;

//  Puts rules (merge_t, in the order of the file) where they belong; of those of one pair, the one that counts.
void load_rules (const array_t *rules, rules_t counts, merges_t *merges);

#endif
