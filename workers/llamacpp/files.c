//  What the model brings: the front of its GGUF file, as far as the vocabulary reaches, and the chat template that the
//  server uses, which need not be the file's own.
//
//  The server says where the file is; where this process sees it elsewhere, the configuration says so.  Without the file
//  the server makes the prompts.

#include "base/json_writer.h"
#include "model/gguf.h"
#include "workers/llamacpp/llamacpp_private.h"

enum { FRONT_MIN = 1 << 20, FRONT_MAX = 256 << 20 };

//  Reads more and more of the file until all metadata are there.
static status_t
s_read_front (engine_t *self, const char *path, error_t *error)
{
    port_t *port = actor_port (self->actor);
    for (size_t size = FRONT_MIN; size <= FRONT_MAX; size *= 2) {
        gguf_t gguf;
        buffer_clear (&self->front);
        status_t status = port->table->file_read_front (port, path, size, &self->front, error);
        if (status)
            return status;
        status = gguf_init (&gguf, buffer_span (&self->front), error);
        if (!status) {
            self->front.size = gguf.end;
            gguf_fini (&gguf);
            return STATUS_OK;
        }
        if (status != STATUS_INVALID || self->front.size < size)
            return error_prefix (error, "%s", path);
    }
    return error_set (error, STATUS_LIMIT, "%s: more than %d bytes of metadata", path, FRONT_MAX);
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
files_get (const engine_t *self, span_t files [BUNDLE_FILES])
{
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        files [i] = SPAN ("");
    if (!self->front.size)
        return;
    files [BUNDLE_GGUF] = buffer_span (&self->front);
    files [BUNDLE_TEMPLATE] = buffer_span (&self->chat_template);
    files [BUNDLE_ENGINE] = buffer_span (&self->habits);
}

bool
files_read (engine_t *self)
{
    const char *path = self->options.model_file && *self->options.model_file ? self->options.model_file
                                                                             : buffer_string (&self->facts.path);
    error_t error;
    buffer_clear (&self->front);
    if (!self->facts.chat_template.size)
        return false;
    status_t status = *path == '/'
                          ? s_read_front (self, path, &error)
                          : error_set (&error, STATUS_INVALID, "the server's path \"%.200s\" is not absolute", path);
    if (status) {
        buffer_clear (&self->front);
        actor_log (self->actor, LOG_INFO, "frontends leave prompts to the engine: %s", error.text);
        return false;
    }
    buffer_clear (&self->chat_template);
    buffer_append (&self->chat_template, buffer_span (&self->facts.chat_template));
    s_write_engine (self);
    return true;
}
