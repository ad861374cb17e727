//  conformance - does this actor keep the worker protocol?
//
//  An actor that asks a worker, whoever wrote it, everything the rest of the house relies on: what it serves, that a
//  generation is whole, that credit binds, that a cancel frees, that a resumed request goes on, that bad input gets a
//  sentence, and, where that is wanted, that draining finishes what runs.  One check after the other, each with a verdict.

#ifndef WORKERS_CONFORMANCE_H
#define WORKERS_CONFORMANCE_H

#include "runtime/actor.h"

typedef enum {
    VERDICT_PASSED,     //  As it should be
    VERDICT_FAILED,     //  Not as it should be: the sentence says what
    VERDICT_SKIPPED,    //  Cannot be asked of this one: the sentence says why
} verdict_t;

typedef struct {
    span_t worker;    //  Address in the directory, or endpoint
    bool drains;      //  Drain it at the end: it takes no work afterwards
    //  A check is over.  name: "credit"; sentence: empty where it passed.  Borrowed.
    void (*on_verdict) (void *arg, const char *name, verdict_t verdict, const char *sentence);
    //  All are.
    void (*on_done) (void *arg, uint32_t failed);
    void *arg;    //  For both
} conformance_options_t;

//  Service "conformance".  Class options: conformance_options_t, borrowed for the call.
extern const actor_class_t conformance_class;

#endif
