#include <inttypes.h>

#include "actors/frontend/turn_private.h"

//  Room for an answer that asks for more than there is, is what there is.
static bool
s_check_context (turn_t *self, api_error_t *error)
{
    const sampling_t *sampling = &self->request.sampling;
    if (self->tokens.count > UINT32_MAX / 2)
        return api_error_set (error, API_TOO_LARGE, "messages", "The prompt has more tokens than can be counted.");
    uint32_t prompt = (uint32_t)self->tokens.count;
    uint32_t context = self->context ? self->context : UINT32_MAX / 2;
    if (prompt >= context)
        return api_error_set (error, API_CONTEXT_LENGTH, "messages",
            "This model's maximum context length is %" PRIu32 " tokens. However, your messages resulted in %" PRIu32
            " tokens. Please reduce the length of the messages.",
            context, prompt);
    uint32_t room = context - prompt;
    self->prompt_tokens = prompt;
    self->max_tokens = sampling->has_max_tokens && sampling->max_tokens < room ? sampling->max_tokens : room;
    return true;
}

static void
s_on_encoded (void *state, void *arg, const api_error_t *error)
{
    turn_t *self = arg;
    api_error_t problem;
    self->prompt_tokens = (uint32_t)self->tokens.count;
    bool helper_failed = error && error->kind != API_INVALID_VALUE && self->encoder->needs_worker;
    if (helper_failed && ++self->encodings < self->frontend->options.attempts)
        turn_encode (self);
    else if (error)
        turn_fail (self, error);
    else if (!s_check_context (self, &problem))
        turn_fail (self, &problem);
    else
        turn_route (self);
}

void
turn_encode (turn_t *self)
{
    frontend_t *frontend = self->frontend;
    const model_t *model = models_get (frontend->models, self->model_name, self->fingerprint);
    span_t worker = model ? models_worker (frontend->models, model, frontend->served + self->encodings) : SPAN ("");
    if (worker.size == 0) {
        turn_fail_from (self, API_NO_WORKER, "The model exists, but nobody serves it now", "try again in some seconds");
        return;
    }
    self->encoding = (encoding_t){ .actor = frontend->actor,
        .encoder = self->encoder,
        .model = self->model_name,
        .tokens = &self->tokens,
        .done = s_on_encoded,
        .arg = self };
    span_copy_string (worker, self->encoding.worker, sizeof self->encoding.worker);
    call_trace (&self->encoding.call, span_from_string (self->trace));
    encoding_start (&self->encoding, &self->request);
}
