//  answer - what the simulated engine says
//
//  Known in full from the request alone, so nothing of it is ever stored.

#ifndef WORKERS_MOCK_ANSWER_H
#define WORKERS_MOCK_ANSWER_H

#include "schemas/worker.h"

typedef struct {
    uint64_t key;              //  Of every draw
    uint64_t length;           //  Tokens, earlier output included
    finish_reason_t reason;    //  Why it ends there
    span_t detail;             //  The stop string; borrowed from the request
} answer_t;

//  The key of the answers to a prompt (without any output).  seed: of the engine and its model.
uint64_t answer_key (uint64_t seed, column_t prompt, const sampling_t *sampling);

//  Token `position` under a key: a printable ASCII byte.
uint8_t answer_token (uint64_t key, uint64_t position);

//  The answer under a key.  mean: of the natural length; limit: it ends there at the latest.
answer_t answer_plan (uint64_t key, const sampling_t *sampling, uint64_t mean, uint64_t limit);

#endif
