//  The `engine` encoding: a worker of the model renders the conversation with its engine's chat template and tokenises
//  the prompt with its engine's tokenizer.  Slower than doing it here, and right for any engine.

#include "actors/frontend/encoder.h"

#include "base/memory.h"
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

//  ---- Work on what a worker answered --------------------------------------------------------------------------------

//  Bytes that are worked on at once.
enum { WORK_MAX = SOCKET_KEEP_MIN };

typedef void (encoding_run_fn) (encoding_work_t *self);
typedef void (encoding_then_fn) (encoding_t *self, encoding_work_t *work);

//  What is made of an answer.  It is the job's while that runs.
struct encoding_work {
    encoding_t *encoding;      //  Whose; NULL: nobody wants it any more
    encoding_run_fn *run;      //  The work; touches nothing but what follows
    encoding_then_fn *then;    //  How it goes on
    char *model;               //  Name of the model
    span_t prompt;             //  To tokenize
    column_t ids;              //  Its tokens, as they came
    keeper_t keeper;           //  Of either; keeps nothing where they are few
    buffer_t question;         //  Made of the prompt
    array_t tokens;            //  Made of the ids
};

static encoding_work_t *
s_new (encoding_run_fn *run, encoding_then_fn *then)
{
    encoding_work_t *self = memory_new (sizeof *self);
    *self = (encoding_work_t){ .run = run, .then = then };
    array_init (&self->tokens, sizeof (uint32_t));
    return self;
}

static void
s_free (encoding_work_t *self)
{
    keeper_release (&self->keeper);
    buffer_fini (&self->question);
    array_fini (&self->tokens);
    memory_free (self->model);
    memory_free (self);
}

static void
s_on_job (void *data)
{
    encoding_work_t *work = data;
    work->run (work);
    keeper_release (&work->keeper);
}

static void
s_on_job_done (void *arg, void *data)
{
    encoding_work_t *work = data;
    encoding_t *self = work->encoding;
    if (self) {
        self->work = NULL;
        work->then (self, work);
    }
    s_free (work);
}

//  Takes the work, of so many bytes of the reply that is handed over.
static void
s_work (encoding_t *self, encoding_work_t *work, size_t size)
{
    port_t *port = actor_port (self->actor);
    work->encoding = self;
    if (size < WORK_MAX) {
        s_on_job (work);
        s_on_job_done (NULL, work);
        return;
    }
    self->work = work;
    work->keeper = call_keep (self->actor);
    port->table->job_start (port, s_on_job, s_on_job_done, NULL, work);
}

static void
s_drop (encoding_t *self)
{
    call_drop (&self->call);
    if (self->work)
        self->work->encoding = NULL;
    self->work = NULL;
}

//  ---- Tokens --------------------------------------------------------------------------------------------------------

static void
s_copy_ids (encoding_work_t *self)
{
    uint32_t *tokens = array_append (&self->tokens, NULL, self->ids.count);
    for (size_t i = 0; i < self->ids.count; i++)
        tokens [i] = column_u32 (self->ids, i);
}

static void
s_take_tokens (encoding_t *self, encoding_work_t *work)
{
    array_t empty = *self->tokens;
    *self->tokens = work->tokens;
    work->tokens = empty;
    encoding_complete (self, NULL);
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
    encoding_work_t *work = s_new (s_copy_ids, s_take_tokens);
    work->ids = reply->tokens;
    s_work (self, work, reply->tokens.count * sizeof (uint32_t));
}

//  ---- The prompt ----------------------------------------------------------------------------------------------------

static void
s_write_tokenize (encoding_work_t *self)
{
    tokenize_t request = { .model = span_from_string (self->model), .text = self->prompt };
    message_encode (&tokenize_message, &request, &self->question);
}

static void
s_ask_tokenize (encoding_t *self, encoding_work_t *work)
{
    call_start (&self->call, self->actor,
        &(call_options_t){ .address = span_from_string (self->worker),
            .type = &tokenize_message,
            .encoded = &work->question,
            .timeout_ns = ENCODE_TIMEOUT_NS,
            .done = s_on_tokenized,
            .arg = self });
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
    encoding_work_t *work = s_new (s_write_tokenize, s_ask_tokenize);
    work->model = memory_copy (self->model.data, self->model.size);
    work->prompt = reply->prompt;
    s_work (self, work, reply->prompt.size);
}

//  ---- The conversation ----------------------------------------------------------------------------------------------

static void
s_write (span_t model, span_t conversation, buffer_t *question)
{
    message_encode (&render_message, &(render_t){ .model = model, .request = conversation }, question);
}

static void
s_start (encoding_t *self, buffer_t *question)
{
    call_start (&self->call, self->actor,
        &(call_options_t){ .address = span_from_string (self->worker),
            .type = &render_message,
            .encoded = question,
            .timeout_ns = ENCODE_TIMEOUT_NS,
            .done = s_on_rendered,
            .arg = self });
}

const encoder_t encoder_engine = { .name = "engine", .write = s_write, .start = s_start, .drop = s_drop };
