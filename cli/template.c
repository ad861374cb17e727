//  stator template - chat templates, held against what others render

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/contexts.h"
#include "cli/mapping.h"
#include "model/gguf.h"
#include "model/template/template.h"

enum { NAME_SIZE = 4096 };

typedef struct {
    const char *contexts;    //  File with the conversations
} template_flags_t;

static const option_t s_flags [] = {
    { .name = "contexts",
        .type = OPTION_STRING,
        .offset = offsetof (template_flags_t, contexts),
        .example = "contexts.json",
        .doc = "File with the conversations to render, by name." },
    OPTIONS_END,
};

typedef struct {
    contexts_t contexts;    //  Conversations by name
    buffer_t out;           //  Rows
} rendering_t;

//  ---- Rows ------------------------------------------------------------------------------------------------------------

//  "line N: SENTENCE, in: SNIPPET": the sentence, and where it is.
static void
s_write_error (json_writer_t *json, span_t text)
{
    size_t from = span_starts_with (text, SPAN ("line ")) ? span_find_byte (text, ':') + 2 : 0;
    size_t to = text.size;
    for (size_t i = from; i + 6 <= text.size; i++)
        if (span_starts_with (span_slice (text, i, text.size), SPAN (", in: ")))
            to = i;
    json_write_key (json, "error");
    json_write_string (json, span_slice (text, from, to - from));
    json_write_key (json, "where");
    buffer_t where = { 0 };
    buffer_append (&where, span_slice (text, 0, from));
    buffer_append (&where, span_slice (text, to + 6, text.size));
    json_write_string (json, buffer_span (&where));
    buffer_fini (&where);
}

static void
s_print_row (
    rendering_t *self, const char *name, span_t context, status_t status, const buffer_t *text, const error_t *error)
{
    json_writer_t json;
    json_writer_init (&json, &self->out);
    json_write_begin_object (&json);
    json_write_key (&json, "template");
    json_write_string (&json, span_from_string (name));
    json_write_key (&json, "context");
    json_write_string (&json, context);
    if (status) {
        s_write_error (&json, span_from_string (error->text));
    } else {
        json_write_key (&json, "text");
        json_write_string (&json, buffer_span (text));
    }
    json_write_end_object (&json);
    buffer_append_byte (&self->out, '\n');
    command_print (&self->out);
    buffer_clear (&self->out);
}

//  A row for each conversation.
static void
s_render_source (rendering_t *self, const char *name, span_t source)
{
    error_t compile_error = { 0 };
    template_t *template = template_compile (source, &compile_error);
    uintptr_t cursor = 0;
    span_t key;
    const json_t *conversation;
    while (json_next (self->contexts.named, &cursor, &key, &conversation)) {
        buffer_t text = { 0 };
        error_t error = compile_error;
        json_t *context = contexts_fill (&self->contexts, conversation);
        template_input_t input = { .context = context, .now_s = self->contexts.now_s };
        status_t status = template ? template_render (template, &input, &text, NULL, &error) : error.status;
        s_print_row (self, name, key, status, &text, &error);
        json_destroy (&context);
        buffer_fini (&text);
    }
    template_destroy (&template);
}

//  ---- Where templates come from -----------------------------------------------------------------------------------------

static status_t
s_render_named (rendering_t *self, const char *path, const json_t *entry, error_t *error)
{
    char name [NAME_SIZE];
    span_t given = json_string (json_get (entry, "name"));
    const json_t *source = json_get (entry, "template");
    if (json_kind (source) != JSON_STRING)
        return error_set (error, STATUS_INVALID, "%s: a named template has no \"template\"", path);
    snprintf (name, sizeof name, "%s:%.*s", path, SPAN_ARG (given));
    s_render_source (self, name, json_string (source));
    return STATUS_OK;
}

//  tokenizer_config.json: one template, or a list of named ones.
static status_t
s_render_config (rendering_t *self, const char *path, span_t file, error_t *error)
{
    json_t *config = NULL;
    status_t status = json_parse (file, &config, error);
    if (status)
        return error_prefix (error, "%s", path);
    const json_t *templates = json_get (config, "chat_template");
    if (json_kind (templates) == JSON_STRING)
        s_render_source (self, path, json_string (templates));
    else if (!json_count (templates))
        status = error_set (error, STATUS_NOT_FOUND, "%s has no chat_template", path);
    for (size_t i = 0; i < json_count (templates) && !status; i++)
        status = s_render_named (self, path, json_at (templates, i), error);
    json_destroy (&config);
    return status;
}

//  GGUF: its template, and those it has beside with a name each.
static status_t
s_render_gguf (rendering_t *self, const char *path, span_t file, error_t *error)
{
    static const char key [] = "tokenizer.chat_template";
    gguf_t gguf;
    status_t status = gguf_init (&gguf, file, error);
    size_t found = 0;
    if (status)
        return error_prefix (error, "%s", path);
    for (size_t i = 0; i < gguf.entries.count; i++) {
        char name [NAME_SIZE];
        const gguf_entry_t *entry = array_at (&gguf.entries, i);
        span_t rest = span_slice (entry->key, sizeof key - 1, entry->key.size);
        bool named = rest.size && rest.data [0] == '.';
        if (!span_starts_with (entry->key, SPAN (key)) || entry->type != GGUF_STRING || (rest.size && !named))
            continue;
        rest = span_slice (rest, 1, rest.size);
        snprintf (name, sizeof name, "%s%s%.*s", path, named ? ":" : "", SPAN_ARG (rest));
        s_render_source (self, name, entry->data);
        found++;
    }
    gguf_fini (&gguf);
    return found ? STATUS_OK : error_set (error, STATUS_NOT_FOUND, "%s has no chat template", path);
}

static status_t
s_render_file (rendering_t *self, const char *path, error_t *error)
{
    mapping_t mapping = { 0 };
    status_t status = mapping_open (&mapping, path, error);
    if (status)
        return status;
    span_t json = SPAN (".json");
    span_t name = span_from_string (path);
    bool is_config = name.size > json.size && span_equal (span_slice (name, name.size - json.size, json.size), json);
    if (span_starts_with (mapping.bytes, SPAN ("GGUF")))
        status = s_render_gguf (self, path, mapping.bytes, error);
    else if (is_config)
        status = s_render_config (self, path, mapping.bytes, error);
    else
        s_render_source (self, path, mapping.bytes);
    mapping_close (&mapping);
    return status;
}

//  ---- The verb --------------------------------------------------------------------------------------------------------

static result_t
s_run (const invocation_t *invocation)
{
    const template_flags_t *flags = invocation->flags;
    rendering_t rendering = { 0 };
    error_t error = { 0 };
    if (strcmp (invocation->words [0], "render") != 0) {
        command_complain (invocation->command, "'%.100s' is not render", invocation->words [0]);
        return RESULT_USAGE;
    }
    status_t status = contexts_open (&rendering.contexts, flags->contexts, &error);
    for (size_t i = 1; i < invocation->count && !status; i++)
        status = s_render_file (&rendering, invocation->words [i], &error);
    if (status)
        command_complain (invocation->command, "%s", error.text);
    contexts_close (&rendering.contexts);
    buffer_fini (&rendering.out);
    return status ? RESULT_FAILED : RESULT_OK;
}

const command_t template_command = {
    .name = "template",
    .arguments = "render TEMPLATE ...",
    .doc = "Render chat templates, as Jinja2 under transformers would.",
    .essay =
        "TEMPLATE is a file with a template, a tokenizer_config.json or a GGUF file; where one holds several named "
        "templates,\n"
        "all are rendered. The file of --contexts holds conversations by name, {\"NAME\": {\"messages\": [...], ...}, "
        "...}, at its\n"
        "top or under \"contexts\"; \"fixed\" beside that may give bos_token, eos_token,\n"
        "add_generation_prompt_default and the moment of strftime_now. A row is printed for each template and "
        "conversation:\n"
        "{\"template\", \"context\", \"text\"}, or \"error\" and \"where\" instead of the text.\n",
    .table = s_flags,
    .flags_size = sizeof (template_flags_t),
    .words_min = 2,
    .words_max = 100000,
    .run = s_run,
};
