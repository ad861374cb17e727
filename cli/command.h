//  command - one verb of `stator`
//
//  A verb is a row of the table in main.c: its words, its flags (a table of options), its sentences, and the function that
//  does it.  Help, suggestions and the refusal of bad flags come from the table.

#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/manifest.h"
#include "runtime/option.h"
#include "runtime/port/log_sink.h"

//  Exit codes.
typedef enum {
    RESULT_OK = 0,          //  Done
    RESULT_FAILED = 1,      //  It did not work
    RESULT_USAGE = 2,       //  The command line or the configuration is wrong
    RESULT_DEGRADED = 3,    //  It works, but not all of it
} result_t;

typedef struct command command_t;

//  A verb as it was typed.
typedef struct {
    const command_t *command;    //  Which
    const void *flags;           //  The struct of its table, filled
    const char *const *words;    //  What is no flag; borrowed
    size_t count;                //  How many
    manifest_flags_t all;        //  The whole command line, for manifest_new
    const char *program;         //  Path of this program
} invocation_t;

struct command {
    const char *name;                                    //  "check"
    const char *arguments;                               //  "[FILE]"
    const char *doc;                                     //  One sentence
    const char *essay;                                   //  More for its own help, lines and all; NULL: none
    const option_t *table;                               //  Its flags; NULL: none
    size_t flags_size;                                   //  Bytes of their struct
    bool takes_fleet;                                    //  The keys of a fleet file are flags too
    bool hidden;                                         //  Ours to start, not for people: not in the help
    const char *const *choices;                          //  What its first word may be, NULL-terminated; NULL: anything
    size_t words_min;                                    //  Words it needs
    size_t words_max;                                    //  Words it takes
    result_t (*run) (const invocation_t *invocation);    //  Does it
};

//  One a file of this folder.
extern const command_t actor_command;
extern const command_t bench_command;
extern const command_t call_command;
extern const command_t check_command;
extern const command_t keep_command;
extern const command_t key_command;
extern const command_t model_command;
extern const command_t parser_command;
extern const command_t ps_command;
extern const command_t replay_command;
extern const command_t run_command;
extern const command_t simulate_command;
extern const command_t tail_command;
extern const command_t template_command;
extern const command_t tokenizer_command;
extern const command_t up_command;
extern const command_t worker_command;

//  What is complained of from now on is lines of a log on standard error: this process was started by a fleet.
void command_complain_in_log (log_form_t form);

//  Prints to standard error, "stator check: sentence".
void command_complain (const command_t *command, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  Prints complaints, each a line.
void command_print_complaints (complaints_t *complaints);

//  The one place that says what exit code an error is, docs/operating.md says it to people: what was typed wrongly, or names
//  what is not there (a file, an actor), is wrong usage; the rest did not work.
result_t command_result (status_t status);

//  Writes bytes to standard output.
void command_print (const buffer_t *text);

//  Path of the file that this program is, for processes that it starts.
void command_find_program (const invocation_t *invocation, char *out, size_t size);

#endif
