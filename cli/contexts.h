//  contexts - conversations to render, out of a file
//
//  {"NAME": {"messages": [...], ...}, ...}, at the top of the file or under "contexts".  "fixed" beside that may give
//  bos_token, eos_token, add_generation_prompt_default and strftime_now, which every conversation gets.

#ifndef CLI_CONTEXTS_H
#define CLI_CONTEXTS_H

#include "base/array.h"
#include "base/json.h"

typedef struct {
    buffer_t name;           //  Its key in the file
    span_t text;             //  Its value there
    json_t *conversation;    //  Usually an object
    error_t error;           //  Why there is none: it is nested too deep, say
} context_t;

typedef struct {
    buffer_t text;     //  The file
    array_t rows;      //  context_t, in its order
    buffer_t fixed;    //  Members that every conversation gets, as JSON
    int64_t now_s;     //  For strftime_now: that of the file, else now
} contexts_t;

//  Reads a file; "-": standard input.  Fails for a file whose conversations cannot be told apart; one that cannot be read has its
//  error.  To be closed even where it fails.
status_t contexts_open (contexts_t *self, const char *path, error_t *error);
void contexts_close (contexts_t *self);

//  What a template is given for a conversation: the fixed members, and its own, which win.  Gives the tree.
json_t *contexts_fill (const contexts_t *self, const json_t *conversation);

#endif
