//  machine - the inside of a parser, shared by the files that read calls
//
//  A parser is in one of four places: in text, between calls of a section, in a call, in a header (harmony).  Each has a step
//  that looks at the start of what has come and returns how many bytes it took, or MACHINE_WAIT where more must come to
//  tell.  A step looks at no more than PARSER_HOLD_MARKER bytes before it takes one, and what it does depends on
//  the bytes alone, not on where they were cut: that is what makes every cut give the same result.
//
//  A step that ends in the middle of a text or a string says so in `run`: a short piece in which nothing could end it, which is
//  what most are, is delivered without a step.  One that waits inside a marker says so in `awaited`: while a model goes on with
//  that marker, no step looks.
//
//  From the opener of a call to its name, what was taken is kept in `raw`: where it proves to be no call, that is the text.

#ifndef MODEL_PARSER_MACHINE_H
#define MODEL_PARSER_MACHINE_H

#include "model/parser/literal.h"
#include "model/parser/parser.h"
#include "model/parser/extent.h"
#include "model/parser/schema.h"
#include "model/parser/text.h"

#define MACHINE_WAIT SIZE_MAX

enum { MARKS_MAX = 32, NAME_MAX_BYTES = 256, HEADER_MAX = 512 };

typedef enum {
    IN_TEXT,       //  Outside calls
    IN_SECTION,    //  Between calls
    IN_CALL,       //  A machine reads
    IN_HEADER,     //  Of a message
} place_t;

typedef enum {
    TO_CONTENT,      //  For the user
    TO_USER,         //  The same, in a message to the user: calls are text
    TO_REASONING,    //  Thoughts
    TO_ARGUMENTS,    //  The body of a harmony message to a tool
} channel_t;

typedef enum {
    MARK_THINK_START,    //  Opens reasoning
    MARK_THINK_END,      //  Closes it
    MARK_SILENT,         //  Dropped
    MARK_LABEL,          //  A name follows, dropped with it
    MARK_SECTION,        //  Calls follow
    MARK_CALL,           //  A call follows
    MARK_SECTION_END,    //  Calls end
    MARK_MESSAGE,        //  The header of a message follows
    MARK_MESSAGE_END,    //  A message ends
} mark_kind_t;

typedef enum {
    RUN_NONE,          //  A step must look
    RUN_TEXT = 1,      //  Text: goes on with what begins no mark
    RUN_STRING = 2,    //  A string of arguments: goes on with what stands for itself in JSON
} run_t;

//  A byte that may begin what tail.c looks for, or a tag of a section.
enum { ENDS_TAIL = 4, BEGINS_SECTION_TAG = 8 };

typedef struct {
    span_t text;                   //  What is looked for
    mark_kind_t kind;              //  What it does
    const parser_format_t *row;    //  Whose it is
    bool bracket;                  //  A mere bracket, opening what its row alone reads
} mark_t;

struct parser {
    const parser_format_t *format;    //  The one asked for
    const parser_format_t *row;       //  The one that reads the present section; format or one of its `also`
    parser_options_t options;         //  As given
    parser_sink_t sink;               //  As given
    parser_counts_t counts;           //  So far

    mark_t marks [MARKS_MAX];           //  What ends plain text
    size_t mark_count;                  //  How many
    uint8_t firsts [UINT8_MAX + 1];     //  Bytes that begin a mark, a bit for each; the last bit for all beyond
    uint8_t seconds [UINT8_MAX + 1];    //  Bytes that go on with one: the bits of what they may follow
    uint8_t ends [UINT8_MAX + 1];       //  Runs that a byte may end: bits of run_t, and those above
    int only_first;                     //  The only byte that begins one; -1: there are several

    place_t place;         //  Where we are
    channel_t channel;     //  Where text goes
    run_t run;             //  What the last step was in the middle of
    uint8_t run_end;       //  A further byte that may end it
    span_t awaited;        //  The rest of the marker that the last step waits in; empty: it waits for something else
    bool silent;           //  The prompt's text: delivered to nobody
    bool fresh;            //  Only blanks were said since the start, a call or the end of reasoning
    bool label;            //  What follows is a name that is dropped
    bool skip_newlines;    //  Line ends behind a marker belong to it
    bool end_owed;         //  A call ended reasoning: its closer may come
    bool section_owed;     //  SECTION_END may come
    bool opened;           //  No call came since the section began
    bool array;            //  Inside the brackets of an array of calls
    bool guarded;          //  Opened by a mere bracket: only the request's tools are believed
    uint32_t section_calls;    //  Calls in this section

    buffer_t held;    //  The start of what may be a marker
    buffer_t raw;     //  What was taken since the opener of a call without a name
    buffer_t out;     //  Arguments being written

    //  The call being read.
    int phase;               //  Of its machine
    bool open;               //  Its name was delivered
    const json_t *tool;      //  What the request says of it; NULL: nothing
    span_t tool_name;        //  Whose name is this: a model often calls the same tool again
    schema_t tool_schema;    //  And its arguments, as an object
    extent_t extent;         //  JSON, NAMED, harmony: its arguments or another value
    buffer_t comma;          //  The same: a comma and blanks that wait for what follows, for nothing may
    buffer_t word;           //  A key, a name, a header
    buffer_t id;             //  Where the model wrote one before the name
    size_t early_start;      //  JSON: arguments before the name lie here in raw
    size_t early_size;       //  Bytes of them
    bool wrapped;            //  JSON: inside "function"
    bool has_arguments;      //  Something was delivered
    bool bare;               //  Harmony: nothing opened the header
    bool loose;              //  The same: arguments that are no JSON, passed as they are
    literal_t literal;       //  LITERAL
    buffer_t value;          //  TAGS: a value whose type is not settled
    buffer_t closer;         //  TAGS: what ends a nested value
    buffer_t opener;         //  TAGS: a tag like its own inside it
    uint32_t nesting;        //  TAGS: how many of those are open
    schema_t schema;         //  TAGS: what the tool says of it
    schema_types_t types;    //  TAGS: its types
    size_t value_limit;      //  TAGS: bytes of it that may wait; beyond, it is a string
    bool value_begun;        //  TAGS: behind its first byte
    bool value_string;       //  TAGS: it is a string, delivered as it comes
};

//  ---- parser.c ------------------------------------------------------------------------------------------------------

//  The call has a name.  False where it is not believed: then nothing was delivered.
bool machine_begin_call (parser_t *self, span_t name, span_t id);

//  Delivers a piece of the arguments.
void machine_arguments (parser_t *self, span_t json);

//  What the step took ends in the middle of a run, which `end` may end, beside what ends all of its kind.
static inline void
machine_run (parser_t *self, run_t run, uint8_t end)
{
    self->run = run;
    self->run_end = end;
}

//  More must come, for the text ends inside this marker, or may begin it.  Returns what a step does then.
static inline size_t
machine_wait (parser_t *self, span_t text, span_t marker)
{
    self->awaited = span_slice (marker, text.size, marker.size);
    return MACHINE_WAIT;
}

//  Delivers a piece of arguments that are JSON themselves, whose extent was fed with it.  A comma at its end waits.
void machine_pass (parser_t *self, span_t json);

//  Delivers what `out` has gathered, and empties it.
void machine_flush (parser_t *self);

//  The call is whole; back to the section.
void machine_end_call (parser_t *self);

//  It was no call: what was taken since its opener is text.  Returns 0, for a step.
size_t machine_release (parser_t *self);

//  Keeps in `word`, up to `max` bytes, what stands before the next of some markers: the first byte, which is no marker, and
//  those behind it that begin none.  Returns what was taken, for a step.
size_t machine_keep (parser_t *self, span_t text, const char *const markers [], size_t count, size_t max);

//  Whether one of the markers that end a call stands at the start of a text.
text_match_t machine_match_end (const parser_t *self, span_t text, bool last);

//  Goes on through arguments that are one JSON object: delivers what belongs to them.  Returns what was taken; *ended where
//  they are complete, or a marker ends the call that they are in.
size_t machine_read_object (parser_t *self, span_t text, bool last, bool *ended);

//  Delivers what makes them whole.
void machine_close_object (parser_t *self);

//  Bytes at the start that names of tools have.
size_t machine_name_size (span_t text);

//  ---- section.c -----------------------------------------------------------------------------------------------------

enum { SECTION_TAGS = 6 };

//  The tags of a section, NULL where a row has none; the last one opens it.
void machine_section_tags (const parser_format_t *row, const char *tags [SECTION_TAGS]);

//  Notes which bytes begin those of a parser's rows.
void section_learn (parser_t *self);

//  Goes in, behind a mark that opens a section or a call.
void section_enter (parser_t *self, const mark_t *mark);

//  Goes on between calls.
size_t section_step (parser_t *self, span_t text, bool last);

//  ---- marks.c -------------------------------------------------------------------------------------------------------

//  Fills in the marks of a parser's format and options.
void marks_learn (parser_t *self);

//  Where text up to a mark ends.  *match: what is behind; with the *mark, but NULL where the text ends before one may begin.
size_t marks_find (parser_t *self, span_t text, bool last, text_match_t *match, const mark_t **mark);

//  ---- tail.c --------------------------------------------------------------------------------------------------------

//  Notes which bytes begin closers, and entities.
void tail_learn (parser_t *self);

//  Bytes at the end, of what is held and this text behind it, that are or begin the closers with which an answer may end; 0 where
//  there are none.  *ends: they are whole and end a call.
size_t tail_size (const parser_t *self, span_t text, bool *ends);

//  Whether a byte, behind what is held, waits for the end of the answer.  Inside a string or a value.
bool tail_of_byte (const parser_t *self, uint8_t byte);

//  ---- One machine a file --------------------------------------------------------------------------------------------

typedef struct {
    void (*begin) (parser_t *self);                             //  Behind CALL_START
    size_t (*step) (parser_t *self, span_t text, bool last);    //  Goes on
    void (*close) (parser_t *self);           //  Delivers what makes the arguments of an open call whole
    bool (*inside) (const parser_t *self);    //  In a string or a value of an open call, where closers are text
    void (*salvage) (
        parser_t *self);    //  The answer ends before a call's arguments: begins it where its name is whole; NULL
} machine_t;

extern const machine_t machine_json;
extern const machine_t machine_named;
extern const machine_t machine_tags;
extern const machine_t machine_literal;

//  Behind a header of harmony that has the name: arguments in tags follow.
void tags_begin_arguments (parser_t *self);

//  What reads the calls of the present section.  Harmony's with tags are read by the machine of those.
static inline const machine_t *
machine_of (const parser_t *self)
{
    static const machine_t *const machines [] = { [PARSER_JSON] = &machine_json,
        [PARSER_NAMED] = &machine_named,
        [PARSER_TAGS] = &machine_tags,
        [PARSER_LITERAL] = &machine_literal,
        [PARSER_HARMONY] = &machine_tags };
    return machines [self->row->machine];
}

//  The header of a message: begins with the opener taken, ends at <|message|>.
void harmony_begin_header (parser_t *self, span_t opener);
size_t harmony_step (parser_t *self, span_t text, bool last);
void harmony_end_message (parser_t *self);

//  The answer ended inside a header.
void harmony_finish (parser_t *self);

//  The body of a call in JSON goes on.
void harmony_say_arguments (parser_t *self, span_t text);

//  What makes the arguments of an open call whole.
void harmony_close_arguments (parser_t *self);

#endif
