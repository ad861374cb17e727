//  option - one table for everything that can be set
//
//  A room describes what can be set about it in a `static const option_t []` table: name, type, default, bounds, the
//  field of its struct that holds it, and the sentences a person needs.  From the same table a configuration file is
//  read (config.h), command-line flags are read, `--help`, the commented default file and the manual page are printed.
//  Tables nest: a section is a table inside a struct, a list an array of structs.
//
//      typedef struct {
//          uint64_t body_max;            //  Bytes of a request
//          uint64_t head_timeout_ns;     //  From first byte to the head's end
//      } server_options_t;
//
//      const option_t server_options [] = {
//          { .name = "body_max", .type = OPTION_SIZE, .fallback = "64MiB", .offset = offsetof (server_options_t, body_max),
//            .doc = "Largest request body.", .advice = "Raise it when clients send large files." },
//          ...
//          OPTIONS_END
//      };
//
//  What the fields of a struct point to lies in the arena of the context that filled it, and lives as long.

#ifndef RUNTIME_OPTION_H
#define RUNTIME_OPTION_H

#include "base/arena.h"
#include "runtime/complaints.h"
#include "runtime/config.h"

typedef enum {
    OPTION_BOOL,        //  bool: true, false (yes, no, on, off)
    OPTION_INTEGER,     //  int64_t, min..max
    OPTION_DECIMAL,     //  int64_t in millionths ("0.75" is 750000), min..max in millionths
    OPTION_SIZE,        //  uint64_t bytes, min..max: 64MiB, 200GB, 512 (bytes)
    OPTION_DURATION,    //  uint64_t ns, min..max: 250ms, 1.5s, 20min; 0 needs no unit
    OPTION_STRING,      //  const char *, never NULL; "" where nothing was said and there is no default
    OPTION_ENUM,        //  int: position in `words`; '-' and '_' are the same
    OPTION_STRINGS,     //  option_strings_t: a list, or one value; on the command line separated by commas
    OPTION_COMMAND,     //  option_strings_t: the words of a command, as a list or as one string in a shell's quoting
    OPTION_ENDPOINT,    //  const char *: tcp://HOST:PORT, ipc://PATH or inproc://NAME
    OPTION_URL,         //  const char *: http:// or https://
    OPTION_SECRET,      //  const char *: as it stands, or `file:PATH`; never printed
    OPTION_SECTION,     //  The struct of `table`, embedded
    OPTION_LIST,        //  option_list_t of structs of `table`, each `size` bytes
    OPTION_INCLUDE,     //  The struct of `table`, embedded; its keys stand here, without a section of their own
} option_type_t;

enum {
    OPTION_REQUIRED = 1,    //  Must be said; there is no default
    OPTION_LIVE = 2,        //  A reload (SIGHUP) changes it while running
    OPTION_HIDDEN = 4,      //  Works, but is not in the help or the manual
};

//  A word that is none of those of its row, though there is more to say than that.
typedef struct {
    const char *word;        //  Case does not count, '-' and '_' are the same
    const char *sentence;    //  Put behind "'word' is not ...": begins with "; "
} option_refusal_t;

typedef struct option option_t;
struct option {
    const char *name;                    //  Key, lower case with underscores
    option_type_t type;                  //  How its text is read
    const char *fallback;                //  Default, written as in a file; NULL: none (zero, "", empty list)
    size_t offset;                       //  Of the field in the struct of this table
    int64_t min;                         //  Least number; both 0: no bounds
    int64_t max;                         //  Greatest number
    const char *const *words;            //  OPTION_ENUM: the words, NULL-terminated
    const option_refusal_t *refusals;    //  OPTION_ENUM: other words that people try, NULL-terminated; NULL: none
    const option_t *table;               //  Section, list, include: the rows inside
    size_t size;                         //  List: bytes of one element
    const char *flag;       //  Its name on the command line, "port"; NULL: where it stands, "frontend-port"
    char letter;            //  One-letter flag, 'o'; 0: none
    uint8_t traits;         //  OPTION_REQUIRED, OPTION_LIVE, OPTION_HIDDEN
    const char *doc;        //  What it does: one sentence
    const char *advice;     //  When to change it; NULL: nothing to say
    const char *example;    //  A value worth showing; NULL: the default is
};

#define OPTIONS_END  \
    {                \
        .name = NULL \
    }

typedef struct {
    const char *const *items;    //  Strings, with a NULL behind the last; NULL where nothing was said
    size_t count;                //  How many
} option_strings_t;

typedef struct {
    void *items;     //  Structs
    size_t count;    //  How many
} option_list_t;

//  What filling needs beside the input.
typedef struct {
    arena_t *memory;                //  What the fields will point to
    complaints_t *complaints;       //  What is wrong with the input
    const config_world_t *world;    //  For `file:PATH`; may be NULL
} option_context_t;

//  A table and the struct it describes.
typedef struct {
    const option_t *table;    //  What can be set
    void *fields;             //  Where it is kept
} option_target_t;

//  Sets every field to its default.  A default that cannot be read is a bug.
void option_set_defaults (option_target_t target, option_context_t *context);

//  Sets the fields that a section of a file names, lists as a whole; complains about keys that no row has, with what was
//  probably meant, and about values that cannot be.  path: of the section ("workers[0]"), "" for the file.
void option_read_section (
    option_target_t target, const config_node_t *node, const char *path, option_context_t *context);

//  Sets the fields that flags name: `--router-mode kv`, `--router-mode=kv`, `--json`, `--no-json`; a row `mode` of the
//  section `router` is `--router-mode` unless it says another flag, a row in a list has none.  Words that are no flags, and
//  all behind `--`, go to `rest` (const char *).  words: borrowed as long as the fields are used.
void option_read_arguments (const option_target_t *targets, size_t target_count, const char *const *words, size_t count,
    array_t *rest, option_context_t *context);

//  One flag a line, with what it does and its default.
void option_print_help (const option_t *table, buffer_t *out);

//  A configuration file.  fields NULL: the defaults with all comments (the shipped file); else what the struct holds,
//  without comments, secrets left out.
void option_print_config (option_target_t target, buffer_t *out);

//  What the struct holds, secrets included: for a file that only its owner can read.
void option_print_secrets (option_target_t target, buffer_t *out);

//  Markdown: a heading and a table for each section, beginning at heading level `level`.
void option_print_manual (const option_t *table, unsigned level, buffer_t *out);

//  A key that differs; a list counts as a whole.  path: "router.mode".
typedef void (option_change_fn) (void *arg, const char *path, const option_t *row);

//  Says what differs between two structs of a table.  path: of the table's section, "" for the file.
void option_compare (const option_t *table, const void *before, const void *after, const char *path,
    option_change_fn *on_change, void *arg);

//  Checks a table for mistakes of ours: defaults that cannot be read, missing sentences, names twice.  False, and why.
bool option_table_is_sound (const option_t *table, error_t *error);

#endif
