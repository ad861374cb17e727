#include "actors/router/sessions.h"

#include "base/bug.h"
#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"
#include "kv/table.h"
#include "schemas/event_header.h"

static const uint64_t LIVE_NS = (uint64_t)300 * 1000000000;

//  What the live sessions of one rank of one worker want.
typedef struct {
    node_t node;          //  Key: of the rank
    uint32_t sessions;    //  How many
    uint64_t blocks;      //  Of their last prompts
} demand_t;

typedef struct {
    list_link_t in_order;    //  All, quiet longest first
    list_link_t in_live;     //  Live ones, likewise
    uint32_t demand;         //  Number of that which it is part of; TABLE_NONE: it is not live
    uint32_t blocks;         //  Of its last prompt
    uint64_t heard_ns;       //  When it spoke last
    char *session;           //  Id; owned
    span_t key;              //  The same
    char *worker;            //  Address; owned
    uint16_t rank;           //  Of the worker
} place_t;

struct sessions {
    size_t limit;          //  Sessions
    uint64_t forgotten;    //  For want of room
    map_t *places;         //  Session -> place_t, owned
    list_t order;          //  The same, quiet longest first
    list_t live;           //  Those that are live, likewise
    table_t demands;       //  demand_t
};

sessions_t *
sessions_new (size_t limit, uint64_t seed)
{
    BUG_ON (limit == 0);
    sessions_t *self = memory_new (sizeof *self);
    self->limit = limit;
    self->places = map_new (seed);
    list_init (&self->order);
    list_init (&self->live);
    table_init (&self->demands, sizeof (demand_t));
    return self;
}

//  ---- Who is live ---------------------------------------------------------------------------------------------------

//  A source is a hash already.  Two ranks of one key would only share a number that advises.
static uint64_t
s_rank_key (uint64_t source, uint16_t rank)
{
    uint64_t key = source + rank;
    return key ? key : 1;
}

static demand_t *
s_demand (const sessions_t *self, uint32_t number)
{
    return table_at (&self->demands, number);
}

static void
s_begin_live (sessions_t *self, place_t *place)
{
    uint64_t key = s_rank_key (event_source (span_from_string (place->worker)), place->rank);
    place->demand = table_find (&self->demands, key);
    if (!place->demand)
        place->demand = table_add (&self->demands, key);
    s_demand (self, place->demand)->blocks += place->blocks;
    s_demand (self, place->demand)->sessions++;
    list_append (&self->live, &place->in_live);
}

static void
s_end_live (sessions_t *self, place_t *place)
{
    uint32_t number = place->demand;
    if (!number)
        return;
    list_remove (&self->live, &place->in_live);
    place->demand = TABLE_NONE;
    s_demand (self, number)->blocks -= place->blocks;
    if (--s_demand (self, number)->sessions == 0)
        table_remove (&self->demands, number);
}

void
sessions_expire (sessions_t *self, uint64_t now_ns)
{
    for (list_link_t *link; (link = list_first (&self->live));) {
        place_t *place = LIST_ENTRY (link, place_t, in_live);
        if (now_ns - place->heard_ns <= LIVE_NS)
            return;
        s_end_live (self, place);
    }
}

uint64_t
sessions_live_blocks (const sessions_t *self, uint64_t source, uint16_t rank)
{
    uint32_t number = table_find (&self->demands, s_rank_key (source, rank));
    return number ? s_demand (self, number)->blocks : 0;
}

//  ---- Where they are ------------------------------------------------------------------------------------------------

static void
s_forget (sessions_t *self, place_t *place)
{
    s_end_live (self, place);
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
    table_fini (&self->demands);
    memory_free (self);
    *self_p = NULL;
}

session_place_t
sessions_get (const sessions_t *self, span_t session)
{
    const place_t *place = map_get (self->places, session);
    if (!place)
        return (session_place_t){ .worker = SPAN ("") };
    return (session_place_t){ span_from_string (place->worker), place->rank, place->demand ? place->blocks : 0 };
}

static place_t *
s_place (sessions_t *self, span_t session)
{
    place_t *place = map_get (self->places, session);
    if (place) {
        list_remove (&self->order, &place->in_order);
        return place;
    }
    if (self->order.count == self->limit) {
        s_forget_oldest (self);
        self->forgotten++;
    }
    place = memory_new (sizeof *place);
    place->session = memory_copy (session.data, session.size);
    place->key = span_of (place->session, session.size);
    map_put (self->places, session, place);
    return place;
}

void
sessions_put (sessions_t *self, span_t session, span_t worker, uint16_t rank, uint32_t blocks, uint64_t now_ns)
{
    place_t *place = s_place (self, session);
    s_end_live (self, place);
    if (!place->worker || !span_equal_string (worker, place->worker)) {
        memory_free (place->worker);
        place->worker = memory_copy (worker.data, worker.size);
    }
    place->rank = rank;
    place->blocks = blocks;
    place->heard_ns = now_ns;
    s_begin_live (self, place);
    list_append (&self->order, &place->in_order);
}

uint64_t
sessions_forgotten (const sessions_t *self)
{
    return self->forgotten;
}
