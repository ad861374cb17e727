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

//  ---- Files -----------------------------------------------------------------------------------------------------------

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

//  ---- Expressions -----------------------------------------------------------------------------------------------------

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

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_text_is_cut_where_llama_cpp_cuts_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
