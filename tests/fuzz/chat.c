//  Feeds bytes to the reader of chat requests and hints, as a frontend does with a body that a client sent, and writes
//  what it made of them.

#include <stdbool.h>

#include "actors/frontend/chat_request.h"
#include "base/bug.h"
#include "hints/hints.h"
#include "tests/fuzz/fuzz.h"

//  What a template is given has every message.
static void
s_give (const chat_request_t *request)
{
    json_t *context = chat_request_context (request);
    BUG_ON (json_count (json_get (context, "messages")) != request->message_count);
    json_destroy (&context);
}

static void
s_read (const json_t *body, size_t size)
{
    chat_request_t request;
    api_error_t error;
    buffer_t text = { 0 };
    if (chat_request_parse (&request, body, size, &error)) {
        chat_request_render (&request, &text);
        s_give (&request);
    } else
        api_error_render (&error, &text);
    chat_request_fini (&request);
    buffer_fini (&text);
}

static void
s_hint (const json_t *body, span_t bytes)
{
    arena_t arena;
    hints_t hints;
    envelope_t envelope;
    buffer_t text = { 0 };
    arena_init (&arena, 1 << 16);
    hints_init (&hints, &arena);
    hints_read_header (&hints, SPAN ("x-session-id"), bytes);
    hints_read_header (&hints, SPAN ("x-vllm-priority"), bytes);
    hints_read_body (&hints, body);
    hints_choose (&hints, &envelope);
    hints_close (&hints);
    hints_render (&hints, &text);
    buffer_fini (&text);
    arena_fini (&arena);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    json_t *body = NULL;
    if (json_parse (span_of (data, size), &body, NULL))
        return 0;
    s_read (body, size);
    s_hint (body, span_of (data, size));
    json_destroy (&body);
    return 0;
}
