//  The `engine` encoding: a worker of the model renders the conversation with its engine's chat template and tokenises
//  the prompt with its engine's tokenizer.  Slower than doing it here, and right for any engine.

#include "actors/frontend/encoder.h"

#include "schemas/worker.h"

static const uint64_t ENCODE_TIMEOUT_NS = 60000000000;

//  What the engine refuses is the client's to mend; that nobody answers is not.
static void
s_fail (encoding_t *self, call_result_t result)
{
    const error_t *why = call_error (&self->call);
    bool refused = result == CALL_FAILED && why->status == STATUS_INVALID;
    api_error_t error;
    if (refused)
        api_error_set (
            &error, API_INVALID_VALUE, "messages", "The engine cannot render this conversation: %s.", why->text);
    else
        api_error_set (&error, api_error_from_status (result == CALL_DEADLINE ? STATUS_DEADLINE : why->status), NULL,
            "No worker could read the conversation: %s.", why->text);
    encoding_complete (self, &error);
}

static void
s_on_tokenized (void *state, void *arg, call_result_t result, const void *reply_)
{
    encoding_t *self = arg;
    const tokenize_reply_t *reply = reply_;
    if (result != CALL_REPLIED) {
        s_fail (self, result);
        return;
    }
    uint32_t *tokens = array_append (self->tokens, NULL, reply->tokens.count);
    for (size_t i = 0; i < reply->tokens.count; i++)
        tokens [i] = column_u32 (reply->tokens, i);
    encoding_complete (self, NULL);
}

static void
s_on_rendered (void *state, void *arg, call_result_t result, const void *reply_)
{
    encoding_t *self = arg;
    const render_reply_t *reply = reply_;
    if (result != CALL_REPLIED) {
        s_fail (self, result);
        return;
    }
    tokenize_t request = { .model = self->model, .text = reply->prompt };
    call_start (&self->call, self->actor, span_from_string (self->worker), &tokenize_message, &request,
        ENCODE_TIMEOUT_NS, s_on_tokenized, self);
}

static void
s_start (encoding_t *self, span_t conversation)
{
    render_t call = { .model = self->model, .request = conversation };
    call_start (&self->call, self->actor, span_from_string (self->worker), &render_message, &call, ENCODE_TIMEOUT_NS,
        s_on_rendered, self);
}

const encoder_t encoder_engine = { .name = "engine", .start = s_start };
