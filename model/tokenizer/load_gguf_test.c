//  Vocabularies of GGUF: what llama.cpp makes of the same files.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "model/gguf.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/tokenizer.h"

//  ---- Files ---------------------------------------------------------------------------------------------------------

typedef struct {
    buffer_t file;          //  What is written
    buffer_t tokens;        //  Their texts, as the file has them
    buffer_t kinds;         //  uint32_t of each
    buffer_t scores;        //  uint32_t: the bits of each
    buffer_t merges;        //  Texts
    uint64_t counts [2];    //  Of tokens and merges
} draft_t;

static void
s_put_span (buffer_t *file, span_t span)
{
    buffer_append_u64_le (file, span.size);
    buffer_append (file, span);
}

static void
s_put_member (buffer_t *file, const char *key, const char *value)
{
    s_put_span (file, span_from_string (key));
    buffer_append_u32_le (file, GGUF_STRING);
    s_put_span (file, span_from_string (value));
}

static void
s_put_row (buffer_t *file, const char *key, gguf_type_t element, uint64_t count, const buffer_t *row)
{
    s_put_span (file, span_from_string (key));
    buffer_append_u32_le (file, GGUF_ARRAY);
    buffer_append_u32_le (file, element);
    buffer_append_u64_le (file, count);
    buffer_append (file, buffer_span (row));
}

static void
s_add_token (draft_t *self, span_t text, uint32_t kind, float score)
{
    uint32_t bits;
    memcpy (&bits, &score, sizeof bits);
    s_put_span (&self->tokens, text);
    buffer_append_u32_le (&self->kinds, kind);
    buffer_append_u32_le (&self->scores, bits);
    self->counts [0]++;
}

static void
s_add (draft_t *self, const char *text, uint32_t kind, float score)
{
    s_add_token (self, span_from_string (text), kind, score);
}

//  Loads what was drafted, and forgets it. scores: their type.
static tokenizer_t *
s_load (draft_t *self, const char *model, const char *pre, gguf_type_t scores)
{
    tokenizer_t *tokenizer = NULL;
    error_t error = { 0 };
    buffer_append_string (&self->file, "GGUF");
    buffer_append_u32_le (&self->file, 3);
    buffer_append_u64_le (&self->file, 0);
    buffer_append_u64_le (&self->file, 6);
    s_put_member (&self->file, "tokenizer.ggml.model", model);
    s_put_member (&self->file, "tokenizer.ggml.pre", pre);
    s_put_row (&self->file, "tokenizer.ggml.tokens", GGUF_STRING, self->counts [0], &self->tokens);
    s_put_row (&self->file, "tokenizer.ggml.token_type", GGUF_I32, self->counts [0], &self->kinds);
    s_put_row (&self->file, "tokenizer.ggml.scores", scores, self->counts [0], &self->scores);
    s_put_row (&self->file, "tokenizer.ggml.merges", GGUF_STRING, self->counts [1], &self->merges);
    if (tokenizer_load_gguf (buffer_span (&self->file), &tokenizer, &error))
        fail_msg ("%s: %s", pre, error.text);
    buffer_t *const rows [] = { &self->file, &self->tokens, &self->kinds, &self->scores, &self->merges };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        buffer_fini (rows [i]);
    return tokenizer;
}

static void
s_assert_ids (tokenizer_t *tokenizer, const char *text, const char *expected)
{
    array_t ids;
    buffer_t printed = { 0 };
    array_init (&ids, sizeof (uint32_t));
    tokenizer_flags_t flags = { .parse_special = true };
    assert_int_equal (tokenizer_encode (tokenizer, span_from_string (text), flags, &ids, NULL), STATUS_OK);
    for (size_t i = 0; i < ids.count; i++)
        buffer_print (&printed, "%s%u", i ? " " : "", *(const uint32_t *)array_at (&ids, i));
    assert_string_equal (buffer_string (&printed), expected);
    buffer_fini (&printed);
    array_fini (&ids);
}

//  ---- Expressions ---------------------------------------------------------------------------------------------------

//  Every part of the text is a token, merged from its start: tokens show where the text is cut.
static void
s_add_parts (draft_t *self, span_t text)
{
    map_t *seen = map_new (1);
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        buffer_t letter = { 0 };
        alphabet_from_bytes (span_of (&byte, 1), &letter);
        s_add_token (self, buffer_span (&letter), 1, 0);
        buffer_fini (&letter);
    }
    for (size_t from = 0; from < text.size; from++)
        for (size_t to = from + 2; to <= text.size; to++) {
            span_t part = span_slice (text, from, to - from);
            if (map_get (seen, part))
                continue;
            map_put (seen, part, self);
            buffer_t rule = { 0 };
            alphabet_from_bytes (part, &rule);
            s_add_token (self, buffer_span (&rule), 1, 0);
            buffer_clear (&rule);
            alphabet_from_bytes (span_slice (part, 0, part.size - 1), &rule);
            buffer_append_byte (&rule, ' ');
            alphabet_from_bytes (span_slice (part, part.size - 1, 1), &rule);
            s_put_span (&self->merges, buffer_span (&rule));
            self->counts [1]++;
            buffer_fini (&rule);
        }
    map_destroy (&seen);
}

typedef struct {
    const char *pre;       //  How the file says that text is cut
    const char *text;      //  What is cut
    const char *pieces;    //  What llama.cpp makes of it
} cut_t;

static const cut_t s_cuts [] = {
    { "gpt-4o",
        "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87's a\xc3\x89 \xc3\x89"
        "a",
        "\xe0\xa4\xa8|\xe0\xa4\xae|\xe0\xa4\xb8|\xe0\xa5\x8d|\xe0\xa4\xa4|\xe0\xa5\x87'|s| a\xc3\x89| |\xc3\x89"
        "a" },
    { "gpt-4o", "ABCdefG\xc3\x89h e\xcc\x81x!\n/ 1234", "ABCdef|G\xc3\x89h| e|\xcc\x81x|!\n/| |123|4" },
    { "llama4", "don't HTTPS\xc3\xa9", "don't| HTTPS\xc3\xa9" },
    { "tekken",
        "a\xc3\x89"
        "b 12 e\xcc\x81's",
        "a\xc3\x89"
        "b| |1|2| e|\xcc\x81'|s" },
    { "minimax-m2", "o\xc7\x84 x's", "o\xc7\x84| x's" },
    { "kimi-k2",
        "HTTPServer\xe4\xb8\xad\xe6\x96\x87"
        "a's \xe3\x81\xbe",
        "HTTPServer|\xe4\xb8\xad\xe6\x96\x87|a's| \xe3\x81\xbe" },
    { "kimi-k2",
        "e\xcc\x81x \xc3\x89"
        "a12345",
        "e|\xcc\x81x| \xc3\x89"
        "a|123|45" },
    { "granite-embed-multi-97m",
        "ne\xcc\x81"
        "E a\xc3\x89's 1234",
        "ne\xcc\x81|E| a\xc3\x89's| |123|4" },
    { "youtu", "HTTPServer's e\xcc\x81 12\xe3\x84\x85", "HTTPServer's| e\xcc\x81| |1|2|\xe3\x84\x85" },
    { "tiny_aya", "\t\t12 34567a", "\t|\t|12| |34|567|a" },
    { "tiny_aya", "aBcD e\xcc\x81's", "aBcD| e\xcc\x81's" },
    { "afmoe", "\xc2\xad\t\t1234567x", "\xc2\xad|\t|\t|1|234|567|x" },
    { "deepseek-llm",
        "a\xe3\x80\x80"
        "b\xe4\xb8\xad\xef\xbc\x8c\xe3\x80\x80\xe3\x80\x82",
        "a|\xe3\x80\x80"
        "b|\xe4\xb8\xad|\xef\xbc\x8c|\xe3\x80\x80|\xe3\x80\x82" },
    { "deepseek-coder",
        "a\xe3\x80\x80"
        "b\xe4\xb8\xad c",
        "a|\xe3\x80\x80"
        "b|\xe4\xb8\xad| c" },
    { "qwen2", "e\xcc\x81x 12's", "e|\xcc\x81x| |1|2|'s" },
    { "qwen35", "ne\xcc\x81x 12's", "ne\xcc\x81x| |1|2|'s" },
};

static void
test_text_is_cut_where_llama_cpp_cuts_it (void **state)
{
    for (size_t i = 0; i < sizeof s_cuts / sizeof *s_cuts; i++) {
        draft_t draft = { 0 };
        array_t ids;
        buffer_t printed = { 0 };
        span_t text = span_from_string (s_cuts [i].text);
        array_init (&ids, sizeof (uint32_t));
        s_add_parts (&draft, text);
        tokenizer_t *tokenizer = s_load (&draft, "gpt2", s_cuts [i].pre, GGUF_F32);
        assert_int_equal (tokenizer_encode (tokenizer, text, (tokenizer_flags_t){ 0 }, &ids, NULL), STATUS_OK);
        for (size_t at = 0; at < ids.count; at++) {
            buffer_append_string (&printed, at ? "|" : "");
            buffer_append (&printed, tokenizer_token_text (tokenizer, *(const uint32_t *)array_at (&ids, at)));
        }
        if (!span_equal_string (buffer_span (&printed), s_cuts [i].pieces))
            fail_msg ("%s: %s, not %s", s_cuts [i].pre, buffer_string (&printed), s_cuts [i].pieces);
        tokenizer_destroy (&tokenizer);
        buffer_fini (&printed);
        array_fini (&ids);
    }
}

//  ---- RWKV, PLaMo 2, and rare files ---------------------------------------------------------------------------------

//  A byte as Python writes it.
static void
s_add_escaped (draft_t *self, unsigned byte)
{
    static const char *const names [] = { ['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r", ['\\'] = "\\\\" };
    char text [8];
    snprintf (text, sizeof text, byte < ' ' || byte > '~' ? "\\x%02x" : "%c", byte);
    s_add (self, byte <= '\\' && names [byte] ? names [byte] : text, 1, 0);
}

static void
test_the_longest_bytes_come_first_for_rwkv (void **state)
{
    static const char *const texts [] = { "ab", "abcd", "\\xe4\\xb8", "\\n\\n", "it\\'s" };
    static const uint32_t ids [] = { 257, 100, 260, 258, 259, 174, 261, 93, 0, 121, 10, 128 };
    draft_t draft = { 0 };
    buffer_t said = { 0 };
    s_add (&draft, "<s>", 3, 0);
    for (unsigned byte = 0; byte < 256; byte++)
        s_add_escaped (&draft, byte);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        s_add (&draft, texts [i], 1, 0);
    s_add (&draft, "[PAD0]", 5, 0);
    tokenizer_t *tokenizer = s_load (&draft, "rwkv", "default", GGUF_F32);
    s_assert_ids (tokenizer, "abc\n\nabcd\xe4\xb8\xadit's\\<s>x\t\x7f", "257 100 260 258 259 174 261 93 0 121 10 128");
    tokenizer_decode (tokenizer, ids, sizeof ids / sizeof *ids, false, &said);
    assert_string_equal (buffer_string (&said), "abc\n\nabcd\xe4\xb8\xadit's\\<s>x\t\x7f");
    buffer_fini (&said);
    tokenizer_destroy (&tokenizer);
}

static void
s_add_bytes (draft_t *self)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text [8];
        snprintf (text, sizeof text, "<0x%02X>", byte);
        s_add (self, text, 6, 0);
    }
}

static void
test_the_cheapest_way_is_taken_for_plamo (void **state)
{
    static const struct {
        const char *text;    //  Of a token
        float score;         //  Its
    } rows [] = { { "a", -1 }, { "b", -1 }, { "ab", -2 }, { "bc", -0.5f }, { "abc", -4 }, { "c", -1 },
        { "\xe4\xb8\xad", -3 }, { "\xe4\xb8\xad\xe6\x96\x87", -2 }, { "x", -2500 }, { "y", -1500 },
        { "aba", __builtin_nanf ("") } };
    draft_t draft = { 0 };
    static const char *const specials [] = { "<|plamo:unk|>", "<|plamo:bos|>", "<|plamo:eos|>", "<|plamo:pad|>" };
    for (size_t i = 0; i < 4; i++)
        s_add (&draft, specials [i], i ? 3 : 2, 0);
    s_add_bytes (&draft);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        s_add (&draft, rows [i].text, 1, rows [i].score);
    tokenizer_t *tokenizer = s_load (&draft, "plamo2", "default", GGUF_F32);
    s_assert_ids (tokenizer,
        "\xef\xbb\xbf"
        "abcab\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xadx yaba",
        "260 263 262 267 266 124 36 125 262 260");
    s_assert_ids (tokenizer, "ab", "262");
    s_assert_ids (tokenizer, "abc", "260 263");
    assert_int_equal (tokenizer_bos (tokenizer), 1);
    tokenizer_destroy (&tokenizer);
}

//  Scores may be whole numbers, and a token may be without a text.
static void
test_scores_may_be_whole_and_a_text_missing (void **state)
{
    static const struct {
        const char *text;    //  Of a token
        uint32_t score;      //  Its
    } rows [] = { { "\xe2\x96\x81", -9u }, { "a", -1u }, { "b", -2u }, { "ab", -4u },
        { "\xe2\x96\x81"
          "a",
            -3u },
        { "", -8u } };
    draft_t draft = { 0 };
    uint32_t nameless = 264;
    buffer_t said = { 0 };
    s_add (&draft, "<unk>", 2, 0);
    s_add (&draft, "<s>", 3, 0);
    s_add (&draft, "</s>", 3, 0);
    s_add_bytes (&draft);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s_add (&draft, rows [i].text, 1, 0);
        memcpy (draft.scores.data + draft.scores.size - 4, &rows [i].score, 4);
    }
    tokenizer_t *tokenizer = s_load (&draft, "llama", "default", GGUF_I32);
    s_assert_ids (tokenizer, "ab", "263 261");
    s_assert_ids (tokenizer, "b ab", "259 261 263 261");
    tokenizer_decode (tokenizer, &nameless, 1, false, &said);
    assert_string_equal (buffer_string (&said), "[EMPTY_264]");
    buffer_fini (&said);
    tokenizer_destroy (&tokenizer);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_text_is_cut_where_llama_cpp_cuts_it),
        cmocka_unit_test (test_the_longest_bytes_come_first_for_rwkv),
        cmocka_unit_test (test_the_cheapest_way_is_taken_for_plamo),
        cmocka_unit_test (test_scores_may_be_whole_and_a_text_missing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
