//  One call of each kind, on an index, a catalog and a worker's holdings that hold much and have met what is worst for the call.
//
//      bench_calm BLOCKS
//
//  BLOCKS is what the largest worker has; others have some of them too, and there are crowds of small ones.  Prints a JSON object a
//  kind of call: the processor time of the longest of several.  tests/bench/calm counts instructions instead.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/bug.h"
#include "base/hash.h"
#include "kv/catalog/catalog.h"
#include "kv/index/snapshot.h"
#include "workers/holdings.h"

enum {
    WORKERS = 1000,                     //  In the index
    EVENT = 32,                         //  Blocks of most events
    LONGEST = KV_REMOVED_HASHES_MAX,    //  Blocks of the longest event, each with another set of holders
    QUERY = 1024,                       //  Blocks of a lookup
    PROMPT = 8192,                      //  Blocks of the longest prompt that is sent to be computed
    SPACES = 4000,                      //  Namespaces of the catalog that the largest worker is in
    RANKS = 1024,                       //  Of it, each with something in all tiers
    PREFILLS = 1000,                    //  Pending at once
    SLICE = 4096,                       //  Bytes of a slice
    SWEEP_STEPS = 16,                   //  Of a sweep
    LEAST = 1024,                       //  Workers of a crowd,
    CROWDED = 64,                       //  and another one for so many blocks of the largest
    NEAR = 4,                  //  So many of a crowd come just before a power of two is full, and as many after
    WORKER = 1,                //  Source of the largest worker
    MEMO_SPACE = 1,            //  Namespace that most is in
    SILENT = 2,                //  Source of a worker of which much is guessed
    GONE = 3,                  //  And of one that is gone
    CROWD_SOURCES = 1000000    //  More than any crowd has
};

//  Of many small workers, who come one by one.
typedef enum { HOLDERS, SPEAKING, COMPUTING, GUESSED, CROWDS } crowd_t;

typedef struct {
    uint64_t blocks;                           //  Of the largest worker
    uint64_t next;                             //  Name of the next block that nobody has
    uint64_t hashes [PROMPT];                  //  Of a call
    uint8_t packed [PROMPT * HASH128_SIZE];    //  The same, for the catalog
    uint64_t last;                             //  Hash of the largest worker's last block
    index_t *index;                            //  Of holders 0 (the largest) .. WORKERS - 1
    index_match_t match;                       //  Of lookups
    array_t overlaps;                          //  Of lookups
    index_cursor_t cursor;                     //  Of a walk
    index_snapshot_t *writing;                 //  Of the index
    buffer_t bytes;                            //  What it wrote
    index_t *copy;                             //  What that is read into
    index_load_t reading;                      //  Of it
    catalog_t *catalog;                        //  The same blocks in one namespace, and some in others
    catalog_snapshot_t *snapshot;              //  Of the largest worker
    uint64_t told;                             //  Events of it
    uint64_t now_ns;                           //  By the clock of prefills
    uint64_t calls;                            //  Made so far
    catalog_ticket_t ticket;                   //  Of the last one
    catalog_t *fleet;                          //  Another one, of the crowds
    uint64_t came [CROWDS];                    //  So many of each crowd
    uint64_t left;                             //  And so many of those that speak are gone
    holdings_t *holdings;                      //  Of the largest worker
} world_t;

typedef void (step_fn) (world_t *self);

typedef struct {
    const char *name;    //  Of the kind of call
    step_fn *prepare;    //  Comes before each; NULL: nothing
    step_fn *call;       //  Is measured
    int tries;           //  How often
} case_t;

//  ---- Blocks ----

static uint64_t
s_name (uint64_t number)
{
    return hash_u64 (number + 1);
}

//  Names blocks, from a number on.
static void
s_name_blocks (world_t *self, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        self->hashes [i] = s_name (first + i);
        hash128_to_bytes ((hash128_t){ self->hashes [i], 0 }, self->packed + i * HASH128_SIZE);
    }
}

static void
s_name_new (world_t *self, uint64_t count)
{
    s_name_blocks (self, self->next, count);
    self->next += count;
}

//  Every other block comes first, so that no two lie in a row.
static void
s_name_longest (world_t *self)
{
    for (uint64_t i = 0; i < LONGEST; i++)
        self->hashes [i] = s_name (i < LONGEST / 2 ? 2 * i : 2 * (i - LONGEST / 2) + 1);
}

static void
s_name_event (world_t *self)
{
    s_name_new (self, EVENT);
}

static void
s_name_query (world_t *self)
{
    s_name_blocks (self, 0, QUERY);
}

//  ---- The index ----

static void
s_store (world_t *self)
{
    index_store (self->index, 0, self->last, self->hashes, EVENT, NULL);
    self->last = self->hashes [EVENT - 1];
}

//  The last event of the largest worker, from its end.
static void
s_name_removed (world_t *self)
{
    self->next -= EVENT;
    for (uint64_t i = 0; i < EVENT; i++)
        self->hashes [i] = s_name (self->next + EVENT - 1 - i);
    self->last = s_name (self->next - 1);
}

static void
s_remove (world_t *self)
{
    index_remove (self->index, 0, self->hashes, EVENT, NULL);
}

static void
s_remove_longest (world_t *self)
{
    index_remove (self->index, WORKERS - 1, self->hashes, LONGEST, NULL);
}

static void
s_store_longest (world_t *self)
{
    index_store (self->index, WORKERS - 1, INDEX_ROOT, self->hashes, LONGEST, NULL);
}

static void
s_match (world_t *self)
{
    array_cut (&self->overlaps, 0);
    index_match (self->index, self->hashes, QUERY, &self->match);
    index_overlaps (self->index, &self->match, &self->overlaps);
}

static void
s_explain (world_t *self)
{
    index_explain (self->index, 1, self->hashes, LONGEST);
}

//  A quarter of the largest worker's blocks come before their parent: a chain backwards, one by one, and a crowd.
static void
s_let_wait (world_t *self)
{
    uint64_t parent = self->next++;
    for (uint64_t i = self->blocks / 8; i; i--) {
        uint64_t chained = s_name (parent + i), other = s_name (parent + self->blocks / 8 + i);
        index_store (self->index, 0, s_name (parent + i - 1), &chained, 1, NULL);
        index_store (self->index, 0, s_name (parent), &other, 1, NULL);
    }
    self->hashes [0] = s_name (parent);
    self->next += self->blocks / 4;
}

static void
s_store_parent (world_t *self)
{
    index_store (self->index, 0, INDEX_ROOT, self->hashes, 1, NULL);
}

static void
s_walk (world_t *self)
{
    index_block_t blocks [LONGEST];
    size_t count;
    bool ended;
    index_walk (self->index, 0, &self->cursor, blocks, LONGEST, &count, &ended);
}

static void
s_write (world_t *self)
{
    bool ended;
    BUG_ON (index_snapshot_next (self->writing, &self->bytes, SLICE, &ended) != STATUS_OK);
}

static void
s_begin_writing (world_t *self)
{
    if (!self->writing)
        self->writing = index_snapshot_new (self->index, 0);
    buffer_clear (&self->bytes);
}

static void
s_begin_reading (world_t *self)
{
    if (self->copy)
        return;
    index_snapshot_destroy (&self->writing);
    s_begin_writing (self);
    for (bool ended = false; !ended;)
        index_snapshot_next (self->writing, &self->bytes, SLICE, &ended);
    self->copy = index_new (NULL);
    BUG_ON (index_load_init (&self->reading, self->copy, buffer_span (&self->bytes), NULL) != STATUS_OK);
}

static void
s_read (world_t *self)
{
    if (!self->reading.ended)
        BUG_ON (index_load_next (&self->reading, SLICE, NULL) != STATUS_OK);
}

static void
s_add_holder (world_t *self)
{
    index_holder_add (self->index, &(holder_t){ .owner = (uint32_t)(WORKERS + self->came [HOLDERS]++) });
}

//  How many more there are before a row is full that doubles, or a table that does so at three quarters.
static uint64_t
s_until_full (uint64_t count)
{
    uint64_t full = 1;
    while (full < count)
        full *= 2;
    return full / 4 * 3 >= count ? full / 4 * 3 - count : full - count;
}

//  Many come, until the next ones may meet what is full.
static void
s_let_come (world_t *self, crowd_t crowd, step_fn *come)
{
    const uint64_t *came = &self->came [crowd];
    while (
        *came < LEAST + self->blocks / CROWDED || (s_until_full (*came) > NEAR && s_until_full (*came - NEAR) > NEAR))
        come (self);
}

static void
s_let_add (world_t *self)
{
    s_let_come (self, HOLDERS, s_add_holder);
}

static void
s_digest (world_t *self)
{
    index_digest (self->index, 0);
}

static void
s_clear (world_t *self)
{
    index_clear (self->index, 0, NULL);
}

static void
s_retire (world_t *self)
{
    index_retire (self->index, 1, NULL);
}

static void
s_sweep (world_t *self)
{
    index_sweep (self->index, SWEEP_STEPS);
}

//  All have a prefix and each lacks one block of it or another, so that no two blocks have the same holders.
static void
s_fill_index (world_t *self)
{
    self->index = index_new (NULL);
    for (uint32_t i = 0; i < WORKERS; i++) {
        uint32_t holder = index_holder_add (self->index, &(holder_t){ .owner = i });
        s_name_blocks (self, 0, LONGEST);
        index_store (self->index, holder, INDEX_ROOT, self->hashes, LONGEST, NULL);
        if (i && i < WORKERS - 1)
            index_remove (self->index, holder, &self->hashes [i % LONGEST], 1, NULL);
    }
    self->last = s_name (LONGEST - 1);
    self->next = LONGEST;
    while (self->next < self->blocks) {
        s_name_event (self);
        for (uint32_t i = 1; i < 4; i++)
            index_store (self->index, i, self->last, self->hashes, EVENT / i, NULL);
        s_store (self);
    }
}

//  ---- The catalog ----

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
        s_name_event (self);
        s_begin_prefill (self, WORKER, EVENT);
    }
    self->now_ns++;
}

static void
s_name_prefill (world_t *self)
{
    s_name_event (self);
}

static void
s_add_prefill (world_t *self)
{
    s_begin_prefill (self, WORKER, EVENT);
}

static void
s_name_prompt (world_t *self)
{
    s_name_new (self, PROMPT);
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
        hash128_to_bytes ((hash128_t){ s_name (first + 2 * i), 0 }, self->packed + i * HASH128_SIZE);
    s_begin_prefill (self, SILENT, PROMPT / 2);
    s_learn_all (self);
    s_name_blocks (self, first, PROMPT);
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
    s_name_new (self, 1);
    s_let_come (self, SPEAKING, s_come_speaking);
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
    s_name_new (self, 1);
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
    s_let_come (self, COMPUTING, s_come_computing);
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
    s_let_come (self, GUESSED, s_come_guessed);
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
        s_name_event (self);
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

static void
s_fill_catalog (world_t *self)
{
    self->catalog = catalog_new (NULL);
    self->fleet = catalog_new (NULL);
    for (uint64_t i = 0; i < self->blocks; i += EVENT) {
        s_name_event (self);
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

//  ---- Holdings ----

static void
s_ignore_run (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
}

static void
s_hold (world_t *self)
{
    hash128_t hashes [EVENT];
    for (int i = 0; i < EVENT; i++)
        hashes [i] = (hash128_t){ self->hashes [i], 0 };
    holdings_add (self->holdings, SEQUENCE_ROOT, hashes, EVENT, s_ignore_run, NULL);
}

static void
s_let_hold (world_t *self)
{
    self->holdings = holdings_new ();
    for (uint64_t i = 0; i < self->blocks; i += EVENT) {
        s_name_event (self);
        s_hold (self);
    }
}

static void
s_clear_holdings (world_t *self)
{
    holdings_clear (self->holdings);
}

static void
s_shed_holdings (world_t *self)
{
    holdings_shed (self->holdings);
}

//  ---- What is measured ----

static const case_t s_cases [] = {
    { "store", s_name_event, s_store, 40 },
    { "remove", s_name_removed, s_remove, 40 },
    { "remove_longest", s_name_longest, s_remove_longest, 1 },
    { "store_longest", s_name_query, s_store_longest, 1 },
    { "lookup", s_name_query, s_match, 4 },
    { "explain", s_name_query, s_explain, 1 },
    { "parent_of_many", s_let_wait, s_store_parent, 1 },
    { "walk", NULL, s_walk, 40 },
    { "snapshot", s_begin_writing, s_write, 40 },
    { "load", s_begin_reading, s_read, 100 },
    { "holder_add", s_let_add, s_add_holder, 4 * NEAR },
    { "digest", NULL, s_digest, 1 },
    { "clear", NULL, s_clear, 1 },
    { "retire", NULL, s_retire, 1 },
    { "sweep", NULL, s_sweep, 40 },
    { "catalog_stored", s_name_event, s_say_stored, 20 },
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
    { "holdings_clear", s_let_hold, s_clear_holdings, 1 },
    { "holdings_add", s_name_event, s_hold, 20 },
    { "holdings_shed", NULL, s_shed_holdings, 10 },
};

static double
s_cpu_us (void)
{
    struct timespec now;
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

//  Who counts instructions knows these two by their names: what is counted, and when to write down how many.
__attribute__ ((noinline)) static void
calm_call (step_fn *call, world_t *self)
{
    call (self);
    self->calls++;
}

__attribute__ ((noinline)) static double
calm_try (step_fn *call, world_t *self)
{
    double start = s_cpu_us ();
    calm_call (call, self);
    return s_cpu_us () - start;
}

static void
s_measure (const case_t *each, world_t *self)
{
    double longest = 0;
    for (int i = 0; i < each->tries; i++) {
        if (each->prepare)
            each->prepare (self);
        double took = calm_try (each->call, self);
        longest = took > longest ? took : longest;
    }
    printf ("{\"call\": \"%s\", \"tries\": %d, \"cpu_us\": %.1f}\n", each->name, each->tries, longest);
}

static void
s_release (world_t *self)
{
    holdings_destroy (&self->holdings);
    catalog_destroy (&self->fleet);
    index_load_fini (&self->reading);
    index_destroy (&self->copy);
    index_snapshot_destroy (&self->writing);
    buffer_fini (&self->bytes);
    catalog_snapshot_destroy (&self->snapshot);
    catalog_destroy (&self->catalog);
    array_fini (&self->overlaps);
    index_match_fini (&self->match);
    index_destroy (&self->index);
}

int
main (int argc, char **argv)
{
    static world_t world;
    world.blocks = argc > 1 ? strtoull (argv [1], NULL, 10) : 100000;
    index_match_init (&world.match);
    array_init (&world.overlaps, sizeof (index_overlap_t));
    s_fill_index (&world);
    s_fill_catalog (&world);
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; i++)
        s_measure (&s_cases [i], &world);
    s_release (&world);
    return 0;
}
