#include "model/tokenizer/body.h"

#include "base/memory.h"
#include "model/tokenizer/letters.h"

tokenizer_t *
body_new (void)
{
    tokenizer_t *self = memory_new (sizeof *self);
    self->vocabulary = vocabulary_new ();
    self->texts = vocabulary_new ();
    self->heads = vocabulary_new ();
    self->written = vocabulary_new ();
    decoder_init (&self->decoder);
    added_init (&self->added);
    normalizer_init (&self->normalizer);
    splitter_init (&self->splitter);
    bpe_init (&self->bpe, self->vocabulary);
    unigram_init (&self->unigram, self->vocabulary);
    wordpiece_init (&self->wordpiece, self->vocabulary);
    longest_init (&self->longest, self->vocabulary);
    plamo_init (&self->plamo, self->vocabulary);
    array_init (&self->before, sizeof (uint32_t));
    array_init (&self->behind, sizeof (uint32_t));
    array_init (&self->marks, sizeof (uint8_t));
    pieces_init (&self->pieces);
    array_init (&self->learned, sizeof (uint32_t));
    self->bos = self->eos = TOKEN_NONE;
    return self;
}

void
tokenizer_destroy (tokenizer_t **self_p)
{
    tokenizer_t *self = *self_p;
    if (!self)
        return;
    vocabulary_destroy (&self->vocabulary);
    vocabulary_destroy (&self->texts);
    vocabulary_destroy (&self->heads);
    vocabulary_destroy (&self->written);
    decoder_fini (&self->decoder);
    added_fini (&self->added);
    normalizer_fini (&self->normalizer);
    splitter_fini (&self->splitter);
    bpe_fini (&self->bpe);
    unigram_fini (&self->unigram);
    wordpiece_fini (&self->wordpiece);
    plamo_fini (&self->plamo);
    parts_fini (&self->parts);
    array_fini (&self->before);
    array_fini (&self->behind);
    array_fini (&self->marks);
    cache_fini (&self->cache);
    buffer_fini (&self->normalized.text);
    buffer_fini (&self->normalized.next);
    pieces_fini (&self->pieces);
    array_fini (&self->learned);
    memory_free (self);
    *self_p = NULL;
}

#define ALL_BLANKS SPAN ("|\\s+")

//  Whether a step cuts by an expression and leaves nothing out. Those that end in all white space match everything, where they are
//  a grammar: some files take only what they match.
static bool
s_keeps_all (const step_t *step)
{
    span_t end = span_slice (step->string, step->string.size - ALL_BLANKS.size, ALL_BLANKS.size);
    bool takes_matches = step->split == SPLIT_REMOVED && step->invert && span_equal (end, ALL_BLANKS);
    bool is_isolated = step->split == SPLIT_ISOLATED && !step->invert;
    return step->cut == CUT_REGEX && (is_isolated || takes_matches) && step->prefixed == PREFIX_NEVER &&
           !step->for_space.size && step->alphabet == ALPHABET_STAYS;
}

//  The grammar of words.h that does the same as all steps; NULL where there is none.
static const words_t *
s_words (const splitter_t *splitter)
{
    span_t expressions [WORDS_EXPRESSIONS];
    for (size_t i = 0; i < splitter->steps.count; i++) {
        const step_t *step = array_at (&splitter->steps, i);
        if (i == WORDS_EXPRESSIONS || !s_keeps_all (step))
            return NULL;
        expressions [i] = step->string;
    }
    return words_for (expressions, splitter->steps.count);
}

//  Behind a number that a token of the model has, too, no text may be cut: it may be that one.
static void
s_mark_tokens (tokenizer_t *self)
{
    array_append (&self->marks, NULL, vocabulary_size (self->texts));
    for (size_t i = 0; i < self->added.tokens.count; i++) {
        const added_token_t *token = array_at (&self->added.tokens, i);
        uint8_t *marks = array_at (&self->marks, token->id);
        span_t other = vocabulary_bytes (self->vocabulary, token->id);
        bool seam = token->seam && (!other.size || span_equal (other, token->content));
        *marks |= (token->special ? MARK_SPECIAL : 0) | (seam ? MARK_SEAM : 0);
    }
}

//  Tokens whose text becomes them are in the cache from the start.  The low numbers, which are the frequent ones, come last: they
//  push out others, not others them.
static void
s_fill_cache (tokenizer_t *self)
{
    cache_init (&self->cache, vocabulary_size (self->vocabulary));
    for (uint32_t id = self->model == MODEL_BPE ? vocabulary_size (self->vocabulary) : 0; id-- > 0;) {
        span_t bytes = vocabulary_bytes (self->vocabulary, id);
        if (bytes.size && bytes.size <= CACHE_SHORT_SIZE && bpe_whole (&self->bpe, bytes) == id)
            cache_put_short (&self->cache, cache_key (bytes, bytes.size), &id, 1);
    }
}

//  Whether a piece that is a token is what the rules make of it, for all tokens.
static bool
s_rules_make_all (tokenizer_t *self)
{
    uint32_t id = 0, size = self->bpe.ignore_merges ? vocabulary_size (self->vocabulary) : 0;
    while (id < size && (!vocabulary_bytes (self->vocabulary, id).size || bpe_makes (&self->bpe, id)))
        id++;
    return id == size;
}

//  Whether characters that are no tokens are left out: then those beside them meet.
static bool
s_leaves_out (const tokenizer_t *self)
{
    const bpe_t *bpe = &self->bpe;
    bool has_bytes = bpe->byte_fallback;
    for (size_t byte = 0; byte < 256 && has_bytes; byte++)
        has_bytes = bpe->bytes [byte] != TOKEN_NONE;
    return self->model == MODEL_BPE && bpe->unknown == TOKEN_NONE && !has_bytes;
}

static void
s_find_parts (tokenizer_t *self)
{
    parts_init_bytes (&self->parts, self->vocabulary);
    for (uint32_t id = 0; id < vocabulary_size (self->vocabulary) && self->bpe.ignore_merges; id++) {
        span_t bytes = vocabulary_bytes (self->vocabulary, id);
        if (bytes.size > 1 && !bpe_makes (&self->bpe, id))
            parts_keep (&self->parts, bytes);
    }
}

status_t
body_seal (tokenizer_t *self, error_t *error)
{
    status_t status = STATUS_OK;
    added_seal (&self->added, !normalizer_is_empty (&self->normalizer));
    self->splitter.words = s_words (&self->splitter);
    switch (self->model) {
    case MODEL_UNIGRAM:
        unigram_seal (&self->unigram);
        break;
    case MODEL_WORDPIECE:
        wordpiece_seal (&self->wordpiece);
        break;
    case MODEL_LONGEST:
        longest_seal (&self->longest);
        break;
    case MODEL_PLAMO:
        plamo_seal (&self->plamo);
        break;
    case MODEL_BPE:
        status = bpe_seal (&self->bpe, error);
        break;
    }
    if (status)
        return status;
    if (self->bpe.knows_bytes)
        s_find_parts (self);
    else if (self->model <= MODEL_UNIGRAM && !self->bpe.byte_level && !bpe_is_affixed (&self->bpe) &&
             !s_leaves_out (self) && s_rules_make_all (self))
        parts_init (&self->parts, self->vocabulary);
    s_fill_cache (self);
    s_mark_tokens (self);
    return STATUS_OK;
}

span_t
body_copy (span_t text)
{
    return span_of (memory_copy (text.data, text.size), text.size);
}

void
body_find_byte_tokens (tokenizer_t *self)
{
    static const char digits [] = "0123456789ABCDEF";
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        char name [] = "<0x00>";
        name [3] = digits [i >> 4];
        name [4] = digits [i & 15];
        span_t text = self->bpe.byte_level ? span_of (&byte, 1) : span_from_string (name);
        self->bpe.bytes [i] = self->unigram.bytes [i] = vocabulary_find (self->vocabulary, text);
    }
}
