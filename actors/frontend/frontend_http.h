//  frontend_http - what is served at which path
//
//  Part of the frontend: the table of routes, and the answers that need no worker (models, health, metrics).

#ifndef ACTORS_FRONTEND_FRONTEND_HTTP_H
#define ACTORS_FRONTEND_FRONTEND_HTTP_H

#include "actors/frontend/frontend_private.h"

//  Takes an exchange.  For the listener.
void frontend_on_request (void *self, port_exchange_t *exchange, const http_request_t *http);

#endif
