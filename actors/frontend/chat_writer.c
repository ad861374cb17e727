#include "actors/frontend/chat_writer.h"

#include <inttypes.h>

#include "base/json_writer.h"

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
    *self = (chat_writer_t){ .tail = identity->include_usage ? ",\"usage\":null}\n\n" : "}\n\n" };
    s_write_head (identity, "chat.completion", &self->head);
    buffer_append_string (&self->chunk, "data: ");
    s_write_head (identity, "chat.completion.chunk", &self->chunk);
    buffer_append_string (&self->chunk, ",\"choices\":[");
}

void
chat_writer_fini (chat_writer_t *self)
{
    buffer_fini (&self->head);
    buffer_fini (&self->chunk);
}

//  ---- Pieces ----------------------------------------------------------------------------------------------------------

static void
s_begin_delta (const chat_writer_t *self, buffer_t *out)
{
    buffer_append (out, buffer_span (&self->chunk));
    buffer_append_string (out, "{\"index\":0,\"delta\":");
}

static void
s_end_delta (const chat_writer_t *self, buffer_t *out)
{
    buffer_append_string (out, ",\"logprobs\":null,\"finish_reason\":null}]");
    buffer_append_string (out, self->tail);
}

void
chat_write_role (const chat_writer_t *self, buffer_t *out)
{
    s_begin_delta (self, out);
    buffer_append_string (out, "{\"role\":\"assistant\",\"content\":\"\"}");
    s_end_delta (self, out);
}

void
chat_write_text (const chat_writer_t *self, span_t text, buffer_t *out)
{
    s_begin_delta (self, out);
    buffer_append_string (out, "{\"content\":\"");
    json_escape (out, text);
    buffer_append_string (out, "\"}");
    s_end_delta (self, out);
}

void
chat_write_finish (const chat_writer_t *self, const char *reason, buffer_t *out)
{
    s_begin_delta (self, out);
    buffer_print (out, "{},\"logprobs\":null,\"finish_reason\":\"%s\"}]", reason);
    buffer_append_string (out, self->tail);
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
    buffer_append (out, buffer_span (&self->chunk));
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

//  ---- The whole -------------------------------------------------------------------------------------------------------

void
chat_write_completion (const chat_writer_t *self, span_t text, const char *reason, const usage_t *usage, buffer_t *out)
{
    buffer_append (out, buffer_span (&self->head));
    buffer_append_string (out, ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"");
    json_escape (out, text);
    buffer_print (out, "\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"%s\"}],", reason);
    s_write_counts (usage, out);
    buffer_append_string (out, "}");
}
