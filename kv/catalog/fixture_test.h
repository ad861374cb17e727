//  fixture - for tests: a catalog, and what is said of two blocks and of a prompt

#ifndef KV_CATALOG_FIXTURE_TEST_H
#define KV_CATALOG_FIXTURE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "kv/catalog/catalog.h"

enum { WORKER = 11, OTHER = 12, NAMESPACES = 4096, RANKS = 1024, PROMPT = 10 };

//  (holder, block) pairs that a call takes out of the indexes at most: two in each of some namespaces.
enum { LEAVES_AT_ONCE = 2 * 64, LEAVES_A_CALL = 2 * 4 };

static catalog_t *fixture_catalog;

static inline int
fixture_set_up (void **state)
{
    fixture_catalog = catalog_new (NULL);
    return 0;
}

static inline int
fixture_tear_down (void **state)
{
    catalog_destroy (&fixture_catalog);
    return 0;
}

static inline void
fixture_hashes (uint8_t bytes [2 * HASH128_SIZE])
{
    hash128_to_bytes ((hash128_t){ 1001, 0 }, bytes);
    hash128_to_bytes ((hash128_t){ 1002, 0 }, bytes + HASH128_SIZE);
}

//  Two blocks, the second behind the first.
static inline void
fixture_store (uint64_t source, uint64_t namespace_id)
{
    uint8_t bytes [2 * HASH128_SIZE];
    fixture_hashes (bytes);
    kv_stored_t event = { .namespace_id = namespace_id, .tier = TIER_DEVICE, .hashes = { bytes, 2 } };
    catalog_stored (fixture_catalog, source, &event);
}

//  Workers that reach both blocks.
static inline size_t
fixture_matches (uint64_t namespace_id)
{
    uint8_t bytes [2 * HASH128_SIZE];
    array_t overlaps;
    size_t found = 0;
    fixture_hashes (bytes);
    array_init (&overlaps, sizeof (catalog_overlap_t));
    catalog_match (fixture_catalog, namespace_id, (column_t){ bytes, 2 }, HOLDER_PENDING, &overlaps);
    for (size_t i = 0; i < overlaps.count; i++)
        found += ((catalog_overlap_t *)array_at (&overlaps, i))->reached.total == 2;
    array_fini (&overlaps);
    return found;
}

//  A worker is sent to compute both blocks.
static inline catalog_ticket_t
fixture_begin_prefill (uint64_t source, uint64_t namespace_id, uint64_t expiry_ns)
{
    uint8_t bytes [2 * HASH128_SIZE];
    fixture_hashes (bytes);
    catalog_prefill_t prefill = { .source = source,
        .namespace_id = namespace_id,
        .hashes = { bytes, 2 },
        .expected_ns = expiry_ns / 2,
        .expiry_ns = expiry_ns };
    return catalog_begin_prefill (fixture_catalog, &prefill);
}

static inline catalog_stats_t
fixture_stats (void)
{
    catalog_stats_t stats;
    catalog_stats (fixture_catalog, &stats);
    return stats;
}

//  To the end of the round under way, and another one.
static inline void
fixture_sweep (void)
{
    for (int rounds = 2; rounds; rounds -= !catalog_sweep (fixture_catalog))
        continue;
}

static inline size_t
fixture_expire (uint64_t now_ns)
{
    size_t expired = 0;
    for (bool more = true; more;)
        expired += catalog_expire (fixture_catalog, now_ns, &more);
    return expired;
}

static inline void
fixture_prompt (uint8_t bytes [PROMPT * HASH128_SIZE])
{
    for (uint64_t i = 0; i < PROMPT; i++)
        hash128_to_bytes ((hash128_t){ 2001 + i, 0 }, bytes + i * HASH128_SIZE);
}

//  Blocks `first` up to `end` of the prompt, in a tier.
static inline void
fixture_store_prompt (uint64_t source, uint16_t rank, tier_t tier, size_t first, size_t end)
{
    uint8_t bytes [PROMPT * HASH128_SIZE];
    fixture_prompt (bytes);
    kv_stored_t event = { .namespace_id = 1,
        .rank = rank,
        .tier = tier,
        .hashes = { bytes + first * HASH128_SIZE, end - first },
        .has_parent = first > 0,
        .parent = { 2000 + first, 0 } };
    catalog_stored (fixture_catalog, source, &event);
}

#endif
