//  speech - what a model says, as its client is told: text, thoughts and calls
//
//  Takes text and gives what the client gets of it: pieces of a stream, or the parts of a whole answer.  Where the model's
//  format is known (model/parser), thoughts and tool calls are told apart from text; else all of it is text.

#ifndef ACTORS_FRONTEND_SPEECH_H
#define ACTORS_FRONTEND_SPEECH_H

#include "actors/frontend/chat_writer.h"
#include "model/parser/parser.h"

//  How to read it.  Borrowed for the call, but for the formats, and the tools until the speech's fini.
typedef struct {
    const parser_format_t *format;       //  Of the model
    const parser_format_t *reasoning;    //  Of its thoughts; NULL: the same
    span_t prefill;                      //  parser_choice_prefill of the prompt
    const json_t *tools;                 //  Of the request; NULL: calls are text
    uint64_t seed;                       //  Of ids of calls: another one for each answer
    uint32_t calls_before;               //  In the conversation so far
} speech_setup_t;

typedef enum { SPEECH_TEXT, SPEECH_REASONING, SPEECH_ARGUMENTS } speech_kind_t;

typedef struct {
    const chat_writer_t *writer;    //  Of pieces; NULL: nothing is streamed
    parser_t *parser;               //  NULL: all of it is text
    buffer_t *events;               //  Streamed: what is to be sent; borrowed
    speech_setup_t setup;           //  Of the parser: its format, seed and count; nothing else
    speech_kind_t kind;             //  Of the piece under way
    buffer_t piece;                 //  The piece under way
    buffer_t text;                  //  Not streamed: the text,
    buffer_t reasoning;             //  the thoughts
    buffer_t calls;                 //  and the calls so far, as chat_said_t has them
    uint32_t call_count;            //  Begun
    bool in_call;                   //  The last one has not ended
} speech_t;

//  writer, events: of a stream, borrowed as long as this lives; what is to be sent is appended to events.  NULL where the
//  answer is to be whole.
void speech_init (speech_t *self, const chat_writer_t *writer, buffer_t *events);
void speech_fini (speech_t *self);

//  From now on it is read as this model writes.  Before any text.
void speech_read (speech_t *self, const speech_setup_t *setup);

void speech_put (speech_t *self, span_t text);

//  It is over.  cut: at a limit.
void speech_finish (speech_t *self, bool cut);

//  Whether there was a call.
bool speech_has_calls (const speech_t *self);

#endif
