//  stator bench fanout - what it costs to bring an event to those who follow
//
//  The broker, and beside it a bare relay, each a process of its own.  What feeds them and who follows are the same for both:
//  plain libzmq sockets of this process, which are not measured.  The feeder waits for the slowest follower, so nothing may
//  be lost here, and every follower must see every number; what happens when it does not wait is bench_loss.h.

#include <string.h>
#include <zmq.h>

#include "base/memory.h"
#include "cli/bench/bench_fleet.h"
#include "cli/bench/bench_loss.h"
#include "cli/caller.h"
#include "schemas/batch.h"
#include "schemas/event.h"
#include "schemas/event_header.h"
#include "schemas/load.h"

#define ADDRESS "worker/bench"

enum {
    FOLLOWERS_MAX = 64,
    AHEAD = 400,               //  Messages the feeder may be ahead of the slowest: fewer than any queue holds
    PATIENCE_MS = 60000,       //  Silence after which something was lost
    JOIN_MS = 20,              //  Between two attempts to be heard
    JOIN_TRIES = 5000,         //  Attempts
    ROUNDS = 6,                //  The least of these counts
    LEASE_MS = 600000,         //  Longer than the bench
    WARM_SHARE = 10,           //  This part of the messages is not counted
    FRAMES_MAX = 5,            //  Of a message
    NAME_MAX_SIZE = 64,        //  Of a cell
    REPLY_MEMORY = 1 << 20,    //  For the broker's answer
    NUMBER = 24,               //  Where the sequence number stands in an event's header
};

//  Rings that are full soon, as those of a broker are that has run for a while.
static const char s_config [] = "version: 1\nbroker: { ring: 256KiB }\n";

static const struct {
    size_t followers;     //  How many
    size_t events;        //  In a message
    uint64_t messages;    //  In all
    uint64_t quick;       //  The same, where only little is to be done
} s_loads [] = {
    { 1, 1, 100000, 500 },
    { 1, 100, 30000, 500 },
    { 8, 1, 30000, 500 },
    { 8, 100, 10000, 500 },
    { 64, 1, 4000, 100 },
    { 64, 100, 2000, 100 },
};
enum { LOADS = sizeof s_loads / sizeof *s_loads };

//  The sockets of this process.
typedef struct {
    void *feed;                           //  DEALER, to what is measured
    void *followers [FOLLOWERS_MAX];      //  SUB
    uint64_t received [FOLLOWERS_MAX];    //  Last number that came
    size_t count;                         //  How many follow
} harness_t;

//  A message, the same for both: an empty frame, the header of a hand-over, and the event's three.
typedef struct {
    span_t frames [FRAMES_MAX];            //  In order
    size_t count;                          //  How many
    uint8_t header [EVENT_HEADER_SIZE];    //  One of them; its number is written for each message
    buffer_t handover;                     //  The frame that tells the broker that an event follows
    buffer_t topic;                        //  "load.worker/bench."
    batch_t batch;                         //  The payload
} message_t;

//  ---- Messages ------------------------------------------------------------------------------------------------------

static void
s_message_init (message_t *self, size_t events, uint64_t incarnation)
{
    *self = (message_t){ 0 };
    event_header_t header = {
        .version = EVENT_VERSION,
        .stream = STREAM_LOAD,
        .source = event_source (SPAN (ADDRESS)),
        .incarnation = incarnation,
    };
    frame_header_t handover = { .version = WIRE_VERSION, .kind = FRAME_KIND_EVENT };
    event_header_encode (&header, self->header);
    event_topic_append (&self->topic, STREAM_LOAD, SPAN (ADDRESS));
    message_encode (&frame_header_message, &handover, &self->handover);
    batch_init (&self->batch);
    for (size_t i = 0; i < events; i++) {
        worker_load_t event = { .running = (uint32_t)i, .kv_used = 1000 + i, .kv_capacity = 100000 };
        batch_append (&self->batch, &worker_load_message, &event);
    }
    self->frames [self->count++] = SPAN ("");
    self->frames [self->count++] = buffer_span (&self->handover);
    self->frames [self->count++] = buffer_span (&self->topic);
    self->frames [self->count++] = span_of (self->header, sizeof self->header);
    self->frames [self->count++] = batch_span (&self->batch);
}

static void
s_message_fini (message_t *self)
{
    buffer_fini (&self->topic);
    buffer_fini (&self->handover);
    batch_fini (&self->batch);
}

static uint64_t
s_read_number (const uint8_t *bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | bytes [i];
    return number;
}

static void
s_write_number (uint8_t *bytes, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        bytes [i] = (uint8_t)(number >> (56 - 8 * i));
}

static void
s_send (harness_t *self, message_t *message, uint64_t number)
{
    s_write_number (message->header + NUMBER, number);
    for (size_t i = 0; i < message->count; i++)
        zmq_send (
            self->feed, message->frames [i].data, message->frames [i].size, i + 1 < message->count ? ZMQ_SNDMORE : 0);
}

//  ---- Followers -----------------------------------------------------------------------------------------------------

//  Reads what waits; each message must have the next number.  The first one is where a follower begins.
static status_t
s_drain (harness_t *self, size_t follower, error_t *error)
{
    void *socket = self->followers [follower];
    uint64_t *received = &self->received [follower];
    uint8_t frame [EVENT_HEADER_SIZE];
    while (zmq_recv (socket, frame, sizeof frame, ZMQ_DONTWAIT) >= 0) {
        if (zmq_recv (socket, frame, sizeof frame, 0) != EVENT_HEADER_SIZE || zmq_recv (socket, NULL, 0, 0) < 0)
            return error_set (error, STATUS_CORRUPT, "a follower received what is no event");
        uint64_t number = s_read_number (frame + NUMBER);
        if (*received && number != *received + 1)
            return error_set (error, STATUS_CORRUPT, "a follower received message %llu behind %llu",
                (unsigned long long)number, (unsigned long long)*received);
        *received = number;
    }
    return STATUS_OK;
}

//  What the broker answers is that it has the events.
static void
s_drop_answers (harness_t *self)
{
    while (zmq_recv (self->feed, NULL, 0, ZMQ_DONTWAIT) >= 0)
        continue;
}

static uint64_t
s_slowest (const harness_t *self)
{
    uint64_t slowest = UINT64_MAX;
    for (size_t i = 0; i < self->count; i++)
        slowest = self->received [i] < slowest ? self->received [i] : slowest;
    return slowest;
}

//  Waits until something comes, and reads it.  False where nothing came.
static bool
s_receive (harness_t *self, long timeout_ms, error_t *error)
{
    zmq_pollitem_t items [FOLLOWERS_MAX];
    for (size_t i = 0; i < self->count; i++)
        items [i] = (zmq_pollitem_t){ .socket = self->followers [i], .events = ZMQ_POLLIN };
    bool came = zmq_poll (items, (int)self->count, timeout_ms) > 0;
    for (size_t i = 0; i < self->count && error->status == STATUS_OK; i++)
        if (items [i].revents)
            s_drain (self, i, error);
    s_drop_answers (self);
    return came;
}

//  ---- Measuring -----------------------------------------------------------------------------------------------------

static void
s_open (harness_t *self, const char *in, const char *out, size_t followers)
{
    int none = 0;
    *self = (harness_t){ .feed = zmq_socket (caller_zmq (), ZMQ_DEALER), .count = followers };
    zmq_setsockopt (self->feed, ZMQ_LINGER, &none, sizeof none);
    zmq_connect (self->feed, in);
    for (size_t i = 0; i < followers; i++) {
        self->followers [i] = zmq_socket (caller_zmq (), ZMQ_SUB);
        zmq_setsockopt (self->followers [i], ZMQ_LINGER, &none, sizeof none);
        zmq_setsockopt (self->followers [i], ZMQ_SUBSCRIBE, "load.", 5);
        zmq_connect (self->followers [i], out);
    }
}

static void
s_close (harness_t *self)
{
    zmq_close (self->feed);
    for (size_t i = 0; i < self->count; i++)
        zmq_close (self->followers [i]);
}

//  Nobody says when a subscription has arrived: sends until all have heard something.
static status_t
s_join (harness_t *self, message_t *message, uint64_t *sent, error_t *error)
{
    for (int tries = 0; s_slowest (self) == 0 && tries < JOIN_TRIES && error->status == STATUS_OK; tries++) {
        s_send (self, message, ++*sent);
        s_receive (self, JOIN_MS, error);
    }
    if (s_slowest (self) == 0 && error->status == STATUS_OK)
        return error_set (error, STATUS_DEADLINE, "a follower hears nothing");
    return error->status;
}

//  Sends until all have seen message `last`.
static status_t
s_feed (harness_t *self, message_t *message, uint64_t *sent, uint64_t last, error_t *error)
{
    while (s_slowest (self) < last && error->status == STATUS_OK) {
        for (; *sent < last && *sent - s_slowest (self) < AHEAD; s_send (self, message, *sent))
            ++*sent;
        if (!s_receive (self, PATIENCE_MS, error))
            error_set (error, STATUS_DEADLINE, "a follower waits for message %llu in vain",
                (unsigned long long)s_slowest (self) + 1);
    }
    return error->status;
}

//  What a message costs in the process `child`.
static status_t
s_measure (harness_t *self, message_t *message, const bench_child_t *child, uint64_t messages, bench_cost_t *cost,
    error_t *error)
{
    uint64_t sent = 0;
    error_clear (error);
    if (s_join (self, message, &sent, error) != STATUS_OK ||
        s_feed (self, message, &sent, sent + messages / WARM_SHARE, error) != STATUS_OK)
        return error->status;
    double cpu_s = bench_child_seconds (child), wall_s = bench_wall_seconds ();
    if (s_feed (self, message, &sent, sent + messages, error) != STATUS_OK)
        return error->status;
    cost->cpu = (bench_child_seconds (child) - cpu_s) * 1e6 / (double)messages;
    cost->wall = (bench_wall_seconds () - wall_s) * 1e6 / (double)messages;
    return STATUS_OK;
}

//  A source that says nothing but what the feeder sends for it.
static status_t
s_register (const char *broker, uint64_t *incarnation, error_t *error)
{
    arena_t arena;
    register_actor_t request = { .entry = { .address = SPAN (ADDRESS),
                                     .incarnation = 1,
                                     .version = WIRE_VERSION,
                                     .schema = schema_hash (),
                                     .lease_ms = LEASE_MS,
                                     .state = ACTOR_STATE_ALIVE,
                                     .host = SPAN ("") } };
    register_reply_t reply = { 0 };
    caller_t *caller = caller_new (broker, error);
    if (!caller)
        return error->status;
    arena_init (&arena, REPLY_MEMORY);
    status_t status = caller_call (caller, &register_actor_message, &request, PATIENCE_MS, &arena, &reply, error);
    *incarnation = reply.incarnation;
    arena_fini (&arena);
    caller_destroy (&caller);
    return status;
}

static status_t
s_measure_ours (const bench_run_t *run, size_t load, uint64_t messages, bench_cost_t *cost, error_t *error)
{
    bench_fleet_t fleet;
    uint64_t incarnation = 0;
    status_t status = bench_fleet_open (&fleet, run, s_config, error);
    bench_child_t *broker = status ? NULL : bench_fleet_start (&fleet, "broker", "broker", 1, error);
    if (!broker || s_register (fleet.broker, &incarnation, error) != STATUS_OK) {
        status = error->status;
    } else {
        harness_t harness;
        message_t message;
        s_message_init (&message, s_loads [load].events, incarnation);
        s_open (&harness, fleet.broker, fleet.events, s_loads [load].followers);
        status = s_measure (&harness, &message, broker, messages, cost, error);
        s_close (&harness);
        s_message_fini (&message);
    }
    bench_fleet_close (&fleet);
    return status;
}

static status_t
s_measure_bare (
    const bench_run_t *run, const char *folder, size_t load, uint64_t messages, bench_cost_t *cost, error_t *error)
{
    char in [ENDPOINT_MAX], out [ENDPOINT_MAX];
    const char *words [] = { in, out, "3", NULL };
    bench_child_t relay = { 0 };
    snprintf (in, sizeof in, "ipc://%s/in", folder);
    snprintf (out, sizeof out, "ipc://%s/out", folder);
    status_t status = bench_child_start_bare (&relay, run, "relay", words, error);
    if (!status)
        status = bench_child_read (&relay, NULL, 0, error);
    if (!status) {
        harness_t harness;
        message_t message;
        s_message_init (&message, s_loads [load].events, 1);
        s_open (&harness, in, out, s_loads [load].followers);
        status = s_measure (&harness, &message, &relay, messages, cost, error);
        s_close (&harness);
        s_message_fini (&message);
    }
    bench_child_stop (&relay);
    return status;
}

//  ---- Cells ---------------------------------------------------------------------------------------------------------

static void
s_print (const char *name, size_t load, const bench_cost_t *ours, const bench_cost_t *bare)
{
    bench_cell_t cell;
    double events = (double)s_loads [load].events;
    bench_cell_begin (&cell, &bench_fanout, name);
    bench_cell_count (&cell, "followers", s_loads [load].followers);
    bench_cell_count (&cell, "events_a_message", s_loads [load].events);
    bench_cell_figure (&cell, "cpu_us", ours->cpu);
    bench_cell_figure (&cell, "bare_cpu_us", bare->cpu);
    bench_cell_figure (&cell, "events_per_cpu_s", events * 1e6 / ours->cpu);
    bench_cell_figure (&cell, "bare_events_per_cpu_s", events * 1e6 / bare->cpu);
    bench_cell_figure (&cell, "events_per_s", events * 1e6 / ours->wall);
    bench_cell_ratio (&cell, bare->cpu, ours->cpu);
    bench_cell_print (&cell);
}

static status_t
s_run_cell (const bench_run_t *run, const char *folder, size_t load, error_t *error)
{
    char name [NAME_MAX_SIZE];
    bench_cost_t ours = { 0 }, bare = { 0 };
    status_t status = STATUS_OK;
    uint64_t messages = run->quick ? s_loads [load].quick : s_loads [load].messages;
    snprintf (name, sizeof name, "%zu_followers_%zu_events", s_loads [load].followers, s_loads [load].events);
    if (!bench_wants (run, name))
        return STATUS_OK;
    for (int round = 0; round < (run->quick ? 1 : ROUNDS) && !status; round++) {
        bench_cost_t cost_ours = { 0 }, cost_bare = { 0 };
        status = s_measure_ours (run, load, messages, &cost_ours, error);
        if (!status)
            status = s_measure_bare (run, folder, load, messages, &cost_bare, error);
        bench_cost_keep_least (&ours, &cost_ours, round == 0);
        bench_cost_keep_least (&bare, &cost_bare, round == 0);
    }
    if (!status)
        s_print (name, load, &ours, &bare);
    return status;
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    char folder [BENCH_FOLDER_MAX];
    status_t status = bench_folder_make (folder, error);
    if (status)
        return status;
    for (size_t load = 0; load < LOADS && !status; load++)
        status = s_run_cell (run, folder, load, error);
    if (!status && bench_wants (run, "loss"))
        status = bench_loss_run (run, &bench_fanout, error);
    bench_folder_remove (folder);
    return status;
}

const bench_t bench_fanout = {
    .name = "fanout",
    .arguments = "[CELL ...]",
    .doc = "An event through the broker to 1, 8 and 64 followers, 1 and 100 a message, beside a bare relay.",
    .words_max = BENCH_CELLS,
    .run = s_run,
};
