//  replay_tally - what a replay counts, and what it makes of it
//
//  Counts while its window is open: requests that arrive in it, and completions that fall into it.

#ifndef SIMULATOR_REPLAY_TALLY_H
#define SIMULATOR_REPLAY_TALLY_H

#include <stdbool.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

typedef struct {
    uint64_t sessions;            //  Started, in all
    uint64_t requests;            //  That arrived in the window, of which
    uint64_t waiting;             //  had no first token when it closed
    uint64_t failed;              //  were refused or broke off
    uint64_t completed;           //  Requests whose last token came in the window
    uint64_t window_ns;           //  How long it was open
    uint64_t prompt_blocks;       //  Of requests that arrived in the window and were over before it closed: full blocks
    uint64_t hit_blocks;          //  Of these, found in the worker's cache
    uint64_t reusable_blocks;     //  Of these, sent before in their session: what endless caches would have had
    uint64_t duplicate_tokens;    //  Computed though another worker had them when the request was routed
    uint64_t turns;               //  Requests that continue a thread, of which
    uint64_t moved;               //  ran on another worker than the one before
    uint64_t ttft_p50_ns;         //  Arrival to first token; of those still waiting the time they have waited
    uint64_t ttft_p90_ns;         //  Likewise
    uint64_t ttft_p99_ns;         //  Likewise
    uint64_t imbalance;           //  Prompt tokens the busiest worker computed, over the mean: millionths
    char failure [ERROR_TEXT_MAX];    //  Why the first of those that failed did; empty: none has
} replay_report_t;

//  Embedded.
typedef struct {
    bool open;                  //  The window
    uint64_t opened_ns;         //  When
    replay_report_t report;     //  Percentiles and imbalance are filled in at the end
    array_t ttft;               //  uint64_t, ns
    array_t computed_tokens;    //  uint64_t a worker
} replay_tally_t;

//  One request, as it is counted.
typedef struct {
    bool counted;                 //  It arrived in the window
    uint32_t prompt_tokens;       //  Tokens
    uint32_t prompt_blocks;       //  Full ones
    uint32_t reusable_blocks;     //  Of these, sent before in its session
    uint32_t cached_tokens;       //  As the worker said
    uint32_t elsewhere_blocks;    //  Leading ones that some other worker had
    uint32_t block_size;          //  Tokens
    size_t worker;                //  Number of the worker
} replay_served_t;

//  The window is not open yet.
void replay_tally_init (replay_tally_t *self, size_t workers);
void replay_tally_fini (replay_tally_t *self);

//  Counts from now on.
void replay_tally_open (replay_tally_t *self, uint64_t now_ns);

//  Nothing is counted any more, and the report is whole.
void replay_tally_close (replay_tally_t *self, uint64_t now_ns);

//  The first token of a request that arrived in the window, or the end of the window without one.
void replay_tally_wait (replay_tally_t *self, uint64_t ttft_ns);

//  A request is over, with all its tokens.
void replay_tally_end (replay_tally_t *self, const replay_served_t *served);

//  The figures: one JSON object in a line, or a table for people.
void replay_report_json (const replay_report_t *self, uint64_t seed, uint64_t log_hash, buffer_t *out);
void replay_report_print (const replay_report_t *self, uint64_t seed, uint64_t log_hash, buffer_t *out);

#endif
