//  hints - what one request says about its future, and what was done about it
//
//  Headers and body are read once into an envelope, which travels to router and worker.  Every hint that was said gets
//  exactly one final answer, its receipt: what cannot be read is rejected, what is out of range clipped, what an earlier
//  source says otherwise rejected, at once; the rest is answered by whoever acts on it, and what nobody acted on is
//  rejected at the end.  A hint never fails a request.

#ifndef HINTS_HINTS_H
#define HINTS_HINTS_H

#include "hints/hint_source.h"

enum { HINTS_MAX = 32, HINT_REASON_MAX = 96, HINTS_TEXT_MAX = 512 };

typedef struct {
    const hint_source_t *source;      //  Where it was said; NULL: a member of our objects that means nothing
    span_t name;                      //  Of the source, in the arena where it is not the table's
    hint_value_t value;               //  What it says
    outcome_t outcome;                //  0 while open
    char reason [HINT_REASON_MAX];    //  Why, or how far; may be empty
} hint_t;

typedef struct {
    arena_t *arena;                       //  Where identities lie; borrowed
    hint_t *hints;                        //  In order of reading; HINTS_MAX in the arena, NULL before the first
    size_t count;                         //  How many
    size_t dropped;                       //  Hints beyond HINTS_MAX: rejected without a receipt of their own
    hint_t *chosen [HINT_FIELD_COUNT];    //  Whose value the envelope has; NULL: not said
} hints_t;

//  arena: borrowed as long as the hints.
void hints_init (hints_t *self, arena_t *arena);

//  A header of the request; names that give no hint are ignored.  Borrows both for the call.
void hints_read_header (hints_t *self, span_t name, span_t value);

//  The body of the request.  Borrows it for the call.
void hints_read_body (hints_t *self, const json_t *body);

//  After all reading: settles what counts.  Fills the envelope, whose texts lie in the arena.
void hints_choose (hints_t *self, envelope_t *envelope);

//  Whoever acted on a hint says so.  Where the field was not said, or has its final answer, nothing happens.
//  reason: may be empty.
void hints_answer (hints_t *self, hint_field_t field, outcome_t outcome, span_t reason);

//  The same for receipts of a router or worker, which name the fields of the envelope.
void hints_answer_all (hints_t *self, const receipt_t *receipts, size_t count);

//  What is still open is rejected: nobody acted on it.
void hints_close (hints_t *self);

//  Appends the receipts for a person: "session:x-session-id=accepted, priority:service_tier=clipped(3600)", those that
//  were not simply accepted first, at most HINTS_TEXT_MAX bytes; "more=N" stands for what did not fit.  Open ones read
//  "deferred".  Nothing where nothing was said.
void hints_render (const hints_t *self, buffer_t *out);

#endif
