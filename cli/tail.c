//  stator tail - watch what happens
//
//  A plain SUB socket on the broker's fan-out.  It asks nobody for anything, so it cannot slow the bus: a tail that is
//  behind misses batches, says how many, and goes on.  libzmq connects again when the broker comes back.

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

#include "base/json_writer.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "cli/brief.h"
#include "cli/caller.h"
#include "cli/multipart.h"
#include "cli/site.h"
#include "schemas/batch.h"
#include "schemas/directory.h"
#include "schemas/event.h"
#include "schemas/event_header.h"

enum {
    EVENT_FRAMES = 3,
    TAIL_MEMORY = 256 << 20,
    QUEUE = 100000,
    FLUSH_SIZE = 64 << 10,
    TRACKS_MAX = 100000,
    STREAM_WIDTH = 4,
    SOURCE_WIDTH = 18,
    SOURCE_MAX = 256,
    NOTE_MAX = 640
};

typedef struct {
    site_flags_t site;           //  Which fleet
    option_strings_t streams;    //  Only these
    option_strings_t sources;    //  Only addresses that begin so
    option_strings_t kinds;      //  Only these events
    int64_t count;               //  End after as many events; 0: never
    bool json;                   //  A JSON object a line
    bool raw;                    //  The frames, undecoded
} tail_flags_t;

static const option_t s_flags [] = {
    { .name = "site", .type = OPTION_INCLUDE, .table = site_flags_table, .offset = offsetof (tail_flags_t, site) },
    { .name = "stream",
        .type = OPTION_STRINGS,
        .offset = offsetof (tail_flags_t, streams),
        .example = "req,life",
        .doc = "Only these streams: kv, load, life, req." },
    { .name = "source",
        .type = OPTION_STRINGS,
        .offset = offsetof (tail_flags_t, sources),
        .example = "worker/",
        .doc = "Only sources whose address begins so: worker/ or router/0." },
    { .name = "kind",
        .type = OPTION_STRINGS,
        .offset = offsetof (tail_flags_t, kinds),
        .example = "route_decided",
        .doc = "Only events of these kinds; by default all but source_tails." },
    { .name = "count",
        .type = OPTION_INTEGER,
        .fallback = "0",
        .max = INT64_MAX,
        .letter = 'n',
        .offset = offsetof (tail_flags_t, count),
        .doc = "End after as many events; 0: never." },
    { .name = "json",
        .type = OPTION_BOOL,
        .offset = offsetof (tail_flags_t, json),
        .doc = "Print an event a line as JSON." },
    { .name = "raw",
        .type = OPTION_BOOL,
        .offset = offsetof (tail_flags_t, raw),
        .doc = "Print the frames as they come, in hex." },
    OPTIONS_END,
};

//  How far one stream of one source has come.
typedef struct {
    uint64_t incarnation;    //  Of the source
    uint64_t sequence;       //  Of the last batch
} track_t;

typedef struct {
    const tail_flags_t *flags;    //  As typed
    void *socket;                 //  SUB
    multipart_t parts;            //  The message at hand
    map_t *tracks;                //  track_t by topic, owned
    arena_t arena;                //  Of one event
    buffer_t out;                 //  Of one batch
    uint64_t printed;             //  Events
    span_t topic;                 //  Of the batch at hand, as all below
    span_t address;               //  Its source
    event_header_t header;        //  Decoded
} tail_t;

//  ---- What is printed -----------------------------------------------------------------------------------------------

static void
s_append_time (uint64_t wall_ns, buffer_t *out)
{
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm local;
    char text [16] = "";
    if (localtime_r (&seconds, &local))
        strftime (text, sizeof text, "%H:%M:%S", &local);
    buffer_print (out, "%s.%03" PRIu64, text, wall_ns / 1000000 % 1000);
}

static void
s_begin_line (tail_t *self)
{
    s_append_time (self->header.wall_ns, &self->out);
    buffer_print (&self->out, " %-*s ", STREAM_WIDTH, stream_name (self->header.stream));
    size_t start = self->out.size;
    brief_append_text (self->address, SOURCE_MAX, &self->out);
    int padding = SOURCE_WIDTH - (int)(self->out.size - start);
    buffer_print (&self->out, "%*s ", padding > 0 ? padding : 0, "");
}

static void s_print_note (tail_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  Something about the batch rather than an event.
static void
s_print_note (tail_t *self, const char *format, ...)
{
    char note [NOTE_MAX];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (note, sizeof note, format, arguments);
    va_end (arguments);
    if (self->flags->json) {
        json_writer_t json;
        json_writer_init (&json, &self->out);
        json_write_begin_object (&json);
        json_write_key (&json, "source");
        json_write_string (&json, self->address);
        json_write_key (&json, "note");
        json_write_string (&json, span_from_string (note));
        json_write_end_object (&json);
        buffer_append_byte (&self->out, '\n');
    } else {
        s_begin_line (self);
        buffer_print (&self->out, "-- %s\n", note);
    }
}

static void
s_print_json (tail_t *self, const message_type_t *type, const void *event)
{
    json_writer_t json;
    buffer_t text = { 0 };
    message_to_json (type, event, &text);
    json_writer_init (&json, &self->out);
    json_write_begin_object (&json);
    json_write_key (&json, "stream");
    json_write_string (&json, span_from_string (stream_name (self->header.stream)));
    json_write_key (&json, "source");
    json_write_string (&json, self->address);
    json_write_key (&json, "incarnation");
    json_write_u64 (&json, self->header.incarnation);
    json_write_key (&json, "sequence");
    json_write_u64 (&json, self->header.sequence);
    json_write_key (&json, "wall_ns");
    json_write_u64 (&json, self->header.wall_ns);
    json_write_key (&json, "kind");
    json_write_string (&json, span_from_string (type->name));
    json_write_key (&json, "event");
    json_write_raw (&json, buffer_span (&text));
    json_write_end_object (&json);
    buffer_append_byte (&self->out, '\n');
    buffer_fini (&text);
}

//  Tails of streams are the bus's own book-keeping: they are shown to whoever asks for them.
static bool
s_is_wanted (const tail_t *self, const message_type_t *type)
{
    if (!self->flags->kinds.count)
        return type != &source_tails_message;
    for (size_t i = 0; i < self->flags->kinds.count; i++)
        if (strcmp (self->flags->kinds.items [i], type->name) == 0)
            return true;
    return false;
}

static bool
s_is_done (const tail_t *self)
{
    return self->flags->count && self->printed >= (uint64_t)self->flags->count;
}

static void
s_print_event (tail_t *self, const message_type_t *type, span_t bytes)
{
    error_t error;
    arena_clear (&self->arena);
    void *event = arena_new (&self->arena, type->size);
    if (!s_is_wanted (self, type) || s_is_done (self))
        return;
    if (message_decode (type, bytes, &self->arena, event, &error) != STATUS_OK) {
        s_print_note (self, "a malformed event of %zu bytes: %s", bytes.size, error.text);
        return;
    }
    self->printed++;
    if (self->flags->json) {
        s_print_json (self, type, event);
        return;
    }
    s_begin_line (self);
    buffer_print (&self->out, "%s ", type->name);
    brief_append (type, event, &self->out);
    buffer_append_byte (&self->out, '\n');
}

static void
s_print_raw (tail_t *self, const span_t *frames, size_t count)
{
    self->printed++;
    for (size_t i = 0; i < count; i++) {
        buffer_append_string (&self->out, i ? " " : "");
        if (i == 0)
            brief_append_text (frames [i], SOURCE_MAX, &self->out);
        for (size_t j = 0; i && j < frames [i].size; j++)
            buffer_print (&self->out, "%02x", frames [i].data [j]);
    }
    buffer_append_byte (&self->out, '\n');
}

//  ---- Batches -------------------------------------------------------------------------------------------------------

//  Says what is missing between this batch and the one before it.
static void
s_note_gap (tail_t *self)
{
    track_t *track = map_get (self->tracks, self->topic);
    if (!track) {
        if (map_count (self->tracks) >= TRACKS_MAX)
            return;
        track = memory_new (sizeof *track);
        map_put (self->tracks, self->topic, track);
    } else if (track->incarnation != self->header.incarnation) {
        s_print_note (self, "restarted (incarnation %" PRIu64 ")", self->header.incarnation);
    } else if (self->header.sequence > track->sequence + 1) {
        s_print_note (self, "%" PRIu64 " batches were missed", self->header.sequence - track->sequence - 1);
    }
    *track = (track_t){ self->header.incarnation, self->header.sequence };
}

static void
s_take_batch (tail_t *self, const span_t *frames, size_t count)
{
    uint16_t stream;
    error_t error;
    if (count != EVENT_FRAMES || !event_topic_parse (frames [0], &stream, &self->address) ||
        event_header_decode (&self->header, frames [1], &error) != STATUS_OK) {
        self->address = count ? span_slice (frames [0], 0, 64) : SPAN ("");
        self->header = (event_header_t){ 0 };
        s_print_note (self, "a message of %zu frames that is no event", count);
        return;
    }
    self->topic = frames [0];
    s_note_gap (self);
    batch_reader_t reader;
    const message_type_t *type;
    span_t bytes;
    batch_reader_init (&reader, stream, frames [2]);
    while (batch_reader_next (&reader, &type, &bytes, &error)) {
        if (type)
            s_print_event (self, type, bytes);
        else
            s_print_note (self, "an event of %zu bytes of a kind that is not known here", bytes.size);
    }
    if (reader.status != STATUS_OK)
        s_print_note (self, "a malformed batch of %zu bytes: %s", frames [2].size, error.text);
}

//  One message; false where none waits.
static bool
s_receive (tail_t *self)
{
    if (!multipart_receive (&self->parts, self->socket))
        return false;
    if (self->flags->raw)
        s_print_raw (self, self->parts.frames, self->parts.count);
    else
        s_take_batch (self, self->parts.frames, self->parts.count);
    return true;
}

//  False where nobody reads what is printed any more.
static bool
s_flush (tail_t *self)
{
    command_print (&self->out);
    buffer_clear (&self->out);
    return fflush (stdout) == 0;
}

static void
s_loop (tail_t *self)
{
    zmq_pollitem_t item = { .socket = self->socket, .events = ZMQ_POLLIN };
    bool heard = true;
    while (heard && !s_is_done (self)) {
        if (zmq_poll (&item, 1, -1) < 0 && errno != EINTR)
            break;
        while (!s_is_done (self) && self->out.size < FLUSH_SIZE && s_receive (self))
            continue;
        heard = s_flush (self);
    }
}

//  ---- Subscriptions -------------------------------------------------------------------------------------------------

static void
s_subscribe (tail_t *self, const char *stream)
{
    const option_strings_t *sources = &self->flags->sources;
    for (size_t i = 0; i < (sources->count ? sources->count : 1); i++) {
        buffer_t prefix = { 0 };
        buffer_print (&prefix, "%s.%s", stream, sources->count ? sources->items [i] : "");
        zmq_setsockopt (self->socket, ZMQ_SUBSCRIBE, prefix.data, prefix.size);
        buffer_fini (&prefix);
    }
}

static status_t
s_check_stream (const char *name, error_t *error)
{
    if (stream_find (span_from_string (name)))
        return STATUS_OK;
    suggest_t suggest;
    buffer_t known = { 0 };
    suggest_init (&suggest, span_from_string (name));
    for (uint16_t i = 1; i < STREAM_COUNT; i++) {
        suggest_offer (&suggest, stream_name (i));
        buffer_print (&known, "%s%s", i > 1 ? "|" : "", stream_name (i));
    }
    error_set (error, STATUS_INVALID, "there is no stream '%.100s', only %s%s", name, buffer_string (&known),
        suggest_text (&suggest));
    buffer_fini (&known);
    return STATUS_INVALID;
}

static status_t
s_check_kind (const char *name, error_t *error)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (name));
    for (size_t i = 0; i < message_count (); i++) {
        if (message_at (i)->kind != MESSAGE_EVENT)
            continue;
        if (strcmp (message_at (i)->name, name) == 0)
            return STATUS_OK;
        suggest_offer (&suggest, message_at (i)->name);
    }
    return error_set (error, STATUS_INVALID, "there is no event '%.100s'%s", name, suggest_text (&suggest));
}

static status_t
s_open (tail_t *self, const char *events, error_t *error)
{
    const option_strings_t *streams = &self->flags->streams;
    int queue = QUEUE, none = 0, pause_ms = 100, pause_max_ms = 2000;
    for (size_t i = 0; i < streams->count; i++)
        if (s_check_stream (streams->items [i], error) != STATUS_OK)
            return error->status;
    for (size_t i = 0; i < self->flags->kinds.count; i++)
        if (s_check_kind (self->flags->kinds.items [i], error) != STATUS_OK)
            return error->status;
    self->socket = zmq_socket (caller_zmq (), ZMQ_SUB);
    if (!self->socket)
        return error_set (error, STATUS_LIMIT, "cannot open a socket: %s", zmq_strerror (errno));
    zmq_setsockopt (self->socket, ZMQ_RCVHWM, &queue, sizeof queue);
    zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt (self->socket, ZMQ_RECONNECT_IVL, &pause_ms, sizeof pause_ms);
    zmq_setsockopt (self->socket, ZMQ_RECONNECT_IVL_MAX, &pause_max_ms, sizeof pause_max_ms);
    for (size_t i = 0; i < streams->count; i++)
        s_subscribe (self, streams->items [i]);
    for (uint16_t i = 1; !streams->count && i < STREAM_COUNT; i++)
        s_subscribe (self, stream_name (i));
    if (caller_guard (self->socket, events, error) != STATUS_OK)
        return error->status;
    if (zmq_connect (self->socket, events) != 0)
        return error_set (error, STATUS_INVALID, "cannot connect to %s: %s", events, zmq_strerror (errno));
    return STATUS_OK;
}

//  ---- Running -------------------------------------------------------------------------------------------------------

static void
s_fini (tail_t *self)
{
    size_t cursor = 0;
    void *track;
    while (map_next (self->tracks, &cursor, NULL, &track))
        memory_free (track);
    map_destroy (&self->tracks);
    arena_fini (&self->arena);
    buffer_fini (&self->out);
    multipart_fini (&self->parts);
    if (self->socket)
        zmq_close (self->socket);
}

static result_t
s_run (const invocation_t *invocation)
{
    tail_t tail = { .flags = invocation->flags, .tracks = map_new (caller_now_ms ()) };
    char broker [ENDPOINT_MAX], events [ENDPOINT_MAX] = "";
    error_t error;
    arena_init (&tail.arena, TAIL_MEMORY);
    status_t status = site_find_broker (&tail.flags->site, broker, events, &error);
    if (status == STATUS_OK && !*events)
        status = error_set (&error, STATUS_INVALID, "name where the broker publishes with --events");
    if (status == STATUS_OK)
        status = s_open (&tail, events, &error);
    if (status == STATUS_OK)
        s_loop (&tail);
    else
        command_complain (invocation->command, "%s", error.text);
    s_fini (&tail);
    return command_result (status);
}

const command_t tail_command = {
    .name = "tail",
    .arguments = "",
    .doc = "Watch the events of the fleet as they happen.",
    .essay = "Prints a line for each event: time, stream, source, what happened. It follows through restarts of the "
             "broker, and cannot\n"
             "slow the fleet: when it is too slow itself it misses events and says how many.\n"
             "\n"
             "    stator tail --stream req                     decisions and ends of requests\n"
             "    stator tail --source worker/ --kind kv_stored --json\n",
    .table = s_flags,
    .flags_size = sizeof (tail_flags_t),
    .run = s_run,
};
