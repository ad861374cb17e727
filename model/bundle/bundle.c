#include "model/bundle/templates.h"

#include "base/hash.h"
#include "base/memory.h"
#include "model/gguf.h"

enum { PROBE_STEPS_MAX = 100000 };

const char *const bundle_file_names [BUNDLE_FILES] = {
    [BUNDLE_TOKENIZER] = "tokenizer.json",
    [BUNDLE_CONFIG] = "tokenizer_config.json",
    [BUNDLE_TEMPLATE] = "chat_template.jinja",
    [BUNDLE_PROCESSOR] = "chat_template.json",
};

typedef struct {
    const span_t *files;      //  By bundle_file_t
    bundle_t *bundle;         //  What is filled
    bool template_will_do;    //  Without a vocabulary
    error_t *error;           //  The caller's
} loading_t;

//  ---- Hugging Face --------------------------------------------------------------------------------------------------

//  A token in tokenizer_config.json: its text, or an object with it.
static void
s_take_token (const json_t *token, buffer_t *text)
{
    buffer_append (text, json_string (json_kind (token) == JSON_OBJECT ? json_get (token, "content") : token));
}

static status_t
s_read_config (loading_t *self)
{
    json_t *config = NULL;
    if (self->files [BUNDLE_CONFIG].size == 0)
        return STATUS_OK;
    if (json_parse (self->files [BUNDLE_CONFIG], &config, self->error))
        return error_prefix (self->error, "%s", bundle_file_names [BUNDLE_CONFIG]);
    s_take_token (json_get (config, "bos_token"), &self->bundle->bos);
    s_take_token (json_get (config, "eos_token"), &self->bundle->eos);
    json_destroy (&config);
    return STATUS_OK;
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

//  ---- GGUF ----------------------------------------------------------------------------------------------------------

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
    gguf_fini (&gguf);
    return STATUS_OK;
}

//  ---- Variables -----------------------------------------------------------------------------------------------------

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

//  ---- The whole -----------------------------------------------------------------------------------------------------

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

//  What every conversation is given, for probes: the date is any.
static json_t *
s_any_variables (const bundle_t *bundle)
{
    json_t *variables = json_new_object ();
    s_put_variables (bundle, variables);
    s_put_all_rendered (bundle, variables, 0, PROBE_STEPS_MAX, NULL);
    return variables;
}

static status_t
s_choose_templates (loading_t *self)
{
    bundle_t *bundle = self->bundle;
    bundle_template_t *plain = templates_find (&bundle->templates, SPAN (TEMPLATES_DEFAULT));
    bundle_template_t *with_tools = templates_find (&bundle->templates, SPAN ("tool_use"));
    json_t *variables = s_any_variables (bundle);
    status_t status = templates_compile (plain, variables, self->error);
    if (!status)
        status = templates_compile (with_tools, variables, self->error);
    bundle->plain = plain;
    bundle->with_tools = with_tools ? with_tools : plain;
    json_destroy (&variables);
    return status;
}

//  A token of its own kind: many vocabularies have, say, ">>>" among their words.
static bool
s_has_token (void *context, span_t token)
{
    const tokenizer_t *tokenizer = ((const bundle_t *)context)->tokenizer;
    uint32_t id = tokenizer_find (tokenizer, token);
    return id != TOKEN_NONE && (tokenizer_is_special (tokenizer, id) || tokenizer_is_seam (tokenizer, id));
}

//  Calls are written where tools were given.
static void
s_choose_format (bundle_t *bundle)
{
    const bundle_template_t *template = bundle->with_tools;
    bundle->format = parser_choose (
        template ? buffer_span (&template->source) : SPAN (""), bundle->tokenizer ? s_has_token : NULL, bundle);
}

static status_t
s_load (loading_t *self)
{
    status_t status = templates_read (&self->bundle->templates, self->files, self->error);
    if (status)
        return status;
    if (self->files [BUNDLE_GGUF].size)
        status = s_load_gguf (self);
    else if (self->files [BUNDLE_TOKENIZER].size)
        status = s_load_folder (self);
    else if (self->template_will_do && self->bundle->templates.count)
        status = s_read_config (self);
    else
        status = error_set (self->error, STATUS_INVALID, "there is neither a GGUF file nor a tokenizer.json");
    if (!status)
        status = s_read_engine (self);
    if (!status)
        status = s_choose_templates (self);
    if (!status)
        s_choose_format (self->bundle);
    return status;
}

static status_t
s_load_new (loading_t *self, bundle_t **bundle)
{
    self->bundle = memory_new (sizeof (bundle_t));
    templates_init (&self->bundle->templates);
    status_t status = s_load (self);
    if (status)
        bundle_destroy (&self->bundle);
    else
        *bundle = self->bundle;
    return status;
}

status_t
bundle_load (const span_t files [BUNDLE_FILES], bundle_t **self, error_t *error)
{
    return s_load_new (&(loading_t){ .files = files, .error = error }, self);
}

status_t
bundle_load_to_inspect (const span_t files [BUNDLE_FILES], bundle_t **self, error_t *error)
{
    return s_load_new (&(loading_t){ .files = files, .template_will_do = true, .error = error }, self);
}

void
bundle_destroy (bundle_t **self_p)
{
    bundle_t *self = *self_p;
    if (!self)
        return;
    buffer_t *const texts [] = { &self->name, &self->vocabulary, &self->cutting, &self->bos, &self->eos, &self->begin };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        buffer_fini (texts [i]);
    json_destroy (&self->variables);
    json_destroy (&self->rendered);
    templates_fini (&self->templates);
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

//  ---- Rendering -----------------------------------------------------------------------------------------------------

//  What the model has instead, where no conversation without tools can be rendered.
static status_t
s_lack_template (const bundle_t *self, error_t *error)
{
    buffer_t names = { 0 };
    for (size_t i = 0; i < self->templates.count; i++) {
        const bundle_template_t *template = array_at (&self->templates, i);
        buffer_append_string (&names, i ? ", " : "");
        buffer_append (&names, buffer_span (&template->name));
    }
    status_t status = names.size
                          ? error_set (error, STATUS_UNSUPPORTED, "no chat template of the model is called %s: %s",
                                TEMPLATES_DEFAULT, buffer_string (&names))
                          : error_set (error, STATUS_UNSUPPORTED, "the model has no chat template");
    buffer_fini (&names);
    return status;
}

status_t
bundle_render (
    const bundle_t *self, json_t *conversation, int64_t now_s, uint64_t steps_max, buffer_t *out, error_t *error)
{
    bool has_tools = json_count (json_get (conversation, "tools"));
    const bundle_template_t *chosen = has_tools ? self->with_tools : self->plain;
    if (!chosen)
        return s_lack_template (self, error);
    s_put_variables (self, conversation);
    status_t status = s_put_all_rendered (self, conversation, now_s, steps_max, error);
    if (status)
        return status;
    buffer_t prompt = { 0 };
    template_input_t input = { .context = conversation, .now_s = now_s, .steps_max = steps_max };
    status = template_render (chosen->compiled, &input, &prompt, NULL, error);
    if (!status && !span_starts_with (buffer_span (&prompt), buffer_span (&self->begin)))
        buffer_append (out, buffer_span (&self->begin));
    if (!status)
        buffer_append (out, buffer_span (&prompt));
    buffer_fini (&prompt);
    return status;
}
