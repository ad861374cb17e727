//  bench - what the verbs of `stator bench` share
//
//  A bench measures one thing and prints cells: a cell is one JSON object on a line of its own, `bench` and `cell` first,
//  then absolute figures, and `ratio` where it ran beside something to compare with.  A figure's key ends with its unit.
//  What others on the machine do must not show: figures are processor time, memory and counts; a wall clock is read only
//  where the cell is about waiting.
//
//  A new bench is a file bench_NAME.c with a bench_t in it, its name below, and its row in bench.c.

#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <semaphore.h>

#include "base/json_writer.h"
#include "base/suggest.h"
#include "cli/command.h"

enum { BENCH_CELLS = 16 };    //  The words_max of a bench whose words name cells, by bench_wants

//  What became of such a word.
typedef struct {
    bool named;           //  A cell
    suggest_t suggest;    //  The cell that may have been meant
} bench_word_t;

//  A bench as it was asked for.
typedef struct {
    const char *const *words;    //  What stands behind its name; borrowed
    size_t count;                //  How many
    bool quick;                  //  As little work as shows that it works: the figures mean nothing
    bool verify;                 //  Whether to compare answers too
    const char *stream;          //  File with a recorded stream; "" for none
    const char *program;         //  Path of this program
    bench_word_t *cells;         //  One a word, where words name cells
    bool offering;    //  Nothing is measured: cells are asked for only to say which one a word may have meant
} bench_run_t;

typedef struct {
    const char *name;         //  "tokenizer"
    const char *arguments;    //  "MODEL TEXT"; "" for none
    const char *doc;          //  One sentence: what is measured, beside what
    size_t words_min;         //  Words it needs
    size_t words_max;         //  Words it takes
    //  Measures and prints.  It fails where something that must hold does not; no figure makes it fail.  STATUS_INVALID for
    //  a wrong command line.
    status_t (*run) (const bench_run_t *run, error_t *error);
} bench_t;

extern const bench_t bench_fanout;
extern const bench_t bench_hop;
extern const bench_t bench_http;
extern const bench_t bench_idle;
extern const bench_t bench_index;
extern const bench_t bench_memo;
extern const bench_t bench_parser;
extern const bench_t bench_route;
extern const bench_t bench_template;
extern const bench_t bench_tokenizer;

//  ---- Cells ---------------------------------------------------------------------------------------------------------

typedef struct {
    buffer_t text;         //  The line
    json_writer_t json;    //  To it
} bench_cell_t;

//  Begins the cell `name` of a bench; bench_cell_print ends it, which prints the line at once.
void bench_cell_begin (bench_cell_t *self, const bench_t *bench, const char *name);
void bench_cell_print (bench_cell_t *self);

void bench_cell_text (bench_cell_t *self, const char *key, const char *value);
void bench_cell_count (bench_cell_t *self, const char *key, uint64_t value);

//  A measured number, to four digits: more of them were never measured.
void bench_cell_figure (bench_cell_t *self, const char *key, double value);

//  Appends `ratio`: ours / theirs.
void bench_cell_ratio (bench_cell_t *self, double ours, double theirs);

//  For benches whose words name cells: is this one wanted?  A word stands for all cells that begin with it; without words
//  all are.  A word that stands for none makes `stator bench` fail in the end.
bool bench_wants (const bench_run_t *run, const char *cell);

//  ---- Measuring -----------------------------------------------------------------------------------------------------

//  What one call or message took, in us.
typedef struct {
    double cpu;     //  Processor time of what is measured
    double wall;    //  Time passed
} bench_cost_t;

//  Keeps the least of each; in the first round, what there is.
void bench_cost_keep_least (bench_cost_t *least, const bench_cost_t *cost, bool first);

//  Seconds that all threads of this process have computed; seconds that pass.
double bench_seconds (void);
double bench_wall_seconds (void);

//  Lets time pass.
void bench_wait (double seconds);

//  Waits for another thread to post.  STATUS_DEADLINE where it does not.
status_t bench_await (sem_t *semaphore, unsigned seconds, error_t *error);

//  ---- Folders -------------------------------------------------------------------------------------------------------

enum { BENCH_FOLDER_MAX = 64 };

//  Makes a folder under TMPDIR, else under /tmp, for as long as a bench runs; removes it with all that is in it.
status_t bench_folder_make (char folder [BENCH_FOLDER_MAX], error_t *error);
void bench_folder_remove (const char *folder);

#endif
