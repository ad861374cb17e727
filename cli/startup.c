#include "cli/startup.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "cli/caller.h"
#include "schemas/host.h"

enum {
    LOOK_MS = 500,
    ASK_MS = 1000,
    FIRST_NEWS_MS = 10000,
    NEWS_MS = 30000,
    WORDS_MAX = 4096,    //  Bytes of last words
    LINES_MAX = 12,      //  Of them
    STARTUP_MEMORY = 1 << 20,
    ENDED_WELL = 0,
    ENDED_BY_TERM = 128 + 15,    //  As it was asked to, because another of its unit had ended
};

//  What was seen of a program.
typedef struct {
    uint32_t restarts;      //  When it was last told of
    bool crashed;           //  Its last end was its own
    bool hopeless;          //  It, or another of its unit, crashes again and again
    uint64_t log_at;        //  Bytes of its log that were there before, or are told
    buffer_t last_words;    //  Told last
} seen_t;

struct startup {
    caller_t *host;                    //  NULL: its endpoint makes no sense
    const host_program_t *programs;    //  Borrowed
    size_t count;                      //  How many
    seen_t *seen;                      //  One a program
    uint64_t look_at_ms;               //  Not earlier
    uint64_t news_at_ms;               //  When it is said who is being waited for
    arena_t arena;                     //  What the host answers
};

static uint64_t
s_size_of (const char *path)
{
    struct stat found;
    return path && stat (path, &found) == 0 ? (uint64_t)found.st_size : 0;
}

startup_t *
startup_new (const char *endpoint, const host_program_t *programs, size_t count)
{
    startup_t *self = memory_new (sizeof *self);
    self->host = caller_new (endpoint, NULL);
    self->programs = programs;
    self->count = count;
    self->seen = memory_new (count * sizeof *self->seen);
    self->news_at_ms = caller_now_ms () + FIRST_NEWS_MS;
    arena_init (&self->arena, STARTUP_MEMORY);
    for (size_t i = 0; i < count; i++)
        self->seen [i].log_at = s_size_of (programs [i].output);
    return self;
}

void
startup_destroy (startup_t **self_p)
{
    startup_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        buffer_fini (&self->seen [i].last_words);
    caller_destroy (&self->host);
    arena_fini (&self->arena);
    memory_free (self->seen);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Last words ----------------------------------------------------------------------------------------------------

//  The end of what a file has from `from` on, whole lines.
static void
s_read_end (const char *path, uint64_t from, buffer_t *out)
{
    uint64_t size = s_size_of (path);
    uint64_t at = size > from + WORDS_MAX ? size - WORDS_MAX : from;
    FILE *file = size > from ? fopen (path, "rbe") : NULL;
    if (!file)
        return;
    if (fseek (file, (long)at, SEEK_SET) == 0)
        buffer_commit (out, fread (buffer_reserve (out, WORDS_MAX), 1, WORDS_MAX, file));
    fclose (file);
    if (at > from)
        buffer_drop_front (out, span_find_byte (buffer_span (out), '\n') + 1);
}

static span_t
s_last_lines (span_t text, size_t lines)
{
    size_t at = span_trim (text).size ? text.size : 0;
    for (size_t i = 0; at > 0; at--)
        if (text.data [at - 1] == '\n' && at < text.size && ++i == lines)
            break;
    return span_slice (text, at, text.size);
}

static void
s_print_indented (span_t text)
{
    while (text.size) {
        size_t size = span_find_byte (text, '\n');
        fprintf (stderr, "    %.*s\n", SPAN_ARG (span_slice (text, 0, size)));
        text = span_slice (text, size + 1, text.size);
    }
}

//  Those that were told already are not told again.
static void
s_print_last_words (const host_program_t *program, seen_t *seen)
{
    buffer_t text = { 0 };
    if (!program->output)
        return;
    s_read_end (program->output, seen->log_at, &text);
    seen->log_at = s_size_of (program->output);
    span_t words = s_last_lines (buffer_span (&text), LINES_MAX);
    if (!words.size)
        fprintf (stderr, ", without a word in %s\n", program->output);
    else if (span_equal (words, buffer_span (&seen->last_words)))
        fprintf (stderr, ", with the same last words\n");
    else {
        fprintf (stderr, "; its last words, of %s:\n", program->output);
        s_print_indented (words);
    }
    buffer_clear (&seen->last_words);
    buffer_append (&seen->last_words, words);
    buffer_fini (&text);
}

//  ---- News ----------------------------------------------------------------------------------------------------------

//  What ended because another of its unit had is not what there is to tell of.
static bool
s_crashed (const host_program_t *program, const host_process_t *process)
{
    if (!process->has_last_exit || process->last_exit == ENDED_BY_TERM)
        return false;
    return process->last_exit != ENDED_WELL || program->url;
}

static void
s_tell_crash (const host_program_t *program, seen_t *seen, const host_process_t *process)
{
    char how [SUPERVISOR_HOW_MAX];
    supervisor_describe_code (process->last_exit, how, sizeof how);
    fprintf (stderr, "%s ended %s; restart %u follows", program->supervised.name, how, process->restarts);
    if (program->output)
        s_print_last_words (program, seen);
    else
        fputc ('\n', stderr);
}

static void
s_take (const host_program_t *program, seen_t *seen, const host_process_t *process)
{
    if (process->restarts > seen->restarts && s_crashed (program, process))
        s_tell_crash (program, seen, process);
    seen->restarts = process->restarts;
    seen->crashed = s_crashed (program, process);
    if (process->state == PROCESS_STATE_LOOPING)
        seen->hopeless = true;
    if (process->state == PROCESS_STATE_RUNNING)
        seen->hopeless = false;
}

//  Once in a while.
static void
s_tell_whom_it_waits_for (startup_t *self, const list_processes_reply_t *reply)
{
    uint64_t now_ms = caller_now_ms ();
    if (now_ms < self->news_at_ms)
        return;
    self->news_at_ms = now_ms + NEWS_MS;
    for (size_t i = 0; i < self->count; i++) {
        const host_process_t *process = &reply->processes [i];
        const char *output = self->programs [i].output, *name = self->programs [i].supervised.name;
        bool worker = span_starts_with (span_from_string (name), SPAN ("worker/"));
        if (process->state == PROCESS_STATE_STARTING)
            fprintf (stderr, "still waiting for %s, started %llu s ago%s%s%s\n", name,
                (unsigned long long)process->uptime_ms / 1000, worker ? "; `stator ps` says what it waits for" : "",
                output ? "; it writes to " : "", output ? output : "");
    }
}

//  ---- Giving up -----------------------------------------------------------------------------------------------------

//  Of a unit, in which all wait for each other: the first that ended by itself.  Where none did, the one that is asked about.
static size_t
s_who_crashed (const startup_t *self, size_t program)
{
    size_t unit = self->programs [program].supervised.unit;
    for (size_t i = 0; i < self->count; i++)
        if (self->programs [i].supervised.unit == unit && self->seen [i].crashed)
            return i;
    return program;
}

//  The program that keeps the fleet from coming up; its position, or the count where it still may.  An engine that crashes
//  again and again has its worker with it: they are one unit.
static size_t
s_culprit (const startup_t *self)
{
    size_t culprit = self->count;
    for (size_t i = 0; i < self->count; i++) {
        span_t name = span_from_string (self->programs [i].supervised.name);
        bool worker = span_starts_with (name, SPAN ("worker/")), hopeless = self->seen [i].hopeless;
        if (hopeless && !worker && !span_starts_with (name, SPAN ("engine/")))
            return i;
        if (hopeless && culprit == self->count)
            culprit = s_who_crashed (self, i);
        if (worker && !hopeless)
            return self->count;
    }
    return culprit;
}

//  As a shell wants it.
static void
s_print_word (const char *word)
{
    if (*word && !word [strcspn (word, " \t\n'\"\\$&;|<>()`*?[]#~!{}")]) {
        fprintf (stderr, " %s", word);
        return;
    }
    fputs (" '", stderr);
    for (; *word; word++)
        fputs (*word == '\'' ? "'\\''" : (const char []){ *word, '\0' }, stderr);
    fputc ('\'', stderr);
}

static void
s_give_up (const host_program_t *program)
{
    const char *const *word = program->argv;
    fprintf (stderr,
        "%s ends whenever it is started, so the fleet cannot come up. Run its command by hand to see why, and "
        "correct the configuration:\n   ",
        program->supervised.name);
    while (program->url && *word && strcmp (*word, "--") != 0)
        word++;    //  What keeps an engine beside its host
    for (word += program->url && *word; *word; word++)
        s_print_word (*word);
    fputc ('\n', stderr);
}

bool
startup_look (startup_t *self)
{
    uint64_t now_ms = caller_now_ms ();
    list_processes_t request = { 0 };
    list_processes_reply_t reply = { 0 };
    if (now_ms < self->look_at_ms || !self->host)
        return true;
    self->look_at_ms = now_ms + LOOK_MS;
    arena_clear (&self->arena);
    status_t status = caller_call (self->host, &list_processes_message, &request, ASK_MS, &self->arena, &reply, NULL);
    if (status != STATUS_OK || reply.processes_count != self->count)
        return true;
    for (size_t i = 0; i < self->count; i++)
        s_take (&self->programs [i], &self->seen [i], &reply.processes [i]);
    s_tell_whom_it_waits_for (self, &reply);
    size_t culprit = s_culprit (self);
    if (culprit < self->count)
        s_give_up (&self->programs [culprit]);
    return culprit == self->count;
}
