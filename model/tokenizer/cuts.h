//  cuts - where pieces begin, many at once
//
//  What model/tokenizer/words.h says of one piece after the other, as bits, one for each byte of some kilobytes of text.

#ifndef MODEL_TOKENIZER_CUTS_H
#define MODEL_TOKENIZER_CUTS_H

#include "model/tokenizer/words.h"

enum {
    CUTS_WORDS = 64,                //  Words of bits,
    CUTS_SIZE = 64 * CUTS_WORDS,    //  and bytes of text, each of which has one
    CUTS_STRETCH_MIN = 64,          //  Bytes of a stretch, at least
    CUTS_STRETCH_MAX = 160          //  and at most
};

//  Bits by byte, that of `start` lowest. Behind the last word are some without bits.
typedef struct {
    size_t start;                        //  In the text: a piece begins here
    size_t end;                          //  And the last one ends here
    uint64_t pieces [CUTS_WORDS + 4];    //  A piece begins, or the last one ends
    uint64_t lines [CUTS_WORDS + 4];     //  Behind the last line end before something else
    uint64_t gaps [CUTS_WORDS + 4];      //  A space behind what is no blank
    uint64_t beyond;                     //  Words of text, a bit each, where something is not ASCII, or may be
} cuts_t;

_Static_assert(CUTS_WORDS == 64, "each word of text has a bit");

//  Cuts text (well-formed UTF-8) from `at` on, which is below text.size and where a piece begins, into one piece at least. One that
//  is longer than CUTS_SIZE comes alone; its end has no bit.
void cuts_make (cuts_t *self, const words_t *words, span_t text, size_t at);

//  The first place from `at` on where a piece ends; `end` where none does before.
size_t cuts_piece (const cuts_t *self, size_t at);

//  The end of a stretch from `at`, where a piece begins. A stretch ends where a piece ends whatever comes further on, so that
//  the same bytes from a piece's beginning to such a place are always the same pieces: behind a line, or in a long one before a
//  space. Short lines are taken together. 0 where there is none in the next CUTS_STRETCH_MAX bytes, or where the cuts end in them.
size_t cuts_stretch (const cuts_t *self, size_t at);

#endif
