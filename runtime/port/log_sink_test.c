//  Log lines: whole or not there, never waited for, and counted when lost.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/port/port_fixture.h"

#include "runtime/port/log_sink.h"

//  2026-11-29 16:00:00.250 UTC
#define WHEN 1795968000250000000ull

enum { TEXT_MAX = 1 << 20 };

typedef struct {
    char folder [64];        //  Goes away
    char path [80];          //  Of the log
    log_sink_t *sink;        //  Under test
    char text [TEXT_MAX];    //  What was read of it
} story_t;

static story_t *
s_story_new (void)
{
    alarm (FIXTURE_WATCHDOG_SECONDS);
    story_t *self = calloc (1, sizeof *self);
    snprintf (self->folder, sizeof self->folder, "/tmp/stator-test-XXXXXX");
    assert_non_null (mkdtemp (self->folder));
    snprintf (self->path, sizeof self->path, "%s/log", self->folder);
    return self;
}

static void
s_open (story_t *self, log_level_t level, log_form_t form)
{
    error_t error = { 0 };
    self->sink = log_sink_new (self->path, level, form, &error);
    if (!self->sink)
        fail_msg ("%s", error.text);
}

static void
s_story_destroy (story_t *self)
{
    log_sink_destroy (&self->sink);
    unlink (self->path);
    rmdir (self->folder);
    free (self);
}

static const char *
s_read (story_t *self)
{
    int fd = open (self->path, O_RDONLY);
    ssize_t size = read (fd, self->text, TEXT_MAX - 1);
    self->text [size > 0 ? size : 0] = '\0';
    close (fd);
    return self->text;
}

static void
test_a_machine_gets_one_json_object_a_line (void **state)
{
    story_t *story = s_story_new ();
    s_open (story, LOG_INFO, LOG_FORM_AUTO);
    log_sink_write (story->sink, LOG_WARNING, WHEN, SPAN ("router/0: \"odd\"\n\\ \x01"));
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("{\"already\":1}"));
    log_sink_write (story->sink, LOG_DEBUG, WHEN, SPAN ("too quiet"));
    assert_string_equal (s_read (story), "{\"time\":\"2026-11-29T16:00:00.250Z\",\"level\":\"warning\","
                                         "\"text\":\"router/0: \\\"odd\\\"\\u000a\\\\ \\u0001\"}\n{\"already\":1}\n");
    s_story_destroy (story);
}

static void
test_people_get_time_and_level_and_no_control_bytes (void **state)
{
    story_t *story = s_story_new ();
    setenv ("TZ", "UTC", 1);
    s_open (story, LOG_DEBUG, LOG_FORM_HUMAN);
    log_sink_write (story->sink, LOG_DEBUG, WHEN, SPAN ("a\x1b[2Jb\nc"));
    log_sink_write (story->sink, LOG_ERROR, WHEN, SPAN ("broken"));
    assert_string_equal (s_read (story), "16:00:00.250 debug   a [2Jb c\n16:00:00.250 error   broken\n");
    s_story_destroy (story);
}

static void
test_a_log_that_cannot_be_opened_is_explained (void **state)
{
    error_t error = { 0 };
    assert_null (log_sink_new ("/nowhere/log", LOG_INFO, LOG_FORM_AUTO, &error));
    assert_non_null (strstr (error.text, "cannot open the log /nowhere/log: No such file"));
}

//  A pipe that nobody reads fills up; nothing waits, and the next line that gets through tells what is missing.
static void
test_a_full_pipe_loses_whole_lines_and_says_how_many (void **state)
{
    story_t *story = s_story_new ();
    assert_int_equal (mkfifo (story->path, 0600), 0);
    int reader = open (story->path, O_RDONLY | O_NONBLOCK);
    s_open (story, LOG_INFO, LOG_FORM_JSON);
    char line [700];
    memset (line, 'x', sizeof line);
    size_t said = 0;
    for (; log_sink_lost (story->sink) < 5; said++)
        log_sink_write (story->sink, LOG_INFO, WHEN, span_of (line, 100 + said * 37 % 600));
    size_t size = 0;
    for (ssize_t got; (got = read (reader, story->text + size, TEXT_MAX - 1 - size)) > 0;)
        size += (size_t)got;
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("last"));
    for (ssize_t got; (got = read (reader, story->text + size, TEXT_MAX - 1 - size)) > 0;)
        size += (size_t)got;
    story->text [size] = '\0';

    size_t lines = 0;
    for (char *at = story->text; *at; lines++) {
        assert_int_equal (strncmp (at, "{\"time\":\"", 9), 0);
        char *end = strchr (at, '\n');
        assert_non_null (end);
        assert_int_equal (end [-1], '}');
        at = end + 1;
    }
    assert_int_equal (lines, said - 5 + 2);
    assert_non_null (strstr (story->text, "\"text\":\"5 log lines before this one could not be written\"}\n"));
    assert_non_null (strstr (story->text, "\"text\":\"last\"}\n"));
    close (reader);
    s_story_destroy (story);
}

//  The file may not grow beyond this: as a full disk, a write that would pass it is taken in part.
static void
s_limit_file (rlim_t size)
{
    struct rlimit limit;
    getrlimit (RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

//  Two sinks on one file are as two processes.
static void
test_what_a_full_disk_tore_spoils_no_other_line (void **state)
{
    story_t *story = s_story_new ();
    error_t error = { 0 };
    s_open (story, LOG_INFO, LOG_FORM_JSON);
    log_sink_t *other = log_sink_new (story->path, LOG_INFO, LOG_FORM_JSON, &error);
    signal (SIGXFSZ, SIG_IGN);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("{\"line\":1}"));
    s_limit_file (16);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("{\"line\":2}"));
    log_sink_write (other, LOG_INFO, WHEN, SPAN ("{\"line\":3}"));
    s_limit_file (RLIM_INFINITY);
    log_sink_write (other, LOG_INFO, WHEN, SPAN ("{\"line\":4}"));
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("{\"line\":5}"));
    const char *lost = "{\"time\":\"2026-11-29T16:00:00.250Z\",\"level\":\"warning\","
                       "\"text\":\"1 log lines before this one could not be written\"}\n";
    char expected [512];
    snprintf (expected, sizeof expected, "{\"line\":1}\n{\"lin\n%s{\"line\":4}\n%s{\"line\":5}\n", lost, lost);
    assert_string_equal (s_read (story), expected);
    assert_int_equal (log_sink_lost (story->sink), 1);
    assert_int_equal (log_sink_lost (other), 1);
    log_sink_destroy (&other);
    s_story_destroy (story);
}

static void *
s_write_many (void *arg)
{
    for (int i = 0; i < 500; i++)
        log_sink_write (arg, LOG_INFO, WHEN, SPAN ("{\"from\":\"a thread\"}"));
    return NULL;
}

static void
test_lines_of_two_threads_do_not_mix (void **state)
{
    story_t *story = s_story_new ();
    s_open (story, LOG_INFO, LOG_FORM_JSON);
    pthread_t threads [2];
    for (int i = 0; i < 2; i++)
        pthread_create (&threads [i], NULL, s_write_many, story->sink);
    for (int i = 0; i < 2; i++)
        pthread_join (threads [i], NULL);
    const char *at = s_read (story);
    for (int i = 0; i < 1000; i++, at = strchr (at, '\n') + 1)
        assert_int_equal (strncmp (at, "{\"from\":\"a thread\"}\n", 20), 0);
    assert_string_equal (at, "");
    s_story_destroy (story);
}

static void
test_the_level_can_be_changed (void **state)
{
    story_t *story = s_story_new ();
    s_open (story, LOG_WARNING, LOG_FORM_HUMAN);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("first"));
    log_sink_set_level (story->sink, LOG_INFO);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("second"));
    log_sink_set_level (story->sink, LOG_ERROR);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("third"));
    const char *text = s_read (story);
    assert_null (strstr (text, "first"));
    assert_non_null (strstr (text, "second"));
    assert_null (strstr (text, "third"));
    s_story_destroy (story);
}

//  As after `2> log`: the shell opens the file without O_APPEND, and some sentences are written past the sink.
static void
test_sentences_on_standard_error_do_not_lie_over_lines (void **state)
{
    story_t *story = s_story_new ();
    int kept = dup (STDERR_FILENO);
    int fd = open (story->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal (dup2 (fd, STDERR_FILENO), STDERR_FILENO);
    error_t error = { 0 };
    story->sink = log_sink_new (NULL, LOG_INFO, LOG_FORM_JSON, &error);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("{\"line\":1}"));
    ssize_t said = write (STDERR_FILENO, "a sentence\n", 11);
    log_sink_write (story->sink, LOG_INFO, WHEN, SPAN ("{\"line\":2}"));
    dup2 (kept, STDERR_FILENO);
    close (kept);
    close (fd);
    assert_int_equal (said, 11);
    assert_string_equal (s_read (story), "{\"line\":1}\na sentence\n{\"line\":2}\n");
    s_story_destroy (story);
}

//  What would end the text or the line is left out; a pipe that nobody reads keeps nobody from ending.
static void
test_last_words_are_json (void **state)
{
    int ends [2], kept = dup (STDERR_FILENO);
    char said [2000];
    assert_int_equal (pipe (ends), 0);
    assert_int_equal (dup2 (ends [1], STDERR_FILENO), STDERR_FILENO);
    log_sink_say_last ("out of\n \"memory\"");
    ssize_t size = read (ends [0], said, sizeof said - 1);
    char large [5000];
    memset (large, 'x', sizeof large - 1);
    large [sizeof large - 1] = 0;
    log_sink_say_last (large);
    ssize_t cut = read (ends [0], said + size, sizeof said - (size_t)size);
    for (int i = 0; i < 1000; i++)
        log_sink_say_last (large);
    dup2 (kept, STDERR_FILENO);
    close (kept);
    close (ends [0]);
    close (ends [1]);
    assert_in_range (size, 1, sizeof said - 1);
    assert_memory_equal (said, "{\"time\":\"20", 11);
    assert_memory_equal (strstr (said, "Z\",\"level"), "Z\",\"level\":\"error\",\"text\":\"out of memory\"}\n", 43);
    assert_int_equal (cut, 999);
    assert_memory_equal (said + size + cut - 4, "x\"}\n", 4);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_machine_gets_one_json_object_a_line),
        cmocka_unit_test (test_people_get_time_and_level_and_no_control_bytes),
        cmocka_unit_test (test_a_log_that_cannot_be_opened_is_explained),
        cmocka_unit_test (test_a_full_pipe_loses_whole_lines_and_says_how_many),
        cmocka_unit_test (test_what_a_full_disk_tore_spoils_no_other_line),
        cmocka_unit_test (test_lines_of_two_threads_do_not_mix),
        cmocka_unit_test (test_the_level_can_be_changed),
        cmocka_unit_test (test_sentences_on_standard_error_do_not_lie_over_lines),
        cmocka_unit_test (test_last_words_are_json),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
