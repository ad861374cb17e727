#define _GNU_SOURCE

#include "runtime/port/job.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/memory.h"

enum { THREADS_MIN = 2, THREADS_MAX = 8, THREADS_LIMIT = 64 };

typedef struct {
    list_link_t link;     //  In the pool's queue
    loop_task_t task;     //  Posted to the loop when it has run
    loop_t *loop;         //  Where it came from
    job_fn *run;          //  On a thread of the pool
    job_done_fn *done;    //  On the loop's thread
    void *arg;            //  For done
    void *data;           //  For both
} job_t;

struct job_pool {
    pthread_mutex_t mutex;                //  Guards all below
    pthread_cond_t wanted;                //  `queue` has something, or the end has come
    list_t queue;                         //  job_t, oldest first
    bool is_ending;                       //  The threads end
    uint32_t limit;                       //  Threads at most
    uint32_t count;                       //  Threads
    uint32_t free;                        //  Threads that wait
    pthread_t threads [THREADS_LIMIT];    //  The first `count`
};

static void
s_on_done (void *arg)
{
    job_t *job = arg;
    loop_release (job->loop);
    if (job->done)
        job->done (job->arg, job->data);
    memory_free (job);
}

static job_t *
s_wait_for_job (job_pool_t *self)
{
    pthread_mutex_lock (&self->mutex);
    self->free++;
    while (!self->queue.count && !self->is_ending)
        pthread_cond_wait (&self->wanted, &self->mutex);
    self->free--;
    list_link_t *link = list_take_first (&self->queue);
    pthread_mutex_unlock (&self->mutex);
    return link ? LIST_ENTRY (link, job_t, link) : NULL;
}

static void *
s_thread (void *arg)
{
    for (job_t *job; (job = s_wait_for_job (arg)) != NULL;) {
        job->run (job->data);
        loop_post (job->loop, &job->task);
    }
    return NULL;
}

//  Signals are for the main thread.
static void
s_add_thread (job_pool_t *self)
{
    sigset_t all, before;
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &before);
    int rc = pthread_create (&self->threads [self->count], NULL, s_thread, self);
    pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (rc != 0 && self->count == 0)
        memory_give_up ("a thread");
    if (rc != 0)
        return;
    pthread_setname_np (self->threads [self->count], "job");
    self->count++;
}

void
job_start (job_pool_t *self, loop_t *loop, job_fn *run, job_done_fn *done, void *arg, void *data)
{
    job_t *job = memory_new (sizeof *job);
    *job = (job_t){ .loop = loop, .run = run, .done = done, .arg = arg, .data = data };
    job->task = (loop_task_t){ .run = s_on_done, .arg = job };
    loop_hold (loop);
    pthread_mutex_lock (&self->mutex);
    list_append (&self->queue, &job->link);
    if (self->queue.count > self->free && self->count < self->limit)
        s_add_thread (self);
    pthread_cond_signal (&self->wanted);
    pthread_mutex_unlock (&self->mutex);
}

static uint32_t
s_cores (void)
{
    long cores = sysconf (_SC_NPROCESSORS_ONLN);
    return cores < THREADS_MIN ? THREADS_MIN : cores > THREADS_MAX ? THREADS_MAX : (uint32_t)cores;
}

job_pool_t *
job_pool_new (uint32_t threads)
{
    job_pool_t *self = memory_new (sizeof *self);
    pthread_mutex_init (&self->mutex, NULL);
    pthread_cond_init (&self->wanted, NULL);
    list_init (&self->queue);
    self->limit = threads ? threads : s_cores ();
    self->limit = self->limit > THREADS_LIMIT ? THREADS_LIMIT : self->limit;
    return self;
}

void
job_pool_destroy (job_pool_t **self_p)
{
    job_pool_t *self = *self_p;
    if (!self)
        return;
    pthread_mutex_lock (&self->mutex);
    BUG_ON (self->queue.count);
    self->is_ending = true;
    pthread_cond_broadcast (&self->wanted);
    pthread_mutex_unlock (&self->mutex);
    for (uint32_t i = 0; i < self->count; i++)
        pthread_join (self->threads [i], NULL);
    pthread_cond_destroy (&self->wanted);
    pthread_mutex_destroy (&self->mutex);
    memory_free (self);
    *self_p = NULL;
}
