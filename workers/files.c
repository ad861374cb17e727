//  What the model brings, sent to whoever makes its prompts: file after file, as the reader's credit allows.

#include "base/memory.h"
#include "workers/worker_private.h"

enum { PART_MAX = 256 << 10, SENDINGS_MAX = 64 };

_Static_assert((int)MODEL_FILE_GGUF == (int)BUNDLE_GGUF && (int)MODEL_FILE_TOKENIZER == (int)BUNDLE_TOKENIZER &&
                   (int)MODEL_FILE_CONFIG == (int)BUNDLE_CONFIG && (int)MODEL_FILE_TEMPLATE == (int)BUNDLE_TEMPLATE &&
                   (int)MODEL_FILE_ENGINE == (int)BUNDLE_ENGINE && (int)MODEL_FILE_PROCESSOR == (int)BUNDLE_PROCESSOR &&
                   (int)MODEL_FILE_TEMPLATES == (int)BUNDLE_TEMPLATES,
    "files have the same numbers in a bundle and in messages");

//  One reader on its way through the files.
typedef struct {
    list_link_t link;        //  In the worker
    worker_t *worker;        //  Who sends
    incoming_t *incoming;    //  Who reads
    unsigned file;           //  Being sent
    size_t sent;             //  Bytes of it
} sending_t;

static void
s_on_free (void *arg)
{
    sending_t *self = arg;
    list_remove (&self->worker->sendings, &self->link);
    memory_free (self);
}

static void
s_send (sending_t *self)
{
    worker_t *worker = self->worker;
    span_t files [BUNDLE_FILES];
    worker->class->files (worker->engine, files);
    while (self->file < BUNDLE_FILES) {
        uint64_t room = incoming_credit (self->incoming) - incoming_position (self->incoming);
        span_t left = span_slice (files [self->file], self->sent, SIZE_MAX);
        if (left.size == 0) {
            self->file++;
            self->sent = 0;
            continue;
        }
        span_t part = span_slice (left, 0, room < PART_MAX ? (size_t)room : PART_MAX);
        if (part.size == 0)
            return;
        incoming_send (self->incoming, part.size, &(model_part_t){ .file = (model_file_t)self->file, .bytes = part });
        self->sent += part.size;
    }
    incoming_end (self->incoming, &(model_end_t){ 0 });
}

static void
s_on_credit (void *arg, incoming_t *incoming)
{
    s_send (arg);
}

static void
s_on_cancel (void *arg, incoming_t *incoming)
{
    incoming_fail (incoming, STATUS_CANCELLED, "cancelled");
}

static status_t
s_check (const worker_t *self, const fetch_model_t *request, error_t *error)
{
    if (!self->known)
        return error_set (error, STATUS_AGAIN, "the engine is not there yet");
    if (!self->class->files || !self->card.has_files || self->card.files != request->files)
        return error_set (error, STATUS_NOT_FOUND, "this worker does not have these files of the model");
    if (self->sendings.count >= SENDINGS_MAX)
        return error_set (error, STATUS_AGAIN, "%d readers of the model's files are the limit here", SENDINGS_MAX);
    return STATUS_OK;
}

void
files_on_fetch (void *self_, actor_t *actor, incoming_t *incoming, const void *message)
{
    worker_t *self = self_;
    error_t error;
    if (s_check (self, message, &error)) {
        incoming_fail (incoming, error.status, "%s", error.text);
        return;
    }
    sending_t *sending = memory_new (sizeof *sending);
    *sending = (sending_t){ .worker = self, .incoming = incoming };
    list_append (&self->sendings, &sending->link);
    incoming_watch (incoming, &(incoming_watch_t){ .on_cancel = s_on_cancel,
                                  .on_credit = s_on_credit,
                                  .on_free = s_on_free,
                                  .arg = sending,
                                  .patience_ns = self->options.read_timeout_ns });
    s_send (sending);
}

void
files_fail_all (worker_t *self, status_t status, const char *why)
{
    for (list_link_t *link; (link = list_first (&self->sendings));)
        incoming_fail (LIST_ENTRY (link, sending_t, link)->incoming, status, "%s", why);
}
