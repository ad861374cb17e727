//  mock_options - what can be set about a simulated engine

#ifndef WORKERS_MOCK_MOCK_OPTIONS_H
#define WORKERS_MOCK_MOCK_OPTIONS_H

#include "runtime/option.h"

typedef struct {
    int64_t capacity;         //  Blocks
    int64_t slots;            //  Requests computed at once
    int64_t context;          //  Tokens of prompt and output
    int64_t seed;             //  Of the tokens it makes up
    int64_t speed;            //  Millionths of the published timing; 0: takes no time
    int64_t answer_tokens;    //  Mean length of an answer that nothing else ends
    int64_t burst;            //  Decode steps between two reports
} mock_options_t;

extern const option_t mock_options_table [];

#endif
