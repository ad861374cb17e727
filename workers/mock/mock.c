//  A request waits, is prefilled, decodes, ends.  Each turn of the timer walks the engine's clock over everything that was
//  due by now, counts what each request has produced, and only then tells: one report a request and turn.

#include "workers/mock/mock.h"

#include "base/list.h"
#include "base/memory.h"
#include "kv/cache.h"
#include "kv/sequence.h"
#include "runtime/timer.h"
#include "workers/mock/answer.h"
#include "workers/mock/timing.h"

enum {
    VOCABULARY = 256,
    ROUNDS_MAX = 64,
    CHUNK = 256,
};

static const uint64_t PROGRESS_NS = 5000000000, MILLION = 1000000;

typedef enum { RUN_WAITING, RUN_PREFILL, RUN_DECODING } run_state_t;

struct engine_run {
    list_link_t link;          //  In the list of its state
    run_state_t state;         //  Where it is
    void *arg;                 //  The worker's
    answer_t plan;             //  What it will say
    buffer_t detail;           //  Of the plan, owned
    sequence_t *sequence;      //  Names the blocks of prompt and output
    array_t hashes;            //  uint64_t, the first 64 bits of its names
    size_t pinned;             //  Of its blocks, those in the cache; from prefill on
    size_t reserved;           //  Room for the others
    uint32_t prompt_tokens;    //  Earlier output included
    uint32_t delivered;        //  Earlier output
    uint32_t cached_tokens;    //  Of the prompt
    uint32_t to_compute;       //  Of the prompt: what was not in the cache when last looked; 0 once it is computed
    uint64_t compute_ns;       //  What that takes, once it is begun
    uint64_t produced;         //  Position of the next token of the answer
    uint64_t told;             //  The worker knows those before it
    uint64_t named;            //  Tokens of the answer before it are in `sequence`
};

struct engine {
    actor_t *actor;              //  On whose thread
    engine_watch_t watch;        //  Whom to tell
    mock_options_t options;      //  As given
    uint64_t block_size;         //  Tokens
    buffer_t model;              //  Name
    uint64_t seed;               //  Of answers, the model's name included
    const namespace_t *space;    //  Names blocks
    cache_t *cache;              //  KV
    engine_run_t *storing;       //  Whose blocks go into it
    timing_t timing;             //  What is being computed
    actor_timer_t timer;         //  When the next of it is done
    list_t waiting;              //  engine_run_t, in order of arrival
    list_t decoding;             //  engine_run_t, in order of their prefill
    engine_run_t *prefill;       //  Being computed; NULL: none
    uint64_t prefill_tokens;     //  Not yet computed
    engine_run_t *telling;       //  Whose report is under way; NULL once it is gone
    array_t tokens;              //  Scratch: uint32_t
    array_t sizes;               //  Scratch: uint32_t, all 1
    buffer_t text;               //  Scratch
};

//  ---- Time ----------------------------------------------------------------------------------------------------------

static uint64_t
s_scaled (const engine_t *self, uint64_t ns)
{
    uint64_t speed = (uint64_t)self->options.speed;
    return speed ? ns / speed * MILLION + ns % speed * MILLION / speed : 0;
}

static void
s_start_prefill (engine_t *self, engine_run_t *run)
{
    run->state = RUN_PREFILL;
    self->prefill = run;
    uint64_t fresh = run->prompt_tokens - run->cached_tokens;
    run->compute_ns = s_scaled (self, timing_prefill_ns (fresh, run->cached_tokens));
    timing_start (&self->timing.prefill, run->compute_ns);
}

//  `found` leading blocks of a request that is to be computed are there.  At least the last token is computed always.
static void
s_note_cached (engine_t *self, engine_run_t *run, size_t found)
{
    uint64_t cached = (uint64_t)found * self->block_size;
    run->cached_tokens = cached < run->prompt_tokens ? (uint32_t)cached : run->prompt_tokens - 1;
    self->prefill_tokens -= run->to_compute;
    run->to_compute = run->prompt_tokens - run->cached_tokens;
    self->prefill_tokens += run->to_compute;
}

//  It is computed, or will not be.
static void
s_forget_prefill (engine_t *self, engine_run_t *run)
{
    self->prefill_tokens -= run->to_compute;
    run->to_compute = 0;
}

//  Takes the KV that the request needs from prefill to end; false where it is not there now.
static bool
s_acquire_kv (engine_t *self, engine_run_t *run)
{
    uint64_t tokens = run->prompt_tokens + run->plan.length - run->delivered;
    uint64_t total = (tokens + self->block_size - 1) / self->block_size;
    size_t found = cache_acquire (self->cache, run->hashes.data, run->hashes.count);
    if (!cache_reserve (self->cache, total - found)) {
        cache_release (self->cache, run->hashes.data, found);
        return false;
    }
    run->pinned = found;
    run->reserved = total - found;
    s_note_cached (self, run, found);
    return true;
}

static void
s_release_kv (engine_t *self, engine_run_t *run)
{
    cache_release (self->cache, run->hashes.data, run->pinned);
    cache_unreserve (self->cache, run->reserved);
    run->pinned = run->reserved = 0;
}

static uint64_t
s_kv_in_use (const engine_t *self)
{
    cache_stats_t stats;
    cache_stats (self->cache, &stats);
    return stats.pinned + stats.reserved;
}

//  Gives the engine what it can begin now.
static void
s_schedule (engine_t *self)
{
    list_link_t *first = list_first (&self->waiting);
    if (first && !self->prefill && self->decoding.count < (size_t)self->options.slots) {
        engine_run_t *run = LIST_ENTRY (first, engine_run_t, link);
        if (s_acquire_kv (self, run)) {
            list_remove (&self->waiting, first);
            s_start_prefill (self, run);
        }
    }
    if (self->decoding.count && !self->timing.decode.active) {
        uint64_t itl = timing_itl_ns (s_kv_in_use (self), (uint64_t)self->options.capacity);
        timing_start (&self->timing.decode, s_scaled (self, itl * (uint64_t)self->options.burst));
    }
}

static void s_on_timer (void *state, actor_t *actor, void *arg);

//  Wakes when something will be done; long prompts show life in between.
static void
s_set_timer (engine_t *self)
{
    uint64_t now = actor_now (self->actor);
    uint64_t next = timing_next_ns (&self->timing);
    uint64_t delay = next <= now ? 0 : next - now;
    if (next == UINT64_MAX)
        timer_stop (&self->timer);
    else
        timer_start (&self->timer, self->actor, delay < PROGRESS_NS ? delay : PROGRESS_NS, s_on_timer, self);
}

//  Brings the clock to now, or to what is due and not yet handled.
static void
s_catch_up (engine_t *self)
{
    uint64_t now = actor_now (self->actor);
    uint64_t next = timing_next_ns (&self->timing);
    timing_advance (&self->timing, next < now ? next : now);
}

//  ---- Work ----------------------------------------------------------------------------------------------------------

//  Copies what the cache goes by of the names that are new.
static void
s_note_hashes (engine_run_t *run)
{
    size_t count = 0;
    sequence_hashes (run->sequence, &count);
    size_t known = run->hashes.count;
    if (known < count)
        sequence_copy_short (run->sequence, known, count - known, array_append (&run->hashes, NULL, count - known));
}

//  The whole blocks that are computed go from room to cache.
static void
s_store_blocks (engine_t *self, engine_run_t *run)
{
    size_t fresh = run->hashes.count - run->pinned;
    if (!fresh)
        return;
    const uint64_t *hashes = run->hashes.data;
    self->storing = run;
    cache_insert (self->cache, run->pinned ? hashes [run->pinned - 1] : 0, hashes + run->pinned, fresh);
    self->storing = NULL;
    run->pinned += fresh;
    run->reserved -= fresh;
}

//  Names the blocks of the answer; the last token has no KV before the next one is computed.
static void
s_name_answer (engine_run_t *run)
{
    for (; run->named + 1 < run->produced; run->named++) {
        uint32_t token = answer_token (run->plan.key, run->named);
        sequence_extend (run->sequence, &token, 1);
    }
    s_note_hashes (run);
}

static void
s_produce (engine_t *self, engine_run_t *run, uint64_t tokens)
{
    uint64_t left = run->plan.length > run->produced ? run->plan.length - run->produced : 0;
    run->produced += tokens < left ? tokens : left;
    s_name_answer (run);
    s_store_blocks (self, run);
}

//  The prompt is computed, and its first token with it.
static void
s_end_prefill (engine_t *self)
{
    engine_run_t *run = self->prefill;
    self->prefill = NULL;
    self->watch.on_progress (self->watch.arg, run->arg, run->to_compute, run->compute_ns);
    s_forget_prefill (self, run);
    run->state = RUN_DECODING;
    list_append (&self->decoding, &run->link);
    s_produce (self, run, 1);
}

static void
s_end_step (engine_t *self)
{
    for (list_link_t *link = list_first (&self->decoding); link; link = list_next (&self->decoding, link))
        s_produce (self, LIST_ENTRY (link, engine_run_t, link), (uint64_t)self->options.burst);
}

//  ---- Telling -------------------------------------------------------------------------------------------------------

//  The run is gone.
static void
s_free_run (engine_t *self, engine_run_t *run)
{
    if (self->telling == run)
        self->telling = NULL;
    s_release_kv (self, run);
    sequence_destroy (&run->sequence);
    array_fini (&run->hashes);
    buffer_fini (&run->detail);
    memory_free (run);
}

static void
s_tell_end (engine_t *self, engine_run_t *run)
{
    list_remove (&self->decoding, &run->link);
    engine_end_t end = {
        .reason = run->plan.reason,
        .detail = buffer_span (&run->detail),
        .prompt_tokens = run->prompt_tokens,
        .cached_tokens = run->cached_tokens,
        .predicted_tokens = run->cached_tokens,
        .completion_tokens = (uint32_t)(run->produced - run->delivered),
    };
    self->watch.on_end (self->watch.arg, run->arg, &end);
    s_free_run (self, run);
}

//  The tokens that the worker does not know.
static engine_tokens_t
s_take_fresh (engine_t *self, engine_run_t *run)
{
    static const uint32_t one = 1;
    array_cut (&self->tokens, 0);
    array_cut (&self->sizes, 0);
    buffer_clear (&self->text);
    for (; run->told < run->produced; run->told++) {
        uint32_t token = answer_token (run->plan.key, run->told);
        array_append (&self->tokens, &token, 1);
        array_append (&self->sizes, &one, 1);
        buffer_append_byte (&self->text, (uint8_t)token);
    }
    return (engine_tokens_t){ self->tokens.data, self->sizes.data, self->tokens.count, buffer_span (&self->text) };
}

static void
s_tell_run (engine_t *self, engine_run_t *run)
{
    self->telling = run;
    if (run->told < run->produced) {
        engine_tokens_t fresh = s_take_fresh (self, run);
        self->watch.on_tokens (self->watch.arg, run->arg, &fresh);
    }
    if (self->telling && run->produced >= run->plan.length)
        s_tell_end (self, run);
    self->telling = NULL;
}

static void
s_tell (engine_t *self)
{
    list_link_t *next;
    for (list_link_t *link = list_first (&self->decoding); link; link = next) {
        next = list_next (&self->decoding, link);
        s_tell_run (self, LIST_ENTRY (link, engine_run_t, link));
    }
    if (self->prefill)
        self->watch.on_progress (self->watch.arg, self->prefill->arg, 0, 0);
}

static void
s_on_timer (void *state, actor_t *actor, void *arg)
{
    engine_t *self = arg;
    uint64_t now = actor_now (actor);
    for (int round = 0; round < ROUNDS_MAX && timing_next_ns (&self->timing) <= now; round++) {
        timing_advance (&self->timing, timing_next_ns (&self->timing));
        bool step_ended = timing_finish (&self->timing.decode);
        bool prefill_ended = timing_finish (&self->timing.prefill);
        if (step_ended)
            s_end_step (self);
        if (prefill_ended)
            s_end_prefill (self);
        s_tell (self);
        s_schedule (self);
        if (!self->options.speed)
            break;
    }
    self->watch.on_load (self->watch.arg);
    s_set_timer (self);
}

//  ---- The table -----------------------------------------------------------------------------------------------------

//  Tells the full names of blocks that the cache stored, or the short ones of those that went.
static void
s_on_change (void *arg, cache_change_t change, uint64_t parent, const uint64_t *hashes, size_t count)
{
    engine_t *self = arg;
    if (change == CACHE_REMOVED) {
        self->watch.on_removed (self->watch.arg, hashes, count);
        return;
    }
    const engine_run_t *run = self->storing;
    size_t named = 0;
    const hash128_t *names = sequence_hashes (run->sequence, &named);
    size_t first = run->pinned;
    while (names [first].high != hashes [0])
        first++;
    self->watch.on_stored (self->watch.arg, first ? names [first - 1] : SEQUENCE_ROOT, names + first, count);
}

static uint64_t
s_seed (const mock_options_t *options, span_t model)
{
    return hash_bytes (model, (uint64_t)options->seed);
}

static void
s_announce (engine_t *self)
{
    model_card_t card = {
        .model = buffer_span (&self->model),
        .fingerprint = hash_bytes (SPAN ("mock 1"), self->seed),
        .block_size = (uint32_t)self->block_size,
        .context = (uint32_t)self->options.context,
        .capacity = (uint64_t)self->options.capacity,
        .ranks = 1,
        .slots = (uint32_t)self->options.slots,
        .engine = SPAN ("mock"),
        .engine_version = SPAN ("1"),
        .tokenizing = SPAN ("bytes"),
        .sends_text = true,
        .kv_events = true,
    };
    self->space = self->watch.on_ready (self->watch.arg, &card);
}

static engine_t *
s_open (actor_t *actor, const engine_watch_t *watch, const engine_setup_t *setup, error_t *error)
{
    if (setup->model.size == 0) {
        error_set (error, STATUS_INVALID, "a simulated engine has no model of its own: name one");
        return NULL;
    }
    engine_t *self = memory_new (sizeof *self);
    self->actor = actor;
    self->watch = *watch;
    self->options = *(const mock_options_t *)setup->options;
    self->block_size = setup->block_size;
    self->seed = s_seed (&self->options, setup->model);
    buffer_append (&self->model, setup->model);
    list_init (&self->waiting);
    list_init (&self->decoding);
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->sizes, sizeof (uint32_t));
    self->cache = cache_new ((size_t)self->options.capacity, s_on_change, self);
    self->timing.at_ns = actor_now (actor);
    s_announce (self);
    return self;
}

static void
s_close (engine_t *self)
{
    timer_stop (&self->timer);
    if (self->prefill)
        s_free_run (self, self->prefill);
    for (list_link_t *link; (link = list_take_first (&self->decoding));)
        s_free_run (self, LIST_ENTRY (link, engine_run_t, link));
    for (list_link_t *link; (link = list_take_first (&self->waiting));)
        s_free_run (self, LIST_ENTRY (link, engine_run_t, link));
    cache_destroy (&self->cache);
    array_fini (&self->tokens);
    array_fini (&self->sizes);
    buffer_fini (&self->text);
    buffer_fini (&self->model);
    memory_free (self);
}

//  Names the prompt's blocks; false where a token is none.
static bool
s_name_prompt (engine_run_t *run, column_t tokens)
{
    uint32_t chunk [CHUNK];
    for (size_t done = 0; done < tokens.count;) {
        size_t count = 0;
        for (; count < CHUNK && done < tokens.count; count++, done++) {
            chunk [count] = column_u32 (tokens, done);
            if (chunk [count] >= VOCABULARY)
                return false;
        }
        sequence_extend (run->sequence, chunk, count);
    }
    s_note_hashes (run);
    return true;
}

static status_t
s_check_room (const engine_t *self, const engine_run_t *run, error_t *error)
{
    uint64_t tokens = run->prompt_tokens + run->plan.length - run->delivered;
    uint64_t room = (uint64_t)self->options.capacity * self->block_size;
    if (tokens <= room)
        return STATUS_OK;
    return error_set (error, STATUS_LIMIT, "the request needs KV for %llu tokens, the engine has room for %llu",
        (unsigned long long)tokens, (unsigned long long)room);
}

static engine_run_t *
s_start (engine_t *self, const engine_request_t *request, void *arg, error_t *error)
{
    engine_run_t *run = memory_new (sizeof *run);
    run->arg = arg;
    run->sequence = sequence_new (self->space);
    array_init (&run->hashes, sizeof (uint64_t));
    run->prompt_tokens = (uint32_t)request->tokens.count;
    run->delivered = request->delivered;
    run->produced = run->told = run->named = request->delivered;
    column_t prompt = { request->tokens.data, request->tokens.count - request->delivered };
    uint64_t key = answer_key (self->seed, prompt, request->sampling);
    uint64_t limit = (uint64_t)request->delivered + request->max_tokens;
    run->plan = answer_plan (key, request->sampling, (uint64_t)self->options.answer_tokens, limit);
    if (run->plan.length < run->delivered)
        run->plan.length = run->delivered;
    buffer_append (&run->detail, run->plan.detail);
    if (!s_name_prompt (run, request->tokens))
        error_set (error, STATUS_INVALID, "a token of the prompt is not in the vocabulary of %d", VOCABULARY);
    else if (s_check_room (self, run, error) == STATUS_OK) {
        s_note_cached (self, run, cache_lookup (self->cache, run->hashes.data, run->hashes.count));
        list_append (&self->waiting, &run->link);
        s_catch_up (self);
        s_schedule (self);
        s_set_timer (self);
        self->watch.on_load (self->watch.arg);
        return run;
    }
    s_free_run (self, run);
    return NULL;
}

static void
s_cancel (engine_t *self, engine_run_t *run)
{
    s_catch_up (self);
    s_forget_prefill (self, run);
    if (run->state == RUN_WAITING)
        list_remove (&self->waiting, &run->link);
    else if (run->state == RUN_PREFILL) {
        self->prefill = NULL;
        self->timing.prefill.active = false;
    } else {
        list_remove (&self->decoding, &run->link);
        if (!self->decoding.count)
            self->timing.decode.active = false;
    }
    s_free_run (self, run);
    s_schedule (self);
    s_set_timer (self);
    self->watch.on_load (self->watch.arg);
}

static void
s_load (const engine_t *self, worker_load_t *load)
{
    load->running = (uint32_t)self->decoding.count + (self->prefill != NULL);
    load->waiting = (uint32_t)self->waiting.count;
    load->prefill_tokens = self->prefill_tokens;
    load->kv_used = s_kv_in_use (self);
    load->kv_capacity = (uint64_t)self->options.capacity;
}

const engine_class_t mock_engine = {
    .name = "mock",
    .open = s_open,
    .close = s_close,
    .start = s_start,
    .cancel = s_cancel,
    .load = s_load,
};

uint32_t
mock_token (const mock_options_t *options, span_t model, column_t tokens, const sampling_t *sampling, uint64_t position)
{
    return answer_token (answer_key (s_seed (options, model), tokens, sampling), position);
}
