//  Feeds bytes to the reader of recorded streams, and what it makes of them to an index.

#include <string.h>

#include "base/memory.h"
#include "kv/index/stream.h"
#include "tests/fuzz/fuzz.h"

enum { WORKERS_MAX = 64 };

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    stream_t stream;
    stream_record_t record;
    uint8_t *aligned = memory_new (size);
    if (size)
        memcpy (aligned, data, size);
    if (stream_init (&stream, span_of (aligned, size), NULL) == STATUS_OK && stream.workers <= WORKERS_MAX) {
        player_t *player = player_new (&stream);
        while (stream.records && stream_next (&stream, &record, NULL) == STATUS_OK) {
            player_expect (player, &record);
            player_play (player, &record, true);
        }
        index_check (player_index (player));
        player_destroy (&player);
    }
    memory_free (aligned);
    return 0;
}
