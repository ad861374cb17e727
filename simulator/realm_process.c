#include "simulator/realm_private.h"

#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum { EXIT_KILLED = 128 + 9, EXIT_TERMINATED = 128 + 15 };

//  A start takes this long and up to twice as much more.
#define START_NS (5 * REALM_MS)

//  ---- Birth ---------------------------------------------------------------------------------------------------------

static size_t
s_word_count (const char *const *words)
{
    size_t count = 0;
    while (words && words [count])
        count++;
    return count;
}

static char **
s_copy_words (const char *const *words)
{
    size_t count = s_word_count (words);
    char **copy = memory_new ((count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy [i] = memory_copy_string (words [i]);
    return copy;
}

static void
s_free_words (char **words)
{
    for (size_t i = 0; words [i]; i++)
        memory_free (words [i]);
    memory_free (words);
}

static char *
s_join_words (char **words)
{
    buffer_t line = { 0 };
    for (size_t i = 0; words [i]; i++)
        buffer_print (&line, "%s%s", i ? " " : "", words [i]);
    char *joined = memory_copy (line.data, line.size);
    buffer_fini (&line);
    return joined;
}

static const realm_program_t *
s_program (const realm_t *realm, const char *path)
{
    const char *slash = strrchr (path, '/');
    return map_get (realm->programs, span_from_string (slash ? slash + 1 : path));
}

static void
s_begin (realm_event_t *event)
{
    realm_process_t *self = event->process;
    self->stage = PROCESS_RUNNING;
    realm_note (self->realm, NOTE_PROCESS, self->number, 1);
    error_t error = { 0 };
    if (self->program->start (self, &self->state, &error) == STATUS_OK)
        return;
    realm_process_log (self, LOG_ERROR, span_from_string (error.text));
    realm_process_exit (self, 1);
}

static void
s_end (realm_event_t *event)
{
    realm_process_t *self = LIST_ENTRY (event, realm_process_t, end);
    realm_process_end (self, self->exit_code, self->crashed, false);
}

static void
s_tell_parent (realm_event_t *event)
{
    realm_process_t *self = LIST_ENTRY (event, realm_process_t, exit_notice);
    if (self->on_exit)
        self->on_exit (self->on_exit_arg, self->exit_code);
}

realm_process_t *
realm_process_start (realm_machine_t *machine, const realm_start_t *options, error_t *error)
{
    realm_t *realm = machine->realm;
    const realm_program_t *program = s_program (realm, options->argv [0]);
    if (!program) {
        error_set (error, STATUS_NOT_FOUND, "cannot start %s: no such program", options->argv [0]);
        return NULL;
    }
    if (!machine->up) {
        error_set (error, STATUS_UNREACHABLE, "cannot start %s: %s is down", options->argv [0], machine->name);
        return NULL;
    }
    const char *folder = options->folder ? options->folder : options->parent ? options->parent->folder : "/";
    realm_process_t *self = memory_new (sizeof *self);
    *self = (realm_process_t){ .realm = realm,
        .machine = machine,
        .parent = options->parent,
        .number = (uint32_t)realm->processes.count + 1,
        .program = program,
        .argv = s_copy_words (options->argv),
        .folder = memory_copy_string (folder),
        .begin = { .process = self, .fire = s_begin },
        .end = { .fire = s_end },
        .exit_notice = { .process = options->parent, .fire = s_tell_parent },
        .on_exit = options->on_exit,
        .on_exit_arg = options->arg };
    self->title = s_join_words (self->argv);
    list_init (&self->residents);
    list_init (&self->parked);
    array_append (&realm->processes, &self, 1);
    array_append (&realm->living, &self, 1);
    realm_schedule (realm, &self->begin, realm->now_ns + START_NS + random_below (&realm->start_random, 2 * START_NS));
    return self;
}

void
realm_process_destroy (realm_process_t **self_p)
{
    realm_process_t *self = *self_p;
    BUG_ON (self->stage != PROCESS_DEAD);
    realm_unschedule (self->realm, &self->exit_notice);
    s_free_words (self->argv);
    memory_free (self->folder);
    memory_free (self->title);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Death ---------------------------------------------------------------------------------------------------------

static void
s_thaw (realm_process_t *self)
{
    self->frozen = false;
    list_link_t *link;
    while ((link = list_take_first (&self->parked))) {
        realm_event_t *event = LIST_ENTRY (link, realm_event_t, parked);
        realm_schedule (self->realm, event, self->realm->now_ns);
    }
}

static void
s_leave_the_living (realm_process_t *self)
{
    array_t *living = &self->realm->living;
    for (size_t i = 0; i < living->count; i++)
        if (*(realm_process_t **)array_at (living, i) == self) {
            array_remove (living, i);
            return;
        }
}

static void
s_kill (realm_process_t *self, int code, bool crashed)
{
    if (self->stage == PROCESS_DEAD || self->ending)
        return;
    self->ending = true;
    self->exit_code = code;
    self->crashed = crashed;
    realm_schedule (self->realm, &self->end, self->realm->now_ns);
}

static void
s_orphans_die (realm_process_t *parent)
{
    array_t *living = &parent->realm->living;
    for (size_t i = 0; i < living->count; i++) {
        realm_process_t *process = *(realm_process_t **)array_at (living, i);
        if (process->parent == parent)
            s_kill (process, EXIT_KILLED, true);
    }
}

static void
s_evict_residents (realm_process_t *self, bool crashed)
{
    for (list_link_t *link = list_first (&self->residents); link; link = list_next (&self->residents, link)) {
        resident_t *resident = LIST_ENTRY (link, resident_t, link);
        resident->on_death (resident, crashed);
    }
    self->program->stop (self, self->state);
    self->state = NULL;
    list_link_t *link;
    while ((link = list_take_first (&self->residents))) {
        resident_t *resident = LIST_ENTRY (link, resident_t, link);
        resident->on_burial (resident);
    }
}

void
realm_process_end (realm_process_t *self, int code, bool crashed, bool silent)
{
    bool had_begun = self->stage == PROCESS_RUNNING;
    self->stage = PROCESS_DEAD;
    self->exit_code = code;
    realm_event_t *own [] = { &self->begin, &self->end, &self->signals [0], &self->signals [1] };
    for (size_t i = 0; i < sizeof own / sizeof own [0]; i++)
        realm_unschedule (self->realm, own [i]);
    s_thaw (self);
    s_leave_the_living (self);
    realm_note (self->realm, NOTE_PROCESS, self->number, (uint64_t)code << 1);
    network_bury (self->realm->network, self, crashed, silent);
    if (had_begun)
        s_evict_residents (self, crashed);
    s_orphans_die (self);
    if (self->on_exit && self->parent && self->parent->stage != PROCESS_DEAD)
        realm_schedule (self->realm, &self->exit_notice, self->realm->now_ns + REALM_MS);
}

void
realm_process_exit (realm_process_t *self, int code)
{
    s_kill (self, code, false);
}

static void
s_signal_arrives (realm_process_t *self, process_signal_t signal)
{
    if (self->stage == PROCESS_RUNNING && self->program->signal)
        self->program->signal (self, self->state, signal);
    else if (signal == PROCESS_SIGNAL_TERM)
        s_kill (self, EXIT_TERMINATED, true);
}

static void
s_term_arrives (realm_event_t *event)
{
    s_signal_arrives (event->process, PROCESS_SIGNAL_TERM);
}

static void
s_hup_arrives (realm_event_t *event)
{
    s_signal_arrives (event->process, PROCESS_SIGNAL_HUP);
}

static void
s_send_signal (realm_process_t *self, realm_event_t *event, realm_event_fn *fire)
{
    event->process = self;
    event->fire = fire;
    if (!realm_event_waits (event))
        realm_schedule (self->realm, event, self->realm->now_ns);
}

void
realm_process_signal (realm_process_t *self, process_signal_t signal)
{
    if (self->stage == PROCESS_DEAD)
        return;
    switch (signal) {
    case PROCESS_SIGNAL_KILL:
        s_kill (self, EXIT_KILLED, true);
        break;
    case PROCESS_SIGNAL_STOP:
        self->frozen = true;
        break;
    case PROCESS_SIGNAL_CONT:
        s_thaw (self);
        break;
    case PROCESS_SIGNAL_TERM:
        s_send_signal (self, &self->signals [0], s_term_arrives);
        break;
    case PROCESS_SIGNAL_HUP:
        s_send_signal (self, &self->signals [1], s_hup_arrives);
        break;
    }
}

void
realm_process_forget (realm_process_t *self)
{
    self->on_exit = NULL;
}

//  ---- Facts ---------------------------------------------------------------------------------------------------------

realm_t *
realm_process_realm (const realm_process_t *self)
{
    return self->realm;
}

realm_machine_t *
realm_process_machine (const realm_process_t *self)
{
    return self->machine;
}

const realm_program_t *
realm_process_program (const realm_process_t *self)
{
    return self->program;
}

void *
realm_process_state (const realm_process_t *self)
{
    return self->state;
}

uint32_t
realm_process_number (const realm_process_t *self)
{
    return self->number;
}

const char *
realm_process_folder (const realm_process_t *self)
{
    return self->folder;
}

const char *const *
realm_process_argv (const realm_process_t *self)
{
    return (const char *const *)self->argv;
}

const char *
realm_process_title (const realm_process_t *self)
{
    return self->title;
}

bool
realm_process_is_alive (const realm_process_t *self)
{
    return self->stage != PROCESS_DEAD;
}

bool
realm_process_is_frozen (const realm_process_t *self)
{
    return self->frozen;
}

realm_process_t *
realm_process_at (realm_t *realm, size_t position)
{
    return position < realm->living.count ? *(realm_process_t **)array_at (&realm->living, position) : NULL;
}

void
realm_process_set_group (realm_process_t *self, uint32_t group)
{
    self->group = group;
    realm_note (self->realm, NOTE_FAULT, self->number, group);
    network_reconsider (self->realm->network);
}

static uint32_t
s_group (const realm_process_t *self)
{
    return self->group ? self->group : self->machine->group;
}

bool
realm_process_reaches (const realm_process_t *self, const realm_process_t *other)
{
    return self == other || s_group (self) == s_group (other);
}

void
realm_process_move_in (realm_process_t *self, resident_t *resident)
{
    list_append (&self->residents, &resident->link);
}

void
realm_process_move_out (realm_process_t *self, resident_t *resident)
{
    list_remove (&self->residents, &resident->link);
}

void
realm_process_log (realm_process_t *self, log_level_t level, span_t line)
{
    const realm_options_t *options = &self->realm->options;
    if (options->on_log)
        options->on_log (options->arg, self->realm->now_ns, self->title, level, line);
}
