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

static void
s_step (const decoding_t *step, span_t text, bool begins, buffer_t *out)
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
    }
}

bool
decoder_asks_where (const decoder_t *self)
{
    for (size_t i = 0; i < self->steps.count; i++) {
        const decoding_t *step = array_at (&self->steps, i);
        if (!step->begins && (step->kind == DECODE_MARK || s_spares_start (step->kind)))
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
        buffer_clear (&next);
        const decoding_t *step = array_at (&self->steps, i);
        s_step (step, buffer_span (&now), begins || step->begins, &next);
        buffer_t swapped = now;
        now = next;
        next = swapped;
    }
    buffer_append (bytes, buffer_span (&now));
    buffer_fini (&now);
    buffer_fini (&next);
}
