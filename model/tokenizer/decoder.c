#include "model/tokenizer/decoder.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/search.h"

void
decoder_init (decoder_t *self)
{
    *self = (decoder_t){ 0 };
    array_init (&self->steps, sizeof (decoding_t));
}

static void
s_free_step (decoding_t *step)
{
    memory_free ((void *)step->string.data);
    memory_free ((void *)step->content.data);
    if (step->kind == DECODE_RULES)
        normalizer_fini (&step->rules);
}

void
decoder_fini (decoder_t *self)
{
    for (size_t i = 0; i < self->steps.count; i++)
        s_free_step (array_at (&self->steps, i));
    array_fini (&self->steps);
}

status_t
decoder_add (decoder_t *self, decoding_t step, error_t *error)
{
    if (self->steps.count == DECODER_STEPS_MAX) {
        s_free_step (&step);
        return error_set (error, STATUS_LIMIT, "more than %d decoders", DECODER_STEPS_MAX);
    }
    array_append (&self->steps, &step, 1);
    return STATUS_OK;
}

static void
s_replace (span_t text, span_t string, span_t content, buffer_t *out)
{
    for (size_t at; string.size && (at = search_find (text, string)) < text.size;) {
        buffer_append (out, span_slice (text, 0, at));
        buffer_append (out, content);
        text = span_slice (text, at + string.size, text.size);
    }
    buffer_append (out, text);
}

//  What is no text, or takes too long, stays.
static void
s_apply_rules (const decoding_t *step, span_t text, buffer_t *out)
{
    normalized_t room = { 0 };
    span_t said = text;
    if (utf8_is_valid (text) && normalizer_apply (&step->rules, text, &room, &said, NULL))
        said = text;
    buffer_append (out, said);
    buffer_fini (&room.text);
    buffer_fini (&room.next);
}

static bool
s_ends_with (span_t text, span_t end)
{
    return text.size >= end.size && span_equal (span_slice (text, text.size - end.size, end.size), end);
}

static void
s_strip (const decoding_t *step, span_t text, buffer_t *out)
{
    size_t size = step->string.size;
    for (uint64_t left = step->start; left && size && span_starts_with (text, step->string); left--)
        text = span_slice (text, size, text.size);
    for (uint64_t left = step->stop; left && size && s_ends_with (text, step->string); left--)
        text = span_slice (text, 0, text.size - size);
    buffer_append (out, text);
}

static void
s_word (const decoding_t *step, span_t text, buffer_t *out)
{
    bool goes_on = span_starts_with (text, step->string);
    buffer_append_string (out, goes_on ? "" : " ");
    buffer_append (out, span_slice (text, goes_on ? step->string.size : 0, text.size));
}

static void
s_byte (span_t text, buffer_t *out)
{
    int byte = alphabet_named_byte (text);
    if (byte >= 0)
        buffer_append_byte (out, (uint8_t)byte);
    else
        buffer_append (out, text);
}

//  Whether a step leaves alone what a text begins with.
static bool
s_spares_start (decode_t kind)
{
    return kind == DECODE_WORD || kind == DECODE_APART;
}

void
decoder_step (const decoding_t *step, span_t text, bool begins, bool ends, buffer_t *out)
{
    if (s_spares_start (step->kind) && begins) {
        buffer_append (out, text);
        return;
    }
    switch (step->kind) {
    case DECODE_ALPHABET:
        if (!alphabet_to_bytes (text, out))
            buffer_append (out, text);
        break;
    case DECODE_BYTE:
        s_byte (text, out);
        break;
    case DECODE_REPLACE:
        s_replace (text, step->string, step->content, out);
        break;
    case DECODE_RULES:
        s_apply_rules (step, text, out);
        break;
    case DECODE_STRIP:
        s_strip (step, text, out);
        break;
    case DECODE_MARK:
        s_replace (text, step->string, begins ? SPAN ("") : SPAN (" "), out);
        break;
    case DECODE_WORD:
        s_word (step, text, out);
        break;
    case DECODE_APART:
        buffer_append_byte (out, ' ');
        buffer_append (out, text);
        break;
    case DECODE_SUFFIX:
        s_replace (text, step->string, ends ? SPAN ("") : SPAN (" "), out);
        break;
    case DECODE_FUSE:
    case DECODE_ONCE:
    case DECODE_FILLED:
        buffer_append (out, text);
        break;
    }
}

//  ---- All steps -----------------------------------------------------------------------------------------------------

//  Whether a step leaves what a text begins with to others, and ends in what they say.
static bool
s_is_of_tokens (decode_t kind)
{
    return kind == DECODE_WORD || kind == DECODE_APART || kind == DECODE_MARK;
}

//  Spaces at the start of a text are all that is left to drop of what was made one.
static bool
s_strip_text (decoder_t *self, const decoding_t *step, bool last)
{
    bool plain = last && step->kind == DECODE_STRIP && span_equal_string (step->string, " ") && !step->stop &&
                 step->start <= UINT8_MAX;
    self->strip = plain ? (uint8_t)step->start : 0;
    return plain;
}

//  Whether the step at a place looks at one token, behind those before it. one: all tokens were made one.
static bool
s_is_plain (decoder_t *self, size_t place, bool one)
{
    const decoding_t *steps = self->steps.data, *step = &steps [place];
    decode_t before = place ? steps [place - 1].kind : DECODE_REPLACE;
    bool last = place + 1 == self->steps.count, filled = false;
    for (size_t i = 0; i < place; i++)
        filled |= steps [i].kind == DECODE_FILLED;
    if (step->kind == DECODE_FUSE)
        return true;
    if (one)
        return s_strip_text (self, step, last);
    if (before == DECODE_BYTE || before == DECODE_ALPHABET || (filled && s_is_of_tokens (step->kind)))
        return false;
    self->holds |= step->kind == DECODE_SUFFIX;
    self->repeats |= step->kind == DECODE_ONCE;
    return (step->kind != DECODE_SUFFIX || (place == 0 && last)) && (step->kind != DECODE_ONCE || place == 0);
}

void
decoder_seal (decoder_t *self)
{
    bool one = false;
    for (size_t i = 0; i < self->steps.count; i++) {
        decode_t kind = ((const decoding_t *)array_at (&self->steps, i))->kind;
        self->whole |= !s_is_plain (self, i, one);
        self->falls_back |= kind == DECODE_BYTE;
        one |= kind == DECODE_FUSE;
    }
}

bool
decoder_ends_plainly (const decoder_t *self, span_t token)
{
    span_t suffix = ((const decoding_t *)array_at (&self->steps, 0))->string;
    return search_find (token, suffix) + suffix.size >= token.size;
}

bool
decoder_asks_where (const decoder_t *self)
{
    for (size_t i = 0; i < self->steps.count; i++) {
        const decoding_t *step = array_at (&self->steps, i);
        if (s_is_of_tokens (step->kind))
            return true;
    }
    return false;
}

void
decoder_apply (const decoder_t *self, span_t token, bool begins, buffer_t *bytes)
{
    buffer_t now = { 0 }, next = { 0 };
    buffer_append (&now, token);
    for (size_t i = 0; i < self->steps.count; i++) {
        const decoding_t *step = array_at (&self->steps, i);
        if (step->kind == DECODE_FUSE)
            break;
        buffer_clear (&next);
        decoder_step (step, buffer_span (&now), begins, false, &next);
        buffer_t swapped = now;
        now = next;
        next = swapped;
    }
    buffer_append (bytes, buffer_span (&now));
    buffer_fini (&now);
    buffer_fini (&next);
}

size_t
decoder_append_text (span_t bytes, buffer_t *text)
{
    for (;;) {
        size_t valid = utf8_valid_prefix (bytes);
        buffer_append (text, span_slice (bytes, 0, valid));
        bytes = span_slice (bytes, valid, bytes.size);
        if (bytes.size == 0 || bytes.size == utf8_incomplete_tail (bytes))
            return bytes.size;
        //  One replacement for as much as could have begun a character.
        size_t bad = 1;
        for (size_t i = 2; i <= 3 && i <= bytes.size && utf8_incomplete_tail (span_slice (bytes, 0, i)) == i; i++)
            bad = i;
        buffer_append (text, SPAN ("\xef\xbf\xbd"));
        bytes = span_slice (bytes, bad, bytes.size);
    }
}
