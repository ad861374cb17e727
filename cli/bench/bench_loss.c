#include "cli/bench/bench_loss.h"

#include <stdatomic.h>
#include <string.h>

#include "cli/bench/bench_fleet.h"
#include "cli/house.h"
#include "runtime/timer.h"
#include "schemas/event.h"
#include "schemas/load.h"

#define SOURCE "source"
#define FOLLOWER "follower"

enum {
    FOLLOWERS = 8,             //  Every other one stands still
    EVENTS = 10,               //  In a message
    MESSAGES = 40000,          //  Published
    MESSAGES_QUICK = 15000,    //  The same, where only little is to be done: more than the queues hold
    DEADLINE_S = 120,          //  For all of it
};

//  Small queues and rings, so that it takes little to overflow them: the broker's, and the source's.
static const char s_config [] = "version: 1\nbroker: { ring: 256KiB, subscriber_queue: 100 }\n";
enum { SOURCE_RING = 512 << 10 };

//  Shared by the threads: what is to happen, and what has.
typedef struct {
    uint64_t last;               //  The source publishes events 1 to this one
    sem_t go;                    //  Posted when it has, for each follower that stands still
    sem_t done;                  //  Posted by each follower that knows them all
    atomic_ullong undetected;    //  Events that followers missed without being told
    atomic_ullong forgotten;     //  Times that one was told to forget
    atomic_ullong gaps;          //  Holes that they noticed
    atomic_ullong replayed;      //  Messages that came on demand
} story_t;

//  ---- The source ----------------------------------------------------------------------------------------------------

//  Its events are loads of a worker: number n has n prefill tokens.
typedef struct {
    story_t *story;        //  Of main's thread
    size_t followers;      //  That are there
    uint64_t said;         //  Events published
    actor_timer_t next;    //  The next message: one a turn
} source_state_t;

static void
s_on_next (void *self_, actor_t *actor, void *arg)
{
    source_state_t *self = self_;
    for (int i = 0; i < EVENTS; i++) {
        worker_load_t event = { .prefill_tokens = ++self->said };
        actor_publish (actor, &worker_load_message, &event);
    }
    if (self->said < self->story->last)
        timer_start (&self->next, actor, 0, s_on_next, NULL);
    for (int i = 0; i < FOLLOWERS && self->said == self->story->last; i++)
        sem_post (&self->story->go);
}

//  Begins when all who follow are there.
static void
s_on_follower (void *self_, actor_t *actor, const actor_entry_t *entry)
{
    source_state_t *self = self_;
    self->followers += entry->state == ACTOR_STATE_ALIVE;
    if (self->followers == FOLLOWERS && !self->said)
        s_on_next (self, actor, NULL);
}

static status_t
s_on_snapshot (void *self_, actor_t *actor, uint64_t source, snapshot_t *snapshot)
{
    worker_load_t event = { .prefill_tokens = ((source_state_t *)self_)->said };
    if (source != actor_source (actor))
        return STATUS_NOT_FOUND;
    snapshot_add (snapshot, &worker_load_message, &event);
    return STATUS_OK;
}

static status_t
s_source_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    ((source_state_t *)self_)->story = *(story_t *const *)options;
    return STATUS_OK;
}

static void
s_source_fini (void *self_, actor_t *actor)
{
    timer_stop (&((source_state_t *)self_)->next);
}

//  ---- Those who follow ----------------------------------------------------------------------------------------------

typedef struct {
    story_t *story;    //  Of main's thread
    uint64_t known;    //  The last event that it knows of
    bool forgot;       //  What comes next is a snapshot, which may begin anywhere
    bool stands;       //  It is to stand still once it has seen something
} follower_state_t;

static uint64_t
s_count (actor_t *actor, const char *labels)
{
    static const metric_desc_t bus = { .name = "stator_bus_events_total", .kind = METRIC_COUNTER };
    return (uint64_t)metric_value (metrics_get (actor_metrics (actor), &bus, labels));
}

static void
s_on_load (void *self_, actor_t *actor, const origin_t *origin, const void *event)
{
    follower_state_t *self = self_;
    uint64_t number = ((const worker_load_t *)event)->prefill_tokens;
    if (self->stands)
        sem_wait (&self->story->go);
    self->stands = false;
    if (number != self->known + 1 && !self->forgot)
        atomic_fetch_add (&self->story->undetected, 1);
    self->forgot = false;
    self->known = number;
    if (number != self->story->last)
        return;
    atomic_fetch_add (&self->story->gaps, s_count (actor, "kind=\"gap\""));
    atomic_fetch_add (&self->story->replayed, s_count (actor, "kind=\"replayed\""));
    sem_post (&self->story->done);
}

static void
s_on_reset (void *self_, actor_t *actor, const origin_t *origin)
{
    follower_state_t *self = self_;
    self->forgot = true;
    atomic_fetch_add (&self->story->forgotten, 1);
}

static status_t
s_follower_init (void *self_, actor_t *actor, const void *options, error_t *error)
{
    follower_state_t *self = self_;
    self->story = *(story_t *const *)options;
    self->stands = (actor_address (actor) [strlen (FOLLOWER) + 1] - '0') % 2;
    return STATUS_OK;
}

//  ---- Together ------------------------------------------------------------------------------------------------------

static const actor_handler_t s_source_handlers [] = {
    HANDLES_ACTOR (FOLLOWER, s_on_follower),
    HANDLES_SNAPSHOT (STREAM_LOAD, s_on_snapshot),
    HANDLERS_END,
};

static const actor_handler_t s_follower_handlers [] = {
    HANDLES_EVENT (worker_load, s_on_load),
    HANDLES_RESET (STREAM_LOAD, s_on_reset),
    HANDLERS_END,
};

static const actor_class_t s_source_class = { .name = SOURCE,
    .state_size = sizeof (source_state_t),
    .init = s_source_init,
    .fini = s_source_fini,
    .handlers = s_source_handlers };

static const actor_class_t s_follower_class = {
    .name = FOLLOWER, .state_size = sizeof (follower_state_t), .init = s_follower_init, .handlers = s_follower_handlers
};

static status_t
s_tell (const bench_fleet_t *fleet, story_t *story, error_t *error)
{
    static const char *const names [FOLLOWERS] = { "0", "1", "2", "3", "4", "5", "6", "7" };
    char endpoint [ENDPOINT_MAX];
    assembly_actor_t actors [1 + FOLLOWERS];
    actor_options_t common = { .broker = fleet->broker, .events = fleet->events };
    house_options_t options = { .state_dir = fleet->folder, .log_level = LOG_ERROR };
    snprintf (endpoint, sizeof endpoint, "ipc://%s/source", fleet->folder);
    actors [0] = (assembly_actor_t){ .class = &s_source_class, .options = common, .class_options = &story };
    actors [0].options.instance = "0";
    actors [0].options.endpoint = endpoint;
    actors [0].options.ring_bytes = SOURCE_RING;
    for (size_t i = 0; i < FOLLOWERS; i++) {
        actors [1 + i] = (assembly_actor_t){ .class = &s_follower_class, .options = common, .class_options = &story };
        actors [1 + i].options.instance = names [i];
    }
    house_t *house = house_new (actors, 1 + FOLLOWERS, &options, error);
    if (!house)
        return error->status;
    house_start (house);
    status_t status = STATUS_OK;
    for (size_t i = 0; i < FOLLOWERS && !status; i++)
        status = bench_await (&story->done, DEADLINE_S, error);
    for (size_t i = 0; i < FOLLOWERS; i++)
        sem_post (&story->go);
    house_destroy (&house);
    return status ? error_prefix (error, "a follower never learnt all that was published") : STATUS_OK;
}

static void
s_print (const bench_t *bench, const story_t *story)
{
    bench_cell_t cell;
    bench_cell_begin (&cell, bench, "loss");
    bench_cell_count (&cell, "followers", FOLLOWERS);
    bench_cell_count (&cell, "events", story->last);
    bench_cell_count (&cell, "gaps", story->gaps);
    bench_cell_count (&cell, "messages_replayed", story->replayed);
    bench_cell_count (&cell, "snapshots", story->forgotten);
    bench_cell_count (&cell, "undetected", story->undetected);
    bench_cell_print (&cell);
}

static status_t
s_judge (const story_t *story, error_t *error)
{
    if (story->undetected)
        return error_set (error, STATUS_CORRUPT, "%llu losses were not noticed", story->undetected);
    if (!story->gaps)
        return error_set (error, STATUS_CORRUPT, "nothing was lost, so nothing was tried");
    return STATUS_OK;
}

status_t
bench_loss_run (const bench_run_t *run, const bench_t *bench, error_t *error)
{
    bench_fleet_t fleet;
    story_t story = { .last = (uint64_t)(run->quick ? MESSAGES_QUICK : MESSAGES) * EVENTS };
    sem_init (&story.go, 0, 0);
    sem_init (&story.done, 0, 0);
    status_t status = bench_fleet_open (&fleet, run, s_config, error);
    if (!status && !bench_fleet_start (&fleet, "broker", "broker", 1, error))
        status = error->status;
    if (!status)
        status = s_tell (&fleet, &story, error);
    if (!status) {
        s_print (bench, &story);
        status = s_judge (&story, error);
    }
    bench_fleet_close (&fleet);
    sem_destroy (&story.done);
    sem_destroy (&story.go);
    return status;
}
