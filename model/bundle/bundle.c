#include "model/bundle/bundle.h"

#include "base/hash.h"
#include "base/memory.h"
#include "model/gguf.h"

const char *const bundle_file_names [BUNDLE_FILES] = {
    [BUNDLE_TOKENIZER] = "tokenizer.json",
    [BUNDLE_CONFIG] = "tokenizer_config.json",
    [BUNDLE_TEMPLATE] = "chat_template.jinja",
};

typedef struct {
    const span_t *files;    //  By bundle_file_t
    bundle_t *bundle;       //  What is filled
    error_t *error;         //  The caller's
} loading_t;

//  ---- Templates -------------------------------------------------------------------------------------------------------

static status_t
s_compile (loading_t *self, span_t source, const char *origin, template_t **compiled)
{
    *compiled = template_compile (source, self->error);
    return *compiled ? STATUS_OK : error_prefix (self->error, "the chat template of %s", origin);
}

static status_t
s_take_plain (loading_t *self, span_t source, const char *origin)
{
    if (self->bundle->plain || source.size == 0)
        return STATUS_OK;
    buffer_append (&self->bundle->source, source);
    self->bundle->origin = origin;
    return s_compile (self, source, origin, &self->bundle->plain);
}

static status_t
s_take_with_tools (loading_t *self, span_t source, const char *origin)
{
    if (self->bundle->plain || self->bundle->with_tools || source.size == 0)
        return STATUS_OK;
    return s_compile (self, source, origin, &self->bundle->with_tools);
}

//  A list of {"name", "template"}, or one template.
static status_t
s_take_listed (loading_t *self, const json_t *list, const char *origin)
{
    span_t plain = json_string (list), with_tools = { 0 };
    for (size_t i = 0; i < json_count (list); i++) {
        span_t name = json_string (json_get (json_at (list, i), "name"));
        span_t source = json_string (json_get (json_at (list, i), "template"));
        if (span_equal_string (name, "default") || json_count (list) == 1)
            plain = source;
        else if (span_equal_string (name, "tool_use"))
            with_tools = source;
    }
    status_t status = s_take_with_tools (self, with_tools, origin);
    return status ? status : s_take_plain (self, plain, origin);
}

//  ---- Hugging Face ----------------------------------------------------------------------------------------------------

//  A token in tokenizer_config.json: its text, or an object with it.
static void
s_take_token (const json_t *token, buffer_t *text)
{
    buffer_append (text, json_string (json_kind (token) == JSON_OBJECT ? json_get (token, "content") : token));
}

static status_t
s_read_config (loading_t *self)
{
    static const char origin [] = "tokenizer_config.json";
    json_t *config = NULL;
    if (self->files [BUNDLE_CONFIG].size == 0)
        return STATUS_OK;
    if (json_parse (self->files [BUNDLE_CONFIG], &config, self->error))
        return error_prefix (self->error, origin);
    s_take_token (json_get (config, "bos_token"), &self->bundle->bos);
    s_take_token (json_get (config, "eos_token"), &self->bundle->eos);
    status_t status = s_take_listed (self, json_get (config, "chat_template"), origin);
    json_destroy (&config);
    return status;
}

//  The types of a pre-tokenizer and of those in it.
static void
s_name_cutting (const json_t *step, buffer_t *out)
{
    const json_t *inner = json_get (step, "pretokenizers");
    for (size_t i = 0; i < json_count (inner); i++)
        s_name_cutting (json_at (inner, i), out);
    if (inner || !step)
        return;
    buffer_append_string (out, out->size ? ", " : "");
    buffer_append (out, json_string (json_get (step, "type")));
}

static status_t
s_load_folder (loading_t *self)
{
    bundle_t *bundle = self->bundle;
    span_t file = self->files [BUNDLE_TOKENIZER];
    json_t *tokenizer = NULL;
    status_t status = tokenizer_load_json (file, &bundle->tokenizer, self->error);
    if (!status)
        status = json_parse (file, &tokenizer, self->error);
    if (status)
        return status;
    buffer_append (&bundle->vocabulary, json_string (json_get_path (tokenizer, "model.type")));
    s_name_cutting (json_get (tokenizer, "pre_tokenizer"), &bundle->cutting);
    json_destroy (&tokenizer);
    return s_read_config (self);
}

//  ---- GGUF ------------------------------------------------------------------------------------------------------------

static void
s_take_numbered (const gguf_t *gguf, const char *key, buffer_t *text)
{
    uint64_t id;
    const gguf_entry_t *tokens = gguf_array (gguf, "tokenizer.ggml.tokens", GGUF_STRING);
    span_t token;
    if (!tokens || !gguf_u64 (gguf, key, &id))
        return;
    for (size_t cursor = 0; gguf_next_string (tokens, &cursor, &token); id--)
        if (id == 0) {
            buffer_append (text, token);
            return;
        }
}

static status_t
s_load_gguf (loading_t *self)
{
    static const char origin [] = "GGUF";
    bundle_t *bundle = self->bundle;
    gguf_t gguf;
    status_t status = tokenizer_load_gguf (self->files [BUNDLE_GGUF], &bundle->tokenizer, self->error);
    if (!status)
        status = gguf_init (&gguf, self->files [BUNDLE_GGUF], self->error);
    if (status)
        return status;
    buffer_append (&bundle->name, gguf_string (&gguf, "general.name"));
    buffer_append (&bundle->vocabulary, gguf_string (&gguf, "tokenizer.ggml.model"));
    buffer_append (&bundle->cutting, gguf_string (&gguf, "tokenizer.ggml.pre"));
    s_take_numbered (&gguf, "tokenizer.ggml.bos_token_id", &bundle->bos);
    s_take_numbered (&gguf, "tokenizer.ggml.eos_token_id", &bundle->eos);
    status = s_take_with_tools (self, gguf_string (&gguf, "tokenizer.chat_template.tool_use"), origin);
    if (!status)
        status = s_take_plain (self, gguf_string (&gguf, "tokenizer.chat_template"), origin);
    gguf_fini (&gguf);
    return status;
}

//  ---- The whole -------------------------------------------------------------------------------------------------------

static status_t
s_read_engine (loading_t *self)
{
    json_t *engine = NULL;
    if (self->files [BUNDLE_ENGINE].size == 0)
        return STATUS_OK;
    if (json_parse (self->files [BUNDLE_ENGINE], &engine, self->error))
        return error_prefix (self->error, "what the engine does");
    self->bundle->variables = json_share (json_get (engine, "variables"));
    self->bundle->rendered = json_share (json_get (engine, "rendered"));
    buffer_append (&self->bundle->begin, json_string (json_get (engine, "begin")));
    json_destroy (&engine);
    return STATUS_OK;
}

//  A token of its own kind: many vocabularies have, say, ">>>" among their words.
static bool
s_has_token (void *context, span_t token)
{
    const tokenizer_t *tokenizer = ((const bundle_t *)context)->tokenizer;
    uint32_t id = tokenizer_find (tokenizer, token);
    return id != TOKEN_NONE && (tokenizer_is_special (tokenizer, id) || tokenizer_is_seam (tokenizer, id));
}

static status_t
s_load (loading_t *self)
{
    status_t status = s_take_plain (self, self->files [BUNDLE_TEMPLATE], bundle_file_names [BUNDLE_TEMPLATE]);
    if (status)
        return status;
    if (self->files [BUNDLE_GGUF].size)
        status = s_load_gguf (self);
    else if (self->files [BUNDLE_TOKENIZER].size)
        status = s_load_folder (self);
    else
        status = error_set (self->error, STATUS_INVALID, "there is neither a GGUF file nor a tokenizer.json");
    if (!status)
        status = s_read_engine (self);
    if (!status)
        self->bundle->format = parser_choose (buffer_span (&self->bundle->source), s_has_token, self->bundle);
    return status;
}

status_t
bundle_load (const span_t files [BUNDLE_FILES], bundle_t **self, error_t *error)
{
    loading_t loading = { .files = files, .bundle = memory_new (sizeof (bundle_t)), .error = error };
    status_t status = s_load (&loading);
    if (status)
        bundle_destroy (&loading.bundle);
    else
        *self = loading.bundle;
    return status;
}

void
bundle_destroy (bundle_t **self_p)
{
    bundle_t *self = *self_p;
    if (!self)
        return;
    buffer_t *const texts [] = { &self->source, &self->name, &self->vocabulary, &self->cutting, &self->bos, &self->eos,
        &self->begin };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        buffer_fini (texts [i]);
    json_destroy (&self->variables);
    json_destroy (&self->rendered);
    template_destroy (&self->plain);
    template_destroy (&self->with_tools);
    tokenizer_destroy (&self->tokenizer);
    memory_free (self);
    *self_p = NULL;
}

uint64_t
bundle_fingerprint (const span_t files [BUNDLE_FILES])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        hash = hash_bytes (files [i], hash ^ files [i].size);
    return hash;
}

//  ---- Rendering -------------------------------------------------------------------------------------------------------

static void
s_put_missing (json_t *conversation, const char *key, json_t *value)
{
    if (json_get (conversation, key))
        json_destroy (&value);
    else
        json_put (conversation, key, value);
}

//  What a small template says now.
static status_t
s_put_rendered (json_t *conversation, const char *name, span_t source, const template_input_t *input, error_t *error)
{
    buffer_t text = { 0 };
    template_t *template = json_get (conversation, name) ? NULL : template_compile (source, error);
    if (!template)
        return json_get (conversation, name) ? STATUS_OK : error_prefix (error, "variable %s", name);
    status_t status = template_render (template, input, &text, NULL, error);
    if (!status)
        json_put (conversation, name, json_new_string (buffer_span (&text)));
    template_destroy (&template);
    buffer_fini (&text);
    return status;
}

static status_t
s_put_all_rendered (const bundle_t *self, json_t *conversation, int64_t now_s, uint64_t steps_max, error_t *error)
{
    json_t *empty = json_new_object ();
    template_input_t input = { .context = empty, .now_s = now_s, .steps_max = steps_max };
    uintptr_t cursor = 0;
    span_t key;
    const json_t *source;
    char name [64];
    status_t status = STATUS_OK;
    while (!status && json_next (self->rendered, &cursor, &key, &source))
        if (span_copy_string (key, name, sizeof name))
            status = s_put_rendered (conversation, name, json_string (source), &input, error);
    json_destroy (&empty);
    return status;
}

static void
s_put_variables (const bundle_t *self, json_t *conversation)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    char name [64];
    s_put_missing (conversation, "bos_token", json_new_string (buffer_span (&self->bos)));
    s_put_missing (conversation, "eos_token", json_new_string (buffer_span (&self->eos)));
    s_put_missing (conversation, "add_generation_prompt", json_new_bool (true));
    while (json_next (self->variables, &cursor, &key, &value))
        if (span_copy_string (key, name, sizeof name))
            s_put_missing (conversation, name, json_share (value));
}

status_t
bundle_render (
    const bundle_t *self, json_t *conversation, int64_t now_s, uint64_t steps_max, buffer_t *out, error_t *error)
{
    bool has_tools = self->with_tools && json_count (json_get (conversation, "tools"));
    const template_t *chosen = has_tools ? self->with_tools : self->plain;
    if (!chosen)
        return error_set (error, STATUS_UNSUPPORTED, "the model has no chat template");
    s_put_variables (self, conversation);
    status_t status = s_put_all_rendered (self, conversation, now_s, steps_max, error);
    if (status)
        return status;
    buffer_t prompt = { 0 };
    template_input_t input = { .context = conversation, .now_s = now_s, .steps_max = steps_max };
    status = template_render (chosen, &input, &prompt, NULL, error);
    if (!status && !span_starts_with (buffer_span (&prompt), buffer_span (&self->begin)))
        buffer_append (out, buffer_span (&self->begin));
    if (!status)
        buffer_append (out, buffer_span (&prompt));
    buffer_fini (&prompt);
    return status;
}
