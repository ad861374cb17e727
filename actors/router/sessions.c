#include "actors/router/sessions.h"

#include "base/bug.h"
#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"

typedef struct {
    list_link_t in_order;    //  All, quiet longest first
    char *session;           //  Id; owned
    span_t key;              //  The same
    char *worker;            //  Address; owned
    uint16_t rank;           //  Of the worker
} place_t;

struct sessions {
    size_t limit;     //  Sessions
    map_t *places;    //  Session -> place_t, owned
    list_t order;     //  The same, quiet longest first
};

sessions_t *
sessions_new (size_t limit, uint64_t seed)
{
    BUG_ON (limit == 0);
    sessions_t *self = memory_new (sizeof *self);
    self->limit = limit;
    self->places = map_new (seed);
    list_init (&self->order);
    return self;
}

static void
s_forget (sessions_t *self, place_t *place)
{
    list_remove (&self->order, &place->in_order);
    map_remove (self->places, place->key);
    memory_free (place->session);
    memory_free (place->worker);
    memory_free (place);
}

static void
s_forget_oldest (sessions_t *self)
{
    s_forget (self, LIST_ENTRY (list_first (&self->order), place_t, in_order));
}

void
sessions_destroy (sessions_t **self_p)
{
    sessions_t *self = *self_p;
    if (!self)
        return;
    while (self->order.count)
        s_forget_oldest (self);
    map_destroy (&self->places);
    memory_free (self);
    *self_p = NULL;
}

span_t
sessions_get (const sessions_t *self, span_t session, uint16_t *rank)
{
    const place_t *place = map_get (self->places, session);
    if (!place)
        return SPAN ("");
    *rank = place->rank;
    return span_from_string (place->worker);
}

static place_t *
s_place (sessions_t *self, span_t session)
{
    place_t *place = map_get (self->places, session);
    if (place) {
        list_remove (&self->order, &place->in_order);
        return place;
    }
    if (self->order.count == self->limit)
        s_forget_oldest (self);
    place = memory_new (sizeof *place);
    place->session = memory_copy (session.data, session.size);
    place->key = span_of (place->session, session.size);
    map_put (self->places, session, place);
    return place;
}

void
sessions_put (sessions_t *self, span_t session, span_t worker, uint16_t rank)
{
    place_t *place = s_place (self, session);
    if (!place->worker || !span_equal_string (worker, place->worker)) {
        memory_free (place->worker);
        place->worker = memory_copy (worker.data, worker.size);
    }
    place->rank = rank;
    list_append (&self->order, &place->in_order);
}

size_t
sessions_count (const sessions_t *self)
{
    return self->order.count;
}
