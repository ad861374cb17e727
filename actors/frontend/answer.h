//  answer - the client's side of a request in progress
//
//  Takes the bytes of tokens and a way to end, and makes of them what the client asked for: server-sent events as they
//  come, or one object at the end.  Headers are collected until the response begins.  A streamed answer begins with its
//  first text, or with a comment once the client has heard nothing for a while; from then on what goes wrong is said in
//  the stream.

#ifndef ACTORS_FRONTEND_ANSWER_H
#define ACTORS_FRONTEND_ANSWER_H

#include "actors/frontend/chat_writer.h"
#include "actors/frontend/client.h"
#include "actors/frontend/speech.h"
#include "actors/frontend/text_gate.h"
#include "runtime/timer.h"

enum { ANSWER_HEADERS_MAX = 16, ANSWER_TEXT_MAX = 16 << 20 };

//  What each token touches stands first.
typedef struct {
    client_t *client;          //  To whom; NULL once it has ended
    buffer_t *events;          //  Streamed: what is about to be written; empty but inside a call
    uint64_t last_write_ns;    //  When the client was written to last
    bool stream;               //  In pieces
    bool include_usage;        //  With a chunk that counts
    bool opened;               //  Streamed: the role was said
    bool begun;                //  The response has begun
    bool blocked;              //  The client reads more slowly than it is written to
    chat_writer_t writer;      //  How it is written
    text_gate_t gate;          //  From bytes to text
    speech_t speech;           //  From text to what the client is told
    actor_t *actor;            //  Whose
    uint64_t keep_alive_ns;    //  Longest silence in a stream
    actor_timer_t silence;     //  Until it has heard nothing for too long
    uint64_t charged;          //  Of the actor's budget, for the text
    arena_t arena;             //  Headers, until the response begins
    http_header_t *headers;    //  Of the response, ANSWER_HEADERS_MAX in the arena; NULL: none yet
    size_t header_count;       //  How many
} answer_t;

//  Takes the client.  keep_alive_ns: of a stream.  events: borrowed as long as the answer; all answers of an actor share
//  one, so that an open stream needs none.
void answer_init (answer_t *self, actor_t *actor, client_t *client, uint64_t keep_alive_ns, buffer_t *events);

//  Cuts the response where it has not ended.
void answer_fini (answer_t *self);

//  What is answered.  Before any text.  identity, stops: stops are borrowed as long as the answer.
void answer_describe (
    answer_t *self, bool stream, const chat_identity_t *identity, const span_t *stops, size_t stop_count);

//  It is read as a model writes it: thoughts and calls are told apart.  Before any text; never is where nobody knows how.
void answer_read (answer_t *self, const speech_setup_t *setup);

//  A header of the response, while it has not begun; a later value replaces an earlier one.  name: a literal.  Copies the
//  value.
void answer_set_header (answer_t *self, const char *name, span_t value);

//  Bytes of tokens are coming: brings nearer what the answer points at, then what that points at.
void answer_expect (const answer_t *self, unsigned step);

//  Bytes of tokens that came at `now_ns`.  STATUS_OK; STATUS_AGAIN: taken, but wait until the client has read;
//  STATUS_CANCELLED: taken, and a stop string was met: nothing more is wanted; STATUS_LIMIT: there is no memory for it.
status_t answer_put (answer_t *self, span_t bytes, uint64_t now_ns);

//  The answer is complete.  comment: a line for people at the end of a stream; may be empty.
void answer_finish (answer_t *self, const char *reason, const usage_t *usage, span_t comment);

//  There will be no (whole) answer.
void answer_fail (answer_t *self, const api_error_t *error);

//  The client has left.
void answer_abandon (answer_t *self);

//  The HTTP status that answer_fail says, or that was said when the response began.
int answer_status (const answer_t *self, const api_error_t *error);

#endif
