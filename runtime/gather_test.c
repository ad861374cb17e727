//  Items of many streams share messages, in the simulated world: what is said arrives as it was said, and to whom.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "runtime/directory.h"
#include "runtime/incoming.h"
#include "runtime/stream.h"
#include "schemas/call.h"
#include "schemas/event.h"
#include "tests/stage_broker.h"

enum { STREAMS = 600, ITEMS_MAX = 256, BYTES_MAX = 32 << 10, LARGE = 40000, EACH = 40, WINDOW = 20 };

static const uint64_t MILLISECOND = REALM_SECOND / 1000;

//  ---- Who speaks: a stream for each voice, on which it says what the test wants -------------------------------------

typedef enum { FATE_OPEN, FATE_ENDED, FATE_FAILED } fate_t;

typedef struct {
    incoming_t *incoming;    //  NULL: nobody listens
    uint64_t said;           //  Items
    fate_t fate;             //  As it was said
    size_t cancels;          //  Heard
} voice_t;

typedef struct {
    voice_t voices [STREAMS];    //  By the number that the caller asks for
} speaker_t;

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    voice_t *voice = arg;
    voice->cancels++;
    voice->incoming = NULL;
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static void
s_on_replay (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    voice_t *voice = &((speaker_t *)self_)->voices [((const replay_t *)message)->from];
    *voice = (voice_t){ .incoming = incoming };
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_on_cancel, .arg = voice });
}

static const actor_handler_t s_speaker_handlers [] = {
    HANDLES_CALL (replay, s_on_replay),
    HANDLERS_END,
};

static const actor_class_t s_speaker_class = {
    .name = "speaker", .state_size = sizeof (speaker_t), .handlers = s_speaker_handlers
};

//  ---- Who listens ---------------------------------------------------------------------------------------------------

typedef struct {
    stream_t stream;    //  To the voice of the same number
    size_t number;      //  Of both
    uint64_t heard;     //  Items
    size_t ended;       //  Times
    bool deaf;          //  It was cancelled
} ear_t;

typedef struct {
    ear_t ears [EACH];    //  Some of the numbers
    bool drops;           //  Whoever hears something drops all others
} listener_t;

static void
s_listener_fini (void *self_, actor_t *actor)
{
    listener_t *self = self_;
    for (size_t i = 0; i < EACH; i++)
        stream_drop (&self->ears [i].stream);
}

static const actor_handler_t s_listener_handlers [] = { HANDLERS_END };

static const actor_class_t s_listener_class = {
    .name = "listener", .state_size = sizeof (listener_t), .fini = s_listener_fini, .handlers = s_listener_handlers
};

//  ---- The stage -----------------------------------------------------------------------------------------------------

static stage_t *s_stage;

static void
s_begin (uint64_t seed)
{
    s_stage = stage_new (seed);
    stage_add (s_stage, &(stage_actor_t){ .class = &broker_class, .instance = "0", .options = &stage_broker_options });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_speaker_class, .instance = "0", .machine = "m1" });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_listener_class, .instance = "0", .machine = "m2" });
    stage_add (s_stage, &(stage_actor_t){ .class = &s_listener_class, .instance = "1", .machine = "m3" });
    stage_run (s_stage, 2 * REALM_SECOND);
}

static void
s_end (void)
{
    stage_destroy (&s_stage);
}

static voice_t *
s_voice (size_t number)
{
    speaker_t *speaker = actor_state (stage_find (s_stage, "speaker/0"));
    return &speaker->voices [number];
}

static void
s_say (size_t number, size_t size)
{
    static const uint8_t filler [LARGE];
    voice_t *voice = s_voice (number);
    replayed_batch_t item = { .sequence = voice->said++, .wall_ns = number, .payload = span_of (filler, size) };
    incoming_send (voice->incoming, 1, &item);
}

//  Says the last word.
static void
s_close (size_t number, fate_t fate)
{
    voice_t *voice = s_voice (number);
    if (fate == FATE_ENDED)
        incoming_end (voice->incoming, &(replay_end_t){ 0 });
    else
        incoming_fail (voice->incoming, STATUS_REFUSED, "nothing more");
    voice->incoming = NULL;
    voice->fate = fate;
}

//  What listeners were told of items, in order: the stream's number, and the step before it came, or HANDED_OVER.
enum { HANDED_OVER = STREAM_STEPS };

static struct {
    size_t numbers [EACH * (STREAM_STEPS + 1)];    //  See above
    unsigned steps [EACH * (STREAM_STEPS + 1)];    //  Likewise
    size_t count;                                  //  How many
    bool closed;                                   //  Nothing is taken down
} s_diary = { .closed = true };

static void
s_take_down (size_t number, unsigned step)
{
    if (s_diary.closed)
        return;
    s_diary.numbers [s_diary.count] = number;
    s_diary.steps [s_diary.count++] = step;
}

static listener_t *
s_listener (size_t number)
{
    return actor_state (stage_find (s_stage, number < EACH ? "listener/0" : "listener/1"));
}

static ear_t *
s_ear (size_t number)
{
    return &s_listener (number)->ears [number % EACH];
}

static void
s_on_coming (const void *arg, unsigned step)
{
    s_take_down (((const ear_t *)arg)->number, step);
}

static uint64_t
s_on_item (void *self_, void *arg, uint64_t position, const void *message)
{
    listener_t *self = self_;
    ear_t *ear = arg;
    const replayed_batch_t *item = message;
    s_take_down (ear->number, HANDED_OVER);
    assert_int_equal (item->wall_ns, ear->number);
    assert_int_equal (item->sequence, ear->heard);
    assert_int_equal (position, ear->heard);
    ear->heard++;
    stream_credit (&ear->stream, ear->heard + WINDOW);
    for (size_t i = 0; self->drops && i < EACH; i++)
        if (&self->ears [i] != ear)
            stream_drop (&self->ears [i].stream);
    return 1;
}

//  All that was said before the last word was heard before it.
static void
s_on_end (void *self, void *arg, call_result_t result, const void *end)
{
    ear_t *ear = arg;
    ear->ended++;
    if (ear->deaf)
        return;
    const voice_t *voice = s_voice (ear->number);
    assert_int_equal (ear->heard, voice->said);
    assert_int_not_equal (voice->fate, FATE_OPEN);
    assert_int_equal (result, voice->fate == FATE_ENDED ? CALL_REPLIED : CALL_FAILED);
    if (result == CALL_FAILED)
        assert_int_equal (stream_error (&ear->stream)->status, STATUS_REFUSED);
}

static void
s_listen (size_t number)
{
    ear_t *ear = s_ear (number);
    replay_t request = { .from = number };
    stream_options_t options = { .on_item = s_on_item,
        .on_end = s_on_end,
        .credit = WINDOW,
        .idle_timeout_ns = PORT_NEVER,
        .on_coming = s_on_coming };
    *ear = (ear_t){ .number = number };
    stream_open (&ear->stream, stage_find (s_stage, number < EACH ? "listener/0" : "listener/1"), SPAN ("speaker/0"),
        &replay_message, &request, &options, ear);
}

//  ---- Whatever is said, in whatever order ---------------------------------------------------------------------------

static void
s_do_something (random_t *random)
{
    size_t number = random_below (random, 2 * EACH);
    const voice_t *voice = s_voice (number);
    ear_t *ear = s_ear (number);
    if (!voice->incoming) {
        if (!stream_is_active (&ear->stream))
            s_listen (number);
    } else if (random_chance (random, 10000)) {
        s_close (number, random_chance (random, 500000) ? FATE_ENDED : FATE_FAILED);
    } else if (random_chance (random, 2000) && stream_is_active (&ear->stream)) {
        ear->deaf = true;
        stream_cancel (&ear->stream);
    } else if (incoming_position (voice->incoming) < incoming_credit (voice->incoming)) {
        s_say (number, random_below (random, random_chance (random, 10000) ? LARGE : 60));
    }
}

static void
test_what_is_said_in_any_order_is_heard_whole_and_in_order (void **state)
{
    uint64_t seed = 20261130, heard = 0;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    s_begin (seed);
    for (size_t turn = 0; turn < 500; turn++) {
        for (uint64_t left = random_below (&random, 600); left; left--)
            s_do_something (&random);
        stage_run (s_stage, random_below (&random, 4 * MILLISECOND));
    }
    stage_run (s_stage, REALM_SECOND);
    for (size_t i = 0; i < 2 * EACH; i++) {
        assert_true (s_ear (i)->deaf || s_ear (i)->heard == s_voice (i)->said);
        heard += s_ear (i)->heard;
    }
    assert_true (heard > 1000);
    s_end ();
}

//  Whoever hears one item may be done with the streams of those behind it, in the same message.
static void
test_a_stream_that_is_dropped_by_another_hears_nothing_more (void **state)
{
    s_begin (1);
    for (size_t i = 0; i < 3; i++)
        s_listen (i);
    stage_run (s_stage, REALM_SECOND);
    s_listener (0)->drops = true;
    for (size_t i = 0; i < 3; i++)
        s_say (2 - i, 1);
    stage_run (s_stage, REALM_SECOND);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal (s_ear (i)->heard, i == 2);
        assert_int_equal (s_voice (i)->cancels, i != 2);
    }
    s_end ();
}

//  Of some at a time each step is told of all of them, then they are handed over.  Of one that comes alone nothing is told.
static void
test_items_that_come_together_are_told_of_before (void **state)
{
    enum { COUNT = STREAM_TOGETHER + 4 };
    size_t at = 0;
    s_begin (1);
    for (size_t i = 0; i < COUNT; i++)
        s_listen (i);
    stage_run (s_stage, REALM_SECOND);
    s_diary.closed = false;
    for (size_t i = 0; i < COUNT; i++)
        s_say (i, 1);
    stage_run (s_stage, REALM_SECOND);
    for (size_t first = 0; first < COUNT; first += STREAM_TOGETHER)
        for (unsigned step = 0; step <= HANDED_OVER; step++)
            for (size_t i = first; i < COUNT && i < first + STREAM_TOGETHER; i++, at++) {
                assert_int_equal (s_diary.numbers [at], i);
                assert_int_equal (s_diary.steps [at], step);
            }
    assert_int_equal (s_diary.count, at);
    s_say (0, 1);
    stage_run (s_stage, REALM_SECOND);
    s_diary.closed = true;
    assert_int_equal (s_diary.count, at + 1);
    assert_int_equal (s_diary.steps [at], HANDED_OVER);
    s_end ();
}

//  ---- What it looks like on the wire --------------------------------------------------------------------------------

//  A socket that opens streams, and takes down what comes.
typedef struct {
    port_socket_t *socket;        //  DEALER
    frame_kind_t kinds [2000];    //  Of the messages
    size_t counts [2000];         //  Items in each
    size_t sizes [2000];          //  Bytes of its body
    size_t messages;              //  How many
    uint64_t heard [STREAMS];     //  Items of each stream
} stranger_t;

static void
s_take_gathered (stranger_t *self, span_t body)
{
    gathered_items_t gathered;
    assert_int_equal (gathered_items_decode (&gathered, body, NULL, NULL), STATUS_OK);
    self->counts [self->messages] = gathered.ids.count;
    for (size_t i = 0; i < gathered.ids.count; i++)
        assert_int_equal (column_u64 (gathered.positions, i), self->heard [column_u64 (gathered.ids, i)]++);
}

static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    stranger_t *self = arg;
    frame_header_t header;
    assert_int_equal (count, 3);
    assert_int_equal (frame_header_decode (&header, frames [1], NULL, NULL), STATUS_OK);
    self->kinds [self->messages] = header.kind;
    self->sizes [self->messages] = frames [2].size;
    if (header.kind == FRAME_KIND_ITEMS)
        s_take_gathered (self, frames [2]);
    else if (header.kind == FRAME_KIND_ITEM)
        assert_int_equal (header.position, self->heard [header.id]++);
    self->messages++;
}

//  Borrows the port of a listener's process, and opens streams that may be gathered, or not.
static void
s_open_stranger (stranger_t *self, size_t streams, bool gathers)
{
    actor_t *listener = stage_find (s_stage, "listener/0");
    port_t *port = actor_port (listener);
    char endpoint [ENDPOINT_MAX];
    buffer_t head = { 0 }, body = { 0 };
    span_copy_string (directory_find (listener, SPAN ("speaker/0"))->endpoint, endpoint, sizeof endpoint);
    socket_options_t options = { .kind = SOCKET_DEALER, .on_message = s_on_message, .arg = self };
    *self = (stranger_t){ .socket = port->table->socket_open (port, &options, NULL) };
    assert_int_equal (port->table->socket_connect (self->socket, endpoint, NULL), STATUS_OK);
    for (size_t i = 0; i < streams; i++) {
        frame_header_t header = { .version = 1,
            .kind = FRAME_KIND_CALL,
            .id = i,
            .has_method = true,
            .method = SPAN ("replay"),
            .has_position = true,
            .position = 1000000,
            .has_gathers = gathers,
            .gathers = gathers };
        buffer_clear (&head);
        buffer_clear (&body);
        frame_header_encode (&header, &head);
        replay_encode (&(replay_t){ .from = i }, &body);
        span_t frames [] = { SPAN (""), buffer_span (&head), buffer_span (&body) };
        assert_int_equal (port->table->socket_send (self->socket, frames, 3), STATUS_OK);
    }
    stage_run (s_stage, REALM_SECOND);
    buffer_fini (&head);
    buffer_fini (&body);
}

static void
s_close_stranger (stranger_t *self)
{
    port_t *port = actor_port (stage_find (s_stage, "listener/0"));
    port->table->socket_close (self->socket);
}

static void
test_what_is_said_in_one_turn_is_one_message (void **state)
{
    stranger_t stranger;
    s_begin (1);
    s_open_stranger (&stranger, 100, true);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 100; i++)
            s_say (i, 5);
        stage_run (s_stage, REALM_SECOND);
        assert_int_equal (stranger.messages, round + 1);
        assert_int_equal (stranger.kinds [round], FRAME_KIND_ITEMS);
        assert_int_equal (stranger.counts [round], 100);
    }
    s_close_stranger (&stranger);
    s_end ();
}

//  By items, and by bytes; what is larger than a message may be goes by itself, behind what was said before.
static void
test_a_message_is_bounded (void **state)
{
    stranger_t stranger;
    s_begin (1);
    s_open_stranger (&stranger, STREAMS, true);
    for (size_t i = 0; i < STREAMS; i++)
        s_say (i, 5);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (stranger.messages, 3);
    assert_int_equal (stranger.counts [0], ITEMS_MAX);
    assert_int_equal (stranger.counts [1], ITEMS_MAX);

    stranger.messages = 0;
    for (size_t i = 0; i < 100; i++)
        s_say (i, 1000);
    s_say (0, LARGE);
    s_say (0, 5);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (stranger.messages, 6);
    for (size_t i = 0; i < 4; i++)
        assert_in_range (stranger.sizes [i], 2, BYTES_MAX + 100 * 20 + 20);
    assert_int_equal (stranger.kinds [4], FRAME_KIND_ITEM);
    assert_int_equal (stranger.kinds [5], FRAME_KIND_ITEM);
    assert_int_equal (stranger.heard [0], 4);
    s_close_stranger (&stranger);
    s_end ();
}

static void
test_an_item_that_is_alone_goes_as_one (void **state)
{
    stranger_t stranger;
    s_begin (1);
    s_open_stranger (&stranger, 2, true);
    s_say (0, 5);
    stage_run (s_stage, REALM_SECOND);
    s_say (1, 5);
    s_close (1, FATE_ENDED);
    s_say (0, 5);
    stage_run (s_stage, REALM_SECOND);
    static const frame_kind_t kinds [] = { FRAME_KIND_ITEM, FRAME_KIND_ITEM, FRAME_KIND_END, FRAME_KIND_ITEM };
    assert_int_equal (stranger.messages, 4);
    assert_memory_equal (stranger.kinds, kinds, sizeof kinds);
    s_close_stranger (&stranger);
    s_end ();
}

//  As a program in another language does that knows of items only.
static void
test_whoever_does_not_ask_for_it_gets_items_one_by_one (void **state)
{
    stranger_t stranger;
    s_begin (1);
    s_open_stranger (&stranger, 100, false);
    for (size_t i = 0; i < 100; i++)
        s_say (i, 5);
    stage_run (s_stage, REALM_SECOND);
    assert_int_equal (stranger.messages, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal (stranger.kinds [i], FRAME_KIND_ITEM);
        assert_int_equal (stranger.heard [i], 1);
    }
    s_close_stranger (&stranger);
    s_end ();
}

//  ---- A peer that is gone -------------------------------------------------------------------------------------------

//  Everybody who had something in the message that found nobody is told, once, and nobody else.
static void
test_a_peer_that_is_gone_is_told_to_all_who_spoke_to_it (void **state)
{
    stranger_t stranger;
    s_begin (1);
    s_open_stranger (&stranger, 4, true);
    s_close_stranger (&stranger);
    stage_run (s_stage, REALM_SECOND);
    for (size_t i = 0; i < 6; i++)
        s_say (i % 3, 5);
    assert_int_equal (s_voice (0)->cancels, 0);
    stage_run (s_stage, REALM_SECOND);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal (s_voice (i)->cancels, i < 3);
    s_end ();
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_is_said_in_any_order_is_heard_whole_and_in_order),
        cmocka_unit_test (test_a_stream_that_is_dropped_by_another_hears_nothing_more),
        cmocka_unit_test (test_items_that_come_together_are_told_of_before),
        cmocka_unit_test (test_what_is_said_in_one_turn_is_one_message),
        cmocka_unit_test (test_a_message_is_bounded),
        cmocka_unit_test (test_an_item_that_is_alone_goes_as_one),
        cmocka_unit_test (test_whoever_does_not_ask_for_it_gets_items_one_by_one),
        cmocka_unit_test (test_a_peer_that_is_gone_is_told_to_all_who_spoke_to_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
