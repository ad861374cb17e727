//  Feeds text to tokenizers of three kinds; the first byte says to which. With bytes for symbols what is encoded decodes to
//  the same; cut at every seam a text has the same ids.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

#define ADDED                                                              \
    "\"added_tokens\":[{\"id\":300,\"content\":\"<s>\",\"special\":true}," \
    "{\"id\":301,\"content\":\"<t>\",\"rstrip\":true,\"special\":true},"   \
    "{\"id\":302,\"content\":\"wd\",\"single_word\":true},"                \
    "{\"id\":303,\"content\":\"<s><e>\"}]"

enum { KINDS = 3 };

static const char *const s_steps [KINDS] = {
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[]},\"pre_tokenizer\":{\"type\":\"Sequence\","
    "\"pretokenizers\":["
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|"
    "\\\\p{N}|"
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\"},"
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]},\"decoder\":{\"type\":\"ByteLevel\"}",
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"Lowercase\"},{\"type\":"
    "\"Prepend\","
    "\"prepend\":\"_\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" "
    "\"},\"content\":\"_\"}]},\"pre_tokenizer\":null",
    "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"
    "\"Punctuation\"},"
    "{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":"
    "\"first\"}]}",
};

//  Bytes as the vocabulary names them: letters of the alphabet of bytes, or <0xXX>.
static void
s_print_token (buffer_t *file, unsigned byte, bool is_level)
{
    static unsigned unprinted;
    bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    unprinted = byte ? unprinted : 0;
    if (is_level)
        buffer_print (file, "%s\"\\u%04x\":%u", byte ? "," : "", prints ? byte : 256 + unprinted, byte);
    else
        buffer_print (file, "%s\"<0x%02X>\":%u", byte ? "," : "", byte, byte);
    unprinted += !prints;
}

static tokenizer_t *
s_load (unsigned kind)
{
    buffer_t file = { 0 };
    tokenizer_t *tokenizer;
    error_t error;
    buffer_print (
        &file, "{" ADDED ",%s,\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{", s_steps [kind]);
    for (unsigned byte = 0; byte < 256; byte++)
        s_print_token (&file, byte, kind == 0);
    unsigned next = kind ? 259 : 256;
    buffer_append_string (&file, kind ? ",\"a\":256,\"b\":257,\"_\":258" : "");
    buffer_print (&file, ",\"ab\":%u,\"aba\":%u},\"merges\":[\"a b\",\"ab a\"]}}", next, next + 1);
    if (tokenizer_load_json (buffer_span (&file), &tokenizer, &error)) {
        fprintf (stderr, "%s\n", error.text);
        abort ();
    }
    buffer_fini (&file);
    return tokenizer;
}

static void
s_check_bytes (tokenizer_t *tokenizer, span_t text, const array_t *ids)
{
    buffer_t back = { 0 };
    tokenizer_decode (tokenizer, ids->data, ids->count, false, &back);
    if (!span_equal (buffer_span (&back), text))
        abort ();
    buffer_fini (&back);
}

static void
s_check_seams (tokenizer_t *tokenizer, span_t text, const array_t *ids)
{
    array_t seams, parted;
    array_init (&seams, sizeof (size_t));
    array_init (&parted, sizeof (uint32_t));
    tokenizer_seams (tokenizer, text, (tokenizer_flags_t){ .parse_special = true }, &seams);
    array_append (&seams, &text.size, 1);
    for (size_t i = 0, done = 0; i < seams.count; i++) {
        size_t place = *(const size_t *)array_at (&seams, i);
        tokenizer_flags_t flags = { .parse_special = true, .not_first = done > 0 };
        tokenizer_encode (tokenizer, span_slice (text, done, place - done), flags, &parted, NULL);
        done = place;
    }
    if (parted.count != ids->count ||
        (ids->count && memcmp (parted.data, ids->data, ids->count * sizeof (uint32_t)) != 0))
        abort ();
    array_fini (&seams);
    array_fini (&parted);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static tokenizer_t *tokenizers [KINDS];
    if (size == 0)
        return 0;
    unsigned kind = data [0] % KINDS;
    if (!tokenizers [kind])
        tokenizers [kind] = s_load (kind);
    span_t text = span_of (data + 1, size - 1);
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    if (tokenizer_encode (tokenizers [kind], text, (tokenizer_flags_t){ .parse_special = true }, &ids, NULL) ==
        STATUS_OK) {
        s_check_seams (tokenizers [kind], text, &ids);
        array_cut (&ids, 0);
        tokenizer_encode (tokenizers [kind], text, (tokenizer_flags_t){ 0 }, &ids, NULL);
        if (kind == 0)
            s_check_bytes (tokenizers [kind], text, &ids);
    }
    array_fini (&ids);
    return 0;
}
