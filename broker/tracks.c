#include "broker/tracks.h"

#include "base/memory.h"
#include "schemas/event.h"

void
tracks_init (tracks_t *self, actor_t *actor, uint64_t ring_bytes, uint64_t ring_budget)
{
    *self =
        (tracks_t){ .actor = actor, .ring_bytes = ring_bytes, .ring_budget = ring_budget, .ring_limit = ring_bytes };
    list_init (&self->all);
    list_init (&self->moved);
    list_init (&self->owing);
}

static void
s_free (track_t *track)
{
    ring_fini (&track->ring);
    buffer_fini (&track->peer);
    memory_free (track);
}

void
tracks_fini (tracks_t *self)
{
    for (list_link_t *link; (link = list_take_first (&self->all)) != NULL;)
        s_free (LIST_ENTRY (link, track_t, in_all));
}

//  ---- Rings ---------------------------------------------------------------------------------------------------------

//  Call before a ring changes, and s_end_ring afterwards: its bytes are out of the sum in between.
static void
s_begin_ring (tracks_t *self, const track_t *track)
{
    self->bytes_used -= track->ring.bytes;
}

static void
s_end_ring (tracks_t *self, const track_t *track)
{
    self->bytes_used += track->ring.bytes;
}

static uint64_t
s_ring_share (const tracks_t *self)
{
    uint64_t limit = self->ring_bytes, budget = self->ring_budget, shares = 1;
    while (shares < self->all.count)
        shares *= 2;
    return budget && budget / shares < limit ? budget / shares : limit;
}

//  All rings together keep within their budget: each has an equal share of it, at most its own limit.  There are as many
//  shares as the next power of two, so that not every new ring changes all others.
static void
s_share_rings (tracks_t *self)
{
    uint64_t limit = s_ring_share (self);
    if (limit == self->ring_limit)
        return;
    self->ring_limit = limit;
    for (list_link_t *link = list_first (&self->all); link; link = list_next (&self->all, link)) {
        track_t *track = LIST_ENTRY (link, track_t, in_all);
        s_begin_ring (self, track);
        ring_set_limit (&track->ring, limit);
        s_end_ring (self, track);
    }
}

//  ---- One track -----------------------------------------------------------------------------------------------------

//  Puts it into a list where it is in none.
static void
s_enlist (list_t *list, list_link_t *link)
{
    if (!list_link_is_linked (link))
        list_append (list, link);
}

static void
s_strike (list_t *list, list_link_t *link)
{
    if (list_link_is_linked (link))
        list_remove (list, link);
}

static track_t *
s_new (tracks_t *self, uint64_t source, uint16_t stream)
{
    track_t *track = memory_new (sizeof *track);
    track->source = source;
    track->stream = stream;
    ring_init (&track->ring, self->ring_limit);
    list_append (&self->all, &track->in_all);
    s_share_rings (self);
    return track;
}

static void
s_settle (tracks_t *self, track_t *track)
{
    track->owed = 0;
    s_strike (&self->owing, &track->owing);
}

static void
s_begin_anew (tracks_t *self, track_t *track, uint64_t incarnation)
{
    s_begin_ring (self, track);
    ring_clear (&track->ring);
    s_end_ring (self, track);
    s_settle (self, track);
    track->incarnation = incarnation;
    track->sequence = 0;
    track->fanned_out = 0;
    s_enlist (&self->moved, &track->moved);
}

track_t *
tracks_get (tracks_t *self, track_t **place, uint64_t source, uint16_t stream, uint64_t incarnation)
{
    if (!*place)
        *place = s_new (self, source, stream);
    if (incarnation > (*place)->incarnation)
        s_begin_anew (self, *place, incarnation);
    return *place;
}

void
tracks_end (tracks_t *self, track_t **place)
{
    track_t *track = *place;
    if (!track)
        return;
    s_begin_ring (self, track);
    s_settle (self, track);
    s_strike (&self->moved, &track->moved);
    list_remove (&self->all, &track->in_all);
    s_free (track);
    *place = NULL;
    s_share_rings (self);
}

void
tracks_note_tail (tracks_t *self, track_t *track, uint64_t sequence)
{
    if (sequence <= track->sequence)
        return;
    track->sequence = sequence;
    s_enlist (&self->moved, &track->moved);
}

void
tracks_push (tracks_t *self, track_t *track, const event_header_t *header, span_t payload)
{
    s_begin_ring (self, track);
    ring_push (&track->ring, header->sequence, header->wall_ns, payload);
    s_end_ring (self, track);
    track->fanned_out = header->sequence;
    tracks_note_tail (self, track, header->sequence);
}

//  ---- Acknowledgements ----------------------------------------------------------------------------------------------

static void
s_acknowledge (tracks_t *self, track_t *track)
{
    actor_acknowledge (self->actor, buffer_span (&track->peer), track->stream, track->fanned_out);
    s_settle (self, track);
}

void
tracks_owe (tracks_t *self, track_t *track, span_t peer)
{
    if (!span_equal (buffer_span (&track->peer), peer)) {
        buffer_clear (&track->peer);
        buffer_append (&track->peer, peer);
    }
    s_enlist (&self->owing, &track->owing);
    if (++track->owed >= HANDOVER_WINDOW / 2)
        s_acknowledge (self, track);
}

void
tracks_acknowledge (tracks_t *self)
{
    for (list_link_t *link; (link = list_first (&self->owing)) != NULL;)
        s_acknowledge (self, LIST_ENTRY (link, track_t, owing));
}

//  ---- Tails ---------------------------------------------------------------------------------------------------------

static void
s_append_tail (array_t *tails, const track_t *track)
{
    source_tail_t tail = { track->source, track->stream, track->incarnation, track->sequence };
    array_append (tails, &tail, 1);
}

void
tracks_publish_moved (tracks_t *self)
{
    array_t tails;
    array_init (&tails, sizeof (source_tail_t));
    for (list_link_t *link; (link = list_take_first (&self->moved)) != NULL;)
        s_append_tail (&tails, LIST_ENTRY (link, track_t, moved));
    source_tails_t event = { tails.data, tails.count };
    if (tails.count)
        actor_publish (self->actor, &source_tails_message, &event);
    array_fini (&tails);
}

void
tracks_append_tails (const tracks_t *self, array_t *tails)
{
    for (list_link_t *link = list_first (&self->all); link; link = list_next (&self->all, link))
        s_append_tail (tails, LIST_ENTRY (link, track_t, in_all));
}
