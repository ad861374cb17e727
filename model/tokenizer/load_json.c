//  A tokenizer.json: the big parts (vocabulary, rules) are scanned, the small ones are trees.

#include <string.h>

#include "base/utf8.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/load_rules.h"
#include "model/tokenizer/load_steps.h"
#include "model/tokenizer/scan.h"

enum { FILE_SIZE_MAX = 1 << 29 };

//  Parts of the file, as text.
typedef enum {
    PART_ADDED,
    PART_NORMALIZER,
    PART_PRE_TOKENIZER,
    PART_POST_PROCESSOR,
    PART_DECODER,
    PART_MODEL,
    PART_TYPE,
    PART_VOCAB,
    PART_MERGES,
    PART_UNKNOWN,
    PART_UNKNOWN_ID,
    PART_BYTE_FALLBACK,
    PART_IGNORE_MERGES,
    PART_FUSE_UNKNOWN,
    PART_PREFIX,
    PART_SUFFIX,
    PART_CHARACTERS,
    PARTS
} part_t;

static const struct {
    const char *name;    //  Key
    bool is_of_model;    //  It stands in the model
} s_parts [PARTS] = {
    [PART_ADDED] = { "added_tokens", false },
    [PART_NORMALIZER] = { "normalizer", false },
    [PART_PRE_TOKENIZER] = { "pre_tokenizer", false },
    [PART_POST_PROCESSOR] = { "post_processor", false },
    [PART_DECODER] = { "decoder", false },
    [PART_MODEL] = { "model", false },
    [PART_TYPE] = { "type", true },
    [PART_VOCAB] = { "vocab", true },
    [PART_MERGES] = { "merges", true },
    [PART_UNKNOWN] = { "unk_token", true },
    [PART_UNKNOWN_ID] = { "unk_id", true },
    [PART_BYTE_FALLBACK] = { "byte_fallback", true },
    [PART_IGNORE_MERGES] = { "ignore_merges", true },
    [PART_FUSE_UNKNOWN] = { "fuse_unk", true },
    [PART_PREFIX] = { "continuing_subword_prefix", true },
    [PART_SUFFIX] = { "end_of_word_suffix", true },
    [PART_CHARACTERS] = { "max_input_chars_per_word", true },
};

typedef struct {
    span_t file;               //  All of it
    span_t parts [PARTS];      //  Their texts; empty where absent
    tokenizer_t *tokenizer;    //  What is filled
    bool asks_where;           //  Some tokens say something else where a text begins
    vocabulary_t *odd;         //  Tokens that no bytes stand for, where the vocabulary is of bytes
    size_t prefix_size;        //  Bytes of the prefix of what continues a word, as the file writes it
    array_t rules;             //  merge_t
    buffer_t bytes;            //  Room for a token's bytes
    buffer_t left;             //  Room for the left side of a rule
    buffer_t joined;           //  Room for both, without the prefix between them
    error_t *error;            //  The caller's
} loading_t;

//  ---- Small parts ---------------------------------------------------------------------------------------------------

//  Notes the parts that are members of an object.
static status_t
s_find_parts (loading_t *self, span_t object, bool is_of_model)
{
    scan_t scan;
    span_t key, value;
    scan_init (&scan, object, (size_t)(object.data - self->file.data), self->error);
    for (bool first = true; scan_member (&scan, &first, &key);) {
        part_t part = 0;
        while (part < PARTS &&
               (s_parts [part].is_of_model != is_of_model || !span_equal_string (key, s_parts [part].name)))
            part++;
        if (scan_value (&scan, &value) && part < PARTS)
            self->parts [part] = value;
    }
    scan_end (&scan);
    scan_fini (&scan);
    return scan.status;
}

//  A part as a tree; NULL where it is absent. A tree has U+FFFD for half of a pair of surrogates: its strings are read once more.
static status_t
s_tree (const loading_t *self, part_t part, json_t **tree)
{
    *tree = NULL;
    if (!self->parts [part].size)
        return STATUS_OK;
    scan_t scan;
    size_t origin = (size_t)(self->parts [part].data - self->file.data);
    status_t status = json_parse (self->parts [part], tree, self->error);
    if (status) {
        error_prefix (self->error, "%s, from byte %zu", s_parts [part].name, origin);
        return status;
    }
    scan_init (&scan, self->parts [part], origin, self->error);
    if (!scan_strings (&scan)) {
        error_prefix (self->error, "%s", s_parts [part].name);
        json_destroy (tree);
    }
    scan_fini (&scan);
    return scan.status;
}

static bool
s_is_true (const loading_t *self, part_t part)
{
    return span_equal_string (self->parts [part], "true");
}

static bool
s_is_bpe (const loading_t *self)
{
    span_t type = self->parts [PART_TYPE];
    return span_equal_string (type, "\"BPE\"") || (!type.size && self->parts [PART_MERGES].size);
}

//  Whether a model may have bytes for the characters that ByteLevel writes for them. To all others these are characters like any:
//  also to rules that join unknown ones, or take them for the bytes of UTF-8.
static bool
s_takes_bytes (const loading_t *self)
{
    return s_is_bpe (self) && !s_is_true (self, PART_BYTE_FALLBACK) && !s_is_true (self, PART_FUSE_UNKNOWN);
}

static status_t
s_load_decoder (loading_t *self, const json_t *tree)
{
    status_t status = load_decoder (tree, &self->tokenizer->decoder, self->error);
    self->asks_where = decoder_asks_where (&self->tokenizer->decoder);
    return status;
}

static status_t
s_load_step (loading_t *self, part_t part)
{
    tokenizer_t *tokenizer = self->tokenizer;
    json_t *tree;
    status_t status = s_tree (self, part, &tree);
    if (status)
        return status;
    if (part == PART_NORMALIZER)
        status = load_normalizer (tree, &tokenizer->normalizer, self->error);
    else if (part == PART_PRE_TOKENIZER)
        status = load_pre_tokenizer (
            tree, s_takes_bytes (self), &tokenizer->splitter, &tokenizer->bpe.byte_level, self->error);
    else if (part == PART_DECODER)
        status = s_load_decoder (self, tree);
    else
        status = load_post_processor (tree, &tokenizer->before, &tokenizer->behind, self->error);
    json_destroy (&tree);
    if (status)
        error_prefix (self->error, "%s", s_parts [part].name);
    return status;
}

//  ---- Vocabulary ----------------------------------------------------------------------------------------------------

//  The number of a token as the file writes it; TOKEN_NONE where the model has none.
static uint32_t
s_find (loading_t *self, span_t token)
{
    buffer_clear (&self->bytes);
    if (!self->tokenizer->bpe.byte_level)
        return vocabulary_find (self->tokenizer->vocabulary, token);
    if (alphabet_to_bytes (token, &self->bytes))
        return vocabulary_find (self->tokenizer->vocabulary, buffer_span (&self->bytes));
    return vocabulary_find (self->odd, token);
}

//  What a token says, in the middle of a text and where one begins.
static status_t
s_put_text (loading_t *self, uint32_t id, span_t token)
{
    tokenizer_t *tokenizer = self->tokenizer;
    decoder_t *decoder = &tokenizer->decoder;
    buffer_clear (&self->bytes);
    decoder_apply (decoder, token, false, &self->bytes);
    status_t status = vocabulary_put_hidden (tokenizer->texts, id, buffer_span (&self->bytes), self->error);
    if (!status && (decoder->whole || decoder->falls_back || decoder->holds))
        status = vocabulary_put_hidden (tokenizer->written, id, token, self->error);
    decoder->whole |= decoder->holds && !decoder_ends_plainly (decoder, token);
    if (status || !self->asks_where)
        return status;
    buffer_clear (&self->bytes);
    decoder_apply (decoder, token, true, &self->bytes);
    span_t head = buffer_span (&self->bytes);
    if (vocabulary_has (tokenizer->heads, id) || !span_equal (head, vocabulary_bytes (tokenizer->texts, id)))
        status = vocabulary_put_hidden (tokenizer->heads, id, head, self->error);
    return status;
}

//  A token as it is encoded to: bytes, where the vocabulary is of bytes. One with other characters is never encoded to.
static status_t
s_put_token (loading_t *self, uint32_t id, span_t token)
{
    tokenizer_t *tokenizer = self->tokenizer;
    status_t status;
    if (vocabulary_has (tokenizer->vocabulary, id) && s_find (self, token) != id)
        return error_set (self->error, STATUS_UNSUPPORTED, "two tokens have the number %u", id);
    buffer_clear (&self->bytes);
    if (!tokenizer->bpe.byte_level)
        status = vocabulary_put (tokenizer->vocabulary, id, token, self->error);
    else if (alphabet_to_bytes (token, &self->bytes))
        status = vocabulary_put (tokenizer->vocabulary, id, buffer_span (&self->bytes), self->error);
    else {
        status = vocabulary_put_hidden (tokenizer->vocabulary, id, token, self->error);
        status = status ? status : vocabulary_put (self->odd, id, token, self->error);
    }
    return status ? status : s_put_text (self, id, token);
}

//  {"token": id, ...}
static void
s_scan_vocabulary (loading_t *self, scan_t *scan)
{
    span_t token;
    uint32_t id;
    for (bool first = true; scan_member (scan, &first, &token);) {
        //  The token may lie in the scanner's room, but a number leaves that alone.
        if (scan_u32 (scan, &id))
            scan->status = s_put_token (self, id, token);
    }
}

//  [["token", score], ...]
static void
s_scan_scores (loading_t *self, scan_t *scan)
{
    uint32_t id = 0;
    for (bool first = true; scan_element (scan, &first); id++) {
        span_t token = { NULL, 0 };
        double score = 0;
        size_t parts = 0;
        for (bool inner = true; scan_element (scan, &inner); parts++)
            if (parts == 0   ? !scan_string (scan, &token)
                : parts == 1 ? !scan_double (scan, &score)
                             : !scan_fail (scan, "a pair expected"))
                break;
        if (!scan->status)
            scan->status = s_put_token (self, id, token);
        array_append (&self->tokenizer->unigram.scores, &score, 1);
    }
}

//  ---- Rules ---------------------------------------------------------------------------------------------------------

//  Both sides as one token: what continues a word has its prefix no more.
static span_t
s_joined (loading_t *self, span_t left, span_t right)
{
    buffer_clear (&self->joined);
    buffer_append (&self->joined, left);
    buffer_append (&self->joined, span_slice (right, self->prefix_size, right.size));
    return buffer_span (&self->joined);
}

//  The rule of two sides that bytes stand for, which are then those of what they become, one behind the other. Returns whether it
//  is one.
static bool
s_find_rule_of_bytes (loading_t *self, span_t left, span_t right, merge_t *rule)
{
    const vocabulary_t *vocabulary = self->tokenizer->vocabulary;
    buffer_clear (&self->bytes);
    if (!alphabet_to_bytes (left, &self->bytes))
        return false;
    size_t middle = self->bytes.size;
    if (!alphabet_to_bytes (right, &self->bytes))
        return false;
    span_t both = buffer_span (&self->bytes);
    rule->left = vocabulary_find (vocabulary, span_slice (both, 0, middle));
    rule->right = vocabulary_find (vocabulary, span_slice (both, middle, both.size));
    rule->id = vocabulary_find (vocabulary, both);
    return true;
}

static bool
s_put_rule (loading_t *self, scan_t *scan, span_t left, span_t right)
{
    merge_t rule;
    bool is_plain = self->tokenizer->bpe.byte_level && !self->prefix_size;
    if (!is_plain || !s_find_rule_of_bytes (self, left, right, &rule))
        rule = (merge_t){ s_find (self, left), s_find (self, right), s_find (self, s_joined (self, left, right)) };
    if (rule.left == TOKEN_NONE || rule.right == TOKEN_NONE || rule.id == TOKEN_NONE)
        return scan_fail (scan, "a merge of what is no token, before");
    array_append (&self->rules, &rule, 1);
    return true;
}

//  "left right", or ["left", "right"]; a line of a file of rules may say its version.
static bool
s_scan_rule (loading_t *self, scan_t *scan)
{
    span_t text, right = { NULL, 0 };
    if (scan_peek (scan) != '[') {
        if (!scan_string (scan, &text))
            return false;
        if (span_starts_with (text, SPAN ("#version")))
            return true;
        size_t space = span_find_byte (text, ' ');
        return s_put_rule (self, scan, span_slice (text, 0, space), span_slice (text, space + 1, text.size));
    }
    size_t sides = 0;
    buffer_clear (&self->left);
    for (bool first = true; scan_element (scan, &first); sides++) {
        if (sides > 1 || !scan_string (scan, &right))
            return scan_fail (scan, "a pair expected");
        if (sides == 0)
            buffer_append (&self->left, right);
    }
    if (sides != 2)
        return scan_fail (scan, "a pair expected");
    return s_put_rule (self, scan, buffer_span (&self->left), right);
}

static void
s_scan_rules (loading_t *self, scan_t *scan)
{
    uint32_t count = 0;
    for (bool first = true; scan_element (scan, &first); count++)
        if (count == MERGE_RANKS ? !scan_fail (scan, "too many merges") : !s_scan_rule (self, scan))
            return;
}

static status_t
s_scan_part (loading_t *self, part_t part, void (*read) (loading_t *self, scan_t *scan))
{
    scan_t scan;
    if (!self->parts [part].size)
        return error_set (self->error, STATUS_INVALID, "the model has no %s", s_parts [part].name);
    scan_init (&scan, self->parts [part], (size_t)(self->parts [part].data - self->file.data), self->error);
    read (self, &scan);
    scan_end (&scan);
    scan_fini (&scan);
    if (scan.status)
        error_prefix (self->error, "%s", s_parts [part].name);
    return scan.status;
}

//  ---- The model -----------------------------------------------------------------------------------------------------

static status_t
s_load_unigram (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    status_t status = s_scan_part (self, PART_VOCAB, s_scan_scores);
    uint64_t unknown;
    if (span_to_u64 (self->parts [PART_UNKNOWN_ID], &unknown) && unknown < VOCABULARY_TOKENS_MAX)
        tokenizer->unigram.unknown = (uint32_t)unknown;
    tokenizer->model = MODEL_UNIGRAM;
    tokenizer->unigram.looks_unknown_up = true;
    tokenizer->unigram.byte_fallback = s_is_true (self, PART_BYTE_FALLBACK);
    return status;
}

//  A part that is a string; `otherwise` where it is absent.
static status_t
s_load_string (loading_t *self, part_t part, const char *otherwise, buffer_t *string)
{
    json_t *tree;
    status_t status = s_tree (self, part, &tree);
    if (json_kind (tree) == JSON_STRING)
        buffer_append (string, json_string (tree));
    else
        buffer_append_string (string, otherwise);
    json_destroy (&tree);
    return status;
}

//  Tokens that continue a piece are known without their prefix, too.
static status_t
s_find_continuing (loading_t *self, span_t prefix)
{
    status_t status = STATUS_OK;
    const vocabulary_t *vocabulary = self->tokenizer->vocabulary;
    for (uint32_t id = 0; id < vocabulary_size (vocabulary) && !status; id++) {
        span_t token = vocabulary_bytes (vocabulary, id);
        if (prefix.size && token.size > prefix.size && span_starts_with (token, prefix))
            status = vocabulary_put (
                self->tokenizer->wordpiece.goes_on, id, span_slice (token, prefix.size, token.size), self->error);
    }
    return status;
}

static status_t
s_load_wordpiece (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    buffer_t prefix = { 0 }, unknown = { 0 };
    uint64_t characters;
    status_t status = s_scan_part (self, PART_VOCAB, s_scan_vocabulary);
    tokenizer->model = MODEL_WORDPIECE;
    if (!status)
        status = s_load_string (self, PART_PREFIX, "##", &prefix);
    if (!status)
        status = s_find_continuing (self, buffer_span (&prefix));
    if (!status)
        status = s_load_string (self, PART_UNKNOWN, "[UNK]", &unknown);
    tokenizer->wordpiece.unknown = s_find (self, buffer_span (&unknown));
    if (span_to_u64 (self->parts [PART_CHARACTERS], &characters))
        tokenizer->wordpiece.characters_max = characters;
    buffer_fini (&prefix);
    buffer_fini (&unknown);
    return status;
}

//  A piece is a token, or unknown.
static status_t
s_load_word_level (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    buffer_t unknown = { 0 };
    status_t status = s_scan_part (self, PART_VOCAB, s_scan_vocabulary);
    tokenizer->model = MODEL_WORDPIECE;
    tokenizer->wordpiece.whole = true;
    if (!status)
        status = s_load_string (self, PART_UNKNOWN, "<unk>", &unknown);
    tokenizer->wordpiece.unknown = s_find (self, buffer_span (&unknown));
    buffer_fini (&unknown);
    return status;
}

//  What tokens have beside a symbol's text: as they write it in bytes, where they are of bytes.
static status_t
s_load_affix (loading_t *self, part_t part, buffer_t *affix)
{
    buffer_t text = { 0 };
    status_t status = s_load_string (self, part, "", &text);
    if (part == PART_PREFIX)
        self->prefix_size = text.size;
    if (!self->tokenizer->bpe.byte_level || !alphabet_to_bytes (buffer_span (&text), affix))
        buffer_append (affix, buffer_span (&text));
    buffer_fini (&text);
    return status;
}

static status_t
s_load_bpe (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    status_t status = s_load_affix (self, PART_PREFIX, &tokenizer->bpe.prefix);
    if (!status)
        status = s_load_affix (self, PART_SUFFIX, &tokenizer->bpe.suffix);
    if (!status)
        status = s_scan_part (self, PART_VOCAB, s_scan_vocabulary);
    if (!status)
        status = s_scan_part (self, PART_MERGES, s_scan_rules);
    load_rules (&self->rules, RULES_LAST, &tokenizer->bpe.merges);
    buffer_t unknown = { 0 };
    if (!status)
        status = s_load_string (self, PART_UNKNOWN, "", &unknown);
    if (unknown.size)
        tokenizer->bpe.unknown = s_find (self, buffer_span (&unknown));
    buffer_fini (&unknown);
    tokenizer->bpe.byte_fallback = s_is_true (self, PART_BYTE_FALLBACK);
    tokenizer->bpe.ignore_merges = s_is_true (self, PART_IGNORE_MERGES);
    tokenizer->bpe.fuse_unknown = s_is_true (self, PART_FUSE_UNKNOWN);
    return status;
}

//  Old files have no type: a BPE model is one with merges, unigrams have a row, and word pieces say how they go on.
static span_t
s_type (const loading_t *self)
{
    span_t vocabulary = self->parts [PART_VOCAB];
    if (self->parts [PART_TYPE].size || s_is_bpe (self))
        return self->parts [PART_TYPE];
    if (vocabulary.size && vocabulary.data [0] == '[')
        return SPAN ("\"Unigram\"");
    return self->parts [PART_PREFIX].size && self->parts [PART_CHARACTERS].size ? SPAN ("\"WordPiece\"")
                                                                                : SPAN ("\"WordLevel\"");
}

static status_t
s_load_model (loading_t *self)
{
    span_t type = s_type (self);
    status_t status;
    if (span_equal_string (type, "\"Unigram\""))
        status = s_load_unigram (self);
    else if (span_equal_string (type, "\"WordPiece\""))
        status = s_load_wordpiece (self);
    else if (span_equal_string (type, "\"WordLevel\""))
        status = s_load_word_level (self);
    else if (s_is_bpe (self))
        status = s_load_bpe (self);
    else
        return error_set (self->error, STATUS_UNSUPPORTED, "a model of type %.*s",
            (int)(type.size > 64 ? 64 : type.size), (const char *)type.data);
    if (!status)
        body_find_byte_tokens (self->tokenizer);
    return status;
}

//  ---- Added tokens --------------------------------------------------------------------------------------------------

//  Numbers are given as Hugging Face's library gives them, whatever the file says: a token of the model keeps its own, any other
//  has the next one, counted from how many tokens the model has. Of a token that comes twice, or of two tokens with one number,
//  the last counts.
typedef struct {
    vocabulary_t *numbers;    //  Of contents that came
    array_t lasts;            //  uint32_t by number: the row that counts, plus one
    uint32_t next;            //  Number of the next token that the model does not have
} adding_t;

//  Gives the number of the token in a row.
static status_t
s_number_token (loading_t *self, adding_t *adding, const json_t *json, uint32_t row)
{
    uint64_t said;
    span_t content = json_string (json_get (json, "content"));
    if (!json_to_u64 (json_get (json, "id"), &said) || said >= VOCABULARY_TOKENS_MAX)
        return error_set (self->error, STATUS_INVALID, "an added token without an id, or with one beyond %d",
            VOCABULARY_TOKENS_MAX - 1);
    if (content.size == 0)
        return STATUS_OK;
    uint32_t id = vocabulary_find (adding->numbers, content);
    if (id == TOKEN_NONE)
        id = s_find (self, content);
    if (id == TOKEN_NONE)
        id = adding->next++;
    status_t status = vocabulary_put (adding->numbers, id, content, self->error);
    if (status)
        return status;
    if (id >= adding->lasts.count)
        array_append (&adding->lasts, NULL, id + 1 - adding->lasts.count);
    *(uint32_t *)array_at (&adding->lasts, id) = row + 1;
    return STATUS_OK;
}

//  Tokens of normalised text are looked for, and say, what normalising makes of them.
static status_t
s_add_token (loading_t *self, const json_t *json, uint32_t id)
{
    tokenizer_t *tokenizer = self->tokenizer;
    added_token_t token = {
        .id = id,
        .lstrip = json_is_true (json_get (json, "lstrip")),
        .rstrip = json_is_true (json_get (json, "rstrip")),
        .single_word = json_is_true (json_get (json, "single_word")),
        .normalized = json_is_true (json_get (json, "normalized")),
        .special = json_is_true (json_get (json, "special")),
        .content = json_string (json_get (json, "content")),
    };
    status_t status = STATUS_OK;
    if (token.normalized)
        status = normalizer_apply (
            &tokenizer->normalizer, token.content, &tokenizer->normalized, &token.content, self->error);
    if (!status && !token.content.size)
        status = error_set (self->error, STATUS_UNSUPPORTED,
            "nothing is left of the added token %u when it is normalised: it would be found, and cut the text, "
            "everywhere",
            id);
    if (!status)
        status = s_put_text (self, token.id, token.content);
    return status ? status : added_put (&tokenizer->added, token, self->error);
}

static status_t
s_add_tokens (loading_t *self, const json_t *rows, adding_t *adding)
{
    status_t status = STATUS_OK;
    for (uint32_t i = 0; i < json_count (rows) && !status; i++)
        status = s_number_token (self, adding, json_at (rows, i), i);
    for (uint32_t id = 0; id < adding->lasts.count && !status; id++) {
        uint32_t row = *(const uint32_t *)array_at (&adding->lasts, id);
        if (row)
            status = s_add_token (self, json_at (rows, row - 1), id);
    }
    return status;
}

static status_t
s_load_added (loading_t *self)
{
    json_t *rows;
    status_t status = s_tree (self, PART_ADDED, &rows);
    adding_t adding = { .numbers = vocabulary_new () };
    array_init (&adding.lasts, sizeof (uint32_t));
    adding.next = vocabulary_count (self->tokenizer->vocabulary) + vocabulary_count (self->odd);
    if (!status)
        status = s_add_tokens (self, rows, &adding);
    vocabulary_destroy (&adding.numbers);
    array_fini (&adding.lasts);
    json_destroy (&rows);
    return status;
}

static status_t
s_load (loading_t *self)
{
    static const part_t steps [] = { PART_NORMALIZER, PART_PRE_TOKENIZER, PART_DECODER, PART_POST_PROCESSOR };
    if (self->file.size > FILE_SIZE_MAX)
        return error_set (self->error, STATUS_LIMIT, "%zu bytes; %d are enough", self->file.size, FILE_SIZE_MAX);
    size_t valid = utf8_valid_prefix (self->file);
    if (valid < self->file.size)
        return error_set (self->error, STATUS_INVALID, "not UTF-8 at byte %zu", valid);
    status_t status = s_find_parts (self, self->file, false);
    if (!status && !self->parts [PART_MODEL].size)
        status = error_set (self->error, STATUS_INVALID, "there is no model in it");
    if (!status)
        status = s_find_parts (self, self->parts [PART_MODEL], true);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
        status = s_load_step (self, steps [i]);
    if (!status)
        status = s_load_model (self);
    const array_t *before = &self->tokenizer->before, *behind = &self->tokenizer->behind;
    if (before->count)
        self->tokenizer->bos = *(const uint32_t *)before->data;
    if (behind->count)
        self->tokenizer->eos = *(const uint32_t *)behind->data;
    return status ? status : s_load_added (self);
}

status_t
tokenizer_load_json (span_t file, tokenizer_t **tokenizer, error_t *error)
{
    loading_t loading = { .file = file, .tokenizer = body_new (), .odd = vocabulary_new (), .error = error };
    array_init (&loading.rules, sizeof (merge_t));
    status_t status = s_load (&loading);
    vocabulary_destroy (&loading.odd);
    array_fini (&loading.rules);
    buffer_fini (&loading.bytes);
    buffer_fini (&loading.left);
    buffer_fini (&loading.joined);
    if (!status)
        status = body_seal (loading.tokenizer, error);
    if (status) {
        error_prefix (error, "tokenizer.json");
        tokenizer_destroy (&loading.tokenizer);
        return status;
    }
    *tokenizer = loading.tokenizer;
    return STATUS_OK;
}
