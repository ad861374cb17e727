//  llamacpp - llama-server of llama.cpp behind a worker
//
//  The server must run already; the adapter asks for its health until it is there.  What it does beyond passing on:
//
//  * It chooses the slot, so it knows what each slot has in its cache (slots.h), and keeps what waits for a slot itself,
//    first come, first served.  For exact figures start the server with `--cache-ram 0 --slot-prompt-similarity 0`.
//  * It always streams: a connection that is closed frees the slot at once only then.
//  * A prompt rendered here begins with the text of the token that the server would put before a chat, so that its ids,
//    which get nothing added, are those that the server's own chat would have computed.
//  * An answer that ends inside a character is an error to the server; here it is an answer.

#ifndef WORKERS_LLAMACPP_LLAMACPP_H
#define WORKERS_LLAMACPP_LLAMACPP_H

#include "workers/engine.h"
#include "workers/llamacpp/llamacpp_options.h"

//  Its options are a llamacpp_options_t; the url is the server's.
extern const engine_class_t llamacpp_engine;

#endif
