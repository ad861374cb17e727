//  fixture - a frontend beside broker, router and workers that follow a script, in the simulated world
//
//  A harness asks over HTTP on the frontends' ports and listens for what requests came to.  The token at position i of any
//  answer is a byte of a fixed text, so that a hole or a repeat shows.

#ifndef TESTS_FRONTEND_FIXTURE_H
#define TESTS_FRONTEND_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/frontend.h"
#include "model/bundle/bundle.h"
#include "schemas/route.h"
#include "simulator/stage.h"

enum { FIXTURE_CHATS = 8 };

//  What a worker does, and what it saw.
typedef struct {
    uint64_t pause_ns;         //  Before each item
    uint32_t item_tokens;      //  In each item
    uint32_t stop_after;       //  Tokens of the whole answer; 0: as many as asked for
    uint32_t fail_after;       //  Sends this many and fails; 0: never
    status_t refusal;          //  Refuses every request with this; 0: none
    bool silent;               //  Accepts, and says nothing
    uint32_t requests;         //  Out: seen
    uint32_t renderings;       //  Out: conversations rendered for the frontend
    uint32_t cancels;          //  Out: requests that nobody wanted any more
    uint32_t sent;             //  Out: tokens, of all requests
    uint32_t delivered;        //  Out: of the last request
    uint32_t prompt_tokens;    //  Out: of the last request
    char trace [64];           //  Out: of the last request
} script_t;

//  A request of the harness.
typedef struct {
    port_fetch_t *fetch;    //  Under way; NULL once it has ended
    int status;             //  HTTP
    buffer_t body;          //  So far
    bool ended;             //  The response is over
    status_t end;           //  How
} chat_t;

typedef struct {
    size_t count;            //  Requests that ended
    uint64_t source;         //  Of the last: which frontend
    request_ended_t last;    //  The last one; its texts are below
    char worker [128];       //  Of the last
    char reason [64];        //  Of the last
} ended_t;

//  Workers a, b and c; requests; what they came to.
extern script_t fixture_scripts [3];
extern chat_t fixture_chats [FIXTURE_CHATS];
extern ended_t fixture_ended;
extern stage_t *fixture_stage;
extern frontend_options_t fixture_options [2];
extern uint32_t fixture_context;    //  Of the models added from now on
extern bool fixture_engine;         //  Their workers make the tokens, and send text

//  What workers answer instead of their fixed text; NULL: that one.
extern const char *fixture_says;

//  What the models added from now on bring, by bundle_file_t; NULL: nothing.  Their engines make prompts by it.
extern const span_t *fixture_files;
extern bool fixture_withholds;      //  They do not give the files
extern uint32_t fixture_differs;    //  So many prompts they make with a token that does not belong there
extern size_t fixture_made;         //  So many tokens they make of each prompt; 0: what their engine says, or three
extern uint32_t fixture_busy;       //  So many conversations they cannot render now

#define URL "http://f0:8000/v1/chat/completions"
#define CHAT(members) "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" members "}"

//  Broker, router, harness, the frontend 0 and this many workers of the model "tiny"; runs some seconds.
void fixture_begin (size_t workers);
void fixture_end (void);

//  One beside router 0 shares the sessions with it.
void fixture_add_router (const char *instance);

//  The frontend 1 listens on f1:8000.
void fixture_add_frontend (int position);
void fixture_add_worker (size_t position, const char *model, uint64_t fingerprint);

//  Starts a request.  body: NULL for a GET.
chat_t *fixture_fetch (size_t position, const char *url, const char *body, const http_header_t *headers, size_t count);

chat_t *fixture_request (
    size_t position, const char *method, const char *url, const char *body, const http_header_t *headers, size_t count);

//  Posts a chat to frontend 0.
chat_t *fixture_ask (const char *body);

//  Of the harness.
const port_table_t *fixture_port (void);

//  Checks what a client would show: the deltas put together are the first tokens of the text, and the finish reason.
void fixture_check_streamed (chat_t *chat, uint32_t tokens, const char *finish);

//  No router counts what is over: a request that is not taken off its worker would bend every later decision.
void fixture_check_router_is_idle (void);

//  The sum of the values of a metric of the first frontend whose labels contain this.
int64_t fixture_metric (const char *metric, const char *label);

bool fixture_contains (chat_t *chat, const char *text);

#endif
