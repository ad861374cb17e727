//  classes - of which class each of 64 bytes is
//
//  A bit for each byte, the first one lowest: what bytes of ASCII say is found for many at once, and runs of a class are then
//  found by arithmetic on words (model/tokenizer/cuts.h).

#ifndef MODEL_TOKENIZER_CLASSES_H
#define MODEL_TOKENIZER_CLASSES_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CLASSES_BYTES = 64, CLASSES_GOES_ON = -64 };

typedef struct {
    uint64_t letters;    //  A to Z and a to z; whoever knows adds those beyond ASCII
    uint64_t digits;     //  0 to 9; the same
    uint64_t blanks;     //  White space of ASCII
    uint64_t lines;      //  Of that, line feed and carriage return
    uint64_t spaces;     //  And space
    uint64_t quotes;     //  The apostrophe
    uint64_t beyond;     //  No ASCII: parts of longer characters
    uint64_t goes_on;    //  Of those, all but the first of each: whoever asks for it fills it in
} classes_t;

typedef uint8_t classes_bytes_t __attribute__ ((vector_size (16)));
typedef int8_t classes_marks_t __attribute__ ((vector_size (16)));

//  A bit for each of 16 marks, which are 0 or -1.
static inline uint64_t
classes_bits (classes_marks_t marks)
{
#ifdef __SSE2__
    return (uint64_t)(unsigned)_mm_movemask_epi8 ((__m128i)marks);
#else
    //  Each byte keeps a bit of its own, and the product gathers them in its highest byte.
    uint64_t halves [2];
    memcpy (halves, &marks, sizeof halves);
    for (unsigned i = 0; i < 2; i++)
        halves [i] = (halves [i] & 0x8040201008040201u) * 0x0101010101010101u >> 56;
    return halves [0] | halves [1] << 8;
#endif
}

//  Which of 64 bytes are this one.
static inline uint64_t
classes_equal (const uint8_t *bytes, uint8_t wanted)
{
    uint64_t all = 0;
    for (unsigned at = 0; at < CLASSES_BYTES; at += 16) {
        classes_bytes_t byte;
        memcpy (&byte, bytes + at, sizeof byte);
        all |= classes_bits (byte == wanted) << at;
    }
    return all;
}

static inline classes_t
classes_of (const uint8_t *bytes)
{
    classes_t all = { 0 };
    for (unsigned at = 0; at < CLASSES_BYTES; at += 16) {
        classes_bytes_t byte;
        memcpy (&byte, bytes + at, sizeof byte);
        classes_marks_t spaces = byte == ' ', lines = (byte == '\n') | (byte == '\r');
        all.letters |= classes_bits ((byte | 0x20) - 'a' <= 'z' - 'a') << at;
        all.digits |= classes_bits (byte - '0' <= 9) << at;
        all.blanks |= classes_bits ((byte - '\t' <= '\r' - '\t') | spaces) << at;
        all.lines |= classes_bits (lines) << at;
        all.spaces |= classes_bits (spaces) << at;
        all.quotes |= classes_bits (byte == '\'') << at;
        all.beyond |= classes_bits ((classes_marks_t)byte < 0) << at;
    }
    return all;
}

//  The first bytes of characters whose class needs no look: in rows of Unicode all are of one.
typedef struct {
    uint64_t twos;      //  Letters of two bytes: U+0100 to U+02BF (Latin) and U+0400 to U+047F (Cyrillic)
    uint64_t threes;    //  Letters of three: U+5000 to U+8FFF (ideographs) and U+B000 to U+CFFF (Hangul)
    uint64_t signs;     //  Of four, none of these classes: U+1F300 to U+1FBBF (emoji), where all is in the block
} classes_rows_t;

static inline classes_rows_t
classes_rows (const uint8_t *bytes)
{
    classes_rows_t rows = { 0 };
    uint64_t second = 0, third = 0;
    for (unsigned at = 0; at < CLASSES_BYTES; at += 16) {
        classes_bytes_t byte;
        memcpy (&byte, bytes + at, sizeof byte);
        rows.twos |= classes_bits ((byte - 0xc4 <= 0xca - 0xc4) | (byte - 0xd0 <= 1)) << at;
        rows.threes |= classes_bits ((byte - 0xe5 <= 0xe8 - 0xe5) | (byte - 0xeb <= 1)) << at;
        rows.signs |= classes_bits (byte == 0xf0) << at;
        second |= classes_bits (byte == 0x9f) << at;
        third |= classes_bits (byte - 0x8c <= 0xae - 0x8c) << at;
    }
    rows.signs &= second >> 1 & third >> 2;
    return rows;
}

//  A bit for each byte that is below a limit, as a number with a sign: 0 for what is not ASCII, CLASSES_GOES_ON for what goes on
//  with a character.
static inline uint64_t
classes_below (const uint8_t *bytes, int8_t limit)
{
    uint64_t below = 0;
    for (unsigned at = 0; at < CLASSES_BYTES; at += 16) {
        classes_marks_t byte;
        memcpy (&byte, bytes + at, sizeof byte);
        below |= classes_bits (byte < limit) << at;
    }
    return below;
}

#endif
