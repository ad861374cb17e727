//  A message socket stands on circuits: a `link` for each endpoint it is connected to, which dials again whenever its
//  circuit falls and queues what is sent in between; a `peer` for each circuit that was dialled to it.
//
//  On an endpoint that leaves the machine, of a port with keys, the first parcel says who dials and whom it expects.  It is
//  believed; what is played here is who is let in, and as whom.

#include "simulator/port/sim_private.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/map.h"
#include "base/memory.h"
#include "runtime/endpoint.h"

enum { QUEUE_DEFAULT = 1000, PEER_ID_SIZE = 5, ENDPOINT_MAX = 512 };

//  A link dials again after this long, twice as long each time, and up to half as much more.
#define RETRY_FIRST_NS (100 * REALM_MS)
#define RETRY_LAST_NS (2 * REALM_SECOND)

//  A message that is overtaken comes this much later on average.
#define OVERTAKEN_NS (5 * REALM_MS)

//  What travels on a circuit between message sockets.
//  SENT_PROOF: the dialler's public key, and that of whoever it means to reach.
enum { SENT_MESSAGE = 1, SENT_SUBSCRIBE, SENT_UNSUBSCRIBE, SENT_PROOF };

typedef struct {
    parcel_t *prefix;    //  One frame
    uint32_t count;      //  How often it was asked for
} subscription_t;

typedef struct {
    port_socket_t *socket;      //  Whose
    list_link_t entry;          //  In the socket
    char *endpoint;             //  Where it dials
    circuit_t *circuit;         //  NULL while it waits to dial again
    bool up;                    //  The circuit stands
    array_t pending;            //  parcel_t *, to be sent once it stands
    realm_event_t retry;        //  Dials again
    uint64_t retry_after_ns;    //  Next time
} link_t;

typedef struct {
    port_socket_t *socket;        //  Whose
    list_link_t entry;            //  In the socket
    circuit_t *circuit;           //  Never NULL
    uint8_t id [PEER_ID_SIZE];    //  A ROUTER's name for it
    array_t filter;               //  XPUB: subscription_t of this peer
    bool behind;                  //  XPUB: it missed the last message for that
    parcel_t *proof;              //  NULL: a plain endpoint, or nothing was proven yet
} peer_t;

struct port_socket {
    sim_port_t *port;                //  Whose
    socket_options_t options;        //  Defaults filled in
    char endpoint [ENDPOINT_MAX];    //  Last bound
    array_t bounds;                  //  network_bound_t *
    list_t links;                    //  link_t
    list_t peers;                    //  peer_t, in order of their coming
    map_t *peers_by_id;              //  ROUTER: peer_t
    uint32_t next_id;                //  Of the next peer
    array_t subscriptions;           //  SUB: subscription_t
    bool guarded;                    //  Whoever comes must prove who it is
    uint64_t refused;                //  Peers that did not
    uint64_t overflows;              //  Times that one fell too far behind
    const peer_t *sender;            //  Of the message that is being handed over; NULL: a link's
    parcel_t *received;              //  That message; NULL: none is
};

//  ---- Messages in ---------------------------------------------------------------------------------------------------

//  frames: with room for one more in front.  The socket may be gone afterwards.
static void
s_hand_over (port_socket_t *self, const peer_t *peer, const span_t *frames, size_t count, uint64_t hash)
{
    sim_port_t *port = self->port;
    realm_note (port->realm, NOTE_MESSAGE, port->number, hash);
    if (!self->options.on_message)
        return;
    self->sender = peer;
    sim_enter (port);
    self->options.on_message (self->options.arg, frames, count);
    sim_leave (port);
}

//  Whoever is told may close the socket.
static void
s_hand_over_parcel (port_socket_t *self, const peer_t *peer, const span_t *frames, size_t count, parcel_t *parcel)
{
    self->received = parcel;
    s_hand_over (self, peer, frames, count, parcel_hash (parcel));
}

static void
s_drop (port_socket_t *self, span_t first)
{
    sim_port_t *port = self->port;
    if (!self->options.on_dropped)
        return;
    sim_enter (port);
    self->options.on_dropped (self->options.arg, first);
    sim_leave (port);
}

static void
s_receive (port_socket_t *self, const peer_t *peer, parcel_t *parcel)
{
    span_t frames [SOCKET_FRAMES_MAX + 1];
    size_t count = 0;
    if (self->options.kind == SOCKET_ROUTER)
        frames [count++] = span_of (peer->id, sizeof peer->id);
    for (size_t i = 0; i < parcel->count; i++)
        frames [count++] = parcel_frame (parcel, i);
    if (count > SOCKET_FRAMES_MAX || parcel_size (parcel) > self->options.message_max)
        s_drop (self, frames [0]);
    else
        s_hand_over_parcel (self, peer, frames, count, parcel);
}

//  ---- Subscriptions -------------------------------------------------------------------------------------------------

static subscription_t *
s_find_subscription (const array_t *subscriptions, span_t prefix)
{
    for (size_t i = 0; i < subscriptions->count; i++) {
        subscription_t *subscription = array_at (subscriptions, i);
        if (span_equal (parcel_frame (subscription->prefix, 0), prefix))
            return subscription;
    }
    return NULL;
}

//  True where the prefix is new.
static bool
s_add_subscription (array_t *subscriptions, parcel_t *prefix)
{
    subscription_t *subscription = s_find_subscription (subscriptions, parcel_frame (prefix, 0));
    if (subscription) {
        subscription->count++;
        return false;
    }
    *(subscription_t *)array_add (subscriptions) = (subscription_t){ parcel_acquire (prefix), 1 };
    return true;
}

//  True where it was the last of this prefix.
static bool
s_remove_subscription (array_t *subscriptions, span_t prefix)
{
    subscription_t *subscription = s_find_subscription (subscriptions, prefix);
    if (!subscription || --subscription->count)
        return false;
    parcel_release (subscription->prefix);
    array_remove (subscriptions, (size_t)(subscription - (subscription_t *)subscriptions->data));
    return true;
}

static void
s_fini_subscriptions (array_t *subscriptions)
{
    for (size_t i = 0; i < subscriptions->count; i++)
        parcel_release (((subscription_t *)array_at (subscriptions, i))->prefix);
    array_fini (subscriptions);
}

static bool
s_matches (const array_t *subscriptions, span_t topic)
{
    for (size_t i = 0; i < subscriptions->count; i++)
        if (span_starts_with (topic, parcel_frame (((subscription_t *)array_at (subscriptions, i))->prefix, 0)))
            return true;
    return false;
}

static bool
s_any_peer_subscribed (const port_socket_t *self, span_t prefix)
{
    for (list_link_t *entry = list_first (&self->peers); entry; entry = list_next (&self->peers, entry))
        if (s_find_subscription (&LIST_ENTRY (entry, peer_t, entry)->filter, prefix))
            return true;
    return false;
}

//  An XPUB hears of a prefix when the first one comes and when the last one goes: a byte 1 or 0, then the prefix.
static void
s_tell_publisher (port_socket_t *self, bool subscribed, parcel_t *prefix)
{
    buffer_t message = { 0 };
    buffer_append_byte (&message, subscribed);
    buffer_append (&message, parcel_frame (prefix, 0));
    span_t frame = buffer_span (&message);
    s_hand_over (self, NULL, &frame, 1, parcel_hash (prefix));
    buffer_fini (&message);
}

static void
s_peer_subscribes (peer_t *peer, parcel_t *prefix)
{
    bool first = !s_any_peer_subscribed (peer->socket, parcel_frame (prefix, 0));
    s_add_subscription (&peer->filter, prefix);
    if (first)
        s_tell_publisher (peer->socket, true, prefix);
}

static void
s_peer_unsubscribes (peer_t *peer, parcel_t *prefix)
{
    if (s_remove_subscription (&peer->filter, parcel_frame (prefix, 0)) &&
        !s_any_peer_subscribed (peer->socket, parcel_frame (prefix, 0)))
        s_tell_publisher (peer->socket, false, prefix);
}

//  ---- Links: what we dialled ----------------------------------------------------------------------------------------

static void s_dial (link_t *self);

//  A dialler without keys, or that does not know who is there, proves nothing.
static void
s_prove (const link_t *self)
{
    const keyring_t *keys = self->socket->port->keys;
    span_t endpoint = span_from_string (self->endpoint);
    const keyring_entry_t *expected = keys ? keyring_find_address (keys, endpoint_host (endpoint)) : NULL;
    if (!expected || !endpoint_leaves_machine (endpoint))
        return;
    span_t frames [] = { span_from_string (keyring_own_public (keys)), span_from_string (expected->public_key) };
    parcel_t *proof = parcel_new (frames, 2);
    circuit_send (self->circuit, END_DIALLER, SENT_PROOF, proof);
    parcel_release (proof);
}

static void
s_link_on_up (void *arg)
{
    link_t *self = arg;
    realm_note (self->socket->port->realm, NOTE_LINE, self->socket->port->number, 1);
    self->up = true;
    self->retry_after_ns = RETRY_FIRST_NS;
    s_prove (self);
    const array_t *subscriptions = &self->socket->subscriptions;
    for (size_t i = 0; i < subscriptions->count; i++)
        circuit_send (
            self->circuit, END_DIALLER, SENT_SUBSCRIBE, ((subscription_t *)array_at (subscriptions, i))->prefix);
    for (size_t i = 0; i < self->pending.count; i++) {
        parcel_t *parcel = *(parcel_t **)array_at (&self->pending, i);
        circuit_send (self->circuit, END_DIALLER, SENT_MESSAGE, parcel);
        parcel_release (parcel);
    }
    array_cut (&self->pending, 0);
}

static void
s_link_on_parcel (void *arg, uint32_t kind, parcel_t *parcel)
{
    port_socket_t *socket = ((link_t *)arg)->socket;
    if (kind != SENT_MESSAGE)
        return;
    if (socket->options.kind == SOCKET_SUB && !s_matches (&socket->subscriptions, parcel_frame (parcel, 0)))
        return;
    s_receive (socket, NULL, parcel);
}

static void
s_retry_later (link_t *self)
{
    sim_port_t *port = self->socket->port;
    uint64_t delay_ns = self->retry_after_ns;
    sim_schedule_after (port, &self->retry, delay_ns + random_below (&port->socket_random, delay_ns / 2));
    self->retry_after_ns = delay_ns * 2 < RETRY_LAST_NS ? delay_ns * 2 : RETRY_LAST_NS;
}

static void
s_link_on_down (void *arg)
{
    link_t *self = arg;
    realm_note (self->socket->port->realm, NOTE_LINE, self->socket->port->number, 0);
    self->circuit = NULL;
    self->up = false;
    s_retry_later (self);
}

static const circuit_watch_t s_link_watch = { s_link_on_up, s_link_on_parcel, s_link_on_down };

static void
s_dial (link_t *self)
{
    self->circuit = circuit_dial (self->socket->port->process, self->endpoint, &s_link_watch, self, NULL);
    BUG_ON (!self->circuit);
}

static void
s_on_retry (realm_event_t *event)
{
    s_dial (LIST_ENTRY (event, link_t, retry));
}

static void
s_link_destroy (link_t *self)
{
    list_remove (&self->socket->links, &self->entry);
    realm_unschedule (self->socket->port->realm, &self->retry);
    if (self->circuit)
        circuit_close (self->circuit, END_DIALLER);
    for (size_t i = 0; i < self->pending.count; i++)
        parcel_release (*(parcel_t **)array_at (&self->pending, i));
    array_fini (&self->pending);
    memory_free (self->endpoint);
    memory_free (self);
}

static status_t
s_find_full (port_socket_t *self)
{
    network_figures (realm_network (self->port->realm))->full++;
    return STATUS_AGAIN;
}

static status_t
s_link_send (link_t *self, const span_t *frames, size_t count)
{
    uint32_t waiting = self->up ? circuit_under_way (self->circuit, END_DIALLER) : (uint32_t)self->pending.count;
    if (waiting >= self->socket->options.send_queue)
        return s_find_full (self->socket);
    parcel_t *parcel = parcel_new (frames, count);
    if (self->up) {
        circuit_send (self->circuit, END_DIALLER, SENT_MESSAGE, parcel);
        parcel_release (parcel);
    } else
        array_append (&self->pending, &parcel, 1);
    return STATUS_OK;
}

//  ---- Peers: who dialled us -----------------------------------------------------------------------------------------

static void
s_peer_free (peer_t *self)
{
    port_socket_t *socket = self->socket;
    list_remove (&socket->peers, &self->entry);
    if (socket->options.kind == SOCKET_ROUTER)
        map_remove (socket->peers_by_id, span_of (self->id, sizeof self->id));
    s_fini_subscriptions (&self->filter);
    parcel_release (self->proof);
    memory_free (self);
}

static void
s_refuse (peer_t *self)
{
    self->socket->refused++;
    circuit_close (self->circuit, END_BINDER);
    s_peer_free (self);
}

static const keyring_entry_t *
s_find_key (const peer_t *self)
{
    return keyring_find (self->socket->port->keys, parcel_frame (self->proof, 0));
}

//  Where nothing has to be proven, somebody who wants to is at the wrong place.
static void
s_take_proof (peer_t *self, parcel_t *proof)
{
    const keyring_t *keys = self->socket->port->keys;
    bool meant = self->socket->guarded && span_equal_string (parcel_frame (proof, 1), keyring_own_public (keys));
    if (meant && !self->proof)
        self->proof = parcel_acquire (proof);
    if (!meant || !s_find_key (self))
        s_refuse (self);
}

static void
s_peer_on_parcel (void *arg, uint32_t kind, parcel_t *parcel)
{
    peer_t *self = arg;
    bool publishes = self->socket->options.kind == SOCKET_XPUB;
    if (kind == SENT_PROOF)
        s_take_proof (self, parcel);
    else if (self->socket->guarded && !self->proof)
        s_refuse (self);
    else if (kind == SENT_MESSAGE)
        s_receive (self->socket, self, parcel);
    else if (kind == SENT_SUBSCRIBE && publishes)
        s_peer_subscribes (self, parcel);
    else if (kind == SENT_UNSUBSCRIBE && publishes)
        s_peer_unsubscribes (self, parcel);
}

static void
s_peer_on_down (void *arg)
{
    peer_t *self = arg;
    sim_port_t *port = self->socket->port;
    realm_note (port->realm, NOTE_LINE, port->number, 2);
    while (self->filter.count) {
        subscription_t *last = array_at (&self->filter, self->filter.count - 1);
        last->count = 1;
        parcel_t *prefix = parcel_acquire (last->prefix);
        s_peer_unsubscribes (self, prefix);
        parcel_release (prefix);
    }
    s_peer_free (self);
}

static const circuit_watch_t s_peer_watch = { NULL, s_peer_on_parcel, s_peer_on_down };

static void
s_on_accept (void *arg, circuit_t *circuit)
{
    port_socket_t *self = arg;
    peer_t *peer = memory_new (sizeof *peer);
    peer->socket = self;
    peer->circuit = circuit;
    array_init (&peer->filter, sizeof (subscription_t));
    uint32_t id = self->next_id++;
    memcpy (peer->id + 1, &id, sizeof id);
    if (self->options.kind == SOCKET_ROUTER)
        map_put (self->peers_by_id, span_of (peer->id, sizeof peer->id), peer);
    list_append (&self->peers, &peer->entry);
    circuit_take (circuit, &s_peer_watch, peer);
}

//  ---- Sending -------------------------------------------------------------------------------------------------------

static status_t
s_send_to_peer (port_socket_t *self, const span_t *frames, size_t count)
{
    peer_t *peer = map_get (self->peers_by_id, frames [0]);
    if (!peer || count < 2)
        return STATUS_UNREACHABLE;
    if (circuit_under_way (peer->circuit, END_BINDER) >= self->options.send_queue)
        return s_find_full (self);
    parcel_t *parcel = parcel_new (frames + 1, count - 1);
    circuit_send (peer->circuit, END_BINDER, SENT_MESSAGE, parcel);
    parcel_release (parcel);
    return STATUS_OK;
}

//  The leg that may lose: a peer that is too far behind loses the newest, and the network some of the rest.
static void
s_publish_to (peer_t *peer, parcel_t *parcel)
{
    sim_port_t *port = peer->socket->port;
    network_t *network = realm_network (port->realm);
    network_figures_t *figures = network_figures (network);
    uint32_t waiting = circuit_under_way (peer->circuit, END_BINDER);
    bool behind = waiting >= peer->socket->options.send_queue || waiting >= network_queue (network);
    peer->socket->overflows += behind && !peer->behind;
    figures->full += behind && !peer->behind;
    peer->behind = behind;
    if (behind || random_chance (&port->publish_random, network_loss_ppm (network)))
        figures->published_lost++;
    else if (random_chance (&port->publish_random, network_reorder_ppm (network))) {
        figures->reordered++;
        circuit_send_late (
            peer->circuit, END_BINDER, SENT_MESSAGE, parcel, random_exponential (&port->publish_random, OVERTAKEN_NS));
    } else
        circuit_send (peer->circuit, END_BINDER, SENT_MESSAGE, parcel);
}

static void
s_publish (port_socket_t *self, const span_t *frames, size_t count)
{
    parcel_t *parcel = NULL;
    for (list_link_t *entry = list_first (&self->peers); entry; entry = list_next (&self->peers, entry)) {
        peer_t *peer = LIST_ENTRY (entry, peer_t, entry);
        if (!s_matches (&peer->filter, frames [0]))
            continue;
        if (!parcel)
            parcel = parcel_new (frames, count);
        s_publish_to (peer, parcel);
    }
    parcel_release (parcel);
}

status_t
sim_socket_send (port_socket_t *self, const span_t *frames, size_t count)
{
    BUG_ON (count == 0 || count > SOCKET_FRAMES_MAX || self->options.kind == SOCKET_SUB);
    if (socket_message_size (self->options.kind, frames, count) > self->options.message_max)
        return STATUS_LIMIT;
    if (self->options.kind == SOCKET_ROUTER)
        return s_send_to_peer (self, frames, count);
    if (self->options.kind == SOCKET_XPUB) {
        s_publish (self, frames, count);
        return STATUS_OK;
    }
    list_link_t *entry = list_first (&self->links);
    return entry ? s_link_send (LIST_ENTRY (entry, link_t, entry), frames, count) : STATUS_AGAIN;
}

status_t
sim_socket_forward (port_socket_t *self, port_socket_t *from, const span_t *frames, size_t count)
{
    return sim_socket_send (self, frames, count);
}

status_t
sim_socket_send_kept (port_socket_t *self, const span_t *frames, size_t count, keeper_t *keeper)
{
    status_t status = sim_socket_send (self, frames, count);
    keeper_release (keeper);
    return status;
}

static void
s_release_parcel (void *parcel)
{
    parcel_release (parcel);
}

keeper_t
sim_socket_keep (port_socket_t *self, const span_t *frame)
{
    BUG_ON (frame->size < SOCKET_KEEP_MIN);
    return (keeper_t){ s_release_parcel, parcel_acquire (self->received) };
}

static void
s_tell_publishers (port_socket_t *self, uint32_t kind, parcel_t *prefix)
{
    for (list_link_t *entry = list_first (&self->links); entry; entry = list_next (&self->links, entry)) {
        link_t *link = LIST_ENTRY (entry, link_t, entry);
        if (link->up)
            circuit_send (link->circuit, END_DIALLER, kind, prefix);
    }
}

void
sim_socket_subscribe (port_socket_t *self, span_t prefix)
{
    parcel_t *parcel = parcel_new (&prefix, 1);
    if (s_add_subscription (&self->subscriptions, parcel))
        s_tell_publishers (self, SENT_SUBSCRIBE, parcel);
    parcel_release (parcel);
}

void
sim_socket_unsubscribe (port_socket_t *self, span_t prefix)
{
    parcel_t *parcel = parcel_new (&prefix, 1);
    if (s_remove_subscription (&self->subscriptions, prefix))
        s_tell_publishers (self, SENT_UNSUBSCRIBE, parcel);
    parcel_release (parcel);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

port_socket_t *
sim_socket_open (port_t *port, const socket_options_t *options, error_t *error)
{
    port_socket_t *self = memory_new (sizeof *self);
    self->port = sim_port_of (port);
    self->options = *options;
    if (!self->options.send_queue)
        self->options.send_queue = QUEUE_DEFAULT;
    if (!self->options.message_max)
        self->options.message_max = SOCKET_MESSAGE_MAX;
    array_init (&self->bounds, sizeof (network_bound_t *));
    array_init (&self->subscriptions, sizeof (subscription_t));
    list_init (&self->links);
    list_init (&self->peers);
    self->peers_by_id = map_new (0);
    self->next_id = (uint32_t)random_u64 (&self->port->socket_random);
    self->port->open_count++;
    return self;
}

status_t
sim_socket_bind (port_socket_t *self, const char *endpoint, error_t *error)
{
    BUG_ON (self->options.kind == SOCKET_DEALER || self->options.kind == SOCKET_SUB);
    status_t status = sim_check_alive (self->port, error);
    if (status != STATUS_OK)
        return status;
    network_bound_watch_t watch = { .on_accept = s_on_accept, .arg = self };
    error_t reason = { 0 };
    network_bound_t *bound = network_bound_open (self->port->process, endpoint, &watch, &reason);
    if (!bound)
        return error_set (error, reason.status, "%s", reason.text);
    array_append (&self->bounds, &bound, 1);
    self->guarded |= self->port->keys && endpoint_leaves_machine (span_from_string (endpoint));
    snprintf (self->endpoint, sizeof self->endpoint, "%s", network_bound_endpoint (bound));
    return STATUS_OK;
}

status_t
sim_socket_connect (port_socket_t *self, const char *endpoint, error_t *error)
{
    BUG_ON (self->options.kind == SOCKET_ROUTER || self->options.kind == SOCKET_XPUB);
    status_t status = sim_check_alive (self->port, error);
    if (status != STATUS_OK)
        return status;
    link_t *link = memory_new (sizeof *link);
    error_t reason = { 0 };
    link->circuit = circuit_dial (self->port->process, endpoint, &s_link_watch, link, &reason);
    if (!link->circuit) {
        memory_free (link);
        return error_set (error, reason.status, "%s", reason.text);
    }
    link->socket = self;
    link->endpoint = memory_copy_string (endpoint);
    link->retry = sim_event (self->port, s_on_retry);
    link->retry_after_ns = RETRY_FIRST_NS;
    array_init (&link->pending, sizeof (parcel_t *));
    list_append (&self->links, &link->entry);
    return STATUS_OK;
}

//  Nobody removes files here.
status_t
sim_socket_mend (port_socket_t *self, bool *mended, error_t *error)
{
    *mended = false;
    return STATUS_OK;
}

const char *
sim_socket_endpoint (const port_socket_t *self)
{
    return self->endpoint;
}

socket_sender_t
sim_socket_sender (const port_socket_t *self)
{
    socket_sender_t sender = { .proven = self->sender && self->sender->proof };
    const keyring_entry_t *entry = sender.proven ? s_find_key (self->sender) : NULL;
    snprintf (sender.name, sizeof sender.name, "%s", entry ? entry->name : "");
    sender.roles = entry ? entry->roles : 0;
    return sender;
}

uint64_t
sim_socket_refused (const port_socket_t *self)
{
    return self->refused;
}

uint64_t
sim_socket_overflows (const port_socket_t *self)
{
    return self->overflows;
}

void
sim_socket_close (port_socket_t *self)
{
    list_link_t *entry;
    while ((entry = list_first (&self->links)))
        s_link_destroy (LIST_ENTRY (entry, link_t, entry));
    while ((entry = list_first (&self->peers))) {
        peer_t *peer = LIST_ENTRY (entry, peer_t, entry);
        circuit_close (peer->circuit, END_BINDER);
        s_peer_free (peer);
    }
    for (size_t i = 0; i < self->bounds.count; i++)
        network_bound_close (*(network_bound_t **)array_at (&self->bounds, i));
    array_fini (&self->bounds);
    s_fini_subscriptions (&self->subscriptions);
    map_destroy (&self->peers_by_id);
    self->port->open_count--;
    memory_free (self);
}
