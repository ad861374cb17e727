//  detokenizer - what tokens say, one after the other

#include <string.h>

#include "base/utf8.h"
#include "model/tokenizer/body.h"
#include "model/tokenizer/chain.h"

//  What a token says where it stands: not what it says elsewhere, where a text begins with it.
static span_t
s_text (detokenizer_t *self, uint32_t id)
{
    const tokenizer_t *tokenizer = self->tokenizer;
    bool begins = self->last == TOKEN_NONE, again = tokenizer->decoder.repeats && self->last == id;
    if (!vocabulary_has (tokenizer->texts, id))
        return (span_t){ NULL, 0 };
    self->last = id;
    if (again)
        return (span_t){ NULL, 0 };
    return vocabulary_bytes (begins && vocabulary_has (tokenizer->heads, id) ? tokenizer->heads : tokenizer->texts, id);
}

//  The same, leading spaces dropped.
static span_t
s_said (detokenizer_t *self, uint32_t id)
{
    if (self->skip_special && tokenizer_is_special (self->tokenizer, id))
        return (span_t){ NULL, 0 };
    span_t text = s_text (self, id);
    while (self->strip && text.size) {
        if (text.data [0] != ' ') {
            self->strip = 0;
            break;
        }
        text = span_slice (text, 1, text.size);
        self->strip--;
    }
    return text;
}

static bool
s_ends_in_space (span_t text)
{
    return text.size && text.data [text.size - 1] == ' ';
}

//  What a token says at once: the space that a suffix stands for is dropped at the end of a text, and comes with the next token.
static span_t
s_say (detokenizer_t *self, uint32_t id, buffer_t *bytes)
{
    span_t said = s_said (self, id);
    if (!self->tokenizer->decoder.holds || !said.size)
        return said;
    if (self->held)
        buffer_append_byte (bytes, ' ');
    const vocabulary_t *vocabulary = self->tokenizer->vocabulary;
    self->held = s_ends_in_space (said) && vocabulary_has (vocabulary, id) &&
                 !s_ends_in_space (vocabulary_bytes (vocabulary, id));
    return span_slice (said, 0, said.size - self->held);
}

//  What ids say together.
static void
s_say_all (const tokenizer_t *self, const uint32_t *ids, size_t count, bool skip_special, buffer_t *text)
{
    array_t kept;
    array_init (&kept, sizeof (uint32_t));
    for (size_t i = 0; i < count; i++)
        if (!skip_special || !tokenizer_is_special (self, ids [i]))
            array_append (&kept, &ids [i], 1);
    chain_decode (&self->decoder, self->written, kept.data, kept.count, text);
    array_fini (&kept);
}

void
tokenizer_decode_text (const tokenizer_t *self, const uint32_t *ids, size_t count, bool skip_special, buffer_t *text)
{
    if (self->decoder.whole || self->decoder.falls_back) {
        s_say_all (self, ids, count, skip_special, text);
        return;
    }
    detokenizer_t detokenizer;
    detokenizer_init (&detokenizer, self, skip_special);
    for (size_t i = 0; i < count; i++)
        detokenizer_push (&detokenizer, ids [i], text);
    detokenizer_finish (&detokenizer, text);
}

void
tokenizer_decode (const tokenizer_t *self, const uint32_t *ids, size_t count, bool skip_special, buffer_t *bytes)
{
    if (self->decoder.whole) {
        s_say_all (self, ids, count, skip_special, bytes);
        return;
    }
    detokenizer_t detokenizer;
    detokenizer_init (&detokenizer, self, skip_special);
    for (size_t i = 0; i < count; i++)
        buffer_append (bytes, s_say (&detokenizer, ids [i], bytes));
}

void
detokenizer_init (detokenizer_t *self, const tokenizer_t *tokenizer, bool skip_special)
{
    *self = (detokenizer_t){
        .tokenizer = tokenizer, .skip_special = skip_special, .last = TOKEN_NONE, .strip = tokenizer->decoder.strip
    };
    array_init (&self->waiting, sizeof (uint32_t));
}

void
detokenizer_push (detokenizer_t *self, uint32_t id, buffer_t *text)
{
    if (self->tokenizer->decoder.whole) {
        array_append (&self->waiting, &id, 1);
        return;
    }
    span_t said = s_say (self, id, text);
    if (said.size == 0)
        return;
    if (self->pending_size == 0 && utf8_is_valid (said)) {
        buffer_append (text, said);
        return;
    }
    buffer_t bytes = { 0 };
    buffer_append (&bytes, span_of (self->pending, self->pending_size));
    buffer_append (&bytes, said);
    self->pending_size = (uint8_t)decoder_append_text (buffer_span (&bytes), text);
    if (self->pending_size)
        memcpy (self->pending, bytes.data + bytes.size - self->pending_size, self->pending_size);
    buffer_fini (&bytes);
}

void
detokenizer_finish (detokenizer_t *self, buffer_t *text)
{
    if (self->pending_size)
        buffer_append (text, SPAN ("\xef\xbf\xbd"));
    self->pending_size = 0;
    if (self->waiting.count)
        s_say_all (self->tokenizer, self->waiting.data, self->waiting.count, self->skip_special, text);
    array_fini (&self->waiting);
}
