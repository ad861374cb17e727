//  held_job - jobs of a simulated actor that begin when the test says so
//
//  One is held at a time: whoever starts a second one before the first was ended fails the test.  What nobody waits for is
//  not held.

#ifndef TESTS_HELD_JOB_H
#define TESTS_HELD_JOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/port.h"

typedef struct {
    port_t *port;         //  Where it was to be
    job_fn *run;          //  The work; NULL: none is held
    job_done_fn *done;    //  Told
    void *arg;            //  For done
    void *data;           //  For run and done
} held_job_t;

static held_job_t held_job;
static unsigned held_job_others;       //  Jobs that nobody waited for
static port_table_t held_job_table;    //  The port's, but that jobs are held

static inline void
held_job_take (port_t *port, job_fn *run, job_done_fn *done, void *arg, void *data)
{
    if (!done) {
        held_job_others++;
        run (data);
        return;
    }
    assert_null (held_job.run);
    held_job = (held_job_t){ port, run, done, arg, data };
}

//  Holds the jobs of a port from now on. Gives the port's own table.
static inline const port_table_t *
held_job_begin (port_t *port)
{
    const port_table_t *table = port->table;
    held_job = (held_job_t){ 0 };
    held_job_others = 0;
    held_job_table = *table;
    held_job_table.job_start = held_job_take;
    port->table = &held_job_table;
    return table;
}

//  Does the work that is held, and tells.
static inline void
held_job_end (void)
{
    held_job_t job = held_job;
    assert_non_null (job.run);
    held_job = (held_job_t){ 0 };
    job.run (job.data);
    job.done (job.arg, job.data);
}

#endif
