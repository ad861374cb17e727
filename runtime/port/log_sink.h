//  log_sink - where log lines of all actors of a process go
//
//  A line is written at once or not at all, and nobody ever waits: what a full pipe or a stopped terminal does not take
//  is counted, and the count is told with the next line that gets through.  On a terminal a line gets time and level in
//  front; elsewhere it is one JSON object, which is how it is given or what it is wrapped into.
//
//  A file is shared with other processes, and each line is one write at its end.  Where a full disk took a part of a line, that
//  line is lost, and whoever writes next, in this process or another one, looks how the file ends and begins a new line behind
//  the part.  No process keeps others out between its look and its write: a process that is stopped there would stop them all.
//  So a line that another process writes just while one is torn may stand behind the part on the same line, unreadable with
//  it and not counted; and where two see the same part, or one sees another's line half written, an empty line stands between.
//
//  Thread-safe.

#ifndef RUNTIME_PORT_LOG_SINK_H
#define RUNTIME_PORT_LOG_SINK_H

#include "runtime/port.h"

typedef struct log_sink log_sink_t;

typedef enum { LOG_FORM_AUTO, LOG_FORM_HUMAN, LOG_FORM_JSON } log_form_t;

//  path: file to append to, made where it is missing; NULL for standard error.  level: lines below it are left out.
//  Gives the sink; NULL where the file cannot be opened.
log_sink_t *log_sink_new (const char *path, log_level_t level, log_form_t form, error_t *error);

//  Destroys the sink and nulls the caller's pointer.
void log_sink_destroy (log_sink_t **self_p);

//  Lines below the level are left out from now on.
void log_sink_set_level (log_sink_t *self, log_level_t level);

//  One line, without its newline.  wall_ns: when it was said.
void log_sink_write (log_sink_t *self, log_level_t level, uint64_t wall_ns, span_t line);

//  Whether lines are JSON.
bool log_sink_is_json (const log_sink_t *self);

//  The last line of a process whose log is JSON on standard error: an error, cut at some hundred bytes.  Takes no memory and
//  waits for nobody.
void log_sink_say_last (const char *sentence);

//  Lines that could not be written so far.
uint64_t log_sink_lost (log_sink_t *self);

#endif
