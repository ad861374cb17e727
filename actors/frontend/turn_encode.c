#include <inttypes.h>

#include "actors/frontend/turn_private.h"
#include "base/memory.h"

//  Room for an answer that asks for more than there is, is what there is.
static bool
s_check_context (turn_t *self, size_t tokens, api_error_t *error)
{
    const sampling_t *sampling = &self->request.sampling;
    if (tokens > UINT32_MAX / 2)
        return api_error_set (error, API_TOO_LARGE, "messages", "The prompt has more tokens than can be counted.");
    uint32_t prompt = (uint32_t)tokens;
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

//  Work: the tokens, where they are made here, and their hashes.
static void
s_prepare (turn_t *self)
{
    const encoder_t *encoder = self->encoder;
    if (encoder->fill)
        encoder->fill (&self->request, array_append (&self->tokens, NULL, self->prompt_tokens));
    turn_extend_chain (self);
}

//  Of a prompt that does not fit no token is made, where that is known before.
static void
s_check_and_route (turn_t *self, size_t tokens)
{
    api_error_t problem;
    if (s_check_context (self, tokens, &problem))
        turn_work (self, tokens, s_prepare, turn_route);
    else
        turn_fail (self, &problem);
}

void
turn_drop_encoding (turn_t *self)
{
    if (!self->encoding)
        return;
    encoding_drop (self->encoding);
    memory_free (self->encoding);
    self->encoding = NULL;
}

static void
s_on_encoded (void *state, void *arg, const api_error_t *error)
{
    turn_t *self = arg;
    self->prompt_tokens = (uint32_t)self->tokens.count;
    if (!error) {
        turn_drop_encoding (self);
        s_check_and_route (self, self->tokens.count);
    } else if (error->kind == API_INVALID_VALUE)
        turn_fail (self, error);
    else
        turn_encode_elsewhere (self, error);
}

//  Work.
static void
s_render (turn_t *self)
{
    buffer_t conversation = { 0 };
    chat_request_render (&self->request, &conversation);
    self->encoder->write (self->model_name, buffer_span (&conversation), &self->question);
    buffer_fini (&conversation);
}

//  A worker that serves the model now; empty, and the turn has failed, where there is none.
static span_t
s_find_worker (turn_t *self)
{
    frontend_t *frontend = self->frontend;
    const model_t *model = models_get (frontend->models, self->model_name, self->fingerprint);
    span_t worker = model ? models_worker (frontend->models, model, frontend->served + self->encodings) : SPAN ("");
    if (worker.size == 0)
        turn_fail_from (self, API_NO_WORKER, "The model exists, but nobody serves it now", "try again in some seconds");
    return worker;
}

static void
s_ask_worker (turn_t *self)
{
    span_t worker = s_find_worker (self);
    if (worker.size == 0)
        return;
    turn_drop_encoding (self);
    encoding_t *encoding = self->encoding = memory_new (sizeof *encoding);
    *encoding = (encoding_t){ .actor = self->frontend->actor,
        .encoder = self->encoder,
        .model = self->model_name,
        .tokens = &self->tokens,
        .done = s_on_encoded,
        .arg = self };
    span_copy_string (worker, encoding->worker, sizeof encoding->worker);
    call_trace (&encoding->call, span_from_string (self->trace));
    encoding_start (encoding, &self->question);
}

//  ---- Made here -----------------------------------------------------------------------------------------------------

//  NULL: it is the engine's to make.
static local_model_t *
s_find_local (const turn_t *self)
{
    local_model_t *local = locals_find (&self->frontend->locals, self->model_name, self->fingerprint);
    return local && !self->local_failed && local_model_takes (local, &self->request) ? local : NULL;
}

static void
s_leave_to_engine (turn_t *self)
{
    self->local_failed = true;
    turn_encode (self);
}

static void
s_read_answer (turn_t *self, const local_result_t *result)
{
    answer_read (&self->answer, &(speech_setup_t){ .format = result->format.format,
                                    .reasoning = result->format.reasoning,
                                    .prefill = result->prefill,
                                    .tools = self->tools,
                                    .seed = hash_bytes (span_from_string (self->completion_id), 0),
                                    .calls_before = self->calls_before });
}

//  What goes wrong here may go well there, and if not, the engine's sentence is the one that counts.
static void
s_on_made (void *arg, const local_result_t *result)
{
    turn_t *self = arg;
    if (result->status) {
        s_leave_to_engine (self);
        return;
    }
    array_t empty = self->tokens;
    self->tokens = *result->tokens;
    *result->tokens = empty;
    self->prompt_tokens = (uint32_t)self->tokens.count;
    self->chain = *result->chain;
    *result->chain = NULL;
    s_read_answer (self, result);
    local_model_t *local = s_find_local (self);
    if (local)
        local_model_made (local, &self->request, &self->tokens);
    s_check_and_route (self, self->tokens.count);
}

//  Work.
static void
s_build_variables (turn_t *self)
{
    self->variables = chat_request_context (&self->request);
    self->calls_before = chat_context_calls (self->variables);
    self->tools = chat_request_tools (&self->request);
}

static void
s_make_here (turn_t *self)
{
    local_model_t *local = s_find_local (self);
    if (!local) {
        s_leave_to_engine (self);
        return;
    }
    json_t *variables = self->variables;
    self->variables = NULL;
    local_model_encode (local, variables, self->request.arena.used, s_on_made, self, &self->local);
}

//  ---- Whichever way -------------------------------------------------------------------------------------------------

void
turn_encode (turn_t *self)
{
    if (s_find_local (self)) {
        if (s_find_worker (self).size)
            turn_work (self, self->request.arena.used, s_build_variables, s_make_here);
    } else if (!self->encoder->count)
        turn_work (self, self->request.arena.used, s_render, s_ask_worker);
    else if (s_find_worker (self).size)
        s_check_and_route (self, self->encoder->count (&self->request));
}
