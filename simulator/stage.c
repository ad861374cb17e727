#include "simulator/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/map.h"
#include "base/memory.h"
#include "simulator/port/sim_port.h"

enum { LOG_LINES_MAX = 200 };

//  A start takes up to this long, and a death is heard of within it.
#define A_MOMENT (20 * REALM_MS)

typedef struct {
    stage_t *stage;                //  Where
    stage_actor_t spec;            //  As given
    char address [ADDRESS_MAX];    //  SERVICE/INSTANCE
    realm_process_t *process;      //  The last one
    actor_t *actor;                //  NULL while it does not run
} player_t;

struct stage {
    realm_t *realm;             //  With one process a player
    map_t *players;             //  player_t by address
    array_t lines;              //  char *, the last log lines
    buffer_t log;               //  For stage_log
    realm_program_t program;    //  Of every process
};

static void
s_on_drained (void *arg, actor_t *actor)
{
    player_t *player = arg;
    realm_process_exit (player->process, 0);
}

static status_t
s_program_start (realm_process_t *process, void **state, error_t *error)
{
    stage_t *self = realm_process_program (process)->arg;
    player_t *player = map_get (self->players, span_from_string (realm_process_argv (process) [1]));
    bool is_broker = strcmp (player->spec.class->name, "broker") == 0;
    char endpoint [ENDPOINT_MAX];
    const char *machine = realm_machine_name (realm_process_machine (process));
    snprintf (endpoint, sizeof endpoint, "tcp://%s:*", machine);
    actor_options_t options = { .instance = player->spec.instance,
        .endpoint = is_broker ? STAGE_BROKER : endpoint,
        .broker = is_broker ? NULL : STAGE_BROKER,
        .events = is_broker ? NULL : STAGE_EVENTS,
        .host = machine,
        .process = realm_process_number (process),
        .card = player->spec.card,
        .ring_bytes = player->spec.ring_bytes,
        .memory_bytes = player->spec.memory_bytes,
        .guard = player->spec.guard,
        .on_drained = s_on_drained,
        .arg = player };
    port_t *port = sim_port_new (process);
    sim_port_set_keys (port, player->spec.keys);
    *state = player;
    player->actor = actor_new (player->spec.class, port, &options, player->spec.options, error);
    return player->actor ? STATUS_OK : error->status;
}

static void
s_program_signal (realm_process_t *process, void *state, process_signal_t signal)
{
    player_t *player = state;
    if (signal == PROCESS_SIGNAL_TERM)
        actor_drain (player->actor);
}

static void
s_program_stop (realm_process_t *process, void *state)
{
    player_t *player = state;
    if (player)
        actor_destroy (&player->actor);
}

static void
s_on_log (void *arg, uint64_t now_ns, const char *process, log_level_t level, span_t line)
{
    stage_t *self = arg;
    buffer_t text = { 0 };
    buffer_print (&text, "%" PRIu64 ".%06" PRIu64 " %s: %.*s", now_ns / REALM_SECOND, now_ns % REALM_SECOND / REALM_US,
        process, SPAN_ARG (line));
    char *copy = memory_copy (text.data, text.size);
    buffer_fini (&text);
    array_append (&self->lines, &copy, 1);
    if (self->lines.count <= LOG_LINES_MAX)
        return;
    memory_free (*(char **)array_at (&self->lines, 0));
    array_drop_front (&self->lines, 1);
}

stage_t *
stage_new (uint64_t seed)
{
    stage_t *self = memory_new (sizeof *self);
    self->players = map_new (0);
    array_init (&self->lines, sizeof (char *));
    realm_options_t options = { .seed = seed, .on_log = s_on_log, .arg = self };
    self->realm = realm_new (&options);
    self->program = (realm_program_t){
        .name = "actor", .arg = self, .start = s_program_start, .signal = s_program_signal, .stop = s_program_stop
    };
    realm_register_program (self->realm, &self->program);
    realm_machine_new (self->realm, "m0");
    return self;
}

void
stage_destroy (stage_t **self_p)
{
    stage_t *self = *self_p;
    if (!self)
        return;
    realm_destroy (&self->realm);
    void *player;
    for (size_t cursor = 0; map_next (self->players, &cursor, NULL, &player);)
        memory_free (player);
    map_destroy (&self->players);
    for (size_t i = 0; i < self->lines.count; i++)
        memory_free (*(char **)array_at (&self->lines, i));
    array_fini (&self->lines);
    buffer_fini (&self->log);
    memory_free (self);
    *self_p = NULL;
}

realm_t *
stage_realm (stage_t *self)
{
    return self->realm;
}

void
stage_run (stage_t *self, uint64_t time_ns)
{
    realm_run (self->realm, realm_now (self->realm) + time_ns);
}

static player_t *
s_player (stage_t *self, const char *address)
{
    player_t *player = map_get (self->players, span_from_string (address));
    BUG_ON (!player);
    return player;
}

void
stage_start (stage_t *self, const char *address)
{
    player_t *player = s_player (self, address);
    const char *name = player->spec.machine ? player->spec.machine : "m0";
    realm_machine_t *machine = realm_machine_find (self->realm, name);
    if (!machine)
        machine = realm_machine_new (self->realm, name);
    const char *argv [] = { "actor", address, NULL };
    realm_start_t start = { .argv = argv };
    player->process = realm_process_start (machine, &start, NULL);
    BUG_ON (!player->process);
    stage_run (self, A_MOMENT);
}

void
stage_add (stage_t *self, const stage_actor_t *actor)
{
    player_t *player = memory_new (sizeof *player);
    player->stage = self;
    player->spec = *actor;
    snprintf (player->address, sizeof player->address, "%s/%s", actor->class->name, actor->instance);
    BUG_ON (map_put (self->players, span_from_string (player->address), player));
    stage_start (self, player->address);
}

actor_t *
stage_find (stage_t *self, const char *address)
{
    player_t *player = map_get (self->players, span_from_string (address));
    return player ? player->actor : NULL;
}

realm_process_t *
stage_process (stage_t *self, const char *address)
{
    player_t *player = map_get (self->players, span_from_string (address));
    return player ? player->process : NULL;
}

void
stage_crash (stage_t *self, const char *address)
{
    realm_process_signal (s_player (self, address)->process, PROCESS_SIGNAL_KILL);
    stage_run (self, A_MOMENT);
}

void
stage_drain (stage_t *self, const char *address)
{
    realm_process_signal (s_player (self, address)->process, PROCESS_SIGNAL_TERM);
    stage_run (self, A_MOMENT);
}

const char *
stage_log (stage_t *self)
{
    buffer_clear (&self->log);
    for (size_t i = 0; i < self->lines.count; i++)
        buffer_print (&self->log, "%s\n", *(char **)array_at (&self->lines, i));
    return buffer_string (&self->log);
}
