//  format - how a family of models writes reasoning and tool calls
//
//  A row of plain strings: what a table in formats.c or a file fills in.  An absent string is NULL.  All formats share one
//  shape, in which every part may be missing:
//
//      THINK_START reasoning THINK_END text SECTION_START CALL_START call CALL_END ... SECTION_END
//
//  The machine says what stands inside a call:
//
//  - JSON:    { "name": "f", "arguments": {...} }, alone or in an array, parted by commas or semicolons;
//  - NAMED:   header, then the arguments as one JSON object; the name is in the header;
//  - TAGS:    name NAME_END, then per argument KEY_START key KEY_END ... VALUE_START value VALUE_END, or nested
//             KEY_START key KEY_END value VALUE_END key KEY_END, where a value may again be such tags;
//  - LITERAL: f(a=1, b='x') in Python's notation, or call:f{a:1,b:<|"|>x<|"|>};
//  - HARMONY: messages with a header each; the channel and the recipient say what a message is. A call's body is JSON, or, in a row
//             with KEY_START, arguments in tags.
//
//  Calls of another machine may stand in messages, too, with a header each that says to whom they are (`recipients`):
//
//      <|start|>assistant to=self<|message|> reasoning <|eom|> ... to=user<|message|> text <|eot|>
//
//  No marker is longer than PARSER_MARKER_MAX bytes.

#ifndef MODEL_PARSER_FORMAT_H
#define MODEL_PARSER_FORMAT_H

#include "base/span.h"

enum { PARSER_MARKER_MAX = 64, PARSER_ALTERNATIVES = 3, PARSER_SILENT = 5 };

typedef enum {
    PARSER_PLAIN,      //  No tool calls
    PARSER_JSON,       //  The name is a member
    PARSER_NAMED,      //  The name is in a header
    PARSER_TAGS,       //  A tag around every argument
    PARSER_LITERAL,    //  A call expression
    PARSER_HARMONY,    //  Channels
} parser_machine_t;

//  How ids of calls look where the model wrote none.
typedef enum {
    PARSER_IDS_FREE,    //  Anything unique
    PARSER_IDS_NINE,    //  Exactly nine letters and digits: the template raises otherwise
    PARSER_IDS_KIMI,    //  functions.NAME:INDEX, counted over the conversation
} parser_ids_t;

typedef struct parser_format parser_format_t;

struct parser_format {
    const char *name;                                 //  Ours
    const char *names;                                //  Everybody else's, parted by blanks
    parser_machine_t machine;                         //  What reads a call
    parser_ids_t ids;                                 //  Of calls without one
    const char *think_start [PARSER_ALTERNATIVES];    //  Openers of reasoning
    const char *think_end [PARSER_ALTERNATIVES];      //  Its closers
    const char *silent [PARSER_SILENT];               //  Wrappers of text: dropped
    bool think_open;                                  //  Reasoning is open at the start, where no prompt says so
    bool calls_end_thinking;                          //  A call inside open reasoning is a call and ends it
    bool call_alone;                                  //  CALL_START may stand outside a section
    bool trim_newline;                                //  One newline at both ends of a value is not part of it
    bool guess_types;                                 //  A value of unknown type is JSON if it can be, else text
    bool name_is_key;                                 //  JSON: {"f": {...}}
    bool nested;                                      //  TAGS: keys are tags themselves, also inside values
    bool entities;                                    //  TAGS: names and keys write &quot; and &amp;
    bool attributes;              //  TAGS: names and keys are the attributes tool and key of their tags
    bool recipients;              //  All stands in messages; those to a tool have calls in them
    bool cdata;                   //  TAGS: <![CDATA[...]]> may stand around a value, entities in others
    const char *label_start;      //  Before the name of who is spoken to, in text: dropped with it
    const char *section_start;    //  Before the first call
    const char *section_end;      //  Behind the last one
    const char *call_start;       //  Before a call
    const char *call_end;         //  Behind it
    const char *header_start;     //  NAMED: dropped at the front of the header
    const char *between [2];      //  Between calls, and means nothing
    const char *name_end;         //  TAGS: behind the name
    const char *key_start;        //  TAGS: before a key
    const char *key_end;          //  TAGS: behind it
    const char *value_start;      //  TAGS: before a value; NULL: right behind KEY_END
    const char *value_end;        //  TAGS: behind it; nested: before the key that follows there
    const char *quote;            //  LITERAL: around strings, beside ' and "
    const char *evidence [PARSER_ALTERNATIVES];    //  A template that writes this format contains one of these
    const char *evidence_too;                      //  And this
    const parser_format_t *also;                   //  A further way to write calls that is read, too
};

//  All rows, `*count` of them.  Static.
const parser_format_t *parser_formats (size_t *count);

//  The row of a name in vLLM's, SGLang's, Dynamo's or our spelling, letters without case, `-` as `_`.  NULL where there is none.
const parser_format_t *parser_find (span_t name);

typedef struct {
    const parser_format_t *format;       //  The row
    const parser_format_t *reasoning;    //  Whose marks of reasoning the template writes; NULL: the row's own, or none
    char reason [160];                   //  Why, as a sentence without stop
} parser_choice_t;

//  True where the vocabulary has a token that is written so.
typedef bool (*parser_has_token_t) (void *context, span_t token);

//  Chooses a row for a model, and another for its reasoning where the template writes marks that the row does not know.
//  Borrows the chat template and asks has_token (NULL: nobody to ask) about markers.  Where nothing speaks for a format of calls,
//  it is the plain one.
parser_choice_t parser_choose (span_t template_source, parser_has_token_t has_token, void *context);

//  The end of a rendered prompt that the answer continues: an opener of reasoning (and what stands behind it), the opener of
//  a call, or the header of a message, in its last 64 KiB.  Empty where the answer starts afresh.  Borrowed from the prompt; for
//  parser_options_t.prefill.
span_t parser_prefill (const parser_format_t *format, span_t prompt);

//  The same by what was chosen: an opener of the row, else one of the reasoning that was chosen apart.
span_t parser_choice_prefill (const parser_choice_t *self, span_t prompt);

#endif
