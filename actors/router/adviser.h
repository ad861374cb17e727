//  adviser - a routing policy that is a program of its own
//
//  It binds a REP or ROUTER socket, in any language, and answers score_candidates (schemas/route.toml).  The router does not
//  trust it: it may be slow, dead or wrong, and then the router's own policy decides.  All there is to know of its health is
//  whether it answers in time.  After `failures_max` failures in a row it is not asked for a while; then one request asks
//  it again, and either it is back or the next pause begins.  So a dead one costs a request now and then its deadline, not
//  every request.
//
//  A question is embedded in the work it belongs to.  Once asked it is answered exactly once, never from inside adviser_ask.

#ifndef ACTORS_ROUTER_ADVISER_H
#define ACTORS_ROUTER_ADVISER_H

#include "actors/router/policies/policy.h"
#include "actors/router/router_options.h"
#include "base/array.h"
#include "runtime/call.h"
#include "schemas/route.h"

typedef struct adviser adviser_t;
typedef struct advice advice_t;

//  What came of a request that the adviser might have decided.
typedef enum {
    ADVICE_GIVEN,     //  It decides
    ADVICE_LATE,      //  No answer in time
    ADVICE_FAILED,    //  An error for an answer, or it cannot be asked
    ADVICE_WRONG,     //  An answer that is none: malformed, too few scores, a worker nobody named
    ADVICE_GONE,      //  What it chose cannot be chosen any more
    ADVICE_PAUSED,    //  Not asked: it failed too often
    ADVICE_BUSY,      //  Not asked: too much waits for it
    ADVICE_COUNT
} advice_kind_t;

//  arg: as given.  advice: borrowed.  The question may be freed.
typedef void (advice_fn) (void *arg, const advice_t *advice);

//  The fields belong to the adviser.
typedef struct {
    adviser_t *adviser;    //  Who is asked
    call_t call;           //  The asking
    array_t asked;         //  asked_t, the candidates in their order
    advice_fn *done;       //  Called once
    void *arg;             //  For done
} question_t;

struct advice {
    advice_kind_t kind;                       //  As far as is known: GIVEN may yet become GONE
    const question_t *question;               //  What was asked; NULL where nothing was
    const score_candidates_reply_t *reply;    //  Its answer, NULL unless GIVEN
};

//  Tells of each metric.
void adviser_list_metrics (metric_told_fn *told, void *arg);

//  Gives the adviser; never NULL.  actor: the router.
adviser_t *adviser_new (actor_t *actor);

//  Every question was answered or dropped.
void adviser_destroy (adviser_t **self_p);

//  Takes over what is set about it; borrows the options.
void adviser_configure (adviser_t *self, const router_options_t *options);

//  Whether there is one.
bool adviser_is_on (const adviser_t *self);

//  Asks about candidates, which have the costs of the router's own policy, in the order of their addresses and ranks.
//  ADVICE_GIVEN where the question is under way; else it is not, and done is not called.
advice_kind_t adviser_ask (adviser_t *self, question_t *question, const route_t *request, const array_t *candidates,
    advice_fn *done, void *arg);

//  Nobody wants the answer any more: done is not called.  Fine on a question that is not under way.
void question_drop (question_t *self);

//  Sets the costs of the candidates, as they are now, to what was advised (0: the best).  Where nothing useful was it
//  leaves them as they are.  Counts.  Returns what came of it.
advice_kind_t adviser_take (adviser_t *self, const advice_t *advice, array_t *candidates);

//  Why the adviser did not decide, to follow "because": "it did not answer in time".
const char *advice_reason (advice_kind_t kind);

//  Appends a phrase on how it is.
void adviser_describe (const adviser_t *self, buffer_t *out);

#endif
