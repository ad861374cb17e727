#include "model/tokenizer/parts.h"

#include <string.h>

#include "base/memory.h"
#include "model/tokenizer/classes.h"
#include "model/tokenizer/letters.h"

enum {
    PAIRS_LOG_MIN = 12,                         //  Two to this power, at least, are the bits of pairs;
    PAIRS_LOG_MAX = 20,                         //  and to this one, at most;
    PAIRS_A_TOKEN = 8,                          //  in between, this many for each token
    HALVES = 1 << 16,                           //  Bits of halves
    CHARACTER_MAX = 4,                          //  Bytes of a character, at most
    READ = PARTS_PLACES + CHARACTER_MAX - 1,    //  Bytes of a block, and of a character that goes on behind it
    STAY_SIZE = (1 << PARTS_STAY_LOG) / 8,      //  Bytes of stay
    WIDE_FIRST = 0xe3    //  First bytes of wide characters, U+3000 and beyond, are not below this
};

static const uint8_t s_mark [] = { 0xe2, 0x96, 0x81 };

//  The next mark behind the first byte; text.size where there is none.
static size_t
s_next (span_t text, size_t from)
{
    while (from + sizeof s_mark <= text.size) {
        const uint8_t *found = memchr (text.data + from, s_mark [0], text.size - from - 2);
        if (!found)
            break;
        from = (size_t)(found - text.data);
        if (memcmp (found, s_mark, sizeof s_mark) == 0)
            return from;
        from++;
    }
    return text.size;
}

void
parts_init (parts_t *self, const vocabulary_t *vocabulary)
{
    *self = (parts_t){ .enabled = vocabulary_find (vocabulary, span_of (s_mark, sizeof s_mark)) != TOKEN_NONE };
    for (uint32_t id = 0; id < vocabulary_size (vocabulary); id++) {
        span_t bytes = vocabulary_bytes (vocabulary, id);
        for (size_t at = 1; (at = s_next (bytes, at)) < bytes.size; at++)
            self->joins [bytes.data [at - 1]] = true;
    }
}

static size_t
s_first_mark (const parts_t *self, span_t piece)
{
    for (size_t at = 1; (at = s_next (piece, at)) < piece.size; at++)
        if (!self->joins [piece.data [at - 1]])
            return at;
    return piece.size;
}

//  ---- Characters of byte-level vocabularies -------------------------------------------------------------------------

static void
s_set_bit (uint64_t *bits, uint64_t bit)
{
    bits [bit / 64] |= 1ull << (bit % 64);
}

//  The character of so many bytes at a place of a text that has it whole.
static uint32_t
s_character (span_t text, size_t at, size_t size)
{
    return parts_character (text.data + at, size, text.size - at);
}

//  What meets in a token before each byte that begins a character.
static void
s_learn (parts_t *self, span_t token)
{
    size_t left = token.size && !letters_goes_on (token.data [0]) ? letters_whole (token) : 0;
    for (size_t start = 0, at = 1; at < token.size; at++) {
        if (letters_goes_on (token.data [at]))
            continue;
        size_t right = letters_whole (span_slice (token, at, token.size));
        if (left == at - start && left && right)
            s_set_bit (
                self->pairs, parts_pair (self, s_character (token, start, left), s_character (token, at, right)));
        else
            s_set_bit (self->halves, parts_half (token.data + at));
        start = at;
        left = right;
    }
}

void
parts_init_bytes (parts_t *self, const vocabulary_t *vocabulary)
{
    *self = (parts_t){ .log = PAIRS_LOG_MIN };
    while (self->log < PAIRS_LOG_MAX && 1u << self->log < PAIRS_A_TOKEN * vocabulary_size (vocabulary))
        self->log++;
    self->pairs = memory_new_table (((size_t)1 << self->log) / 8);
    self->halves = memory_new (HALVES / 8);
    for (uint32_t id = 0; id < vocabulary_size (vocabulary); id++)
        s_learn (self, vocabulary_bytes (vocabulary, id));
}

void
parts_fini (parts_t *self)
{
    memory_free (self->pairs);
    memory_free (self->halves);
    memory_free (self->stay);
    *self = (parts_t){ 0 };
}

size_t
parts_memory (const parts_t *self)
{
    size_t stay = self->stay ? STAY_SIZE : 0;
    return self->pairs ? (((size_t)1 << self->log) + HALVES) / 8 + stay : 0;
}

void
parts_keep (parts_t *self, span_t token)
{
    size_t last = token.size - 1, first = letters_whole (token);
    while (last && letters_goes_on (token.data [last]))
        last--;
    if (!first || letters_whole (span_slice (token, last, token.size)) != token.size - last)
        return;
    if (!self->stay)
        self->stay = memory_new (STAY_SIZE);
    s_set_bit (self->stay, parts_stay (s_character (token, 0, first), PARTS_BEGIN));
    s_set_bit (self->stay, parts_stay (s_character (token, last, token.size - last), PARTS_END));
}

//  Characters of ASCII stay together: words of them are short.
static inline bool
s_joins (const parts_t *self, uint32_t left, uint32_t right, const uint8_t *at)
{
    return (left | right) < 0x80 || parts_join (self, left, right, at);
}

static size_t
s_first_joint (const parts_t *self, span_t piece)
{
    size_t at = letters_whole (piece), size = at;
    for (uint32_t left = s_character (piece, 0, size), right; size && at < piece.size; at += size, left = right) {
        size = letters_whole (span_slice (piece, at, piece.size));
        right = s_character (piece, at, size);
        if (size && !s_joins (self, left, right, piece.data + at))
            return at;
    }
    return piece.size;
}

size_t
parts_first (const parts_t *self, span_t piece)
{
    if (self->pairs)
        return s_first_joint (self, piece);
    return self->enabled ? s_first_mark (self, piece) : piece.size;
}

//  ---- Many places at once -------------------------------------------------------------------------------------------

//  The character before `at`, which is not 0, or the one that `at` is in.
static uint32_t
s_before (span_t text, size_t at)
{
    size_t start = at - 1;
    while (letters_goes_on (text.data [start]))
        start--;
    return s_character (text, start, letters_size (text.data [start]));
}

//  Whether a character is wide.
static inline bool
s_is_wide (uint32_t character)
{
    return (character & 0xff) >= WIDE_FIRST;
}

//  What is looked at at once.
typedef struct {
    const uint8_t *bytes;       //  Its bytes, with the one before and the rest of the last character
    uint32_t before;            //  The character before it
    uint64_t firsts;            //  First bytes of characters, where one and the one before it are not both of ASCII
    uint64_t beside_wide;       //  Of all characters, those that are wide or stand behind a wide one
    uint8_t copy [1 + READ];    //  Of the bytes, where the text does not have them all
} block_t;

//  The first bytes of characters that are wide or stand behind a wide one. leads: of wide ones.
static uint64_t
s_beside_wide (uint64_t leads, uint64_t goes_on, bool behind_wide)
{
    uint64_t wide = leads;
    for (unsigned i = 1; i < CHARACTER_MAX; i++)
        wide |= (wide << 1 | behind_wide) & goes_on;
    return leads | ((wide << 1 | behind_wide) & ~goes_on);
}

//  Returns false where there is no place.
static inline bool
s_look_at (const parts_t *self, span_t text, size_t at, block_t *block)
{
    size_t left = text.size - at;
    const uint8_t *bytes = text.data + at;
    if (left < READ || !at) {
        memset (block->copy, 0, sizeof block->copy);
        block->copy [0] = at ? text.data [at - 1] : 0;
        bytes = memcpy (block->copy + 1, bytes, left < READ ? left : READ);
    }
    uint32_t before = at ? s_before (text, at) : 0;
    uint64_t beyond = classes_below (bytes, 0), wide = beyond & ~classes_below (bytes, WIDE_FIRST - 256);
    if (!self->pairs || (!wide && !s_is_wide (before)))
        return false;
    uint64_t goes_on = classes_below (bytes, CLASSES_GOES_ON);
    block->bytes = bytes;
    block->before = before;
    block->firsts = (beyond & ~goes_on) | (~beyond & (beyond << 1 | (before >= 0x80)));
    block->beside_wide = s_beside_wide (wide, goes_on, s_is_wide (before));
    return true;
}

//  The character that begins at a place.
static inline uint32_t
s_block_character (const block_t *block, size_t place)
{
    const uint8_t *here = block->bytes + place;
    return parts_character (here, letters_size (*here), CHARACTER_MAX);
}

uint64_t
parts_places (const parts_t *self, span_t text, size_t at)
{
    block_t block;
    uint64_t places = 0;
    if (!s_look_at (self, text, at, &block))
        return 0;
    uint32_t before = block.before;
    for (uint64_t firsts = block.firsts; firsts; firsts &= firsts - 1) {
        size_t place = (size_t)__builtin_ctzll (firsts);
        const uint8_t *here = block.bytes + place;
        uint32_t right = s_block_character (&block, place), left = here [-1] < 0x80 ? here [-1] : before;
        places |= (uint64_t)!parts_join (self, left, right, here) << place;
        before = right;
    }
    return places & block.beside_wide;
}

size_t
parts_last (const parts_t *self, span_t text, size_t at)
{
    block_t block;
    uint64_t asked = s_look_at (self, text, at, &block) ? block.firsts & block.beside_wide : 0;
    while (asked) {
        size_t place = 63 - (size_t)__builtin_clzll (asked);
        uint32_t left = at + place ? s_before (text, at + place) : 0, right = s_block_character (&block, place);
        if (!parts_join (self, left, right, block.bytes + place))
            return place;
        asked ^= 1ull << place;
    }
    return PARTS_PLACES;
}
