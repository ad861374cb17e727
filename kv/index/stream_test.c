//  A stream written here by hand, and what becomes of it when it is damaged.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "kv/index/stream.h"

enum { WORDS_MAX = 128 };

typedef struct {
    uint64_t words [WORDS_MAX];    //  The stream
    size_t count;                  //  Of them
} writer_t;

static void
s_write_header (writer_t *writer, uint64_t records, uint64_t workers)
{
    memset (writer, 0, sizeof *writer);
    memcpy (&writer->words [0], "KVIS0001", 8);
    writer->words [1] = records;
    writer->words [2] = workers;
    writer->words [3] = 64;
    writer->count = 16;
}

//  before: numbers in front of the hashes, which follow each other from `first` on.
static void
s_write (
    writer_t *writer, uint32_t type, uint32_t worker, uint64_t parent, size_t before, uint64_t first, uint32_t count)
{
    uint64_t *words = &writer->words [writer->count];
    words [0] = (uint64_t)worker << 32 | type;
    words [1] = (uint64_t)(parent != 0) << 32 | count;
    words += 2;
    if (type == STREAM_STORED)
        words [0] = parent;
    for (uint32_t i = 0; i < count; i++)
        words [before + i] = first + i;
    writer->count += 2 + before + (type == STREAM_CLEARED ? 0 : count);
}

//  Worker 0 gets blocks 101 to 104, worker 1 the first three; 0 loses the third; a lookup before and after, one more when 1
//  is cleared.
static span_t
s_story (writer_t *writer)
{
    s_write_header (writer, 8, 2);
    s_write (writer, STREAM_STORED, 0, 0, 1 + 4, 101, 4);
    s_write (writer, STREAM_STORED, 1, 0, 1 + 2, 101, 2);
    s_write (writer, STREAM_STORED, 1, 102, 1 + 1, 103, 1);
    s_write (writer, STREAM_LOOKUP, 0, 0, 5, 101, 5);
    s_write (writer, STREAM_REMOVED, 0, 0, 0, 103, 1);
    s_write (writer, STREAM_LOOKUP, 0, 0, 4, 101, 4);
    s_write (writer, STREAM_CLEARED, 1, 0, 0, 0, 0);
    s_write (writer, STREAM_LOOKUP, 0, 0, 4, 101, 4);
    return span_of (writer->words, writer->count * sizeof (uint64_t));
}

static status_t
s_play (span_t bytes, player_result_t *result)
{
    stream_t stream;
    stream_record_t record;
    status_t status = stream_init (&stream, bytes, NULL);
    if (status != STATUS_OK)
        return status;
    player_t *player = player_new (&stream);
    while (stream.records && status == STATUS_OK) {
        status = stream_next (&stream, &record, NULL);
        if (status == STATUS_OK) {
            player_expect (player, &record);
            player_play (player, &record, true);
        }
    }
    index_check (player_index (player));
    player_result (player, result);
    player_destroy (&player);
    return status;
}

static void
test_overlaps_add_up (void **state)
{
    writer_t writer;
    player_result_t result;
    assert_int_equal (s_play (s_story (&writer), &result), STATUS_OK);
    assert_int_equal (result.lookups, 3);
    assert_int_equal (result.pairs, 5);
    assert_int_equal (result.sum, (4 + 3) + (2 + 3) + 2);
    assert_int_equal (result.mix, 0xb4f339ad86edd998u);    //  Computed apart from this code
}

//  Cut anywhere, or with any byte of its heads changed, a stream is refused or played; nothing is read behind it.
static void
test_damaged_streams_are_refused (void **state)
{
    writer_t writer;
    player_result_t result;
    span_t story = s_story (&writer);
    for (size_t size = 0; size < story.size; size++)
        assert_int_equal (s_play (span_slice (story, 0, size), &result), STATUS_CORRUPT);
    assert_int_equal (s_play (span_slice (story, 4, SIZE_MAX), &result), STATUS_CORRUPT);
    for (size_t word = 0; word < writer.count; word++) {
        uint64_t good = writer.words [word];
        for (int bit = 0; bit < 64; bit += 3) {
            writer.words [word] = good ^ 1ull << bit;
            if (word == 2 && writer.words [word] > 1000)
                continue;    //  So many workers are fine, but slow
            s_play (story, &result);
        }
        writer.words [word] = good;
    }
    writer.words [16] = 9;
    error_t error;
    stream_t stream;
    stream_record_t record;
    assert_int_equal (stream_init (&stream, story, NULL), STATUS_OK);
    assert_int_equal (stream_next (&stream, &record, &error), STATUS_CORRUPT);
    assert_string_equal (error.text, "a record has type 9 and worker 0");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_overlaps_add_up),
        cmocka_unit_test (test_damaged_streams_are_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
