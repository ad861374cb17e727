//  conformance - does it speak the worker protocol?
//
//  Each check is a small conversation with the worker under test, over the public protocol alone, so that it serves for
//  adapters of ours and for those that somebody writes in another language.  A check that needs what the worker does not
//  offer is skipped and says so.

#ifndef CLI_CONFORMANCE_H
#define CLI_CONFORMANCE_H

#include "cli/caller.h"
#include "schemas/worker.h"

typedef struct {
    const char *endpoint;        //  Of the worker's ROUTER
    const model_card_t *card;    //  As the directory has it; NULL: not known
    span_t model;                //  Whom to ask for
    uint64_t timeout_ms;         //  For each answer
    bool drain;                  //  Also check draining, after which the worker ends
} conformance_t;

typedef enum { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED } check_result_t;

typedef struct {
    const char *name;     //  "credit"
    const char *claim;    //  The sentence it checks
} check_t;

//  How many checks there are, and what they are called.
size_t conformance_count (void);
const check_t *conformance_check (size_t position);

//  Runs one.  note: what was seen, what is wrong, or why it was skipped.
check_result_t conformance_run (const conformance_t *self, size_t position, error_t *note);

#endif
