//  tokenizer_fixture - small tokenizers for tests, made of a few rules over bytes

#ifndef MODEL_TOKENIZER_TOKENIZER_FIXTURE_H
#define MODEL_TOKENIZER_TOKENIZER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/tokenizer.h"

#define FIXTURE_QWEN                                                                  \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| " \
    "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*"                                         \
    "|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

//  Rules over bytes: both sides of each are bytes or came before.
static const char *const fixture_plain_rules [][2] = {
    { "a", "b" },
    { "ab", "ab" },
    { " ", "a" },
    { "b", "a" },
    { "a", "a" },
    { "aa", "aa" },
    { "\n", "\n" },
    { " a", "ba" },
    { "\xf0", "\x9f" },
    { "\xf0\x9f", "\xa6" },
    { "ba", "ba" },
    { "aaaa", "b" },
    { "\xf0\x9f\xa6", "\x99" },
    { "\xf0\x9f\xa6\x99", "a" },
};
enum { RULES = sizeof fixture_plain_rules / sizeof *fixture_plain_rules, FIRST_ADDED = 256 + RULES };

//  Those of the next tokenizer, as many.
static const char *const (*fixture_rules) [2] = fixture_plain_rules;

//  How many of them a file has; the tokens of all are in its vocabulary.
static size_t fixture_rule_count = RULES;

static void
fixture_append_alphabet (buffer_t *text, const char *bytes)
{
    alphabet_from_bytes (span_from_string (bytes), text);
}

//  A string of JSON: no control character is among those of the alphabet.
static void
fixture_print_string (buffer_t *out, span_t text)
{
    buffer_append_byte (out, '"');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data [i] == '"' || text.data [i] == '\\')
            buffer_append_byte (out, '\\');
        buffer_append_byte (out, text.data [i]);
    }
    buffer_append_byte (out, '"');
}

static void
fixture_print_vocabulary (buffer_t *out)
{
    for (unsigned id = 0; id < FIRST_ADDED; id++) {
        buffer_t token = { 0 };
        uint8_t byte = (uint8_t)id;
        if (id < 256)
            alphabet_from_bytes (span_of (&byte, 1), &token);
        else {
            fixture_append_alphabet (&token, fixture_rules [id - 256][0]);
            fixture_append_alphabet (&token, fixture_rules [id - 256][1]);
        }
        buffer_append_string (out, id ? "," : "");
        fixture_print_string (out, buffer_span (&token));
        buffer_print (out, ":%u", id);
        buffer_fini (&token);
    }
}

static void
fixture_print_rules (buffer_t *out)
{
    for (size_t i = 0; i < fixture_rule_count; i++) {
        buffer_t rule = { 0 };
        fixture_append_alphabet (&rule, fixture_rules [i][0]);
        buffer_append_byte (&rule, ' ');
        fixture_append_alphabet (&rule, fixture_rules [i][1]);
        buffer_append_string (out, i ? "," : "");
        fixture_print_string (out, buffer_span (&rule));
        buffer_fini (&rule);
    }
}

//  A byte-level tokenizer. added: rows of added_tokens, numbered from FIRST_ADDED on, as JSON. model: members of the model
//  beside its tokens and rules, each with a comma behind it.
static tokenizer_t *
fixture_model (const char *pre_tokenizer, const char *added, const char *model)
{
    buffer_t file = { 0 };
    tokenizer_t *tokenizer;
    error_t error;
    buffer_print (&file, "{\"added_tokens\":[%s],\"normalizer\":null,\"pre_tokenizer\":%s,", added, pre_tokenizer);
    buffer_print (&file, "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",%s\"vocab\":{", model);
    fixture_print_vocabulary (&file);
    buffer_append_string (&file, "},\"merges\":[");
    fixture_print_rules (&file);
    buffer_append_string (&file, "]}}");
    if (tokenizer_load_json (buffer_span (&file), &tokenizer, &error))
        fail_msg ("%s", error.text);
    buffer_fini (&file);
    return tokenizer;
}

static tokenizer_t *
fixture_byte_level (const char *pre_tokenizer, const char *added)
{
    return fixture_model (pre_tokenizer, added, "");
}

//  Cuts as Qwen does.
static tokenizer_t *
fixture_qwen_cut (const char *added, const char *model)
{
    return fixture_model (
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" FIXTURE_QWEN
        "\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
        "\"use_regex\":false}]}",
        added, model);
}

static tokenizer_t *
fixture_qwen_like (const char *added)
{
    return fixture_qwen_cut (added, "");
}

#define ADDED(id, content, flags) "{\"id\":" #id ",\"content\":\"" content "\"" flags "}"
#define SPECIAL ",\"special\":true"

_Static_assert(FIRST_ADDED == 270, "added tokens are numbered behind the others");

#endif
