//  { "name": "f", "arguments": {...} }
//
//  Members in any order; names they go by in the wild are in the table below.  Arguments that come before the name wait in
//  `raw`.

#include "model/parser/machine.h"

enum { KEY, KEY_TEXT, COLON, VALUE, READ_NAME, READ_ID, READ_ARGUMENTS, READ_OTHER, NOT_OURS };

static const struct {
    const char *key;    //  As models write it
    int phase;          //  What reads its value
} s_members [] = {
    { "name", READ_NAME },
    { "tool_name", READ_NAME },
    { "arguments", READ_ARGUMENTS },
    { "parameters", READ_ARGUMENTS },
    { "args", READ_ARGUMENTS },
    { "id", READ_ID },
    { "tool_call_id", READ_ID },
    { "type", READ_OTHER },
    { "function", READ_OTHER },
};

static void
s_begin (parser_t *self)
{
    self->phase = KEY;
    self->early_size = 0;
    self->has_arguments = false;
    self->wrapped = false;
    buffer_clear (&self->word);
    buffer_clear (&self->id);
}

static void
s_close (parser_t *self)
{
    if (self->phase == READ_ARGUMENTS)
        machine_close_object (self);
}

//  The object is not what it should be.
static size_t
s_broken (parser_t *self)
{
    if (!self->open)
        return machine_release (self);
    s_close (self);
    machine_end_call (self);
    return 0;
}

//  The text of a string value that was scanned whole, quotes included; empty where it is no string of JSON.  What is no
//  string stays.
static void
s_unquote (buffer_t *word)
{
    span_t text = buffer_span (word);
    if (!text.size || text.data [0] != '"')
        return;
    json_t *value = NULL;
    if (span_find_byte (text, '\\') == text.size)
        text = span_slice (text, 1, text.size - 2);
    else if (json_parse (text, &value, NULL) == STATUS_OK)
        text = json_string (value);
    else
        text.size = 0;
    buffer_t plain = { 0 };
    buffer_append (&plain, text);
    buffer_clear (word);
    buffer_append (word, buffer_span (&plain));
    buffer_fini (&plain);
    json_destroy (&value);
}

static size_t
s_end_object (parser_t *self)
{
    if (self->wrapped) {
        self->wrapped = false;
        return 1;
    }
    if (!self->open)
        return machine_release (self);
    machine_end_call (self);
    return 1;
}

//  ---- Keys ----------------------------------------------------------------------------------------------------------

static size_t
s_key (parser_t *self, uint8_t byte)
{
    if (byte == '}')
        return s_end_object (self);
    if (byte == '"') {
        self->phase = KEY_TEXT;
        buffer_clear (&self->word);
    } else if (byte != ',' && !text_is_blank (byte))
        return s_broken (self);
    return 1;
}

static size_t
s_key_text (parser_t *self, span_t text)
{
    span_t room = span_slice (text, 0, NAME_MAX_BYTES - self->word.size);
    size_t size = span_find_byte (room, '"');
    buffer_append (&self->word, span_slice (room, 0, size));
    if (size < room.size)
        self->phase = COLON;
    else if (!room.size)
        return s_broken (self);
    return size + (size < room.size);
}

static size_t
s_colon (parser_t *self, uint8_t byte)
{
    if (byte == ':')
        self->phase = VALUE;
    else if (!text_is_blank (byte))
        return s_broken (self);
    return 1;
}

static int
s_phase_of_key (const parser_t *self)
{
    span_t key = buffer_span (&self->word);
    for (size_t i = 0; i < sizeof s_members / sizeof *s_members; i++)
        if (span_equal_string (key, s_members [i].key))
            return self->open && s_members [i].phase == READ_NAME ? READ_OTHER : s_members [i].phase;
    return self->guarded && !self->open ? NOT_OURS : READ_OTHER;
}

//  The first byte of a value decides how it is read; it is not taken yet.
static size_t
s_value (parser_t *self, uint8_t byte)
{
    if (text_is_blank (byte))
        return 1;
    if (byte == '{' && span_equal_string (buffer_span (&self->word), "function") && !self->open && !self->wrapped) {
        self->wrapped = true;
        self->phase = KEY;
        return 1;
    }
    self->phase = s_phase_of_key (self);
    if (self->row->name_is_key && !self->open) {
        if (!machine_begin_call (self, buffer_span (&self->word), (span_t){ 0 }))
            return machine_release (self);
        self->phase = READ_ARGUMENTS;
    }
    if (self->phase == NOT_OURS)
        return s_broken (self);
    if (self->phase == READ_ARGUMENTS && (self->has_arguments || self->early_size))
        self->phase = READ_OTHER;
    extent_init (&self->extent);
    buffer_clear (&self->word);
    if (self->phase == READ_ARGUMENTS)
        self->early_start = self->raw.size;
    return 0;
}

//  ---- Values --------------------------------------------------------------------------------------------------------

//  Arguments that are an object go out as they come; as a string they are the text of one, null is none.
static void
s_deliver (parser_t *self, span_t piece)
{
    bool starts = !self->word.size && piece.size && (piece.data [0] == '{' || piece.data [0] == '[');
    if (!self->has_arguments && !starts && self->word.size + piece.size <= PARSER_HOLD_MAX)
        buffer_append (&self->word, piece);
    else {
        machine_arguments (self, buffer_span (&self->word));
        machine_pass (self, piece);
        buffer_clear (&self->word);
    }
    if (self->has_arguments || !self->extent.done)
        return;
    s_unquote (&self->word);
    if (!span_equal_string (buffer_span (&self->word), "null"))
        machine_arguments (self, buffer_span (&self->word));
}

//  False where it is no name of a call.
static bool
s_end_name (parser_t *self)
{
    s_unquote (&self->word);
    span_t early = span_slice (buffer_span (&self->raw), self->early_start, self->early_size);
    buffer_t arguments = { 0 };
    buffer_append (&arguments, early);
    bool begun = machine_begin_call (self, buffer_span (&self->word), buffer_span (&self->id));
    if (begun && arguments.size) {
        buffer_clear (&self->word);
        s_deliver (self, buffer_span (&arguments));
    }
    buffer_fini (&arguments);
    self->phase = begun ? KEY : READ_NAME;
    return begun;
}

static void
s_take (parser_t *self, span_t piece)
{
    if (self->phase == READ_ARGUMENTS && self->open)
        s_deliver (self, piece);
    else if (self->phase == READ_ARGUMENTS)
        self->early_size += piece.size;
    else if (self->phase != READ_OTHER)
        buffer_append (&self->word, piece);
}

static size_t
s_end_value (parser_t *self, size_t taken)
{
    if (self->phase == READ_NAME)
        return s_end_name (self) ? taken : machine_release (self);
    if (self->phase == READ_ID) {
        s_unquote (&self->word);
        buffer_clear (&self->id);
        buffer_append (&self->id, buffer_span (&self->word));
    }
    self->phase = KEY;
    return taken;
}

static size_t
s_read (parser_t *self, span_t text, bool last)
{
    bool odd;
    size_t taken = extent_feed (&self->extent, text, &odd);
    s_take (self, span_slice (text, 0, taken));
    if (taken && self->extent.done && self->phase == READ_NAME)
        s_end_name (self);
    if (taken || self->extent.done)
        return taken;
    if (!self->open)
        return s_broken (self);
    text_match_t end = machine_match_end (self, text, last);
    if (end == TEXT_PARTIAL)
        return MACHINE_WAIT;
    if (end == TEXT_WHOLE)
        return s_broken (self);
    s_take (self, span_slice (text, 0, 1));
    return 1;
}

static size_t
s_step (parser_t *self, span_t text, bool last)
{
    uint8_t byte = text.data [0];
    switch (self->phase) {
    case KEY:
        return s_key (self, byte);
    case KEY_TEXT:
        return s_key_text (self, text);
    case COLON:
        return s_colon (self, byte);
    case VALUE:
        return s_value (self, byte);
    default:
        break;
    }
    if (self->extent.done)
        return s_end_value (self, 0);
    if (self->phase != READ_NAME && self->phase != READ_ID)
        return s_read (self, text, last);
    if (self->word.size > NAME_MAX_BYTES)
        return s_broken (self);
    return s_read (self, span_slice (text, 0, NAME_MAX_BYTES + 1 - self->word.size), last);
}

static bool
s_inside (const parser_t *self)
{
    return self->phase == READ_ARGUMENTS && self->extent.in_string;
}

const machine_t machine_json = { .begin = s_begin, .step = s_step, .close = s_close, .inside = s_inside };
