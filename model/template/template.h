//  template - a chat template: a Jinja program that turns a conversation into a prompt
//
//  The language is Jinja2's as transformers runs it: trim_blocks, lstrip_blocks, loop controls, {% generation %},
//  raise_exception, strftime_now, tojson without HTML escapes (transformers, utils/chat_template_utils.py).  A template is
//  compiled once and never changes; renderings share it and nothing else.  A rendering is sandboxed: a template reaches
//  nothing but its context, and its steps, memory, recursion and output are bounded.
//
//  The prompt is flat bytes with seams.  A seam is an offset where the template begins or ends a message: a turn of an
//  outermost loop (one inside no other, that prints straight into the prompt, not into a variable or a macro's result) is
//  about to print, or has printed.  Loops over tools have seams as well.  A seam promises nothing about the bytes before
//  it, since a template may look ahead; it is where a grown conversation leaves them as they were, if it does.  So whoever
//  keeps something for a seam keys it by the bytes before it, and cuts at the last place at or before it where the
//  tokenizer vouches that both sides tokenise apart: most templates end a message with an added token and a line end.

#ifndef MODEL_TEMPLATE_TEMPLATE_H
#define MODEL_TEMPLATE_TEMPLATE_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

enum { TEMPLATE_SEAMS_MAX = 65536 };

typedef struct template template_t;

//  Compiles a template; copies the source (UTF-8, at most 4 MiB).  Gives it; NULL with "line N: ..." and the line's text.
template_t *template_compile (span_t source, error_t *error);

//  Nulls the caller's pointer.
void template_destroy (template_t **self_p);

typedef struct {
    const json_t *context;    //  An object: its members are the template's variables
    int64_t now_s;            //  For strftime_now: seconds since 1970, in the time zone that is wanted
    size_t output_max;        //  Bytes; 0: 64 MiB
    size_t memory_max;        //  Bytes for values; 0: 256 MiB and 8 times the context, at most 1 GiB
    uint64_t steps_max;       //  Evaluations and iterations; 0: 50 million and what the context is worth, see below
} template_input_t;

//  Without bounds of the caller a rendering takes 12 steps more for each pair of messages (of elements of the longest list
//  that is a variable) and 6 for each byte of the context in memory, 1.5 billion in all: a conversation of 10,000 messages is
//  rendered by templates that look at all messages for each of them.
//
//  Appends the prompt to `out`, and to `seams` (size_t; NULL: not wanted) its seams: bytes of this prompt before each,
//  ascending, without 0 and the prompt's end, the first TEMPLATE_SEAMS_MAX of them.  STATUS_INVALID where the template
//  raises or breaks a rule, STATUS_LIMIT where a bound bites; the sentence begins with "line N: " and is followed by the
//  line's text.  What was appended before an error is taken back.  Any thread, several at once.
status_t template_render (
    const template_t *self, const template_input_t *input, buffer_t *out, array_t *seams, error_t *error);

#endif
