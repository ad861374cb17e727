//  Feeds bytes to the reblock as the events of an engine, and checks that what it says adds up: nothing is stored twice or
//  removed before it was stored.  The first two bytes choose the sizes of the blocks.

#include <string.h>

#include "base/bug.h"
#include "kv/reblock.h"
#include "tests/fuzz/fuzz.h"

enum { PARTS = 32, RUN_MAX = 8, TOKENS_MAX = 12, HELD_MAX = 4096 };

typedef struct {
    hash128_t held [HELD_MAX];    //  In no order
    size_t count;                 //  Of them
} listener_t;

static void
s_on_change (void *arg, reblock_change_t change, hash128_t parent, const hash128_t *hashes, size_t count)
{
    listener_t *listener = arg;
    if (change == REBLOCK_CLEARED)
        listener->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < listener->count && !hash128_equal (listener->held [at], hashes [i]))
            at++;
        BUG_ON ((at < listener->count) != (change == REBLOCK_REMOVED));
        BUG_ON (at == HELD_MAX);
        if (change == REBLOCK_REMOVED)
            listener->held [at] = listener->held [--listener->count];
        else
            listener->held [listener->count++] = hashes [i];
    }
}

//  A run of parts that follow each other from `first` on; a part's tokens follow from its number, with twins.
static void
s_store (reblock_t *reblock, uint32_t theirs, uint8_t first, uint8_t shape, uint8_t parent)
{
    uint64_t hashes [RUN_MAX], before = parent % PARTS;
    uint32_t tokens [RUN_MAX * TOKENS_MAX];
    size_t count = shape % (RUN_MAX + 1);
    for (size_t i = 0; i < count; i++) {
        hashes [i] = (first + i) % PARTS;
        for (uint32_t k = 0; k < theirs; k++)
            tokens [i * theirs + k] = k < theirs / 2 ? 7 : (uint32_t)(hashes [i] / 2);
    }
    size_t token_count = shape & 0x40 ? count : count * theirs;
    reblock_store (reblock, shape & 0x80 ? &before : NULL, hashes, count, tokens, token_count, NULL);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static listener_t listener;
    if (size < 2 || size > 4096)
        return 0;
    namespace_t ns;
    namespace_parts_t parts = { .block_size = 1 + data [0] % TOKENS_MAX };
    uint32_t theirs = 1 + data [1] % TOKENS_MAX;
    listener.count = 0;
    BUG_ON (namespace_init (&ns, SPAN ("secret"), &parts, NULL) != STATUS_OK);
    reblock_t *reblock = reblock_new (&ns, theirs, PARTS - 4, s_on_change, &listener);
    for (size_t at = 2; at + 4 <= size; at += 4) {
        uint64_t hashes [2] = { data [at + 1] % PARTS, data [at + 2] % PARTS };
        if (data [at] == 255)
            reblock_clear (reblock);
        else if (data [at] % 2)
            reblock_remove (reblock, hashes, 2);
        else
            s_store (reblock, theirs, data [at + 1], data [at + 2], data [at + 3]);
    }
    reblock_stats_t stats;
    reblock_stats (reblock, &stats);
    BUG_ON (stats.blocks != listener.count);
    reblock_destroy (&reblock);
    return 0;
}
