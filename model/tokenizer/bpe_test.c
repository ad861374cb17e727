//  What pieces become, against the rules applied one at a time: random rules over bytes, and over characters of some bytes.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/parts.h"

enum { SEEDS = 150, RULES = 80, TEXTS = 60, BYTES = 256, TOKEN_MAX = 12 };

//  Among them the same code point twice, once written too long.
static const char *const s_characters [] = { "a", "b", "c", " ", "\xc3\xa9", "\xe4\xb8\xad", "\xe4\xb8\xae",
    "\xe5\x9b\xbd", "\xe5\x9b\xad", "\xf0\x9f\x9a\x80", "\xe8\xb8\xad", "\xf0\x84\xb8\xad" };

typedef struct {
    vocabulary_t *vocabulary;    //  All bytes, and what the rules make
    bpe_t bpe;                   //  With the rules
    merge_t rules [RULES];       //  The same by rank
    size_t count;                //  How many
    bool once;                   //  Each makes a token of its own
} model_t;

//  The rule of two tokens, which may make one that another rule makes too.
static merge_t
s_rule (model_t *self, uint32_t left, uint32_t right)
{
    buffer_t text = { 0 };
    buffer_append (&text, vocabulary_bytes (self->vocabulary, left));
    buffer_append (&text, vocabulary_bytes (self->vocabulary, right));
    uint32_t id = vocabulary_find (self->vocabulary, buffer_span (&text));
    if (id == TOKEN_NONE) {
        id = vocabulary_size (self->vocabulary);
        assert_int_equal (vocabulary_put (self->vocabulary, id, buffer_span (&text), NULL), STATUS_OK);
    }
    buffer_fini (&text);
    return (merge_t){ left, right, id };
}

//  A token that the characters are made of, or a rule made.
static uint32_t
s_token (model_t *self, random_t *random)
{
    uint32_t made = vocabulary_size (self->vocabulary) - BYTES;
    if (made && random_below (random, 2))
        return BYTES + (uint32_t)random_below (random, made);
    const char *text = s_characters [random_below (random, sizeof s_characters / sizeof *s_characters)];
    return (uint8_t)text [random_below (random, strlen (text))];
}

//  Returns what the two become.
static uint32_t
s_put_rule (model_t *self, uint32_t left, uint32_t right)
{
    size_t size = vocabulary_bytes (self->vocabulary, left).size + vocabulary_bytes (self->vocabulary, right).size;
    if (size > TOKEN_MAX || self->count == RULES)
        return TOKEN_NONE;
    uint32_t tokens = vocabulary_size (self->vocabulary);
    merge_t rule = s_rule (self, left, right);
    if (!self->once || rule.id == tokens)
        self->rules [self->count++] = rule;
    return rule.id;
}

//  Rules that make a character whole.
static void
s_put_character (model_t *self, const char *text)
{
    uint32_t id = (uint8_t)text [0];
    for (const char *next = text + 1; *next; next++)
        id = s_put_rule (self, id, (uint8_t)*next);
}

static void
s_swap_some (model_t *self, random_t *random)
{
    for (uint64_t swaps = random_below (random, 4) ? 0 : random_below (random, RULES); swaps; swaps--) {
        size_t a = random_below (random, RULES), b = random_below (random, RULES);
        merge_t rule = self->rules [a];
        self->rules [a] = self->rules [b];
        self->rules [b] = rule;
    }
}

//  Rules as they are learned, each of what is there, often characters first; and, but for such that make each its own token, some
//  out of their order.
static void
s_init_rules (model_t *self, random_t *random, bool once)
{
    *self = (model_t){ .vocabulary = vocabulary_new (), .once = once };
    bpe_init (&self->bpe, self->vocabulary);
    for (uint32_t i = 0; i < BYTES; i++) {
        uint8_t byte = (uint8_t)i;
        assert_int_equal (vocabulary_put (self->vocabulary, i, span_of (&byte, 1), NULL), STATUS_OK);
        self->bpe.bytes [i] = i;
    }
    for (size_t i = 0; i < sizeof s_characters / sizeof *s_characters; i++)
        if (random_below (random, 2))
            s_put_character (self, s_characters [i]);
    while (self->count < RULES)
        s_put_rule (self, s_token (self, random), s_token (self, random));
    if (!once)
        s_swap_some (self, random);
    for (size_t i = 0; i < RULES; i++)
        merges_put (&self->bpe.merges, self->rules [i]);
    self->bpe.byte_level = true;
    assert_int_equal (bpe_seal (&self->bpe, NULL), STATUS_OK);
}

static void
s_init (model_t *self, random_t *random)
{
    s_init_rules (self, random, false);
}

static void
s_fini (model_t *self)
{
    bpe_fini (&self->bpe);
    vocabulary_destroy (&self->vocabulary);
}

//  The rank of two tokens' last rule; RULES where they have none.
static size_t
s_rank (const model_t *self, uint32_t left, uint32_t right)
{
    for (size_t rank = RULES; rank-- > 0;)
        if (self->rules [rank].left == left && self->rules [rank].right == right)
            return rank;
    return RULES;
}

//  What a text becomes by the letter of the rules.
static size_t
s_expected (const model_t *self, span_t text, uint32_t *ids)
{
    size_t count = text.size;
    for (size_t i = 0; i < count; i++)
        ids [i] = text.data [i];
    for (;;) {
        size_t best = RULES, at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            size_t rank = s_rank (self, ids [i], ids [i + 1]);
            at = rank < best ? i : at;
            best = rank < best ? rank : best;
        }
        if (best == RULES)
            return count;
        ids [at] = self->rules [best].id;
        memmove (ids + at + 1, ids + at + 2, (--count - at - 1) * sizeof *ids);
    }
}

static void
s_check (const model_t *self, span_t text, const uint32_t *ids, size_t count, uint64_t seed)
{
    uint32_t expected [1000];
    assert_in_range (text.size, 1, 1000);
    if (s_expected (self, text, expected) != count || memcmp (expected, ids, count * sizeof *ids) != 0)
        fail_msg ("seed %llu: %.*s", (unsigned long long)seed, SPAN_ARG (text));
}

//  Characters of which one may lack bytes at the start or at the end; some are many.
static span_t
s_text (random_t *random, buffer_t *text)
{
    buffer_clear (text);
    for (uint64_t left = 1 + random_below (random, random_below (random, 8) ? 12 : 100); left; left--)
        buffer_append_string (text, s_characters [random_below (random, sizeof s_characters / sizeof *s_characters)]);
    size_t from = random_below (random, 4) ? 0 : random_below (random, text->size);
    size_t to = random_below (random, 4) ? text->size : from + 1 + random_below (random, text->size - from);
    return span_slice (buffer_span (text), from, to - from);
}

static void
test_a_piece_becomes_what_the_rules_say (void **state)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        model_t model;
        random_t random;
        buffer_t room = { 0 };
        array_t ids;
        random_init (&random, seed);
        array_init (&ids, sizeof (uint32_t));
        s_init (&model, &random);
        for (size_t i = 0; i < TEXTS; i++) {
            span_t text = s_text (&random, &room);
            array_cut (&ids, 0);
            assert_int_equal (bpe_merge (&model.bpe, text, &ids, NULL), STATUS_OK);
            s_check (&model, text, ids.data, ids.count, seed);
        }
        s_fini (&model);
        array_fini (&ids);
        buffer_fini (&room);
    }
}

//  The same by its parts, each of which knows nothing of the others.
static void
test_a_piece_becomes_the_same_by_its_parts (void **state)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        model_t model;
        random_t random;
        parts_t parts;
        buffer_t room = { 0 };
        array_t ids;
        random_init (&random, seed);
        array_init (&ids, sizeof (uint32_t));
        s_init (&model, &random);
        parts_init_bytes (&parts, model.vocabulary);
        for (size_t i = 0; i < TEXTS; i++) {
            span_t text = s_text (&random, &room);
            array_cut (&ids, 0);
            for (size_t at = 0, size; at < text.size; at += size) {
                size = parts_first (&parts, span_slice (text, at, text.size));
                assert_int_equal (bpe_merge (&model.bpe, span_slice (text, at, size), &ids, NULL), STATUS_OK);
            }
            s_check (&model, text, ids.data, ids.count, seed);
        }
        parts_fini (&parts);
        s_fini (&model);
        array_fini (&ids);
        buffer_fini (&room);
    }
}

//  Of one to as many as can be, of any sizes that can be.
static void
test_pieces_side_by_side_become_the_same (void **state)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        model_t model;
        random_t random;
        buffer_t rooms [BPE_SIDE] = { 0 };
        span_t pieces [BPE_SIDE];
        size_t ends [BPE_SIDE], start = 0, count;
        array_t ids;
        random_init (&random, seed);
        array_init (&ids, sizeof (uint32_t));
        s_init (&model, &random);
        count = 1 + random_below (&random, BPE_SIDE);
        for (size_t i = 0; i < count; i++) {
            span_t text = s_text (&random, &rooms [i]);
            pieces [i] = span_slice (text, 0, BPE_SIDE_SIZE);
        }
        bpe_merge_side_by_side (&model.bpe, pieces, count, &ids, ends);
        for (size_t i = 0; i < count; start = ends [i++])
            s_check (&model, pieces [i], array_at (&ids, start), ends [i] - start, seed);
        assert_int_equal (start, ids.count);
        s_fini (&model);
        array_fini (&ids);
        for (size_t i = 0; i < BPE_SIDE; i++)
            buffer_fini (&rooms [i]);
    }
}

//  Returns whether two texts are said to become the same side by side. sure: counts such that do; missed: those of them of which it
//  is not said.
static bool
s_check_seam (model_t *model, span_t text, size_t at, size_t *sure, size_t *missed, uint64_t seed)
{
    uint32_t expected [1000];
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    assert_int_equal (bpe_merge (&model->bpe, span_slice (text, 0, at), &ids, NULL), STATUS_OK);
    size_t left = ids.count;
    assert_int_equal (bpe_merge (&model->bpe, span_slice (text, at, text.size - at), &ids, NULL), STATUS_OK);
    const uint32_t *row = ids.data;
    bool holds = merges_hold_apart (&model->bpe.merges, row [left - 1], row [left]);
    bool same = s_expected (model, text, expected) == ids.count && memcmp (expected, row, ids.count * sizeof *row) == 0;
    if (holds && !same)
        fail_msg ("seed %llu: %.*s at %zu", (unsigned long long)seed, SPAN_ARG (text), at);
    *sure += same;
    *missed += same && !holds;
    array_fini (&ids);
    return holds;
}

//  Where a text may be cut and merged in halves is known of nearly all such places.
static void
test_a_piece_becomes_the_same_by_halves_where_that_is_said (void **state)
{
    size_t said = 0, sure = 0, missed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        model_t model;
        random_t random;
        buffer_t room = { 0 };
        random_init (&random, seed);
        s_init_rules (&model, &random, true);
        assert_true (model.bpe.knows_seams);
        for (size_t i = 0; i < TEXTS; i++) {
            span_t text = s_text (&random, &room);
            if (text.size > 1)
                said += s_check_seam (&model, text, 1 + random_below (&random, text.size - 1), &sure, &missed, seed);
        }
        s_fini (&model);
        buffer_fini (&room);
    }
    assert_true (said > SEEDS * TEXTS / 10 && missed < sure / 50);
}

//  Bytes that are numbered like what a rule makes could be taken for that.
static void
test_halves_are_not_known_where_a_byte_stands_behind_a_rule (void **state)
{
    for (uint32_t above = BYTES - 1; above <= BYTES; above++) {
        model_t model = { .vocabulary = vocabulary_new () };
        bpe_init (&model.bpe, model.vocabulary);
        for (uint32_t i = 0; i < BYTES; i++) {
            uint8_t byte = (uint8_t)i;
            model.bpe.bytes [i] = i + (i >= above);
            assert_int_equal (
                vocabulary_put (model.vocabulary, model.bpe.bytes [i], span_of (&byte, 1), NULL), STATUS_OK);
        }
        assert_int_equal (vocabulary_put (model.vocabulary, above, SPAN ("ab"), NULL), STATUS_OK);
        merges_put (&model.bpe.merges, (merge_t){ 'a', 'b', above });
        model.bpe.byte_level = true;
        assert_int_equal (bpe_seal (&model.bpe, NULL), STATUS_OK);
        assert_true (model.bpe.knows_bytes);
        assert_int_equal (model.bpe.knows_seams, above == BYTES);
        s_fini (&model);
    }
}

//  ---- Beyond the ends -----------------------------------------------------------------------------------------------

enum { FEW_LETTERS = 14, TWOS = FEW_LETTERS * FEW_LETTERS, THREES = TWOS * FEW_LETTERS };

//  Rules that make a token of any two letters, the lower letters first, and then of any such and a third. first: the number of the
//  first token that they make.
static void
s_init_threes (bpe_t *bpe, vocabulary_t *vocabulary, uint32_t first)
{
    bpe_init (bpe, vocabulary);
    for (uint32_t i = 0; i < BYTES; i++) {
        bpe->bytes [i] = i;
        assert_int_equal (vocabulary_put (vocabulary, i, span_of (&(uint8_t){ (uint8_t)i }, 1), NULL), STATUS_OK);
    }
    for (uint32_t two = 0; two < TWOS; two++)
        merges_put (&bpe->merges, (merge_t){ two / FEW_LETTERS, two % FEW_LETTERS, first + two });
    for (uint32_t three = 0; three < THREES; three++)
        merges_put (&bpe->merges, (merge_t){ first + three / FEW_LETTERS, three % FEW_LETTERS, first + TWOS + three });
    for (uint32_t rank = 0; rank < TWOS + THREES; rank++)
        assert_int_equal (vocabulary_put_hidden (vocabulary, first + rank, SPAN ("token"), NULL), STATUS_OK);
    bpe->byte_level = true;
    assert_int_equal (bpe_seal (bpe, NULL), STATUS_OK);
}

//  Of all texts of three letters.
static void
s_assert_threes (const bpe_t *bpe, uint32_t first, array_t *ids)
{
    for (uint32_t three = 0; three < THREES; three++) {
        uint32_t a = three / TWOS, b = three / FEW_LETTERS % FEW_LETTERS, c = three % FEW_LETTERS;
        span_t text = span_of ((uint8_t []){ (uint8_t)a, (uint8_t)b, (uint8_t)c }, 3);
        bool begins = a < b || (a == b && b <= c);
        uint32_t one = first + TWOS + three, two = first + b * FEW_LETTERS + c;
        size_t end;
        array_cut (ids, 0);
        bpe_merge_side_by_side (bpe, &text, 1, ids, &end);
        const uint32_t *made = ids->data;
        if (end != (begins ? 1 : 2) || made [0] != (begins ? one : a) || (!begins && made [1] != two))
            fail_msg ("tokens from %u on: text %u", first, three);
    }
}

//  What stands where the rule of what is beyond an end would stand is sometimes taken for it, by chance.
static void
test_what_is_beyond_the_ends_has_no_rule (void **state)
{
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    for (uint32_t first = BYTES; first < 80000; first += 997) {
        bpe_t bpe;
        vocabulary_t *vocabulary = vocabulary_new ();
        s_init_threes (&bpe, vocabulary, first);
        s_assert_threes (&bpe, first, &ids);
        bpe_fini (&bpe);
        vocabulary_destroy (&vocabulary);
    }
    array_fini (&ids);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_piece_becomes_what_the_rules_say),
        cmocka_unit_test (test_a_piece_becomes_the_same_by_its_parts),
        cmocka_unit_test (test_pieces_side_by_side_become_the_same),
        cmocka_unit_test (test_a_piece_becomes_the_same_by_halves_where_that_is_said),
        cmocka_unit_test (test_halves_are_not_known_where_a_byte_stands_behind_a_rule),
        cmocka_unit_test (test_what_is_beyond_the_ends_has_no_rule),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
