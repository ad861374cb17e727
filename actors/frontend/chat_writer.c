#include "actors/frontend/chat_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "base/memory.h"

//  How a chunk ends: its delta where nothing is finished, and all of it, without and with counts to come.
#define DELTA_END "},\"logprobs\":null,\"finish_reason\":null}]"
#define TAIL "}\n\n"
#define USAGE_TAIL ",\"usage\":null}\n\n"

//  "id":...,"object":OBJECT,"created":...,"model":...,"system_fingerprint":... with the brace before it.
static void
s_write_head (const chat_identity_t *identity, const char *object, buffer_t *out)
{
    buffer_append_string (out, "{\"id\":\"");
    json_escape (out, identity->id);
    buffer_print (out, "\",\"object\":\"%s\",\"created\":%" PRIu64 ",\"model\":\"", object, identity->created_s);
    json_escape (out, identity->model);
    buffer_print (out, "\",\"system_fingerprint\":\"fp_%016" PRIx64 "\"", identity->fingerprint);
}

void
chat_writer_init (chat_writer_t *self, const chat_identity_t *identity)
{
    *self = (chat_writer_t){ .delta_end = SPAN (DELTA_END TAIL), .tail = SPAN (TAIL) };
    if (identity->include_usage) {
        self->delta_end = SPAN (DELTA_END USAGE_TAIL);
        self->tail = SPAN (USAGE_TAIL);
    }
    s_write_head (identity, "chat.completion", &self->head);
    buffer_append_string (&self->chunk, "data: ");
    s_write_head (identity, "chat.completion.chunk", &self->chunk);
    buffer_append_string (&self->chunk, ",\"choices\":[");
    self->chunk_start = self->chunk.size;
    buffer_append_string (&self->chunk, "{\"index\":0,\"delta\":{");
}

void
chat_writer_fini (chat_writer_t *self)
{
    buffer_fini (&self->head);
    buffer_fini (&self->chunk);
}

void
chat_writer_expect (const chat_writer_t *self)
{
    memory_expect (self->chunk.data, self->chunk.size);
}

//  ---- Pieces --------------------------------------------------------------------------------------------------------

void
chat_write_role (const chat_writer_t *self, buffer_t *out)
{
    buffer_append (out, buffer_span (&self->chunk));
    buffer_append (out, SPAN ("\"role\":\"assistant\",\"content\":\"\""));
    buffer_append (out, self->delta_end);
}

//  before, behind: what stands around the text in the delta.
static void
s_write_piece (const chat_writer_t *self, span_t before, span_t text, span_t behind, buffer_t *out)
{
    buffer_reserve (out, self->chunk.size + before.size + text.size + behind.size + self->delta_end.size);
    buffer_append (out, buffer_span (&self->chunk));
    buffer_append (out, before);
    json_escape (out, text);
    buffer_append (out, behind);
    buffer_append (out, self->delta_end);
}

void
chat_write_text (const chat_writer_t *self, span_t text, buffer_t *out)
{
    s_write_piece (self, SPAN ("\"content\":\""), text, SPAN ("\""), out);
}

void
chat_write_reasoning (const chat_writer_t *self, span_t text, buffer_t *out)
{
    s_write_piece (self, SPAN ("\"reasoning_content\":\""), text, SPAN ("\""), out);
}

//  "id":...,"type":"function","function":{"name":...,"arguments":" : an open string.
static void
s_open_call (const chat_call_t *call, buffer_t *out)
{
    buffer_append_string (out, "\"id\":\"");
    json_escape (out, call->id);
    buffer_append_string (out, "\",\"type\":\"function\",\"function\":{\"name\":\"");
    json_escape (out, call->name);
    buffer_append_string (out, "\",\"arguments\":\"");
}

void
chat_write_call (const chat_writer_t *self, const chat_call_t *call, buffer_t *out)
{
    buffer_append (out, buffer_span (&self->chunk));
    buffer_print (out, "\"tool_calls\":[{\"index\":%" PRIu32 ",", call->index);
    s_open_call (call, out);
    buffer_append (out, SPAN ("\"}}]"));
    buffer_append (out, self->delta_end);
}

void
chat_write_arguments (const chat_writer_t *self, uint32_t index, span_t json, buffer_t *out)
{
    char before [80];
    snprintf (before, sizeof before, "\"tool_calls\":[{\"index\":%" PRIu32 ",\"function\":{\"arguments\":\"", index);
    s_write_piece (self, span_from_string (before), json, SPAN ("\"}}]"), out);
}

void
chat_begin_call (const chat_call_t *call, buffer_t *calls)
{
    buffer_append_string (calls, calls->size ? ",{" : "{");
    s_open_call (call, calls);
}

void
chat_end_call (buffer_t *calls)
{
    buffer_append_string (calls, "\"}}");
}

void
chat_write_finish (const chat_writer_t *self, const char *reason, buffer_t *out)
{
    buffer_append (out, buffer_span (&self->chunk));
    buffer_print (out, "},\"logprobs\":null,\"finish_reason\":\"%s\"}]", reason);
    buffer_append (out, self->tail);
}

static void
s_write_counts (const usage_t *usage, buffer_t *out)
{
    buffer_print (out,
        "\"usage\":{\"prompt_tokens\":%" PRIu32 ",\"completion_tokens\":%" PRIu32 ",\"total_tokens\":%" PRIu64
        ",\"prompt_tokens_details\":{\"cached_tokens\":%" PRIu32 "}}",
        usage->prompt, usage->completion, (uint64_t)usage->prompt + usage->completion, usage->cached);
}

void
chat_write_usage (const chat_writer_t *self, const usage_t *usage, buffer_t *out)
{
    buffer_append (out, span_slice (buffer_span (&self->chunk), 0, self->chunk_start));
    buffer_append_string (out, "],");
    s_write_counts (usage, out);
    buffer_append_string (out, "}\n\n");
}

void
chat_write_done (buffer_t *out)
{
    buffer_append_string (out, "data: [DONE]\n\n");
}

void
chat_write_error (const api_error_t *error, buffer_t *out)
{
    buffer_append_string (out, "data: ");
    api_error_render (error, out);
    buffer_append_string (out, "\n\n");
}

void
chat_write_comment (span_t text, buffer_t *out)
{
    buffer_append_string (out, ": ");
    buffer_append (out, text);
    buffer_append_string (out, "\n\n");
}

//  ---- The whole -----------------------------------------------------------------------------------------------------

//  Clients take a call without text to have null for it.
static void
s_write_message (const chat_said_t *said, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "role");
    json_write_string (&json, SPAN ("assistant"));
    json_write_key (&json, "content");
    if (said->calls.size && !said->text.size)
        json_write_null (&json);
    else
        json_write_string (&json, said->text);
    json_write_key (&json, "refusal");
    json_write_null (&json);
    if (said->reasoning.size) {
        json_write_key (&json, "reasoning_content");
        json_write_string (&json, said->reasoning);
    }
    if (said->calls.size) {
        json_write_key (&json, "tool_calls");
        json_write_begin_array (&json);
        json_write_raw (&json, said->calls);
        json_write_end_array (&json);
    }
    json_write_end_object (&json);
}

void
chat_write_completion (
    const chat_writer_t *self, const chat_said_t *said, const char *reason, const usage_t *usage, buffer_t *out)
{
    buffer_append (out, buffer_span (&self->head));
    buffer_append_string (out, ",\"choices\":[{\"index\":0,\"message\":");
    s_write_message (said, out);
    buffer_print (out, ",\"logprobs\":null,\"finish_reason\":\"%s\"}],", reason);
    s_write_counts (usage, out);
    buffer_append_string (out, "}");
}
