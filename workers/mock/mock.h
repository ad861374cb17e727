//  mock - a simulated engine
//
//  It does what engines do (waits, computes prompts, decodes in steps, keeps and evicts KV, finds prefixes again) in the
//  time that timing.h says, and produces tokens from a seed:
//
//  * A token is a byte.  Token p of an answer depends on the seed, the prompt (or the request's sampling seed, where it
//    has one) and p alone.  So a request that goes on elsewhere after p tokens gets exactly the tokens it would have got,
//    and whoever knows the request can check every byte.  Answers are made of English phrases of 16 bytes.
//  * An answer has a natural length, drawn like its tokens from half to one and a half times answer_tokens, where it ends
//    with `stop`; `ignore_eos` makes it endless.  Stop strings and stop tokens work as in a real engine.
//  * Prompts wait in order of arrival; one is computed at a time; a request starts when its KV fits beside the KV in use.
//
//  With speed 0 nothing takes time: each turn of the loop computes one prompt and one step.

#ifndef WORKERS_MOCK_MOCK_H
#define WORKERS_MOCK_MOCK_H

#include "workers/engine.h"
#include "workers/mock/mock_options.h"

//  Its options are a mock_options_t.
extern const engine_class_t mock_engine;

//  Token `position` of an answer, for whoever checks what a fleet said.
//  model: the configured name; tokens: the prompt, without any output; sampling: as in the request.
uint32_t mock_token (
    const mock_options_t *options, span_t model, column_t tokens, const sampling_t *sampling, uint64_t position);

#endif
