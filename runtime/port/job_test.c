//  Jobs: they run elsewhere, their ends arrive here, and a port does not end before them.

#include <pthread.h>

#include "runtime/port/port_fixture.h"

enum { JOBS = 2000 };

typedef struct {
    fixture_t fixture;    //  World and port
    pthread_t home;       //  The port's thread
    int done;             //  Ends that arrived
    int elsewhere;        //  Jobs that ran on another thread
    int lost;             //  Ends that arrived on a thread that is not home
} tally_t;

typedef struct {
    int value;           //  Doubled by the job
    pthread_t thread;    //  Where it ran
} work_t;

static void
s_double (void *data)
{
    work_t *work = data;
    work->value *= 2;
    work->thread = pthread_self ();
}

static void
s_on_done (void *arg, void *data)
{
    tally_t *self = arg;
    work_t *work = data;
    self->elsewhere += !pthread_equal (work->thread, self->home);
    self->lost += !pthread_equal (pthread_self (), self->home);
    if (++self->done == JOBS)
        real_port_stop (self->fixture.port);
}

static void
s_start_all (tally_t *self, work_t works [JOBS])
{
    self->home = pthread_self ();
    for (int i = 0; i < JOBS; i++) {
        works [i].value = i;
        self->fixture.port->table->job_start (self->fixture.port, s_double, s_on_done, self, &works [i]);
    }
    assert_int_equal (self->done, 0);
}

static void
test_every_job_runs_elsewhere_and_ends_here (void **state)
{
    tally_t tally = { 0 };
    static work_t works [JOBS];
    fixture_init (&tally.fixture);
    s_start_all (&tally, works);
    fixture_run (&tally.fixture);
    assert_int_equal (tally.elsewhere, JOBS);
    assert_int_equal (tally.lost, 0);
    for (int i = 0; i < JOBS; i++)
        assert_int_equal (works [i].value, 2 * i);
    fixture_fini (&tally.fixture);
}

//  The alarm that is due meanwhile does not ring any more.
static void
test_a_port_waits_for_its_jobs (void **state)
{
    tally_t tally = { 0 };
    static work_t works [JOBS];
    fixture_init (&tally.fixture);
    s_start_all (&tally, works);
    tally.fixture.port->table->alarm (tally.fixture.port, 1);
    tally.fixture.port->table->turn_end (tally.fixture.port);
    fixture_fini (&tally.fixture);
    assert_int_equal (tally.done, JOBS);
    assert_false (tally.fixture.timed_out);
}

typedef struct {
    fixture_t fixture;            //  World and port
    pthread_barrier_t barrier;    //  For two
    int met;                      //  Jobs that got past it
} meeting_t;

static void
s_meet (void *data)
{
    meeting_t *self = data;
    pthread_barrier_wait (&self->barrier);
}

static void
s_on_met (void *arg, void *data)
{
    meeting_t *self = arg;
    if (++self->met == 2)
        real_port_stop (self->fixture.port);
}

//  Two jobs that wait for each other both end: one that is slow does not hold the next one up.
static void
test_jobs_run_side_by_side (void **state)
{
    static meeting_t meeting;
    fixture_init (&meeting.fixture);
    pthread_barrier_init (&meeting.barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        meeting.fixture.port->table->job_start (meeting.fixture.port, s_meet, s_on_met, &meeting, &meeting);
    fixture_run (&meeting.fixture);
    pthread_barrier_destroy (&meeting.barrier);
    fixture_fini (&meeting.fixture);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_job_runs_elsewhere_and_ends_here),
        cmocka_unit_test (test_a_port_waits_for_its_jobs),
        cmocka_unit_test (test_jobs_run_side_by_side),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
