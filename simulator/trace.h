//  trace - recorded traffic: who asked what, and which blocks the prompts were made of
//
//  Two forms are read, told apart by their first line; both are one JSON object a line.
//
//  Sessions in runs (Claude Code): a header a session, {"session", "block_size"}; its requests, {"a": thread (0 the lead,
//  n the n-th subagent), "t": s, "in", "out": tokens, "keep": K, "new": [[first, count] ...], "think", "api": s}, where the
//  blocks of a request are the first K of the one before it in its thread and then the runs; and, before the rows of
//  subagent n, {"spawn": n, "t": its end, s, "duration_ms"}.
//
//  Single requests (Mooncake): {"timestamp": ms, "input_length", "output_length": tokens, "hash_ids": [...]} in order of
//  arrival, blocks of 512 tokens.  They become one session whose requests do not wait for each other.
//
//  A block is named by a number that means something within its session only, together with the blocks before it.  Blocks
//  that the prompt does not fill are left out.

#ifndef SIMULATOR_TRACE_H
#define SIMULATOR_TRACE_H

#include "base/array.h"
#include "base/error.h"
#include "base/span.h"

enum { TRACE_TOKENS_MAX = 1 << 24 };

typedef struct {
    uint64_t first;    //  Number of its first block
    uint32_t count;    //  Blocks, numbered on from there; at least 1
} trace_run_t;

typedef struct {
    uint64_t at_ns;            //  Recorded, since the session (or the trace of single requests) began
    uint64_t think_ns;         //  Since the completion of the one before it
    uint64_t service_ns;       //  Recorded, or else estimated
    uint32_t prompt_tokens;    //  1 .. TRACE_TOKENS_MAX
    uint32_t output_tokens;    //  1 .. TRACE_TOKENS_MAX
    uint32_t blocks;           //  Full ones, of which
    uint32_t keep;             //  are the first of the request before it in its thread
    uint32_t run_count;        //  And those in these runs
    size_t first_run;          //  In the trace
} trace_request_t;

typedef struct {
    array_t requests;    //  trace_request_t, in order
    uint32_t after;      //  A subagent begins after this request of the lead, and the lead's next one waits for its end
    uint64_t offset_ns;    //  So long after its completion
} trace_thread_t;

typedef struct {
    array_t threads;    //  trace_thread_t; the first is the lead, and only the lead may be empty
} trace_session_t;

typedef struct {
    array_t sessions;       //  trace_session_t
    array_t runs;           //  trace_run_t
    uint32_t block_size;    //  Tokens
    bool single;            //  Single requests
    size_t requests;        //  In all
} trace_t;

//  Reads a whole trace.  STATUS_INVALID with the line and what is wrong with it; the trace is then empty.
status_t trace_init (trace_t *self, span_t text, error_t *error);
void trace_fini (trace_t *self);

//  Parts of it, by their position in order.  Borrowed.
const trace_session_t *trace_session (const trace_t *self, size_t position);
const trace_thread_t *trace_thread (const trace_session_t *session, size_t position);
const trace_request_t *trace_request (const trace_thread_t *thread, size_t position);
//  The request's runs, request->run_count of them.  Borrowed; NULL for none.
const trace_run_t *trace_runs (const trace_t *self, const trace_request_t *request);

//  How long a session takes by its recorded service times, where nobody thinks longer than `think_max_ns`.
uint64_t trace_duration_ns (const trace_session_t *session, uint64_t think_max_ns);

#endif
