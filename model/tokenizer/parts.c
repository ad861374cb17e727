#include "model/tokenizer/parts.h"

#include <string.h>

#include "base/memory.h"
#include "model/tokenizer/letters.h"

enum {
    PAIRS_LOG_MIN = 12,    //  Two to this power, at least, are the bits of pairs;
    PAIRS_LOG_MAX = 20,    //  and to this one, at most;
    PAIRS_A_TOKEN = 8,     //  in between, this many for each token
    HALVES = 1 << 16       //  Bits of halves
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

size_t
parts_first (const parts_t *self, span_t piece)
{
    if (!self->enabled)
        return piece.size;
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
    self->log = PAIRS_LOG_MIN;
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
    *self = (parts_t){ 0 };
}

size_t
parts_memory (const parts_t *self)
{
    return self->pairs ? (((size_t)1 << self->log) + HALVES) / 8 : 0;
}

//  Characters of ASCII stay together: words of them are short.
static bool
s_joins_pair (const parts_t *self, span_t piece, size_t left, size_t at)
{
    size_t size;
    uint32_t before = letters_decode (piece.data + left, &size), code = letters_decode (piece.data + at, &size);
    return parts_join (self, before, code, piece.data + at);
}

size_t
parts_first_joint (const parts_t *self, span_t piece)
{
    size_t left = 0, size = letters_goes_on (piece.data [0]) ? 0 : letters_whole (piece);
    for (size_t at = size; size && at < piece.size; at += size) {
        size = letters_goes_on (piece.data [at]) ? 0 : letters_whole (span_slice (piece, at, piece.size));
        if (size && !s_joins_pair (self, piece, left, at))
            return at;
        left = at;
    }
    return piece.size;
}

//  Whether a piece falls apart at `at`, before which a character begins at `left`.
static bool
s_is_joint (const parts_t *self, span_t piece, size_t left, size_t at)
{
    return !letters_goes_on (piece.data [left]) && letters_whole (span_slice (piece, left, at - left)) == at - left &&
           !letters_goes_on (piece.data [at]) && letters_whole (span_slice (piece, at, piece.size)) &&
           !s_joins_pair (self, piece, left, at);
}

size_t
parts_last_joint (const parts_t *self, span_t piece, size_t most)
{
    for (size_t at = most < piece.size ? most : 0, left; at; at = left) {
        for (left = at - 1; left && letters_goes_on (piece.data [left]);)
            left--;
        if (s_is_joint (self, piece, left, at))
            return at;
    }
    return piece.size;
}
