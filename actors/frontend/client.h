//  client - whom a response goes to
//
//  Either an HTTP exchange of this frontend, or another frontend that handed a request over and passes the response on
//  (hand_over in schemas/frontend.toml).  Whoever answers does not see the difference.  What waits for a slow reader is
//  bounded by the answerer: it stops after AGAIN until it is told that the client is writable.

#ifndef ACTORS_FRONTEND_CLIENT_H
#define ACTORS_FRONTEND_CLIENT_H

#include "base/list.h"
#include "runtime/incoming.h"

typedef struct client client_t;

//  Clients that were ended while bytes still waited: they end themselves when these are gone.
typedef struct {
    list_t clients;                  //  client_t
    void (*on_empty) (void *arg);    //  The last one is gone; NULL: nobody asks
    void *arg;                       //  For on_empty
} client_leftovers_t;

void client_leftovers_init (client_leftovers_t *self, void (*on_empty) (void *arg), void *arg);

//  Cuts them all.
void client_leftovers_fini (client_leftovers_t *self);

//  Take the exchange or incoming.  leftovers: borrowed as long as the client.  patience_ns: how long whoever handed the
//  request over may read nothing while something waits for it; then it is gone.  Give the client; never NULL.
client_t *client_from_exchange (actor_t *actor, port_exchange_t *exchange);
client_t *client_from_incoming (
    actor_t *actor, incoming_t *incoming, client_leftovers_t *leftovers, uint64_t patience_ns);

//  Gives the exchange back, for somebody else to answer, and frees the client.  NULL where it was handed over.
port_exchange_t *client_release (client_t **self_p);

//  Gives the body of its request, of SOCKET_KEEP_MIN bytes or more, which `http` still shows: as exchange_take_body; of one that
//  was handed over the keeper, and no bytes.
void client_take_body (client_t *self, buffer_t *out, keeper_t *keeper);

//  Names who to tell: as exchange_watch.
void client_watch (client_t *self, const exchange_watch_t *watch);

//  A write is coming: brings nearer what it needs, in step 0 the client, then what the step before points at.
void client_expect (const client_t *self, unsigned step);

//  As exchange_respond, exchange_begin, exchange_write, exchange_end and exchange_abort.  Those that end it null the
//  caller's pointer.
void client_respond (client_t **self_p, int status, const http_header_t *headers, size_t count, span_t body);
void client_begin (client_t *self, int status, const http_header_t *headers, size_t count);
status_t client_write (client_t *self, span_t bytes);
void client_end (client_t **self_p);
void client_abort (client_t **self_p);

#endif
