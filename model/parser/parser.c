#include "model/parser/parser.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"
#include "model/parser/machine.h"

enum { COMMA_MAX = 64 };    //  Bytes of a comma and of blanks that wait for a value

//  ---- What machines call --------------------------------------------------------------------------------------------

//  Delivers text of the present channel.
static void
s_say (parser_t *self, span_t text)
{
    if (!text.size)
        return;
    if (self->channel == TO_ARGUMENTS) {
        harmony_say_arguments (self, text);
        return;
    }
    self->fresh = self->fresh && text_blanks (text) == text.size;
    if (self->silent)
        return;
    if (self->channel == TO_REASONING)
        self->sink.reasoning (self->sink.context, text);
    else
        self->sink.content (self->sink.context, text);
}

size_t
machine_name_size (span_t text)
{
    size_t at = 0;
    for (; at < text.size; at++) {
        uint8_t byte = text.data [at], letter = byte | 0x20;
        bool sign_or_digit = byte >= '-' && byte <= ':';    //  -./ 0 to 9 :
        if (!sign_or_digit && (letter < 'a' || letter > 'z') && byte != '_' && byte < 0x80)
            break;
    }
    return at;
}

static bool
s_is_name (span_t name)
{
    return name.size > 0 && name.size <= NAME_MAX_BYTES && machine_name_size (name) == name.size;
}

bool
machine_begin_call (parser_t *self, span_t name, span_t id)
{
    if (!span_equal (name, self->tool_name)) {
        self->tool = schema_find_tool (self->options.tools, name);
        self->tool_name = schema_tool_name (self->tool);
        self->tool_schema = schema_of_arguments (self->tool);
    }
    if (!s_is_name (name) || (self->guarded && self->options.tools && !self->tool))
        return false;
    self->end_owed = self->end_owed || self->channel == TO_REASONING;
    self->channel = TO_CONTENT;
    self->open = true;
    self->section_owed = self->opened = false;
    self->has_arguments = false;
    self->section_calls++;
    self->counts.calls++;
    self->sink.call_begin (self->sink.context, name, id);
    buffer_clear (&self->raw);
    return true;
}

void
machine_arguments (parser_t *self, span_t json)
{
    if (!json.size)
        return;
    self->has_arguments = true;
    self->sink.arguments (self->sink.context, json);
}

//  Bytes before a comma at the end and the blanks behind it; all of them where none ends it, or too many blanks do.
static size_t
s_before_comma (span_t json)
{
    size_t size = json.size;
    while (size && text_is_blank (json.data [size - 1]))
        size--;
    bool comma = size && json.data [size - 1] == ',' && json.size - size < COMMA_MAX;
    return comma ? size - 1 : json.size;
}

//  Delivers the comma that waits, where something follows it, and keeps one at the end.  Returns what is between.
__attribute__ ((noinline)) static span_t
s_pass_commas (parser_t *self, span_t json)
{
    size_t blanks = self->comma.size ? text_blanks (json) : 0;
    buffer_append (&self->comma, span_slice (json, 0, blanks));
    if (blanks < json.size || self->comma.size > COMMA_MAX) {
        machine_arguments (self, buffer_span (&self->comma));
        buffer_clear (&self->comma);
    }
    span_t rest = span_slice (json, blanks, json.size);
    size_t size = self->extent.in_string ? rest.size : s_before_comma (rest);
    buffer_append (&self->comma, span_slice (rest, size, rest.size));
    return span_slice (rest, 0, size);
}

void
machine_pass (parser_t *self, span_t json)
{
    if (self->comma.size || !self->extent.in_string)
        json = s_pass_commas (self, json);
    machine_arguments (self, json);
    if (self->extent.in_string && !self->extent.escape)
        machine_run (self, RUN_STRING, '"');
}

void
machine_flush (parser_t *self)
{
    machine_arguments (self, buffer_span (&self->out));
    buffer_clear (&self->out);
}

//  The call is over: a comma that waits can only be what the model wrote.
static void
s_pass_last_comma (parser_t *self)
{
    if (self->comma.size)
        machine_arguments (self, buffer_span (&self->comma));
    buffer_clear (&self->comma);
}

void
machine_end_call (parser_t *self)
{
    s_pass_last_comma (self);
    if (!self->has_arguments)
        machine_arguments (self, SPAN ("{}"));
    self->sink.call_end (self->sink.context);
    self->open = false;
    self->place = IN_SECTION;
}

size_t
machine_release (parser_t *self)
{
    self->counts.false_calls += text_blanks (buffer_span (&self->raw)) < self->raw.size;
    self->place = IN_TEXT;
    self->array = false;
    s_say (self, buffer_span (&self->raw));
    buffer_clear (&self->raw);
    return 0;
}

size_t
machine_keep (parser_t *self, span_t text, const char *const markers [], size_t count, size_t max)
{
    span_t more = span_slice (text, 1, text.size);
    size_t taken = 1 + text_before (more, markers, count, max - self->word.size - 1);
    buffer_append (&self->word, span_slice (text, 0, taken));
    return taken;
}

//  One of the first `count` markers behind a call, at the start.
static text_match_t
s_match_behind (const parser_t *self, span_t text, bool last, size_t count)
{
    const parser_format_t *row = self->row;
    const char *const ends [] = { row->call_end, row->section_end, row->between [0], row->between [1] };
    size_t which;
    return text_match_any (text, ends, count, last, &which);
}

text_match_t
machine_match_end (const parser_t *self, span_t text, bool last)
{
    return s_match_behind (self, text, last, 2);
}

size_t
machine_read_object (parser_t *self, span_t text, bool last, bool *ended)
{
    bool odd = false;
    size_t taken = self->extent.done ? 0 : extent_feed (&self->extent, text, &odd);
    *ended = false;
    if (!taken) {
        text_match_t end = odd ? s_match_behind (self, text, last, 4) : TEXT_WHOLE;
        if (end == TEXT_PARTIAL)
            return MACHINE_WAIT;
        *ended = end == TEXT_WHOLE;
        taken = !*ended;
    }
    machine_pass (self, span_slice (text, 0, taken));
    return taken;
}

void
machine_close_object (parser_t *self)
{
    if (self->comma.size)
        self->extent.expect = EXTENT_NEXT;
    buffer_clear (&self->comma);
    if (self->has_arguments && extent_close (&self->extent, &self->out))
        machine_flush (self);
}

//  ---- Text ----------------------------------------------------------------------------------------------------------

static void
s_on_mark (parser_t *self, const mark_t *mark)
{
    switch (mark->kind) {
    case MARK_THINK_START:
        self->channel = TO_REASONING;
        self->skip_newlines = true;
        break;
    case MARK_THINK_END:
        self->channel = TO_CONTENT;
        self->fresh = self->skip_newlines = true;
        self->end_owed = false;
        break;
    case MARK_SECTION:
    case MARK_CALL:
        section_enter (self, mark);
        break;
    case MARK_SECTION_END:
        self->section_owed = false;
        break;
    case MARK_MESSAGE:
        harmony_begin_header (self, mark->text);
        break;
    case MARK_MESSAGE_END:
        harmony_end_message (self);
        break;
    case MARK_LABEL:
        self->label = true;
        break;
    case MARK_SILENT:
        self->skip_newlines = true;
        break;
    }
}

//  The newline before a closer of reasoning is the closer's: a run of text ends before it.
static size_t
s_newline_before (const parser_t *self, span_t text, size_t run)
{
    return self->channel == TO_REASONING && run && text.data [run - 1] == '\n';
}

//  The bytes of a name at the start.
static size_t
s_skip_label (parser_t *self, span_t text)
{
    size_t count = machine_name_size (text);
    self->label = count == text.size;
    return count;
}

static size_t
s_step_text (parser_t *self, span_t text, bool last)
{
    if (self->label) {
        size_t count = s_skip_label (self, text);
        if (count)
            return count;
    }
    if (self->skip_newlines) {
        size_t count = 0;
        while (count < text.size && (text.data [count] == '\n' || text.data [count] == '\r'))
            count++;
        self->skip_newlines = count == text.size;
        if (count)
            return count;
    }
    const mark_t *mark = NULL;
    text_match_t match;
    size_t run = marks_find (self, text, last, &match, &mark);
    size_t newline = match == TEXT_DIFFERS ? 0 : s_newline_before (self, text, run);
    if (match == TEXT_WHOLE && mark->kind != MARK_THINK_END)
        newline = 0;
    if (run > newline) {
        s_say (self, span_slice (text, 0, run - newline));
        if (self->run == RUN_NONE)
            machine_run (self, RUN_TEXT, '\n');
        return run - newline;
    }
    if (match == TEXT_PARTIAL)
        return machine_wait (self, span_slice (text, run, text.size), mark ? mark->text : (span_t){ 0 });
    s_on_mark (self, mark);
    return newline + mark->text.size;
}

//  ---- Driver --------------------------------------------------------------------------------------------------------

enum { RUN_PIECE_MAX = 64 };    //  Bytes of a piece beyond which a step is worth it

static size_t
s_step (parser_t *self, span_t text, bool last)
{
    self->run = RUN_NONE;
    self->awaited.size = 0;
    switch (self->place) {
    case IN_SECTION:
        return section_step (self, text, last);
    case IN_CALL:
        return machine_of (self)->step (self, text, last);
    case IN_HEADER:
        return harmony_step (self, text, last);
    default:
        return s_step_text (self, text, last);
    }
}

//  What a step takes is kept, because it may prove to be no call.
static bool
s_is_unproven (const parser_t *self)
{
    return !self->open && (self->place == IN_CALL || self->place == IN_SECTION);
}

//  One step that takes no more than may be kept, but for the last marker.
static size_t
s_bounded_step (parser_t *self, span_t text, bool last)
{
    span_t room = span_slice (text, 0, PARSER_HOLD_MAX - self->raw.size);
    size_t taken = s_step (self, room, last && room.size == text.size);
    return taken == MACHINE_WAIT && room.size < text.size ? s_step (self, text, last) : taken;
}

//  Steps until nothing is left or more must come.  Returns what was taken.
static size_t
s_steps (parser_t *self, span_t text, bool last)
{
    size_t at = 0;
    while (at < text.size) {
        bool was_open = self->open;
        span_t rest = span_of (text.data + at, text.size - at);
        size_t taken = s_is_unproven (self) ? s_bounded_step (self, rest, last) : s_step (self, rest, last);
        if (taken == MACHINE_WAIT)
            break;
        if (!was_open && s_is_unproven (self)) {
            buffer_append (&self->raw, span_of (rest.data, taken));
            if (self->raw.size >= PARSER_HOLD_MAX)
                machine_release (self);
        }
        at += taken;
    }
    return at;
}

//  Goes on from held bytes into new ones.  Returns how many of the new ones were taken.
static size_t
s_steps_from_held (parser_t *self, span_t text)
{
    size_t used = 0;
    while (self->held.size && used < text.size) {
        size_t before = self->held.size;
        span_t piece = span_slice (text, used, PARSER_HOLD_MARKER);
        buffer_append (&self->held, piece);
        size_t taken = s_steps (self, buffer_span (&self->held), false);
        if (taken >= before) {
            buffer_clear (&self->held);
            return used + taken - before;
        }
        buffer_drop_front (&self->held, taken);
        used += piece.size;
    }
    return used;
}

//  Whether a piece only goes on with the marker that is awaited, and does not complete it.
static bool
s_is_awaited (const parser_t *self, span_t text)
{
    size_t at = 0;
    while (at < text.size && at < self->awaited.size && text.data [at] == self->awaited.data [at])
        at++;
    return at == text.size && at < self->awaited.size;
}

//  Whether a piece only goes on with the run.
static bool
s_goes_on (const parser_t *self, span_t text)
{
    if (self->run == RUN_NONE || text.size > RUN_PIECE_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (self->ends [text.data [i]] & self->run || text.data [i] == self->run_end)
            return false;
    return true;
}

//  Whether closers are text here unless the answer ends with them.
static bool
s_is_inside (const parser_t *self)
{
    return self->open && self->place == IN_CALL && machine_of (self)->inside (self);
}

//  Steps through what is held and a text behind it, and holds what is left.
static void
s_take (parser_t *self, span_t text)
{
    size_t at = self->held.size ? s_steps_from_held (self, text) : 0;
    if (at == text.size)
        return;
    at += s_steps (self, span_slice (text, at, text.size), false);
    if (at < text.size)
        buffer_append (&self->held, span_slice (text, at, text.size));
}

static void
s_hold (parser_t *self, span_t text)
{
    self->awaited.size = 0;
    buffer_append (&self->held, text);
}

//  Takes a text but for its closers with which the answer may end, which wait where they would be text.
static void
s_take_but_tail (parser_t *self, span_t text)
{
    bool ends;
    size_t tail = tail_size (self, text, &ends);
    if (tail > text.size)
        tail = s_is_inside (self) ? text.size : 0;
    size_t front = text.size - tail;
    if (front)
        s_take (self, span_slice (text, 0, front));
    span_t rest = span_slice (text, front, tail);
    if (tail && s_is_inside (self))
        s_hold (self, rest);
    else if (tail && (self->place != IN_CALL || rest.size == 1))
        s_take (self, rest);
    else
        for (size_t at = 0; at < rest.size; at++)    //  A value may begin, or prove to go on, among them
            parser_feed (self, span_slice (rest, at, 1));
}

//  Whether a piece of several bytes may have in it what tail_size looks for.
static bool
s_may_end (const parser_t *self, span_t text)
{
    if (self->held.size || text.size > RUN_PIECE_MAX)
        return true;
    for (size_t i = 0; i < text.size; i++)
        if (self->ends [text.data [i]] & ENDS_TAIL)
            return true;
    return false;
}

//  A byte by itself is in the tail with all that is held, or is not.
static bool
s_is_tail (const parser_t *self, uint8_t byte)
{
    bool may = self->held.size || self->ends [byte] & ENDS_TAIL;
    return may && s_is_inside (self) && tail_of_byte (self, byte);
}

//  Not inlined: short pieces that go on with a run should not pay for it.
__attribute__ ((noinline)) static void
s_feed (parser_t *self, span_t text)
{
    if (self->awaited.size == 1 && text.size == 1 && text.data [0] == self->awaited.data [0])
        s_take (self, text);
    else if (text.size == 1 && s_is_tail (self, text.data [0]))
        s_hold (self, text);
    else if (text.size > 1 && s_may_end (self, text))
        s_take_but_tail (self, text);
    else
        s_take (self, text);
}

void
parser_feed (parser_t *self, span_t text)
{
    if (s_is_awaited (self, text)) {
        self->awaited = span_slice (self->awaited, text.size, self->awaited.size);
        buffer_append (&self->held, text);
        return;
    }
    if (!self->held.size && s_goes_on (self, text)) {
        if (self->run == RUN_TEXT)
            s_say (self, text);
        else
            machine_arguments (self, text);
        return;
    }
    s_feed (self, text);
}

//  Completes the arguments of an open call as far as what is there allows.
static void
s_close_arguments (parser_t *self)
{
    if (self->format->machine == PARSER_HARMONY)
        harmony_close_arguments (self);
    else
        machine_of (self)->close (self);
}

static void
s_finish_call (parser_t *self, bool cut)
{
    if (!cut) {
        s_close_arguments (self);
        machine_end_call (self);
        return;
    }
    s_pass_last_comma (self);
    self->sink.call_end (self->sink.context);
    self->open = false;
}

//  What is held are its last bytes.  Closers among them end what they stand in.
static void
s_finish_held (parser_t *self, bool cut)
{
    bool ends;
    span_t held = buffer_span (&self->held);
    size_t tail = tail_size (self, (span_t){ 0 }, &ends);
    if (cut || !ends || !s_is_inside (self))
        tail = 0;
    s_steps (self, span_slice (held, 0, held.size - tail), true);
    if (tail && s_is_inside (self))
        s_finish_call (self, false);
    s_steps (self, span_slice (held, held.size - tail, tail), true);
    buffer_clear (&self->held);
}

void
parser_finish (parser_t *self, bool cut)
{
    s_finish_held (self, cut);
    if (self->place == IN_CALL && !self->open && machine_of (self)->salvage)
        machine_of (self)->salvage (self);
    bool only_opener = self->place == IN_SECTION && !cut;
    if (self->open)
        s_finish_call (self, cut);
    else if (self->place == IN_HEADER)
        harmony_finish (self);
    else if (self->raw.size && !self->section_calls && (self->guarded || only_opener))
        machine_release (self);
    else
        self->counts.dropped += self->raw.size;
    buffer_clear (&self->raw);
    self->place = IN_TEXT;
    self->run = RUN_NONE;
    self->awaited.size = 0;
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

parser_t *
parser_new (const parser_format_t *format, const parser_options_t *options, const parser_sink_t *sink)
{
    parser_t *self = memory_new (sizeof *self);
    self->format = self->row = format;
    self->options = *options;
    self->sink = *sink;
    self->fresh = true;
    marks_learn (self);
    section_learn (self);
    const parser_format_t *thinking = options->reasoning ? options->reasoning : format;
    if (!options->prompted && !options->no_reasoning && thinking->think_open) {
        self->channel = TO_REASONING;
        self->skip_newlines = true;
    }
    self->bare = format->machine == PARSER_HARMONY && !options->prefill.size;
    if (format->recipients || self->bare)
        self->place = IN_HEADER;
    self->silent = true;
    parser_feed (self, options->prefill);
    self->silent = false;
    self->options.prefill = (span_t){ 0 };
    return self;
}

void
parser_destroy (parser_t **self_p)
{
    parser_t *self = *self_p;
    if (!self)
        return;
    buffer_t *const buffers [] = { &self->held, &self->raw, &self->out, &self->word, &self->id, &self->value,
        &self->closer, &self->opener, &self->comma };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_fini (buffers [i]);
    memory_free (self);
    *self_p = NULL;
}

parser_counts_t
parser_counts (const parser_t *self)
{
    return self->counts;
}
