//  Calls on a catalog: the same blocks in one namespace and some in others, and another one of crowds.

#include "tests/bench/calm.h"

static column_t
s_column (const world_t *self, size_t count)
{
    return (column_t){ self->packed, count };
}

static void
s_say_stored (world_t *self)
{
    kv_stored_t event = { .namespace_id = MEMO_SPACE, .hashes = s_column (self, EVENT) };
    catalog_stored (self->catalog, WORKER, &event);
}

static void
s_say_removed (world_t *self)
{
    kv_removed_t event = { .namespace_id = MEMO_SPACE, .hashes = s_column (self, EVENT) };
    catalog_removed (self->catalog, WORKER, &event);
}

static void
s_say_cleared (world_t *self)
{
    catalog_cleared (self->catalog, WORKER, &(kv_cleared_t){ 0 });
}

static void
s_tell (void *arg, const message_type_t *type, const void *event)
{
    ((world_t *)arg)->told++;
}

static void
s_begin_snapshot (world_t *self)
{
    if (!self->snapshot)
        self->snapshot = catalog_snapshot_new (self->catalog, WORKER, s_tell, self);
}

static void
s_write_snapshot (world_t *self)
{
    bool ended;
    catalog_snapshot_next (self->snapshot, &ended);
}

static void
s_catalog_digest (world_t *self)
{
    catalog_digest (self->catalog, WORKER);
}

static void
s_catalog_stats (world_t *self)
{
    catalog_stats_t stats;
    catalog_stats (self->catalog, &stats);
}

static void
s_begin_prefill (world_t *self, uint64_t source, uint64_t count)
{
    catalog_prefill_t prefill = { .source = source,
        .namespace_id = MEMO_SPACE,
        .hashes = s_column (self, count),
        .expected_ns = self->now_ns,
        .expiry_ns = self->now_ns + 1 };
    self->ticket = catalog_begin_prefill (self->catalog, &prefill);
}

static void
s_begin_prefills (world_t *self)
{
    for (int i = 0; i < PREFILLS; i++) {
        calm_name_event (self);
        s_begin_prefill (self, WORKER, EVENT);
    }
    self->now_ns++;
}

static void
s_name_prefill (world_t *self)
{
    calm_name_event (self);
}

static void
s_add_prefill (world_t *self)
{
    s_begin_prefill (self, WORKER, EVENT);
}

static void
s_name_prompt (world_t *self)
{
    calm_name_new (self, PROMPT);
}

static void
s_add_prompt (world_t *self)
{
    s_begin_prefill (self, WORKER, PROMPT);
}

//  A silent worker has computed all of a long prompt, of which it said that it had found the first half.
static void
s_finish_prompt (world_t *self)
{
    bool more = true;
    s_name_prompt (self);
    s_begin_prefill (self, SILENT, PROMPT);
    while (more)
        catalog_expire (self->catalog, 0, &more);
}

static void
s_learn_prompt (world_t *self)
{
    catalog_outcome_t outcome = { .computed = true, .said = true, .found = PROMPT / 2, .capacity = 4 * PROMPT };
    catalog_guess (self->catalog, self->ticket, &outcome, self->now_ns);
}

static void
s_learn_more (world_t *self)
{
    bool more;
    catalog_expire (self->catalog, 0, &more);
}

static void
s_learn_all (world_t *self)
{
    catalog_outcome_t outcome = { .computed = true, .capacity = 4 * PROMPT };
    catalog_guess (self->catalog, self->ticket, &outcome, self->now_ns);
    for (bool more = true; more;)
        catalog_expire (self->catalog, 0, &more);
}

//  The next calls are about the other catalog, of which all is the same however many blocks the largest worker has.
static void
s_swap_catalogs (world_t *self)
{
    catalog_t *other = self->fleet;
    self->fleet = self->catalog;
    self->catalog = other;
}

//  Of a long prompt the silent worker has every other block already, and another one has gone, of which much is to be swept out.
static void
s_finish_alternating (world_t *self)
{
    s_swap_catalogs (self);
    for (int i = 0; i < 4; i++) {
        s_name_prompt (self);
        s_begin_prefill (self, GONE, PROMPT);
        s_learn_all (self);
    }
    catalog_forget (self->catalog, GONE);
    uint64_t first = self->next;
    self->next += PROMPT;
    for (uint64_t i = 0; i < PROMPT / 2; i++)
        hash128_to_bytes ((hash128_t){ calm_name (first + 2 * i), 0 }, self->packed + i * HASH128_SIZE);
    s_begin_prefill (self, SILENT, PROMPT / 2);
    s_learn_all (self);
    calm_name_blocks (self, first, PROMPT);
    s_begin_prefill (self, SILENT, PROMPT);
    for (bool more = true; more;)
        catalog_expire (self->catalog, 0, &more);
}

static void
s_learn_alternating (world_t *self)
{
    catalog_outcome_t outcome = { .computed = true, .capacity = 4 * PROMPT };
    catalog_guess (self->catalog, self->ticket, &outcome, self->now_ns);
}

//  The next of a crowd.
static uint64_t
s_next_of (world_t *self, crowd_t crowd)
{
    return crowd * CROWD_SOURCES + self->came [crowd]++;
}

//  Somebody whom nobody knew says a first word.
static void
s_come_speaking (world_t *self)
{
    kv_stored_t event = { .namespace_id = MEMO_SPACE, .hashes = s_column (self, 1) };
    catalog_stored (self->fleet, s_next_of (self, SPEAKING), &event);
}

static void
s_let_speak (world_t *self)
{
    calm_name_new (self, 1);
    calm_let_come (self, SPEAKING, s_come_speaking);
}

static void
s_forget_speaking (world_t *self)
{
    catalog_forget (self->fleet, SPEAKING * CROWD_SOURCES + self->left++);
}

//  Another one is sent a prompt of a block that nobody has.
static void
s_compute (world_t *self, crowd_t crowd)
{
    calm_name_new (self, 1);
    catalog_prefill_t prefill = { .source = s_next_of (self, crowd),
        .namespace_id = MEMO_SPACE,
        .hashes = s_column (self, 1),
        .expiry_ns = UINT64_MAX };
    self->ticket = catalog_begin_prefill (self->fleet, &prefill);
}

static void
s_come_computing (world_t *self)
{
    s_compute (self, COMPUTING);
}

static void
s_let_compute (world_t *self)
{
    calm_let_come (self, COMPUTING, s_come_computing);
}

//  The same, and it is silent about what it has from then on.
static void
s_come_guessed (world_t *self)
{
    s_compute (self, GUESSED);
    catalog_guess (self->fleet, self->ticket, &(catalog_outcome_t){ .computed = true, .capacity = 1 }, self->now_ns);
}

static void
s_let_learn (world_t *self)
{
    calm_let_come (self, GUESSED, s_come_guessed);
}

static void
s_settle (world_t *self)
{
    catalog_settle (self->catalog, self->ticket);
}

//  What is expired here once begins again only when nothing is left of it.
static void
s_refill_prefills (world_t *self)
{
    catalog_stats_t stats;
    catalog_stats (self->catalog, &stats);
    if (!stats.pending)
        s_begin_prefills (self);
}

static void
s_expire (world_t *self)
{
    bool more;
    catalog_expire (self->catalog, self->now_ns, &more);
}

//  An engine that sends no events has computed a quarter of the largest worker's blocks.
static void
s_let_guess (world_t *self)
{
    catalog_outcome_t outcome = { .computed = true, .capacity = (uint32_t)self->blocks };
    for (uint64_t i = 0; i < self->blocks / 4; i += EVENT) {
        calm_name_event (self);
        s_begin_prefill (self, SILENT, EVENT);
        catalog_guess (self->catalog, self->ticket, &outcome, self->now_ns);
    }
    self->now_ns += UINT64_C (3600000000000);
}

static void
s_forget_unsaid (world_t *self)
{
    catalog_forget_unsaid (self->catalog, WORKER);
}

static void
s_forget_guessed (world_t *self)
{
    catalog_forget (self->catalog, SILENT);
}

static void
s_forget (world_t *self)
{
    catalog_forget (self->catalog, WORKER);
}

static void
s_catalog_sweep (world_t *self)
{
    catalog_sweep (self->catalog);
}

void
calm_fill_catalog (world_t *self)
{
    self->catalog = catalog_new (NULL);
    self->fleet = catalog_new (NULL);
    for (uint64_t i = 0; i < self->blocks; i += EVENT) {
        calm_name_event (self);
        s_say_stored (self);
    }
    for (uint64_t i = 2; i < SPACES + 2; i++)
        catalog_stored (self->catalog, WORKER, &(kv_stored_t){ .namespace_id = i, .hashes = s_column (self, 1) });
    for (uint64_t i = 0; i < RANKS * TIER_COUNT; i++) {
        kv_stored_t event = { .namespace_id = MEMO_SPACE,
            .rank = (uint16_t)(i / TIER_COUNT),
            .tier = (tier_t)(i % TIER_COUNT),
            .hashes = s_column (self, 1) };
        catalog_stored (self->catalog, WORKER, &event);
    }
}

const case_t calm_catalog_cases [] = {
    { "catalog_stored", calm_name_event, s_say_stored, 20 },
    { "catalog_removed", NULL, s_say_removed, 1 },
    { "catalog_snapshot", s_begin_snapshot, s_write_snapshot, 40 },
    { "catalog_digest", NULL, s_catalog_digest, 1 },
    { "catalog_stats", NULL, s_catalog_stats, 1 },
    { "catalog_begin_prefill", s_name_prefill, s_add_prefill, 1 },
    { "catalog_settle", NULL, s_settle, 1 },
    { "catalog_expire", s_refill_prefills, s_expire, 4 },
    { "catalog_forget_unsaid", s_begin_prefills, s_forget_unsaid, 1 },
    { "catalog_expire_guesses", s_let_guess, s_expire, 2 },
    { "catalog_forget_guessed", NULL, s_forget_guessed, 1 },
    { "catalog_begin_prompt", s_name_prompt, s_add_prompt, 1 },
    { "catalog_settle_prompt", NULL, s_settle, 1 },
    { "catalog_step_prompt", NULL, s_learn_more, 20 },
    { "catalog_learn_prompt", s_finish_prompt, s_learn_prompt, 1 },
    { "catalog_learn_more", NULL, s_learn_more, 20 },
    { "catalog_learn_alternating", s_finish_alternating, s_learn_alternating, 1 },
    { "catalog_learn_more_of_it", NULL, s_learn_more, 20 },
    { "catalog_cleared", s_swap_catalogs, s_say_cleared, 1 },
    { "catalog_forget", NULL, s_forget, 1 },
    { "catalog_sweep", NULL, s_catalog_sweep, 300 },
    { "catalog_first_stored", s_let_speak, s_come_speaking, 4 * NEAR },
    { "catalog_first_prefill", s_let_compute, s_come_computing, 4 * NEAR },
    { "catalog_first_guess", s_let_learn, s_come_guessed, 4 * NEAR },
    { "catalog_forget_of_many", NULL, s_forget_speaking, 4 },
    { 0 },
};
