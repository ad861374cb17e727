//  Time and turns: the alarm, the end of a turn, tasks and posts.

#include <pthread.h>

#include "runtime/port/port_fixture.h"

#include "runtime/port/loop.h"

typedef struct {
    loop_t *loop;                //  Under test
    uint64_t rang_ns;            //  When the alarm rang
    int alarms;                  //  How often
    int turn_ends;               //  How often
    char order [16];             //  One letter a callback
    size_t count;                //  Letters
    size_t rounds;               //  That did something
    uint64_t longest_ns;         //  Of these
    struct event *events [2];    //  Both are made ready at once
} story_t;

static void
s_write (story_t *self, char letter)
{
    if (self->count + 1 < sizeof self->order)
        self->order [self->count++] = letter;
}

static void
s_on_alarm (void *arg)
{
    story_t *self = arg;
    self->alarms++;
    self->rang_ns = loop_now_ns ();
    loop_stop (self->loop);
}

static void
s_on_turn_end (void *arg)
{
    story_t *self = arg;
    self->turn_ends++;
    s_write (self, 'E');
    loop_stop (self->loop);
}

static void
s_on_round (void *arg, uint64_t busy_ns)
{
    story_t *self = arg;
    self->rounds++;
    self->longest_ns = busy_ns > self->longest_ns ? busy_ns : self->longest_ns;
}

static void
s_start (story_t *self)
{
    *self = (story_t){ 0 };
    loop_user_t user = { .on_alarm = s_on_alarm, .on_turn_end = s_on_turn_end, .on_round = s_on_round, .arg = self };
    self->loop = loop_new (&user, NULL);
    assert_non_null (self->loop);
}

//  A later setting replaces an earlier one, in both directions, and the precision is that of the clock.
static void
test_the_alarm_rings_once_at_the_last_time_set (void **state)
{
    story_t story;
    s_start (&story);
    uint64_t now = loop_now_ns ();
    loop_alarm (story.loop, now + 20 * MILLISECOND);
    loop_alarm (story.loop, now + 5 * MILLISECOND);
    uint64_t wanted = now + 9 * MILLISECOND + 700000;
    loop_alarm (story.loop, wanted);
    loop_run (story.loop);
    assert_int_equal (story.alarms, 1);
    assert_true (story.rang_ns >= wanted);

    loop_alarm (story.loop, 1);
    loop_run (story.loop);
    assert_int_equal (story.alarms, 2);
    loop_destroy (&story.loop);
}

static void
s_stop (void *arg)
{
    loop_stop (arg);
}

//  The alarm is due before the loop looks for the first time; a task of the second round ends the run.
static void
test_a_cleared_alarm_does_not_ring (void **state)
{
    story_t story;
    s_start (&story);
    loop_alarm (story.loop, 1);
    loop_alarm (story.loop, 0);
    loop_task_t stop = { .run = s_stop, .arg = story.loop };
    loop_defer (story.loop, &stop);
    loop_run (story.loop);
    assert_int_equal (story.alarms, 0);
    loop_destroy (&story.loop);
}

static void
s_on_ready (evutil_socket_t fd, short what, void *arg)
{
    story_t *self = arg;
    s_write (self, self->count == 0 ? 'a' : 'b');
    loop_turn_end (self->loop);
}

//  Two callbacks that are ready together share one end of the turn, behind both.
static void
test_a_turn_ends_once_behind_everything_that_was_ready (void **state)
{
    story_t story;
    s_start (&story);
    for (int i = 0; i < 2; i++) {
        story.events [i] = loop_event (story.loop, -1, 0, s_on_ready, &story);
        event_active (story.events [i], EV_TIMEOUT, 0);
    }
    loop_run (story.loop);
    assert_string_equal (story.order, "abE");
    assert_int_equal (story.turn_ends, 1);
    event_free (story.events [0]);
    event_free (story.events [1]);
    loop_destroy (&story.loop);
}

typedef struct {
    loop_t *loop;        //  Under test
    loop_task_t task;    //  Defers itself for ever
    int runs;            //  How often it ran
} restless_t;

static void
s_run_again (void *arg)
{
    restless_t *self = arg;
    self->runs++;
    loop_defer (self->loop, &self->task);
}

//  A task that always wants to run again does not keep the alarm from ringing.
static void
test_a_restless_task_starves_nobody (void **state)
{
    story_t story;
    s_start (&story);
    restless_t restless = { .loop = story.loop, .task = { .run = s_run_again, .arg = &restless } };
    loop_defer (story.loop, &restless.task);
    loop_defer (story.loop, &restless.task);
    loop_alarm (story.loop, loop_now_ns () + 2 * MILLISECOND);
    loop_run (story.loop);
    assert_int_equal (story.alarms, 1);
    assert_true (restless.runs > 1);
    loop_undefer (story.loop, &restless.task);
    loop_destroy (&story.loop);
}

typedef struct {
    story_t story;         //  What happened
    loop_task_t finish;    //  Of this round; asks again once
    loop_task_t next;      //  Of the next round
    loop_task_t never;     //  Taken back
} finisher_t;

static void
s_on_first (evutil_socket_t fd, short what, void *arg)
{
    finisher_t *self = arg;
    loop_t *loop = self->story.loop;
    s_write (&self->story, 'a');
    loop_defer (loop, &self->next);
    loop_finish (loop, &self->never);
    loop_finish (loop, &self->finish);
    loop_finish (loop, &self->finish);
    loop_undefer (loop, &self->never);
}

static void
s_on_second (evutil_socket_t fd, short what, void *arg)
{
    s_write (arg, 'b');
}

static void
s_finish (void *arg)
{
    finisher_t *self = arg;
    bool is_first = self->story.count == 2;
    s_write (&self->story, 'F');
    if (is_first)
        loop_finish (self->story.loop, &self->finish);
    else
        loop_stop (self->story.loop);
}

static void
s_write_next (void *arg)
{
    s_write (arg, 'n');
}

static void
s_write_never (void *arg)
{
    s_write (arg, 'x');
}

//  What finishes a round comes once, behind all that was ready; where it asks again, it comes in the next one.
static void
test_a_round_is_finished_once_behind_everything_that_was_ready (void **state)
{
    finisher_t self;
    s_start (&self.story);
    self.finish = (loop_task_t){ .run = s_finish, .arg = &self };
    self.next = (loop_task_t){ .run = s_write_next, .arg = &self.story };
    self.never = (loop_task_t){ .run = s_write_never, .arg = &self.story };
    struct event *first = loop_event (self.story.loop, -1, 0, s_on_first, &self);
    struct event *second = loop_event (self.story.loop, -1, 0, s_on_second, &self.story);
    event_active (first, EV_TIMEOUT, 0);
    event_active (second, EV_TIMEOUT, 0);
    loop_run (self.story.loop);
    assert_string_equal (self.story.order, "abFnF");
    event_free (first);
    event_free (second);
    loop_destroy (&self.story.loop);
}

static void
s_work (void *arg)
{
    uint64_t until_ns = loop_now_ns () + 30 * MILLISECOND;
    while (loop_now_ns () < until_ns)
        ;
}

//  Lets the loop wait for so long; returns how much longer it took, which is what may have been done.
static uint64_t
s_wait (story_t *self, uint64_t wait_ns)
{
    uint64_t began_ns = loop_now_ns ();
    loop_alarm (self->loop, began_ns + wait_ns);
    loop_run (self->loop);
    return loop_now_ns () - began_ns - wait_ns;
}

//  What is waited for does not count, what is done does.
static void
test_a_round_takes_as_long_as_what_is_done_in_it (void **state)
{
    story_t story;
    s_start (&story);
    uint64_t done_ns = s_wait (&story, 100 * MILLISECOND);
    assert_int_equal (story.rounds, 1);
    assert_in_range (story.longest_ns, 0, done_ns);
    loop_task_t work = { .run = s_work };
    loop_defer (story.loop, &work);
    done_ns = s_wait (&story, 1);
    uint64_t worked_ns = story.longest_ns;
    assert_in_range (worked_ns, 30 * MILLISECOND, done_ns);
    done_ns = s_wait (&story, 200 * MILLISECOND);
    assert_in_range (story.longest_ns, worked_ns, done_ns > worked_ns ? done_ns : worked_ns);
    loop_destroy (&story.loop);
}

typedef struct {
    loop_t *loop;                //  Under test
    struct event *events [2];    //  Both are made ready at once
    loop_task_t next;            //  Of the next round
    uint64_t rounds [3];         //  What each of them is told
    size_t count;                //  How many were
} numbers_t;

static void
s_note_round (void *arg)
{
    numbers_t *self = arg;
    self->rounds [self->count++] = loop_round (self->loop);
    if (self->count == 3)
        loop_stop (self->loop);
}

static void
s_on_noted (evutil_socket_t fd, short what, void *arg)
{
    numbers_t *self = arg;
    s_note_round (self);
    loop_defer (self->loop, &self->next);
}

//  What was ready at once is of one round; what was put off is of a later one, though nobody finishes a round here.
static void
test_a_round_has_a_number (void **state)
{
    story_t story;
    s_start (&story);
    numbers_t self = { .loop = story.loop, .next = { .run = s_note_round, .arg = &self } };
    for (size_t i = 0; i < 2; i++) {
        self.events [i] = loop_event (self.loop, -1, 0, s_on_noted, &self);
        event_active (self.events [i], EV_TIMEOUT, 0);
    }
    loop_run (self.loop);
    assert_true (self.rounds [0] == self.rounds [1]);
    assert_true (self.rounds [1] < self.rounds [2]);
    event_free (self.events [0]);
    event_free (self.events [1]);
    loop_destroy (&story.loop);
}

enum { POSTS = 2000 };

typedef struct {
    loop_t *loop;                 //  Under test
    loop_task_t tasks [POSTS];    //  Posted by the other thread
    int ran;                      //  How many ran, on the loop's thread
} poster_t;

static void
s_count (void *arg)
{
    poster_t *self = arg;
    self->ran++;
    loop_release (self->loop);
}

static void *
s_post_all (void *arg)
{
    poster_t *self = arg;
    for (int i = 0; i < POSTS; i++) {
        self->tasks [i] = (loop_task_t){ .run = s_count, .arg = self };
        loop_post (self->loop, &self->tasks [i]);
    }
    return NULL;
}

static void
test_posts_from_another_thread_all_arrive (void **state)
{
    story_t story;
    s_start (&story);
    poster_t poster = { .loop = story.loop };
    for (int i = 0; i < POSTS; i++)
        loop_hold (story.loop);
    pthread_t thread;
    pthread_create (&thread, NULL, s_post_all, &poster);
    loop_settle (story.loop);
    pthread_join (thread, NULL);
    assert_int_equal (poster.ran, POSTS);
    loop_destroy (&story.loop);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_the_alarm_rings_once_at_the_last_time_set),
        cmocka_unit_test (test_a_cleared_alarm_does_not_ring),
        cmocka_unit_test (test_a_turn_ends_once_behind_everything_that_was_ready),
        cmocka_unit_test (test_a_restless_task_starves_nobody),
        cmocka_unit_test (test_a_round_is_finished_once_behind_everything_that_was_ready),
        cmocka_unit_test (test_a_round_takes_as_long_as_what_is_done_in_it),
        cmocka_unit_test (test_a_round_has_a_number),
        cmocka_unit_test (test_posts_from_another_thread_all_arrive),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
