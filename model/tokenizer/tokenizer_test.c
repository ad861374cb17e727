//  A tokenizer from end to end, with small vocabularies made here: what holds for any text, and what is refused.

#include "base/json_writer.h"
#include "base/random.h"
#include "base/utf8.h"
#include "model/tokenizer/tokenizer_fixture.h"

//  ---- Making tokenizers ---------------------------------------------------------------------------------------------

//  One piece, whatever the text is.
static tokenizer_t *
s_uncut (void)
{
    return fixture_byte_level ("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}", "");
}

static void
s_encode (tokenizer_t *tokenizer, span_t text, bool parse_special, array_t *ids)
{
    error_t error;
    array_cut (ids, 0);
    if (tokenizer_encode (tokenizer, text, (tokenizer_flags_t){ .parse_special = parse_special }, ids, &error))
        fail_msg ("%s", error.text);
}

static void
s_assert_ids (tokenizer_t *tokenizer, const char *text, const uint32_t *expected, size_t count)
{
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    s_encode (tokenizer, span_from_string (text), true, &ids);
    assert_int_equal (ids.count, count);
    assert_memory_equal (ids.data, expected, count * sizeof *expected);
    array_fini (&ids);
}

//  ---- Random texts --------------------------------------------------------------------------------------------------

static void
s_append_random_text (random_t *random, buffer_t *text, const char *const *parts, size_t count)
{
    for (uint64_t left = 1 + random_below (random, 40); left; left--)
        buffer_append_string (text, parts [random_below (random, count)]);
}

static void
s_append_random_bytes (random_t *random, buffer_t *bytes)
{
    for (uint64_t left = random_below (random, 200); left; left--)
        buffer_append_byte (bytes, (uint8_t)random_u64 (random));
}

//  ---- Round trips ---------------------------------------------------------------------------------------------------

static void
test_random_bytes_come_back (void **state)
{
    tokenizer_t *tokenizer = fixture_qwen_like ("");
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    for (uint64_t seed = 0; seed < 2000; seed++) {
        random_t random;
        buffer_t bytes = { 0 }, back = { 0 };
        random_init (&random, seed);
        s_append_random_bytes (&random, &bytes);
        s_encode (tokenizer, buffer_span (&bytes), true, &ids);
        tokenizer_decode (tokenizer, ids.data, ids.count, false, &back);
        if (!span_equal (buffer_span (&bytes), buffer_span (&back)))
            fail_msg ("seed %llu", (unsigned long long)seed);
        buffer_fini (&bytes);
        buffer_fini (&back);
    }
    array_fini (&ids);
    tokenizer_destroy (&tokenizer);
}

//  What a stream has said is always text, and in the end it is the whole, bad bytes replaced.
static void
test_a_stream_never_says_half_a_character (void **state)
{
    tokenizer_t *tokenizer = fixture_qwen_like ("");
    detokenizer_t detokenizer;
    buffer_t text = { 0 };
    static const uint32_t llama [] = { 256 + 9, 0x99, '!' };
    detokenizer_init (&detokenizer, tokenizer, false);
    detokenizer_push (&detokenizer, llama [0], &text);
    assert_int_equal (text.size, 0);
    detokenizer_push (&detokenizer, llama [1], &text);
    assert_true (span_equal_string (buffer_span (&text), "\xf0\x9f\xa6\x99"));
    detokenizer_push (&detokenizer, llama [2], &text);
    detokenizer_push (&detokenizer, 256 + 8, &text);
    assert_true (span_equal_string (buffer_span (&text), "\xf0\x9f\xa6\x99!"));
    detokenizer_finish (&detokenizer, &text);
    detokenizer_finish (&detokenizer, &text);
    assert_true (span_equal_string (buffer_span (&text), "\xf0\x9f\xa6\x99!\xef\xbf\xbd"));
    buffer_clear (&text);
    for (uint64_t seed = 0; seed < 500; seed++) {
        random_t random;
        random_init (&random, seed);
        detokenizer_init (&detokenizer, tokenizer, false);
        for (uint64_t left = random_below (&random, 50); left; left--) {
            detokenizer_push (&detokenizer, (uint32_t)random_below (&random, FIRST_ADDED + 2), &text);
            assert_true (utf8_is_valid (buffer_span (&text)));
        }
        detokenizer_finish (&detokenizer, &text);
        assert_true (utf8_is_valid (buffer_span (&text)));
        buffer_clear (&text);
    }
    buffer_fini (&text);
    tokenizer_destroy (&tokenizer);
}

//  ---- Rules ---------------------------------------------------------------------------------------------------------

//  Applies the rules as they are told: the lowest that fits anywhere, at its leftmost place, until none does.
static void
s_encode_naively (span_t text, array_t *ids)
{
    array_cut (ids, 0);
    for (size_t i = 0; i < text.size; i++)
        array_append (ids, &(uint32_t){ text.data [i] }, 1);
    for (size_t rule = 0; rule < RULES;) {
        uint32_t sides [2];
        for (size_t side = 0; side < 2; side++) {
            span_t wanted = span_from_string (fixture_rules [rule][side]);
            sides [side] = wanted.data [0];
            for (uint32_t other = 0; other < RULES && wanted.size > 1; other++) {
                char made [16];
                snprintf (made, sizeof made, "%s%s", fixture_rules [other][0], fixture_rules [other][1]);
                if (span_equal_string (wanted, made))
                    sides [side] = 256 + other;
            }
        }
        uint32_t *row = ids->data;
        size_t at = 0;
        while (at + 1 < ids->count && (row [at] != sides [0] || row [at + 1] != sides [1]))
            at++;
        if (at + 1 >= ids->count) {
            rule++;
            continue;
        }
        row [at] = 256 + (uint32_t)rule;
        array_remove (ids, at + 1);
        rule = 0;
    }
}

//  Few symbols are merged in one way, many in another: both must do what the rules say.
static void
test_rules_are_applied_in_order_in_pieces_of_any_length (void **state)
{
    static const char *const parts [] = { "a", "b", "ab", "aab", "aaaa", " a", "ba" };
    tokenizer_t *tokenizer = s_uncut ();
    array_t ids, naive;
    array_init (&ids, sizeof (uint32_t));
    array_init (&naive, sizeof (uint32_t));
    for (uint64_t seed = 0; seed < 1500; seed++) {
        random_t random;
        buffer_t text = { 0 };
        random_init (&random, seed);
        s_append_random_text (&random, &text, parts, sizeof parts / sizeof *parts);
        s_encode (tokenizer, buffer_span (&text), true, &ids);
        s_encode_naively (buffer_span (&text), &naive);
        if (ids.count != naive.count || memcmp (ids.data, naive.data, ids.count * sizeof (uint32_t)) != 0)
            fail_msg ("seed %llu: \"%.*s\"", (unsigned long long)seed, SPAN_ARG (buffer_span (&text)));
        buffer_fini (&text);
    }
    array_fini (&ids);
    array_fini (&naive);
    tokenizer_destroy (&tokenizer);
}

static void
test_a_long_piece_takes_no_more_than_its_share (void **state)
{
    enum { SIZE = 1 << 20 };
    tokenizer_t *tokenizer = s_uncut ();
    buffer_t text = { 0 };
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    memset (buffer_reserve (&text, SIZE), 'a', SIZE);
    buffer_commit (&text, SIZE);
    s_encode (tokenizer, buffer_span (&text), true, &ids);
    assert_int_equal (ids.count, SIZE / 4);
    array_fini (&ids);
    buffer_fini (&text);
    tokenizer_destroy (&tokenizer);
}

static void
test_a_piece_beyond_all_measure_is_refused_and_nothing_is_left (void **state)
{
    enum { SIZE = (1 << 24) + 1 };
    tokenizer_t *tokenizer = s_uncut ();
    buffer_t text = { 0 };
    array_t ids;
    error_t error;
    array_init (&ids, sizeof (uint32_t));
    memset (buffer_reserve (&text, SIZE), 'a', SIZE);
    buffer_commit (&text, SIZE);
    assert_int_equal (
        tokenizer_encode (tokenizer, buffer_span (&text), (tokenizer_flags_t){ 0 }, &ids, &error), STATUS_LIMIT);
    assert_string_equal (error.text, "16777217 bytes without a place to cut them");
    assert_int_equal (ids.count, 0);
    array_fini (&ids);
    buffer_fini (&text);
    tokenizer_destroy (&tokenizer);
}

//  ---- Caches --------------------------------------------------------------------------------------------------------

#define WIDE "\xf0\x9f\xa6\x99\xf0\x9f\xa6\x99\xe4\xb8\xad\xe4\xb8\xad\xf0\x9f\xa6\x99\xf0\x9f\xa6\x99"

//  One tokenizer sees all texts, another each for the first time; more pieces go by than the caches hold.
static void
test_what_was_remembered_is_what_would_be_encoded (void **state)
{
    static const char *const parts [] = { "ab", "aaaa", " abab", "\n", "    ", " a", "!", "=>", "b", "\xc3\xa9", "1",
        "\t", "'s", WIDE WIDE WIDE, "\xe4\xb8\xad" WIDE "\xe5\x9b\xbd" };
    tokenizer_t *warm = fixture_qwen_like ("");
    array_t ids, cold_ids;
    array_init (&ids, sizeof (uint32_t));
    array_init (&cold_ids, sizeof (uint32_t));
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_t random;
        buffer_t text = { 0 };
        tokenizer_t *cold = fixture_qwen_like ("");
        random_init (&random, seed % 100);
        for (size_t i = 0; i < 30; i++)
            s_append_random_text (&random, &text, parts, sizeof parts / sizeof *parts);
        for (size_t i = random_below (&random, 2) * random_below (&random, 200); i; i--)
            buffer_append_string (&text, i % 3 ? WIDE : "\xe5\x9b\xbd");
        s_encode (warm, buffer_span (&text), true, &ids);
        s_encode (cold, buffer_span (&text), true, &cold_ids);
        if (ids.count != cold_ids.count || memcmp (ids.data, cold_ids.data, ids.count * sizeof (uint32_t)) != 0)
            fail_msg ("seed %llu", (unsigned long long)seed);
        tokenizer_destroy (&cold);
        buffer_fini (&text);
    }
    array_fini (&ids);
    array_fini (&cold_ids);
    tokenizer_destroy (&warm);
}

//  A row of signs is one piece, whose parts are looked up by the run. A letter behind it begins another, wherever the last run
//  ends: before one sign alone, the two would be a piece and a token.
static void
test_a_piece_looked_up_by_runs_is_cut_where_it_ends (void **state)
{
    enum { LLAMA = 268, SIGNS_MIN = 960, SIGNS_MAX = 1023, WORDS = 200 };
    tokenizer_t *tokenizer = fixture_qwen_like ("");
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    for (size_t signs = SIGNS_MIN; signs <= SIGNS_MAX; signs++) {
        buffer_t text = { 0 };
        for (size_t i = 0; i < signs; i++)
            buffer_append_string (&text, "\xf0\x9f\xa6\x99");
        buffer_append_string (&text, "a");
        for (size_t i = 0; i < WORDS; i++)
            buffer_append_string (&text, " b");
        s_encode (tokenizer, buffer_span (&text), true, &ids);
        assert_int_equal (ids.count, signs + 1 + 2 * WORDS);
        assert_int_equal (*(const uint32_t *)array_at (&ids, signs - 1), LLAMA);
        assert_int_equal (*(const uint32_t *)array_at (&ids, signs), 'a');
        buffer_fini (&text);
    }
    array_fini (&ids);
    tokenizer_destroy (&tokenizer);
}

//  What a piece is by itself: where rules are ignored, a token that says the same.
static void
s_encode_alone (span_t piece, bool ignore_merges, array_t *ids)
{
    s_encode_naively (piece, ids);
    for (uint32_t rule = 0; rule < RULES && ignore_merges; rule++) {
        char made [16];
        snprintf (made, sizeof made, "%s%s", fixture_rules [rule][0], fixture_rules [rule][1]);
        if (!span_equal_string (piece, made))
            continue;
        array_cut (ids, 0);
        array_append (ids, &(uint32_t){ 256 + rule }, 1);
    }
}

//  Random words of some parts, some with a digit behind them, and what each is by itself.
static void
s_append_words (
    random_t *random, const char *const *parts, size_t count, bool ignore_merges, buffer_t *text, array_t *expected)
{
    array_t alone;
    array_init (&alone, sizeof (uint32_t));
    for (uint64_t words = 1 + random_below (random, 60); words; words--) {
        size_t before = text->size;
        buffer_append_string (text, random_below (random, 4) ? " " : "=");
        s_append_random_text (random, text, parts, count);
        s_encode_alone (span_slice (buffer_span (text), before, text->size), ignore_merges, &alone);
        array_append (expected, alone.data, alone.count);
        if (random_below (random, 4))
            continue;
        uint32_t digit = '0' + (uint32_t)random_below (random, 10);
        buffer_append_byte (text, (uint8_t)digit);
        array_append (expected, &digit, 1);
    }
    array_fini (&alone);
}

//  New words are merged some at a time: each is what it is by itself, short or long, whatever stands beside it.
static void
s_check_new_words (const char *const *parts, size_t count, bool ignore_merges)
{
    array_t ids, expected;
    array_init (&ids, sizeof (uint32_t));
    array_init (&expected, sizeof (uint32_t));
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_t random;
        buffer_t text = { 0 };
        tokenizer_t *tokenizer = fixture_qwen_cut ("", ignore_merges ? "\"ignore_merges\":true," : "");
        array_cut (&expected, 0);
        random_init (&random, seed);
        s_append_words (&random, parts, count, ignore_merges, &text, &expected);
        s_encode (tokenizer, buffer_span (&text), true, &ids);
        if (ids.count != expected.count || memcmp (ids.data, expected.data, ids.count * sizeof (uint32_t)) != 0)
            fail_msg ("seed %llu: \"%.*s\"", (unsigned long long)seed, SPAN_ARG (buffer_span (&text)));
        tokenizer_destroy (&tokenizer);
        buffer_fini (&text);
    }
    array_fini (&ids);
    array_fini (&expected);
}

static void
test_new_pieces_together_are_what_each_is_alone (void **state)
{
    static const char *const parts [] = { "a", "b", "ab", "aab", "aaaa", "ba" };
    s_check_new_words (parts, sizeof parts / sizeof *parts, false);
    s_check_new_words (parts, sizeof parts / sizeof *parts, true);
}

//  Names of many words: rules reach from one into the next, some before those within are done, some after. The last token is none
//  that the rules make of its text.
static void
test_a_name_put_together_from_its_words_is_what_it_is_alone (void **state)
{
    static const char *const rules [RULES][2] = { { "a", "b" }, { "A", "b" }, { "b", "A" }, { " ", "A" }, { "a", "A" },
        { "Ab", "ab" }, { "b", "a" }, { "ab", "Ab" }, { "ba", "Ab" }, { "A", "A" }, { "AA", "b" }, { "bA", "bA" },
        { "ab", "bA" }, { "b", "ba" } };
    static const char *const parts [] = { "a", "b", "A", "Ab", "Aabb", "AA", "Ccc", "Accccccccccccccccccccc", "Cb" };
    fixture_rules = rules;
    s_check_new_words (parts, sizeof parts / sizeof *parts, false);
    s_check_new_words (parts, sizeof parts / sizeof *parts, true);
    fixture_rules = fixture_plain_rules;
}

//  A token that no rule makes counts where rules are ignored, also when it is long gone from the cache.
static void
test_a_token_pushed_out_is_still_that_token (void **state)
{
    static const uint32_t token [] = { 256 + 7 }, merged [] = { ' ', 256, 'a' };
    tokenizer_t *ruled = fixture_qwen_like (""), *tokenizer = fixture_qwen_cut ("", "\"ignore_merges\":true,");
    buffer_t text = { 0 };
    array_t ids;
    random_t random;
    array_init (&ids, sizeof (uint32_t));
    s_assert_ids (ruled, " aba", merged, 3);
    s_assert_ids (tokenizer, " aba", token, 1);
    random_init (&random, 1);
    for (size_t words = 0; words < 30000; words++) {
        buffer_append_byte (&text, ' ');
        for (size_t letters = 0; letters < 8; letters++)
            buffer_append_byte (&text, (uint8_t)('c' + random_below (&random, 20)));
    }
    s_encode (tokenizer, buffer_span (&text), true, &ids);
    s_assert_ids (tokenizer, " aba", token, 1);
    array_fini (&ids);
    buffer_fini (&text);
    tokenizer_destroy (&ruled);
    tokenizer_destroy (&tokenizer);
}

//  ---- Added tokens --------------------------------------------------------------------------------------------------

#define CHAT                                                                                                        \
    ADDED (270, "<s>", SPECIAL)                                                                                     \
    "," ADDED (271, "<s><s>", SPECIAL) "," ADDED (272, "<end>", SPECIAL) "," ADDED (273, "<t>", "") "," ADDED (274, \
        "<r>",                                                                                                      \
        ",\"rstrip\":true") "," ADDED (275, "wd", ",\"single_word\":true") "," ADDED (276, "<l>", ",\"lstrip\":true")

static void
test_the_longest_token_at_the_leftmost_place_is_found (void **state)
{
    tokenizer_t *tokenizer = fixture_qwen_like (CHAT);
    s_assert_ids (tokenizer, "<s>", (const uint32_t []){ 270 }, 1);
    s_assert_ids (tokenizer, "<s><s><s>", (const uint32_t []){ 271, 270 }, 2);
    s_assert_ids (tokenizer, "a<t>b", (const uint32_t []){ 'a', 273, 'b' }, 3);
    s_assert_ids (tokenizer, "<r> \n a", (const uint32_t []){ 274, 'a' }, 2);
    s_assert_ids (tokenizer, "a \t<l> a", (const uint32_t []){ 'a', 276, 258 }, 3);
    s_assert_ids (tokenizer, "wd", (const uint32_t []){ 275 }, 1);
    s_assert_ids (tokenizer, "wdx.wd", (const uint32_t []){ 'w', 'd', 'x', '.', 275 }, 5);
    tokenizer_destroy (&tokenizer);
}

static void
test_a_users_text_makes_no_special_token (void **state)
{
    tokenizer_t *tokenizer = fixture_qwen_like (CHAT);
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    s_encode (tokenizer, SPAN ("<s><t><end>"), false, &ids);
    for (size_t i = 0; i < ids.count; i++)
        assert_false (tokenizer_is_special (tokenizer, *(const uint32_t *)array_at (&ids, i)));
    assert_int_equal (*(const uint32_t *)array_at (&ids, 3), 273);
    array_fini (&ids);
    tokenizer_destroy (&tokenizer);
}

static void
test_only_tokens_that_nothing_behind_them_can_change_are_seams (void **state)
{
    tokenizer_t *tokenizer = fixture_qwen_like (CHAT);
    assert_false (tokenizer_is_seam (tokenizer, 270));    //  <s><s> begins with it
    assert_true (tokenizer_is_seam (tokenizer, 271));
    assert_true (tokenizer_is_seam (tokenizer, 272));
    assert_true (tokenizer_is_seam (tokenizer, 273));
    assert_false (tokenizer_is_seam (tokenizer, 274));    //  It takes the blanks behind it
    assert_false (tokenizer_is_seam (tokenizer, 275));    //  A letter behind it undoes it
    assert_true (tokenizer_is_seam (tokenizer, 276));
    assert_false (tokenizer_is_seam (tokenizer, 'a'));
    assert_int_equal (tokenizer_find (tokenizer, SPAN ("<end>")), 272);
    assert_int_equal (tokenizer_find (tokenizer, SPAN ("abab")), 257);
    assert_int_equal (tokenizer_find (tokenizer, SPAN ("<en")), TOKEN_NONE);
    assert_true (span_equal_string (tokenizer_token_text (tokenizer, 258), " a"));
    assert_int_equal (tokenizer_size (tokenizer), 277);
    tokenizer_destroy (&tokenizer);
}

//  Any text of tokens and pieces of them, cut at every seam, gives the same ids.
static void
test_a_text_cut_at_every_seam_is_the_whole (void **state)
{
    static const char *const parts [] = { "<s>", "<end>", "<t>", "<r>", "wd", "<l>", "<", "s>", " ", "\n", "a", "ab",
        "wd<t>", "\xcc\x81", "\xff" };
    tokenizer_t *tokenizer = fixture_qwen_like (CHAT);
    array_t whole, parted, seams;
    array_init (&whole, sizeof (uint32_t));
    array_init (&parted, sizeof (uint32_t));
    array_init (&seams, sizeof (size_t));
    size_t cuts = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_t random;
        buffer_t buffer = { 0 };
        random_init (&random, seed);
        s_append_random_text (&random, &buffer, parts, sizeof parts / sizeof *parts);
        span_t text = buffer_span (&buffer);
        s_encode (tokenizer, text, true, &whole);
        array_cut (&seams, 0);
        array_cut (&parted, 0);
        tokenizer_seams (tokenizer, text, (tokenizer_flags_t){ .parse_special = true }, &seams);
        cuts += seams.count;
        array_append (&seams, &text.size, 1);
        for (size_t i = 0, done = 0; i < seams.count; i++) {
            size_t place = *(const size_t *)array_at (&seams, i);
            tokenizer_flags_t flags = { .parse_special = true, .not_first = done > 0 };
            assert_int_equal (
                tokenizer_encode (tokenizer, span_slice (text, done, place - done), flags, &parted, NULL), STATUS_OK);
            done = place;
        }
        if (whole.count != parted.count || memcmp (whole.data, parted.data, whole.count * sizeof (uint32_t)) != 0)
            fail_msg ("seed %llu: \"%.*s\"", (unsigned long long)seed, SPAN_ARG (text));
        buffer_fini (&buffer);
    }
    assert_true (cuts > 3000);
    array_fini (&whole);
    array_fini (&parted);
    array_fini (&seams);
    tokenizer_destroy (&tokenizer);
}

//  ---- Facts ---------------------------------------------------------------------------------------------------------

//  A GGUF file names the tokens around a text; a tokenizer.json without a post-processor has none. What one holds is more
//  than its caches, and no more than a few times its vocabulary beyond them.
static void
test_what_begins_and_ends_a_text_and_what_is_held (void **state)
{
    enum { CACHES = 100 << 10, SIZE = 2 << 20 };
    error_t error;
    buffer_t file = { 0 };
    tokenizer_t *tokenizer = fixture_qwen_like ("");
    assert_int_equal (tokenizer_bos (tokenizer), TOKEN_NONE);
    assert_int_equal (tokenizer_eos (tokenizer), TOKEN_NONE);
    assert_in_range (tokenizer_memory (tokenizer), CACHES, CACHES + SIZE);
    tokenizer_destroy (&tokenizer);
    FILE *stream = fopen ("tests/data/models/stories260K-f32.gguf", "rb");
    assert_non_null (stream);
    buffer_commit (&file, fread (buffer_reserve (&file, SIZE), 1, SIZE, stream));
    fclose (stream);
    assert_int_equal (tokenizer_load_gguf (buffer_span (&file), &tokenizer, &error), STATUS_OK);
    assert_int_equal (tokenizer_bos (tokenizer), 1);
    assert_int_equal (tokenizer_eos (tokenizer), 2);
    tokenizer_destroy (&tokenizer);
    buffer_fini (&file);
}

//  ---- What is refused -----------------------------------------------------------------------------------------------

static void
s_assert_refused (const char *file, status_t status, const char *sentence)
{
    tokenizer_t *tokenizer = NULL;
    error_t error = { 0 };
    status_t given = tokenizer_load_json (span_from_string (file), &tokenizer, &error);
    assert_string_equal (error.text, sentence);
    assert_int_equal (given, status);
    assert_null (tokenizer);
}

#define MODEL(vocab, merges) "\"model\":{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges "}"

static void
test_a_file_that_is_wrong_is_refused_with_its_place (void **state)
{
    s_assert_refused ("", STATUS_INVALID, "tokenizer.json: an object expected at byte 0");
    s_assert_refused ("{\"model\":{}", STATUS_INVALID, "tokenizer.json: ',' or an end expected at byte 11");
    s_assert_refused ("{} x", STATUS_INVALID, "tokenizer.json: something follows the value at byte 3");
    s_assert_refused ("{\"a\":1}", STATUS_INVALID, "tokenizer.json: there is no model in it");
    s_assert_refused (
        "{\"model\":{\"type\":\"Morse\"}}", STATUS_UNSUPPORTED, "tokenizer.json: a model of type \"Morse\"");
    s_assert_refused ("{" MODEL ("{\"a\":\"b\"}", "[]") "}", STATUS_INVALID,
        "tokenizer.json: vocab: a whole number expected at byte 36");
    s_assert_refused ("{" MODEL ("{\"a\":0}", "[\"a b\"]") "}", STATUS_INVALID,
        "tokenizer.json: merges: a merge of what is no token, before at byte 54");
    s_assert_refused ("{" MODEL ("{\"a\":99999999}", "[]") "}", STATUS_LIMIT,
        "tokenizer.json: vocab: token 99999999: numbers go to 4194303");
    s_assert_refused ("{\"normalizer\":{\"type\":\"Upside\"}," MODEL ("{}", "[]") "}", STATUS_UNSUPPORTED,
        "tokenizer.json: normalizer: the normalizer \"Upside\" is not known");
    s_assert_refused (
        "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a(\"},\"behavior\":\"Isolated\"}," MODEL (
            "{}", "[]") "}",
        STATUS_INVALID, "tokenizer.json: pre_tokenizer: regex \"a(\": missing closing parenthesis at byte 2");
    s_assert_refused ("{\"added_tokens\":[{\"content\":\"x\"}]," MODEL ("{}", "[]") "}", STATUS_INVALID,
        "tokenizer.json: an added token without an id, or with one beyond 4194303");
    s_assert_refused ("{\"a\":\"\xff\"}", STATUS_INVALID, "tokenizer.json: not UTF-8 at byte 6");
}

#define WORDS "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":"

//  Expected: Hugging Face's tokenizers.
static const struct {
    const char *file;     //  tokenizer.json
    const char *text;     //  Encoded
    uint32_t ids [12];    //  To these,
    size_t count;         //  so many,
    const char *said;     //  which say this
} s_of_words [] = {
    { WORDS "{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"continuing_subword_prefix\":\"##\",\"end_of_word_suffix\":\"</"
            "w>\","
            "\"vocab\":{\"<unk>\":0,\"l\":1,\"##o\":2,\"##w</w>\":3,\"lo\":4,\"low</w>\":5,\"##o</w>\":6,\"lo</"
            "w>\":7,\"w</w>\":8,"
            "\"##w\":9,\"low\":10,\"##er</w>\":11,\"##e\":12,\"##r</w>\":13,\"lower</w>\":14},\"merges\":[\"l "
            "##o\",\"lo ##w</w>\","
            "\"l ##o</w>\",\"lo ##w\",\"##e ##r</w>\",\"low "
            "##er</w>\"]},\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}}",
        "low lo w lower x lowlow l", { 5, 7, 8, 14, 0, 10, 0, 2, 3, 0 }, 10,
        "low lo w lower <unk>low<unk>##o##w <unk>" },
    { WORDS "{\"type\":\"BPE\",\"end_of_word_suffix\":\"</w>\",\"vocab\":{\"a\":0,\"a</w>\":1},\"merges\":[]},"
            "\"decoder\":{\"type\":\"BPEDecoder\"}}",
        "a aa", { 1, 0, 1 }, 3, "a aa" },
    { WORDS "{\"type\":\"WordLevel\",\"unk_token\":\"[UNK]\",\"vocab\":{\"[UNK]\":0,\"to\":1,\"be\":2}}}",
        "to be or not to be", { 1, 2, 0, 0, 1, 2 }, 6, "to be [UNK] [UNK] to be" },
    { "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false},\"model\":{\"type\":"
      "\"BPE\","
      "\"end_of_word_suffix\":\"</w>\",\"vocab\":{\"a\":0,\"b\":1,\"a</w>\":2,\"b</w>\":3,\"ab</"
      "w>\":4,\"ab\":5,\"Ġ\":6},"
      "\"merges\":[\"a b</w>\",\"a b\"]},\"decoder\":{\"type\":\"ByteLevel\"}}",
        "ab aab abab a", { 5, 6, 0, 5, 6, 5, 5, 6, 2 }, 9, "ab aab abab a</w>" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"Metaspace\", \"replacement\": \"\\u2581\", \"prepend_scheme\": \"always\", \"split\": true}}",
        "\xe2\x96\x81\xe2\x96\x81"
        "a-\xe2\x96\x81\xe2\x96\x81"
        "a",
        { 8, 8 }, 2, "a  a" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"Metaspace\", \"replacement\": \"\\u2581\", \"prepend_scheme\": \"always\", \"split\": true}}",
        " -\xe2\x96\x81-a", { 5, 2, 1 }, 3, "  a" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Fuse\"}, {\"type\": \"Metaspace\", \"replacement\": "
      "\"\\u2581\", \"prepend_scheme\": \"always\", \"split\": true}]}}",
        "a-\xe2\x96\x81-a", { 1, 2, 1 }, 3, "aa" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"WordPiece\", \"prefix\": \"##\", \"cleanup\": false}}",
        "##a-##a-a- ", { 4, 4, 1, 5 }, 4, "##aa a  " },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"CTC\", \"pad_token\": \"?\", \"word_delimiter_token\": \"|\", \"cleanup\": true}}",
        "a-a-x-a-|-|-b-b", { 1, 1, 0, 1, 6, 6, 7, 7 }, 8, "aa b" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"Strip\", \"content\": \"a\", \"start\": 1, \"stop\": 1}}",
        "##a-b-\xe2\x96\x81\xe2\x96\x81"
        "a",
        { 4, 7, 8 }, 3, "##b\xe2\x96\x81\xe2\x96\x81" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"[#|]+\"}, \"content\": \".\"}}",
        "##a-|-b", { 4, 6, 7 }, 3, ".a.b" },
    { "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Removed\", "
      "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, "
      "\"\\u2581\": 2, \"##\": 3, \"##a\": 4, \" \": 5, \"|\": 6, \"b\": 7, \"\\u2581\\u2581a\": 8}}, \"decoder\": "
      "null}",
        " -a-b", { 5, 1, 7 }, 3, "  a b" },
    { "{\"added_tokens\": [{\"id\": 9, \"content\": \"  \", \"single_word\": false, \"lstrip\": false, \"rstrip\": "
      "false, \"normalized\": false, \"special\": false}], \"model\": {\"type\": \"BPE\", \"vocab\": {\"a</w>\": 0, "
      "\"a\": 1}, \"merges\": [], \"end_of_word_suffix\": \"</w>\"}, \"decoder\": {\"type\": \"BPEDecoder\", "
      "\"suffix\": \"</w>\"}}",
        "a  ", { 0, 2 }, 2, "a   " },
};

static void
test_tokens_say_what_they_say_in_the_reference (void **state)
{
    for (size_t i = 0; i < sizeof s_of_words / sizeof *s_of_words; i++) {
        tokenizer_t *tokenizer = NULL;
        detokenizer_t detokenizer;
        buffer_t streamed = { 0 }, said = { 0 };
        array_t ids;
        array_init (&ids, sizeof (uint32_t));
        assert_int_equal (tokenizer_load_json (span_from_string (s_of_words [i].file), &tokenizer, NULL), STATUS_OK);
        s_encode (tokenizer, span_from_string (s_of_words [i].text), true, &ids);
        assert_int_equal (ids.count, s_of_words [i].count);
        assert_memory_equal (ids.data, s_of_words [i].ids, ids.count * sizeof (uint32_t));
        tokenizer_decode (tokenizer, ids.data, ids.count, false, &said);
        detokenizer_init (&detokenizer, tokenizer, false);
        for (size_t at = 0; at < ids.count; at++)
            detokenizer_push (&detokenizer, *(const uint32_t *)array_at (&ids, at), &streamed);
        detokenizer_finish (&detokenizer, &streamed);
        assert_string_equal (buffer_string (&said), s_of_words [i].said);
        assert_string_equal (buffer_string (&streamed), s_of_words [i].said);
        buffer_fini (&said);
        buffer_fini (&streamed);
        array_fini (&ids);
        tokenizer_destroy (&tokenizer);
    }
}

//  Some files take what an expression matches, others cut by it: it is the same where it matches everything.
static void
test_what_an_expression_does_not_match_can_be_left_out (void **state)
{
#define MATCHES_OF(expression)                                                                           \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" expression \
    "\"},\"behavior\":\"Removed\",\"invert\":true},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"  \
    "\"use_regex\":false}]}"
    static const uint32_t all [] = { 'b', '\n', 'b', ' ', '\n' }, taken [] = { 'b', 'b', ' ', '\n' };
    tokenizer_t *tokenizer = fixture_byte_level (MATCHES_OF (FIXTURE_QWEN), "");
    s_assert_ids (tokenizer, "b\nb \n", all, 5);
    tokenizer_destroy (&tokenizer);
    tokenizer = fixture_byte_level (
        MATCHES_OF ("'s|'t|'re|'ve|'m|'ll|'d| ?\\\\p{L}+| ?\\\\p{N}+| ?[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+(?!\\\\S)"), "");
    s_assert_ids (tokenizer, "b\nb \n", taken, 4);
    tokenizer_destroy (&tokenizer);
#undef MATCHES_OF
}

//  A piece that is a token is that token, though no rule makes it; what only stands beside an ideograph in a piece is not.
static void
test_a_token_that_no_rule_makes_is_a_piece_or_nothing (void **state)
{
    const uint32_t whole = 256 + 11, aa = 256 + 4, ab = 256;
    const uint32_t beside [] = { aa, 'a', ab, 0xe4, 0xb8, 0xad }, between [] = { 0xe4, 0xb8, 0xad, aa, 'a', ab };
    fixture_rule_count = 11;
    tokenizer_t *tokenizer = fixture_qwen_cut ("", "\"ignore_merges\":true,");
    fixture_rule_count = RULES;
    s_assert_ids (tokenizer, "aaaab", &whole, 1);
    s_assert_ids (tokenizer, "aaaab\xe4\xb8\xad", beside, 6);
    s_assert_ids (tokenizer, "\xe4\xb8\xad\x61\x61\x61\x61\x62", between, 6);
    tokenizer_destroy (&tokenizer);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_random_bytes_come_back),
        cmocka_unit_test (test_a_stream_never_says_half_a_character),
        cmocka_unit_test (test_rules_are_applied_in_order_in_pieces_of_any_length),
        cmocka_unit_test (test_a_long_piece_takes_no_more_than_its_share),
        cmocka_unit_test (test_a_piece_beyond_all_measure_is_refused_and_nothing_is_left),
        cmocka_unit_test (test_what_was_remembered_is_what_would_be_encoded),
        cmocka_unit_test (test_a_piece_looked_up_by_runs_is_cut_where_it_ends),
        cmocka_unit_test (test_new_pieces_together_are_what_each_is_alone),
        cmocka_unit_test (test_a_name_put_together_from_its_words_is_what_it_is_alone),
        cmocka_unit_test (test_a_token_pushed_out_is_still_that_token),
        cmocka_unit_test (test_the_longest_token_at_the_leftmost_place_is_found),
        cmocka_unit_test (test_a_users_text_makes_no_special_token),
        cmocka_unit_test (test_only_tokens_that_nothing_behind_them_can_change_are_seams),
        cmocka_unit_test (test_a_text_cut_at_every_seam_is_the_whole),
        cmocka_unit_test (test_what_begins_and_ends_a_text_and_what_is_held),
        cmocka_unit_test (test_tokens_say_what_they_say_in_the_reference),
        cmocka_unit_test (test_what_an_expression_does_not_match_can_be_left_out),
        cmocka_unit_test (test_a_token_that_no_rule_makes_is_a_piece_or_nothing),
        cmocka_unit_test (test_a_file_that_is_wrong_is_refused_with_its_place),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
