//  The `bytes` encoding: a token is a byte, and a conversation is rendered like ChatML.  It needs no engine and no model,
//  and is the same everywhere, which is what simulated fleets want.

#include "actors/frontend/encoder.h"

typedef struct {
    uint32_t *tokens;    //  Where they go; NULL: they are counted only
    size_t count;        //  So far
} prompt_t;

static void
s_put (prompt_t *self, span_t text)
{
    for (size_t i = 0; self->tokens && i < text.size; i++)
        self->tokens [self->count + i] = text.data [i];
    self->count += text.size;
}

static void
s_render_message (prompt_t *self, const chat_message_t *message)
{
    s_put (self, SPAN ("<|im_start|>"));
    s_put (self, message->role);
    s_put (self, SPAN ("\n"));
    if (message->reasoning.size) {
        s_put (self, SPAN ("<think>\n"));
        s_put (self, message->reasoning);
        s_put (self, SPAN ("\n</think>\n"));
    }
    s_put (self, message->content);
    if (message->tool_calls.size) {
        s_put (self, SPAN ("\n<tool_calls>"));
        s_put (self, message->tool_calls);
        s_put (self, SPAN ("</tool_calls>"));
    }
    s_put (self, SPAN ("<|im_end|>\n"));
}

static size_t
s_render (const chat_request_t *request, uint32_t *tokens)
{
    prompt_t prompt = { tokens, 0 };
    if (request->tools.size) {
        s_put (&prompt, SPAN ("<|im_start|>tools\n"));
        s_put (&prompt, request->tools);
        s_put (&prompt, SPAN ("<|im_end|>\n"));
    }
    for (size_t i = 0; i < request->message_count; i++)
        s_render_message (&prompt, &request->messages [i]);
    s_put (&prompt, SPAN ("<|im_start|>assistant\n"));
    return prompt.count;
}

static size_t
s_count (const chat_request_t *request)
{
    return s_render (request, NULL);
}

static void
s_fill (const chat_request_t *request, uint32_t *tokens)
{
    s_render (request, tokens);
}

//  A token beyond 255 is no byte of anybody's text.
static void
s_text (column_t tokens, buffer_t *out)
{
    for (size_t i = 0; i < tokens.count; i++) {
        uint32_t token = column_u32 (tokens, i);
        buffer_append_byte (out, token < 256 ? (uint8_t)token : 0xff);
    }
}

const encoder_t encoder_bytes = { .name = "bytes", .count = s_count, .fill = s_fill, .text = s_text };
