//  turn - one request in progress
//
//  A turn is read, encoded, hashed, routed, generated and answered; it embeds the calls of all of these, and whatever
//  goes wrong ends in one place.  Its life:
//
//      turn_start      takes the client and reads headers and body; then says that it is read
//      turn_begin      goes on; or turn_hand_back, where another frontend owns the session
//      (the end)       the client has its answer or is gone; router and events know; the turn frees itself soon
//
//  What is generated so far is kept as tokens.  When a worker dies, the turn is routed again without it and goes on from
//  these tokens: the client sees one text, without gap or repeat.

#ifndef ACTORS_FRONTEND_TURN_H
#define ACTORS_FRONTEND_TURN_H

#include "actors/frontend/frontend_private.h"

typedef struct turn turn_t;

//  The request is read: the turn is to be begun or handed back.  http: as it was given, if it still is.
typedef void (turn_read_fn) (frontend_t *frontend, turn_t *self, const http_request_t *http);

//  Takes the client.  Borrows the request for the call; `read` may use it where it lives as long as the client.  A large body
//  is read in a job, others before this returns.  What is wrong with the request is answered when it begins.
void turn_start (frontend_t *frontend, client_t *client, const http_request_t *http, turn_read_fn *read);

//  The session it belongs to; empty where none was named, or the request is wrong.  Borrowed.
span_t turn_session (const turn_t *self);

//  Goes on with a request that was read.
void turn_begin (turn_t *self);

//  Frees a turn that was read and has not begun, and gives its exchange.
port_exchange_t *turn_hand_back (turn_t **self_p);

//  Frees all that are over.
void turn_bury (frontend_t *frontend);

//  Cuts and frees all, for the end of the actor: nobody is told.
void turn_drop_all (frontend_t *frontend);

#endif
