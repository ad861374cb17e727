//  Feeds bytes to the index as a stream of operations by a few holders on a small tree of blocks, and checks what must hold
//  between its parts, and what workers reach.  The first byte chooses the bounds; then each operation is a byte for what and
//  who, and its operands.

#include <stdbool.h>

#include "base/bug.h"
#include "base/hash.h"
#include "kv/index/answer_test.h"
#include "kv/index/reach.h"
#include "tests/fuzz/fuzz.h"

enum { HOLDERS = 8, BLOCKS = 64, RUN_MAX = 16 };

typedef enum { STORE, STORE_AT_ROOT, REMOVE, CLEAR, RETIRE, MATCH, WALK, SWEEP } operation_t;

typedef struct {
    const uint8_t *data;    //  What is left
    size_t size;            //  Bytes
} input_t;

static uint8_t
s_take (input_t *input)
{
    if (!input->size)
        return 0;
    input->size--;
    return *input->data++;
}

//  Mostly a chain, with the gaps and repetitions that the bytes ask for; 0 is no block's.
static size_t
s_take_hashes (input_t *input, uint64_t *hashes)
{
    uint8_t first = s_take (input), shape = s_take (input);
    size_t count = shape % RUN_MAX;
    for (size_t i = 0; i < count; i++) {
        uint8_t block = shape & 0x80 ? s_take (input) : (uint8_t)(first + i);
        hashes [i] = block == 0xFF ? 0 : hash_u64 (block % BLOCKS);
    }
    return count;
}

//  What a worker reaches; 0 for one that is not in the answer.
static uint32_t
s_total (const array_t *reached, uint32_t owner)
{
    for (size_t i = 0; i < reached->count; i++) {
        const reach_overlap_t *each = array_at (reached, i);
        if (each->owner == owner)
            return each->total;
    }
    return 0;
}

//  A worker reaches at least what each of its holders has, and each block in one tier.
static void
s_reach (const index_t *index, const index_match_t *match, const array_t *overlaps)
{
    reach_t *reach = reach_new ();
    array_t reached;
    array_init (&reached, sizeof (reach_overlap_t));
    reach_add (reach, 0, 0, 1, TIER_HOST);
    reach_overlaps (reach, index, match, HOLDER_PENDING, &reached);
    for (size_t i = 0; i < reached.count; i++) {
        const reach_overlap_t *each = array_at (&reached, i);
        uint32_t blocks = 0;
        for (unsigned tier = 0; tier < TIER_COUNT; tier++)
            blocks += each->blocks [tier];
        BUG_ON (!blocks || blocks != each->total);
    }
    for (size_t i = 0; i < overlaps->count; i++) {
        const index_overlap_t *each = array_at (overlaps, i);
        BUG_ON (s_total (&reached, index_holder (index, each->holder)->owner) < each->blocks);
    }
    array_fini (&reached);
    reach_destroy (&reach);
}

static void
s_match (const index_t *index, const uint64_t *hashes, size_t count, uint8_t holder)
{
    answer_t answer;
    answer_init (&answer, index, hashes, count);
    s_reach (index, &answer.match, &answer.overlaps);
    index_explain (index, holder, hashes, count);
    answer_fini (&answer);
}

static void
s_walk (const index_t *index, uint8_t holder)
{
    index_cursor_t cursor = { 0 };
    for (bool ended = false; !ended;) {
        index_block_t blocks [5];
        size_t count;
        index_walk (index, holder, &cursor, blocks, 5, &count, &ended);
    }
}

static void
s_operate (index_t *index, input_t *input)
{
    uint64_t hashes [RUN_MAX];
    uint8_t what = s_take (input), holder = what >> 3 & (HOLDERS - 1);
    operation_t operation = what & 7;
    if (what & 0x40)
        index_holder_add (index, &(holder_t){ .owner = holder / 2, .tier = holder % TIER_COUNT });
    size_t count = s_take_hashes (input, hashes);
    if (operation == STORE)
        index_store (index, holder, hash_u64 (s_take (input) % BLOCKS), hashes, count, NULL);
    else if (operation == STORE_AT_ROOT)
        index_store (index, holder, INDEX_ROOT, hashes, count, NULL);
    else if (operation == REMOVE)
        index_remove (index, holder, hashes, count, NULL);
    else if (operation == CLEAR)
        index_clear (index, holder, NULL);
    else if (operation == RETIRE)
        index_retire (index, holder, NULL);
    else if (operation == MATCH)
        s_match (index, hashes, count, holder);
    else if (operation == WALK)
        s_walk (index, holder);
    else if (operation == SWEEP)
        index_sweep (index, count);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    input_t input = { data, size };
    uint8_t bounds = s_take (&input);
    index_options_t options = {
        .rooted = bounds & 0x20, .memory_limit = bounds & 0x40 ? 22000 : 0, .once = bounds & 0x80
    };
    index_t *index = index_new (&options);
    for (int i = 0; input.size; i++) {
        s_operate (index, &input);
        if (i % 8 == 0)
            index_check (index);
    }
    index_check (index);
    index_destroy (&index);
    return 0;
}
