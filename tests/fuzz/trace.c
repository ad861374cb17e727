//  Feeds bytes to the reader of traces.  What it takes must be whole: runs add up to blocks, blocks fit their prompts.

#include <stdlib.h>

#include "simulator/trace.h"
#include "tests/fuzz/fuzz.h"

static void
s_check_request (const trace_t *trace, const trace_request_t *request, uint32_t keep_max)
{
    const trace_run_t *runs = trace_runs (trace, request);
    uint64_t blocks = request->keep;
    for (uint32_t i = 0; i < request->run_count; i++)
        blocks += runs [i].count;
    if (blocks != request->blocks || request->keep > keep_max || request->prompt_tokens == 0 ||
        blocks * trace->block_size > request->prompt_tokens || request->output_tokens == 0)
        abort ();
}

static void
s_check_thread (const trace_t *trace, const trace_thread_t *thread)
{
    uint32_t keep_max = 0;
    for (size_t i = 0; i < thread->requests.count; i++) {
        s_check_request (trace, trace_request (thread, i), keep_max);
        keep_max = trace_request (thread, i)->blocks;
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    trace_t trace;
    if (trace_init (&trace, span_of (data, size), NULL) != STATUS_OK)
        return 0;
    for (size_t i = 0; i < trace.sessions.count; i++) {
        const trace_session_t *session = trace_session (&trace, i);
        for (size_t k = 0; k < session->threads.count; k++)
            s_check_thread (&trace, trace_thread (session, k));
        trace_duration_ns (session, UINT64_C (60000000000));
    }
    trace_fini (&trace);
    return 0;
}
