//  The `bytes` encoding: a token is a byte, and a conversation is rendered like ChatML.  It needs no engine and no model,
//  and is the same everywhere, which is what simulated fleets want.

#include "actors/frontend/encoder.h"

static void
s_render_message (const chat_message_t *message, buffer_t *out)
{
    buffer_append_string (out, "<|im_start|>");
    buffer_append (out, message->role);
    buffer_append_byte (out, '\n');
    if (message->reasoning.size) {
        buffer_append_string (out, "<think>\n");
        buffer_append (out, message->reasoning);
        buffer_append_string (out, "\n</think>\n");
    }
    buffer_append (out, message->content);
    if (message->tool_calls.size) {
        buffer_append_string (out, "\n<tool_calls>");
        buffer_append (out, message->tool_calls);
        buffer_append_string (out, "</tool_calls>");
    }
    buffer_append_string (out, "<|im_end|>\n");
}

static void
s_render (const chat_request_t *request, buffer_t *out)
{
    if (request->tools.size) {
        buffer_append_string (out, "<|im_start|>tools\n");
        buffer_append (out, request->tools);
        buffer_append_string (out, "<|im_end|>\n");
    }
    for (size_t i = 0; i < request->message_count; i++)
        s_render_message (&request->messages [i], out);
    buffer_append_string (out, "<|im_start|>assistant\n");
}

static void
s_start (encoding_t *self, const chat_request_t *request)
{
    buffer_t prompt = { 0 };
    s_render (request, &prompt);
    uint32_t *tokens = array_append (self->tokens, NULL, prompt.size);
    for (size_t i = 0; i < prompt.size; i++)
        tokens [i] = prompt.data [i];
    buffer_fini (&prompt);
    encoding_complete (self, NULL);
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

const encoder_t encoder_bytes = { .name = "bytes", .start = s_start, .text = s_text };
