//  The vocabulary of a GGUF file, as llama.cpp reads it: SentencePiece's scores ("llama"), merges ("gpt2", "gemma4"), unigrams
//  ("t5"), word pieces ("bert"), the longest bytes ("rwkv") or costs ("plamo2").

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "model/gguf.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/body.h"
#include "model/tokenizer/load_rules.h"
#include "model/tokenizer/pre.h"
#include "model/tokenizer/search.h"

#define MARK "\xe2\x96\x81"

//  Values of tokenizer.ggml.token_type.
typedef enum {
    KIND_NORMAL = 1,
    KIND_UNKNOWN = 2,
    KIND_CONTROL = 3,
    KIND_USER = 4,
    KIND_UNUSED = 5,
    KIND_BYTE = 6
} kind_t;

typedef struct {
    gguf_t gguf;                   //  The file's metadata
    const gguf_entry_t *tokens;    //  Their texts
    const gguf_entry_t *kinds;     //  Their types; NULL: all normal
    const gguf_entry_t *scores;    //  Of SentencePiece's tokens; NULL: all 0
    bool whole_scores;             //  Those are whole numbers
    const pre_t *pre;              //  How text is cut, where there are merges
    bool marks_spaces;             //  Spaces are MARK
    bool strips_behind;            //  Added tokens take the blanks behind them with them
    const char *strips_before;     //  This one takes those before it; NULL: none does
    unsigned present;              //  A bit for each of s_hints that is a token
    tokenizer_t *tokenizer;        //  What is filled
    buffer_t bytes;                //  Room for a token's bytes
    error_t *error;                //  The caller's
} loading_t;

//  ---- Kinds of tokens -----------------------------------------------------------------------------------------------

//  Files mark many of these as normal text; they end turns or files, and are found as what they are.
static const char *const s_controls [] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
    "<|fim_prefix|>",
    "<fim-prefix>",
    "<fim_prefix>",
    "<｜fim▁begin｜>",
    "<PRE>",
    MARK "<PRE>",
    "<|code_prefix|>",
    "<|prefix|>",
    "<|fim_suffix|>",
    "<fim-suffix>",
    "<fim_suffix>",
    "<｜fim▁hole｜>",
    "<SUF>",
    MARK "<SUF>",
    "<|code_suffix|>",
    "<|suffix|>",
    "<|fim_middle|>",
    "<fim-middle>",
    "<fim_middle>",
    "<｜fim▁end｜>",
    "<MID>",
    MARK "<MID>",
    "<|code_middle|>",
    "<|middle|>",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
};

//  Markers of gpt-oss that are always found, also in text that is only text.
static const char *const s_markers [] = { "<|channel|>", "<|message|>", "<|start|>", "<|constrain|>" };

static bool
s_is_among (span_t text, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal_string (text, texts [i]))
            return true;
    return false;
}

//  What the kinds of some tokens depend on: whether these are there.
enum { HAS_RETURN = 1, HAS_CALL = 2, HAS_FLUSH = 4, HAS_RESPONSE = 8, HAS_END = 16 };
static const struct {
    const char *text;    //  Of a token
    unsigned bit;        //  It is there
} s_hints [] = { { "<|return|>", HAS_RETURN }, { "<|call|>", HAS_CALL }, { "<|calls|>", HAS_CALL },
    { "<|flush|>", HAS_FLUSH }, { "<|tool_response>", HAS_RESPONSE }, { "</s>", HAS_END } };

static void
s_find_hints (loading_t *self)
{
    span_t token;
    for (size_t cursor = 0; gguf_next_string (self->tokens, &cursor, &token);)
        for (size_t i = 0; token.size && token.data [0] == '<' && i < sizeof s_hints / sizeof *s_hints; i++)
            if (span_equal_string (token, s_hints [i].text))
                self->present |= s_hints [i].bit;
}

//  Where calls and returns have tokens, <|end|> ends no turn and is always found; and where what a tool says has one, </s> is text.
static bool
s_is_hinted (const loading_t *self, span_t text, kind_t *kind)
{
    bool calls = self->present & HAS_CALL && self->present & (HAS_RETURN | HAS_FLUSH);
    bool ends = calls && span_equal_string (text, "<|end|>");
    *kind = ends ? KIND_USER : KIND_NORMAL;
    return ends || (self->present & HAS_RESPONSE && span_equal_string (text, "</s>"));
}

//  The kind of a token: what the file says, but for those whose text says more.
static kind_t
s_kind (const loading_t *self, uint32_t id, span_t text)
{
    kind_t kind;
    if (s_is_hinted (self, text, &kind))
        return kind;
    kind = self->kinds ? (kind_t)gguf_i32_at (self->kinds, id) : KIND_NORMAL;
    if (s_is_among (text, s_markers, sizeof s_markers / sizeof *s_markers))
        return KIND_USER;
    if (kind != KIND_UNKNOWN && s_is_among (text, s_controls, sizeof s_controls / sizeof *s_controls))
        return KIND_CONTROL;
    return kind;
}

//  ---- Tokens --------------------------------------------------------------------------------------------------------

//  What a token says: itself where it is found as such, else what its text stands for.
static void
s_say (const loading_t *self, kind_t kind, span_t text, buffer_t *said)
{
    int byte = kind == KIND_BYTE ? alphabet_named_byte (text) : -1;
    if (byte >= 0)
        buffer_append_byte (said, (uint8_t)byte);
    else if (kind != KIND_NORMAL && kind != KIND_UNUSED)
        buffer_append (said, text);
    else if (self->marks_spaces)
        for (size_t at; text.size; text = span_slice (text, at + sizeof MARK - 1, text.size)) {
            at = search_find (text, SPAN (MARK));
            buffer_append (said, span_slice (text, 0, at));
            if (at < text.size)
                buffer_append_byte (said, ' ');
        }
    else if (!alphabet_to_bytes (text, said))
        buffer_append (said, text);
}

static status_t
s_add_token (loading_t *self, uint32_t id, kind_t kind, span_t text)
{
    if (kind != KIND_UNKNOWN && kind != KIND_CONTROL && kind != KIND_USER)
        return STATUS_OK;
    static const char *const plain [] = { "<unk>", "<s>", "<|endoftext|>" };
    added_token_t token = { .id = id, .special = kind != KIND_USER, .content = text };
    token.lstrip = self->strips_before && span_equal_string (text, self->strips_before);
    token.rstrip = self->strips_behind && !s_is_among (text, plain, sizeof plain / sizeof *plain);
    return added_put (&self->tokenizer->added, token, self->error);
}

static status_t
s_put_token (loading_t *self, uint32_t id, span_t text)
{
    tokenizer_t *tokenizer = self->tokenizer;
    kind_t kind = s_kind (self, id, text);
    status_t status;
    buffer_clear (&self->bytes);
    if (!tokenizer->bpe.byte_level)
        status = vocabulary_put (tokenizer->vocabulary, id, text, self->error);
    else if (alphabet_to_bytes (text, &self->bytes))
        status = vocabulary_put (tokenizer->vocabulary, id, buffer_span (&self->bytes), self->error);
    else
        status = vocabulary_put_hidden (tokenizer->vocabulary, id, text, self->error);
    buffer_clear (&self->bytes);
    s_say (self, kind, text, &self->bytes);
    if (!status)
        status = vocabulary_put_hidden (tokenizer->texts, id, buffer_span (&self->bytes), self->error);
    return status ? status : s_add_token (self, id, kind, text);
}

typedef status_t (put_fn) (loading_t *self, uint32_t id, span_t text);

static status_t
s_load_tokens (loading_t *self, put_fn *put)
{
    span_t text;
    uint32_t id = 0;
    status_t status = STATUS_OK;
    if (self->tokens->count > VOCABULARY_TOKENS_MAX)
        return error_set (self->error, STATUS_LIMIT, "%llu tokens; %d are enough",
            (unsigned long long)self->tokens->count, VOCABULARY_TOKENS_MAX);
    for (size_t cursor = 0; !status && gguf_next_string (self->tokens, &cursor, &text); id++) {
        //  One without a text has a name.
        char name [32];
        snprintf (name, sizeof name, "[EMPTY_%u]", id);
        status = put (self, id, text.size ? text : span_from_string (name));
    }
    if (!status)
        body_find_byte_tokens (self->tokenizer);
    return status;
}

//  What a token scores.
static float
s_score (const loading_t *self, uint32_t id)
{
    if (!self->scores)
        return 0;
    return self->whole_scores ? (float)gguf_i32_at (self->scores, id) : gguf_f32_at (self->scores, id);
}

//  ---- Scores and merges ---------------------------------------------------------------------------------------------

typedef struct {
    float score;    //  Of a token
    uint32_t id;    //  Which
} scored_t;

//  The best first; those that are no numbers last.
static int
s_compare (const void *a, const void *b)
{
    const scored_t *left = a, *right = b;
    if (left->score != right->score && left->score == left->score && right->score == right->score)
        return left->score > right->score ? -1 : 1;
    if ((left->score == left->score) != (right->score == right->score))
        return left->score == left->score ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

//  Equal scores have equal ranks: then the leftmost place decides.
static void
s_rank_scores (loading_t *self)
{
    array_t scored;
    array_init (&scored, sizeof (scored_t));
    for (uint32_t id = 0; id < self->tokens->count; id++)
        array_append (&scored, &(scored_t){ s_score (self, id), id }, 1);
    array_sort (&scored, s_compare);
    uint32_t *ranks = array_append (&self->tokenizer->bpe.score_ranks, NULL, scored.count);
    const scored_t *row = scored.data;
    for (size_t i = 1; i < scored.count; i++)
        ranks [row [i].id] = ranks [row [i - 1].id] + (row [i].score != row [i - 1].score);
    array_fini (&scored);
}

static uint32_t
s_side (const loading_t *self, span_t side, buffer_t *whole)
{
    size_t before = whole->size;
    if (!self->tokenizer->bpe.byte_level || !alphabet_to_bytes (side, whole))
        buffer_append (whole, side);
    return vocabulary_find (self->tokenizer->vocabulary, span_slice (buffer_span (whole), before, whole->size));
}

//  A rule for what is no token can never be applied.
static void
s_load_merges (loading_t *self, const gguf_entry_t *merges)
{
    array_t rules;
    merge_t rule = { 0 };
    span_t text;
    array_init (&rules, sizeof (merge_t));
    for (size_t cursor = 0; gguf_next_string (merges, &cursor, &text);) {
        size_t space = 1 + span_find_byte (span_slice (text, 1, text.size), ' ');
        buffer_clear (&self->bytes);
        rule.left = s_side (self, span_slice (text, 0, space), &self->bytes);
        rule.right = s_side (self, span_slice (text, space + 1, text.size), &self->bytes);
        rule.id = vocabulary_find (self->tokenizer->vocabulary, buffer_span (&self->bytes));
        if (rule.left != TOKEN_NONE && rule.right != TOKEN_NONE && rule.id != TOKEN_NONE)
            array_append (&rules, &rule, 1);
    }
    load_rules (&rules, RULES_FIRST, &self->tokenizer->bpe.merges);
    array_fini (&rules);
}

//  ---- Steps ---------------------------------------------------------------------------------------------------------

static status_t
s_add_expression (loading_t *self, const char *string)
{
    step_t step = { .cut = CUT_REGEX };
    span_t expression = span_from_string (string);
    status_t status = regex_new (expression, &step.regex, self->error);
    if (status)
        return status;
    step.string = body_copy (expression);
    return splitter_add (&self->tokenizer->splitter, step, self->error);
}

static status_t
s_add_expressions (loading_t *self)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < PRE_EXPRESSIONS && self->pre->expressions [i] && !status; i++)
        status = s_add_expression (self, self->pre->expressions [i]);
    return status;
}

//  Where a mark is put before the text, decoding drops one space there.
static status_t
s_prepend_mark (loading_t *self)
{
    normalization_t prepend = { .kind = NORMALIZE_PREPEND, .content = body_copy (SPAN (MARK)) };
    self->tokenizer->decoder.strip = 1;
    return normalizer_add (&self->tokenizer->normalizer, prepend, self->error);
}

static status_t
s_mark_spaces (loading_t *self, bool before)
{
    normalization_t replace = {
        .kind = NORMALIZE_REPLACE, .string = body_copy (SPAN (" ")), .content = body_copy (SPAN (MARK))
    };
    status_t status = normalizer_add (&self->tokenizer->normalizer, replace, self->error);
    return status || !before ? status : s_prepend_mark (self);
}

static void
s_add_around (loading_t *self, const char *flag, bool otherwise, const char *key, uint64_t id, array_t *ids)
{
    gguf_u64 (&self->gguf, key, &id);
    uint32_t token = id < self->tokens->count ? (uint32_t)id : TOKEN_NONE;
    bool always = self->pre && self->pre->always_bos && ids == &self->tokenizer->before;
    if ((always || gguf_flag (&self->gguf, flag, otherwise)) && token != TOKEN_NONE)
        array_append (ids, &token, 1);
    *(ids == &self->tokenizer->before ? &self->tokenizer->bos : &self->tokenizer->eos) = token;
}

//  What begins and ends a text has a name, but is put around none.
static void
s_name_around (loading_t *self, uint64_t bos, uint64_t eos)
{
    gguf_u64 (&self->gguf, "tokenizer.ggml.bos_token_id", &bos);
    gguf_u64 (&self->gguf, "tokenizer.ggml.eos_token_id", &eos);
    self->tokenizer->bos = bos < self->tokens->count ? (uint32_t)bos : TOKEN_NONE;
    self->tokenizer->eos = eos < self->tokens->count ? (uint32_t)eos : TOKEN_NONE;
}

//  ---- Models --------------------------------------------------------------------------------------------------------

static status_t
s_load_scored (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    uint64_t unknown = 0;
    status_t status = s_mark_spaces (self, gguf_flag (&self->gguf, "tokenizer.ggml.add_space_prefix", true));
    if (!status)
        status = s_load_tokens (self, s_put_token);
    if (status)
        return status;
    s_rank_scores (self);
    gguf_u64 (&self->gguf, "tokenizer.ggml.unknown_token_id", &unknown);
    if (unknown < self->tokens->count)
        tokenizer->bpe.unknown = (uint32_t)unknown;
    s_add_around (self, "tokenizer.ggml.add_bos_token", true, "tokenizer.ggml.bos_token_id", 1, &tokenizer->before);
    s_add_around (self, "tokenizer.ggml.add_eos_token", false, "tokenizer.ggml.eos_token_id", 2, &tokenizer->behind);
    return STATUS_OK;
}

static status_t
s_load_merged (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    const gguf_entry_t *merges = gguf_array (&self->gguf, "tokenizer.ggml.merges", GGUF_STRING);
    if (!merges)
        return error_set (self->error, STATUS_INVALID, "tokenizer.ggml.merges is missing");
    if (merges->count > MERGE_RANKS)
        return error_set (self->error, STATUS_LIMIT, "tokenizer.ggml.merges has more than %d rules", MERGE_RANKS);
    tokenizer->bpe.byte_level = !self->marks_spaces;
    tokenizer->bpe.byte_fallback = self->marks_spaces;
    tokenizer->bpe.ignore_merges = self->pre->ignore_merges;
    status_t status = self->marks_spaces ? s_mark_spaces (self, false) : STATUS_OK;
    if (!status)
        status = s_add_expressions (self);
    if (!status)
        status = s_load_tokens (self, s_put_token);
    if (status)
        return status;
    s_load_merges (self, merges);
    s_add_around (self, "tokenizer.ggml.add_bos_token", self->pre->add_bos, "tokenizer.ggml.bos_token_id", 11,
        &tokenizer->before);
    s_add_around (self, "tokenizer.ggml.add_eos_token", false, "tokenizer.ggml.eos_token_id", 11, &tokenizer->behind);
    return STATUS_OK;
}

//  An expression that is ours always compiles.
static status_t
s_add_replacement (loading_t *self, const char *expression, const char *content)
{
    normalization_t step = { .kind = NORMALIZE_REPLACE, .content = body_copy (span_from_string (content)) };
    BUG_ON (regex_new (span_from_string (expression), &step.regex, self->error));
    return normalizer_add (&self->tokenizer->normalizer, step, self->error);
}

//  SentencePiece's rules for characters, where the file has them.
static status_t
s_add_charsmap (loading_t *self)
{
    static const char key [] = "tokenizer.ggml.precompiled_charsmap";
    const gguf_entry_t *map = gguf_array (&self->gguf, key, GGUF_U8);
    if (!map)
        map = gguf_array (&self->gguf, key, GGUF_I8);
    if (!map || !map->count)
        return STATUS_OK;
    normalization_t step = { .kind = NORMALIZE_CHARSMAP };
    status_t status = charsmap_init (&step.charsmap, map->data, self->error);
    return status ? status : normalizer_add (&self->tokenizer->normalizer, step, self->error);
}

static status_t
s_normalize_unigrams (loading_t *self)
{
    status_t status = s_add_charsmap (self);
    bool joins = gguf_flag (&self->gguf, "tokenizer.ggml.remove_extra_whitespaces", false);
    if (!status && joins) {
        status = s_add_replacement (self, "\\A +| +\\z", "");
        if (!status)
            status = s_add_replacement (self, " {2,}", " ");
    }
    if (status)
        return status;
    //  What is joined begins with a mark in any case, but only what the file wants there is dropped again.
    bool prefixes = gguf_flag (&self->gguf, "tokenizer.ggml.add_space_prefix", false);
    self->tokenizer->decoder.strip = prefixes;
    //  Of nothing but spaces no word begins.
    if (prefixes || joins)
        status = s_add_replacement (self, "\\A(?= *[^ ])", " ");
    return status ? status : s_mark_spaces (self, false);
}

static status_t
s_load_unigrams (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    uint64_t unknown = 2;
    status_t status = s_normalize_unigrams (self);
    if (!status)
        status = s_load_tokens (self, s_put_token);
    if (status)
        return status;
    tokenizer->model = MODEL_UNIGRAM;
    for (uint32_t id = 0; id < self->tokens->count; id++)
        array_append (&tokenizer->unigram.scores, &(double){ s_score (self, id) }, 1);
    gguf_u64 (&self->gguf, "tokenizer.ggml.unknown_token_id", &unknown);
    if (unknown < self->tokens->count)
        tokenizer->unigram.unknown = (uint32_t)unknown;
    s_add_around (
        self, "tokenizer.ggml.add_bos_token", false, "tokenizer.ggml.bos_token_id", UINT64_MAX, &tokenizer->before);
    s_add_around (self, "tokenizer.ggml.add_eos_token", true, "tokenizer.ggml.eos_token_id", 1, &tokenizer->behind);
    return STATUS_OK;
}

//  Words begin with a mark; what has none continues one, but for the tokens that are found as such.
static status_t
s_put_word (loading_t *self, uint32_t id, span_t text)
{
    tokenizer_t *tokenizer = self->tokenizer;
    kind_t kind = s_kind (self, id, text);
    bool begins = span_starts_with (text, SPAN (MARK));
    span_t word = begins ? span_slice (text, sizeof MARK - 1, text.size) : text;
    status_t status = kind != KIND_NORMAL ? vocabulary_put_hidden (tokenizer->vocabulary, id, text, self->error)
                      : begins            ? vocabulary_put (tokenizer->vocabulary, id, word, self->error)
                                          : vocabulary_put (tokenizer->wordpiece.goes_on, id, word, self->error);
    buffer_clear (&self->bytes);
    s_say (self, kind, text, &self->bytes);
    if (!status)
        status = vocabulary_put_hidden (tokenizer->texts, id, buffer_span (&self->bytes), self->error);
    return status ? status : s_add_token (self, id, kind, text);
}

//  What Bert's own files ask for, as far as the file does not say otherwise.
static status_t
s_normalize_words (loading_t *self)
{
    bool lower = gguf_flag (&self->gguf, "tokenizer.ggml.normalizer.lowercase", true);
    bool strips = gguf_flag (&self->gguf, "tokenizer.ggml.normalizer.strip_accents", lower);
    const struct {
        normalize_t kind;    //  What to do
        bool wanted;         //  The file wants it
    } steps [] = { { NORMALIZE_CLEAN, true }, { NORMALIZE_PART_HAN, true }, { NORMALIZE_NFD, strips },
        { NORMALIZE_REPLACE, strips }, { NORMALIZE_LOWERCASE, lower } };
    status_t status =
        splitter_add (&self->tokenizer->splitter, (step_t){ .cut = CUT_BLANKS, .split = SPLIT_REMOVED }, self->error);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
        if (steps [i].wanted && steps [i].kind == NORMALIZE_REPLACE)
            status = s_add_replacement (self, "\\p{M}", "");
        else if (steps [i].wanted)
            status =
                normalizer_add (&self->tokenizer->normalizer, (normalization_t){ .kind = steps [i].kind }, self->error);
    return status ? status : s_add_expression (self, "[\\p{P}$+<=>^`|~]");
}

static status_t
s_load_words (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    uint64_t unknown = 100;
    status_t status = s_normalize_words (self);
    if (!status)
        status = s_load_tokens (self, s_put_word);
    if (status)
        return status;
    tokenizer->model = MODEL_WORDPIECE;
    tokenizer->wordpiece.characters_max = SIZE_MAX;
    tokenizer->decoder.strip = gguf_flag (&self->gguf, "tokenizer.ggml.add_space_prefix", false);
    gguf_u64 (&self->gguf, "tokenizer.ggml.unknown_token_id", &unknown);
    if (unknown < self->tokens->count)
        tokenizer->wordpiece.unknown = (uint32_t)unknown;
    s_add_around (self, "tokenizer.ggml.add_bos_token", true, "tokenizer.ggml.bos_token_id", 101, &tokenizer->before);
    s_add_around (
        self, "tokenizer.ggml.add_sep_token", true, "tokenizer.ggml.seperator_token_id", 102, &tokenizer->behind);
    return STATUS_OK;
}

//  ---- RWKV and PLaMo 2 ----------------------------------------------------------------------------------------------

static int
s_hex (uint8_t digit)
{
    return digit >= 'a' ? digit - 'a' + 10 : digit - '0';
}

//  A token is written as Python writes bytes: \t, \n, \r, \xff, and a backslash before what has one.
static void
s_unescape (span_t text, buffer_t *bytes)
{
    for (size_t at = 0; at < text.size; at++) {
        uint8_t byte = text.data [at];
        bool escaped = byte == '\\' && at + 1 < text.size;
        if (escaped)
            byte = text.data [++at];
        if (escaped && byte == 'x' && at + 2 < text.size) {
            byte = (uint8_t)(s_hex (text.data [at + 1]) << 4 | s_hex (text.data [at + 2]));
            at += 2;
        } else if (escaped)
            byte = byte == 't' ? '\t' : byte == 'n' ? '\n' : byte == 'r' ? '\r' : byte;
        buffer_append_byte (bytes, byte);
    }
}

static status_t
s_put_bytes (loading_t *self, uint32_t id, span_t text)
{
    tokenizer_t *tokenizer = self->tokenizer;
    buffer_clear (&self->bytes);
    s_unescape (text, &self->bytes);
    span_t bytes = buffer_span (&self->bytes);
    status_t status = bytes.size ? vocabulary_put (tokenizer->vocabulary, id, bytes, self->error)
                                 : vocabulary_put_hidden (tokenizer->vocabulary, id, bytes, self->error);
    if (!status)
        status = vocabulary_put_hidden (tokenizer->texts, id, bytes, self->error);
    return status ? status : s_add_token (self, id, s_kind (self, id, text), text);
}

static status_t
s_load_longest (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    uint64_t unknown = UINT64_MAX;
    status_t status = s_load_tokens (self, s_put_bytes);
    tokenizer->model = MODEL_LONGEST;
    if (gguf_u64 (&self->gguf, "tokenizer.ggml.unknown_token_id", &unknown) && unknown < self->tokens->count)
        tokenizer->longest.unknown = (uint32_t)unknown;
    s_name_around (self, UINT64_MAX, UINT64_MAX);
    return status;
}

//  Bytes, and what is too unlikely, are found by no text.
static status_t
s_put_costly (loading_t *self, uint32_t id, span_t text)
{
    tokenizer_t *tokenizer = self->tokenizer;
    kind_t kind = s_kind (self, id, text);
    int byte = kind == KIND_BYTE ? alphabet_named_byte (text) : -1;
    int32_t cost = 0;
    bool found = kind != KIND_BYTE && plamo_cost (s_score (self, id), &cost);
    uint8_t said = (uint8_t)byte;
    status_t status = found ? vocabulary_put (tokenizer->vocabulary, id, text, self->error)
                            : vocabulary_put_hidden (tokenizer->vocabulary, id, text, self->error);
    if (byte >= 0)
        tokenizer->plamo.bytes [byte] = id;
    array_append (&tokenizer->plamo.costs, &cost, 1);
    if (!status)
        status = vocabulary_put_hidden (tokenizer->texts, id, byte < 0 ? text : span_of (&said, 1), self->error);
    return status ? status : s_add_token (self, id, kind, text);
}

static status_t
s_load_costly (loading_t *self)
{
    tokenizer_t *tokenizer = self->tokenizer;
    status_t status = s_load_tokens (self, s_put_costly);
    tokenizer->model = MODEL_PLAMO;
    for (size_t byte = 0; byte < 256 && !status; byte++) {
        tokenizer->bpe.bytes [byte] = tokenizer->plamo.bytes [byte];
        if (tokenizer->plamo.bytes [byte] == TOKEN_NONE)
            status = error_set (self->error, STATUS_INVALID, "there is no token <0x%02zX>", byte);
    }
    s_name_around (self, 1, 2);
    tokenizer->decoder.strip = gguf_flag (&self->gguf, "tokenizer.ggml.add_space_prefix", false);
    return status;
}

//  The rows that belong to the tokens; each must have as many elements.
static status_t
s_find_rows (loading_t *self)
{
    self->tokens = gguf_array (&self->gguf, "tokenizer.ggml.tokens", GGUF_STRING);
    self->kinds = gguf_array (&self->gguf, "tokenizer.ggml.token_type", GGUF_I32);
    self->scores = gguf_array (&self->gguf, "tokenizer.ggml.scores", GGUF_F32);
    if (!self->scores) {
        self->scores = gguf_array (&self->gguf, "tokenizer.ggml.scores", GGUF_I32);
        self->whole_scores = self->scores != NULL;
    }
    if (!self->tokens)
        return error_set (self->error, STATUS_INVALID, "tokenizer.ggml.tokens is missing");
    if ((self->kinds && self->kinds->count < self->tokens->count) ||
        (self->scores && self->scores->count < self->tokens->count))
        return error_set (self->error, STATUS_INVALID, "there are fewer scores or types than tokens");
    return STATUS_OK;
}

//  Whether a string of the file contains one of some words, between blanks in `words`, in any case.
static bool
s_contains (const loading_t *self, const char *key, const char *words)
{
    char lower [256];
    span_t text = gguf_string (&self->gguf, key);
    span_copy_string (text, lower, sizeof lower);
    for (char *letter = lower; *letter; letter++)
        *letter = (char)(*letter >= 'A' && *letter <= 'Z' ? *letter + 32 : *letter);
    for (span_t rest = span_from_string (words), word; rest.size; rest = span_slice (rest, word.size + 1, rest.size)) {
        word = span_slice (rest, 0, span_find_byte (rest, ' '));
        if (search_find (span_from_string (lower), word) < strlen (lower))
            return true;
    }
    return false;
}

//  Which tokens take blanks with them no file says: it is known by the names of models.
static void
s_find_strips (loading_t *self)
{
    self->tokenizer->added.of_ascii = true;
    if (s_contains (self, "tokenizer.ggml.pre", "jina-v2-de jina-v2-es jina-v2-code") ||
        s_contains (self, "general.architecture", "nomic-bert-moe jina-bert-v3"))
        self->strips_before = "<mask>";
    else if (s_contains (self, "general.name", "phi-3 phi3"))
        self->strips_behind = self->present & HAS_END;
    else if (s_contains (self, "general.name", "modern-bert"))
        self->strips_before = "[MASK]";
}

static status_t
s_load (loading_t *self)
{
    span_t model = gguf_string (&self->gguf, "tokenizer.ggml.model"),
           pre = gguf_string (&self->gguf, "tokenizer.ggml.pre");
    status_t status = s_find_rows (self);
    if (status)
        return status;
    s_find_hints (self);
    s_find_strips (self);
    if (span_equal_string (model, "llama")) {
        self->marks_spaces = true;
        return s_load_scored (self);
    }
    if (span_equal_string (model, "t5") || span_equal_string (model, "bert")) {
        self->marks_spaces = true;
        return span_equal_string (model, "t5") ? s_load_unigrams (self) : s_load_words (self);
    }
    if (span_equal_string (model, "rwkv"))
        return s_load_longest (self);
    if (span_equal_string (model, "plamo2"))
        return s_load_costly (self);
    if (!span_equal_string (model, "gpt2") && !span_equal_string (model, "gemma4"))
        return error_set (self->error, STATUS_UNSUPPORTED, "the tokenizer model \"%.*s\" is not known",
            (int)(model.size > 64 ? 64 : model.size), (const char *)model.data);
    self->pre = pre_find (span_equal_string (model, "gemma4") ? model : pre);
    if (!self->pre)
        return error_set (self->error, STATUS_UNSUPPORTED, "the pre-tokenizer \"%.*s\" is not known",
            (int)(pre.size > 64 ? 64 : pre.size), (const char *)pre.data);
    self->marks_spaces = self->pre->marks_spaces;
    return s_load_merged (self);
}

status_t
tokenizer_load_gguf (span_t file, tokenizer_t **tokenizer, error_t *error)
{
    loading_t loading = { .error = error };
    status_t status = gguf_init (&loading.gguf, file, error);
    if (status)
        return status;
    loading.tokenizer = body_new ();
    status = s_load (&loading);
    if (!status)
        status = body_seal (loading.tokenizer, error);
    gguf_fini (&loading.gguf);
    buffer_fini (&loading.bytes);
    if (status) {
        error_prefix (error, "GGUF");
        tokenizer_destroy (&loading.tokenizer);
        return status;
    }
    *tokenizer = loading.tokenizer;
    return STATUS_OK;
}
