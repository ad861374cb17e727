//  What a memo remembers is what would be made anew: for any prompt, whatever came before it.

#include "base/random.h"
#include "model/memo/memo.h"
#include "model/tokenizer/tokenizer_fixture.h"

#define CHAT                                                                                                    \
    ADDED (268, "<s>", SPECIAL)                                                                                 \
    "," ADDED (269, "<s><s>", SPECIAL) "," ADDED (270, "<end>", SPECIAL) "," ADDED (271, "<t>", "") "," ADDED ( \
        272, "<r>", ",\"rstrip\":true") "," ADDED (273, "wd", ",\"single_word\":true")

static namespace_t
s_namespace (const char *salt, uint32_t block_size)
{
    namespace_t ns;
    namespace_parts_t parts = { SPAN ("card"), SPAN (""), span_from_string (salt), block_size };
    assert_int_equal (namespace_init (&ns, SPAN ("secret"), &parts, NULL), STATUS_OK);
    return ns;
}

//  ---- A memo and what it must equal ---------------------------------------------------------------------------------

typedef struct {
    tokenizer_t *cold;    //  The oracle's
    tokenizer_t *warm;    //  The memo's
    memo_t *memo;         //  Under test
    array_t tokens;       //  uint32_t: the last prompt's
    array_t expected;     //  uint32_t: the same, made anew
} house_t;

static void
s_open (house_t *self, const char *added, uint64_t bytes_max)
{
    self->cold = fixture_qwen_like (added);
    self->warm = fixture_qwen_like (added);
    self->memo = memo_new (self->warm, bytes_max, 0);
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->expected, sizeof (uint32_t));
}

static void
s_close (house_t *self)
{
    memo_destroy (&self->memo);
    memo_destroy (&self->memo);
    tokenizer_destroy (&self->warm);
    tokenizer_destroy (&self->cold);
    array_fini (&self->tokens);
    array_fini (&self->expected);
}

static bool
s_is_right (house_t *self, const namespace_t *ns, span_t prompt)
{
    sequence_t *chain = NULL, *expected = sequence_new (ns);
    size_t count, expected_count;
    error_t error;
    array_cut (&self->tokens, 0);
    array_cut (&self->expected, 0);
    if (tokenizer_encode (self->cold, prompt, (tokenizer_flags_t){ .parse_special = true }, &self->expected, &error) ||
        memo_encode (self->memo, ns, prompt, &self->tokens, &chain, &error))
        fail_msg ("%s", error.text);
    sequence_extend (expected, self->expected.data, self->expected.count);
    const hash128_t *hashes = sequence_hashes (chain, &count);
    const hash128_t *expected_hashes = sequence_hashes (expected, &expected_count);
    bool right = self->tokens.count == self->expected.count && count == expected_count &&
                 sequence_tokens (chain) == sequence_tokens (expected);
    for (size_t i = 0; i < self->tokens.count && right; i++)
        right = ((uint32_t *)self->tokens.data) [i] == ((uint32_t *)self->expected.data) [i];
    for (size_t i = 0; i < count && right; i++)
        right = hash128_equal (hashes [i], expected_hashes [i]);
    sequence_destroy (&chain);
    sequence_destroy (&expected);
    return right;
}

static void
s_check (house_t *self, const namespace_t *ns, const char *prompt)
{
    if (!s_is_right (self, ns, span_from_string (prompt)))
        fail_msg ("\"%s\"", prompt);
}

//  ---- The story of a conversation -----------------------------------------------------------------------------------

static void
test_a_turn_costs_what_is_new_in_it (void **state)
{
    house_t house;
    namespace_t ns = s_namespace ("", 4);
    s_open (&house, CHAT, 1 << 20);
    s_check (&house, &ns, "<t>system: you are a helpful assistant<end>\n<t>user: hello there, how are you?<end>\n<t>");
    assert_int_equal (memo_counts (house.memo).known, 0);
    s_check (&house, &ns,
        "<t>system: you are a helpful assistant<end>\n<t>user: hello there, how are you?<end>\n<t>assistant: "
        "fine<end>");
    assert_int_equal (memo_counts (house.memo).known, 83);
    s_check (&house, &ns,
        "<t>system: you are a helpful assistant<end>\n<t>user: hello there, how are YOU?<end>\n<t>assistant: "
        "fine<end>");
    assert_int_equal (memo_counts (house.memo).known, 83 + 43);
    assert_int_equal (memo_counts (house.memo).prompts, 3);
    s_close (&house);
}

//  The same stretch in another place is another entry: its blocks have another history.
static void
test_what_stands_before_decides (void **state)
{
    house_t house;
    namespace_t ns = s_namespace ("", 4);
    s_open (&house, CHAT, 1 << 20);
    s_check (&house, &ns, "<t>user: one and the same question<end><t>user: one and the same question<end>");
    s_check (&house, &ns, "<t>user: another, quite long question<end><t>user: one and the same question<end>");
    assert_int_equal (memo_counts (house.memo).known, 0);
    assert_int_equal (memo_counts (house.memo).entries, 1 + 4);
    s_close (&house);
}

static void
test_namespaces_share_nothing (void **state)
{
    static const char prompt [] = "<t>user: a question that two tenants ask<end>";
    house_t house;
    namespace_t ours = s_namespace ("ours", 4), theirs = s_namespace ("theirs", 4), longer = s_namespace ("ours", 5);
    s_open (&house, CHAT, 1 << 20);
    s_check (&house, &ours, prompt);
    s_check (&house, &theirs, prompt);
    s_check (&house, &longer, prompt);
    assert_int_equal (memo_counts (house.memo).known, 0);
    s_check (&house, &ours, prompt);
    s_check (&house, &theirs, prompt);
    s_check (&house, &longer, prompt);
    assert_int_equal (memo_counts (house.memo).known, 3 * (sizeof prompt - 1));
    s_close (&house);
}

//  ---- Collisions ----------------------------------------------------------------------------------------------------

//  XXH3 multiplies 16 bytes at a time after mixing them with constants; where the first 8 are the constant, the product is
//  0 whatever the others are.  With the seed unknown nobody can do that, and where chance does, the bytes are compared.
static void
test_stretches_of_one_hash_are_told_apart (void **state)
{
#define CONSTANT "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe"
    static const char one [] = CONSTANT "abababab, and so  <end>!", other [] = CONSTANT "bbaabbaa, and so  <end>!";
    span_t bytes = span_of (one, 32), other_bytes = span_of (other, 32);
    house_t house;
    namespace_t ns = s_namespace ("", 4);
    assert_int_equal (hash_bytes (bytes, 0), hash_bytes (other_bytes, 0));
    s_open (&house, ADDED (268, " <end>!", SPECIAL), 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        assert_true (s_is_right (&house, &ns, bytes));
        assert_true (s_is_right (&house, &ns, other_bytes));
    }
    assert_int_equal (memo_counts (house.memo).known, 32);
    s_close (&house);
}

//  ---- Bounds --------------------------------------------------------------------------------------------------------

static void
s_say (buffer_t *prompt, const char *who, uint64_t number)
{
    buffer_print (prompt, "<t>%s: what about %llu abab aaaa?<end>\n", who, (unsigned long long)number);
}

//  Two conversations take turns; what nobody comes back to goes, and they stay.
static void
test_what_was_unused_for_longest_goes (void **state)
{
    enum { BOUND = 64 << 10 };
    house_t house;
    namespace_t ns = s_namespace ("", 4);
    buffer_t prompts [2] = { { 0 }, { 0 } };
    s_open (&house, CHAT, BOUND);
    for (uint64_t turn = 0; turn < 40; turn++) {
        uint64_t known = memo_counts (house.memo).known;
        s_say (&prompts [turn & 1], turn & 1 ? "odd" : "even", turn);
        assert_true (s_is_right (&house, &ns, buffer_span (&prompts [turn & 1])));
        known = memo_counts (house.memo).known - known;
        assert_true (prompts [turn & 1].size - known < 100);
        for (uint64_t i = 0; i < 20; i++) {
            buffer_t stranger = { 0 };
            s_say (&stranger, "stranger", turn * 20 + i);
            assert_true (s_is_right (&house, &ns, buffer_span (&stranger)));
            buffer_fini (&stranger);
        }
        assert_true (memo_counts (house.memo).used <= BOUND);
    }
    assert_true (memo_counts (house.memo).evicted > 100);
    for (size_t i = 0; i < 2; i++)
        buffer_fini (&prompts [i]);
    s_close (&house);
}

static void
test_one_prompt_pushes_out_no_more_than_half (void **state)
{
    enum { BOUND = 64 << 10 };
    static const char ours [] = "<t>user: a question that comes again<end>";
    house_t house;
    namespace_t ns = s_namespace ("", 4);
    buffer_t flood = { 0 };
    s_open (&house, CHAT, BOUND);
    for (uint64_t i = 0; i < 4000; i++)
        s_say (&flood, "flood", i);
    s_check (&house, &ns, ours);
    assert_true (s_is_right (&house, &ns, buffer_span (&flood)));
    uint64_t known = memo_counts (house.memo).known;
    s_check (&house, &ns, ours);
    assert_int_equal (memo_counts (house.memo).known - known, sizeof ours - 1);
    assert_true (memo_counts (house.memo).used <= BOUND);
    buffer_fini (&flood);
    s_close (&house);
}

static void
test_a_memo_without_room_is_right_all_the_same (void **state)
{
    house_t house;
    namespace_t ns = s_namespace ("", 4);
    s_open (&house, CHAT, 0);
    s_check (&house, &ns, "<t>user: a question that comes again<end>");
    s_check (&house, &ns, "<t>user: a question that comes again<end>");
    s_check (&house, &ns, "");
    assert_int_equal (memo_counts (house.memo).used, 0);
    assert_int_equal (memo_counts (house.memo).entries, 0);
    s_close (&house);
}

//  A text that cannot be tokenised leaves nothing behind but what is right.
static void
test_a_prompt_that_cannot_be_encoded_fails_as_it_would_without (void **state)
{
    enum { SIZE = (1 << 24) + 1 };
    static const char head [] = "<t>user: a question that comes again<end>";
    tokenizer_t *tokenizer =
        fixture_byte_level ("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}", CHAT);
    memo_t *memo = memo_new (tokenizer, 1 << 20, 0);
    namespace_t ns = s_namespace ("", 4);
    buffer_t prompt = { 0 };
    array_t tokens;
    sequence_t *chain = NULL;
    error_t error;
    array_init (&tokens, sizeof (uint32_t));
    buffer_append_string (&prompt, head);
    memset (buffer_reserve (&prompt, SIZE), 'a', SIZE);
    buffer_commit (&prompt, SIZE);
    assert_int_equal (memo_encode (memo, &ns, buffer_span (&prompt), &tokens, &chain, &error), STATUS_LIMIT);
    assert_string_equal (error.text, "16777217 bytes without a place to cut them");
    assert_int_equal (tokens.count, 0);
    assert_null (chain);
    assert_int_equal (memo_encode (memo, &ns, span_from_string (head), &tokens, &chain, &error), STATUS_OK);
    assert_int_equal (memo_counts (memo).known, sizeof head - 1);
    sequence_destroy (&chain);
    memo_destroy (&memo);
    tokenizer_destroy (&tokenizer);
    array_fini (&tokens);
    buffer_fini (&prompt);
}

//  ---- Any prompts ---------------------------------------------------------------------------------------------------

static const char *const s_parts [] = { "<s>", "<end>", "<t>", "<r>", "wd", "<", "s>", " ", "\n", "a", "ab", "wd<t>",
    "\xcc\x81", "\xff", "a question of some length ", "and its answer, longer still, abab<end>" };

//  Grows, cuts, edits or replaces one of a few prompts.
static void
s_change (random_t *random, buffer_t *prompt)
{
    switch (random_below (random, 8)) {
    case 0:
        buffer_clear (prompt);
        break;
    case 1:
        prompt->size -= random_below (random, prompt->size + 1);
        break;
    case 2:
        if (prompt->size)
            prompt->data [random_below (random, prompt->size)] = (uint8_t) "<sa \n" [random_below (random, 5)];
        break;
    default:
        break;
    }
    for (uint64_t left = random_below (random, 12); left; left--)
        buffer_append_string (prompt, s_parts [random_below (random, sizeof s_parts / sizeof *s_parts)]);
}

//  With room for all, for some and for next to nothing.
static void
test_any_prompt_is_what_it_would_be_without (void **state)
{
    static const uint64_t bounds [] = { 1 << 20, 30000, 3000 };
    namespace_t spaces [] = { s_namespace ("a", 1), s_namespace ("b", 3), s_namespace ("c", 16) };
    for (uint64_t seed = 0; seed < 90; seed++) {
        house_t house;
        random_t random;
        buffer_t prompts [4] = { { 0 }, { 0 }, { 0 }, { 0 } };
        random_init (&random, seed);
        s_open (&house, CHAT, bounds [seed % 3]);
        for (size_t step = 0; step < 80; step++) {
            buffer_t *prompt = &prompts [random_below (&random, 4)];
            s_change (&random, prompt);
            if (!s_is_right (&house, &spaces [random_below (&random, 3)], buffer_span (prompt)))
                fail_msg (
                    "seed %llu, step %zu: \"%.*s\"", (unsigned long long)seed, step, SPAN_ARG (buffer_span (prompt)));
            assert_true (memo_counts (house.memo).used <= bounds [seed % 3]);
        }
        assert_true (seed % 3 || memo_counts (house.memo).known > 1000);
        for (size_t i = 0; i < 4; i++)
            buffer_fini (&prompts [i]);
        s_close (&house);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_turn_costs_what_is_new_in_it),
        cmocka_unit_test (test_what_stands_before_decides),
        cmocka_unit_test (test_namespaces_share_nothing),
        cmocka_unit_test (test_stretches_of_one_hash_are_told_apart),
        cmocka_unit_test (test_what_was_unused_for_longest_goes),
        cmocka_unit_test (test_one_prompt_pushes_out_no_more_than_half),
        cmocka_unit_test (test_a_memo_without_room_is_right_all_the_same),
        cmocka_unit_test (test_a_prompt_that_cannot_be_encoded_fails_as_it_would_without),
        cmocka_unit_test (test_any_prompt_is_what_it_would_be_without),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
