#include "model/tokenizer/decoder.h"

#include "base/memory.h"
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
s_replace (const decoding_t *step, span_t text, buffer_t *out)
{
    for (size_t at; (at = search_find (text, step->string)) < text.size;) {
        buffer_append (out, span_slice (text, 0, at));
        buffer_append (out, step->content);
        text = span_slice (text, at + step->string.size, text.size);
    }
    buffer_append (out, text);
}

static void
s_step (const decoding_t *step, span_t text, buffer_t *out)
{
    if (step->kind == DECODE_WORD) {
        bool goes_on = span_starts_with (text, step->string);
        buffer_append_string (out, goes_on ? "" : " ");
        buffer_append (out, span_slice (text, goes_on ? step->string.size : 0, text.size));
        return;
    }
    if (step->kind == DECODE_APART) {
        buffer_append_byte (out, ' ');
        buffer_append (out, text);
        return;
    }
    int byte = step->kind == DECODE_BYTE ? alphabet_named_byte (text) : -1;
    if (byte >= 0)
        buffer_append_byte (out, (uint8_t)byte);
    else if (step->kind == DECODE_REPLACE)
        s_replace (step, text, out);
    else if (step->kind == DECODE_BYTE || !alphabet_to_bytes (text, out))
        buffer_append (out, text);
}

void
decoder_apply (const decoder_t *self, span_t token, buffer_t *bytes)
{
    buffer_t now = { 0 }, next = { 0 };
    buffer_append (&now, token);
    for (size_t i = 0; i < self->steps.count; i++) {
        buffer_clear (&next);
        s_step (array_at (&self->steps, i), buffer_span (&now), &next);
        buffer_t swapped = now;
        now = next;
        next = swapped;
    }
    buffer_append (bytes, buffer_span (&now));
    buffer_fini (&now);
    buffer_fini (&next);
}
