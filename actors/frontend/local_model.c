#include "actors/frontend/local_private.h"
#include "base/memory.h"

enum { CREDIT_WINDOW = 4 << 20, RETRY_DOUBLINGS = 6 };

//  What files take once they are loaded, themselves included: a multiple.
enum { LOADED_FACTOR = 6 };

static const uint64_t FETCH_IDLE_NS = 30000000000;
static const uint64_t RETRY_NS = 500000000;

//  ---- Memory --------------------------------------------------------------------------------------------------------

static status_t
s_charge (local_model_t *self, uint64_t bytes)
{
    status_t status = budget_take (actor_budget (self->setup.actor), bytes, &self->why);
    if (!status)
        self->charged += bytes;
    return status;
}

static void
s_give_back (local_model_t *self)
{
    budget_give (actor_budget (self->setup.actor), self->charged);
    self->charged = 0;
}

//  ---- States --------------------------------------------------------------------------------------------------------

void
local_release (local_model_t *self)
{
    if (self->busy || self->state != LOCAL_REFUSED)
        return;
    memo_destroy (&self->memo);
    bundle_destroy (&self->bundle);
    self->counts.used = 0;
    s_give_back (self);
}

void
local_refuse (local_model_t *self, log_level_t level)
{
    self->state = LOCAL_REFUSED;
    local_work_end_all (self);
    local_release (self);
    actor_log (self->setup.actor, level, "prompts of %s are made by its engines: %s", self->name, self->why.text);
}

static const model_t *
s_model (const local_model_t *self)
{
    return models_get (self->setup.models, span_from_string (self->name), self->fingerprint);
}

span_t
local_worker (const local_model_t *self, unsigned choice)
{
    const model_t *model = s_model (self);
    return model ? models_worker (self->setup.models, model, choice) : SPAN ("");
}

static void
s_drop_received (local_model_t *self)
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        buffer_fini (&self->received [i]);
}

//  ---- Trying again --------------------------------------------------------------------------------------------------

static void s_fetch (local_model_t *self);

static void
s_on_retry (void *state, actor_t *actor, void *arg)
{
    s_fetch (arg);
}

//  What stands in the way may pass: it is said once.
static void
s_fetch_later (local_model_t *self, const char *why)
{
    if (self->attempts == 0)
        actor_log (self->setup.actor, LOG_WARNING, "the files of %s are not here, and are asked for again: %s",
            self->name, why);
    unsigned doublings = self->attempts < RETRY_DOUBLINGS ? self->attempts : RETRY_DOUBLINGS;
    self->attempts++;
    self->state = LOCAL_FETCHING;
    s_drop_received (self);
    s_give_back (self);
    timer_start (&self->retry, self->setup.actor, RETRY_NS << doublings, s_on_retry, self);
}

//  So many bytes do not fit beside what others have, or would not even alone: then it is left to its engines.
static void
s_lack_memory (local_model_t *self, uint64_t bytes)
{
    if (self->charged + bytes <= actor_budget (self->setup.actor)->limit) {
        s_fetch_later (self, self->why.text);
        return;
    }
    s_drop_received (self);
    local_refuse (self, LOG_WARNING);
}

//  ---- Loading -------------------------------------------------------------------------------------------------------

static void
s_files (const local_model_t *self, span_t files [BUNDLE_FILES])
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        files [i] = buffer_span (&self->received [i]);
}

//  Work.
static void
s_load (void *self_)
{
    local_model_t *self = self_;
    span_t files [BUNDLE_FILES];
    s_files (self, files);
    bundle_load (files, &self->bundle, &self->why);
}

static void
s_on_loaded (void *arg, void *data)
{
    local_model_t *self = arg;
    self->busy = false;
    if (local_bury (self))
        return;
    s_drop_received (self);
    if (!self->bundle) {
        error_prefix (&self->why, "its files cannot be used");
        local_refuse (self, LOG_WARNING);
        return;
    }
    uint64_t bytes = self->setup.memo_bytes + tokenizer_memory (self->bundle->tokenizer);
    s_give_back (self);
    if (s_charge (self, bytes)) {
        bundle_destroy (&self->bundle);
        s_lack_memory (self, bytes);
        return;
    }
    self->memo = memo_new (self->bundle->tokenizer, self->setup.memo_bytes, actor_random (self->setup.actor));
    self->state = LOCAL_CHECKING;
    local_check_begin (self);
}

//  The worker's own matter: others of the model may have what their cards say.
static void
s_on_wrong_files (local_model_t *self)
{
    counts_wrong_files (self->setup.counts, span_from_string (self->name));
    actor_log (self->setup.actor, LOG_WARNING, "the files of %s that %s gave are not those of its card", self->name,
        self->giver);
    s_fetch_later (self, "what was given is something else");
}

static void
s_begin_loading (local_model_t *self)
{
    span_t files [BUNDLE_FILES];
    s_files (self, files);
    if (bundle_fingerprint (files) != self->files) {
        s_on_wrong_files (self);
    } else if (s_charge (self, self->setup.memo_bytes)) {
        s_lack_memory (self, self->setup.memo_bytes);
    } else {
        port_t *port = actor_port (self->setup.actor);
        self->state = LOCAL_LOADING;
        self->busy = true;
        port->table->job_start (port, s_load, s_on_loaded, self, self);
    }
}

//  ---- Fetching ------------------------------------------------------------------------------------------------------

static uint64_t
s_on_part (void *state, void *arg, uint64_t position, const void *message)
{
    local_model_t *self = arg;
    const model_part_t *part = message;
    uint64_t bytes = part->bytes.size * LOADED_FACTOR;
    if (s_charge (self, bytes)) {
        stream_drop (&self->fetch);
        s_lack_memory (self, bytes);
        return part->bytes.size;
    }
    buffer_append (&self->received [part->file], part->bytes);
    stream_credit (&self->fetch, position + part->bytes.size + CREDIT_WINDOW);
    return part->bytes.size;
}

static void
s_on_end (void *state, void *arg, call_result_t result, const void *message)
{
    local_model_t *self = arg;
    if (result == CALL_REPLIED)
        s_begin_loading (self);
    else
        s_fetch_later (self, result == CALL_DEADLINE ? "nothing came for too long" : stream_error (&self->fetch)->text);
}

static void
s_fetch (local_model_t *self)
{
    span_t worker = local_worker (self, self->attempts);
    if (worker.size == 0) {
        s_fetch_later (self, "nobody serves it now");
        return;
    }
    span_copy_string (worker, self->giver, sizeof self->giver);
    fetch_model_t request = { .model = span_from_string (self->name), .files = self->files };
    stream_options_t options = {
        .on_item = s_on_part, .on_end = s_on_end, .credit = CREDIT_WINDOW, .idle_timeout_ns = FETCH_IDLE_NS
    };
    stream_open (&self->fetch, self->setup.actor, worker, &fetch_model_message, &request, &options, self);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

local_model_t *
local_model_new (const local_setup_t *setup, const model_t *model)
{
    local_model_t *self = memory_new (sizeof *self);
    self->setup = *setup;
    self->name = memory_copy ((const char *)model->name.data, model->name.size);
    self->fingerprint = model->fingerprint;
    self->files = model->files;
    self->ns = model->ns;
    list_init (&self->waiting);
    array_init (&self->check.ours, sizeof (uint32_t));
    array_init (&self->check.theirs, sizeof (uint32_t));
    s_fetch (self);
    return self;
}

static void
s_free (local_model_t *self)
{
    s_drop_received (self);
    array_fini (&self->check.ours);
    array_fini (&self->check.theirs);
    buffer_fini (&self->check.conversation);
    memo_destroy (&self->memo);
    bundle_destroy (&self->bundle);
    memory_free (self->name);
    memory_free (self);
}

bool
local_bury (local_model_t *self)
{
    if (!self->orphan)
        return false;
    s_free (self);
    return true;
}

static void
s_measure_gone (local_model_t *self)
{
    self->counts.used = 0;
    counts_local (self->setup.counts, span_from_string (self->name), self->fingerprint, false, &self->counts);
}

void
local_model_destroy (local_model_t **self_p)
{
    local_model_t *self = *self_p;
    if (!self)
        return;
    *self_p = NULL;
    stream_drop (&self->fetch);
    timer_stop (&self->retry);
    local_check_drop (self);
    local_work_end_all (self);
    s_give_back (self);
    s_measure_gone (self);
    if (self->busy)
        self->orphan = true;
    else
        s_free (self);
}

bool
local_model_is_current (const local_model_t *self)
{
    const model_t *model = s_model (self);
    return model && model->files == self->files;
}

//  Where the last message is an answer, engines let the model go on with it; each does it in its own way.
bool
local_model_takes (const local_model_t *self, const chat_request_t *request)
{
    return self->state == LOCAL_TRUSTED &&
           !span_equal_string (request->messages [request->message_count - 1].role, "assistant");
}

//  ---- What is said of it --------------------------------------------------------------------------------------------

void
local_model_describe (const local_model_t *self, buffer_t *out)
{
    static const char *const sentences [] = {
        [LOCAL_FETCHING] = "made by its engines until its files are here",
        [LOCAL_LOADING] = "made by its engines until its files are loaded",
        [LOCAL_CHECKING] = "made by its engines until ours were compared with theirs",
        [LOCAL_TRUSTED] = "made here",
        [LOCAL_REFUSED] = "made by its engines, since ",
    };
    buffer_print (out, "prompts of %s are %s%s", self->name, sentences [self->state],
        self->state == LOCAL_REFUSED ? self->why.text : "");
}

void
local_model_measure (local_model_t *self)
{
    if (self->memo && !self->busy)
        self->counts = memo_counts (self->memo);
    counts_local (self->setup.counts, span_from_string (self->name), self->fingerprint, self->state == LOCAL_TRUSTED,
        &self->counts);
}
