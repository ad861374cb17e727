//  call - one request, one answer
//
//  A call is embedded in the struct of the work it belongs to.  It completes exactly once: reply, error, deadline or
//  cancel; never from inside call_start or call_cancel.  Once it has completed (and from inside its done function) it may
//  be started again or its memory freed.
//
//  A connection that fell takes what was on it, the opening or the answer.  So a callee that has been silent for
//  CALL_PROBE_NS is asked whether the call is still under way; where it is not, the call fails with STATUS_GAP: it may
//  have been served, or not.

#ifndef RUNTIME_CALL_H
#define RUNTIME_CALL_H

#include "base/list.h"
#include "runtime/actor.h"
#include "runtime/due.h"

#define CALL_PROBE_NS UINT64_C (2000000000)

typedef enum {
    CALL_REPLIED,      //  The reply is there
    CALL_FAILED,       //  The callee said no, or cannot be reached: call_error
    CALL_DEADLINE,     //  Time ran out
    CALL_CANCELLED,    //  call_cancel
} call_result_t;

//  self: the actor's state; arg: as given.  reply: of the type's reply type where result is CALL_REPLIED, else NULL;
//  borrowed.
typedef void (call_done_fn) (void *self, void *arg, call_result_t result, const void *reply);

typedef struct link link_t;

//  The fields belong to the runtime.
typedef struct call {
    actor_t *actor;                //  Who calls; NULL while idle
    link_t *link;                  //  To whom
    uint64_t id;                   //  On the wire
    const message_type_t *type;    //  The method
    call_done_fn *done;            //  Called once
    void *arg;                     //  For done
    due_t due;                     //  Deadline, or the completion that waits for the turn's end
    list_link_t in_link;           //  Calls of the link
    call_result_t result;          //  What the waiting completion will say
    error_t error;                 //  Why
    uint64_t deadline_ns;          //  Of a plain call
    span_t trace;                  //  For the next start; see call_trace
} call_t;

//  What is asked of whom.
typedef struct {
    span_t address;                //  Of an actor ("router/0")
    const char *endpoint;          //  Or of a program that is none; NULL: the address counts
    const message_type_t *type;    //  What: kind call
    const void *request;           //  Of that type
    buffer_t *encoded;      //  Or such a request encoded already (message_encode, in a job where it is large), which
                            //  leaves uncopied: taken, and empty afterwards; NULL: the request counts
    uint64_t timeout_ns;    //  At least 1
    call_done_fn *done;     //  Called once, later
    void *arg;              //  For done
} call_options_t;

//  Calls.  Borrows all of it until it returns, but for what is taken.  A program that is no actor, in any language, has a REP or
//  ROUTER socket bound at its endpoint.  It is not told of a cancel nor asked whether it still works.  When it misses a
//  deadline the connection is opened anew, and with it goes whatever still waited to be sent.
void call_start (call_t *self, actor_t *actor, const call_options_t *options);

//  Inside done, of a reply of SOCKET_KEEP_MIN bytes or more: what its spans point at stays until the keeper lets it go.  Of a
//  smaller one, or elsewhere, nothing is kept: copy what is wanted.
keeper_t call_keep (const actor_t *actor);

//  The next start of this call carries a W3C traceparent, borrowed until then: what its callee serves it for.
void call_trace (call_t *self, span_t trace);

//  Nobody wants the answer any more: the callee is told, done follows with CALL_CANCELLED.  Fine on an idle call.
void call_cancel (call_t *self);

//  Forgets the call: done will not be called any more.  For the destruction of what embeds it.  Fine on an idle call.
void call_drop (call_t *self);

bool call_is_active (const call_t *self);

//  Why it did not reply; valid in done and after it.
const error_t *call_error (const call_t *self);

#endif
