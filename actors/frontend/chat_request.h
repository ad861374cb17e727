//  chat_request - a chat completion as a client asked for it
//
//  The body of POST /v1/chat/completions, read tolerantly and made canonical: the same conversation gives the same
//  messages, however it is spelt (one text part or a string, cache markers or none, null or absent content), because a
//  byte that differs costs a whole prefix.  What would change the answer and cannot be done is refused with the name of
//  the field; unknown fields are ignored.  Everything read lies in the request's arena.

#ifndef ACTORS_FRONTEND_CHAT_REQUEST_H
#define ACTORS_FRONTEND_CHAT_REQUEST_H

#include "actors/frontend/api_error.h"
#include "base/arena.h"
#include "base/json.h"
#include "schemas/worker.h"

typedef struct {
    span_t role;            //  system, user, assistant, tool
    span_t content;         //  Text; may be empty
    span_t reasoning;       //  Assistant: what it thought, if it was sent back
    span_t tool_calls;      //  Assistant: JSON array of function calls; empty: none
    span_t tool_call_id;    //  Tool: which call it answers
    span_t name;            //  Who speaks, if it was said
} chat_message_t;

typedef struct {
    arena_t arena;                //  Holds all of the following
    bool too_large;               //  Something did not fit the arena
    span_t model;                 //  As asked for
    chat_message_t *messages;     //  Oldest first, at least one
    size_t message_count;         //  How many
    span_t tools;                 //  JSON array; empty: none
    span_t template_arguments;    //  JSON object for the chat template; empty: none
    sampling_t sampling;          //  How tokens are drawn; max_tokens as asked for
    bool stream;                  //  Answer in pieces
    bool include_usage;           //  With a last chunk that counts
} chat_request_t;

//  Reads a body.  Borrows it for the call.  False: *error says why, and self is empty.  Either way chat_request_fini ends it.
bool chat_request_parse (chat_request_t *self, const json_t *body, size_t body_size, api_error_t *error);

void chat_request_fini (chat_request_t *self);

//  A copy that lives as long as the request.  Where it does not fit, the request is too large, and chat_request_parse fails.
span_t chat_request_keep (chat_request_t *self, span_t bytes);

//  Appends {"messages":...,"tools":...,"chat_template_kwargs":...}: what a chat template renders.
void chat_request_render (const chat_request_t *self, buffer_t *out);

//  The same as a tree that a template can be given.  Gives it: json_destroy.
json_t *chat_request_context (const chat_request_t *self);

//  Tool calls in the messages of such a tree.
uint32_t chat_context_calls (const json_t *context);

//  The tools alone; NULL where there are none.  Gives them.
json_t *chat_request_tools (const chat_request_t *self);

#endif
