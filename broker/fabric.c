#include "broker/fabric.h"

#include "runtime/endpoint.h"

static const uint64_t REBIND_NS = 20000000;

enum {
    FAILURES_TOLD = 50,          //  A second of attempts: a socket that closes takes less
    SUBSCRIBED_MAX = 4 << 20,    //  Bytes of subscriptions; the library takes some thirty times as much for them
    BEGUN_MAX = 16 << 20,        //  The same of all that ever began: an end may be a lie
};

static const metric_desc_t s_refused_metric = { .name = "stator_broker_followers_refused_total",
    .help = "Peers without a key that is known here, turned away where events are published.",
    .kind = METRIC_COUNTER };

static const metric_desc_t s_overflows_metric = { .name = "stator_broker_overflows_total",
    .help = "Times that a follower was so far behind that it misses events, which it has to ask for.",
    .kind = METRIC_COUNTER };

static const metric_desc_t s_strays_metric = { .name = "stator_broker_strays_total",
    .help = "Messages sent to where events are published that are no subscription; nobody reads them.",
    .kind = METRIC_COUNTER };

static const metric_desc_t s_crowded_metric = { .name = "stator_broker_followers_crowded_total",
    .help = "Times that all followers were hung up on because of how much they had subscribed to.",
    .kind = METRIC_COUNTER };

void
fabric_list_metrics (metric_told_fn *told, void *arg)
{
    static const metric_desc_t *const all [] = { &s_crowded_metric, &s_overflows_metric, &s_refused_metric,
        &s_strays_metric, NULL };
    metrics_tell (all, told, arg);
}

static const port_table_t *
s_table (const fabric_t *self)
{
    return actor_port (self->actor)->table;
}

static void
s_close (fabric_t *self)
{
    if (self->socket)
        s_table (self)->socket_close (self->socket);
    self->socket = NULL;
}

static void s_hang_up (void *state, actor_t *actor, void *arg);

//  The library tells of the first who subscribes to a prefix, and of the last, when it ends that or leaves.  It also passes on
//  an end from whoever had never begun, while others are still subscribed; no program that uses the library sends one.
static void
s_count_subscription (fabric_t *self, bool begins, span_t prefix)
{
    uint64_t size = prefix.size + 1;
    if (begins && !map_put (self->prefixes, prefix, self)) {
        self->subscribed += size;
        self->begun += size;
    } else if (!begins && map_remove (self->prefixes, prefix))
        self->subscribed -= size;
    if ((self->subscribed > SUBSCRIBED_MAX || self->begun > BEGUN_MAX) && !self->crowded) {
        self->crowded = true;
        timer_start (&self->rebind, self->actor, 0, s_hang_up, self);
    }
}

//  A subscription is one frame that begins with a byte 1, its end with a 0.  Nothing else has a meaning here.
static void
s_on_message (void *arg, const span_t *frames, size_t count)
{
    fabric_t *self = arg;
    if (count == 1 && frames [0].size && frames [0].data [0] <= 1)
        s_count_subscription (self, frames [0].data [0], span_slice (frames [0], 1, SIZE_MAX));
    else
        metric_add (self->strays, 1);
}

static void
s_on_dropped (void *arg, span_t first)
{
    metric_add (((fabric_t *)arg)->strays, 1);
}

static status_t
s_bind (fabric_t *self, error_t *error)
{
    socket_options_t options = { .kind = SOCKET_XPUB,
        .send_queue = self->queue,
        .on_message = s_on_message,
        .on_dropped = s_on_dropped,
        .arg = self };
    self->socket = s_table (self)->socket_open (actor_port (self->actor), &options, error);
    if (!self->socket)
        return STATUS_IO;
    status_t status = self->local ? s_table (self)->socket_bind (self->socket, self->local, error) : STATUS_OK;
    if (!status)
        status = s_table (self)->socket_bind (self->socket, self->endpoint, error);
    if (status)
        s_close (self);
    return status;
}

//  The endpoint becomes free a moment after the close.
static void
s_rebind (void *state, actor_t *actor, void *arg)
{
    fabric_t *self = arg;
    error_t error;
    if (s_bind (self, &error) == STATUS_OK) {
        if (self->failures >= FAILURES_TOLD)
            actor_log (actor, LOG_INFO, "events are published again");
        return;
    }
    if (++self->failures == FAILURES_TOLD)
        actor_log (actor, LOG_ERROR,
            "no events are published since their socket was closed to be opened anew: %s; end whoever holds it, it is "
            "tried until then",
            error.text);
    timer_start (&self->rebind, actor, REBIND_NS, s_rebind, self);
}

//  Ends all connections; whoever subscribed may come again.
static void
s_renew (fabric_t *self)
{
    self->turned_away += s_table (self)->socket_refused (self->socket);
    self->overflowed += s_table (self)->socket_overflows (self->socket);
    s_close (self);
    self->failures = 0;
    map_destroy (&self->prefixes);
    self->prefixes = map_new (actor_random (self->actor));
    self->subscribed = self->begun = 0;
    self->crowded = false;
    timer_start (&self->rebind, self->actor, REBIND_NS, s_rebind, self);
}

static void
s_hang_up (void *state, actor_t *actor, void *arg)
{
    fabric_t *self = arg;
    metric_add (self->crowds, 1);
    actor_log (actor, LOG_WARNING,
        "followers subscribed to more than %d bytes, or to %d since they were last hung up on: all are hung up on, and "
        "whoever comes again asks for what it missed",
        SUBSCRIBED_MAX, BEGUN_MAX);
    s_renew (self);
}

status_t
fabric_init (fabric_t *self, actor_t *actor, const broker_options_t *options, error_t *error)
{
    *self = (fabric_t){ .actor = actor,
        .endpoint = options->events,
        .local = options->local_events,
        .queue = (uint32_t)options->subscriber_queue,
        .prefixes = map_new (actor_random (actor)) };
    self->refused = metrics_get (actor_metrics (actor), &s_refused_metric, NULL);
    self->overflows = metrics_get (actor_metrics (actor), &s_overflows_metric, NULL);
    self->strays = metrics_get (actor_metrics (actor), &s_strays_metric, NULL);
    self->crowds = metrics_get (actor_metrics (actor), &s_crowded_metric, NULL);
    return s_bind (self, error);
}

void
fabric_fini (fabric_t *self)
{
    timer_stop (&self->rebind);
    s_close (self);
    map_destroy (&self->prefixes);
}

void
fabric_publish (fabric_t *self, const span_t frames [3])
{
    if (self->socket)
        s_table (self)->socket_send (self->socket, frames, 3);
}

void
fabric_forward (fabric_t *self, const span_t frames [3])
{
    if (self->socket)
        actor_forward (self->actor, self->socket, frames);
}

void
fabric_renew (fabric_t *self)
{
    if (!self->socket || !endpoint_leaves_machine (span_from_string (self->endpoint)))
        return;
    s_renew (self);
}

void
fabric_count (fabric_t *self)
{
    uint64_t refused = self->socket ? s_table (self)->socket_refused (self->socket) : 0;
    uint64_t overflows = self->socket ? s_table (self)->socket_overflows (self->socket) : 0;
    metric_set (self->refused, (int64_t)(self->turned_away + refused));
    metric_set (self->overflows, (int64_t)(self->overflowed + overflows));
}
