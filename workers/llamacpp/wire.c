#include "workers/llamacpp/wire.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"

//  ---- Writing -------------------------------------------------------------------------------------------------------

static void
s_write_tokens (json_writer_t *json, column_t tokens)
{
    json_write_begin_array (json);
    for (size_t i = 0; i < tokens.count; i++)
        json_write_u64 (json, column_u32 (tokens, i));
    json_write_end_array (json);
}

static void
s_write_double (json_writer_t *json, const char *key, bool has, double value)
{
    if (!has)
        return;
    json_write_key (json, key);
    json_write_double (json, value);
}

static void
s_write_u64 (json_writer_t *json, const char *key, uint64_t value)
{
    json_write_key (json, key);
    json_write_u64 (json, value);
}

static void
s_write_true (json_writer_t *json, const char *key)
{
    json_write_key (json, key);
    json_write_bool (json, true);
}

static uint32_t
s_seed (int64_t seed)
{
    uint32_t low = (uint32_t)(uint64_t)seed;
    return low == UINT32_MAX ? 0 : low;
}

//  Stop tokens are not the server's: the adapter looks for them.
static void
s_write_sampling (json_writer_t *json, const sampling_t *sampling)
{
    s_write_double (json, "temperature", sampling->has_temperature, sampling->temperature);
    s_write_double (json, "top_p", sampling->has_top_p, sampling->top_p);
    s_write_double (json, "min_p", sampling->has_min_p, sampling->min_p);
    s_write_double (json, "frequency_penalty", sampling->has_frequency_penalty, sampling->frequency_penalty);
    s_write_double (json, "presence_penalty", sampling->has_presence_penalty, sampling->presence_penalty);
    s_write_double (json, "repeat_penalty", sampling->has_repetition_penalty, sampling->repetition_penalty);
    if (sampling->has_top_k) {
        json_write_key (json, "top_k");
        json_write_i64 (json, sampling->top_k);
    }
    if (sampling->has_seed)
        s_write_u64 (json, "seed", s_seed (sampling->seed));
    if (sampling->has_ignore_eos && sampling->ignore_eos)
        s_write_true (json, "ignore_eos");
    if (!sampling->stop_count)
        return;
    json_write_key (json, "stop");
    json_write_begin_array (json);
    for (size_t i = 0; i < sampling->stop_count; i++)
        if (sampling->stop [i].size)
            json_write_string (json, sampling->stop [i]);
    json_write_end_array (json);
}

void
wire_write_completion (buffer_t *out, const engine_request_t *request, uint32_t slot)
{
    static const char *const fields [] = { "content", "tokens", "stop", "stop_type", "stopping_word",
        "tokens_predicted", "tokens_evaluated", "tokens_cached", "timings/cache_n" };
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "prompt");
    s_write_tokens (&json, request->tokens);
    s_write_u64 (&json, "id_slot", slot);
    s_write_u64 (&json, "n_predict", request->max_tokens);
    s_write_true (&json, "stream");
    s_write_true (&json, "cache_prompt");
    s_write_true (&json, "return_tokens");
    s_write_true (&json, "return_progress");
    json_write_key (&json, "response_fields");
    json_write_begin_array (&json);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_write_string (&json, span_from_string (fields [i]));
    json_write_end_array (&json);
    s_write_sampling (&json, request->sampling);
    json_write_end_object (&json);
}

void
wire_write_tokenize (buffer_t *out, span_t text, bool begin)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "content");
    json_write_string (&json, text);
    json_write_key (&json, "add_special");
    json_write_bool (&json, begin);
    s_write_true (&json, "parse_special");
    json_write_end_object (&json);
}

//  ---- Errors --------------------------------------------------------------------------------------------------------

static status_t
s_read_error (const json_t *object, int code, error_t *error)
{
    span_t message = json_string (json_get (object, "message"));
    span_t type = json_string (json_get (object, "type"));
    status_t status = STATUS_INTERNAL;
    if (span_equal_string (type, "exceed_context_size_error"))
        status = STATUS_LIMIT;
    else if (code == 503)
        status = STATUS_AGAIN;
    else if (code == 401 || code == 403)
        status = STATUS_REFUSED;
    else if (code >= 400 && code < 500)
        status = STATUS_INVALID;
    if (message.size)
        return error_set (error, status, "the engine says: %.*s", SPAN_ARG (message));
    return error_set (error, status, "the engine answered with HTTP status %d", code);
}

status_t
wire_read_error (int code, span_t body, error_t *error)
{
    json_t *json = NULL;
    if (json_parse (body, &json, NULL))
        json = NULL;
    status_t status = s_read_error (json_get (json, "error"), code, error);
    json_destroy (&json);
    return status;
}

//  ---- Chunks --------------------------------------------------------------------------------------------------------

void
wire_chunk_init (wire_chunk_t *self)
{
    memset (self, 0, sizeof *self);
    array_init (&self->tokens, sizeof (uint32_t));
    array_init (&self->sizes, sizeof (uint32_t));
}

void
wire_chunk_fini (wire_chunk_t *self)
{
    array_fini (&self->tokens);
    array_fini (&self->sizes);
    buffer_fini (&self->text);
    buffer_fini (&self->stop_string);
}

static void
s_clear (wire_chunk_t *self)
{
    wire_chunk_t empty = {
        .tokens = self->tokens, .sizes = self->sizes, .text = self->text, .stop_string = self->stop_string
    };
    *self = empty;
    array_cut (&self->tokens, 0);
    array_cut (&self->sizes, 0);
    buffer_clear (&self->text);
    buffer_clear (&self->stop_string);
}

static status_t
s_append_tokens (const json_t *list, array_t *tokens, error_t *error)
{
    for (size_t i = 0; i < json_count (list); i++) {
        uint64_t token = 0;
        if (!json_to_u64 (json_at (list, i), &token) || token > UINT32_MAX)
            return error_set (error, STATUS_INVALID, "the engine sent a token that is no number");
        array_append (tokens, &(uint32_t){ (uint32_t)token }, 1);
    }
    return STATUS_OK;
}

//  The text of a chunk belongs to its last token; the last chunk has neither.
static status_t
s_read_tokens (wire_chunk_t *self, const json_t *json, error_t *error)
{
    span_t text = json_string (json_get (json, "content"));
    if (s_append_tokens (json_get (json, "tokens"), &self->tokens, error))
        return error->status;
    array_append (&self->sizes, NULL, self->tokens.count);
    if (!self->tokens.count)
        return STATUS_OK;
    buffer_append (&self->text, text);
    *(uint32_t *)array_at (&self->sizes, self->sizes.count - 1) = (uint32_t)text.size;
    return STATUS_OK;
}

static void
s_read_stop (wire_chunk_t *self, const json_t *json)
{
    span_t type = json_string (json_get (json, "stop_type"));
    self->stop = true;
    self->reason = span_equal_string (type, "limit") ? FINISH_REASON_LENGTH : FINISH_REASON_STOP;
    buffer_append (&self->stop_string, json_string (json_get (json, "stopping_word")));
    json_to_u64 (json_get (json, "tokens_evaluated"), &self->prompt_tokens);
    json_to_u64 (json_get (json, "tokens_predicted"), &self->predicted);
    if (!json_to_u64 (json_get (json, "tokens_cached"), &self->in_slot))
        self->in_slot = SIZE_MAX;
    self->has_reused = json_to_u64 (json_get (json, "timings/cache_n"), &self->reused) ||
                       json_to_u64 (json_get_path (json, "timings.cache_n"), &self->reused);
}

static status_t
s_read_object (wire_chunk_t *self, const json_t *json, error_t *error)
{
    const json_t *failure = json_get (json, "error");
    const json_t *progress = json_get (json, "prompt_progress");
    if (failure) {
        int64_t code = 500;
        json_to_i64 (json_get (failure, "code"), &code);
        self->failed = true;
        s_read_error (failure, (int)code, &self->error);
        return STATUS_OK;
    }
    if (progress) {
        self->has_progress = true;
        json_to_u64 (json_get (progress, "cache"), &self->cached);
        json_to_u64 (json_get (progress, "processed"), &self->processed);
        return STATUS_OK;
    }
    if (json_kind (json_get (json, "stop")) != JSON_BOOL)
        return error_set (error, STATUS_INVALID, "the engine sent an event that is no part of an answer");
    if (json_is_true (json_get (json, "stop")))
        s_read_stop (self, json);
    return s_read_tokens (self, json, error);
}

status_t
wire_read_chunk (wire_chunk_t *self, span_t data, error_t *error)
{
    s_clear (self);
    json_t *json = NULL;
    error_t unasked;
    error = error ? error : &unasked;
    if (json_parse (data, &json, error))
        return error_prefix (error, "the engine's event");
    status_t status = s_read_object (self, json, error);
    json_destroy (&json);
    return status;
}

//  ---- Short answers -------------------------------------------------------------------------------------------------

static status_t
s_parse (span_t body, json_t **json, error_t *error)
{
    status_t status = json_parse (body, json, error);
    return status ? error_prefix (error, "the engine's answer") : STATUS_OK;
}

status_t
wire_read_prompt (span_t body, buffer_t *out, error_t *error)
{
    json_t *json = NULL;
    if (s_parse (body, &json, error))
        return STATUS_INTERNAL;
    const json_t *prompt = json_get (json, "prompt");
    status_t status = STATUS_OK;
    if (json_kind (prompt) == JSON_STRING)
        buffer_append (out, json_string (prompt));
    else
        status = error_set (error, STATUS_INTERNAL, "the engine's answer has no prompt");
    json_destroy (&json);
    return status;
}

//  [1, 2, 3]
static status_t
s_read_list (span_t list, buffer_t *out, error_t *error)
{
    list = span_trim (span_slice (list, 1, list.size - 2));
    while (list.size) {
        uint64_t token;
        size_t size = span_find_byte (list, ',');
        if (!span_to_u64 (span_trim (span_slice (list, 0, size)), &token) || token > UINT32_MAX)
            return error_set (error, STATUS_INTERNAL, "the engine's answer has a token that is no number");
        buffer_append_u32_le (out, (uint32_t)token);
        list = span_slice (list, size + 1, list.size);
    }
    return STATUS_OK;
}

//  There may be millions of them, and a tree would take twenty times as much.
status_t
wire_read_tokens (span_t body, buffer_t *out, error_t *error)
{
    span_t list = { 0 };
    if (!json_recognize_member (body, SPAN ("tokens"), &list) || !list.size || list.data [0] != '[')
        return error_set (error, STATUS_INTERNAL, "the engine's answer has no tokens");
    return s_read_list (list, out, error);
}

//  ---- Facts ---------------------------------------------------------------------------------------------------------

void
wire_facts_fini (wire_facts_t *self)
{
    buffer_fini (&self->model);
    buffer_fini (&self->version);
    buffer_fini (&self->path);
    buffer_fini (&self->chat_template);
    buffer_fini (&self->bos);
    *self = (wire_facts_t){ 0 };
}

//  The file's name without its folder, which differs from machine to machine.
static span_t
s_file_name (span_t path)
{
    size_t start = path.size;
    while (start > 0 && path.data [start - 1] != '/')
        start--;
    return span_slice (path, start, SIZE_MAX);
}

static void
s_mix (wire_facts_t *self, span_t part)
{
    self->fingerprint = hash_bytes (part, self->fingerprint ^ part.size);
}

status_t
wire_read_props (wire_facts_t *self, span_t body, error_t *error)
{
    json_t *json = NULL;
    if (s_parse (body, &json, error))
        return STATUS_INTERNAL;
    status_t status = STATUS_OK;
    if (!json_to_u64 (json_get (json, "total_slots"), &self->slots) ||
        !json_to_u64 (json_get_path (json, "default_generation_settings.n_ctx"), &self->context) || self->slots == 0 ||
        self->slots > UINT16_MAX || self->context < 2 || self->context > UINT32_MAX)
        status =
            error_set (error, STATUS_UNSUPPORTED, "the engine's /props do not say how many slots of how many tokens");
    buffer_append (&self->version, json_string (json_get (json, "build_info")));
    buffer_append (&self->path, json_string (json_get (json, "model_path")));
    buffer_append (&self->chat_template, json_string (json_get (json, "chat_template")));
    buffer_append (&self->bos, json_string (json_get (json, "bos_token")));
    s_mix (self, s_file_name (json_string (json_get (json, "model_path"))));
    s_mix (self, json_string (json_get (json, "chat_template")));
    s_mix (self, json_string (json_get (json, "bos_token")));
    s_mix (self, json_string (json_get (json, "eos_token")));
    json_destroy (&json);
    return status;
}

status_t
wire_read_models (wire_facts_t *self, span_t body, error_t *error)
{
    static const char *const facts [] = { "vocab_type", "n_vocab", "n_embd", "n_params", "size", "ftype" };
    json_t *json = NULL;
    if (s_parse (body, &json, error))
        return STATUS_INTERNAL;
    const json_t *models = json_get (json, "data");
    const json_t *model = json_count (models) ? json_at (models, 0) : NULL;
    const json_t *meta = json_get (model, "meta");
    status_t status = STATUS_OK;
    span_t name = json_string (json_get (model, "id"));
    if (name.size)
        buffer_append (&self->model, name);
    else
        status = error_set (error, STATUS_UNSUPPORTED, "the engine's /v1/models do not name a model");
    buffer_t text = { 0 };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        buffer_clear (&text);
        json_render (json_get (meta, facts [i]), &text);
        s_mix (self, buffer_span (&text));
    }
    buffer_fini (&text);
    json_destroy (&json);
    return status;
}
