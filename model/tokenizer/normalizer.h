//  normalizer - what happens to text before it is cut
//
//  Steps in a row, each from text to text. Most text passes most steps unchanged: then nothing is copied.

#ifndef MODEL_TOKENIZER_NORMALIZER_H
#define MODEL_TOKENIZER_NORMALIZER_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/tokenizer/charsmap.h"
#include "model/tokenizer/regex.h"

typedef enum {
    NORMALIZE_NFC,              //  Composed
    NORMALIZE_NFD,              //  Decomposed
    NORMALIZE_NFKC,             //  Composed, compatibility characters replaced
    NORMALIZE_NFKD,             //  Decomposed, the same
    NORMALIZE_LOWERCASE,        //  Without upper case
    NORMALIZE_STRIP_ACCENTS,    //  Without marks
    NORMALIZE_STRIP_MARKS,      //  Without marks that take no room
    NORMALIZE_CLEAN,            //  Without control characters, every blank a space
    NORMALIZE_PART_HAN,         //  A space on both sides of every ideograph
    NORMALIZE_NMT,              //  Control characters and marks of format dropped, or spaces
    NORMALIZE_ALPHABET,         //  Bytes as the characters that ByteLevel writes for them
    NORMALIZE_REPLACE,          //  `string` or what `regex` matches becomes `content`
    NORMALIZE_PREPEND,          //  `content` before text that is not empty
    NORMALIZE_STRIP_LEFT,       //  Without blanks at the start
    NORMALIZE_STRIP_RIGHT,      //  Without blanks at the end
    NORMALIZE_CHARSMAP          //  SentencePiece's compiled rules
} normalize_t;

typedef struct {
    normalize_t kind;       //  What to do
    span_t string;          //  What is replaced, where there is no regex; owned
    span_t content;         //  What is put; owned
    regex_t *regex;         //  What is replaced; owned
    charsmap_t charsmap;    //  Of NORMALIZE_CHARSMAP; owned
    bool leaves_rows;       //  A form changes none of those that classes_rows finds; by normalizer_add
    uint64_t *touched;      //  A bit for each character that a form may change; by normalizer_add; owned
    uint64_t *orderly;      //  Of those, that stay where the marks beside them are in order; by normalizer_add; owned
} normalization_t;

enum { NORMALIZER_STEPS_MAX = 32 };

typedef struct {
    array_t steps;    //  normalization_t, in order
} normalizer_t;

//  Room to work in; zero-initialise, and buffer_fini both.
typedef struct {
    buffer_t text;    //  What the last step that changed something made
    buffer_t next;    //  Room for the next one
    bool headless;    //  What began the text was dropped
} normalized_t;

void normalizer_init (normalizer_t *self);
void normalizer_fini (normalizer_t *self);

//  Adds a step; takes what it points to, also where it fails. STATUS_LIMIT for one too many.
status_t normalizer_add (normalizer_t *self, normalization_t step, error_t *error);

//  True where it does nothing.
bool normalizer_is_empty (const normalizer_t *self);

//  Normalises well-formed UTF-8, borrowed. *result is the text itself or lies in `room`, valid until that is used again.
//  STATUS_LIMIT where an expression takes too long or the text grows beyond all measure.
status_t normalizer_apply (const normalizer_t *self, span_t text, normalized_t *room, span_t *result, error_t *error);

#endif
