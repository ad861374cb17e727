//  Everything on a circuit is a packet: the knock of the dialler, the word that it stands, parcels, the word that it fell.
//  So order is kept by one rule for all of them.  A circuit lives as long as somebody holds an end or a packet is on it.

#include "simulator/network_private.h"

#include <stdio.h>

#include "base/bug.h"
#include "base/memory.h"

//  Peers behind a partition, and of a machine that went silent, are given up after this long and up to half as much more.
#define GIVE_UP_NS (8 * REALM_SECOND)

//  A crash loses what was sent within this time before it, or a part of that.
#define CRASH_LOSES_NS (200 * REALM_US)

typedef enum { PACKET_KNOCK, PACKET_UP, PACKET_PARCEL, PACKET_DOWN } packet_kind_t;

typedef struct {
    realm_event_t event;     //  Its arrival
    list_link_t link;        //  In its circuit, in order of sending
    circuit_t *circuit;      //  On which it travels
    parcel_t *parcel;        //  A reference; may be NULL
    uint64_t sent_ns;        //  When
    uint32_t parcel_kind;    //  The sender's own
    packet_kind_t kind;      //  What it is
    circuit_end_t to;        //  Where it goes
} packet_t;

typedef struct {
    realm_process_t *process;        //  Who holds it, or will; NULL: not known yet
    const circuit_watch_t *watch;    //  Told; NULL: nobody any more
    void *arg;                       //  For watch
    bool held;                       //  Somebody will call circuit_close
    bool speaks;                     //  What it sends goes out
    uint64_t last_arrival_ns;        //  Of what was sent towards it
    uint64_t cut_ns;                 //  What it sent later than this is lost; UINT64_MAX: nothing is
    uint32_t under_way;              //  Parcels towards it
} end_t;

struct circuit {
    network_t *network;                 //  Where
    list_link_t link;                   //  In the network
    uint32_t number;                    //  In order of dialling
    uint32_t references;                //  Held ends and packets
    end_t ends [2];                     //  Dialler and binder
    bool severed;                       //  Nothing goes through now
    bool fallen;                        //  Given up or closed
    bool silent;                        //  A machine that held an end is no more
    realm_event_t give_up;              //  When it falls, while severed
    random_t random;                    //  Delays on it
    list_t packets;                     //  packet_t, in order of sending
    char key [NETWORK_ENDPOINT_MAX];    //  What was dialled
    char peers [2][64];                 //  Names of the sides, for logs
};

static void
s_release (circuit_t *self)
{
    BUG_ON (self->references == 0);
    if (--self->references == 0)
        circuit_destroy (self);
}

//  ---- Delays --------------------------------------------------------------------------------------------------------

static uint64_t
s_draw_delay (circuit_t *self)
{
    realm_process_t *dialler = self->ends [END_DIALLER].process, *binder = self->ends [END_BINDER].process;
    if (dialler == binder)
        return REALM_US + random_below (&self->random, 2 * REALM_US);
    if (!binder || realm_process_machine (dialler) == realm_process_machine (binder))
        return 15 * REALM_US + random_exponential (&self->random, 15 * REALM_US);
    uint64_t delay = 120 * REALM_US + random_exponential (&self->random, 120 * REALM_US);
    if (random_chance (&self->random, 2000))
        delay += random_exponential (&self->random, 10 * REALM_MS);
    return delay;
}

//  ---- Packets -------------------------------------------------------------------------------------------------------

static void s_arrive (realm_event_t *event);

static void
s_depart (circuit_t *self, packet_t *packet)
{
    end_t *to = &self->ends [packet->to];
    uint64_t at_ns = realm_now (self->network->realm) + s_draw_delay (self);
    if (at_ns < to->last_arrival_ns)
        at_ns = to->last_arrival_ns;
    to->last_arrival_ns = at_ns;
    packet->event.process = to->process;
    realm_schedule (self->network->realm, &packet->event, at_ns);
}

static packet_t *
s_packet_new (circuit_t *self, circuit_end_t to, packet_kind_t kind, uint32_t parcel_kind, parcel_t *parcel)
{
    packet_t *packet = memory_new (sizeof *packet);
    packet->event = (realm_event_t){ .process = self->ends [to].process, .fire = s_arrive };
    packet->circuit = self;
    packet->parcel = parcel_acquire (parcel);
    packet->sent_ns = realm_now (self->network->realm);
    packet->parcel_kind = parcel_kind;
    packet->kind = kind;
    packet->to = to;
    list_append (&self->packets, &packet->link);
    self->references++;
    if (kind == PACKET_PARCEL)
        self->ends [to].under_way++;
    return packet;
}

//  It is not on the circuit any more.
static void
s_take_off (packet_t *packet)
{
    circuit_t *self = packet->circuit;
    list_remove (&self->packets, &packet->link);
    if (packet->kind == PACKET_PARCEL)
        self->ends [packet->to].under_way--;
}

static void
s_packet_free (packet_t *packet)
{
    circuit_t *self = packet->circuit;
    parcel_release (packet->parcel);
    memory_free (packet);
    s_release (self);
}

static void
s_send (circuit_t *self, circuit_end_t to, packet_kind_t kind, uint32_t parcel_kind, parcel_t *parcel)
{
    packet_t *packet = s_packet_new (self, to, kind, parcel_kind, parcel);
    if (!self->severed)
        s_depart (self, packet);
}

//  ---- Falling -------------------------------------------------------------------------------------------------------

static void
s_lose_waiting (circuit_t *self)
{
    list_link_t *link = list_first (&self->packets);
    while (link) {
        packet_t *packet = LIST_ENTRY (link, packet_t, link);
        link = list_next (&self->packets, link);
        if (realm_event_waits (&packet->event))
            continue;
        self->network->figures.lost++;
        s_take_off (packet);
        s_packet_free (packet);
    }
}

//  Both ends hear of it, each in its own time, whatever stands between them.
static void
s_give_up (realm_event_t *event)
{
    circuit_t *self = LIST_ENTRY (event, circuit_t, give_up);
    self->fallen = true;
    self->network->figures.fallen++;
    self->references++;
    s_lose_waiting (self);
    for (circuit_end_t end = END_DIALLER; end <= END_BINDER; end++)
        if (self->ends [end].held && self->ends [end].watch)
            s_depart (self, s_packet_new (self, end, PACKET_DOWN, 0, NULL));
    s_release (self);
}

static void
s_schedule_give_up (circuit_t *self)
{
    if (realm_event_waits (&self->give_up) || self->fallen)
        return;
    uint64_t patience_ns = GIVE_UP_NS + random_below (&self->random, GIVE_UP_NS / 2);
    realm_schedule (self->network->realm, &self->give_up, realm_now (self->network->realm) + patience_ns);
}

//  The packet that says so still holds the circuit.
static void
s_fall (circuit_t *self, circuit_end_t end)
{
    end_t *fell = &self->ends [end];
    end_t before = *fell;
    fell->watch = NULL;
    fell->held = false;
    fell->speaks = false;
    self->fallen = true;
    s_release (self);
    before.watch->on_down (before.arg);
}

//  ---- Arrival -------------------------------------------------------------------------------------------------------

static bool
s_is_cut (const packet_t *packet)
{
    const end_t *from = &packet->circuit->ends [!packet->to];
    return packet->sent_ns > from->cut_ns && packet->kind != PACKET_DOWN;
}

static network_bound_t *
s_find_bound (circuit_t *self)
{
    network_bound_t *bound = map_get (self->network->bounds, span_from_string (self->key));
    if (!bound)
        return NULL;
    bool remote = realm_process_machine (bound->process) != realm_process_machine (self->ends [END_DIALLER].process);
    return bound->local && remote ? NULL : bound;
}

//  The dialler's first word reached the machine it named: the second time it is in the hands of the one bound there.
static void
s_knocked (circuit_t *self)
{
    end_t *binder = &self->ends [END_BINDER];
    network_bound_t *bound = s_find_bound (self);
    if (!self->ends [END_DIALLER].held || self->fallen)
        return;
    if (!bound) {
        self->network->figures.refused++;
        s_send (self, END_DIALLER, PACKET_DOWN, 0, NULL);
        return;
    }
    if (binder->process != bound->process) {
        binder->process = bound->process;
        circuit_reconsider (self);
        s_send (self, END_BINDER, PACKET_KNOCK, 0, NULL);
        return;
    }
    snprintf (self->peers [END_BINDER], sizeof self->peers [0], "%.63s", bound->endpoint);
    binder->held = true;
    binder->speaks = true;
    self->references++;
    s_send (self, END_DIALLER, PACKET_UP, 0, NULL);
    bound->watch.on_accept (bound->watch.arg, self);
}

static void
s_deliver (circuit_t *self, packet_t *packet)
{
    end_t *to = &self->ends [packet->to];
    if (packet->kind == PACKET_PARCEL) {
        self->network->figures.delivered++;
        to->watch->on_parcel (to->arg, packet->parcel_kind, packet->parcel);
    } else if (packet->kind == PACKET_UP && to->watch->on_up)
        to->watch->on_up (to->arg);
    else if (packet->kind == PACKET_DOWN)
        s_fall (self, packet->to);
}

static void
s_arrive (realm_event_t *event)
{
    packet_t *packet = LIST_ENTRY (event, packet_t, event);
    circuit_t *self = packet->circuit;
    s_take_off (packet);
    if (s_is_cut (packet) || (packet->kind != PACKET_KNOCK && !self->ends [packet->to].watch))
        self->network->figures.lost += packet->kind == PACKET_PARCEL;
    else if (packet->kind == PACKET_KNOCK)
        s_knocked (self);
    else
        s_deliver (self, packet);
    s_packet_free (packet);
}

//  ---- For those who hold an end -------------------------------------------------------------------------------------

circuit_t *
circuit_dial (realm_process_t *process, const char *endpoint, const circuit_watch_t *watch, void *arg, error_t *error)
{
    realm_t *realm = realm_process_realm (process);
    network_t *network = realm_network (realm);
    endpoint_t target;
    if (network_parse_endpoint (&target, process, endpoint, error) != STATUS_OK)
        return NULL;
    circuit_t *self = memory_new (sizeof *self);
    self->network = network;
    self->number = ++network->circuit_count;
    self->give_up.fire = s_give_up;
    self->references = 1;
    self->ends [END_DIALLER] =
        (end_t){ .process = process, .watch = watch, .arg = arg, .held = true, .speaks = true, .cut_ns = UINT64_MAX };
    self->ends [END_BINDER].cut_ns = UINT64_MAX;
    network_endpoint_key (&target, process, self->key);
    snprintf (self->peers [END_DIALLER], sizeof self->peers [0], "%.40s:%u",
        realm_machine_name (realm_process_machine (process)), 40000 + self->number % 20000);
    realm_fork_random (realm, &self->random, "circuit", self->number);
    list_init (&self->packets);
    list_append (&network->circuits, &self->link);
    network->figures.dialled++;
    s_send (self, END_BINDER, PACKET_KNOCK, 0, NULL);
    return self;
}

void
circuit_take (circuit_t *self, const circuit_watch_t *watch, void *arg)
{
    self->ends [END_BINDER].watch = watch;
    self->ends [END_BINDER].arg = arg;
}

void
circuit_send (circuit_t *self, circuit_end_t from, uint32_t kind, parcel_t *parcel)
{
    if (self->fallen || !self->ends [from].speaks)
        self->network->figures.lost++;
    else
        s_send (self, !from, PACKET_PARCEL, kind, parcel);
}

void
circuit_send_late (circuit_t *self, circuit_end_t from, uint32_t kind, parcel_t *parcel, uint64_t late_ns)
{
    if (self->fallen || self->severed || !self->ends [from].speaks) {
        circuit_send (self, from, kind, parcel);
        return;
    }
    realm_t *realm = self->network->realm;
    packet_t *packet = s_packet_new (self, !from, PACKET_PARCEL, kind, parcel);
    realm_schedule (realm, &packet->event, realm_now (realm) + s_draw_delay (self) + late_ns);
}

uint32_t
circuit_under_way (const circuit_t *self, circuit_end_t from)
{
    return self->ends [!from].under_way;
}

void
circuit_close (circuit_t *self, circuit_end_t end)
{
    end_t *closing = &self->ends [end], *other = &self->ends [!end];
    BUG_ON (!closing->held);
    closing->watch = NULL;
    closing->held = false;
    if (closing->speaks && other->held && !self->fallen)
        s_send (self, !end, PACKET_DOWN, 0, NULL);
    closing->speaks = false;
    s_release (self);
}

const char *
circuit_peer (const circuit_t *self, circuit_end_t end)
{
    return self->peers [!end];
}

//  ---- For the network -----------------------------------------------------------------------------------------------

circuit_t *
circuit_from_link (list_link_t *link)
{
    return LIST_ENTRY (link, circuit_t, link);
}

void
circuit_destroy (circuit_t *self)
{
    list_link_t *link;
    while ((link = list_take_first (&self->packets))) {
        packet_t *packet = LIST_ENTRY (link, packet_t, link);
        realm_unschedule (self->network->realm, &packet->event);
        parcel_release (packet->parcel);
        memory_free (packet);
    }
    realm_unschedule (self->network->realm, &self->give_up);
    list_remove (&self->network->circuits, &self->link);
    memory_free (self);
}

void
circuit_bury (circuit_t *self, realm_process_t *process, bool crashed, bool silent)
{
    for (circuit_end_t end = END_DIALLER; end <= END_BINDER; end++) {
        end_t *dead = &self->ends [end];
        if (dead->process != process || !dead->held)
            continue;
        if (crashed)
            dead->cut_ns = realm_now (self->network->realm) - random_below (&self->random, CRASH_LOSES_NS);
        dead->watch = NULL;
        if (silent) {
            self->silent = true;
            s_schedule_give_up (self);
        } else if (dead->speaks && self->ends [!end].held && !self->fallen)
            s_send (self, !end, PACKET_DOWN, 0, NULL);
        dead->speaks = false;
    }
}

static bool
s_goes_through (const circuit_t *self)
{
    const realm_process_t *dialler = self->ends [END_DIALLER].process, *binder = self->ends [END_BINDER].process;
    return !binder || realm_process_reaches (dialler, binder);
}

void
circuit_reconsider (circuit_t *self)
{
    bool severed = !s_goes_through (self);
    if (severed == self->severed)
        return;
    self->severed = severed;
    if (severed) {
        s_schedule_give_up (self);
        return;
    }
    if (!self->silent)
        realm_unschedule (self->network->realm, &self->give_up);
    for (list_link_t *link = list_first (&self->packets); link; link = list_next (&self->packets, link)) {
        packet_t *packet = LIST_ENTRY (link, packet_t, link);
        if (!realm_event_waits (&packet->event))
            s_depart (self, packet);
    }
}
