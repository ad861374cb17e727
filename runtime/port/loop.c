#include "runtime/port/loop.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/memory.h"

//  After so many callbacks in one round the loop polls again, whatever they activate.
enum { ROUND_MAX = 256 };

struct loop {
    struct event_base *base;     //  libevent's loop
    loop_user_t user;            //  Who lives here
    int timer_fd;                //  The alarm
    struct event *timer;         //  Reads timer_fd
    uint64_t alarm_ns;           //  What was asked for; 0: none
    uint64_t armed_ns;           //  What timer_fd is set to: never later than alarm_ns; 0: not set
    struct event *turn_end;      //  Activated by loop_turn_end
    list_t deferred;             //  loop_task_t, for the next round
    struct event *next_round;    //  A zero timeout while `deferred` has any
    list_t finishing;            //  loop_task_t, for the end of this round
    struct event *round_end;     //  Active while somebody wants this round's end
    bool wants_round_end;        //  See above
    bool in_round_end;           //  `finishing` is being run
    uint64_t round;              //  Its number
    int wake_fd;                 //  An eventfd: `posted` has something
    struct event *wake;          //  Reads wake_fd
    pthread_mutex_t mutex;       //  Guards `posted` and `stopped`
    list_t posted;               //  loop_task_t, from other threads
    bool stopped;                //  loop_stop was called
    size_t holds;                //  Posts that are still to come
    uint64_t busy_ns;            //  Since when this round does something; 0: it has only waited so far
};

uint64_t
loop_now_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void
loop_note (loop_t *self)
{
    if (!self->busy_ns)
        self->busy_ns = loop_now_ns ();
}

//  ---- Alarm ---------------------------------------------------------------------------------------------------------

static void
s_arm (loop_t *self, uint64_t at_ns)
{
    struct itimerspec when = { .it_value = {
                                   .tv_sec = (time_t)(at_ns / 1000000000u), .tv_nsec = (long)(at_ns % 1000000000u) } };
    BUG_ON (timerfd_settime (self->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) != 0);
    self->armed_ns = at_ns;
}

//  Most settings move the alarm back: then the timer fires early once, and is set again here.
void
loop_alarm (loop_t *self, uint64_t at_ns)
{
    self->alarm_ns = at_ns;
    if (at_ns && (!self->armed_ns || at_ns < self->armed_ns))
        s_arm (self, at_ns);
}

static void
s_on_timer (evutil_socket_t fd, short what, void *arg)
{
    loop_t *self = arg;
    uint64_t ticks;
    loop_note (self);
    if (read (fd, &ticks, sizeof ticks) != sizeof ticks)
        return;
    self->armed_ns = 0;
    if (!self->alarm_ns)
        return;
    if (loop_now_ns () < self->alarm_ns) {
        s_arm (self, self->alarm_ns);
        return;
    }
    self->alarm_ns = 0;
    self->user.on_alarm (self->user.arg);
}

//  ---- Turn end and tasks --------------------------------------------------------------------------------------------

void
loop_turn_end (loop_t *self)
{
    event_active (self->turn_end, EV_TIMEOUT, 0);
}

static void
s_on_turn_end (evutil_socket_t fd, short what, void *arg)
{
    loop_t *self = arg;
    loop_note (self);
    self->user.on_turn_end (self->user.arg);
}

static void
s_want_next_round (loop_t *self)
{
    if (!event_pending (self->next_round, EV_TIMEOUT, NULL))
        loop_event_after (self->next_round, 0);
}

static void
s_append (list_t *tasks, loop_task_t *task)
{
    list_append (tasks, &task->link);
    task->list = tasks;
}

static void
s_want_round_end (loop_t *self)
{
    if (!self->wants_round_end)
        event_active (self->round_end, EV_TIMEOUT, 0);
    self->wants_round_end = true;
}

uint64_t
loop_round (loop_t *self)
{
    s_want_round_end (self);
    return self->round;
}

void
loop_defer (loop_t *self, loop_task_t *task)
{
    if (task->list)
        return;
    s_append (&self->deferred, task);
    s_want_next_round (self);
}

void
loop_finish (loop_t *self, loop_task_t *task)
{
    if (self->in_round_end) {
        loop_defer (self, task);
        return;
    }
    if (task->list)
        return;
    s_append (&self->finishing, task);
    s_want_round_end (self);
}

void
loop_undefer (loop_t *self, loop_task_t *task)
{
    if (!task->list)
        return;
    list_remove (task->list, &task->link);
    task->list = NULL;
}

static bool
s_run_first (list_t *tasks)
{
    list_link_t *link = list_take_first (tasks);
    if (!link)
        return false;
    loop_task_t *task = LIST_ENTRY (link, loop_task_t, link);
    task->list = NULL;
    task->run (task->arg);
    return true;
}

static void
s_on_next_round (evutil_socket_t fd, short what, void *arg)
{
    loop_t *self = arg;
    loop_note (self);
    for (size_t left = self->deferred.count; left && s_run_first (&self->deferred); left--)
        ;
    if (self->deferred.count)
        s_want_next_round (self);
}

static void
s_on_round_end (evutil_socket_t fd, short what, void *arg)
{
    loop_t *self = arg;
    self->round++;
    self->wants_round_end = false;
    self->in_round_end = true;
    while (s_run_first (&self->finishing))
        ;
    self->in_round_end = false;
}

//  ---- From other threads --------------------------------------------------------------------------------------------

static void
s_wake (loop_t *self)
{
    uint64_t one = 1;
    while (write (self->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void
loop_post (loop_t *self, loop_task_t *task)
{
    pthread_mutex_lock (&self->mutex);
    list_append (&self->posted, &task->link);
    s_wake (self);
    pthread_mutex_unlock (&self->mutex);
}

void
loop_stop (loop_t *self)
{
    pthread_mutex_lock (&self->mutex);
    self->stopped = true;
    s_wake (self);
    pthread_mutex_unlock (&self->mutex);
}

//  Each stop ends one run.
static bool
s_take_stop (loop_t *self)
{
    pthread_mutex_lock (&self->mutex);
    bool stopped = self->stopped;
    self->stopped = false;
    pthread_mutex_unlock (&self->mutex);
    return stopped;
}

static loop_task_t *
s_take_posted (loop_t *self)
{
    pthread_mutex_lock (&self->mutex);
    list_link_t *link = list_take_first (&self->posted);
    pthread_mutex_unlock (&self->mutex);
    return link ? LIST_ENTRY (link, loop_task_t, link) : NULL;
}

static void
s_on_wake (evutil_socket_t fd, short what, void *arg)
{
    loop_t *self = arg;
    uint64_t count;
    loop_note (self);
    if (read (fd, &count, sizeof count) != sizeof count)
        return;
    for (loop_task_t *task; (task = s_take_posted (self)) != NULL;)
        task->run (task->arg);
}

//  ---- Running -------------------------------------------------------------------------------------------------------

void
loop_hold (loop_t *self)
{
    self->holds++;
}

void
loop_release (loop_t *self)
{
    BUG_ON (!self->holds);
    self->holds--;
}

static void
s_round (loop_t *self)
{
    BUG_ON (event_base_loop (self->base, EVLOOP_ONCE) < 0);
    uint64_t since_ns = self->busy_ns;
    self->busy_ns = 0;
    if (since_ns && self->user.on_round)
        self->user.on_round (self->user.arg, loop_now_ns () - since_ns);
}

void
loop_run (loop_t *self)
{
    while (!s_take_stop (self))
        s_round (self);
}

void
loop_settle (loop_t *self)
{
    while (self->holds)
        s_round (self);
}

struct event *
loop_event (loop_t *self, int fd, short what, event_callback_fn run, void *arg)
{
    struct event *event = event_new (self->base, fd, what, run, arg);
    BUG_ON (!event);
    return event;
}

void
loop_event_after (struct event *event, uint64_t timeout_ns)
{
    struct timeval timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u),
        .tv_usec = (suseconds_t)(timeout_ns % 1000000000u / 1000u) };
    BUG_ON (event_add (event, &timeout) != 0);
}

//  ---- New and destroy -----------------------------------------------------------------------------------------------

struct event_base *
loop_base (loop_t *self)
{
    return self->base;
}

static struct event_base *
s_base_new (void)
{
    struct event_config *config = event_config_new ();
    BUG_ON (!config);
    event_config_set_flag (config, EVENT_BASE_FLAG_NOLOCK);
    event_config_set_max_dispatch_interval (config, NULL, ROUND_MAX, 0);
    struct event_base *base = event_base_new_with_config (config);
    event_config_free (config);
    return base;
}

static void
s_watch (loop_t *self)
{
    self->timer = loop_event (self, self->timer_fd, EV_READ | EV_PERSIST, s_on_timer, self);
    self->wake = loop_event (self, self->wake_fd, EV_READ | EV_PERSIST, s_on_wake, self);
    self->turn_end = loop_event (self, -1, 0, s_on_turn_end, self);
    self->next_round = loop_event (self, -1, 0, s_on_next_round, self);
    self->round_end = loop_event (self, -1, 0, s_on_round_end, self);
    BUG_ON (event_add (self->timer, NULL) != 0 || event_add (self->wake, NULL) != 0);
}

loop_t *
loop_new (const loop_user_t *user, error_t *error)
{
    loop_t *self = memory_new (sizeof *self);
    self->user = *user;
    self->round = 1;
    self->timer_fd = timerfd_create (CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    self->wake_fd = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
    self->base = s_base_new ();
    list_init (&self->deferred);
    list_init (&self->finishing);
    list_init (&self->posted);
    pthread_mutex_init (&self->mutex, NULL);
    if (self->timer_fd < 0 || self->wake_fd < 0 || !self->base) {
        error_set (error, STATUS_IO, "cannot make an event loop: %s", strerror (errno));
        loop_destroy (&self);
        return NULL;
    }
    s_watch (self);
    return self;
}

static void
s_free_event (struct event *event)
{
    if (event)
        event_free (event);
}

static void
s_close (int fd)
{
    if (fd >= 0)
        close (fd);
}

void
loop_destroy (loop_t **self_p)
{
    loop_t *self = *self_p;
    if (!self)
        return;
    s_free_event (self->round_end);
    s_free_event (self->next_round);
    s_free_event (self->turn_end);
    s_free_event (self->wake);
    s_free_event (self->timer);
    if (self->base)
        event_base_free (self->base);
    s_close (self->wake_fd);
    s_close (self->timer_fd);
    pthread_mutex_destroy (&self->mutex);
    memory_free (self);
    *self_p = NULL;
}
