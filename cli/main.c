//  stator - the program
//
//  Finds the verb, reads its flags, runs it.

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "cli/brief.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "schemas/message.h"

enum { NAME_COLUMN = 12, FLAGS_MEMORY = 1 << 20, COMPLAINT_SIZE = 4096 };

//  In the order of the help.
static const command_t *const s_commands [] = { &up_command, &run_command, &ps_command, &tail_command, &call_command,
    &check_command, &key_command, &simulate_command, &replay_command, &model_command, &template_command,
    &tokenizer_command, &parser_command, &bench_command, &actor_command, &worker_command, &keep_command };
enum { COMMANDS = sizeof s_commands / sizeof *s_commands };

typedef struct {
    bool help;    //  Say what the verb does instead of doing it
} common_t;

static const option_t s_common [] = {
    { .name = "help", .type = OPTION_BOOL, .letter = 'h', .offset = offsetof (common_t, help), .doc = "Print this." },
    OPTIONS_END,
};

//  NULL: complaints are for whoever typed the command.
static log_sink_t *s_log;

void
command_complain_in_log (log_form_t form)
{
    log_sink_destroy (&s_log);
    s_log = log_sink_new (NULL, LOG_INFO, form, NULL);
}

static uint64_t
s_wall_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
s_complain_line (span_t line)
{
    buffer_t text = { 0 };
    brief_append_text (line, SIZE_MAX, &text);
    if (s_log)
        log_sink_write (s_log, LOG_ERROR, s_wall_ns (), buffer_span (&text));
    else
        fprintf (stderr, "%s\n", buffer_string (&text));
    buffer_fini (&text);
}

//  Lines, each with its end.
static void
s_complain (span_t text)
{
    while (text.size) {
        size_t size = span_find_byte (text, '\n');
        s_complain_line (span_slice (text, 0, size));
        text = span_slice (text, size + 1, text.size);
    }
}

void
command_complain (const command_t *command, const char *format, ...)
{
    char line [COMPLAINT_SIZE];
    buffer_t text = { 0 };
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (line, sizeof line, format, arguments);
    va_end (arguments);
    buffer_print (&text, "stator%s%s: %s\n", command ? " " : "", command ? command->name : "", line);
    s_complain (buffer_span (&text));
    buffer_fini (&text);
}

void
command_print_complaints (complaints_t *complaints)
{
    buffer_t text = { 0 };
    complaints_render (complaints, &text);
    s_complain (buffer_span (&text));
    buffer_fini (&text);
}

void
command_print (const buffer_t *text)
{
    if (text->size)
        fwrite (text->data, 1, text->size, stdout);
}

void
command_find_program (const invocation_t *invocation, char *out, size_t size)
{
    ssize_t count = readlink ("/proc/self/exe", out, size - 1);
    if (count > 0)
        out [count] = 0;
    else
        snprintf (out, size, "%s", invocation->program);
}

//  ---- Help ----------------------------------------------------------------------------------------------------------

static void
s_print_overview (FILE *out)
{
    fputs ("stator - one warm KV cache out of a fleet of inference engines\n\nUsage: stator VERB ...\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        if (!s_commands [i]->hidden)
            fprintf (out, "  %-*s%s\n", NAME_COLUMN, s_commands [i]->name, s_commands [i]->doc);
    fputs ("\n  stator help VERB     what a verb does and takes\n  stator --version     version and schema hash\n"
           "\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 works in part.\n",
        out);
}

static void
s_print_help (const command_t *command)
{
    buffer_t text = { 0 };
    buffer_print (&text, "stator %s - %s\n\nUsage: stator %s [flags]%s%s\n", command->name, command->doc, command->name,
        *command->arguments ? " " : "", command->arguments);
    if (command->essay)
        buffer_print (&text, "\n%s", command->essay);
    buffer_append_string (&text, "\nFlags:\n");
    if (command->table)
        option_print_help (command->table, &text);
    option_print_help (s_common, &text);
    if (command->takes_fleet) {
        buffer_append_string (&text, "\nFlags that win over the configuration file:\n");
        option_print_help (manifest_table, &text);
    }
    command_print (&text);
    buffer_fini (&text);
}

static result_t
s_print_version (void)
{
    printf ("stator %s (schemas %016llx)\n", STATOR_VERSION, (unsigned long long)schema_hash ());
    return RESULT_OK;
}

result_t
command_result (status_t status)
{
    return status == STATUS_OK                                      ? RESULT_OK
           : status == STATUS_INVALID || status == STATUS_NOT_FOUND ? RESULT_USAGE
                                                                    : RESULT_FAILED;
}

//  ---- Running -------------------------------------------------------------------------------------------------------

static const command_t *
s_find (const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp (s_commands [i]->name, name) == 0)
            return s_commands [i];
    return NULL;
}

static result_t
s_complain_verb (const char *name)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (name));
    for (size_t i = 0; i < COMMANDS; i++)
        if (!s_commands [i]->hidden)
            suggest_offer (&suggest, s_commands [i]->name);
    suggest_offer (&suggest, "help");
    const char *meant = suggest_text (&suggest);
    command_complain (NULL, "unknown verb '%.100s'%s", name, *meant ? meant : "; `stator help` lists them");
    return RESULT_USAGE;
}

static result_t
s_help (const char *const *words, size_t count)
{
    //  The overview tells what these two do.
    if (!count || strcmp (words [0], "help") == 0 || strcmp (words [0], "version") == 0) {
        s_print_overview (stdout);
        return RESULT_OK;
    }
    const command_t *command = s_find (words [0]);
    if (!command)
        return s_complain_verb (words [0]);
    s_print_help (command);
    return RESULT_OK;
}

//  What the first word may be is a closed set for some.
static bool
s_is_offered (const command_t *command, const char *word)
{
    const char *const *choice = command->choices;
    while (choice && *choice && strcmp (*choice, word) != 0)
        choice++;
    return !choice || *choice;
}

static result_t
s_complain_choice (const command_t *command, const char *word)
{
    suggest_t suggest;
    buffer_t known = { 0 };
    suggest_init (&suggest, span_from_string (word));
    suggest_offer_words (&suggest, command->choices);
    for (size_t i = 0; command->choices [i]; i++)
        buffer_print (&known, "%s%s", i ? "|" : "", command->choices [i]);
    command_complain (command, "'%.100s' is not %s%s", word, buffer_string (&known), suggest_text (&suggest));
    buffer_fini (&known);
    return RESULT_USAGE;
}

static result_t
s_run_words (const command_t *command, invocation_t *invocation, const common_t *common, complaints_t *complaints)
{
    if (complaints_any (complaints)) {
        command_print_complaints (complaints);
        return RESULT_USAGE;
    }
    if (common->help) {
        s_print_help (command);
        return RESULT_OK;
    }
    if (invocation->count && !s_is_offered (command, invocation->words [0]))
        return s_complain_choice (command, invocation->words [0]);
    if (invocation->count < command->words_min || invocation->count > command->words_max) {
        command_complain (command, "too %s words; usage: stator %s [flags] %s",
            invocation->count < command->words_min ? "few" : "many", command->name, command->arguments);
        return RESULT_USAGE;
    }
    return command->run (invocation);
}

static result_t
s_run (const command_t *command, const char *program, const char *const *words, size_t count)
{
    char source [64];
    snprintf (source, sizeof source, "stator %s", command->name);
    arena_t memory;
    arena_init (&memory, FLAGS_MEMORY);
    complaints_t complaints;
    complaints_init (&complaints, source);
    option_context_t context = { .memory = &memory, .complaints = &complaints, .world = &environment_world };
    common_t common = { 0 };
    manifest_t *scratch =
        memory_new (sizeof *scratch);    //  Flags of the fleet are checked here, and used by manifest_new
    void *flags = memory_new (command->flags_size + 1);
    option_target_t targets [3] = { { s_common, &common } };
    size_t target_count = 1;
    option_target_t own = { command->table, flags };
    if (command->table)
        targets [target_count++] = own;
    if (command->takes_fleet)
        targets [target_count++] = (option_target_t){ manifest_table, scratch };
    for (size_t i = 0; i < target_count; i++)
        option_set_defaults (targets [i], &context);
    array_t rest;
    array_init (&rest, sizeof (const char *));
    option_read_arguments (targets, target_count, words, count, &rest, &context);
    invocation_t invocation = { .command = command,
        .flags = flags,
        .words = rest.data,
        .count = rest.count,
        .program = program,
        .all = { .words = words, .count = count, .own = own } };
    result_t result = s_run_words (command, &invocation, &common, &complaints);
    array_fini (&rest);
    memory_free (flags);
    memory_free (scratch);
    complaints_fini (&complaints);
    arena_fini (&memory);
    return result;
}

//  Small pieces of memory that are freed are joined with their neighbours at once.  The C library would rather do that to
//  thousands of them later, in one call of somebody who must not wait so long.
static void
s_avoid_pauses (void)
{
#ifdef M_MXFAST
    mallopt (M_MXFAST, 0);
#endif
}

//  A standard stream that was closed would become whatever is opened next, and what is said be written there.  Output that
//  cannot get out fails all the same.
static void
s_fill_standard_streams (void)
{
    static const int modes [] = { O_RDONLY, O_RDONLY, O_WRONLY };
    for (int fd = 0; fd < 3; fd++)
        if (fcntl (fd, F_GETFD) < 0 && open ("/dev/null", modes [fd]) < 0)
            return;
}

//  What nobody wants to read any more (a pipe whose reader has left) is not missed.
static bool
s_output_is_wanted (void)
{
    struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll (&output, 1, 0) < 0 || !(output.revents & POLLERR);
}

//  Whoever reads a file that is not whole must hear of it.
static int
s_finish_output (int result)
{
    bool lost = ferror (stdout);
    if ((fflush (stdout) == 0 && !lost) || !s_output_is_wanted ())
        return result;
    fprintf (stderr, "stator: standard output is not whole: it took no more; is the disk full?\n");
    return result == RESULT_OK ? RESULT_FAILED : result;
}

static int
s_main (int argc, char **argv)
{
    const char *const *words = (const char *const *)argv + 2;
    size_t count = argc > 2 ? (size_t)argc - 2 : 0;
    const char *verb = argc > 1 ? argv [1] : "";
    signal (SIGXFSZ, SIG_IGN);    //  A write that passes the limit says so itself, with a sentence
    if (!*verb) {
        s_print_overview (stderr);
        return RESULT_USAGE;
    }
    if (strcmp (verb, "--version") == 0 || strcmp (verb, "version") == 0)
        return s_print_version ();
    if (strcmp (verb, "--help") == 0 || strcmp (verb, "-h") == 0 || strcmp (verb, "help") == 0)
        return s_help (words, count);
    const command_t *command = s_find (verb);
    if (!command)
        return s_complain_verb (verb);
    return s_run (command, argv [0], words, count);
}

int
main (int argc, char **argv)
{
    s_fill_standard_streams ();
    s_avoid_pauses ();
    return s_finish_output (s_main (argc, argv));
}
