#include "model/tokenizer/load_steps.h"

#include <string.h>

#include "base/bug.h"
#include "model/tokenizer/base64.h"
#include "model/tokenizer/letters.h"

//  GPT-2's expression, which ByteLevel uses.
#define BYTE_LEVEL_REGEX "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

enum { NESTING_MAX = 8 };

//  What is being loaded, and into what.
typedef struct {
    const char *what;            //  "normalizer", for sentences
    const char *members;         //  Key of a Sequence's parts
    const void *kinds;           //  kind_t, NULL name last
    normalizer_t *normalizer;    //  One of these is
    splitter_t *splitter;        //  what is filled
    decoder_t *decoder;          //  ...
    array_t *before;             //  ...
    array_t *behind;             //  ...
    unsigned byte_levels;        //  How often the text becomes the characters for its bytes
    bool templated;              //  A template has put tokens around the text
    error_t *error;              //  The caller's
} loading_t;

typedef struct {
    const char *name;                                             //  Value of "type"
    status_t (*load) (loading_t *loading, const json_t *json);    //  What loads it
} kind_t;

static status_t
s_load (loading_t *loading, const json_t *json, unsigned depth)
{
    if (!json)
        return STATUS_OK;
    span_t type = json_string (json_get (json, "type"));
    if (span_equal_string (type, "Sequence")) {
        const json_t *members = json_get (json, loading->members);
        if (json_kind (members) != JSON_ARRAY || depth == NESTING_MAX)
            return error_set (loading->error, STATUS_INVALID, "a Sequence of %ss without %s, or nested too deep",
                loading->what, loading->members);
        status_t status = STATUS_OK;
        for (size_t i = 0; i < json_count (members) && !status; i++)
            status = s_load (loading, json_at (members, i), depth + 1);
        return status;
    }
    for (const kind_t *kind = loading->kinds; kind->name; kind++)
        if (span_equal_string (type, kind->name))
            return kind->load (loading, json);
    return error_set (loading->error, STATUS_UNSUPPORTED, "the %s \"%.*s\" is not known", loading->what,
        (int)(type.size > 64 ? 64 : type.size), (const char *)type.data);
}

//  A boolean member, or what it is where it is absent.
static bool
s_flag (const json_t *json, const char *key, bool otherwise)
{
    const json_t *member = json_get (json, key);
    return json_kind (member) == JSON_BOOL ? json_is_true (member) : otherwise;
}

//  A pattern: {"String": ...} or {"Regex": ...}. The text is owned by the caller, the regex too; a regex has both. An empty text is
//  everywhere, which only a regex can say.
static status_t
s_pattern (const json_t *json, span_t *string, regex_t **regex, error_t *error)
{
    const json_t *expression = json_get (json, "Regex"), *literal = json_get (json, "String");
    if (json_kind (expression) != JSON_STRING && json_kind (literal) != JSON_STRING)
        return error_set (error, STATUS_INVALID, "a pattern that is neither a String nor a Regex");
    span_t text = json_string (expression ? expression : literal);
    status_t status = expression || !text.size ? regex_new (text, regex, error) : STATUS_OK;
    if (!status)
        *string = body_copy (text);
    return status;
}

//  What stands for a space with Metaspace: one character.
static status_t
s_mark (const json_t *json, span_t *mark, error_t *error)
{
    size_t size = 0;
    const json_t *replacement = json_get (json, "replacement");
    *mark = json_kind (replacement) == JSON_STRING ? json_string (replacement) : SPAN ("\xe2\x96\x81");
    if (mark->size)
        letters_decode (mark->data, &size);
    return size && size == mark->size
               ? STATUS_OK
               : error_set (error, STATUS_INVALID, "the replacement of a Metaspace is not one character");
}

//  ---- Normalizers ---------------------------------------------------------------------------------------------------

static status_t
s_normalize (loading_t *loading, normalize_t kind)
{
    return normalizer_add (loading->normalizer, (normalization_t){ .kind = kind }, loading->error);
}

#define NORMALIZES(name, kind)                                    \
    static status_t name (loading_t *loading, const json_t *json) \
    {                                                             \
        return s_normalize (loading, kind);                       \
    }

NORMALIZES (s_nfc, NORMALIZE_NFC)
NORMALIZES (s_nfd, NORMALIZE_NFD)
NORMALIZES (s_nfkc, NORMALIZE_NFKC)
NORMALIZES (s_nfkd, NORMALIZE_NFKD)
NORMALIZES (s_lowercase, NORMALIZE_LOWERCASE)
NORMALIZES (s_strip_accents, NORMALIZE_STRIP_ACCENTS)
NORMALIZES (s_nmt, NORMALIZE_NMT)
NORMALIZES (s_alphabet, NORMALIZE_ALPHABET)

//  Four steps, each with a flag; accents go with upper case where nothing says otherwise.
static status_t
s_bert (loading_t *loading, const json_t *json)
{
    bool lowercase = s_flag (json, "lowercase", true), strips = s_flag (json, "strip_accents", lowercase);
    const struct {
        normalize_t kind;    //  What to do
        bool wanted;         //  The file says so
    } steps [] = { { NORMALIZE_CLEAN, s_flag (json, "clean_text", true) },
        { NORMALIZE_PART_HAN, s_flag (json, "handle_chinese_chars", true) }, { NORMALIZE_NFD, strips },
        { NORMALIZE_STRIP_MARKS, strips }, { NORMALIZE_LOWERCASE, lowercase } };
    status_t status = STATUS_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
        if (steps [i].wanted)
            status = s_normalize (loading, steps [i].kind);
    return status;
}

static status_t
s_replace (loading_t *loading, const json_t *json)
{
    normalization_t step = { .kind = NORMALIZE_REPLACE };
    status_t status = s_pattern (json_get (json, "pattern"), &step.string, &step.regex, loading->error);
    if (status)
        return status;
    step.content = body_copy (json_string (json_get (json, "content")));
    return normalizer_add (loading->normalizer, step, loading->error);
}

static status_t
s_prepend (loading_t *loading, const json_t *json)
{
    const json_t *prepend = json_get (json, "prepend");
    if (json_kind (prepend) != JSON_STRING)
        return error_set (loading->error, STATUS_INVALID, "a Prepend without a text");
    span_t content = body_copy (json_string (prepend));
    return normalizer_add (
        loading->normalizer, (normalization_t){ .kind = NORMALIZE_PREPEND, .content = content }, loading->error);
}

static status_t
s_strip (loading_t *loading, const json_t *json)
{
    status_t status = STATUS_OK;
    if (s_flag (json, "strip_left", true))
        status = s_normalize (loading, NORMALIZE_STRIP_LEFT);
    if (!status && s_flag (json, "strip_right", true))
        status = s_normalize (loading, NORMALIZE_STRIP_RIGHT);
    return status;
}

static status_t
s_precompiled (loading_t *loading, const json_t *json)
{
    normalization_t step = { .kind = NORMALIZE_CHARSMAP };
    buffer_t map = { 0 };
    status_t status = base64_decode (json_string (json_get (json, "precompiled_charsmap")), &map)
                          ? charsmap_init (&step.charsmap, buffer_span (&map), loading->error)
                          : error_set (loading->error, STATUS_INVALID, "a precompiled_charsmap that is not base64");
    buffer_fini (&map);
    return status ? status : normalizer_add (loading->normalizer, step, loading->error);
}

status_t
load_normalizer (const json_t *json, normalizer_t *normalizer, error_t *error)
{
    static const kind_t kinds [] = {
        { "NFC", s_nfc },
        { "NFD", s_nfd },
        { "NFKC", s_nfkc },
        { "NFKD", s_nfkd },
        { "Lowercase", s_lowercase },
        { "StripAccents", s_strip_accents },
        { "BertNormalizer", s_bert },
        { "Nmt", s_nmt },
        { "ByteLevel", s_alphabet },
        { "Replace", s_replace },
        { "Prepend", s_prepend },
        { "Strip", s_strip },
        { "Precompiled", s_precompiled },
        { 0 },
    };
    loading_t loading = {
        .what = "normalizer", .members = "normalizers", .kinds = kinds, .normalizer = normalizer, .error = error
    };
    return s_load (&loading, json, 0);
}

//  ---- Pre-tokenizers ------------------------------------------------------------------------------------------------

static status_t
s_behaviour (const json_t *json, split_t otherwise, split_t *split, error_t *error)
{
    static const char *const names [] = {
        [SPLIT_ISOLATED] = "Isolated",
        [SPLIT_REMOVED] = "Removed",
        [SPLIT_WITH_PREVIOUS] = "MergedWithPrevious",
        [SPLIT_WITH_NEXT] = "MergedWithNext",
        [SPLIT_CONTIGUOUS] = "Contiguous",
    };
    const json_t *name = json_get (json, "behavior");
    *split = otherwise;
    if (!name)
        return STATUS_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_equal_string (json_string (name), names [i])) {
            *split = (split_t)i;
            return STATUS_OK;
        }
    return error_set (error, STATUS_UNSUPPORTED, "the behavior of a Split is not known");
}

static status_t
s_split (loading_t *loading, const json_t *json)
{
    step_t step = { .cut = CUT_REGEX, .invert = s_flag (json, "invert", false) };
    status_t status = s_behaviour (json, SPLIT_ISOLATED, &step.split, loading->error);
    if (!status)
        status = s_pattern (json_get (json, "pattern"), &step.string, &step.regex, loading->error);
    if (status)
        return status;
    step.cut = step.regex ? CUT_REGEX : CUT_STRING;
    return splitter_add (loading->splitter, step, loading->error);
}

//  Adds a step that cuts where an expression matches. The expression is ours: it always compiles.
static status_t
s_add_regex (loading_t *loading, step_t step, span_t expression)
{
    status_t status = regex_new (expression, &step.regex, loading->error);
    BUG_ON (status);
    step.cut = CUT_REGEX;
    step.string = body_copy (expression);
    return splitter_add (loading->splitter, step, loading->error);
}

//  Only what follows it needs the text in the alphabet; load_pre_tokenizer takes that back where nothing does.
static status_t
s_byte_level (loading_t *loading, const json_t *json)
{
    step_t step = { .cut = CUT_NOTHING, .alphabet = ALPHABET_FROM_BYTES };
    loading->byte_levels++;
    if (s_flag (json, "add_prefix_space", true)) {
        step.prefixed = PREFIX_ALWAYS;
        step.prefix = body_copy (SPAN (" "));
    }
    if (s_flag (json, "use_regex", true))
        return s_add_regex (loading, step, SPAN (BYTE_LEVEL_REGEX));
    return splitter_add (loading->splitter, step, loading->error);
}

static status_t
s_metaspace (loading_t *loading, const json_t *json)
{
    span_t scheme = json_string (json_get (json, "prepend_scheme"));
    span_t mark;
    status_t status = s_mark (json, &mark, loading->error);
    if (status)
        return status;
    step_t step = { .cut = s_flag (json, "split", true) ? CUT_STRING : CUT_NOTHING, .split = SPLIT_WITH_NEXT };
    step.prefixed = span_equal_string (scheme, "first")                                               ? PREFIX_FIRST
                    : span_equal_string (scheme, "never") || !s_flag (json, "add_prefix_space", true) ? PREFIX_NEVER
                                                                                                      : PREFIX_ALWAYS;
    step.string = body_copy (mark);
    step.prefix = body_copy (mark);
    step.for_space = body_copy (mark);
    return splitter_add (loading->splitter, step, loading->error);
}

static status_t
s_digits (loading_t *loading, const json_t *json)
{
    split_t split = s_flag (json, "individual_digits", false) ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS;
    return splitter_add (loading->splitter, (step_t){ .cut = CUT_DIGITS, .split = split }, loading->error);
}

static status_t
s_punctuation (loading_t *loading, const json_t *json)
{
    step_t step = { .cut = CUT_PUNCTUATION };
    status_t status = s_behaviour (json, SPLIT_ISOLATED, &step.split, loading->error);
    return status ? status : splitter_add (loading->splitter, step, loading->error);
}

#define WORDS "\\w\xe2\x80\x8c\xe2\x80\x8d"

//  What is of a word is what Rust's expressions say: as in a class here, and the two joiners.
static status_t
s_whitespace (loading_t *loading, const json_t *json)
{
    step_t step = { .split = SPLIT_REMOVED, .invert = true };
    return s_add_regex (loading, step, SPAN ("[" WORDS "]+|[^" WORDS "\\s]+"));
}

static status_t
s_whitespace_split (loading_t *loading, const json_t *json)
{
    return splitter_add (loading->splitter, (step_t){ .cut = CUT_BLANKS, .split = SPLIT_REMOVED }, loading->error);
}

static status_t
s_bert_words (loading_t *loading, const json_t *json)
{
    status_t status = s_whitespace_split (loading, json);
    return status ? status : splitter_add (loading->splitter, (step_t){ .cut = CUT_PUNCTUATION }, loading->error);
}

static status_t
s_delimiter (loading_t *loading, const json_t *json)
{
    step_t step = {
        .cut = CUT_STRING, .split = SPLIT_REMOVED, .string = body_copy (json_string (json_get (json, "delimiter")))
    };
    return splitter_add (loading->splitter, step, loading->error);
}

static status_t
s_scripts (loading_t *loading, const json_t *json)
{
    return splitter_add (loading->splitter, (step_t){ .cut = CUT_SCRIPTS }, loading->error);
}

static status_t
s_length (loading_t *loading, const json_t *json)
{
    uint64_t length = 5;
    const json_t *member = json_get (json, "length");
    if (member && (!json_to_u64 (member, &length) || length == 0))
        return error_set (loading->error, STATUS_INVALID, "a FixedLength that is none");
    return splitter_add (loading->splitter, (step_t){ .cut = CUT_LENGTH, .length = (size_t)length }, loading->error);
}

//  Pieces leave the splitter as bytes: turned back where steps behind ByteLevel needed the alphabet, else never turned.
static status_t
s_end_in_bytes (splitter_t *splitter, error_t *error)
{
    step_t *last = array_at (&splitter->steps, splitter->steps.count - 1);
    if (last->alphabet != ALPHABET_FROM_BYTES)
        return splitter_add (splitter, (step_t){ .cut = CUT_NOTHING, .alphabet = ALPHABET_TO_BYTES }, error);
    last->alphabet = ALPHABET_STAYS;
    if (last->cut == CUT_NOTHING && last->prefixed == PREFIX_NEVER)
        array_cut (&splitter->steps, splitter->steps.count - 1);
    return STATUS_OK;
}

//  Whether text in the alphabet gets other characters: then all of them are characters like any.
static bool
s_leaves_alphabet (const splitter_t *splitter)
{
    bool alphabet = false;
    for (size_t i = 0; i < splitter->steps.count; i++) {
        const step_t *step = array_at (&splitter->steps, i);
        if (alphabet && (step->prefixed != PREFIX_NEVER || step->for_space.size))
            return true;
        alphabet |= step->alphabet == ALPHABET_FROM_BYTES;
    }
    return false;
}

status_t
load_pre_tokenizer (const json_t *json, bool takes_bytes, splitter_t *splitter, bool *byte_level, error_t *error)
{
    static const kind_t kinds [] = {
        { "Split", s_split },
        { "ByteLevel", s_byte_level },
        { "Metaspace", s_metaspace },
        { "Digits", s_digits },
        { "Punctuation", s_punctuation },
        { "Whitespace", s_whitespace },
        { "WhitespaceSplit", s_whitespace_split },
        { "BertPreTokenizer", s_bert_words },
        { "CharDelimiterSplit", s_delimiter },
        { "UnicodeScripts", s_scripts },
        { "FixedLength", s_length },
        { 0 },
    };
    loading_t loading = {
        .what = "pre-tokenizer", .members = "pretokenizers", .kinds = kinds, .splitter = splitter, .error = error
    };
    status_t status = s_load (&loading, json, 0);
    *byte_level = loading.byte_levels == 1 && takes_bytes && !s_leaves_alphabet (splitter);
    return status || !*byte_level ? status : s_end_in_bytes (splitter, error);
}

//  ---- Decoders ------------------------------------------------------------------------------------------------------

static status_t
s_decode (loading_t *loading, decoding_t step)
{
    return decoder_add (loading->decoder, step, loading->error);
}

static status_t
s_decode_alphabet (loading_t *loading, const json_t *json)
{
    return s_decode (loading, (decoding_t){ .kind = DECODE_ALPHABET });
}

static status_t
s_decode_byte (loading_t *loading, const json_t *json)
{
    return s_decode (loading, (decoding_t){ .kind = DECODE_BYTE });
}

//  Rules are those of a normalizer.
static status_t
s_decode_replace (loading_t *loading, const json_t *json)
{
    decoding_t step = { .kind = DECODE_RULES };
    loading_t rules = { .normalizer = &step.rules, .error = loading->error };
    normalizer_init (&step.rules);
    status_t status = s_replace (&rules, json);
    if (!status)
        return s_decode (loading, step);
    normalizer_fini (&step.rules);
    return status;
}

static status_t
s_decode_string (loading_t *loading, decode_t kind, span_t string, span_t content)
{
    return s_decode (
        loading, (decoding_t){ .kind = kind, .string = body_copy (string), .content = body_copy (content) });
}

static status_t
s_decode_metaspace (loading_t *loading, const json_t *json)
{
    span_t mark;
    status_t status = s_mark (json, &mark, loading->error);
    bool never = span_equal_string (json_string (json_get (json, "prepend_scheme")), "never") ||
                 !s_flag (json, "add_prefix_space", true);
    return status ? status : s_decode_string (loading, never ? DECODE_REPLACE : DECODE_MARK, mark, SPAN (" "));
}

static status_t
s_decode_fuse (loading_t *loading, const json_t *json)
{
    return s_decode (loading, (decoding_t){ .kind = DECODE_FUSE });
}

static status_t
s_decode_strip (loading_t *loading, const json_t *json)
{
    uint64_t start = 0, stop = 0;
    json_to_u64 (json_get (json, "start"), &start);
    json_to_u64 (json_get (json, "stop"), &stop);
    span_t content = json_string (json_get (json, "content"));
    return s_decode (
        loading, (decoding_t){ .kind = DECODE_STRIP, .string = body_copy (content), .start = start, .stop = stop });
}

//  Blanks go where English has none.
static status_t
s_decode_cleanup (loading_t *loading)
{
    static const char *const tidy [][2] = { { " .", "." }, { " ?", "?" }, { " !", "!" }, { " ,", "," }, { " ' ", "'" },
        { " n't", "n't" }, { " 'm", "'m" }, { " do not", " don't" }, { " 's", "'s" }, { " 've", "'ve" },
        { " 're", "'re" } };
    status_t status = STATUS_OK;
    for (size_t i = 0; i < sizeof tidy / sizeof *tidy && !status; i++)
        status =
            s_decode_string (loading, DECODE_REPLACE, span_from_string (tidy [i][0]), span_from_string (tidy [i][1]));
    return status;
}

//  Pieces are words, but for what continues one.
static status_t
s_decode_words (loading_t *loading, const json_t *json)
{
    const json_t *said = json_get (json, "prefix");
    span_t prefix = json_kind (said) == JSON_STRING ? json_string (said) : SPAN ("##");
    status_t status = s_decode_string (loading, DECODE_WORD, prefix, SPAN (""));
    return status || !s_flag (json, "cleanup", true) ? status : s_decode_cleanup (loading);
}

//  What a token that comes again says is said once.
static status_t
s_decode_ctc (loading_t *loading, const json_t *json)
{
    span_t pad = json_string (json_get (json, "pad_token"));
    span_t delimiter = json_string (json_get (json, "word_delimiter_token"));
    status_t status = s_decode (loading, (decoding_t){ .kind = DECODE_ONCE });
    if (!status)
        status = s_decode_string (loading, DECODE_REPLACE, pad.size ? pad : SPAN ("<pad>"), SPAN (""));
    if (!status && s_flag (json, "cleanup", true)) {
        status = s_decode_cleanup (loading);
        if (!status)
            status = s_decode_string (loading, DECODE_REPLACE, delimiter.size ? delimiter : SPAN ("|"), SPAN (" "));
    }
    return status ? status : s_decode (loading, (decoding_t){ .kind = DECODE_FILLED });
}

//  The suffix ends a word, and the text ends without a space.
static status_t
s_decode_suffix (loading_t *loading, const json_t *json)
{
    span_t suffix = json_string (json_get (json, "suffix"));
    return s_decode_string (loading, DECODE_SUFFIX, suffix.size ? suffix : SPAN ("</w>"), SPAN (""));
}

status_t
load_decoder (const json_t *json, decoder_t *decoder, error_t *error)
{
    static const kind_t kinds [] = {
        { "BPEDecoder", s_decode_suffix },
        { "ByteLevel", s_decode_alphabet },
        { "ByteFallback", s_decode_byte },
        { "Replace", s_decode_replace },
        { "Metaspace", s_decode_metaspace },
        { "Fuse", s_decode_fuse },
        { "Strip", s_decode_strip },
        { "WordPiece", s_decode_words },
        { "CTC", s_decode_ctc },
        { 0 },
    };
    loading_t loading = {
        .what = "decoder", .members = "decoders", .kinds = kinds, .decoder = decoder, .error = error
    };
    status_t status = json ? s_load (&loading, json, 0) : s_decode (&loading, (decoding_t){ .kind = DECODE_APART });
    decoder_seal (decoder);
    return status;
}

//  ---- Post-processors -----------------------------------------------------------------------------------------------

static status_t
s_add_id (loading_t *loading, const json_t *json, array_t *ids)
{
    uint64_t id;
    if (!json_to_u64 (json, &id) || id >= VOCABULARY_TOKENS_MAX)
        return error_set (loading->error, STATUS_INVALID, "a post-processor with an id that is none");
    array_append (ids, &(uint32_t){ (uint32_t)id }, 1);
    return STATUS_OK;
}

//  Ids may come in any number, in one place by a template's name for them.
static status_t
s_add_special (loading_t *loading, const json_t *specials, span_t name, array_t *ids)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *special;
    while (json_next (specials, &cursor, &key, &special)) {
        const json_t *row = json_get (special, "ids");
        status_t status = STATUS_OK;
        if (!span_equal (key, name))
            continue;
        for (size_t i = 0; i < json_count (row) && !status; i++)
            status = s_add_id (loading, json_at (row, i), ids);
        return status;
    }
    return error_set (loading->error, STATUS_INVALID, "a template names a special token that it does not describe");
}

//  Puts ids around what earlier post-processors have put around the text.
static void
s_put_around (loading_t *loading, array_t *before, const array_t *behind)
{
    array_append (before, loading->before->data, loading->before->count);
    array_cut (loading->before, 0);
    array_append (loading->before, before->data, before->count);
    array_append (loading->behind, behind->data, behind->count);
}

static status_t
s_read_template (loading_t *loading, const json_t *json, array_t *before, array_t *behind)
{
    const json_t *single = json_get (json, "single");
    array_t *ids = before;
    status_t status = STATUS_OK;
    size_t texts = 0;
    for (size_t i = 0; i < json_count (single) && !status; i++) {
        const json_t *special = json_get (json_at (single, i), "SpecialToken");
        if (special)
            status =
                s_add_special (loading, json_get (json, "special_tokens"), json_string (json_get (special, "id")), ids);
        else
            ids = behind;
        texts += !special;
        loading->templated |= special != NULL;
    }
    return status || texts == 1 ? status
                                : error_set (loading->error, STATUS_UNSUPPORTED, "a template with %zu texts", texts);
}

//  [token, id] before and behind.
static status_t
s_read_around (loading_t *loading, const json_t *json, array_t *before, array_t *behind)
{
    status_t status = s_add_id (loading, json_at (json_get (json, "cls"), 1), before);
    return status ? status : s_add_id (loading, json_at (json_get (json, "sep"), 1), behind);
}

typedef status_t (read_fn) (loading_t *loading, const json_t *json, array_t *before, array_t *behind);

static status_t
s_surround (loading_t *loading, const json_t *json, read_fn *read)
{
    array_t before, behind;
    if (loading->templated)
        return error_set (
            loading->error, STATUS_UNSUPPORTED, "a post-processor that adds to what a template has added");
    array_init (&before, sizeof (uint32_t));
    array_init (&behind, sizeof (uint32_t));
    status_t status = read (loading, json, &before, &behind);
    if (!status)
        s_put_around (loading, &before, &behind);
    array_fini (&before);
    array_fini (&behind);
    return status;
}

static status_t
s_template (loading_t *loading, const json_t *json)
{
    return s_surround (loading, json, s_read_template);
}

static status_t
s_around (loading_t *loading, const json_t *json)
{
    return s_surround (loading, json, s_read_around);
}

static status_t
s_nothing (loading_t *loading, const json_t *json)
{
    return STATUS_OK;
}

status_t
load_post_processor (const json_t *json, array_t *before, array_t *behind, error_t *error)
{
    static const kind_t kinds [] = {
        { "TemplateProcessing", s_template },
        { "BertProcessing", s_around },
        { "RobertaProcessing", s_around },
        { "ByteLevel", s_nothing },
        { 0 },
    };
    loading_t loading = { .what = "post-processor",
        .members = "processors",
        .kinds = kinds,
        .before = before,
        .behind = behind,
        .error = error };
    return s_load (&loading, json, 0);
}
