//  parser - what a model says, taken apart as it comes
//
//  Bytes in, in pieces cut anywhere; content, reasoning and tool calls out.  The same bytes give the same result however
//  they are cut.  A marker is held back until it is one or is not: at most PARSER_HOLD_MARKER bytes of text wait.  Longer
//  waits, all at most PARSER_HOLD_MAX bytes: a call whose name has not come, a value whose type its schema leaves open until
//  it ends.
//
//  What looks like a call and turns out to be none is text again, byte for byte.  A call whose name is known is a
//  call whatever follows: arguments the model broke are delivered as it wrote them.  Only a call that the end of the answer
//  cuts before its name is neither: it is dropped and counted.  Not thread-safe: one owner at a time.

#ifndef MODEL_PARSER_PARSER_H
#define MODEL_PARSER_PARSER_H

#include "base/json.h"
#include "model/parser/format.h"

enum { PARSER_HOLD_MARKER = 256, PARSER_HOLD_MAX = 1 << 20 };

typedef struct parser parser_t;

//  Who is told.  Spans are borrowed for the call.  Pieces of one kind belong together; calls never nest.
typedef struct {
    void *context;                                                 //  First argument of all
    void (*content) (void *context, span_t text);                  //  For the user
    void (*reasoning) (void *context, span_t text);                //  Thoughts
    void (*call_begin) (void *context, span_t name, span_t id);    //  id: empty where the model wrote none
    void (*arguments) (void *context, span_t json);                //  A piece of the arguments' text
    void (*call_end) (void *context);                              //  The call is whole
} parser_sink_t;

typedef struct {
    const json_t *tools;    //  The request's tools, OpenAI's form or the bare functions; borrowed for the parser's life
    bool no_calls;          //  The request has no tools or forbids them: calls are text
    bool no_reasoning;      //  Nobody wants it apart: markers of reasoning are text
    const parser_format_t *reasoning;    //  Whose markers of reasoning; NULL: the format's own
    span_t prefill;                      //  parser_prefill; borrowed for parser_new
    bool prompted;                       //  A prompt was looked at: reasoning is open only where prefill opens it
} parser_options_t;

//  Borrows the format, copies options and sink.  Gives the parser; never NULL.  A call that the prefill opens is delivered
//  here already; its text is not.
parser_t *parser_new (const parser_format_t *format, const parser_options_t *options, const parser_sink_t *sink);

//  Frees it and nulls the caller's pointer.  Nothing is delivered.
void parser_destroy (parser_t **self_p);

//  Takes the next bytes; borrows them for the call.
void parser_feed (parser_t *self, span_t text);

//  The end: delivers what was held back and ends an open call, closing brackets and quotes of its arguments.
//  cut: the answer ended at a limit; then nothing is closed for the model.
void parser_finish (parser_t *self, bool cut);

typedef struct {
    uint64_t calls;          //  Begun
    uint64_t false_calls;    //  Looked like calls and were text
    uint64_t dropped;        //  Bytes of calls that ended before their name was known, or behind their arguments
} parser_counts_t;

//  What was seen so far.
parser_counts_t parser_counts (const parser_t *self);

#endif
