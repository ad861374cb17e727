//  scrape - the metrics of the whole fleet, asked for when somebody looks
//
//  One page for Prometheus: every actor that is alive is called, and what has answered in time is written.

#ifndef ACTORS_FRONTEND_SCRAPE_H
#define ACTORS_FRONTEND_SCRAPE_H

#include "actors/frontend/frontend_private.h"

//  Takes the exchange.
void scrape_start (frontend_t *frontend, port_exchange_t *exchange);

//  Cuts and frees all, for the end of the actor.
void scrape_drop_all (frontend_t *frontend);

#endif
