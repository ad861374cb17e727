//  What tokens say together, where decoders look at all of them: as Hugging Face's library has it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "model/tokenizer/tokenizer.h"

#define MODEL                                                                                                          \
    "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"##b\":1,\"<0xE4>\":2,\"<0xB8>\":3,\"<" \
    "0xAD>\":4,\"<0x20>\":5,\" "                                                                                       \
    "\":6,\"x</w>\":7,\"\\u00e9\":8,\"\\u0120\":9,\"<pad>\":10,\"|\":11,\"\\u2581\":12,\"</w>y\":13}}}"

typedef struct {
    const char *decoder;    //  Of a tokenizer.json
    const char *ids;        //  Decoded
    const char *said;       //  What `tokenizers` 0.23.3 makes of them
} row_t;

static const row_t s_rows [] = {
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]}", "2 3 4 0",
        "\xe4\xb8\xad"
        "a" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]}", "2 3 0 4",
        "\xef\xbf\xbd\xef\xbf\xbd"
        "a\xef\xbf\xbd" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]}", "2 3 4 3",
        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"WordPiece\",\"prefix\":\"##\","
      "\"cleanup\":false}]}",
        "5 5 0", "   a" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"BPEDecoder\",\"suffix\":\"</"
      "w>\"}]}",
        "0 5", "a " },
    { "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}", "7 7", "x x" },
    { "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}", "13 7", " yx" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"CTC\",\"pad_token\":\"<pad>\",\"word_delimiter_token\":\"|\","
      "\"cleanup\":true},{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}]}",
        "7 7 0", "x a" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"CTC\",\"pad_token\":\"<pad>\",\"word_delimiter_token\":\"|\","
      "\"cleanup\":true},{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false}]}",
        "10 0 0 1", "ab" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false},{\"type\":"
      "\"CTC\",\"pad_token\":\"<pad>\",\"word_delimiter_token\":\"|\",\"cleanup\":true}]}",
        "0 0 0", "a a" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,"
      "\"use_regex\":true},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\xc3\xa9+|\\\\x{fffd}\"},\"content\":\"x\"}]"
      "}",
        "8 0", "xa" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,"
      "\"use_regex\":true},{\"type\":\"Strip\",\"content\":\"a\",\"start\":1,\"stop\":1}]}",
        "0 0 0", "a" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+\"},"
      "\"content\":\"x\"}]}",
        "0 0 0", "x" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\"a\",\"start\":2,"
      "\"stop\":1}]}",
        "0 0 0 1 0", "a##b" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Strip\",\"content\":\" "
      "\",\"start\":1,\"stop\":0},{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_"
      "regex\":true}]}",
        "6 9", " " },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":"
      "false}]}",
        "1 0", "##ba" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Metaspace\",\"replacement\":"
      "\"\xe2\x96\x81\",\"prepend_scheme\":\"always\",\"split\":true}]}",
        "5 12 12", "   " },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"Metaspace\",\"replacement\":"
      "\"\xe2\x96\x81\",\"prepend_scheme\":\"always\",\"split\":true}]}",
        "0 12 0", "aa" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Strip\",\"content\":\" "
      "\",\"start\":1,\"stop\":0}]}",
        "5 5 0", " a" },
    { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,"
      "\"use_regex\":true},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}",
        "9 9 0", " a" },
};

static tokenizer_t *
s_load (const char *decoder)
{
    buffer_t file = { 0 };
    tokenizer_t *tokenizer = NULL;
    error_t error = { 0 };
    buffer_print (&file, "{\"decoder\":%s,%s", decoder, MODEL);
    if (tokenizer_load_json (buffer_span (&file), &tokenizer, &error))
        fail_msg ("%s: %s", decoder, error.text);
    buffer_fini (&file);
    return tokenizer;
}

static size_t
s_read_ids (const char *text, uint32_t *ids)
{
    size_t count = 0;
    for (char *at = (char *)text; *at; count++)
        ids [count] = (uint32_t)strtoul (at, &at, 10);
    return count;
}

//  A stream that has ended says the same as the whole, but for bytes that are no text: each is told when it comes.
static void
test_decoders_that_look_at_all_tokens_say_what_the_library_says (void **state)
{
    for (size_t i = 0; i < sizeof s_rows / sizeof *s_rows; i++) {
        tokenizer_t *tokenizer = s_load (s_rows [i].decoder);
        uint32_t ids [16];
        size_t count = s_read_ids (s_rows [i].ids, ids);
        buffer_t whole = { 0 }, streamed = { 0 };
        detokenizer_t stream;
        tokenizer_decode_text (tokenizer, ids, count, false, &whole);
        detokenizer_init (&stream, tokenizer, false);
        for (size_t at = 0; at < count; at++)
            detokenizer_push (&stream, ids [at], &streamed);
        detokenizer_finish (&stream, &streamed);
        assert_string_equal (buffer_string (&whole), s_rows [i].said);
        if (!strstr (s_rows [i].said, "\xef\xbf\xbd"))
            assert_string_equal (buffer_string (&streamed), s_rows [i].said);
        buffer_fini (&whole);
        buffer_fini (&streamed);
        tokenizer_destroy (&tokenizer);
    }
}

//  A text that begins and ends where its tokens do comes as they come, also where a file has a name for each step.
static void
test_what_each_token_says_alone_comes_at_once (void **state)
{
    tokenizer_t *tokenizer = s_load (
        "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\","
        "\"content\":\" \",\"start\":1,\"stop\":0}]}");
    buffer_t text = { 0 };
    detokenizer_t stream;
    detokenizer_init (&stream, tokenizer, false);
    detokenizer_push (&stream, 6, &text);
    detokenizer_push (&stream, 0, &text);
    assert_string_equal (buffer_string (&text), "a");
    detokenizer_finish (&stream, &text);
    buffer_fini (&text);
    tokenizer_destroy (&tokenizer);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_decoders_that_look_at_all_tokens_say_what_the_library_says),
        cmocka_unit_test (test_what_each_token_says_alone_comes_at_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
