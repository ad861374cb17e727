//  Batches: order kept, malformed ones read up to the mistake and no further.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "schemas/batch.h"
#include "schemas/event.h"
#include "schemas/kv.h"
#include "schemas/load.h"

static void
test_events_come_out_in_the_order_they_went_in (void **state)
{
    batch_t batch;
    batch_init (&batch);
    for (uint16_t rank = 0; rank < 40; rank++)
        batch_append (&batch, &kv_cleared_message, &(kv_cleared_t){ .rank = rank, .tier = TIER_HOST });
    assert_int_equal (batch.count, 40);
    assert_int_equal (batch_span (&batch).size, batch_size (&batch));

    batch_reader_t reader;
    batch_reader_init (&reader, STREAM_KV, batch_span (&batch));
    const message_type_t *type;
    span_t bytes;
    kv_cleared_t event;
    for (uint16_t rank = 0; rank < 40; rank++) {
        assert_true (batch_reader_next (&reader, &type, &bytes, NULL));
        assert_ptr_equal (type, &kv_cleared_message);
        assert_int_equal (kv_cleared_decode (&event, bytes, NULL, NULL), STATUS_OK);
        assert_int_equal (event.rank, rank);
    }
    assert_false (batch_reader_next (&reader, &type, &bytes, NULL));
    assert_int_equal (reader.status, STATUS_OK);

    batch_clear (&batch);
    batch_reader_init (&reader, STREAM_KV, batch_span (&batch));
    assert_false (batch_reader_next (&reader, &type, &bytes, NULL));
    assert_int_equal (reader.status, STATUS_OK);
    batch_fini (&batch);
}

//  The same kind number is another event, or none, in another stream.
static void
test_a_kind_belongs_to_its_stream (void **state)
{
    batch_t batch;
    batch_init (&batch);
    batch_append (&batch, &worker_load_message, &(worker_load_t){ .rank = 1 });
    batch_reader_t reader;
    const message_type_t *type;
    span_t bytes;
    static const struct {
        uint16_t stream;
        const message_type_t *type;
    } readings [] = { { STREAM_LOAD, &worker_load_message }, { STREAM_KV, &kv_stored_message }, { 77, NULL } };
    for (size_t i = 0; i < sizeof readings / sizeof readings [0]; i++) {
        batch_reader_init (&reader, readings [i].stream, batch_span (&batch));
        assert_true (batch_reader_next (&reader, &type, &bytes, NULL));
        assert_ptr_equal (type, readings [i].type);
    }
    batch_fini (&batch);
}

static void
test_what_is_no_batch_is_refused_in_words (void **state)
{
    static const struct {
        span_t payload;
        size_t good;
        const char *sentence;
    } cases [] = {
        { { NULL, 0 }, 0, "a batch of stream kv ends too early" },
        { { (const uint8_t *)"\x80", 1 }, 0, "a batch of stream kv is no array of kind numbers and events" },
        { { (const uint8_t *)"\x91\x01", 2 }, 0, "a batch of stream kv is no array of kind numbers and events" },
        { { (const uint8_t *)"\xdd\xff\xff\xff\xfe", 5 }, 0, "a batch of stream kv ends too early" },
        { { (const uint8_t *)"\x92\xa1x\xc0", 4 }, 0,
            "a batch of stream kv has a kind that is no number from 0 to 65535" },
        { { (const uint8_t *)"\x92\xce\x00\x01\x00\x00\xc0", 7 }, 0,
            "a batch of stream kv has a kind that is no number from 0 to 65535" },
        { { (const uint8_t *)"\x92\x01\x92\xc0", 4 }, 0, "a batch of stream kv ends too early" },
        { { (const uint8_t *)"\x94\x01\xc0\x01\xc1", 5 }, 1,
            "a batch of stream kv has the byte 0xc1, which MessagePack does not use" },
        { { (const uint8_t *)"\x92\x01\xc0\xc0", 4 }, 1, "a batch of stream kv has bytes behind its end" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases [0]; i++) {
        batch_reader_t reader;
        const message_type_t *type;
        span_t bytes;
        error_t error = { 0 };
        size_t good = 0;
        batch_reader_init (&reader, STREAM_KV, cases [i].payload);
        while (batch_reader_next (&reader, &type, &bytes, &error))
            good++;
        assert_int_equal (good, cases [i].good);
        assert_int_equal (reader.status, STATUS_INVALID);
        assert_string_equal (error.text, cases [i].sentence);
        assert_false (batch_reader_next (&reader, &type, &bytes, &error));
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_events_come_out_in_the_order_they_went_in),
        cmocka_unit_test (test_a_kind_belongs_to_its_stream),
        cmocka_unit_test (test_what_is_no_batch_is_refused_in_words),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
