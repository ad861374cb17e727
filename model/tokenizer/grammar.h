//  grammar - what a split expression says, as words.c and cuts.c follow it
//
//  For those two; nobody else includes this.

#ifndef MODEL_TOKENIZER_GRAMMAR_H
#define MODEL_TOKENIZER_GRAMMAR_H

#include "model/tokenizer/words.h"

//  How a word looks.
typedef enum {
    WORD_PLAIN,     //  [^\r\n\p{L}\p{N}]?\p{L}+
    WORD_MARKED,    //  [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+, and marks are no signs
    WORD_SPACED,    //   ?\p{L}+
    WORD_CASED,     //  o200k: upper case, then lower case, then a contraction
    WORD_SIGNED     //  DeepSeek V3: [sign][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
} word_t;

typedef enum {
    CONTRACTIONS_NONE,    //  In no place of their own
    CONTRACTIONS_LOW,     //  's 't 're 've 'm 'll 'd
    CONTRACTIONS_ANY      //  The same in any case
} contractions_t;

struct words {
    const char *expressions [WORDS_EXPRESSIONS];    //  What it stands for; literally, as files write it
    word_t word;                                    //  How words look
    contractions_t contractions;                    //  Which come first of all
    size_t numbers;                                 //  Digits in a piece, at most; 0: any, and a space may lead them
    uint8_t tails;                                  //  Whether signs take line ends with them, 2: and slashes
    bool lines;                                     //  \s*[\r\n]+ comes before other blanks
    bool ascii_case;    //  Of WORD_CASED: only letters of ASCII have a case, and marks are signs
};

//  The end of the contraction at `at`; `at` itself where there is none. any: in any case.
size_t words_contraction (span_t text, size_t at, bool any);

//  Whether a stretch may end at `at`, behind a line end, where a piece ends.
bool words_ends_line (const words_t *self, span_t text, size_t at);

#endif
