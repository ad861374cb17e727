//  relay - a request that another frontend answers
//
//  The client stays connected here; the owner of its session gets the request by hand_over, and what it responds is
//  passed on as it comes.  The owner gets credit as the client reads.  Where the owner cannot be reached and nothing was
//  passed on yet, the request is answered here after all.  A large request becomes a message in a job, and leaves uncopied.

#ifndef ACTORS_FRONTEND_RELAY_H
#define ACTORS_FRONTEND_RELAY_H

#include "actors/frontend/frontend_private.h"

//  Larger bodies do not fit a message, and are answered where they arrive.
enum { RELAY_BODY_MAX = 48 << 20 };

//  Takes the exchange; borrows the request as long.  owner: address of the frontend.
void relay_start (frontend_t *frontend, port_exchange_t *exchange, const http_request_t *http, span_t owner);

//  Frees all that are over.
void relay_bury (frontend_t *frontend);

//  Cuts and frees all, for the end of the actor.
void relay_drop_all (frontend_t *frontend);

#endif
