//  What files ask for that most files do not, and the ids that Hugging Face's library gives.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/buffer.h"
#include "model/tokenizer/tokenizer.h"

typedef struct {
    const char *why;     //  What it shows
    const char *file;    //  A tokenizer.json
    const char *text;    //  What is encoded
    bool add_special;    //  With what the file puts around it
    const char *ids;     //  What `tokenizers` 0.23.3 makes of it
} kind_t;

static const kind_t s_kinds [] = {
    { "Pieces of so many characters",
        "{\"pre_tokenizer\": {\"type\": \"FixedLength\", \"length\": 3}, \"model\": {\"type\": \"WordLevel\", "
        "\"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"abc\": 1, \"d\\u00e9 \": 2, \"f\": 3}}}",
        "abcd\xc3\xa9"
        " f",
        false, "1 2 3" },
    { "Pieces of one script; what comes before the first is left out",
        "{\"pre_tokenizer\": {\"type\": \"UnicodeScripts\"}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": "
        "\"?\", \"vocab\": {\"?\": 0, \"Yes \": 1, \"\\u3069\\u3053 \\u30fc\\u4eac\": 2, \"12\\ud807\\udf04\": 3}}}",
        "  Yes \xe3\x81\xa9"
        "\xe3\x81\x93"
        " \xe3\x83\xbc"
        "\xe4\xba\xac"
        "12\xf0\x91\xbc\x84"
        "",
        false, "1 2 3" },
    { "Punctuation of Unicode 8 and nothing else",
        "{\"pre_tokenizer\": {\"type\": \"Punctuation\", \"behavior\": \"Isolated\"}, \"model\": {\"type\": "
        "\"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\\u2e43b\": 1, \"\\u166d\": 2, \"c\": 3, "
        "\"\\u2e42\": 4, \"d\": 5}}}",
        "a\xe2\xb9\x83"
        "b\xe1\x99\xad"
        "c\xe2\xb9\x82"
        "d",
        false, "1 2 3 4 5" },
    { "Digits of Unicode 17",
        "{\"pre_tokenizer\": {\"type\": \"Digits\", \"individual_digits\": true}, \"model\": {\"type\": \"WordLevel\", "
        "\"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, \"\\ud807\\udde0\": 2, \"b\": 3}}}",
        "a\xf0\x91\xb7\xa0"
        "b",
        false, "1 2 3" },
    { "Marks of Unicode 9",
        "{\"normalizer\": {\"type\": \"StripAccents\"}, \"model\": {\"type\": \"BPE\", \"dropout\": null, "
        "\"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": false, "
        "\"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2, \"d\": 3, "
        "\"\\ud804\\uddc9\": 4, \"\\u0897\": 5}, \"merges\": []}}",
        "a\xf0\x91\x87\x89"
        "b\xe1\xb3\xb2"
        "c\xcc\x81"
        "d\xe0\xa2\x97"
        "",
        false, "0 4 1 2 3 5" },
    { "Lower case of Unicode 17",
        "{\"normalizer\": {\"type\": \"Lowercase\"}, \"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": "
        "null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": false, "
        "\"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\"\\u00fc\": 0, \"\\ud81b\\udebb\": 1, "
        "\"\\u0264\": 2}, \"merges\": []}}",
        "\xc3\x9c"
        "\xf0\x96\xba\xa0"
        "\xea\x9f\x8b"
        "",
        false, "0 1 2" },
    { "Control characters of Unicode 8",
        "{\"normalizer\": {\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": false, "
        "\"strip_accents\": false, \"lowercase\": false}, \"model\": {\"type\": \"BPE\", \"dropout\": null, "
        "\"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": false, "
        "\"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\"a\": 0, \"b\": 1, \"\\u0890\": 2, "
        "\"\\u0378\": 3}, \"merges\": []}}",
        "a\xe0\xa2\x90"
        "\xd8\x9c"
        "\x01"
        "b\xcd\xb8"
        "",
        false, "0 2 1 3" },
    { "Added tokens are numbered by their place, those of the model as it has them",
        "{\"added_tokens\": [{\"id\": 100, \"content\": \"<x>\", \"single_word\": false, \"lstrip\": false, "
        "\"rstrip\": false, \"normalized\": false, \"special\": false}, {\"id\": 200, \"content\": \"b\", "
        "\"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": false}, "
        "{\"id\": 300, \"content\": \"<y>\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
        "\"normalized\": false, \"special\": false}], \"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": "
        "null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": false, "
        "\"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\"a\": 0, \"b\": 7, \"c\": 3}, \"merges\": "
        "[]}}",
        "<x>b<y>", false, "3 7 4" },
    { "Of one that comes twice the last counts",
        "{\"added_tokens\": [{\"id\": 1, \"content\": \"<x>\", \"single_word\": false, \"lstrip\": false, \"rstrip\": "
        "false, \"normalized\": false, \"special\": false}, {\"id\": 1, \"content\": \"<x>\", \"single_word\": false, "
        "\"lstrip\": true, \"rstrip\": false, \"normalized\": false, \"special\": false}], \"model\": {\"type\": "
        "\"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": "
        "null, \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\" \": 0}, "
        "\"merges\": []}}",
        " <x> ", false, "1 0" },
    { "Of rules of one pair the last counts",
        "{\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, "
        "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false, "
        "\"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2, \"ab\": 3, \"bc\": 4}, \"merges\": [[\"a\", \"b\"], [\"a\", \"b\"], "
        "[\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", "
        "\"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], "
        "[\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", "
        "\"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], "
        "[\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", "
        "\"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], "
        "[\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", "
        "\"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], "
        "[\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", "
        "\"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], "
        "[\"a\", \"b\"], [\"a\", \"b\"], [\"a\", \"b\"], [\"b\", \"c\"], [\"a\", \"b\"]]}}",
        "abc", false, "0 4" },
    { "A line of rules may say its version",
        "{\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, "
        "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false, "
        "\"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"#version: 0.2\", \"a b\"]}}",
        "ab", false, "2" },
    { "Unknown characters stand behind those that go by their bytes",
        "{\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": \"?\", \"continuing_subword_prefix\": null, "
        "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": true, \"ignore_merges\": false, "
        "\"vocab\": {\"?\": 0, \"a\": 1, \"b\": 2, \"<0xC3>\": 3, \"<0xA9>\": 4, \"<0xBC>\": 5}, \"merges\": []}}",
        "a\xc3\xa9"
        "\xc3\xb1"
        "\xc3\xbc"
        "b",
        false, "1 3 4 3 5 0 2" },
    { "and are fused over them",
        "{\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": \"?\", \"continuing_subword_prefix\": null, "
        "\"end_of_word_suffix\": null, \"fuse_unk\": true, \"byte_fallback\": true, \"ignore_merges\": false, "
        "\"vocab\": {\"?\": 0, \"a\": 1, \"b\": 2, \"<0xC3>\": 3, \"<0xBC>\": 4}, \"merges\": []}}",
        "a\xc3\xa9"
        "\xc3\xb1"
        "\xc3\xbc"
        "\xc3\xb1"
        "b",
        false, "1 3 4 0 2" },
    { "A later post-processor puts its tokens around those of an earlier one",
        "{\"post_processor\": {\"type\": \"Sequence\", \"processors\": [{\"type\": \"BertProcessing\", \"cls\": "
        "[\"[CLS]\", 20], \"sep\": [\"[SEP]\", 21]}, {\"type\": \"ByteLevel\", \"add_prefix_space\": true, "
        "\"trim_offsets\": true, \"use_regex\": true}, {\"type\": \"TemplateProcessing\", \"single\": "
        "[{\"SpecialToken\": {\"id\": \"X\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, "
        "{\"SpecialToken\": {\"id\": \"Y\", \"type_id\": 0}}], \"pair\": [{\"Sequence\": {\"id\": \"A\", \"type_id\": "
        "0}}, {\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}], \"special_tokens\": {\"X\": {\"id\": \"X\", \"ids\": "
        "[10, 11], \"tokens\": [\"x\", \"x\"]}, \"Y\": {\"id\": \"Y\", \"ids\": [12], \"tokens\": [\"y\"]}}}]}, "
        "\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, "
        "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false, "
        "\"vocab\": {\"a\": 0}, \"merges\": []}}",
        "a", true, "10 11 20 0 21 12" },
    { "The first word has no mark where what began the text was dropped",
        "{\"normalizer\": {\"type\": \"Nmt\"}, \"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": "
        "\"\\u2581\", \"prepend_scheme\": \"first\", \"split\": true}, \"model\": {\"type\": \"BPE\", \"dropout\": "
        "null, \"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": "
        "false, \"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\"a\": 0, \"\\u2581\": 1}, \"merges\": "
        "[]}}",
        "\x7f"
        "a",
        false, "0" },
    { "and has one where nothing was",
        "{\"normalizer\": {\"type\": \"Nmt\"}, \"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": "
        "\"\\u2581\", \"prepend_scheme\": \"first\", \"split\": true}, \"model\": {\"type\": \"BPE\", \"dropout\": "
        "null, \"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": "
        "false, \"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {\"a\": 0, \"\\u2581\": 1}, \"merges\": "
        "[]}}",
        "a\x7f"
        "",
        false, "1 0" },
    { "Cut by \\p{L}+",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\p{L}+\"}, \"behavior\": "
        "\"Isolated\", \"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": "
        "{\"?\": 0, \"1\": 1, \"\\ua7cbx\\ud888\\udfaf\": 2, \"2\": 3}}}",
        "1\xea\x9f\x8b"
        "x\xf0\xb2\x8e\xaf"
        "2",
        false, "1 2 3" },
    { "Cut by [^\\P{L}x]+",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"[^\\\\P{L}x]+\"}, \"behavior\": "
        "\"Isolated\", \"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": "
        "{\"?\": 0, \"1\": 1, \"\\ua7cba\": 2, \"x\": 3}}}",
        "1\xea\x9f\x8b"
        "ax",
        false, "1 2 3" },
    { "Cut by \\p{C}",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\p{C}\"}, \"behavior\": \"Isolated\", "
        "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, "
        "\"a\\ua7cb\": 1, \"\\u0378\": 2}}}",
        "a\xea\x9f\x8b"
        "\xcd\xb8"
        "",
        false, "1 2" },
    { "Cut by [[:punct:]]+",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"[[:punct:]]+\"}, \"behavior\": "
        "\"Isolated\", \"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": "
        "{\"?\": 0, \"a\": 1, \"+\\u00a2\": 2, \"b\": 3}}}",
        "a+\xc2\xa2"
        "b",
        false, "1 2 3" },
    { "Cut by \\p{Han}+",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\p{Han}+\"}, \"behavior\": "
        "\"Isolated\", \"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": "
        "{\"?\": 0, \"a\": 1, \"\\ud888\\udfaf\": 2, \"\\u3042\": 3}}}",
        "a\xf0\xb2\x8e\xaf"
        "\xe3\x81\x82"
        "",
        false, "1 2 3" },
    { "Cut by \\b",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\b\"}, \"behavior\": \"Isolated\", "
        "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": "
        "1, \" \": 2, \"\\u0897b\": 3}}}",
        "a \xe0\xa2\x97"
        "b",
        false, "1 2 3" },
    { "Cut by [[:^alpha:]\\d]+",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"[[:^alpha:]\\\\d]+\"}, \"behavior\": "
        "\"Isolated\", \"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": "
        "{\"?\": 0, \"a\": 1, \"\\u0661\": 2, \"b\": 3, \"!\": 4}}}",
        "a\xd9\xa1"
        "b!",
        false, "1 2 3 4" },
    { "Cut by \\pL",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\pL\"}, \"behavior\": \"Isolated\", "
        "\"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": "
        "1, \"pL\": 2, \"b\": 3}}}",
        "apLb", false, "1 2 3" },
    { "Cut by \\u4e00+",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\u4e00+\"}, \"behavior\": "
        "\"Isolated\", \"invert\": false}, \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": "
        "{\"?\": 0, \"a\": 1, \"\\u4e00\": 2}}}",
        "a\xe4\xb8\x80"
        "",
        false, "1 2" },
};

static void
s_print_ids (const char *file, const char *text, bool add_special, buffer_t *out)
{
    tokenizer_t *tokenizer;
    error_t error;
    array_t ids;
    if (tokenizer_load_json (span_from_string (file), &tokenizer, &error))
        fail_msg ("%s", error.text);
    array_init (&ids, sizeof (uint32_t));
    tokenizer_flags_t flags = { .add_special = add_special, .parse_special = true };
    assert_int_equal (tokenizer_encode (tokenizer, span_from_string (text), flags, &ids, &error), STATUS_OK);
    for (size_t i = 0; i < ids.count; i++)
        buffer_print (out, "%s%u", i ? " " : "", *(const uint32_t *)array_at (&ids, i));
    array_fini (&ids);
    tokenizer_destroy (&tokenizer);
}

static void
test_every_kind_gives_the_ids_of_the_reference (void **state)
{
    for (size_t i = 0; i < sizeof s_kinds / sizeof *s_kinds; i++) {
        buffer_t ids = { 0 };
        s_print_ids (s_kinds [i].file, s_kinds [i].text, s_kinds [i].add_special, &ids);
        if (!span_equal_string (buffer_span (&ids), s_kinds [i].ids))
            fail_msg ("%s: %.*s, not %s", s_kinds [i].why, (int)ids.size, (const char *)ids.data, s_kinds [i].ids);
        buffer_fini (&ids);
    }
}

typedef struct {
    const char *file;    //  A tokenizer.json
    const char *says;    //  What is wrong with it
} refused_t;

static const refused_t s_refused [] = {
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1,\"b\":1},\"merges\":[]}}", "two tokens have the number 1" },
    { "{\"pre_tokenizer\":{\"type\":\"FixedLength\",\"length\":0},\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":["
      "]}}",
        "a FixedLength that is none" },
    { "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[],\"special_tokens\":{}},\"model\":{\"type\":"
      "\"BPE\","
      "\"vocab\":{},\"merges\":[]}}",
        "a template with 0 texts" },
    { "{\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"TemplateProcessing\",\"single\":[{"
      "\"SpecialToken\":"
      "{\"id\":\"X\"}},{\"Sequence\":{\"id\":\"A\"}}],\"special_tokens\":{\"X\":{\"ids\":[1]}}},{\"type\":"
      "\"BertProcessing\","
      "\"cls\":[\"c\",1],\"sep\":[\"s\",2]}]},\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}",
        "adds to what a template has added" },
};

static void
test_what_cannot_be_done_is_refused_when_the_file_is_loaded (void **state)
{
    for (size_t i = 0; i < sizeof s_refused / sizeof *s_refused; i++) {
        tokenizer_t *tokenizer;
        error_t error;
        assert_int_not_equal (
            tokenizer_load_json (span_from_string (s_refused [i].file), &tokenizer, &error), STATUS_OK);
        assert_non_null (strstr (error.text, s_refused [i].says));
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_kind_gives_the_ids_of_the_reference),
        cmocka_unit_test (test_what_cannot_be_done_is_refused_when_the_file_is_loaded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
