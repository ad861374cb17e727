#include "model/tokenizer/firsts.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "model/tokenizer/letters.h"

enum { EDGES = 1 << 16, BYTES_MAX = 4 };

//  Bytes that go on with a character, from the first on.
static size_t
s_going_on (span_t bytes)
{
    size_t count = 0;
    while (count < bytes.size && letters_goes_on (bytes.data [count]))
        count++;
    return count;
}

//  Whether a character may begin with bytes and have more, or be this one.
static bool
s_may_begin (span_t bytes)
{
    size_t going_on = s_going_on (span_slice (bytes, 1, bytes.size));
    return bytes.size == 1 || (bytes.size < letters_size (bytes.data [0]) && going_on == bytes.size - 1);
}

static bool
s_may_end (span_t bytes)
{
    return bytes.size == 1 || s_going_on (bytes) == bytes.size;
}

static void
s_lower (uint32_t *lowest, uint32_t rank)
{
    if (rank < *lowest)
        *lowest = rank;
}

//  What reaches across the edges of characters; and by token, the lowest rank of its rules.
static void
s_learn_edges (firsts_t *self, const vocabulary_t *vocabulary, const merges_t *merges, uint32_t *lowest)
{
    for (uint32_t rank = 0; rank < merges->rules.count; rank++) {
        const merge_t *rule = merges_rule (merges, rank);
        span_t left = vocabulary_bytes (vocabulary, rule->left), right = vocabulary_bytes (vocabulary, rule->right);
        s_lower (&lowest [rule->left], rank);
        s_lower (&lowest [rule->right], rank);
        if (!left.size || !right.size)
            continue;
        edge_t *edge = firsts_edge (self, (const uint8_t []){ left.data [left.size - 1], right.data [0] });
        if (s_may_begin (right))
            s_lower (&edge->before, rank);
        if (s_may_end (left))
            s_lower (&edge->behind, rank);
    }
}

//  What the rules make of the bytes of a character alone, if that is one token.
static first_t
s_first (const merges_t *merges, span_t character, const uint32_t *bytes)
{
    uint32_t ids [BYTES_MAX], highest = 0;
    size_t count = character.size;
    for (size_t i = 0; i < count; i++)
        ids [i] = bytes [character.data [i]];
    while (count > 1) {
        uint32_t best = MERGE_NONE;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t rank = merges_find (merges, ids [i], ids [i + 1]);
            at = rank < best ? i : at;
            best = rank < best ? rank : best;
        }
        if (best == MERGE_NONE)
            return (first_t){ TOKEN_NONE, MERGE_NONE };
        ids [at] = merges_made (merges, best);
        memmove (ids + at + 1, ids + at + 2, (--count - at - 1) * sizeof *ids);
        highest = best > highest ? best : highest;
    }
    return (first_t){ ids [0], highest };
}

static void
s_learn_characters (firsts_t *self, const vocabulary_t *vocabulary, const merges_t *merges, const uint32_t *bytes,
    const uint32_t *lowest)
{
    for (uint32_t id = 0; id < vocabulary_size (vocabulary); id++) {
        span_t text = vocabulary_bytes (vocabulary, id);
        if (!text.size || text.size > BYTES_MAX || letters_size (text.data [0]) != text.size || !utf8_is_valid (text))
            continue;
        size_t size;
        uint32_t code = letters_decode (text.data, &size);
        first_t first = s_first (merges, text, bytes);
        if (code < FIRSTS_CODES && first.rank != MERGE_NONE && (first.rank < lowest [first.id] || text.size == 1))
            self->characters [code] = first;
    }
}

//  A table whose ranks are MERGE_NONE.
static void *
s_new_table (size_t size)
{
    return memset (memory_new_table (size), 0xff, size);
}

void
firsts_init (firsts_t *self, const vocabulary_t *vocabulary, const merges_t *merges, const uint32_t *bytes)
{
    uint32_t *lowest = s_new_table (vocabulary_size (vocabulary) * sizeof *lowest);
    self->characters = s_new_table (FIRSTS_CODES * sizeof *self->characters);
    self->edges = s_new_table (EDGES * sizeof *self->edges);
    s_learn_edges (self, vocabulary, merges, lowest);
    s_learn_characters (self, vocabulary, merges, bytes, lowest);
    memory_free (lowest);
}

void
firsts_fini (firsts_t *self)
{
    memory_free (self->characters);
    memory_free (self->edges);
    *self = (firsts_t){ 0 };
}

size_t
firsts_memory (const firsts_t *self)
{
    return self->edges ? FIRSTS_CODES * sizeof *self->characters + EDGES * sizeof *self->edges : 0;
}
