//  detokenizer - what tokens say, one after the other

#include <string.h>

#include "base/utf8.h"
#include "model/tokenizer/body.h"

//  What a token says where it stands: not what it says elsewhere, where a text begins with it.
static span_t
s_text (detokenizer_t *self, uint32_t id)
{
    const tokenizer_t *tokenizer = self->tokenizer;
    bool begins = self->last == TOKEN_NONE, again = tokenizer->repeats && self->last == id;
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
    if (!self->tokenizer->holds || !said.size)
        return said;
    if (self->held)
        buffer_append_byte (bytes, ' ');
    const vocabulary_t *vocabulary = self->tokenizer->vocabulary;
    self->held = s_ends_in_space (said) && vocabulary_has (vocabulary, id) &&
                 !s_ends_in_space (vocabulary_bytes (vocabulary, id));
    return span_slice (said, 0, said.size - self->held);
}

void
tokenizer_decode (const tokenizer_t *self, const uint32_t *ids, size_t count, bool skip_special, buffer_t *bytes)
{
    detokenizer_t detokenizer;
    detokenizer_init (&detokenizer, self, skip_special);
    for (size_t i = 0; i < count; i++)
        buffer_append (bytes, s_say (&detokenizer, ids [i], bytes));
}

void
detokenizer_init (detokenizer_t *self, const tokenizer_t *tokenizer, bool skip_special)
{
    *self = (detokenizer_t){
        .tokenizer = tokenizer, .skip_special = skip_special, .last = TOKEN_NONE, .strip = tokenizer->strip
    };
}

//  Appends bytes, what is no text replaced; returns how many at the end may still become a character.
static size_t
s_append_text (span_t bytes, buffer_t *text)
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

void
detokenizer_push (detokenizer_t *self, uint32_t id, buffer_t *text)
{
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
    self->pending_size = (uint8_t)s_append_text (buffer_span (&bytes), text);
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
}
