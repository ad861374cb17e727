//  frontend - where harnesses connect
//
//  Speaks HTTP and OpenAI's chat completions: turns a request into tokens and block hashes, asks a router who serves it,
//  streams the answer from that worker, and owns the sessions that rendezvous gives it.  Knows models by the cards that
//  workers register.  Routes, limits and errors are tables: frontend_http.c, frontend_options.c, api_error.c.

#ifndef ACTORS_FRONTEND_FRONTEND_H
#define ACTORS_FRONTEND_FRONTEND_H

#include "actors/frontend/frontend_options.h"
#include "runtime/actor.h"

//  Its options are a frontend_options_t with the secret filled in.
extern const actor_class_t frontend_class;

#endif
