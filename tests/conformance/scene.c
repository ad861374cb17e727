#define _XOPEN_SOURCE 700    //  nftw

#include "tests/conformance/scene.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/port/real_port.h"
#include "simulator/port/sim_port.h"

enum { WATCHDOG_SECONDS = 240 };

void
scene_hear (scene_t *scene, const char *word)
{
    size_t used = strlen (scene->heard);
    snprintf (scene->heard + used, SCENE_HEARD_MAX - used, "%s ", word);
}

void
scene_hear_span (scene_t *scene, span_t word)
{
    char text [64];
    span_copy_string (word, text, sizeof text);
    scene_hear (scene, text);
}

void
scene_over (scene_t *scene)
{
    scene->is_over = true;
    scene->over (scene);
}

static void
s_stop_real (scene_t *scene)
{
    real_port_stop (scene->port);
}

static int
s_remove (const char *path, const struct stat *status, int kind, struct FTW *place)
{
    return remove (path);
}

void
scene_play_real (scene_fn *play, scene_t *scene)
{
    char folder [] = "/tmp/stator-test-XXXXXX";
    assert_non_null (mkdtemp (folder));
    world_t *world = world_new (NULL, NULL);
    real_port_options_t options = { .world = world, .state_folder = folder };
    scene->port = real_port_new (&options, NULL);
    scene->port->user.arg = scene;
    scene->over = s_stop_real;
    alarm (WATCHDOG_SECONDS);
    play (scene);
    if (!scene->is_over)
        real_port_run (scene->port);
    alarm (0);
    real_port_destroy (&scene->port);
    world_destroy (&world);
    assert_int_equal (nftw (folder, s_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static scene_t *s_scene_in_realm;
static scene_fn *s_play_in_realm;

static void
s_stop_simulated (scene_t *scene)
{
}

static status_t
s_stage_start (realm_process_t *process, void **state, error_t *error)
{
    scene_t *scene = s_scene_in_realm;
    scene->port = sim_port_new (process);
    scene->port->user.arg = scene;
    s_play_in_realm (scene);
    return STATUS_OK;
}

static void
s_stage_stop (realm_process_t *process, void *state)
{
}

void
scene_play_simulated (scene_fn *play, scene_t *scene)
{
    static const realm_program_t stage = { .name = "stage", .start = s_stage_start, .stop = s_stage_stop };
    realm_options_t options = { .seed = 1 };
    realm_t *realm = realm_new (&options);
    realm_register_program (realm, &stage);
    scene->over = s_stop_simulated;
    s_scene_in_realm = scene;
    s_play_in_realm = play;
    const char *argv [] = { "stage", NULL };
    realm_start_t start = { .argv = argv };
    realm_process_start (realm_machine_new (realm, "a"), &start, NULL);
    for (int ms = 0; !scene->is_over && ms < WATCHDOG_SECONDS * 1000; ms++)
        realm_run (realm, realm_now (realm) + MILLISECOND);
    assert_true (scene->is_over);
    realm_destroy (&realm);
}

void
scene_play (scene_fn *play, const char *expected)
{
    scene_t real = { 0 }, simulated = { 0 };
    scene_play_simulated (play, &simulated);
    assert_string_equal (simulated.heard, expected);
    scene_play_real (play, &real);
    assert_string_equal (real.heard, expected);
}
