#include "model/tokenizer/tokenizer.h"

#include <string.h>

#include "base/memory.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/body.h"
#include "model/tokenizer/encode.h"
#include "model/tokenizer/letters.h"

//  ---- Added tokens --------------------------------------------------------------------------------------------------

typedef struct {
    tokenizer_t *tokenizer;     //  Whose
    tokenizer_flags_t flags;    //  The caller's
    array_t *ids;               //  Where they go
    error_t *error;             //  The caller's
} encoding_t;

typedef status_t (encode_fn) (encoding_t *self, span_t text, bool is_first);

//  Cuts text at the added tokens of a trie; what lies between goes to `encode`.
static status_t
s_encode_between (encoding_t *self, const trie_t *trie, span_t text, bool is_first, encode_fn *encode)
{
    tokenizer_t *tokenizer = self->tokenizer;
    added_match_t match = { 0 };
    size_t done = 0;
    status_t status = STATUS_OK;
    while (
        !status && added_next (&tokenizer->added, trie, text, match.resume, done, self->flags.parse_special, &match)) {
        if (done < match.start)
            status = encode (self, span_slice (text, done, match.start - done), is_first && done == 0);
        encode_token (tokenizer, match.token->id, self->ids);
        done = match.end;
    }
    if (!status && done < text.size)
        status = encode (self, span_slice (text, done, text.size), is_first && done == 0);
    return status;
}

static status_t
s_encode_plain (encoding_t *self, span_t text, bool is_first)
{
    return encode_text (self->tokenizer, text, is_first, self->ids, self->error);
}

static status_t
s_encode_raw (encoding_t *self, span_t text, bool is_first)
{
    tokenizer_t *tokenizer = self->tokenizer;
    status_t status = normalizer_apply (&tokenizer->normalizer, text, &tokenizer->normalized, &text, self->error);
    if (status || text.size == 0)
        return status;
    is_first &= !tokenizer->normalized.headless;
    return s_encode_between (self, &tokenizer->added.normal, text, is_first, s_encode_plain);
}

//  The characters that ByteLevel writes for bytes, where they are characters like any to the model.
static status_t
s_encode_letters (encoding_t *self, span_t bytes)
{
    buffer_t letters = { 0 };
    alphabet_from_bytes (bytes, &letters);
    status_t status = encode_piece (self->tokenizer, buffer_span (&letters), true, self->ids, self->error);
    buffer_fini (&letters);
    return status;
}

//  Bytes that are no text go by themselves.
static status_t
s_encode_bytes (encoding_t *self, span_t bytes)
{
    tokenizer_t *tokenizer = self->tokenizer;
    const uint32_t *tokens = tokenizer->bpe.bytes;
    uint32_t unknown = tokenizer->model == MODEL_UNIGRAM     ? tokenizer->unigram.unknown
                       : tokenizer->model == MODEL_WORDPIECE ? tokenizer->wordpiece.unknown
                                                             : tokenizer->bpe.unknown;
    encode_flush (tokenizer, self->ids);
    if (tokenizer->bpe.byte_level || tokenizer->model == MODEL_LONGEST)
        return encode_piece (tokenizer, bytes, true, self->ids, self->error);
    if (splitter_writes_bytes (&tokenizer->splitter))
        return s_encode_letters (self, bytes);
    for (size_t i = 0; i < bytes.size; i++) {
        uint32_t id = tokens [bytes.data [i]] == TOKEN_NONE ? unknown : tokens [bytes.data [i]];
        if (id != TOKEN_NONE)
            array_append (self->ids, &id, 1);
    }
    return STATUS_OK;
}

//  Bytes from the start that begin no character.
static size_t
s_invalid_prefix (span_t text)
{
    size_t size = 0;
    while (size < text.size && !utf8_sequence (span_slice (text, size, 4)))
        size++;
    return size;
}

static status_t
s_encode_text (encoding_t *self, span_t text)
{
    status_t status = STATUS_OK;
    bool is_first = !self->flags.not_first;
    while (text.size && !status) {
        span_t valid = span_slice (text, 0, utf8_valid_prefix (text));
        if (valid.size)
            status = s_encode_between (self, &self->tokenizer->added.raw, valid, is_first, s_encode_raw);
        text = span_slice (text, valid.size, text.size);
        size_t invalid = s_invalid_prefix (text);
        if (invalid && !status)
            status = s_encode_bytes (self, span_slice (text, 0, invalid));
        text = span_slice (text, invalid, text.size);
        is_first = false;
    }
    return status;
}

status_t
tokenizer_encode (tokenizer_t *self, span_t text, tokenizer_flags_t flags, array_t *ids, error_t *error)
{
    size_t before = ids->count;
    encoding_t encoding = { self, flags, ids, error };
    //  A token says a byte at least.
    array_reserve (ids, text.size);
    if (flags.add_special)
        array_append (ids, self->before.data, self->before.count);
    status_t status = s_encode_text (&encoding, text);
    encode_flush (self, ids);
    if (status)
        array_cut (ids, before);
    else if (flags.add_special)
        array_append (ids, self->behind.data, self->behind.count);
    return status;
}

//  ---- Seams ---------------------------------------------------------------------------------------------------------

typedef struct {
    const tokenizer_t *tokenizer;    //  Whose
    tokenizer_flags_t flags;         //  The caller's
    array_t *seams;                  //  Where they go
} seaming_t;

static void
s_seams_of (const seaming_t *self, const trie_t *trie, span_t text, size_t origin)
{
    added_match_t match = { 0 };
    const added_t *added = &self->tokenizer->added;
    while (added_next (added, trie, text, match.resume, match.end, self->flags.parse_special, &match)) {
        size_t place = origin + match.end;
        if (match.token->seam)
            array_append (self->seams, &place, 1);
    }
}

//  Tokens of normalised text are seams only where nothing normalises: then they are in the text as it is.
static void
s_seams_between (const seaming_t *self, span_t text, size_t origin)
{
    const added_t *added = &self->tokenizer->added;
    added_match_t match = { 0 };
    size_t done = 0;
    bool plain = normalizer_is_empty (&self->tokenizer->normalizer);
    while (added_next (added, &added->raw, text, match.resume, done, self->flags.parse_special, &match)) {
        if (plain && done < match.start)
            s_seams_of (self, &added->normal, span_slice (text, done, match.start - done), origin + done);
        size_t place = origin + match.end;
        if (match.token->seam)
            array_append (self->seams, &place, 1);
        done = match.end;
    }
    if (plain && done < text.size)
        s_seams_of (self, &added->normal, span_slice (text, done, text.size), origin + done);
}

void
tokenizer_seams (const tokenizer_t *self, span_t text, tokenizer_flags_t flags, array_t *seams)
{
    seaming_t seaming = { self, flags, seams };
    for (size_t at = 0; at < text.size;) {
        size_t valid = utf8_valid_prefix (span_slice (text, at, text.size));
        s_seams_between (&seaming, span_slice (text, at, valid), at);
        at += valid;
        at += s_invalid_prefix (span_slice (text, at, text.size));
    }
}

//  ---- Tokens --------------------------------------------------------------------------------------------------------

static uint8_t
s_marks (const tokenizer_t *self, uint32_t id)
{
    return id < self->marks.count ? ((const uint8_t *)self->marks.data) [id] : 0;
}

bool
tokenizer_is_seam (const tokenizer_t *self, uint32_t id)
{
    return s_marks (self, id) & MARK_SEAM;
}

bool
tokenizer_is_special (const tokenizer_t *self, uint32_t id)
{
    return s_marks (self, id) & MARK_SPECIAL;
}

span_t
tokenizer_token_text (const tokenizer_t *self, uint32_t id)
{
    return vocabulary_bytes (self->texts, id);
}

uint32_t
tokenizer_find (const tokenizer_t *self, span_t text)
{
    const added_token_t *token = added_find (&self->added, text);
    return token ? token->id : vocabulary_find (self->vocabulary, text);
}

uint32_t
tokenizer_size (const tokenizer_t *self)
{
    return vocabulary_size (self->texts);
}

uint32_t
tokenizer_bos (const tokenizer_t *self)
{
    return self->bos;
}

uint32_t
tokenizer_eos (const tokenizer_t *self)
{
    return self->eos;
}

uint64_t
tokenizer_memory (const tokenizer_t *self)
{
    const array_t *const arrays [] = { &self->bpe.score_ranks, &self->bpe.pairs, &self->bpe.wholes,
        &self->unigram.scores, &self->plamo.costs, &self->added.tokens, &self->added.offsets, &self->added.raw.nodes,
        &self->added.normal.nodes, &self->marks };
    uint64_t bytes = sizeof *self + cache_size (&self->cache) + vocabulary_memory (self->vocabulary) +
                     vocabulary_memory (self->texts) + vocabulary_memory (self->heads) +
                     vocabulary_memory (self->written) + vocabulary_memory (self->wordpiece.goes_on) +
                     merges_memory (&self->bpe.merges) + parts_memory (&self->parts) +
                     firsts_memory (&self->bpe.firsts) + self->added.bytes.capacity;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        bytes += arrays [i]->capacity * arrays [i]->element_size;
    return bytes;
}
