#include "actors/host/supervisor.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum { REASON_MAX = 256, MS = 1000000, SIGNAL_BASE = 128, SIGNAL_LAST = 64 };

typedef struct {
    supervised_now_t now;    //  What others see
    bool alive;              //  Runs, ready or not
    uint64_t kill_at_ns;     //  When patience ends; 0: no limit
} member_t;

typedef struct {
    size_t first;            //  Position of its first process
    size_t count;            //  How many
    bool failing;            //  One ended; the others are ending
    bool drained;            //  It ended well, after a time of health
    uint32_t crashes;        //  In a row
    uint64_t healthy_ns;     //  All ready since; 0: not now
    uint64_t start_at_ns;    //  When it starts (again); 0: not waiting for time
} unit_t;

struct supervisor {
    const supervised_t *specs;            //  Borrowed
    size_t count;                         //  Processes
    host_options_t options;               //  Copied
    const supervisor_orders_t *orders;    //  Borrowed
    member_t *members;                    //  One a spec
    unit_t *units;                        //  One a unit
    size_t unit_count;                    //  How many
    bool begun;                           //  The first unit was ready once
    bool stopping;                        //  supervisor_stop was called
    unsigned rank;                        //  Stopping: what is ending now
    uint64_t drain_until_ns;              //  Stopping: when patience with what drains ends
};

supervisor_t *
supervisor_new (
    const supervised_t *specs, size_t count, const host_options_t *options, const supervisor_orders_t *orders)
{
    BUG_ON (!count);
    supervisor_t *self = memory_new (sizeof *self);
    self->specs = specs;
    self->count = count;
    self->options = *options;
    self->orders = orders;
    self->unit_count = specs [count - 1].unit + 1;
    self->members = memory_new (count * sizeof *self->members);
    self->units = memory_new (self->unit_count * sizeof *self->units);
    for (size_t i = 0; i < count; i++) {
        unit_t *unit = &self->units [specs [i].unit];
        BUG_ON (i && specs [i].unit < specs [i - 1].unit);
        if (!unit->count++)
            unit->first = i;
        self->members [i].now.state = PROCESS_STATE_WAITING;
    }
    return self;
}

void
supervisor_destroy (supervisor_t **self_p)
{
    supervisor_t *self = *self_p;
    if (!self)
        return;
    memory_free (self->members);
    memory_free (self->units);
    memory_free (self);
    *self_p = NULL;
}

static unit_t *
s_unit (supervisor_t *self, size_t process)
{
    return &self->units [self->specs [process].unit];
}

static void
s_set_state (supervisor_t *self, size_t process, process_state_t state, const char *reason)
{
    if (self->members [process].now.state == state && !reason)
        return;
    self->members [process].now.state = state;
    self->orders->changed (self->orders->arg, process, reason);
}

//  ---- Starting ------------------------------------------------------------------------------------------------------

static void s_fail (supervisor_t *self, size_t process, uint64_t now_ns, const char *reason);

static void
s_start (supervisor_t *self, size_t process, uint64_t now_ns)
{
    member_t *member = &self->members [process];
    error_t error;
    if (self->orders->start (self->orders->arg, process, &error) != STATUS_OK) {
        s_fail (self, process, now_ns, error.text);
        return;
    }
    member->alive = true;
    member->now.started_ns = now_ns;
    member->kill_at_ns = now_ns + self->options.ready_timeout_ns;
    s_set_state (self, process, PROCESS_STATE_STARTING, NULL);
}

static void
s_start_unit (supervisor_t *self, unit_t *unit, uint64_t now_ns)
{
    unit->start_at_ns = 0;
    s_start (self, unit->first, now_ns);
}

void
supervisor_start (supervisor_t *self, uint64_t now_ns)
{
    s_start_unit (self, &self->units [0], now_ns);
}

static void
s_begin_others (supervisor_t *self, uint64_t now_ns)
{
    self->begun = true;
    for (size_t i = 1; i < self->unit_count; i++)
        s_start_unit (self, &self->units [i], now_ns);
}

void
supervisor_ready (supervisor_t *self, size_t process, uint64_t now_ns)
{
    unit_t *unit = s_unit (self, process);
    member_t *member = &self->members [process];
    if (member->now.state != PROCESS_STATE_STARTING)
        return;
    member->kill_at_ns = 0;
    s_set_state (self, process, PROCESS_STATE_RUNNING, NULL);
    if (self->stopping)
        return;
    if (process + 1 < unit->first + unit->count) {
        s_start (self, process + 1, now_ns);
        return;
    }
    unit->healthy_ns = now_ns;
    if (unit == &self->units [0] && !self->begun)
        s_begin_others (self, now_ns);
}

//  ---- Crashes -------------------------------------------------------------------------------------------------------

static bool
s_any_alive (const supervisor_t *self, const unit_t *unit)
{
    for (size_t i = unit->first; i < unit->first + unit->count; i++)
        if (self->members [i].alive)
            return true;
    return false;
}

static uint64_t
s_delay (const supervisor_t *self, uint32_t crashes)
{
    uint64_t delay = self->options.restart_delay_ns;
    for (uint32_t i = 1; i < crashes && delay < self->options.restart_delay_max_ns; i++)
        delay *= 2;
    return delay < self->options.restart_delay_max_ns ? delay : self->options.restart_delay_max_ns;
}

//  All members have ended: the unit waits for its next start.
static void
s_schedule (supervisor_t *self, unit_t *unit, uint64_t now_ns)
{
    char reason [REASON_MAX];
    uint64_t delay = s_delay (self, unit->crashes);
    bool looping = !unit->drained && unit->crashes >= (uint64_t)self->options.looping_after;
    int size = unit->drained ? snprintf (reason, sizeof reason, "drained")
                             : snprintf (reason, sizeof reason, "crashed %u time%s in a row", unit->crashes,
                                   unit->crashes == 1 ? "" : "s");
    snprintf (
        reason + size, sizeof reason - (size_t)size, "; starts again in %llu ms", (unsigned long long)(delay / MS));
    unit->failing = unit->drained = false;
    unit->start_at_ns = now_ns + delay;
    for (size_t i = unit->first; i < unit->first + unit->count; i++) {
        self->members [i].now.restarts++;
        s_set_state (self, i, looping ? PROCESS_STATE_LOOPING : PROCESS_STATE_WAITING, reason);
    }
}

static void
s_ask_to_end (supervisor_t *self, size_t process, uint64_t kill_at_ns)
{
    self->members [process].kill_at_ns = kill_at_ns;
    self->orders->signal (self->orders->arg, process, PROCESS_SIGNAL_TERM);
    s_set_state (self, process, PROCESS_STATE_STOPPING, NULL);
}

//  A process of the unit is gone, unasked: the unit goes down and comes back.
static void
s_fail (supervisor_t *self, size_t process, uint64_t now_ns, const char *reason)
{
    unit_t *unit = s_unit (self, process);
    bool healthy = unit->healthy_ns && now_ns - unit->healthy_ns >= self->options.healthy_after_ns;
    if (healthy)
        unit->crashes = 0;
    unit->drained &= healthy;
    unit->healthy_ns = 0;
    unit->crashes += !unit->drained;
    unit->failing = true;
    s_set_state (self, process, PROCESS_STATE_WAITING, reason);
    for (size_t i = unit->first; i < unit->first + unit->count; i++)
        if (self->members [i].alive)
            s_ask_to_end (self, i, now_ns + self->options.stop_timeout_ns);
    if (!s_any_alive (self, unit))
        s_schedule (self, unit, now_ns);
}

//  ---- Stopping ------------------------------------------------------------------------------------------------------

static bool
s_next_rank (const supervisor_t *self, unsigned *rank)
{
    bool found = false;
    for (size_t i = 0; i < self->count; i++) {
        if (!self->members [i].alive || (found && self->specs [i].rank >= *rank))
            continue;
        *rank = self->specs [i].rank;
        found = true;
    }
    return found;
}

//  Asks the lowest rank that still runs to end.
static void
s_stop_next (supervisor_t *self, uint64_t now_ns)
{
    if (!s_next_rank (self, &self->rank))
        return;
    uint64_t soon = now_ns + self->options.stop_timeout_ns;
    uint64_t patient = self->drain_until_ns > soon ? self->drain_until_ns : soon;
    for (size_t i = 0; i < self->count; i++)
        if (self->members [i].alive && self->specs [i].rank == self->rank)
            s_ask_to_end (self, i, self->specs [i].drains ? patient : soon);
}

void
supervisor_stop (supervisor_t *self, uint64_t now_ns)
{
    if (self->stopping)
        return;
    self->stopping = true;
    self->drain_until_ns = now_ns + self->options.drain_timeout_ns;
    for (size_t i = 0; i < self->unit_count; i++)
        self->units [i].start_at_ns = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!self->members [i].alive)
            s_set_state (self, i, PROCESS_STATE_STOPPED, NULL);
    s_stop_next (self, now_ns);
}

bool
supervisor_is_stopped (const supervisor_t *self)
{
    unsigned rank;
    return self->stopping && !s_next_rank (self, &rank);
}

static void
s_exited_while_stopping (supervisor_t *self, size_t process, uint64_t now_ns)
{
    s_set_state (self, process, PROCESS_STATE_STOPPED, NULL);
    for (size_t i = 0; i < self->count; i++)
        if (self->members [i].alive && self->specs [i].rank == self->rank)
            return;
    s_stop_next (self, now_ns);
}

//  ---- What happens to processes -------------------------------------------------------------------------------------

void
supervisor_describe_code (int code, char *out, size_t size)
{
    int number = code - SIGNAL_BASE;
    if (number > 0 && number <= SIGNAL_LAST)
        snprintf (out, size, "by signal %d (%s)", number, strsignal (number));
    else
        snprintf (out, size, "with exit code %d", code);
}

static void
s_describe_exit (int code, uint64_t age_ns, char *out, size_t size)
{
    char how [SUPERVISOR_HOW_MAX];
    supervisor_describe_code (code, how, sizeof how);
    snprintf (out, size, "ended %s after %llu ms", how, (unsigned long long)(age_ns / MS));
}

void
supervisor_exited (supervisor_t *self, size_t process, int code, uint64_t now_ns)
{
    member_t *member = &self->members [process];
    unit_t *unit = s_unit (self, process);
    char reason [REASON_MAX];
    BUG_ON (!member->alive);
    s_describe_exit (code, now_ns - member->now.started_ns, reason, sizeof reason);
    member->alive = false;
    member->kill_at_ns = 0;
    member->now.has_exit = true;
    member->now.last_exit = code;
    member->now.started_ns = 0;
    bool drained = self->specs [process].drains && member->now.state == PROCESS_STATE_RUNNING && code == 0;
    if (self->stopping)
        s_exited_while_stopping (self, process, now_ns);
    else if (!unit->failing) {
        unit->drained = drained;
        s_fail (self, process, now_ns, reason);
    } else if (!s_any_alive (self, unit))
        s_schedule (self, unit, now_ns);
}

//  ---- Time ----------------------------------------------------------------------------------------------------------

static void
s_kill (supervisor_t *self, size_t process)
{
    member_t *member = &self->members [process];
    member->kill_at_ns = 0;
    self->orders->signal (self->orders->arg, process, PROCESS_SIGNAL_KILL);
    s_set_state (self, process, PROCESS_STATE_STOPPING,
        member->now.state == PROCESS_STATE_STARTING ? "did not become ready in time; killed"
                                                    : "did not end in time; killed");
}

static void
s_earlier (uint64_t *next_ns, uint64_t at_ns)
{
    if (at_ns && (*next_ns == PORT_NEVER || at_ns < *next_ns))
        *next_ns = at_ns;
}

uint64_t
supervisor_advance (supervisor_t *self, uint64_t now_ns)
{
    uint64_t next_ns = PORT_NEVER;
    for (size_t i = 0; i < self->unit_count; i++)
        if (self->units [i].start_at_ns && self->units [i].start_at_ns <= now_ns)
            s_start_unit (self, &self->units [i], now_ns);
    for (size_t i = 0; i < self->count; i++)
        if (self->members [i].kill_at_ns && self->members [i].kill_at_ns <= now_ns)
            s_kill (self, i);
    for (size_t i = 0; i < self->unit_count; i++)
        s_earlier (&next_ns, self->units [i].start_at_ns);
    for (size_t i = 0; i < self->count; i++)
        s_earlier (&next_ns, self->members [i].kill_at_ns);
    return next_ns;
}

const supervised_now_t *
supervisor_now (const supervisor_t *self, size_t process)
{
    BUG_ON (process >= self->count);
    return &self->members [process].now;
}
