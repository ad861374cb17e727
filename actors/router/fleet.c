#include "actors/router/fleet.h"

#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"
#include "kv/table.h"
#include "schemas/event_header.h"
#include "schemas/message_memory.h"
#include "schemas/worker.h"

static const uint64_t SILENCE_MAX_NS = (uint64_t)3600 * 1000000000;

//  What a block takes until a worker has shown it, and bounds of what is expected.
static const uint64_t BLOCK_NS = 100000000, BLOCK_MAX_NS = 10000000000, BLOCKS_MAX = 1000000;

//  What one data-parallel rank of a worker has to do.
typedef struct {
    worker_load_t load;         //  Last report
    uint64_t reported_ns;       //  When; 0: never
    uint64_t prefill_blocks;    //  Of requests routed here whose first token is not there yet
    uint64_t active_blocks;     //  Of the prompts of all requests active here
    uint32_t active;            //  Requests
    uint64_t took_ns;           //  From decisions to first tokens, older ones less and less
    uint64_t took_blocks;       //  Computed in that time
} rank_t;

typedef struct {
    char *address;              //  Owned
    span_t name;                //  The same
    uint64_t source;            //  Event source
    uint64_t incarnation;       //  Of the worker
    bool takes_work;            //  Alive and not draining
    bool has_card;              //  The card could be read
    model_card_t card;          //  Lies in `memory`
    message_memory_t memory;    //  Of the card
    rank_t *ranks;              //  card.ranks of them; owned
    uint16_t rank_count;        //  How many
    uint64_t asked;             //  Number of the last question that it was a candidate for
    size_t position;            //  Of its first rank among them
} worker_t;

typedef struct {
    list_link_t in_order;          //  All, least recently heard of first
    char *request;                 //  Id; owned
    uint64_t asker;                //  Event source of whoever asked
    uint64_t asker_incarnation;    //  Of that one; 0: not known yet
    worker_t *worker;              //  Where
    uint16_t rank;                 //  Where
    uint32_t new_blocks;           //  Not in its cache when it was routed
    uint32_t prompt_blocks;        //  Of the prompt
    uint64_t ahead_blocks;         //  To compute there until its first token, when it was routed
    catalog_ticket_t prefill;      //  For on_ended
    bool prefilled;                //  The first token is there
    uint64_t began_ns;             //  Routed
    uint64_t heard_ns;             //  Last progress
} active_t;

//  Where a worker is found: sources are hashes already, so this need not be a map.
typedef struct {
    node_t node;         //  Key: its source
    worker_t *worker;    //  It
} place_t;

struct fleet {
    fleet_options_t options;    //  As given
    size_t dropped;             //  Requests, before their end, since somebody asked
    array_t workers;            //  worker_t *, owned, by address
    table_t by_source;          //  place_t of each
    uint64_t asked;             //  Questions for candidates so far
    map_t *requests;            //  Request id -> active_t, owned
    list_t order;               //  The same, least recently heard of first
};

fleet_t *
fleet_new (const fleet_options_t *options)
{
    fleet_t *self = memory_new (sizeof *self);
    self->options = *options;
    array_init (&self->workers, sizeof (worker_t *));
    table_init (&self->by_source, sizeof (place_t));
    self->requests = map_new (0);
    list_init (&self->order);
    return self;
}

void
fleet_set_stale (fleet_t *self, uint64_t load_stale_ns)
{
    self->options.load_stale_ns = load_stale_ns;
}

//  A key is never 0.
static uint64_t
s_key (uint64_t source)
{
    return source ? source : 1;
}

static place_t *
s_place (const fleet_t *self, uint32_t number)
{
    return table_at (&self->by_source, number);
}

static uint32_t
s_find_place (const fleet_t *self, uint64_t source)
{
    uint32_t number = table_find (&self->by_source, s_key (source));
    while (number && s_place (self, number)->worker->source != source)
        number = table_next_equal (&self->by_source, number);
    return number;
}

//  NULL where there is none.
static worker_t *
s_find (const fleet_t *self, uint64_t source)
{
    uint32_t number = s_find_place (self, source);
    return number ? s_place (self, number)->worker : NULL;
}

//  ---- Active requests -----------------------------------------------------------------------------------------------

static void
s_end_prefill (active_t *active)
{
    rank_t *rank = &active->worker->ranks [active->rank];
    if (!active->prefilled)
        rank->prefill_blocks -= active->new_blocks;
    active->prefilled = true;
}

//  An engine computes at least the last token of a prompt, though it has the whole block.
static catalog_outcome_t
s_outcome (const active_t *active, const route_progress_t *last)
{
    const model_card_t *card = &active->worker->card;
    bool said = last && last->has_cached_tokens;
    return (catalog_outcome_t){ .computed = active->prefilled,
        .said = said,
        .found = said ? ((uint64_t)last->cached_tokens + 1) / card->block_size : 0,
        .capacity = card->capacity < UINT32_MAX ? (uint32_t)card->capacity : UINT32_MAX };
}

//  last: what was said of it; NULL where nothing was.
static void
s_end_saying (fleet_t *self, active_t *active, const route_progress_t *last)
{
    rank_t *rank = &active->worker->ranks [active->rank];
    fleet_end_t end = { active->prefill, !active->worker->card.kv_events, s_outcome (active, last) };
    if (self->options.on_ended)
        self->options.on_ended (self->options.arg, &end);
    s_end_prefill (active);
    rank->active_blocks -= active->prompt_blocks;
    rank->active--;
    list_remove (&self->order, &active->in_order);
    map_remove (self->requests, span_from_string (active->request));
    memory_free (active->request);
    memory_free (active);
}

static void
s_end (fleet_t *self, active_t *active)
{
    s_end_saying (self, active, NULL);
}

static void
s_end_all_of (fleet_t *self, const worker_t *worker)
{
    list_link_t *link = list_first (&self->order);
    while (link) {
        active_t *active = LIST_ENTRY (link, active_t, in_order);
        link = list_next (&self->order, link);
        if (active->worker == worker)
            s_end (self, active);
    }
}

static void
s_drop_oldest (fleet_t *self)
{
    s_end (self, LIST_ENTRY (list_first (&self->order), active_t, in_order));
    self->dropped++;
}

void
fleet_begin (fleet_t *self, const fleet_request_t *request, const policy_candidate_t *choice, uint64_t now_ns)
{
    worker_t *worker = s_find (self, choice->source);
    active_t *before = map_get (self->requests, request->request);
    if (before)
        s_end (self, before);    //  Routed again: it no longer runs where it was
    if (self->order.count == self->options.active_max)
        s_drop_oldest (self);
    active_t *active = memory_new (sizeof *active);
    active->request = memory_copy (request->request.data, request->request.size);
    active->asker = event_source (request->asker);
    active->asker_incarnation = request->asker_incarnation;
    active->worker = worker;
    active->rank = choice->rank;
    active->new_blocks = request->new_blocks;
    active->prompt_blocks = request->prompt_blocks;
    active->ahead_blocks = choice->prefill_blocks + request->new_blocks;
    active->prefill = request->prefill;
    active->began_ns = active->heard_ns = now_ns;
    worker->ranks [choice->rank].prefill_blocks += request->new_blocks;
    worker->ranks [choice->rank].active_blocks += request->prompt_blocks;
    worker->ranks [choice->rank].active++;
    list_append (&self->order, &active->in_order);
    map_put (self->requests, request->request, active);
}

//  Where the directory names an asker only now, the request is of the one it names.
void
fleet_see_asker (fleet_t *self, const actor_entry_t *entry)
{
    uint64_t source = event_source (entry->address);
    list_link_t *link = list_first (&self->order);
    while (link) {
        active_t *active = LIST_ENTRY (link, active_t, in_order);
        link = list_next (&self->order, link);
        if (active->asker != source)
            continue;
        if (!active->asker_incarnation)
            active->asker_incarnation = entry->incarnation;
        if (entry->state == ACTOR_STATE_GONE || active->asker_incarnation < entry->incarnation)
            s_end (self, active);
    }
}

//  What it took, as far as it says how fast the worker computes.
static void
s_learn (const active_t *active, uint64_t now_ns)
{
    rank_t *rank = &active->worker->ranks [active->rank];
    if (active->prefilled || active->ahead_blocks == 0)
        return;
    rank->took_ns += now_ns - active->began_ns - rank->took_ns / 8;
    rank->took_blocks += active->ahead_blocks - rank->took_blocks / 8;
}

static uint64_t
s_block_ns (const rank_t *rank)
{
    uint64_t ns = rank->took_blocks ? rank->took_ns / rank->took_blocks : BLOCK_NS;
    return ns < BLOCK_MAX_NS ? ns : BLOCK_MAX_NS;
}

bool
fleet_progress (fleet_t *self, const route_progress_t *progress, uint64_t now_ns)
{
    active_t *active = map_get (self->requests, progress->request);
    if (!active || (progress->worker.size && !span_equal (progress->worker, active->worker->name)))
        return false;
    if (progress->finished) {
        s_end_saying (self, active, progress);
        return true;
    }
    s_learn (active, now_ns);
    s_end_prefill (active);
    active->heard_ns = now_ns;
    list_remove (&self->order, &active->in_order);
    list_append (&self->order, &active->in_order);
    return true;
}

size_t
fleet_expire (fleet_t *self, uint64_t now_ns)
{
    for (list_link_t *link; (link = list_first (&self->order));) {
        if (now_ns - LIST_ENTRY (link, active_t, in_order)->heard_ns <= SILENCE_MAX_NS)
            break;
        s_drop_oldest (self);
    }
    size_t dropped = self->dropped;
    self->dropped = 0;
    return dropped;
}

//  ---- Workers -------------------------------------------------------------------------------------------------------

//  And with it what was active there.
static void
s_drop_card (fleet_t *self, worker_t *worker)
{
    s_end_all_of (self, worker);
    memory_free (worker->ranks);
    worker->ranks = NULL;
    worker->rank_count = 0;
    worker->has_card = false;
}

static worker_t *
s_worker_at (const fleet_t *self, size_t position)
{
    return *(worker_t **)array_at (&self->workers, position);
}

//  A worker comes behind those with a lower address.
static void
s_insert (fleet_t *self, worker_t *worker)
{
    size_t place = self->workers.count;
    array_append (&self->workers, &worker, 1);
    worker_t **workers = self->workers.data;
    for (; place && span_compare (workers [place - 1]->name, worker->name) > 0; place--)
        workers [place] = workers [place - 1];
    workers [place] = worker;
}

static void
s_worker_free (fleet_t *self, worker_t *worker)
{
    s_drop_card (self, worker);
    table_remove (&self->by_source, s_find_place (self, worker->source));
    size_t position = 0;
    while (s_worker_at (self, position) != worker)
        position++;
    array_remove (&self->workers, position);
    message_memory_fini (&worker->memory);
    memory_free (worker->address);
    memory_free (worker);
}

void
fleet_destroy (fleet_t **self_p)
{
    fleet_t *self = *self_p;
    if (!self)
        return;
    while (self->workers.count)
        s_worker_free (self, s_worker_at (self, self->workers.count - 1));
    array_fini (&self->workers);
    table_fini (&self->by_source);
    map_destroy (&self->requests);
    memory_free (self);
    *self_p = NULL;
}

static worker_t *
s_worker (fleet_t *self, span_t address)
{
    worker_t *worker = s_find (self, event_source (address));
    if (worker)
        return worker;
    worker = memory_new (sizeof *worker);
    worker->address = memory_copy (address.data, address.size);
    worker->name = span_of (worker->address, address.size);
    worker->source = event_source (address);
    message_memory_init (&worker->memory);
    s_insert (self, worker);
    s_place (self, table_add (&self->by_source, s_key (worker->source)))->worker = worker;
    return worker;
}

static status_t
s_read_card (fleet_t *self, worker_t *worker, span_t card, error_t *error)
{
    s_drop_card (self, worker);
    status_t status = message_memory_decode (&worker->memory, &model_card_message, card, &worker->card, error);
    if (status)
        return error_prefix (error, "the card of %s", worker->address);
    if (worker->card.block_size == 0 || worker->card.ranks == 0)
        return error_set (error, STATUS_INVALID, "the card of %s has no block size or no rank", worker->address);
    worker->rank_count = worker->card.ranks;
    worker->ranks = memory_new (worker->rank_count * sizeof *worker->ranks);
    worker->has_card = true;
    return STATUS_OK;
}

bool
fleet_is_replaced (const fleet_t *self, const actor_entry_t *entry)
{
    const worker_t *worker = s_find (self, event_source (entry->address));
    return worker && worker->incarnation != entry->incarnation;
}

status_t
fleet_see (fleet_t *self, const actor_entry_t *entry, error_t *error)
{
    worker_t *worker = s_worker (self, entry->address);
    if (entry->state == ACTOR_STATE_GONE) {
        s_worker_free (self, worker);
        return STATUS_OK;
    }
    worker->takes_work = entry->state == ACTOR_STATE_ALIVE && !entry->draining;
    bool is_new = worker->incarnation != entry->incarnation;
    worker->incarnation = entry->incarnation;
    if (is_new)
        s_drop_card (self, worker);
    if (!entry->has_card)
        return STATUS_OK;
    if (!worker->has_card || !span_equal (entry->card, buffer_span (&worker->memory.bytes)))
        return s_read_card (self, worker, entry->card, error);
    return STATUS_OK;
}

void
fleet_report (fleet_t *self, uint64_t source, const worker_load_t *load, uint64_t now_ns)
{
    worker_t *worker = s_find (self, source);
    if (!worker || load->rank >= worker->rank_count)
        return;
    worker->ranks [load->rank].load = *load;
    worker->ranks [load->rank].reported_ns = now_ns;
}

//  ---- Candidates ----------------------------------------------------------------------------------------------------

static bool
s_serves (const worker_t *worker, const route_t *request)
{
    const model_card_t *card = &worker->card;
    if (!worker->has_card || card->fingerprint != request->fingerprint)
        return false;
    if (span_equal (card->model, request->model))
        return true;
    for (size_t i = 0; i < card->aliases_count; i++)
        if (span_equal (card->aliases [i], request->model))
            return true;
    return false;
}

static bool
s_is_excluded (const worker_t *worker, const route_t *request)
{
    for (size_t i = 0; i < request->exclude_count; i++)
        if (span_equal (request->exclude [i], worker->name))
            return true;
    return false;
}

static uint64_t
s_most (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint32_t
s_requests (const rank_t *rank, bool fresh)
{
    uint64_t said = fresh ? (uint64_t)rank->load.running + rank->load.waiting : 0;
    uint64_t requests = s_most (rank->active, said);
    return requests < UINT32_MAX ? (uint32_t)requests : UINT32_MAX;
}

//  What was routed here since the last report is in our own count; what others routed there only in the report: the
//  higher one is nearer to the truth.
static void
s_add_candidates (const fleet_t *self, worker_t *worker, uint64_t now_ns, array_t *candidates)
{
    worker->asked = self->asked;
    worker->position = candidates->count;
    for (uint16_t i = 0; i < worker->rank_count; i++) {
        const rank_t *rank = &worker->ranks [i];
        bool fresh = rank->reported_ns && now_ns - rank->reported_ns <= self->options.load_stale_ns;
        uint64_t reported_blocks = fresh ? rank->load.prefill_tokens / worker->card.block_size : 0;
        policy_candidate_t *candidate = array_add (candidates);
        candidate->worker = worker->name;
        candidate->source = worker->source;
        candidate->rank = i;
        candidate->prefill_blocks = s_most (rank->prefill_blocks, reported_blocks);
        candidate->active_blocks = s_most (rank->active_blocks, fresh ? rank->load.kv_used : 0);
        candidate->active = s_requests (rank, fresh);
        candidate->kv_used = fresh ? rank->load.kv_used : 0;
        candidate->kv_capacity = worker->card.capacity;
    }
}

candidate_t
candidate_from_policy (const policy_candidate_t *candidate)
{
    return (candidate_t){ .worker = candidate->worker,
        .rank = candidate->rank,
        .overlap_blocks = candidate->overlap_blocks,
        .prefill_blocks = candidate->prefill_blocks,
        .active_blocks = candidate->active_blocks,
        .active = candidate->active,
        .kv_used = candidate->kv_used,
        .has_kv_capacity = true,
        .kv_capacity = candidate->kv_capacity,
        .has_live_blocks = true,
        .live_blocks = candidate->live_blocks,
        .has_host_blocks = candidate->host_blocks > 0,
        .host_blocks = candidate->host_blocks,
        .has_disk_blocks = candidate->disk_blocks > 0,
        .disk_blocks = candidate->disk_blocks,
        .has_remote_blocks = candidate->remote_blocks > 0,
        .remote_blocks = candidate->remote_blocks,
        .has_guessed_blocks = candidate->guessed_blocks > 0,
        .guessed_blocks = candidate->guessed_blocks,
        .has_pending_blocks = candidate->pending_blocks > 0,
        .pending_blocks = candidate->pending_blocks,
        .has_awaited_blocks = candidate->awaited_blocks > 0,
        .awaited_blocks = candidate->awaited_blocks,
        .cost = candidate->cost };
}

void
fleet_candidates (fleet_t *self, const route_t *request, uint64_t now_ns, array_t *candidates, error_t *reason)
{
    size_t serving = 0;
    size_t excluded = 0;
    array_cut (candidates, 0);
    self->asked++;
    for (size_t i = 0; i < self->workers.count; i++) {
        worker_t *worker = s_worker_at (self, i);
        if (!s_serves (worker, request))
            continue;
        serving++;
        if (s_is_excluded (worker, request))
            excluded++;
        else if (worker->takes_work)
            s_add_candidates (self, worker, now_ns, candidates);
    }
    if (candidates->count == 0 && serving == 0)
        error_set (reason, STATUS_NOT_FOUND, "no worker serves %.*s", SPAN_ARG (request->model));
    else if (candidates->count == 0)
        error_set (reason, STATUS_UNREACHABLE,
            "none of the %zu workers that serve %.*s takes work now (%zu of them failed this request already)", serving,
            SPAN_ARG (request->model), excluded);
}

size_t
fleet_position (const fleet_t *self, uint64_t source, uint16_t rank)
{
    const worker_t *worker = s_find (self, source);
    bool asked = worker && worker->asked == self->asked && rank < worker->rank_count;
    return asked ? worker->position + rank : POLICY_NONE;
}

uint64_t
fleet_expected_ns (const fleet_t *self, const policy_candidate_t *candidate, uint32_t new_blocks)
{
    const worker_t *worker = s_find (self, candidate->source);
    uint64_t blocks = candidate->prefill_blocks + new_blocks;
    uint64_t block_ns = s_block_ns (&worker->ranks [candidate->rank]);
    return (blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX) * block_ns;
}

uint64_t
fleet_blocks_in (const fleet_t *self, const policy_candidate_t *candidate, uint64_t ns)
{
    uint64_t block_ns = s_block_ns (&s_find (self, candidate->source)->ranks [candidate->rank]);
    return block_ns ? ns / block_ns : 0;
}

bool
fleet_tells (const fleet_t *self, const policy_candidate_t *candidate)
{
    const worker_t *worker = s_find (self, candidate->source);
    return worker->card.kv_events;
}

size_t
fleet_workers (const fleet_t *self)
{
    return self->workers.count;
}

size_t
fleet_active (const fleet_t *self)
{
    return map_count (self->requests);
}
