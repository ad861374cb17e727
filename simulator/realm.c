#include "simulator/realm_private.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

//  More events than this without time passing is an actor that spins.
enum { FIRED_AT_ONCE_MAX = 5000000 };

realm_t *
realm_new (const realm_options_t *options)
{
    realm_t *self = memory_new (sizeof *self);
    self->options = *options;
    self->now_ns = REALM_SECOND;
    heap_init (&self->events);
    array_init (&self->machines, sizeof (realm_machine_t *));
    array_init (&self->processes, sizeof (realm_process_t *));
    array_init (&self->living, sizeof (realm_process_t *));
    self->programs = map_new (0);
    realm_fork_random (self, &self->start_random, "process start", 0);
    realm_fork_random (self, &self->crash_random, "crash", 0);
    self->network = network_new (self);
    return self;
}

void
realm_destroy (realm_t **self_p)
{
    realm_t *self = *self_p;
    if (!self)
        return;
    while (self->living.count)
        realm_process_end (*(realm_process_t **)array_at (&self->living, self->living.count - 1), 137, true, true);
    network_destroy (&self->network);
    for (size_t i = 0; i < self->processes.count; i++)
        realm_process_destroy (array_at (&self->processes, i));
    for (size_t i = 0; i < self->machines.count; i++)
        realm_machine_destroy (array_at (&self->machines, i));
    array_fini (&self->living);
    array_fini (&self->processes);
    array_fini (&self->machines);
    map_destroy (&self->programs);
    heap_fini (&self->events);
    memory_free (self);
    *self_p = NULL;
}

uint64_t
realm_now (const realm_t *self)
{
    return self->now_ns;
}

network_t *
realm_network (realm_t *self)
{
    return self->network;
}

void
realm_fork_random (const realm_t *self, random_t *random, const char *purpose, uint64_t number)
{
    uint64_t words [2] = { self->options.seed, number };
    random_init (random, hash_bytes (span_of (words, sizeof words), hash_bytes (span_from_string (purpose), 0)));
}

//  ---- Events --------------------------------------------------------------------------------------------------------

void
realm_schedule (realm_t *self, realm_event_t *event, uint64_t at_ns)
{
    heap_insert (&self->events, &event->entry, at_ns > self->now_ns ? at_ns : self->now_ns);
}

void
realm_unschedule (realm_t *self, realm_event_t *event)
{
    if (heap_entry_is_queued (&event->entry))
        heap_remove (&self->events, &event->entry);
    else if (list_link_is_linked (&event->parked))
        list_remove (&event->process->parked, &event->parked);
}

bool
realm_event_waits (const realm_event_t *event)
{
    return heap_entry_is_queued (&event->entry) || list_link_is_linked (&event->parked);
}

static void
s_fire (realm_t *self, realm_event_t *event)
{
    heap_remove (&self->events, &event->entry);
    if (event->entry.at > self->now_ns) {
        self->now_ns = event->entry.at;
        self->fired_now = 0;
    }
    BUG_ON (++self->fired_now > FIRED_AT_ONCE_MAX);
    if (event->process && event->process->frozen) {
        list_append (&event->process->parked, &event->parked);
        return;
    }
    self->fired++;
    event->fire (event);
}

void
realm_run (realm_t *self, uint64_t until_ns)
{
    heap_entry_t *first;
    while ((first = heap_first (&self->events)) && first->at <= until_ns)
        s_fire (self, LIST_ENTRY (first, realm_event_t, entry));
    if (until_ns > self->now_ns)
        self->now_ns = until_ns;
}

void
realm_note (realm_t *self, uint32_t kind, uint32_t number, uint64_t hash)
{
    uint64_t words [4] = { self->log_hash, self->now_ns, (uint64_t)kind << 32 | number, hash };
    self->log_hash = hash_bytes (span_of (words, sizeof words), 0);
}

uint64_t
realm_log_hash (const realm_t *self)
{
    return self->log_hash;
}

uint64_t
realm_event_count (const realm_t *self)
{
    return self->fired;
}

void
realm_register_program (realm_t *self, const realm_program_t *program)
{
    map_put (self->programs, span_from_string (program->name), (void *)(uintptr_t)program);
}

uint32_t
realm_next_port_number (realm_t *self)
{
    return ++self->ports;
}
