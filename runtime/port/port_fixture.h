//  port_fixture - what the tests of this room share: a world, ports in it, and a folder that goes away

#ifndef RUNTIME_PORT_PORT_FIXTURE_H
#define RUNTIME_PORT_PORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/port/real_port.h"

enum { FIXTURE_PATH_MAX = 64, FIXTURE_WATCHDOG_SECONDS = 240 };

typedef struct {
    world_t *world;                    //  Of the test program
    port_t *port;                      //  One port, run on the test's thread
    char folder [FIXTURE_PATH_MAX];    //  State folder of the port
    bool timed_out;                    //  The port's alarm rang before anybody stopped it
} fixture_t;

static inline void
fixture_on_alarm (void *arg)
{
    fixture_t *self = arg;
    self->timed_out = true;
    real_port_stop (self->port);
}

static inline port_t *
fixture_port_new (fixture_t *self, void (*on_alarm) (void *), void (*on_turn_end) (void *), void *arg)
{
    real_port_options_t options = { .world = self->world, .state_folder = self->folder };
    port_t *port = real_port_new (&options, NULL);
    assert_non_null (port);
    port->user = (port_user_t){ .on_alarm = on_alarm, .on_turn_end = on_turn_end, .arg = arg };
    return port;
}

//  A test that stalls is killed by SIGALRM and so fails.
static inline void
fixture_init (fixture_t *self)
{
    alarm (FIXTURE_WATCHDOG_SECONDS);
    *self = (fixture_t){ .folder = "/tmp/stator-test-XXXXXX" };
    assert_non_null (mkdtemp (self->folder));
    self->world = world_new (NULL, NULL);
    assert_non_null (self->world);
    self->port = fixture_port_new (self, fixture_on_alarm, NULL, self);
}

static inline void
fixture_remove (char *folder)
{
    char *paths [] = { folder, NULL };
    FTS *walk = fts_open (paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert_non_null (walk);
    for (FTSENT *entry; (entry = fts_read (walk)) != NULL;)
        if (entry->fts_info != FTS_D)
            remove (entry->fts_accpath);
    fts_close (walk);
}

static inline void
fixture_fini (fixture_t *self)
{
    real_port_destroy (&self->port);
    world_destroy (&self->world);
    fixture_remove (self->folder);
}

//  Runs the port until somebody stops it, however long that takes.
static inline void
fixture_run (fixture_t *self)
{
    self->timed_out = false;
    self->port->table->alarm (self->port, PORT_NEVER);
    real_port_run (self->port);
    assert_false (self->timed_out);
}

//  Runs the port for a while: nobody stops it.
static inline void
fixture_run_for (fixture_t *self, uint64_t time_ns)
{
    self->timed_out = false;
    self->port->table->alarm (self->port, self->port->table->now_ns (self->port) + time_ns);
    real_port_run (self->port);
    assert_true (self->timed_out);
}

enum { MILLISECOND = 1000000 };
#define SECOND 1000000000ull

#endif
