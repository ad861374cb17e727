//  frontend_private - what the files of the frontend share: the actor's state

#ifndef ACTORS_FRONTEND_FRONTEND_PRIVATE_H
#define ACTORS_FRONTEND_FRONTEND_PRIVATE_H

#include "actors/frontend/client.h"
#include "actors/frontend/frontend_options.h"
#include "actors/frontend/locals.h"
#include "actors/frontend/models.h"
#include "actors/frontend/notice.h"
#include "runtime/timer.h"

typedef struct {
    actor_t *actor;                  //  Itself
    frontend_options_t options;      //  As given, or as reloaded
    char *host;                      //  Of the options, owned
    port_listener_t *listener;       //  Where harnesses connect
    models_t *models;                //  What can be asked for
    locals_t locals;                 //  Of these, whose prompts are made here
    counts_t counts;                 //  What is counted
    retry_budget_t retries;          //  What may be tried elsewhere
    notices_t notices;               //  To routers, under way
    client_leftovers_t leftovers;    //  Handed-over responses that still wait for credit
    list_t turns;                    //  turn_t, in progress
    list_t over;                     //  turn_t, to be freed when their callbacks have returned
    list_t relays;                   //  relay_t, requests handed over
    list_t over_relays;              //  relay_t, to be freed likewise
    list_t scrapes;                  //  scrape_t, in progress
    actor_timer_t bury;              //  Frees what is over
    buffer_t events;                 //  What an answer is about to write; empty between two
    uint64_t served;                 //  Requests so far: spreads calls over workers
    bool draining;                   //  Takes no new requests
} frontend_t;

//  Something ended: frees it soon, and says actor_drained where it was the last.
void frontend_bury_soon (frontend_t *self);

//  Answers a request here, whoever owns its session.  Takes the client; borrows the request for the call.
void frontend_serve (frontend_t *self, client_t *client, const http_request_t *http);

enum { CLIENT_ID_SIZE = 81 };

//  The client's own x-request-id.  False where it has none, or one that is no short plain word; id is then empty.
bool frontend_client_id (const http_request_t *http, char id [CLIENT_ID_SIZE]);

//  The value of a header; the empty span where it is not there.
span_t frontend_header (const http_request_t *http, const char *name);

#endif
