//  stator template - chat templates, held against what others render

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/contexts.h"
#include "cli/model_files.h"
#include "model/bundle/templates.h"

enum { NAME_SIZE = 4096 };

typedef struct {
    const char *contexts;    //  File with the conversations
    const char *name;        //  Of the templates that are rendered; "": of any
} template_flags_t;

static const option_t s_flags [] = {
    { .name = "contexts",
        .type = OPTION_STRING,
        .offset = offsetof (template_flags_t, contexts),
        .example = "contexts.json",
        .doc = "File with the conversations to render, by name." },
    { .name = "name",
        .type = OPTION_STRING,
        .offset = offsetof (template_flags_t, name),
        .example = "tool_use",
        .doc = "Render only templates of this name; one without a name is called default." },
    OPTIONS_END,
};

typedef struct {
    contexts_t contexts;    //  Conversations by name
    span_t name;            //  Of the templates that are rendered; empty: of any
    buffer_t out;           //  Rows
} rendering_t;

//  ---- Rows ----------------------------------------------------------------------------------------------------------

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
    for (size_t i = 0; i < self->contexts.rows.count; i++) {
        const context_t *row = array_at (&self->contexts.rows, i);
        buffer_t text = { 0 };
        error_t error = template ? row->error : compile_error;
        json_t *context = contexts_fill (&self->contexts, row->conversation);
        template_input_t input = { .context = context, .now_s = self->contexts.now_s };
        status_t status = error.status ? error.status : template_render (template, &input, &text, NULL, &error);
        s_print_row (self, name, buffer_span (&row->name), status, &text, &error);
        json_destroy (&context);
        buffer_fini (&text);
    }
    template_destroy (&template);
}

//  ---- Where templates come from -------------------------------------------------------------------------------------

//  A template that is alone goes by its file.
static status_t
s_render_templates (rendering_t *self, const char *path, const array_t *templates, error_t *error)
{
    size_t rendered = 0;
    for (size_t i = 0; i < templates->count; i++) {
        const bundle_template_t *template = array_at (templates, i);
        char name [NAME_SIZE];
        if (self->name.size && !span_equal (buffer_span (&template->name), self->name))
            continue;
        snprintf (name, sizeof name, "%s:%.*s", path, SPAN_ARG (buffer_span (&template->name)));
        s_render_source (self, templates->count > 1 ? name : path, buffer_span (&template->source));
        rendered++;
    }
    if (rendered)
        return STATUS_OK;
    return error_set (error, STATUS_NOT_FOUND, "%s has no chat template%s%.*s", path, self->name.size ? " " : "",
        SPAN_ARG (self->name));
}

//  JSON is tokenizer_config.json, or chat_template.json with the same member; what is no GGUF file, either, is a template.
static status_t
s_render_file (rendering_t *self, const char *path, error_t *error)
{
    model_files_t files;
    array_t templates;
    const char *suffix = strrchr (path, '.');
    bundle_file_t kind = suffix && strcmp (suffix, ".json") == 0 ? BUNDLE_CONFIG : BUNDLE_TEMPLATE;
    status_t status = model_files_open (&files, path, kind, error);
    templates_init (&templates);
    if (!status && templates_read (&templates, files.files, error))
        status = error_prefix (error, "%s", path);
    if (!status)
        status = s_render_templates (self, path, &templates, error);
    templates_fini (&templates);
    model_files_close (&files);
    return status;
}

//  ---- The verb ------------------------------------------------------------------------------------------------------

static result_t
s_run (const invocation_t *invocation)
{
    const template_flags_t *flags = invocation->flags;
    rendering_t rendering = { .name = span_from_string (flags->name) };
    error_t error = { 0 };
    status_t status = contexts_open (&rendering.contexts, flags->contexts, &error);
    for (size_t i = 1; i < invocation->count && !status; i++)
        status = s_render_file (&rendering, invocation->words [i], &error);
    if (status)
        command_complain (invocation->command, "%s", error.text);
    contexts_close (&rendering.contexts);
    buffer_fini (&rendering.out);
    return command_result (status);
}

static const char *const s_choices [] = { "render", NULL };

const command_t template_command = {
    .name = "template",
    .arguments = "render TEMPLATE ...",
    .doc = "Render chat templates, as Jinja2 under transformers would.",
    .essay =
        "TEMPLATE is a file with a template, a tokenizer_config.json, a GGUF file or a Hugging Face folder; where one "
        "holds several\n"
        "named templates, all are rendered. The file of --contexts holds conversations by name, {\"NAME\": "
        "{\"messages\": [...], ...}, "
        "...}, at its\n"
        "top or under \"contexts\"; \"fixed\" beside that may give bos_token, eos_token,\n"
        "add_generation_prompt_default and the moment of strftime_now. A row is printed for each template and "
        "conversation:\n"
        "{\"template\", \"context\", \"text\"}, or \"error\" and \"where\" instead of the text.\n",
    .table = s_flags,
    .flags_size = sizeof (template_flags_t),
    .choices = s_choices,
    .words_min = 2,
    .words_max = 100000,
    .run = s_run,
};
