//  What files ask for that most files do not, and the ids that Hugging Face's library gives.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "model/gguf.h"
#include "model/tokenizer/alphabet.h"
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
    { "Marks do not part what would be a token without the rules",
        "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"\\u2581\": 0, \"a\": 1, \"b\": 2, \"\\u2581ab\": 3, "
        "\"\\u2581a\": 4}, \"merges\": [[\"\\u2581\", \"a\"]], \"ignore_merges\": true, \"unk_token\": \"b\"}}",
        "a\xe2\x96\x81"
        "ab",
        false, "1 4 2" },
    { "Word pieces see the characters that ByteLevel writes",
        "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
        "\"use_regex\": false}, \"model\": {\"type\": \"WordPiece\", \"unk_token\": \"?\", "
        "\"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100, \"vocab\": {\"?\": 0, \"\\u00c3\": "
        "1, \"##\\u00a9\": 2}}}",
        "\xc3\xa9", false, "1 2" },
    { "Unknown bytes are joined as characters are",
        "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
        "\"use_regex\": false}, \"model\": {\"type\": \"BPE\", \"vocab\": {\"?\": 0, \"a\": 1}, \"merges\": [], "
        "\"unk_token\": \"?\", \"fuse_unk\": true}}",
        "bca", false, "0 1" },
    { "The bytes of an unknown byte are those of its character",
        "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
        "\"use_regex\": false}, \"model\": {\"type\": \"BPE\", \"vocab\": {\"<0xC3>\": 0, \"<0x83>\": 1, \"\\u00a9\": "
        "2}, \"merges\": [], \"byte_fallback\": true}}",
        "\xc3\xa9", false, "0 1 2" },
    { "Bytes that are no text are those of their characters too",
        "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
        "\"use_regex\": false}, \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"\\u00ff\": 1, \"\\u00fe\": 2, "
        "\"\\u00ff\\u00fe\": 3}, \"merges\": [[\"\\u00ff\", \"\\u00fe\"]], \"byte_fallback\": true}}",
        "a\xff\xfe\xff", false, "0 3 1" },
    { "ByteLevel twice",
        "{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"ByteLevel\", "
        "\"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": false}, {\"type\": \"ByteLevel\", "
        "\"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": false}]}, \"model\": {\"type\": \"BPE\", "
        "\"vocab\": {\"a\": 0, \"\\u00c3\": 1, \"\\u0125\": 9, \"\\u0124\": 3, \"\\u00c2\": 4, \"\\u00ae\": 5, "
        "\"\\u0126\": 6, \"\\u00a9\": 7, \"\\u0142\": 8, \"\\u00c4\": 10, \"\\u0143\": 11}, \"merges\": []}}",
        "a\xc3\xa9", false, "0 1 9 4 7" },
    { "Unknown characters that are a token together are that one",
        "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0.0], [\"a\", -1.0], [\"<0x3C>\", "
        "-9.0]], \"byte_fallback\": true}}",
        "a<unk>a<a", false, "1 0 1 2 1" },
    { "A byte without a token makes all beside it unknown",
        "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0.0], [\"a\", -1.0], [\"<0x62>\", "
        "-9.0]], \"byte_fallback\": true}}",
        "babca", false, "2 1 0 1" },
    { "A text put before all that is none",
        "{\"normalizer\": {\"type\": \"Prepend\", \"prepend\": \"\"}, \"model\": {\"type\": \"BPE\", \"vocab\": "
        "{\"a\": 0, "
        "\"b\": 1}, \"merges\": []}}",
        "ab", false, "0 1" },
    { "Word pieces without a type",
        "{\"model\": {\"vocab\": {\"[UNK]\": 0, \"a\": 1, \"##b\": 2}, \"unk_token\": \"[UNK]\", "
        "\"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100}}",
        "ab", false, "1 2" },
    { "Word levels without a type",
        "{\"model\": {\"vocab\": {\"[UNK]\": 0, \"a\": 1, \"##b\": 2}, \"unk_token\": \"[UNK]\"}}", "ab", false, "0" },
    { "Unigrams without a type",
        "{\"model\": {\"unk_id\": 0, \"vocab\": [[\"<unk>\", 0.0], [\"a\", -1.0], [\"b\", -1.0], [\"ab\", -1.5]]}}",
        "abx", false, "3 0" },
    { "What is left out lets those beside it meet",
        "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"\\u2581\": 1, \"a\\u2581\": 2}, \"merges\": [\"a "
        "\\u2581\"]}}",
        "aX\xe2\x96\x81"
        "a",
        false, "2 0" },
    { "An empty text is replaced everywhere",
        "{\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"String\": \"\"}, \"content\": \"b\"}, \"model\": "
        "{\"type\": "
        "\"BPE\", \"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": []}}",
        "aa", false, "1 0 1 0 1" },
    { "and cuts everywhere",
        "{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"\"}, \"behavior\": \"Isolated\"}, "
        "\"model\": {"
        "\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"]}}",
        "ab", false, "0 1" },
    { "Nothing is no match where the last one ends",
        "{\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"Regex\": \"b*\"}, \"content\": \"c\"}, \"model\": "
        "{\"type\": "
        "\"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2}, \"merges\": []}}",
        "abba", false, "2 0 2 0 2" },
};

static void
s_print_ids (tokenizer_t *tokenizer, const char *text, tokenizer_flags_t flags, buffer_t *out)
{
    error_t error;
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    assert_int_equal (tokenizer_encode (tokenizer, span_from_string (text), flags, &ids, &error), STATUS_OK);
    for (size_t i = 0; i < ids.count; i++)
        buffer_print (out, "%s%u", i ? " " : "", *(const uint32_t *)array_at (&ids, i));
    array_fini (&ids);
}

static void
test_every_kind_gives_the_ids_of_the_reference (void **state)
{
    for (size_t i = 0; i < sizeof s_kinds / sizeof *s_kinds; i++) {
        const kind_t *kind = &s_kinds [i];
        buffer_t ids = { 0 };
        tokenizer_t *tokenizer;
        error_t error;
        if (tokenizer_load_json (span_from_string (kind->file), &tokenizer, &error))
            fail_msg ("%s: %s", kind->why, error.text);
        tokenizer_flags_t flags = { .add_special = kind->add_special, .parse_special = true };
        s_print_ids (tokenizer, kind->text, flags, &ids);
        if (!span_equal_string (buffer_span (&ids), kind->ids))
            fail_msg ("%s: %s, not %s", kind->why, buffer_string (&ids), kind->ids);
        tokenizer_destroy (&tokenizer);
        buffer_fini (&ids);
    }
}

//  ---- GGUF ----------------------------------------------------------------------------------------------------------

static const char *const s_texts [] = { "20", "24", "02", "<|end|>", "<|call|>", "<|return|>", "<mask>" };
static const char *const s_rules [] = { "2 0", "2 4", "0 2", "2 0" };
enum { TEXTS = sizeof s_texts / sizeof *s_texts, RULES = sizeof s_rules / sizeof *s_rules, FIRST_CONTROL = 259 };

static void
s_put_span (buffer_t *file, span_t span)
{
    buffer_append_u64_le (file, span.size);
    buffer_append (file, span);
}

static void
s_put_string (buffer_t *file, const char *string)
{
    s_put_span (file, span_from_string (string));
}

static void
s_put_member (buffer_t *file, const char *key, const char *value)
{
    s_put_string (file, key);
    buffer_append_u32_le (file, GGUF_STRING);
    s_put_string (file, value);
}

static void
s_put_row (buffer_t *file, const char *key, gguf_type_t element, uint64_t count)
{
    s_put_string (file, key);
    buffer_append_u32_le (file, GGUF_ARRAY);
    buffer_append_u32_le (file, element);
    buffer_append_u64_le (file, count);
}

//  A vocabulary of all bytes and a few texts.
static void
s_put_gguf (buffer_t *file, const char *pre)
{
    buffer_append_string (file, "GGUF");
    buffer_append_u32_le (file, 3);
    buffer_append_u64_le (file, 0);
    buffer_append_u64_le (file, 5);
    s_put_member (file, "tokenizer.ggml.model", "gpt2");
    s_put_member (file, "tokenizer.ggml.pre", pre);
    s_put_row (file, "tokenizer.ggml.tokens", GGUF_STRING, 256 + TEXTS);
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        buffer_t letter = { 0 };
        alphabet_from_bytes (span_of (&byte, 1), &letter);
        s_put_span (file, buffer_span (&letter));
        buffer_fini (&letter);
    }
    for (size_t i = 0; i < TEXTS; i++)
        s_put_string (file, s_texts [i]);
    s_put_row (file, "tokenizer.ggml.token_type", GGUF_I32, 256 + TEXTS);
    for (unsigned i = 0; i < 256 + TEXTS; i++)
        buffer_append_u32_le (file, i < FIRST_CONTROL ? 1 : 3);
    s_put_row (file, "tokenizer.ggml.merges", GGUF_STRING, RULES);
    for (size_t i = 0; i < RULES; i++)
        s_put_string (file, s_rules [i]);
}

typedef struct {
    const char *why;     //  What it shows
    const char *pre;     //  How the file says that text is cut
    const char *text;    //  What is encoded, where special tokens are only text
    const char *ids;     //  What llama.cpp makes of it
} gguf_kind_t;

static const gguf_kind_t s_gguf_kinds [] = {
    { "Letters that have a shorter form", "deepseek-llm",
        "\xe1\xbd\xbd"
        "1",
        "225 189 189 49" },
    { "Digits by threes from their end, whatever is behind", "tiny_aya", "a2024b", "97 50 48 257 98" },
    { "the same", "afmoe", "2024\xe4\xb8\xad", "50 48 257 228 184 173" },
    { "the same", "superbpe", "2024", "50 48 257" },
    { "Of rules of one pair the first counts", "gpt-2", "202", "256 50" },
    { "A message ends in what is always found, where calls end in something else", "qwen2", "2<|end|>4", "50 259 52" },
};

static const gguf_kind_t s_parsed_kind = { "A mask takes the blanks before it", "jina-v2-de", "2 <mask> 4",
    "50 262 32 52" };

static void
s_check_gguf (const gguf_kind_t *kind, bool parse_special)
{
    buffer_t file = { 0 }, printed = { 0 };
    tokenizer_t *tokenizer;
    error_t error;
    s_put_gguf (&file, kind->pre);
    if (tokenizer_load_gguf (buffer_span (&file), &tokenizer, &error))
        fail_msg ("%s: %s", kind->pre, error.text);
    s_print_ids (tokenizer, kind->text, (tokenizer_flags_t){ .parse_special = parse_special }, &printed);
    if (!span_equal_string (buffer_span (&printed), kind->ids))
        fail_msg ("%s: %s, not %s", kind->why, buffer_string (&printed), kind->ids);
    tokenizer_destroy (&tokenizer);
    buffer_fini (&file);
    buffer_fini (&printed);
}

static void
test_a_gguf_file_is_read_as_llama_cpp_reads_it (void **state)
{
    for (size_t i = 0; i < sizeof s_gguf_kinds / sizeof *s_gguf_kinds; i++)
        s_check_gguf (&s_gguf_kinds [i], false);
    s_check_gguf (&s_parsed_kind, true);
}

//  What a file says of something.
typedef enum { NO, YES, UNSAID } said_t;

static void
s_put_flag (buffer_t *file, const char *key, said_t said)
{
    s_put_string (file, said == UNSAID ? "general.flag" : key);
    buffer_append_u32_le (file, GGUF_BOOL);
    buffer_append_byte (file, said == YES);
}

//  A vocabulary with scores: `<pad> </s> <unk> _ x \n`, where _ is the mark.
static void
s_put_unigrams (buffer_t *file, bool joins, said_t prefixes)
{
    static const char *const texts [] = { "<pad>", "</s>", "<unk>", "\xe2\x96\x81", "x", "\n" };
    enum { COUNT = sizeof texts / sizeof *texts };
    buffer_append_string (file, "GGUF");
    buffer_append_u32_le (file, 3);
    buffer_append_u64_le (file, 0);
    buffer_append_u64_le (file, 5);
    s_put_member (file, "tokenizer.ggml.model", "t5");
    s_put_flag (file, "tokenizer.ggml.add_space_prefix", prefixes);
    s_put_flag (file, "tokenizer.ggml.remove_extra_whitespaces", joins ? YES : NO);
    s_put_row (file, "tokenizer.ggml.tokens", GGUF_STRING, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        s_put_string (file, texts [i]);
    s_put_row (file, "tokenizer.ggml.token_type", GGUF_I32, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        buffer_append_u32_le (file, i < 3 ? 3 : 1);
}

static void
s_print_text (const tokenizer_t *tokenizer, const char *ids, buffer_t *out)
{
    detokenizer_t stream;
    detokenizer_init (&stream, tokenizer, true);
    for (const char *at = ids; *at; at += strcspn (at, " "), at += *at == ' ')
        detokenizer_push (&stream, (uint32_t)strtoul (at, NULL, 10), out);
    detokenizer_finish (&stream, out);
}

//  Expected: llama.cpp's. A line end is no space, and the end of no text; of nothing but spaces no word begins. Where spaces are
//  joined a mark comes first, but only what the file wants there is dropped again.
static void
test_spaces_of_unigrams_are_those_of_llama_cpp (void **state)
{
    static const struct {
        bool joins;          //  Spaces in a row are one
        said_t prefixes;     //  One comes before the text
        const char *text;    //  Encoded
        const char *ids;     //  To these
        const char *said;    //  Which say this
    } rows [] = { { true, YES, "\n  x", "3 5 3 4", "\n x" }, { true, NO, "  x \n", "3 4 3 5", " x \n" },
        { false, YES, "  ", "3 3", " " }, { false, YES, " x", "3 3 4", " x" }, { false, NO, " x", "3 4", " x" },
        { false, UNSAID, "x", "4", "x" }, { true, UNSAID, "x", "3 4", " x" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buffer_t file = { 0 }, printed = { 0 };
        tokenizer_t *tokenizer;
        s_put_unigrams (&file, rows [i].joins, rows [i].prefixes);
        assert_int_equal (tokenizer_load_gguf (buffer_span (&file), &tokenizer, NULL), STATUS_OK);
        s_print_ids (tokenizer, rows [i].text, (tokenizer_flags_t){ 0 }, &printed);
        assert_string_equal (buffer_string (&printed), rows [i].ids);
        buffer_clear (&printed);
        s_print_text (tokenizer, rows [i].ids, &printed);
        assert_string_equal (buffer_string (&printed), rows [i].said);
        tokenizer_destroy (&tokenizer);
        buffer_fini (&file);
        buffer_fini (&printed);
    }
}

//  ---- Refused -------------------------------------------------------------------------------------------------------

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
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\\ud83d\":1},\"merges\":[]}}",
        "vocab: half of a character that takes two \\u at byte 39" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\\ude00\\ud83d\":1},\"merges\":[]}}",
        "vocab: half of a character that takes two \\u at byte 39" },
    { "{\"added_tokens\":[{\"id\":1,\"content\":\"<\\ud83dx>\"}],\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]"
      "}}",
        "added_tokens: half of a character that takes two \\u at byte 37" },
    { "{\"normalizer\":{\"type\":\"Strip\"},\"added_tokens\":[{\"id\":1,\"content\":\" "
      "\",\"normalized\":true}],\"model\":{"
      "\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}",
        "nothing is left of the added token 1" },
    { "{\"normalizer\":{\"type\":\"Prepend\"},\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}",
        "normalizer: a Prepend without a text" },
    { "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"__\"},\"model\":{\"type\":\"BPE\",\"vocab\":{},"
      "\"merges\":[]}}",
        "pre_tokenizer: the replacement of a Metaspace is not one character" },
    { "{\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"\"},\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":["
      "]}}",
        "decoder: the replacement of a Metaspace is not one character" },
};

static void
test_what_cannot_be_done_is_refused_when_the_file_is_loaded (void **state)
{
    for (size_t i = 0; i < sizeof s_refused / sizeof *s_refused; i++) {
        tokenizer_t *tokenizer;
        error_t error;
        assert_int_not_equal (
            tokenizer_load_json (span_from_string (s_refused [i].file), &tokenizer, &error), STATUS_OK);
        if (!strstr (error.text, s_refused [i].says))
            fail_msg ("%s, not %s", error.text, s_refused [i].says);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_kind_gives_the_ids_of_the_reference),
        cmocka_unit_test (test_a_gguf_file_is_read_as_llama_cpp_reads_it),
        cmocka_unit_test (test_spaces_of_unigrams_are_those_of_llama_cpp),
        cmocka_unit_test (test_what_cannot_be_done_is_refused_when_the_file_is_loaded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
