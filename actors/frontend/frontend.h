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

enum { FRONTEND_ADDRESS_MAX = 300 };

//  Writes what it is to listen on, "127.0.0.1:8000" or "[::1]:8000".
void frontend_address (const frontend_options_t *options, char text [FRONTEND_ADDRESS_MAX]);

//  Where its HTTP server listens, with the port the system chose: "127.0.0.1:8000".  Borrowed as long as the actor.
const char *frontend_listens (const actor_t *actor);

#endif
