//  splitter - cuts text into the pieces that are encoded apart
//
//  A pre-tokenizer: steps in a row, each cutting the pieces of the one before, some of them changing the text. Where the
//  steps are a known expression and nothing more, model/tokenizer/words.h does it in one pass; the steps remain as the
//  general way.

#ifndef MODEL_TOKENIZER_SPLITTER_H
#define MODEL_TOKENIZER_SPLITTER_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/tokenizer/regex.h"
#include "model/tokenizer/words.h"

//  What happens to what an expression matches.
typedef enum {
    SPLIT_ISOLATED,         //  A piece of its own
    SPLIT_REMOVED,          //  Left out
    SPLIT_WITH_PREVIOUS,    //  Part of the piece before it
    SPLIT_WITH_NEXT,        //  Part of the piece behind it
    SPLIT_CONTIGUOUS        //  One piece with the matches next to it
} split_t;

//  What cuts.
typedef enum {
    CUT_REGEX,          //  What `regex` matches
    CUT_STRING,         //  Where `string` stands
    CUT_DIGITS,         //  Numbers (N)
    CUT_PUNCTUATION,    //  Punctuation, ASCII's signs included
    CUT_BLANKS,         //  White space
    CUT_SCRIPTS,        //  Where the script changes: pieces are of one each
    CUT_LENGTH,         //  After every `length` characters
    CUT_NOTHING         //  The step only changes the text
} cut_t;

//  What is put before text that does not begin with it.
typedef enum { PREFIX_NEVER, PREFIX_FIRST, PREFIX_ALWAYS } prefix_t;

//  Whether the text changes its alphabet (model/tokenizer/alphabet.h).
typedef enum { ALPHABET_STAYS, ALPHABET_FROM_BYTES, ALPHABET_TO_BYTES } alphabet_t;

typedef struct {
    cut_t cut;              //  What cuts
    split_t split;          //  And what becomes of it
    bool invert;            //  What is between counts as matched
    regex_t *regex;         //  CUT_REGEX: owned
    span_t string;          //  CUT_STRING: owned
    size_t length;          //  CUT_LENGTH: more than 0
    span_t prefix;          //  Put before each piece, as `prefixed` says; owned
    prefix_t prefixed;      //  When
    span_t for_space;       //  Every space becomes this; owned; empty: stays
    alphabet_t alphabet;    //  Last of all
} step_t;

enum { SPLITTER_STEPS_MAX = 32 };

typedef struct {
    array_t steps;           //  step_t, in order
    const words_t *words;    //  What does the same as all steps, where there is such a grammar
} splitter_t;

//  A piece: bytes start to end of the text it is cut from.
typedef struct {
    size_t start;    //  First byte
    size_t end;      //  Behind the last
} piece_t;

//  Text in pieces, and room to work in. Zero-initialise with pieces_init.
typedef struct {
    buffer_t text;      //  What the pieces are of, where a step changed it
    array_t pieces;     //  piece_t, in order
    buffer_t text2;     //  Room for the next step
    array_t pieces2;    //  Room for the next step
} pieces_t;

void pieces_init (pieces_t *self);
void pieces_fini (pieces_t *self);

void splitter_init (splitter_t *self);
void splitter_fini (splitter_t *self);

//  Adds a step; takes what it points to, also where it fails. STATUS_LIMIT for one too many.
status_t splitter_add (splitter_t *self, step_t step, error_t *error);

//  Whether a step writes characters for bytes, and none takes that back.
bool splitter_writes_bytes (const splitter_t *self);

//  Cuts text (well-formed UTF-8) into pieces, by the steps. is_first: nothing stands before the text. Borrows the text;
//  *result is what the pieces are of: the text, or one in `pieces`, valid until the next call.
//  STATUS_LIMIT where an expression takes too long.
status_t splitter_cut (
    const splitter_t *self, span_t text, bool is_first, pieces_t *pieces, span_t *result, error_t *error);

#endif
