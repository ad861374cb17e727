//  stream - one request, many items, credit
//
//  As a call, but the answer comes in items; positions count elements (what an element is, the method says).  Items
//  arrive in order, without gap or repeat, or the stream fails with STATUS_GAP; with STATUS_CORRUPT where one breaks its
//  schema or the credit.  The callee sends below the credit only; whoever consumes raises it as it goes.
//
//  As for calls, a callee that has been silent for CALL_PROBE_NS is asked whether the stream is still under way.

#ifndef RUNTIME_STREAM_H
#define RUNTIME_STREAM_H

#include "runtime/call.h"

//  Items of a message that are told of together: what they touch fits into a core's first cache.
enum { STREAM_TOGETHER = 16, STREAM_STEPS = 4 };

//  An item.  position: of its first element.  Returns how many elements it holds.  Borrowed.
typedef uint64_t (stream_item_fn) (void *self, void *arg, uint64_t position, const void *item);

//  An item is coming: told of STREAM_TOGETHER that share a message before the first of them is handed over, and STREAM_STEPS
//  times of each.  What is used soon can be brought nearer meanwhile (memory_expect): in step 0 `arg`, and in each step behind
//  it what the one before points at.  It changes nothing that can be seen.
typedef void (stream_coming_fn) (const void *arg, unsigned step);

//  The end, exactly once.  result CALL_REPLIED: whole, `end` is of the type's end type; else as for a call, end NULL.
typedef void (stream_end_fn) (void *self, void *arg, call_result_t result, const void *end);

typedef struct {
    stream_item_fn *on_item;    //  For each item
    stream_end_fn *on_end;      //  Once
    uint64_t credit;            //  To begin with
    uint64_t
        idle_timeout_ns;    //  Nothing heard for this long although there is credit: CALL_DEADLINE; PORT_NEVER: none
    stream_coming_fn *on_coming;    //  Before on_item, of items that come together; NULL: not
} stream_options_t;

//  The fields belong to the runtime.  What each item needs lies together.
typedef struct stream {
    stream_options_t options;    //  As given
    uint64_t position;           //  Of the next element
    uint64_t credit;             //  Granted so far
    uint64_t heard_ns;           //  When the callee was heard or asked last; in on_item, when the item came
    uint64_t waits_ns;           //  Since when it has had credit and said nothing
    void *arg;                   //  For both functions
    call_t call;                 //  Its opening; carries link, id, type and deadline
} stream_t;

//  Opens `type` (kind stream) at an address.  Borrows request and options.
void stream_open (stream_t *self, actor_t *actor, span_t address, const message_type_t *type, const void *request,
    const stream_options_t *options, void *arg);

//  The same with a request that is encoded already.  request: taken, and empty afterwards.
void stream_open_encoded (stream_t *self, actor_t *actor, span_t address, const message_type_t *type, buffer_t *request,
    const stream_options_t *options, void *arg);

//  As call_trace, for the next stream_open.
void stream_trace (stream_t *self, span_t trace);

//  Allows elements below `position`.  Lower than before: ignored.
void stream_credit (stream_t *self, uint64_t position);

void stream_cancel (stream_t *self);
void stream_drop (stream_t *self);
bool stream_is_active (const stream_t *self);
const error_t *stream_error (const stream_t *self);

#endif
