//  turn - one request in progress
//
//  A turn is read, encoded, hashed, routed, generated and answered; it embeds the calls of all of these, and whatever
//  goes wrong ends in one place.  Its life:
//
//      turn_new      reads headers and body; says which session the request belongs to
//      turn_begin    takes the client and starts; or turn_discard, where another frontend owns the session
//      (the end)     the client has its answer or is gone; router and events know; the turn frees itself soon
//
//  What is generated so far is kept as tokens.  When a worker dies, the turn is routed again without it and goes on from
//  these tokens: the client sees one text, without gap or repeat.

#ifndef ACTORS_FRONTEND_TURN_H
#define ACTORS_FRONTEND_TURN_H

#include "actors/frontend/frontend_private.h"

typedef struct turn turn_t;

//  Reads a request.  Borrows it for the call.  Gives the turn; never NULL: what is wrong with the request is answered
//  when it begins.
turn_t *turn_new (frontend_t *frontend, const http_request_t *http);

//  Frees a turn that has not begun.
void turn_discard (turn_t **self_p);

//  The session it belongs to; empty where none was named, or the request is wrong.  Borrowed.
span_t turn_session (const turn_t *self);

//  Takes the turn and the client.
void turn_begin (turn_t *self, client_t *client);

//  Frees all that are over.
void turn_bury (frontend_t *frontend);

//  Cuts and frees all, for the end of the actor: nobody is told.
void turn_drop_all (frontend_t *frontend);

#endif
