//  What the model brings: the front of its GGUF file, as far as the vocabulary reaches, and the chat template that the
//  server uses, which need not be the file's own.
//
//  The server says where the file is; where this process sees it elsewhere, the configuration says so.  Without the file
//  the server makes the prompts.  It is large and may lie on another machine: a job reads it.

#include <string.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "model/gguf.h"
#include "workers/llamacpp/llamacpp_private.h"

enum { FRONT_MIN = 1 << 20, FRONT_MAX = 256 << 20, GROWTH = 4 };

struct files_reading {
    engine_t *engine;       //  For whom; NULL: it is closed
    files_done_fn *done;    //  Told
    port_t *port;           //  Of the actor
    char *path;             //  Of the model file
    buffer_t front;         //  As far as the metadata reach
    status_t status;        //  How it went
    error_t error;          //  Why not
};

//  Of the first bytes of the file.  STATUS_AGAIN: the metadata reach further.
static status_t
s_read_part (files_reading_t *self, size_t size, buffer_t *bytes)
{
    gguf_t gguf;
    buffer_clear (bytes);
    status_t status = self->port->table->file_read_front (self->port, self->path, size, bytes, &self->error);
    if (status)
        return status;
    status = gguf_init (&gguf, buffer_span (bytes), &self->error);
    if (status)
        return status == STATUS_INVALID && bytes->size == size ? STATUS_AGAIN
                                                               : error_prefix (&self->error, "%s", self->path);
    buffer_append (&self->front, span_slice (buffer_span (bytes), 0, gguf.end));
    gguf_fini (&gguf);
    return STATUS_OK;
}

//  Work.
static void
s_read_front (void *data)
{
    files_reading_t *self = data;
    buffer_t bytes = { 0 };
    self->status = STATUS_AGAIN;
    for (size_t size = FRONT_MIN; self->status == STATUS_AGAIN && size <= FRONT_MAX; size *= GROWTH)
        self->status = s_read_part (self, size, &bytes);
    if (self->status == STATUS_AGAIN)
        self->status =
            error_set (&self->error, STATUS_LIMIT, "%s: more than %d bytes of metadata", self->path, FRONT_MAX);
    buffer_fini (&bytes);
}

//  llama-server tells every template that thinking is wanted and what day it is, and puts the token that begins a text
//  where the template did not.
static void
s_write_engine (engine_t *self)
{
    json_writer_t json;
    buffer_clear (&self->habits);
    json_writer_init (&json, &self->habits);
    json_write_begin_object (&json);
    json_write_key (&json, "variables");
    json_write_raw (&json, SPAN ("{\"enable_thinking\":true}"));
    json_write_key (&json, "rendered");
    json_write_raw (&json, SPAN ("{\"date_string\":\"{{ strftime_now('%d %b %Y') }}\"}"));
    if (self->begins) {
        json_write_key (&json, "begin");
        json_write_string (&json, buffer_span (&self->facts.bos));
    }
    json_write_end_object (&json);
}

void
llamacpp_files_get (const engine_t *self, span_t files [BUNDLE_FILES])
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        files [i] = SPAN ("");
    if (!self->front.size)
        return;
    files [BUNDLE_GGUF] = buffer_span (&self->front);
    files [BUNDLE_TEMPLATE] = buffer_span (&self->chat_template);
    files [BUNDLE_ENGINE] = buffer_span (&self->habits);
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

static void
s_take_nothing (engine_t *self, files_done_fn *done, const error_t *why)
{
    buffer_clear (&self->front);
    if (why)
        actor_log (self->actor, LOG_INFO, "frontends leave prompts to the engine: %s", why->text);
    done (self, false);
}

static void
s_take (engine_t *self, files_reading_t *reading)
{
    buffer_fini (&self->front);
    self->front = reading->front;
    reading->front = (buffer_t){ 0 };
    buffer_clear (&self->chat_template);
    buffer_append (&self->chat_template, buffer_span (&self->facts.chat_template));
    s_write_engine (self);
    reading->done (self, true);
}

static void
s_on_read (void *arg, void *data)
{
    files_reading_t *self = arg;
    engine_t *engine = self->engine;
    if (engine) {
        engine->reading = NULL;
        if (self->status)
            s_take_nothing (engine, self->done, &self->error);
        else
            s_take (engine, self);
    }
    buffer_fini (&self->front);
    memory_free (self->path);
    memory_free (self);
}

static void
s_start (engine_t *self, const char *path, files_done_fn *done)
{
    port_t *port = actor_port (self->actor);
    files_reading_t *reading = memory_new (sizeof *reading);
    *reading =
        (files_reading_t){ .engine = self, .done = done, .port = port, .path = memory_copy (path, strlen (path)) };
    self->reading = reading;
    port->table->job_start (port, s_read_front, s_on_read, reading, reading);
}

void
llamacpp_files_read (engine_t *self, files_done_fn *done)
{
    const char *path = self->options.model_file && *self->options.model_file ? self->options.model_file
                                                                             : buffer_string (&self->facts.path);
    error_t error;
    if (!self->facts.chat_template.size) {
        s_take_nothing (self, done, NULL);
    } else if (*path != '/') {
        error_set (&error, STATUS_INVALID, "the server's path \"%.200s\" is not absolute", path);
        s_take_nothing (self, done, &error);
    } else
        s_start (self, path, done);
}

void
llamacpp_files_drop (engine_t *self)
{
    if (self->reading)
        self->reading->engine = NULL;
    self->reading = NULL;
}
