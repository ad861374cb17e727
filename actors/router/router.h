//  router - which worker serves a request
//
//  Owns a copy of the fleet's index, so that a decision and the very next one agree, and counts what it has given each
//  worker to do.  Every request gets a decision record, refused ones included.  How it chooses is a policy
//  (policies/policy.h).

#ifndef ACTORS_ROUTER_ROUTER_H
#define ACTORS_ROUTER_ROUTER_H

#include "actors/router/router_options.h"
#include "kv/catalog/catalog.h"
#include "runtime/actor.h"

//  Its options are a router_options_t.
extern const actor_class_t router_class;

//  What it believes of everybody's blocks.  Borrowed, for whoever checks it.
const catalog_t *router_catalog (const actor_t *router);

#endif
