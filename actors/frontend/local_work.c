//  One prompt after another: rendered, tokenised as far as it is new, hashed.

#include "actors/frontend/local_private.h"
#include "base/memory.h"

//  What is worked on at once, well under a millisecond where it is known.  A model's template may want any time.
enum {
    INLINE_MAX = 16 << 10,          //  Bytes of a conversation
    INLINE_STEPS_MAX = 100000,      //  Steps of its rendering
    INLINE_PROMPT_MAX = 64 << 10    //  Bytes of its prompt
};

//  What may take turns with others: no conversation holds up those of other clients for longer than its own size is worth,
//  beside some tens of milliseconds, and none for longer than some seconds.  Templates in use take less than a step a byte, but
//  for one that walks over texts by character and takes eight, and those that look at all messages for each of them.
enum { STEPS_MAX = 500000, STEPS_A_BYTE = 16, STEPS_IN_ALL = 128000000 };

static uint64_t
s_steps_max (const local_work_t *self, bool in_job)
{
    uint64_t steps = STEPS_MAX + STEPS_A_BYTE * (uint64_t)self->size;
    return !in_job ? INLINE_STEPS_MAX : steps < STEPS_IN_ALL ? steps : STEPS_IN_ALL;
}

//  Work: touches nothing but this, and what the model lends to one work at a time.  False where it is more than can be done
//  at once: it is to be done again, in a job.
static bool
s_do (local_work_t *self, bool in_job)
{
    local_model_t *model = self->model;
    buffer_t prompt = { 0 };
    self->status =
        bundle_render (model->bundle, self->context, self->now_s, s_steps_max (self, in_job), &prompt, &self->error);
    if (!in_job && (self->status == STATUS_LIMIT || prompt.size > INLINE_PROMPT_MAX)) {
        buffer_fini (&prompt);
        return false;
    }
    //  Variables are shared with the bundle: they are given back before anybody else can touch them.
    json_destroy (&self->context);
    if (!self->status)
        self->status =
            memo_encode (model->memo, &model->ns, buffer_span (&prompt), &self->tokens, &self->chain, &self->error);
    buffer_append (&self->prefill, parser_choice_prefill (&model->bundle->format, buffer_span (&prompt)));
    buffer_fini (&prompt);
    return true;
}

static void
s_free (local_work_t *self)
{
    if (self->handle)
        *self->handle = NULL;
    json_destroy (&self->context);
    array_fini (&self->tokens);
    sequence_destroy (&self->chain);
    buffer_fini (&self->prefill);
    memory_free (self);
}

static void
s_on_discard (void *data)
{
    s_free (data);
}

//  Nobody waits for it any more, and no job has it.  A large conversation goes in one: it may have millions of parts.
static void
s_discard (local_work_t *self)
{
    port_t *port = actor_port (self->model->setup.actor);
    if (self->size > INLINE_MAX)
        port->table->job_start (port, s_on_discard, NULL, NULL, self);
    else
        s_free (self);
}

static void
s_tell (local_work_t *self, const local_result_t *result)
{
    if (!self->handle)
        return;
    *self->handle = NULL;
    self->handle = NULL;
    self->done (self->arg, result);
}

//  A job may still be at it: nothing of the work is looked at.
static void
s_tell_withdrawn (local_work_t *self)
{
    static const error_t withdrawn = { STATUS_UNSUPPORTED, "prompts of this model are not made here any more" };
    s_tell (self, &(local_result_t){ .status = withdrawn.status, .error = &withdrawn });
}

//  Where the engine's word is another one meanwhile, it has it.
static void
s_tell_done (local_work_t *self)
{
    if (self->model->state == LOCAL_REFUSED)
        s_tell_withdrawn (self);
    else
        s_tell (self, &(local_result_t){ .status = self->status,
                          .tokens = &self->tokens,
                          .chain = &self->chain,
                          .error = &self->error,
                          .format = self->model->bundle->format,
                          .prefill = buffer_span (&self->prefill) });
}

//  The model's template, not its clients, is to be looked at.
static void
s_leave_out (local_model_t *self, const error_t *why)
{
    counts_too_long (self->setup.counts, span_from_string (self->name));
    if (!self->too_long)
        actor_log (self->setup.actor, LOG_WARNING, "a prompt of %s is left to its engines, and others like it: %s",
            self->name, why->text);
    self->too_long = true;
}

static void s_next (local_model_t *self);

static void
s_on_job (void *data)
{
    s_do (data, true);
}

static void
s_on_job_done (void *arg, void *data)
{
    local_model_t *model = arg;
    local_work_t *self = data;
    model->busy = false;
    model->working = NULL;
    if (!local_bury (model)) {
        if (self->status == STATUS_LIMIT)
            s_leave_out (model, &self->error);
        s_tell_done (self);
        local_release (model);
        s_next (model);
    }
    s_free (self);
}

//  Does what waits.
static void
s_next (local_model_t *self)
{
    list_link_t *link;
    while (!self->busy && self->state != LOCAL_REFUSED && (link = list_take_first (&self->waiting))) {
        local_work_t *work = LIST_ENTRY (link, local_work_t, link);
        self->busy = true;
        if (work->size > INLINE_MAX || !s_do (work, false)) {
            port_t *port = actor_port (self->setup.actor);
            self->working = work;
            port->table->job_start (port, s_on_job, s_on_job_done, self, work);
            return;
        }
        self->busy = false;
        s_tell_done (work);
        s_free (work);
    }
}

void
local_model_encode (
    local_model_t *self, json_t *context, size_t size, local_done_fn *done, void *arg, local_work_t **handle)
{
    local_work_t *work = memory_new (sizeof *work);
    *work = (local_work_t){ .model = self,
        .handle = handle,
        .done = done,
        .arg = arg,
        .context = context,
        .size = size,
        .now_s = (int64_t)(actor_wall (self->setup.actor) / 1000000000) };
    array_init (&work->tokens, sizeof (uint32_t));
    *handle = work;
    list_append (&self->waiting, &work->link);
    s_next (self);
}

//  What a job works on is freed when it is done.
void
local_work_drop (local_work_t **handle)
{
    local_work_t *self = *handle;
    if (!self)
        return;
    *handle = NULL;
    self->handle = NULL;
    if (!list_link_is_linked (&self->link))
        return;
    list_remove (&self->model->waiting, &self->link);
    s_discard (self);
}

void
local_work_end_all (local_model_t *self)
{
    if (self->working)
        s_tell_withdrawn (self->working);
    for (list_link_t *link; (link = list_take_first (&self->waiting));) {
        local_work_t *work = LIST_ENTRY (link, local_work_t, link);
        s_tell_withdrawn (work);
        s_discard (work);
    }
}
