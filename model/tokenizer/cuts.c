#include "model/tokenizer/cuts.h"

#include <string.h>

#include "model/tokenizer/classes.h"
#include "model/tokenizer/grammar.h"
#include "model/tokenizer/letters.h"

//  How it is done
//
//  Bytes are classed 64 at a time, and a grammar's rules become sums and shifts of such words. For
//
//      'contraction | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//
//  a piece begins
//
//  - at the first letter of a run, where no blank and no lone sign that begins a piece stands before it: that leads the word;
//  - at a number: at each, or at every third of a run;
//  - at the first sign of a run, where no space stands before it: that leads the signs;
//  - behind a contraction, where a run of signs begins with its apostrophe;
//  - at the first blank of a run, not counting line ends that follow signs, which those take with them; at the first behind the
//    last line end of the run; and at the last one, where something follows it, because that leads it or stands alone.
//
//  "The first of a run" compares a word with itself, shifted by one; what runs reach from a place on is found by a sum whose
//  carry runs through them. A character of several bytes has its class at each of them, so the same holds for it. What this does
//  not cover (blanks beyond ASCII, other grammars) is a barrier: words_next cuts there for a while.

enum { PATIENCE = 256 };    //  Bytes behind a barrier that are cut one by one

//  The words of one window.
typedef struct {
    const words_t *words;                 //  The grammar
    span_t text;                          //  What is cut
    size_t start;                         //  Where the window begins in it
    size_t size;                          //  Bytes in it: up to a barrier, the end of the text, or CUTS_SIZE
    bool barred;                          //  A barrier ends it
    classes_t blocks [CUTS_WORDS + 1];    //  Classes of its bytes; the last one is empty
    uint64_t reaches [CUTS_WORDS];        //  Blanks behind which a line end follows in the same run
} window_t;

//  ---- Classes -------------------------------------------------------------------------------------------------------

//  The lowest bits.
static inline uint64_t
s_lowest (size_t count)
{
    return count < 64 ? (1ull << count) - 1 : UINT64_MAX;
}

//  Gives a character's class to all of its bytes; `behind` is of the next block. Returns whether it has one here.
static bool
s_class_character (const words_t *words, const uint8_t *bytes, unsigned at, classes_t *block, classes_t *behind)
{
    size_t size;
    unsigned kind = letters_at (bytes, &size);
    if (kind & LETTER_SPACE || (kind & LETTER_N && words->numbers != 1))
        return false;
    if (!(kind & (LETTER_L | LETTER_M | LETTER_N)))
        return true;
    uint64_t bits = s_lowest (size), low = bits << at, high = bits >> 1 >> (63 - at);
    if (kind & LETTER_L || (kind & LETTER_M && words->word == WORD_MARKED)) {
        block->letters |= low;
        behind->letters |= high;
    } else if (kind & LETTER_N) {
        block->digits |= low;
        behind->digits |= high;
    }
    return true;
}

//  Whether a character is a letter or a mark of a script without case; such letters are added to others, by the bit of their first
//  byte. row: of 64 code points, the last byte says which.
static inline bool
s_class_mixed (const words_t *words, unsigned row, uint8_t last, unsigned at, uint64_t *letters)
{
    const letters_mixed_t *mixed = &letters_mixed [row - LETTERS_MIXED_FROM / 64];
    uint64_t marks = words->word == WORD_MARKED ? mixed->marks : 0;
    *letters |= ((mixed->letters | marks) >> (last & 0x3f) & 1) << at;
    return (mixed->letters | mixed->marks) >> (last & 0x3f) & 1;
}

//  The same for the character that begins with a byte, if it is of such a script.
static inline bool
s_class_caseless (const words_t *words, const uint8_t *bytes, unsigned at, classes_rows_t *rows)
{
    const uint8_t *here = bytes + at;
    if (here [0] == 0xe0)
        return s_class_mixed (words, here [1] & 0x3f, here [2], at, &rows->threes);
    return here [0] >= LETTERS_MIXED_TWOS && here [0] < 0xe0 &&
           s_class_mixed (words, here [0] & 0x1f, here [1], at, &rows->twos);
}

//  The same for all characters beyond ASCII, most of which are in rows of one class. Returns how many bytes have a class.
static size_t
s_class_beyond (const words_t *words, const uint8_t *bytes, classes_t *block, classes_t *spilt)
{
    size_t size = CLASSES_BYTES;
    block->goes_on = classes_below (bytes, CLASSES_GOES_ON);
    block->letters |= spilt->letters;
    block->digits |= spilt->digits;
    *spilt = (classes_t){ 0 };
    classes_rows_t rows = classes_rows (bytes);
    uint64_t known = block->goes_on | rows.twos | rows.threes | rows.signs;
    for (uint64_t left = block->beyond & ~known; left && size == CLASSES_BYTES; left &= left - 1) {
        unsigned at = (unsigned)__builtin_ctzll (left);
        if (!s_class_caseless (words, bytes, at, &rows) && !s_class_character (words, bytes + at, at, block, spilt))
            size = at;
    }
    block->letters |= rows.twos | rows.twos << 1 | rows.threes | rows.threes << 1 | rows.threes << 2;
    spilt->letters |= rows.twos >> 63 | rows.threes >> 63 | rows.threes >> 62;
    return size;
}

//  A block's classes and how many of its bytes have one. spilt: those of its first bytes, from the block before; then the next
//  one's.
static size_t
s_class_block (window_t *self, size_t number, classes_t *spilt)
{
    const uint8_t *bytes = self->text.data + self->start + number * CLASSES_BYTES;
    size_t left = self->text.size - self->start - number * CLASSES_BYTES;
    uint8_t copy [CLASSES_BYTES] = { 0 };
    if (left < CLASSES_BYTES)
        bytes = memcpy (copy, bytes, left);
    classes_t *block = &self->blocks [number];
    *block = classes_of (bytes);
    size_t size = block->beyond ? s_class_beyond (self->words, bytes, block, spilt) : CLASSES_BYTES;
    return size < left ? size : left;
}

static void
s_class_all (window_t *self)
{
    classes_t spilt = { 0 };
    size_t number = 0, size = CLASSES_BYTES;
    for (; number < CUTS_WORDS && size == CLASSES_BYTES && self->start + self->size < self->text.size; number++) {
        size = s_class_block (self, number, &spilt);
        self->size += size;
    }
    self->barred = size < CLASSES_BYTES && self->start + self->size < self->text.size;
    self->blocks [number] = (classes_t){ 0 };
}

//  ---- Beginnings ----------------------------------------------------------------------------------------------------

//  What a block must know of the one before it.
typedef struct {
    const classes_t *classes;    //  Its classes
    uint64_t signs;              //  What is none of letters, digits and blanks
    uint64_t leads;              //  The first character of a piece that begins with a sign
    uint64_t taken;              //  Line ends that signs take with them
    uint64_t thirds;             //  Digits that begin a piece
    uint64_t solids;             //  What is no blank
} before_t;

//  Bits moved to the next byte; before: those of the block before.
static inline uint64_t
s_next (uint64_t bits, uint64_t before)
{
    return bits << 1 | before >> 63;
}

//  Bits moved to the byte before; behind: those of the next block.
static inline uint64_t
s_previous (uint64_t bits, uint64_t behind)
{
    return bits >> 1 | behind << 63;
}

//  Bits that are among others, and of the others those below them without a hole. Mostly there are none.
static inline uint64_t
s_flood_down (uint64_t bits, uint64_t others)
{
    for (unsigned step = 1; step < 64 && bits; step *= 2) {
        bits |= others & bits >> step;
        others &= others >> step;
    }
    return bits;
}

//  From the last block to the first: there it is known whether a line end follows.
static void
s_find_reaches (window_t *self, size_t count)
{
    uint64_t behind = 0;
    for (size_t i = count; i-- > 0;) {
        uint64_t lines = self->blocks [i].lines, blanks = self->blocks [i].blanks & ~lines;
        self->reaches [i] = s_flood_down (s_previous (lines, behind) & blanks, blanks);
        behind = lines | self->reaches [i];
    }
}

//  The first digit of a run, and every third from there.
static inline uint64_t
s_thirds (uint64_t digits, const before_t *before)
{
    uint64_t second = s_next (digits, before->classes->digits), third = second << 1 | before->classes->digits >> 62;
    uint64_t fourth = digits & second & third, found = digits & ~second;
    for (uint64_t more = found | (before->thirds >> 61 & fourth); more; more = more << 3 & fourth & ~found)
        found |= more;
    return found;
}

static inline uint64_t
s_begin_numbers (const words_t *words, const classes_t *block, before_t *before)
{
    if (words->numbers == 1)
        return block->digits & ~block->goes_on;
    return before->thirds = s_thirds (block->digits, before);
}

//  signs: behind which there is one. something: before which there is something that is no blank.
static inline uint64_t
s_begin_blanks (const classes_t *block, uint64_t reaches, uint64_t signs, uint64_t something, before_t *before)
{
    uint64_t lines = block->lines, others = block->blanks & ~lines;
    uint64_t taken = lines & ~(lines + (lines & (signs | before->taken >> 63)));
    uint64_t first = block->blanks & ~s_next (block->blanks, before->classes->blanks) & ~taken;
    uint64_t behind_taken = others & s_next (taken, before->taken);
    uint64_t behind_lines = others & s_next (lines, before->classes->lines) & ~reaches;
    before->taken = taken;
    return first | behind_taken | behind_lines | (others & something);
}

//  exists: the bytes that are in the window. something: before which there is something that is no blank.
static inline uint64_t
s_begin (const words_t *words, const classes_t *block, uint64_t reaches, uint64_t exists, uint64_t something,
    before_t *before)
{
    const classes_t *last = before->classes;
    uint64_t signs = exists & ~(block->letters | block->digits | block->blanks);
    uint64_t behind_signs = s_next (signs, before->signs);
    uint64_t sign = signs & ~behind_signs & ~s_next (block->spaces, last->spaces), leads = sign;
    for (unsigned i = 0; i < 3 && block->goes_on; i++)
        leads |= s_next (leads, before->leads) & block->goes_on;
    uint64_t led = s_next (block->blanks & ~block->lines, last->blanks & ~last->lines) | s_next (leads, before->leads);
    uint64_t letter = block->letters & ~s_next (block->letters, last->letters) & ~led;
    uint64_t number = s_begin_numbers (words, block, before);
    uint64_t blank = s_begin_blanks (block, reaches, behind_signs, something, before);
    before->signs = signs;
    before->leads = leads;
    return (sign | letter | number | blank) & exists;
}

//  ---- A window ------------------------------------------------------------------------------------------------------

static inline void
s_set (uint64_t *bits, size_t place)
{
    bits [place / 64] |= 1ull << (place % 64);
}

//  A contraction ends a piece, though letters may follow it.
static inline void
s_cut_contractions (const window_t *self, size_t number, cuts_t *cuts)
{
    for (uint64_t left = cuts->pieces [number] & self->blocks [number].quotes; left; left &= left - 1) {
        size_t at = self->start + 64 * number + (size_t)__builtin_ctzll (left);
        size_t end = words_contraction (self->text, at, self->words->contractions == CONTRACTIONS_ANY);
        size_t place = end - self->start;
        if (end > at && place < self->size)
            cuts->pieces [place / 64] |= self->blocks [place / 64].letters & 1ull << (place % 64);
    }
}

//  All places of the window, as if the text ended with it, but nothing is said of its last blanks.
static void
s_cut_window (window_t *self, cuts_t *cuts)
{
    static const classes_t nothing = { 0 };
    before_t before = { .classes = &nothing };
    size_t count = (self->size + 63) / 64;
    s_find_reaches (self, count);
    for (size_t i = 0; i < count; i++) {
        const classes_t *block = &self->blocks [i];
        size_t left = self->size - 64 * i;
        uint64_t exists = s_lowest (left), solids = exists & ~block->blanks;
        uint64_t behind = s_lowest (left > 64 ? left - 64 : 0) & ~self->blocks [i + 1].blanks;
        uint64_t something = s_previous (exists & ~block->blanks, behind);
        cuts->pieces [i] |= s_begin (self->words, block, self->reaches [i], exists, something, &before);
        s_cut_contractions (self, i, cuts);
        cuts->lines [i] = cuts->pieces [i] & s_next (block->lines, before.classes->lines);
        cuts->gaps [i] = block->spaces & s_next (solids, before.solids) & exists;
        cuts->beyond |= (uint64_t)(block->beyond != 0) << i;
        before.classes = block;
        before.solids = solids;
    }
}

//  The highest of the first `count` bits that is set; 0 where none is.
static size_t
s_last (const uint64_t *bits, size_t count)
{
    for (size_t i = (count + 63) / 64; i-- > 0;) {
        uint64_t left = bits [i] & s_lowest (count - 64 * i);
        if (left)
            return 64 * i + 63 - (size_t)__builtin_clzll (left);
    }
    return 0;
}

//  The last place of the window that holds whatever follows. Of blanks at its end that is the first one: what becomes of others
//  depends on what comes behind them.
static size_t
s_last_certain (const window_t *self, const cuts_t *cuts)
{
    const uint8_t *bytes = self->text.data + self->start;
    size_t solid = self->size;
    while (solid && bytes [solid - 1] < 0x80 && letters_ascii [bytes [solid - 1]] & LETTER_SPACE)
        solid--;
    for (size_t place = solid; place < self->size; place++)
        if (cuts->pieces [place / 64] >> (place % 64) & 1)
            return place;
    return s_last (cuts->pieces, solid);
}

static void
s_cut_behind (uint64_t *bits, size_t last)
{
    bits [last / 64] &= s_lowest (last % 64 + 1);
    memset (bits + last / 64 + 1, 0, (CUTS_WORDS - last / 64) * sizeof *bits);
}

//  ---- One by one ----------------------------------------------------------------------------------------------------

//  Whether the character whose last byte is this one is no blank.
static inline bool
s_is_solid (const uint8_t *last)
{
    size_t size;
    while (letters_goes_on (*last))
        last--;
    return !(letters_at (last, &size) & LETTER_SPACE);
}

//  Cuts on, up to a place at or behind `stop`.
static void
s_cut_on (cuts_t *self, const words_t *words, span_t text, size_t stop)
{
    self->beyond = UINT64_MAX;
    while (self->end < stop && self->end < text.size) {
        size_t end = words_next (words, text, self->end), place = end - self->start;
        if (place > CUTS_SIZE) {
            if (self->end == self->start)
                self->end = end;
            return;
        }
        s_set (self->pieces, place);
        if (text.data [end - 1] == '\n' && words_ends_line (words, text, end))
            s_set (self->lines, place);
        else if (end < text.size && text.data [end] == ' ' && s_is_solid (text.data + end - 1))
            s_set (self->gaps, place);
        self->end = end;
    }
}

//  ---- Cuts ----------------------------------------------------------------------------------------------------------

static bool
s_has_bits (const words_t *words)
{
    return words->word == WORD_PLAIN || words->word == WORD_MARKED;
}

void
cuts_make (cuts_t *self, const words_t *words, span_t text, size_t at)
{
    *self = (cuts_t){ .start = at, .end = at, .pieces [0] = 1 };
    if (!s_has_bits (words)) {
        s_cut_on (self, words, text, at + CUTS_SIZE);
        return;
    }
    window_t window = { .words = words, .text = text, .start = at };
    s_class_all (&window);
    s_cut_window (&window, self);
    size_t end = at + window.size, last = end == text.size ? window.size : s_last_certain (&window, self);
    s_set (self->pieces, last);
    s_cut_behind (self->pieces, last);
    s_cut_behind (self->lines, last);
    s_cut_behind (self->gaps, last);
    self->end = at + last;
    if (window.barred || last == 0)
        s_cut_on (self, words, text, window.barred ? end + PATIENCE : at + 1);
}

size_t
cuts_piece (const cuts_t *self, size_t at)
{
    if (at >= self->end || self->end - self->start > CUTS_SIZE)
        return self->end;
    size_t place = at - self->start, word = place / 64;
    uint64_t bits = self->pieces [word] >> (place % 64) << (place % 64);
    while (!bits)
        bits = self->pieces [++word];
    return self->start + 64 * word + (size_t)__builtin_ctzll (bits);
}

//  ---- Stretches -----------------------------------------------------------------------------------------------------

//  64 bits from a place on.
static inline uint64_t
s_bits_at (const uint64_t *bits, size_t place)
{
    const uint64_t *word = bits + place / 64;
    return place % 64 ? word [0] >> (place % 64) | word [1] << (64 - place % 64) : word [0];
}

size_t
cuts_stretch (const cuts_t *self, size_t at)
{
    size_t place = at - self->start;
    if (at + CUTS_STRETCH_MIN > self->end)
        return 0;
    for (size_t from = CUTS_STRETCH_MIN; from <= CUTS_STRETCH_MAX; from += 64) {
        uint64_t lines = s_bits_at (self->lines, place + from) & s_lowest (CUTS_STRETCH_MAX + 1 - from);
        if (lines)
            return at + from + (size_t)__builtin_ctzll (lines);
    }
    if (at + CUTS_STRETCH_MAX > self->end)
        return 0;
    uint64_t gaps = s_bits_at (self->gaps, place + CUTS_STRETCH_MAX - 63);
    return gaps ? at + CUTS_STRETCH_MAX - (size_t)__builtin_clzll (gaps) : 0;
}
