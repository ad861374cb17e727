//  A visit is one drawn session, a talk one thread of it.  A talk has one request under way or a timer that leads to the
//  next one, or waits for its subagents; it is freed when its last request is over and nobody is left to join, and its
//  visit goes with its last talk.

#include "simulator/replay.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bug.h"
#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/random.h"
#include "kv/catalog/catalog.h"
#include "kv/table.h"
#include "runtime/stream.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/message_memory.h"
#include "schemas/route.h"
#include "schemas/worker.h"
#include "simulator/replay_prompt.h"

enum { NAME_MAX_BYTES = 64 };

static const uint64_t MILLION = 1000000, SETTLE_NS = 1000000000, JOIN_NS = 1000000000, CALL_TIMEOUT_NS = 60000000000;

typedef struct {
    char address [ADDRESS_MAX];    //  Of a worker
    size_t number;                 //  In order of first sight
} party_t;

typedef struct replayer replayer_t;

typedef struct {
    replayer_t *replay;                //  Whose
    const trace_session_t *session;    //  What happens in it
    uint64_t number;                   //  In order of start
    uint64_t key;                      //  Of its tokens
    table_t sent;                      //  node_t: blocks that were in a prompt before
    size_t talks;                      //  That are not over
    uint64_t tails;                    //  Requests so far
} visit_t;

typedef struct talk {
    list_link_t in_replay;            //  All
    visit_t *visit;                   //  Whose
    struct talk *lead;                //  Whom its end is told; NULL: the lead itself
    const trace_thread_t *thread;     //  What it says
    size_t next;                      //  Its request under way, or the next one
    size_t end;                       //  One behind its last
    size_t joins;                     //  Subagents it waits for
    uint64_t ready_ns;                //  Its next request does not begin before
    replay_prompt_t prompt;           //  Of the last request
    actor_timer_t timer;              //  Leads to the next one
    call_t route;                     //  Where to
    stream_t generation;              //  From there
    char request [NAME_MAX_BYTES];    //  Id
    const party_t *party;             //  Who serves it, or served the last one; NULL: nobody yet
    replay_served_t served;           //  For the tally
    uint64_t arrived_ns;              //  Of the request
    uint64_t first_ns;                //  First token; 0: not yet
    bool routed;                      //  The router counts it
    bool under_way;                   //  It has arrived and is not over
} talk_t;

struct replayer {
    actor_t *actor;              //  Itself
    replay_options_t options;    //  As given
    replay_tally_t tally;        //  Figures
    bool over;                   //  They are whole
    size_t sessions;             //  To begin
    size_t opening;              //  Start of this one opens the window
    uint64_t interval_ns;        //  Between two starts, on average
    random_t starts;             //  When
    random_t deals;              //  Who
    array_t deck;                //  uint32_t: sessions not dealt yet
    map_t *parties;              //  Address -> party_t, owned
    model_card_t model;          //  Of the workers: they all serve the same; lies in `memory`
    message_memory_t memory;     //  Of the card
    namespace_t space;           //  Names blocks
    catalog_t *catalog;          //  Who holds which of them
    array_t overlaps;            //  Scratch: catalog_overlap_t
    list_t talks;                //  talk_t
    list_t notices;              //  notice_t
    actor_timer_t timer;         //  The next start or arrival
    visit_t *crowd;              //  Single requests: the only visit
    size_t arrivals;             //  Single requests: how many have arrived
    uint64_t began_ns;           //  Single requests: since when
    buffer_t packed;             //  Scratch
};

//  ---- Telling the router --------------------------------------------------------------------------------------------

//  Outlives the request that it is about.
typedef struct {
    list_link_t link;    //  Of those under way
    call_t call;         //  To the router
} notice_t;

static void
s_on_noticed (void *state, void *arg, call_result_t result, const void *reply)
{
    replayer_t *self = state;
    notice_t *notice = arg;
    list_remove (&self->notices, &notice->link);
    memory_free (notice);
}

static void
s_tell_router (replayer_t *self, const talk_t *talk, bool finished)
{
    notice_t *notice = memory_new (sizeof *notice);
    route_progress_t progress = { .request = span_from_string (talk->request),
        .worker = span_from_string (talk->party->address),
        .finished = finished,
        .completion_tokens = (uint32_t)talk->generation.position,
        .has_cached_tokens = finished && talk->first_ns,
        .cached_tokens = talk->served.cached_tokens };
    list_append (&self->notices, &notice->link);
    call_start (&notice->call, self->actor,
        &(call_options_t){ .address = span_from_string (self->options.router),
            .type = &route_progress_message,
            .request = &progress,
            .timeout_ns = CALL_TIMEOUT_NS,
            .done = s_on_noticed,
            .arg = notice });
}

//  ---- Visits and talks ----------------------------------------------------------------------------------------------

static visit_t *
s_visit_new (replayer_t *self, const trace_session_t *session, uint64_t number)
{
    visit_t *visit = memory_new (sizeof *visit);
    visit->replay = self;
    visit->session = session;
    visit->number = number;
    visit->key = hash_u64 (hash_u64 (self->options.seed) + number);
    table_init (&visit->sent, sizeof (node_t));
    return visit;
}

static void
s_visit_free (visit_t *visit)
{
    table_fini (&visit->sent);
    memory_free (visit);
}

static talk_t *
s_talk_new (visit_t *visit, const trace_thread_t *thread, talk_t *lead)
{
    talk_t *talk = memory_new (sizeof *talk);
    talk->visit = visit;
    talk->thread = thread;
    talk->lead = lead;
    talk->end = thread->requests.count;
    replay_prompt_init (&talk->prompt, &visit->replay->space, visit->key);
    list_append (&visit->replay->talks, &talk->in_replay);
    visit->talks++;
    return talk;
}

static void
s_talk_free (talk_t *talk)
{
    visit_t *visit = talk->visit;
    list_remove (&visit->replay->talks, &talk->in_replay);
    timer_stop (&talk->timer);
    call_drop (&talk->route);
    stream_drop (&talk->generation);
    replay_prompt_fini (&talk->prompt);
    memory_free (talk);
    if (--visit->talks == 0 && visit != visit->replay->crowd)
        s_visit_free (visit);
}

static const trace_request_t *
s_request (const talk_t *talk)
{
    return trace_request (talk->thread, talk->next);
}

static uint64_t
s_pause (const replayer_t *self, uint64_t recorded_ns)
{
    return recorded_ns < self->options.think_max_ns ? recorded_ns : self->options.think_max_ns;
}

static void s_on_ready (void *state, actor_t *actor, void *arg);

static void
s_wait (replayer_t *self, talk_t *talk)
{
    uint64_t now = actor_now (self->actor);
    uint64_t delay = talk->ready_ns > now ? talk->ready_ns - now : 0;
    timer_start (&talk->timer, self->actor, delay, s_on_ready, talk);
}

//  Subagents that begin after the lead's request `after`.
static void
s_spawn (replayer_t *self, talk_t *lead, size_t after)
{
    const trace_session_t *session = lead->visit->session;
    for (size_t i = 1; i < session->threads.count; i++) {
        const trace_thread_t *thread = trace_thread (session, i);
        if (thread->after != after)
            continue;
        talk_t *talk = s_talk_new (lead->visit, thread, lead);
        lead->joins++;
        talk->ready_ns = actor_now (self->actor) + s_pause (self, thread->offset_ns);
        s_wait (self, talk);
    }
}

//  It waits for nobody: on to its next request, or to its end.
static void
s_go_on (replayer_t *self, talk_t *talk)
{
    if (talk->next < talk->end) {
        s_wait (self, talk);
        return;
    }
    talk_t *lead = talk->lead;
    s_talk_free (talk);
    if (!lead)
        return;
    uint64_t joined = actor_now (self->actor) + JOIN_NS;
    lead->ready_ns = joined > lead->ready_ns ? joined : lead->ready_ns;
    if (--lead->joins == 0)
        s_go_on (self, lead);
}

static void
s_close (replayer_t *self)
{
    uint64_t now = actor_now (self->actor);
    for (list_link_t *link = list_first (&self->talks); link; link = list_next (&self->talks, link)) {
        const talk_t *talk = LIST_ENTRY (link, talk_t, in_replay);
        if (!talk->under_way || !talk->served.counted || talk->first_ns)
            continue;
        replay_tally_wait (&self->tally, now - talk->arrived_ns);
        self->tally.report.waiting++;
    }
    replay_tally_close (&self->tally, now);
    self->over = true;
}

//  The request under way is over, one way or the other.
static void
s_leave (replayer_t *self, talk_t *talk)
{
    if (talk->routed)
        s_tell_router (self, talk, true);
    talk->under_way = false;
    size_t over = talk->next++;
    if (talk->next < talk->end)
        talk->ready_ns = actor_now (self->actor) + s_pause (self, s_request (talk)->think_ns);
    if (!talk->lead && !self->crowd)
        s_spawn (self, talk, over);
    if (talk->joins == 0)
        s_go_on (self, talk);
    if (self->crowd && self->crowd->talks == 0 && self->arrivals == self->options.trace->requests)
        s_close (self);
}

//  ---- A request -----------------------------------------------------------------------------------------------------

static void
s_fail (replayer_t *self, talk_t *talk, const error_t *why)
{
    actor_log (self->actor, LOG_WARNING, "request %s failed: %s", talk->request, why->text);
    replay_report_t *report = &self->tally.report;
    if (self->tally.open && report->failed++ == 0)
        span_copy_string (span_from_string (why->text), report->failure, sizeof report->failure);
    s_leave (self, talk);
}

static uint64_t
s_on_tokens (void *state, void *arg, uint64_t position, const void *item)
{
    replayer_t *self = state;
    talk_t *talk = arg;
    if (talk->first_ns == 0) {
        talk->first_ns = actor_now (self->actor);
        s_tell_router (self, talk, false);
        if (self->tally.open && talk->served.counted)
            replay_tally_wait (&self->tally, talk->first_ns - talk->arrived_ns);
    }
    return ((const generated_t *)item)->tokens.count;
}

static void
s_on_end (void *state, void *arg, call_result_t result, const void *message)
{
    replayer_t *self = state;
    talk_t *talk = arg;
    const generate_end_t *end = message;
    if (result != CALL_REPLIED) {
        s_fail (self, talk, stream_error (&talk->generation));
        return;
    }
    talk->served.cached_tokens = end->cached_tokens;
    replay_tally_end (&self->tally, &talk->served);
    s_leave (self, talk);
}

static void
s_generate (replayer_t *self, talk_t *talk, uint16_t rank)
{
    uint32_t tokens = s_request (talk)->output_tokens;
    generate_t request = { .request = span_from_string (talk->request),
        .model = self->model.model,
        .tokens = column_of_u32 (talk->prompt.tokens.data, talk->prompt.tokens.count),
        .sampling = { .has_max_tokens = true, .max_tokens = tokens, .has_ignore_eos = true, .ignore_eos = true },
        .rank = rank };
    stream_options_t options = {
        .on_item = s_on_tokens, .on_end = s_on_end, .credit = tokens, .idle_timeout_ns = PORT_NEVER
    };
    stream_open (&talk->generation, self->actor, span_from_string (talk->party->address), &generate_message, &request,
        &options, talk);
}

//  The names of the prompt's blocks, valid until the next call.
static column_t
s_pack_hashes (replayer_t *self, const talk_t *talk)
{
    size_t count;
    const hash128_t *hashes = sequence_hashes (talk->prompt.sequence, &count);
    buffer_clear (&self->packed);
    for (size_t i = 0; i < count; i++)
        column_pack_hash128 (&self->packed, hashes [i]);
    return column_of_hash128 (buffer_span (&self->packed));
}

//  The most leading blocks of a prompt that a worker other than this one has.
static uint32_t
s_elsewhere (replayer_t *self, const talk_t *talk, const party_t *party)
{
    uint64_t source = event_source (span_from_string (party->address));
    uint32_t most = 0;
    array_cut (&self->overlaps, 0);
    catalog_match (self->catalog, self->space.id, s_pack_hashes (self, talk), HOLDER_EXACT, &self->overlaps);
    for (size_t i = 0; i < self->overlaps.count; i++) {
        const catalog_overlap_t *overlap = array_at (&self->overlaps, i);
        if (overlap->source != source && overlap->reached.total > most)
            most = overlap->reached.total;
    }
    return most;
}

static void
s_take_party (replayer_t *self, talk_t *talk, const party_t *party)
{
    if (talk->party && talk->served.counted) {
        self->tally.report.turns++;
        self->tally.report.moved += talk->party != party;
    }
    talk->party = party;
    talk->routed = true;
    talk->served.worker = party->number;
    if (talk->served.counted)
        talk->served.elsewhere_blocks = s_elsewhere (self, talk, party);
}

static void
s_on_routed (void *state, void *arg, call_result_t result, const void *message)
{
    replayer_t *self = state;
    talk_t *talk = arg;
    const route_reply_t *reply = message;
    error_t error = *call_error (&talk->route);
    const party_t *party = result == CALL_REPLIED ? map_get (self->parties, reply->worker) : NULL;
    if (result == CALL_REPLIED && !party)
        error_set (&error, STATUS_NOT_FOUND, "the router chose a worker that is not there");
    if (!party) {
        s_fail (self, talk, &error);
        return;
    }
    s_take_party (self, talk, party);
    s_generate (self, talk, reply->rank);
}

//  How many leading blocks were sent before; all of them now are.  What was sent is closed under "the block before", so the
//  border is found by halving.
static uint32_t
s_note_sent (talk_t *talk)
{
    size_t count;
    const hash128_t *hashes = sequence_hashes (talk->prompt.sequence, &count);
    table_t *sent = &talk->visit->sent;
    size_t known = 0, unknown = count;
    while (known < unknown) {
        size_t middle = known + (unknown - known) / 2;
        if (table_find (sent, hashes [middle].high))
            known = middle + 1;
        else
            unknown = middle;
    }
    for (size_t i = known; i < count; i++)
        table_add (sent, hashes [i].high);
    return (uint32_t)known;
}

static void
s_call_router (replayer_t *self, talk_t *talk)
{
    char session [NAME_MAX_BYTES];
    snprintf (session, sizeof session, "s%" PRIu64, talk->visit->number);
    const trace_request_t *request = s_request (talk);
    route_t route = { .request = span_from_string (talk->request),
        .model = self->model.model,
        .fingerprint = self->model.fingerprint,
        .namespace_id = self->space.id,
        .hashes = s_pack_hashes (self, talk),
        .prompt_tokens = request->prompt_tokens,
        .has_max_tokens = true,
        .max_tokens = request->output_tokens,
        .has_envelope = !self->crowd,
        .envelope = { .has_session = true, .session = span_from_string (session) } };
    call_start (&talk->route, self->actor,
        &(call_options_t){ .address = span_from_string (self->options.router),
            .type = &route_message,
            .request = &route,
            .timeout_ns = CALL_TIMEOUT_NS,
            .done = s_on_routed,
            .arg = talk });
}

static void
s_on_ready (void *state, actor_t *actor, void *arg)
{
    replayer_t *self = state;
    talk_t *talk = arg;
    const trace_request_t *request = s_request (talk);
    uint64_t tail = talk->visit->tails++;
    snprintf (talk->request, sizeof talk->request, "r%" PRIu64 ".%" PRIu64, talk->visit->number, tail);
    replay_prompt_set (&talk->prompt, self->options.trace, request, tail);
    talk->arrived_ns = actor_now (actor);
    talk->first_ns = 0;
    talk->under_way = true;
    talk->routed = false;
    talk->served = (replay_served_t){ .counted = self->tally.open,
        .prompt_tokens = request->prompt_tokens,
        .prompt_blocks = request->prompt_tokens / self->space.block_size,
        .reusable_blocks = s_note_sent (talk),
        .block_size = self->space.block_size };
    self->tally.report.requests += talk->served.counted;
    s_call_router (self, talk);
}

//  ---- Sessions begin ------------------------------------------------------------------------------------------------

static void
s_deal_again (replayer_t *self)
{
    size_t count = self->options.trace->sessions.count;
    uint32_t *deck = array_append (&self->deck, NULL, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t other = (size_t)random_below (&self->deals, i + 1);
        deck [i] = deck [other];
        deck [other] = i;
    }
}

static const trace_session_t *
s_draw (replayer_t *self)
{
    if (self->deck.count == 0)
        s_deal_again (self);
    uint32_t position = *(uint32_t *)array_at (&self->deck, self->deck.count - 1);
    array_cut (&self->deck, self->deck.count - 1);
    return trace_session (self->options.trace, position);
}

static void
s_on_start (void *state, actor_t *actor, void *arg)
{
    replayer_t *self = state;
    uint64_t number = self->tally.report.sessions++;
    if (number == self->opening)
        replay_tally_open (&self->tally, actor_now (actor));
    if (number + 1 == self->sessions) {
        s_close (self);
        return;
    }
    visit_t *visit = s_visit_new (self, s_draw (self), number);
    s_wait (self, s_talk_new (visit, trace_thread (visit->session, 0), NULL));
    timer_start (&self->timer, actor, random_exponential (&self->starts, self->interval_ns), s_on_start, NULL);
}

static void
s_plan_sessions (replayer_t *self)
{
    const trace_t *trace = self->options.trace;
    uint64_t total_ns = 0;
    for (size_t i = 0; i < trace->sessions.count; i++)
        total_ns += trace_duration_ns (trace_session (trace, i), self->options.think_max_ns);
    uint64_t live = self->options.load * self->options.workers;    //  Millionths
    uint64_t mean_ns = total_ns / trace->sessions.count;
    self->interval_ns = mean_ns / live * MILLION + mean_ns % live * MILLION / live + 1;
    self->sessions = self->options.sessions ? self->options.sessions : trace->sessions.count;
    size_t opening = (size_t)(live * 3 / 2 / MILLION);
    self->opening = opening < self->sessions / 4 ? opening : self->sessions / 4;
}

//  ---- Single requests arrive ----------------------------------------------------------------------------------------

static void s_on_arrival (void *state, actor_t *actor, void *arg);

//  To the next arrival, if there is one.
static void
s_await_arrival (replayer_t *self)
{
    const trace_thread_t *thread = trace_thread (self->crowd->session, 0);
    if (self->arrivals == thread->requests.count)
        return;
    uint64_t at_ns = trace_request (thread, self->arrivals)->at_ns;
    uint64_t load = self->options.load;
    uint64_t due_ns = self->began_ns + at_ns / load * MILLION + at_ns % load * MILLION / load;
    uint64_t now = actor_now (self->actor);
    timer_start (&self->timer, self->actor, due_ns > now ? due_ns - now : 0, s_on_arrival, NULL);
}

static void
s_on_arrival (void *state, actor_t *actor, void *arg)
{
    replayer_t *self = state;
    talk_t *talk = s_talk_new (self->crowd, trace_thread (self->crowd->session, 0), NULL);
    talk->next = self->arrivals++;
    talk->end = self->arrivals;
    s_on_ready (self, actor, talk);
    s_await_arrival (self);
}

static void
s_begin_singles (replayer_t *self)
{
    self->crowd = s_visit_new (self, trace_session (self->options.trace, 0), 0);
    self->began_ns = actor_now (self->actor);
    self->tally.report.sessions = 1;
    replay_tally_open (&self->tally, self->began_ns);
    s_await_arrival (self);
}

//  ---- Following -----------------------------------------------------------------------------------------------------

static void
s_on_stored (void *state, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_stored (((replayer_t *)state)->catalog, origin->source, event);
}

static void
s_on_removed (void *state, actor_t *actor, const origin_t *origin, const void *event)
{
    catalog_removed (((replayer_t *)state)->catalog, origin->source, event);
}

static void
s_on_reset (void *state, actor_t *actor, const origin_t *origin)
{
    catalog_forget (((replayer_t *)state)->catalog, origin->source);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

static void
s_on_settled (void *state, actor_t *actor, void *arg)
{
    replayer_t *self = state;
    if (self->options.trace->single)
        s_begin_singles (self);
    else {
        s_plan_sessions (self);
        s_on_start (self, actor, NULL);
    }
}

static void
s_read_card (replayer_t *self, span_t card)
{
    status_t status = message_memory_decode (&self->memory, &model_card_message, card, &self->model, NULL);
    BUG_ON (status);
    status = namespace_init_model (
        &self->space, self->options.secret, self->model.fingerprint, self->model.block_size, NULL);
    BUG_ON (status || self->model.block_size != self->options.trace->block_size);
}

static void
s_on_worker (void *state, actor_t *actor, const actor_entry_t *entry)
{
    replayer_t *self = state;
    if (!entry->has_card || map_get (self->parties, entry->address))
        return;
    if (map_count (self->parties) == 0)
        s_read_card (self, entry->card);
    party_t *party = memory_new (sizeof *party);
    party->number = map_count (self->parties);
    BUG_ON (party->number >= self->options.workers);
    span_copy_string (entry->address, party->address, sizeof party->address);
    map_put (self->parties, entry->address, party);
    if (map_count (self->parties) == self->options.workers)
        timer_start (&self->timer, actor, SETTLE_NS, s_on_settled, NULL);
}

static status_t
s_init (void *state, actor_t *actor, const void *options, error_t *error)
{
    replayer_t *self = state;
    self->actor = actor;
    self->options = *(const replay_options_t *)options;
    replay_tally_init (&self->tally, self->options.workers);
    random_init (&self->starts, self->options.seed);
    random_init (&self->deals, hash_u64 (self->options.seed));
    array_init (&self->deck, sizeof (uint32_t));
    array_init (&self->overlaps, sizeof (catalog_overlap_t));
    self->catalog = catalog_new (NULL);
    self->parties = map_new (0);
    message_memory_init (&self->memory);
    list_init (&self->talks);
    list_init (&self->notices);
    return STATUS_OK;
}

static void
s_fini (void *state, actor_t *actor)
{
    replayer_t *self = state;
    void *party;
    timer_stop (&self->timer);
    for (list_link_t *link; (link = list_first (&self->talks));)
        s_talk_free (LIST_ENTRY (link, talk_t, in_replay));
    for (list_link_t *link; (link = list_take_first (&self->notices));) {
        notice_t *notice = LIST_ENTRY (link, notice_t, link);
        call_drop (&notice->call);
        memory_free (notice);
    }
    if (self->crowd)
        s_visit_free (self->crowd);
    for (size_t cursor = 0; map_next (self->parties, &cursor, NULL, &party);)
        memory_free (party);
    map_destroy (&self->parties);
    replay_tally_fini (&self->tally);
    catalog_destroy (&self->catalog);
    array_fini (&self->overlaps);
    array_fini (&self->deck);
    message_memory_fini (&self->memory);
    buffer_fini (&self->packed);
}

bool
replay_is_over (const actor_t *replay)
{
    return ((const replayer_t *)actor_state (replay))->over;
}

const replay_report_t *
replay_report (const actor_t *replay)
{
    return &((const replayer_t *)actor_state (replay))->tally.report;
}

static const actor_handler_t s_handlers [] = {
    HANDLES_EVENT (kv_stored, s_on_stored),
    HANDLES_EVENT (kv_removed, s_on_removed),
    HANDLES_RESET (STREAM_KV, s_on_reset),
    HANDLES_ACTOR ("worker", s_on_worker),
    HANDLERS_END,
};

const actor_class_t replay_class = {
    .name = "replay",
    .state_size = sizeof (replayer_t),
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
};
