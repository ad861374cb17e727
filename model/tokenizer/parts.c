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
    STAY_SIZE = PARTS_ASCII + PARTS_BLOCKS,     //  Bytes of stay
    CHARACTER_MAX = 4,                          //  Bytes of a character, at most
    READ = PARTS_PLACES + CHARACTER_MAX - 1,    //  Bytes of a block, and of a character that goes on behind it
    WIDE_LEAD = -29                             //  The first byte of wide ones, with a sign, is not below this
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

//  ---- Characters of byte-level vocabularies ---------------------------------------------------------------------------

static void
s_set_bit (uint64_t *bits, uint64_t bit)
{
    bits [bit / 64] |= 1ull << (bit % 64);
}

//  What meets in a token before each byte that begins a character.
static void
s_learn (parts_t *self, span_t token)
{
    size_t size = 0, left = token.size && !letters_goes_on (token.data [0]) ? letters_whole (token) : 0;
    for (size_t start = 0, at = 1; at < token.size; at++) {
        if (letters_goes_on (token.data [at]))
            continue;
        size_t right = letters_whole (span_slice (token, at, token.size));
        if (left == at - start && left && right)
            s_set_bit (self->pairs,
                parts_pair (self, letters_decode (token.data + start, &size), letters_decode (token.data + at, &size)));
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
    size_t last = token.size - 1, size;
    while (last && letters_goes_on (token.data [last]))
        last--;
    if (!letters_whole (token) || letters_whole (span_slice (token, last, token.size)) != token.size - last)
        return;
    if (!self->stay)
        self->stay = memory_new (STAY_SIZE);
    self->stay [parts_block (letters_decode (token.data, &size))] |= STAY_BEGIN;
    self->stay [parts_block (letters_decode (token.data + last, &size))] |= STAY_END;
}

//  Characters of ASCII stay together: words of them are short.
static bool
s_joins (const parts_t *self, span_t piece, size_t left, size_t at)
{
    size_t size;
    uint32_t before = letters_decode (piece.data + left, &size), code = letters_decode (piece.data + at, &size);
    return (before | code) < 0x80 || parts_join (self, before, code, piece.data + at);
}

static size_t
s_first_joint (const parts_t *self, span_t piece)
{
    size_t left = 0, size = letters_whole (piece);
    for (size_t at = size; size && at < piece.size; at += size) {
        size = letters_whole (span_slice (piece, at, piece.size));
        if (size && !s_joins (self, piece, left, at))
            return at;
        left = at;
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

//  ---- Many places at once ---------------------------------------------------------------------------------------------

//  The character before `at`, which is not 0.
static uint32_t
s_before (span_t text, size_t at)
{
    size_t size;
    do
        at--;
    while (letters_goes_on (text.data [at]));
    return letters_decode (text.data + at, &size);
}

//  The places of one block. before: the character before it. firsts: bytes that a character
//  begins with, where it and the one before it are not both of ASCII.
static uint64_t
s_places (const parts_t *self, const uint8_t *bytes, uint32_t before, uint64_t firsts)
{
    uint64_t places = 0;
    for (; firsts; firsts &= firsts - 1) {
        size_t size, place = (size_t)__builtin_ctzll (firsts);
        const uint8_t *at = bytes + place;
        uint32_t code = letters_decode (at, &size);
        before = at [-1] < 0x80 ? at [-1] : before;
        places |= (uint64_t)!parts_join (self, before, code, at) << place;
        before = code;
    }
    return places;
}

//  The first bytes of characters that are wide or stand behind a wide one. leads: of wide ones.
static uint64_t
s_beside_wide (uint64_t leads, uint64_t goes_on, bool behind_wide)
{
    uint64_t wide = leads;
    for (unsigned i = 1; i < CHARACTER_MAX; i++)
        wide |= (wide << 1 | behind_wide) & goes_on;
    return leads | ((wide << 1 | behind_wide) & ~goes_on);
}

uint64_t
parts_places (const parts_t *self, span_t text, size_t at)
{
    size_t left = text.size - at;
    uint8_t copy [1 + READ] = { at ? text.data [at - 1] : 0 };
    const uint8_t *bytes = text.data + at;
    if (left < READ || !at)
        bytes = memcpy (copy + 1, bytes, left < READ ? left : READ);
    uint32_t before = at ? s_before (text, at) : 0;
    uint64_t beyond = classes_below (bytes, 0), wide = beyond & ~classes_below (bytes, WIDE_LEAD);
    if (!self->pairs || (!wide && before < PARTS_WIDE))
        return 0;
    uint64_t goes_on = classes_below (bytes, CLASSES_GOES_ON);
    uint64_t firsts = (beyond & ~goes_on) | (~beyond & (beyond << 1 | (before >= 0x80)));
    return s_places (self, bytes, before, firsts) & s_beside_wide (wide, goes_on, before >= PARTS_WIDE);
}
