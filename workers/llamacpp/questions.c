//  Questions: what prompt a conversation makes, and which tokens a text has
//
//  Either may be as large as a message, and its answer larger.  So the body of a question is written, and its answer read and
//  made a reply, by a job where that takes long, and no large text is copied elsewhere.  The question is the job's while it
//  runs; where the engine is closed meanwhile, nobody is told.

#include "base/memory.h"
#include "schemas/worker.h"
#include "workers/llamacpp/llamacpp_private.h"

//  WORK_MAX: bytes that are worked on at once, a millisecond.  MEMORY_FACTOR: what that takes for each, beside themselves.
enum { ANSWER_MAX = 256 << 20, WORK_MAX = 128 << 10, MEMORY_FACTOR = 4 };

static const uint64_t QUESTION_NS = 60000000000;

typedef status_t (answer_reader_fn) (span_t body, buffer_t *out, error_t *error);

typedef struct question question_t;
typedef void (question_step_fn) (question_t *self);

struct question {
    list_link_t link;          //  In the engine
    engine_t *engine;          //  In which; NULL: it is closed
    answer_reader_fn *read;    //  What its answer is
    bool tokenizes;            //  Tokens, not a prompt
    engine_answer_fn *done;    //  Who is told
    void *arg;                 //  For done
    uint64_t charged;          //  Of the actor's budget
    question_step_fn *work;    //  What a job does for it; NULL: no job is under way
    question_step_fn *then;    //  How it goes on
    buffer_t front;            //  What the prompt is to begin with; empty: nothing
    int code;                  //  HTTP status of the answer
    span_t asked;              //  What is asked, until its body is written
    keeper_t keeper;           //  Of that
    buffer_t text;             //  What is asked where nobody keeps it, its body, the answer or the reply
    status_t status;           //  Whether it says that,
    error_t error;             //  and why not
};

static question_t *
s_new (engine_t *engine, answer_reader_fn *read, engine_answer_fn *done, void *arg)
{
    question_t *self = memory_new (sizeof *self);
    *self = (question_t){ .engine = engine, .read = read, .done = done, .arg = arg };
    error_clear (&self->error);
    list_append (&engine->asked, &self->link);
    return self;
}

static void
s_free (question_t *self)
{
    buffer_fini (&self->front);
    keeper_release (&self->keeper);
    buffer_fini (&self->text);
    memory_free (self);
}

static void
s_leave (question_t *self)
{
    budget_give (actor_budget (self->engine->actor), self->charged);
    list_remove (&self->engine->asked, &self->link);
    self->engine = NULL;
}

void
questions_drop (engine_t *engine)
{
    for (list_link_t *link; (link = list_first (&engine->asked));) {
        question_t *self = LIST_ENTRY (link, question_t, link);
        s_leave (self);
        if (!self->work)
            s_free (self);
    }
}

static void
s_end (question_t *self)
{
    self->done (self->arg, self->status, self->error.text, &self->text);
    s_leave (self);
    s_free (self);
}

//  False, and it has ended, where there is no room.
static bool
s_charge (question_t *self, uint64_t bytes)
{
    self->status = budget_take (actor_budget (self->engine->actor), bytes, &self->error);
    if (self->status) {
        buffer_clear (&self->text);
        s_end (self);
        return false;
    }
    self->charged += bytes;
    return true;
}

//  ---- Working -------------------------------------------------------------------------------------------------------

static void
s_on_job (void *data)
{
    question_t *self = data;
    self->work (self);
}

static void
s_on_job_done (void *arg, void *data)
{
    question_t *self = data;
    self->work = NULL;
    if (self->engine)
        self->then (self);
    else
        s_free (self);
}

//  Calls `work`, in a job where so many bytes make it long, then `then`.  Work touches the question alone.
static void
s_work (question_t *self, size_t size, question_step_fn *work, question_step_fn *then)
{
    if (size <= WORK_MAX) {
        work (self);
        then (self);
        return;
    }
    port_t *port = actor_port (self->engine->actor);
    self->work = work;
    self->then = then;
    port->table->job_start (port, s_on_job, s_on_job_done, NULL, self);
}

//  ---- The answer ----------------------------------------------------------------------------------------------------

//  Templates refuse by raising an error of their own, which comes as an internal one.
static status_t
s_read_error (question_t *self)
{
    status_t status = wire_read_error (self->code, buffer_span (&self->text), &self->error);
    return status == STATUS_INTERNAL ? STATUS_INVALID : status;
}

//  What it says, behind what it is to begin with where it does not already.
static status_t
s_read_text (question_t *self, buffer_t *out)
{
    size_t front = self->front.size;
    buffer_append (out, buffer_span (&self->front));
    status_t status = self->read (buffer_span (&self->text), out, &self->error);
    if (status == STATUS_OK &&
        span_starts_with (span_slice (buffer_span (out), front, SIZE_MAX), buffer_span (&self->front)))
        buffer_drop_front (out, front);
    return status;
}

static void
s_write_reply (const question_t *self, span_t said, buffer_t *reply)
{
    tokenize_reply_t tokens = { .tokens = { said.data, said.size / sizeof (uint32_t) } };
    render_reply_t prompt = { .prompt = said };
    if (self->tokenizes)
        message_encode (&tokenize_reply_message, &tokens, reply);
    else
        message_encode (&render_reply_message, &prompt, reply);
}

//  Work.
static void
s_read (question_t *self)
{
    buffer_t said = { 0 };
    self->status = self->code == 200 ? s_read_text (self, &said) : s_read_error (self);
    buffer_fini (&self->text);
    if (self->status == STATUS_OK)
        s_write_reply (self, buffer_span (&said), &self->text);
    buffer_fini (&said);
}

static void
s_on_answer (void *arg, status_t status, const char *why, int code, buffer_t *body)
{
    question_t *self = arg;
    if (status) {
        self->status = error_set (&self->error, STATUS_UNREACHABLE, "the engine cannot be reached: %s", why);
        s_end (self);
        return;
    }
    self->code = code;
    self->text = *body;
    self->charged += body->size;
    *body = (buffer_t){ 0 };
    if (s_charge (self, (uint64_t)self->text.size * MEMORY_FACTOR))
        s_work (self, self->text.size, s_read, s_end);
}

//  ---- The question --------------------------------------------------------------------------------------------------

static void
s_ask (question_t *self, const char *path, span_t body, keeper_t *keeper)
{
    http_question_t question = { .path = path,
        .body = body,
        .keeper = keeper,
        .total_ns = QUESTION_NS,
        .answer_max = ANSWER_MAX,
        .done = s_on_answer,
        .arg = self };
    http_ask (&self->engine->questions, &question);
}

void
questions_render (engine_t *engine, span_t conversation, keeper_t keeper, engine_answer_fn *done, void *arg)
{
    question_t *self = s_new (engine, wire_read_prompt, done, arg);
    if (engine->begins)
        buffer_append (&self->front, buffer_span (&engine->facts.bos));
    s_ask (self, "/apply-template", conversation, &keeper);
}

//  Work.
static void
s_write_tokenize (question_t *self)
{
    buffer_t body = { 0 };
    wire_write_tokenize (&body, self->asked, false);
    keeper_release (&self->keeper);
    buffer_fini (&self->text);
    self->text = body;
}

static void
s_ask_tokenize (question_t *self)
{
    span_t body = buffer_span (&self->text);
    keeper_t keeper = keeper_of_buffer (&self->text);
    s_ask (self, "/tokenize", body, &keeper);
    budget_give (actor_budget (self->engine->actor), self->charged);
    self->charged = 0;
}

void
questions_tokenize (engine_t *engine, span_t text, keeper_t keeper, engine_answer_fn *done, void *arg)
{
    question_t *self = s_new (engine, wire_read_tokens, done, arg);
    self->tokenizes = true;
    self->keeper = keeper;
    if (!s_charge (self, (uint64_t)text.size * (1 + MEMORY_FACTOR)))
        return;
    if (!keeper.release)
        buffer_append (&self->text, text);
    self->asked = keeper.release ? text : buffer_span (&self->text);
    s_work (self, text.size, s_write_tokenize, s_ask_tokenize);
}
