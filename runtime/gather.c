//  gather - items of many streams, in one message
//
//  Whoever answers many streams has something for each of them in the same turn: an engine makes a token for all of its
//  requests at once.  A message costs libzmq and both actors more than a token does.  So items for one peer wait for the
//  turn's end and go as one message, `items`; one that is alone goes as it would have gone, as `item`.  Nothing waits beyond
//  the turn in which it was said, and nothing that is said on its stream later overtakes it: whoever goes on with a stream
//  past the gather, or ends it, flushes what waits for that peer first.
//
//  Only what was opened with `gathers` is gathered: a plain DEALER socket in any language need not know of it.
//
//  A bunch is bounded by items and bytes, and sent when it is full; what is larger than a bunch is not for it.  There are so
//  many bunches; where there are more peers in one turn, all of them are sent.  Where a peer is found gone, everybody whose
//  items were in its bunch is told so.

#include "base/memory.h"
#include "runtime/actor_private.h"

enum { BUNCHES = 32, ITEMS_MAX = 256, BYTES_MAX = 32 << 10 };

//  What waits for one peer.
typedef struct {
    buffer_t peer;        //  Its name on the ROUTER
    array_t ids;          //  uint64_t, of the streams
    array_t positions;    //  uint64_t, of the items
    array_t sizes;        //  uint32_t, of the items
    buffer_t items;       //  Encoded, back to back
} bunch_t;

struct gather {
    bunch_t bunches [BUNCHES];    //  The first `count` of them have a peer in this turn
    size_t count;                 //  See above
    buffer_t item;                //  The one that is put
};

gather_t *
gather_new (void)
{
    gather_t *self = memory_new (sizeof *self);
    for (size_t i = 0; i < BUNCHES; i++) {
        array_init (&self->bunches [i].ids, sizeof (uint64_t));
        array_init (&self->bunches [i].positions, sizeof (uint64_t));
        array_init (&self->bunches [i].sizes, sizeof (uint32_t));
    }
    return self;
}

void
gather_destroy (gather_t **self_p)
{
    gather_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < BUNCHES; i++) {
        buffer_fini (&self->bunches [i].peer);
        array_fini (&self->bunches [i].ids);
        array_fini (&self->bunches [i].positions);
        array_fini (&self->bunches [i].sizes);
        buffer_fini (&self->bunches [i].items);
    }
    buffer_fini (&self->item);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Sending -------------------------------------------------------------------------------------------------------

static status_t
s_send_item (actor_t *actor, span_t peer, uint64_t id, uint64_t position, span_t item)
{
    frame_header_t header = {
        .version = WIRE_VERSION, .kind = FRAME_KIND_ITEM, .id = id, .has_position = true, .position = position
    };
    return wire_send_frames (&actor->wire, actor->router, peer, &header, &item, 1);
}

static status_t
s_send_bunch (actor_t *actor, const bunch_t *bunch)
{
    span_t peer = buffer_span (&bunch->peer), items = buffer_span (&bunch->items);
    size_t count = bunch->ids.count;
    const uint64_t *ids = bunch->ids.data, *positions = bunch->positions.data;
    if (count == 1)
        return s_send_item (actor, peer, *ids, *positions, items);
    frame_header_t header = { .version = WIRE_VERSION, .kind = FRAME_KIND_ITEMS };
    gathered_items_t message = { .ids = column_of_u64 (ids, count),
        .positions = column_of_u64 (positions, count),
        .sizes = column_of_u32 (bunch->sizes.data, count),
        .items = items };
    return wire_send (&actor->wire, actor->router, peer, &header, &gathered_items_message, &message);
}

static void
s_flush (actor_t *actor, bunch_t *bunch)
{
    size_t count = bunch->ids.count;
    if (!count)
        return;
    bool lost = s_send_bunch (actor, bunch) != STATUS_OK;
    for (size_t i = 0; lost && i < count; i++)
        incoming_lost (actor, buffer_span (&bunch->peer), *(const uint64_t *)array_at (&bunch->ids, i));
    array_cut (&bunch->ids, 0);
    array_cut (&bunch->positions, 0);
    array_cut (&bunch->sizes, 0);
    buffer_clear (&bunch->items);
}

void
gather_flush_all (actor_t *actor)
{
    gather_t *self = actor->gather;
    for (size_t i = 0; i < self->count; i++)
        s_flush (actor, &self->bunches [i]);
    self->count = 0;
}

//  NULL where nothing was put for this peer in this turn.
static bunch_t *
s_find (gather_t *self, span_t peer)
{
    for (size_t i = 0; i < self->count; i++)
        if (span_equal (buffer_span (&self->bunches [i].peer), peer))
            return &self->bunches [i];
    return NULL;
}

void
gather_flush (actor_t *actor, span_t peer)
{
    bunch_t *bunch = s_find (actor->gather, peer);
    if (bunch)
        s_flush (actor, bunch);
}

//  ---- Putting -------------------------------------------------------------------------------------------------------

static bunch_t *
s_add (actor_t *actor, span_t peer)
{
    gather_t *self = actor->gather;
    if (self->count == BUNCHES)
        gather_flush_all (actor);
    bunch_t *bunch = &self->bunches [self->count++];
    buffer_clear (&bunch->peer);
    buffer_append (&bunch->peer, peer);
    actor_want_turn_end (actor);
    return bunch;
}

static void
s_append (bunch_t *bunch, uint64_t id, uint64_t position, span_t item)
{
    uint32_t size = (uint32_t)item.size;
    array_append (&bunch->ids, &id, 1);
    array_append (&bunch->positions, &position, 1);
    array_append (&bunch->sizes, &size, 1);
    buffer_append (&bunch->items, item);
}

bool
gather_put (
    actor_t *actor, span_t peer, uint64_t id, uint64_t position, const message_type_t *type, const void *message)
{
    gather_t *self = actor->gather;
    bunch_t *bunch = s_find (self, peer);
    bunch = bunch ? bunch : s_add (actor, peer);
    buffer_clear (&self->item);
    message_encode (type, message, &self->item);
    span_t item = buffer_span (&self->item);
    if (item.size > BYTES_MAX)
        return false;
    if (bunch->ids.count == ITEMS_MAX || bunch->items.size + item.size > BYTES_MAX)
        s_flush (actor, bunch);
    s_append (bunch, id, position, item);
    return true;
}
