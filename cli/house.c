//  Only an actor's own thread may touch it.  To drain or destroy an actor from here, its loop is ended and its thread
//  joined; then this thread is the actor's own, until the loop goes on in a new one.

#include "cli/house.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/memory.h"
#include "cli/departure.h"
#include "runtime/port/real_port.h"

enum { FIRST_TRIM_S = 10 };

typedef struct {
    house_t *house;         //  Whose
    port_t *port;           //  Its world
    actor_t *actor;         //  Itself
    pthread_t thread;       //  Where its loop runs
    bool running;           //  There is such a thread
    atomic_bool drained;    //  It has finished
} resident_t;

struct house {
    world_t *world;              //  Shared by the ports
    resident_t *residents;       //  One an actor
    size_t count;                //  How many
    departure_t departure;       //  Of these, in the same order
    bool failed;                 //  An actor got no thread
    house_options_t options;     //  Pointers valid in house_new only, but for the functions
    sigset_t signals;            //  What is waited for
    pthread_t waiter;            //  Who waits
    struct timespec patience;    //  How long, before it tidies up
};

//  SIGUSR1 is ours: an actor has drained.
static void
s_block_signals (house_t *self)
{
    sigemptyset (&self->signals);
    sigaddset (&self->signals, SIGTERM);
    sigaddset (&self->signals, SIGINT);
    sigaddset (&self->signals, SIGHUP);
    sigaddset (&self->signals, SIGUSR1);
    pthread_sigmask (SIG_BLOCK, &self->signals, NULL);
    self->waiter = pthread_self ();
}

static void
s_on_drained (void *arg, actor_t *actor)
{
    resident_t *resident = arg;
    atomic_store (&resident->drained, true);
    real_port_stop (resident->port);
    pthread_kill (resident->house->waiter, SIGUSR1);
}

static status_t
s_make (house_t *self, resident_t *resident, const assembly_actor_t *spec, const char *state_dir, error_t *error)
{
    char name [ADDRESS_MAX];
    snprintf (name, sizeof name, "%s-%s", spec->class->name, spec->options.instance);
    real_port_options_t port_options = { .world = self->world, .state_folder = state_dir, .name = name };
    actor_options_t options = spec->options;
    options.process = (uint64_t)getpid ();
    options.on_drained = s_on_drained;
    options.arg = resident;
    resident->house = self;
    departure_add (&self->departure, spec->phase);
    resident->port = real_port_new (&port_options, error);
    if (resident->port)
        resident->actor = actor_new (spec->class, resident->port, &options, spec->class_options, error);
    return resident->actor ? STATUS_OK : error->status;
}

static status_t
s_read_keys (house_t *self, buffer_t *news, error_t *error)
{
    keyring_t *keys = NULL;
    status_t status =
        self->options.read_keys ? self->options.read_keys (self->options.arg, &keys, news, error) : STATUS_OK;
    if (status == STATUS_OK)
        world_set_keys (self->world, keys);
    return status;
}

house_t *
house_new (const assembly_actor_t *actors, size_t count, const house_options_t *options, error_t *error)
{
    house_t *self = memory_new (sizeof *self);
    world_options_t world_options = {
        .log_path = options->log_path, .log_level = options->log_level, .log_form = options->log_form
    };
    buffer_t news = { 0 };
    self->options = *options;
    self->patience.tv_sec = FIRST_TRIM_S;
    s_block_signals (self);
    departure_init (&self->departure);
    self->world = world_new (&world_options, error);
    self->residents = memory_new (count * sizeof *self->residents);
    bool good = self->world && s_read_keys (self, &news, error) == STATUS_OK;
    buffer_fini (&news);
    for (size_t i = 0; i < count && good; i++) {
        self->count = i + 1;
        good = s_make (self, &self->residents [i], &actors [i], options->state_dir, error) == STATUS_OK;
    }
    if (!good)
        house_destroy (&self);
    return self;
}

//  ---- Threads -------------------------------------------------------------------------------------------------------

static void *
s_live (void *arg)
{
    resident_t *resident = arg;
    real_port_run (resident->port);
    return NULL;
}

//  An actor that gets no thread has no life: the house ends.
static void
s_let_run (resident_t *resident)
{
    resident->running = pthread_create (&resident->thread, NULL, s_live, resident) == 0;
    if (resident->running)
        return;
    atomic_store (&resident->drained, true);
    resident->house->failed = true;
    pthread_kill (resident->house->waiter, SIGTERM);
}

//  Afterwards the actor is ours to touch.
static void
s_halt (resident_t *resident)
{
    if (!resident->running)
        return;
    real_port_stop (resident->port);
    pthread_join (resident->thread, NULL);
    resident->running = false;
}

void
house_start (house_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        s_let_run (&self->residents [i]);
}

//  ---- Draining ------------------------------------------------------------------------------------------------------

static void
s_drain (resident_t *resident)
{
    s_halt (resident);
    if (atomic_load (&resident->drained))
        return;
    actor_drain (resident->actor);
    s_let_run (resident);
}

//  Hears who has drained meanwhile, and asks whoever is next.
static void
s_depart (house_t *self)
{
    size_t position;
    for (size_t i = 0; i < self->count; i++)
        if (atomic_load (&self->residents [i].drained))
            departure_note_drained (&self->departure, i);
    while (departure_next (&self->departure, &position))
        s_drain (&self->residents [position]);
}

static void
s_give_options (house_t *self, const assembly_actor_t *actors)
{
    for (size_t i = 0; i < self->count; i++) {
        resident_t *resident = &self->residents [i];
        s_halt (resident);
        if (atomic_load (&resident->drained))
            continue;
        actor_reload (resident->actor, actors [i].class_options);
        s_let_run (resident);
    }
}

static void
s_log (const house_t *self, log_level_t level, const char *text)
{
    port_t *port = self->residents [0].port;
    port->table->log (port, level, span_from_string (text));
}

//  Said where the level of before or the new one lets it be.
static void
s_say_reloaded (house_t *self, const house_reload_t *reload, const char *keys)
{
    log_sink_t *sink = world_log (self->world);
    buffer_t news = { 0 };
    bool changed = *reload->changed, both = changed && *keys;
    buffer_print (&news, "reloaded: %s%s%s%s", changed || *keys ? reload->changed : "nothing has changed",
        both ? "; " : "", *keys ? "keys: " : "", keys);
    if (reload->log_level < self->options.log_level)
        log_sink_set_level (sink, reload->log_level);
    s_log (self, self->options.news_level, buffer_string (&news));
    log_sink_set_level (sink, reload->log_level);
    self->options.log_level = reload->log_level;
    buffer_fini (&news);
}

//  Keys and options are read apart: one may be taken where the other cannot be.
static void
s_reload (house_t *self)
{
    error_t error;
    house_reload_t reload = { 0 };
    buffer_t keys = { 0 }, refusal = { 0 };
    bool read = s_read_keys (self, &keys, &error) == STATUS_OK, taken = false;
    if (!read)
        buffer_print (&refusal, "not reloaded: keys, those of before hold: %s", error.text);
    if (self->options.on_reload)
        taken = self->options.on_reload (self->options.arg, &reload, &error) == STATUS_OK;
    if (taken && (read || *reload.changed))
        s_say_reloaded (self, &reload, buffer_string (&keys));
    else if (self->options.on_reload && !taken)
        buffer_print (&refusal, "%s%s%s%s", refusal.size ? "; " : "not reloaded: ", error.text,
            keys.size ? "; reloaded all the same: keys: " : "", buffer_string (&keys));
    if (refusal.size)
        s_log (self, LOG_ERROR, buffer_string (&refusal));
    if (reload.actors && (read || taken))
        s_give_options (self, reload.actors);
    buffer_fini (&keys);
    buffer_fini (&refusal);
}

static void
s_tidy (house_t *self)
{
    buffer_t news = { 0 };
    self->patience.tv_sec = (time_t)(world_trim () / 1000000000);
    if (self->options.on_tidy)
        self->options.on_tidy (self->options.arg, &news);
    if (news.size)
        s_log (self, LOG_WARNING, buffer_string (&news));
    buffer_fini (&news);
}

//  The next signal.  Meanwhile this thread has nothing to do but to tidy up now and then.
static int
s_next_signal (house_t *self)
{
    int number;
    while ((number = sigtimedwait (&self->signals, NULL, &self->patience)) < 0) {
        BUG_ON (errno != EAGAIN && errno != EINTR);
        if (errno == EAGAIN)
            s_tidy (self);
    }
    return number;
}

result_t
house_wait (house_t *self)
{
    while (!departure_is_over (&self->departure)) {
        int number = s_next_signal (self);
        bool asked = number == SIGTERM || number == SIGINT;
        if (asked && !departure_ask (&self->departure))
            return RESULT_FAILED;
        if (number == SIGHUP)
            s_reload (self);
        s_depart (self);
    }
    return self->failed ? RESULT_FAILED : RESULT_OK;
}

void
house_destroy (house_t **self_p)
{
    house_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = self->count; i-- > 0;) {
        s_halt (&self->residents [i]);
        actor_destroy (&self->residents [i].actor);
        real_port_destroy (&self->residents [i].port);
    }
    world_destroy (&self->world);
    departure_fini (&self->departure);
    memory_free (self->residents);
    memory_free (self);
    *self_p = NULL;
}
