//  http_ask - one question to an engine over HTTP, answered as a whole
//
//  For what is short: health, facts, templates, tokens.  Streams are read by their adapter itself.

#ifndef WORKERS_HTTP_ASK_H
#define WORKERS_HTTP_ASK_H

#include "base/list.h"
#include "runtime/actor.h"

typedef struct http_ask http_ask_t;

//  Where an engine is and how it is spoken to.  Embedded; whoever makes it keeps what it points to.
typedef struct {
    actor_t *actor;                 //  On whose thread
    const char *url;                //  Without a slash at the end
    const char *api_key;            //  Sent as a bearer token; empty: none
    uint64_t connect_timeout_ns;    //  Of a connection
    list_t asks;                    //  http_ask_t under way
} http_peer_t;

//  The answer.  status: STATUS_OK where one came, whatever `code` (the HTTP status) says; else why not.  All borrowed; who takes
//  the body, and leaves an empty one, has its size to give back to the actor's budget.
typedef void (http_answer_fn) (void *arg, status_t status, const char *why, int code, buffer_t *body);

//  Asks nothing yet.  Borrows both strings for as long as it is used.
void http_peer_init (
    http_peer_t *self, actor_t *actor, const char *url, const char *api_key, uint64_t connect_timeout_ns);

//  Forgets every question under way.
void http_peer_fini (http_peer_t *self);

//  Fills in method, URL, headers and body of a fetch.  headers: room for three.  body: JSON; empty: a GET.
//  path: "/health".  scratch: what the URL and the key lie in, empty before; it stays until the fetch has been started.
void http_peer_address (const http_peer_t *self, const char *path, span_t body, fetch_options_t *options,
    http_header_t headers [3], buffer_t *scratch);

//  What is asked.
typedef struct {
    const char *path;        //  "/health"
    span_t body;             //  JSON; empty: a GET
    keeper_t *keeper;        //  Of the body, taken; NULL, or where it keeps nothing: the body is copied
    uint64_t total_ns;       //  Until the whole answer is there
    uint64_t answer_max;     //  Bytes of it
    http_answer_fn *done;    //  Told of it
    void *arg;               //  For done
} http_question_t;

//  Asks.  Borrows the question for the call.  done is called exactly once, never from inside, unless the peer's fini comes first.
void http_ask (http_peer_t *self, const http_question_t *question);

#endif
