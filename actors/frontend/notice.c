#include "actors/frontend/notice.h"

#include "base/memory.h"
#include "runtime/directory.h"
#include "schemas/message_memory.h"

enum { WAITING_MAX = 10000 };
static const uint64_t NOTICE_TIMEOUT_NS = 5000000000, AGAIN_NS = 2000000000;

typedef struct {
    notices_t *notices;           //  Whose
    list_link_t in_notices;       //  There
    char router [ADDRESS_MAX];    //  Whom it is for
    uint64_t incarnation;         //  Of that one; 0: the directory does not know it
    route_progress_t progress;    //  An end: what is said, in `memory`
    message_memory_t memory;      //  Of it
    call_t call;                  //  To the router
} notice_t;

void
notices_init (notices_t *self, actor_t *actor, counts_t *counts, void (*on_empty) (void *arg), void *arg)
{
    *self = (notices_t){ .actor = actor, .counts = counts, .on_empty = on_empty, .arg = arg };
    list_init (&self->notices);
    list_init (&self->waiting);
}

static void
s_free (notice_t *notice)
{
    call_drop (&notice->call);
    message_memory_fini (&notice->memory);
    memory_free (notice);
}

void
notices_fini (notices_t *self)
{
    list_link_t *link;
    timer_stop (&self->again);
    while ((link = list_take_first (&self->notices)) || (link = list_take_first (&self->waiting)))
        s_free (LIST_ENTRY (link, notice_t, in_notices));
}

//  ---- Telling -------------------------------------------------------------------------------------------------------

static const actor_entry_t *
s_router (const notice_t *notice)
{
    return directory_find (notice->notices->actor, span_from_string (notice->router));
}

//  A router that is not there any more counts nothing; its successor begins anew.
static bool
s_stands (const notice_t *notice)
{
    const actor_entry_t *router = s_router (notice);
    return router && router->state != ACTOR_STATE_GONE && router->incarnation == notice->incarnation;
}

static void
s_lose (notice_t *notice)
{
    metric_add (notice->notices->counts->silent_notices, 1);
    s_free (notice);
}

//  Whether the router itself has said no: then it would again.
static bool
s_is_answered (const call_t *call, call_result_t result)
{
    status_t status = call_error (call)->status;
    return result == CALL_FAILED && status != STATUS_UNREACHABLE && status != STATUS_GAP && status != STATUS_LIMIT &&
           status != STATUS_AGAIN;
}

static void s_on_again (void *state, actor_t *actor, void *arg);

static void
s_wait (notice_t *notice)
{
    notices_t *self = notice->notices;
    if (self->waiting.count == WAITING_MAX)
        s_lose (LIST_ENTRY (list_take_first (&self->waiting), notice_t, in_notices));
    list_append (&self->waiting, &notice->in_notices);
    if (!timer_is_running (&self->again))
        timer_start (&self->again, self->actor, AGAIN_NS, s_on_again, self);
}

static void
s_on_done (void *state, void *arg, call_result_t result, const void *reply)
{
    notice_t *notice = arg;
    notices_t *self = notice->notices;
    list_remove (&self->notices, &notice->in_notices);
    if (result == CALL_REPLIED)
        s_free (notice);
    else if (!notice->progress.finished || s_is_answered (&notice->call, result) || !s_stands (notice))
        s_lose (notice);
    else
        s_wait (notice);
    if (self->notices.count == 0)
        self->on_empty (self->arg);
}

static void
s_tell (notice_t *notice, const route_progress_t *progress)
{
    notices_t *self = notice->notices;
    list_append (&self->notices, &notice->in_notices);
    call_start (&notice->call, self->actor,
        &(call_options_t){ .address = span_from_string (notice->router),
            .type = &route_progress_message,
            .request = progress,
            .timeout_ns = NOTICE_TIMEOUT_NS,
            .done = s_on_done,
            .arg = notice });
}

//  One whose router is not reachable now waits on.
static void
s_on_again (void *state, actor_t *actor, void *arg)
{
    notices_t *self = arg;
    for (size_t left = self->waiting.count; left; left--) {
        notice_t *notice = LIST_ENTRY (list_take_first (&self->waiting), notice_t, in_notices);
        if (!s_stands (notice))
            s_lose (notice);
        else if (s_router (notice)->state == ACTOR_STATE_ALIVE)
            s_tell (notice, &notice->progress);
        else
            s_wait (notice);
    }
    if (self->waiting.count)
        timer_start (&self->again, actor, AGAIN_NS, s_on_again, self);
}

void
notices_send (notices_t *self, span_t router, const route_progress_t *progress)
{
    notice_t *notice = memory_new (sizeof *notice);
    notice->notices = self;
    span_copy_string (router, notice->router, sizeof notice->router);
    message_memory_init (&notice->memory);
    if (progress->finished)
        message_memory_copy (&notice->memory, &route_progress_message, progress, &notice->progress);
    const actor_entry_t *entry = s_router (notice);
    notice->incarnation = entry ? entry->incarnation : 0;
    s_tell (notice, progress);
}

void
notices_withdraw (notices_t *self, span_t router, span_t request)
{
    list_link_t *link = list_first (&self->waiting);
    while (link) {
        notice_t *notice = LIST_ENTRY (link, notice_t, in_notices);
        link = list_next (&self->waiting, link);
        if (!span_equal_string (router, notice->router) || !span_equal (request, notice->progress.request))
            continue;
        list_remove (&self->waiting, &notice->in_notices);
        s_free (notice);
    }
}
