#include "actors/frontend/notice.h"

#include "base/memory.h"

static const uint64_t NOTICE_TIMEOUT_NS = 5000000000;

typedef struct {
    notices_t *notices;        //  Whose
    list_link_t in_notices;    //  There
    call_t call;               //  To the router
} notice_t;

void
notices_init (notices_t *self, counts_t *counts, void (*on_empty) (void *arg), void *arg)
{
    list_init (&self->notices);
    self->counts = counts;
    self->on_empty = on_empty;
    self->arg = arg;
}

void
notices_fini (notices_t *self)
{
    list_link_t *link;
    while ((link = list_take_first (&self->notices))) {
        notice_t *notice = LIST_ENTRY (link, notice_t, in_notices);
        call_drop (&notice->call);
        memory_free (notice);
    }
}

//  A router that is not there any more counts nothing; its successor begins anew.
static void
s_on_done (void *state, void *arg, call_result_t result, const void *reply)
{
    notice_t *notice = arg;
    notices_t *self = notice->notices;
    if (result != CALL_REPLIED)
        metric_add (self->counts->silent_notices, 1);
    list_remove (&self->notices, &notice->in_notices);
    memory_free (notice);
    if (self->notices.count == 0)
        self->on_empty (self->arg);
}

void
notices_send (notices_t *self, actor_t *actor, span_t router, const route_progress_t *progress)
{
    notice_t *notice = memory_new (sizeof *notice);
    notice->notices = self;
    list_append (&self->notices, &notice->in_notices);
    call_start (&notice->call, actor, router, &route_progress_message, progress, NOTICE_TIMEOUT_NS, s_on_done, notice);
}
