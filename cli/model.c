//  stator model inspect - what a model's files say about it

#include <string.h>
#include <time.h>

#include "base/json_writer.h"
#include "cli/brief.h"
#include "cli/command.h"
#include "cli/model_files.h"

enum { LABEL_COLUMN = 12, PROBE_COLUMN = 24, SPECIAL_SHOWN = 12, TEXT_SHOWN = 80 };

typedef struct {
    const char *chat_template;    //  File with another chat template; "": none
    bool json;                    //  For programs
} model_flags_t;

static const option_t s_flags [] = {
    { .name = "chat_template",
        .type = OPTION_STRING,
        .offset = offsetof (model_flags_t, chat_template),
        .example = "template.jinja",
        .doc = "File with a chat template that stands in for the model's own." },
    { .name = "json", .type = OPTION_BOOL, .offset = offsetof (model_flags_t, json), .doc = "Say it as JSON." },
    OPTIONS_END,
};

//  ---- Trying --------------------------------------------------------------------------------------------------------

//  What the plainest conversation becomes.
typedef struct {
    error_t problem;    //  Why it cannot be rendered
    buffer_t prompt;    //  It, rendered
    span_t start;       //  What of the prompt the answer goes on from
} tried_t;

static void
s_try (const bundle_t *bundle, tried_t *tried)
{
    json_t *conversation = NULL;
    json_parse (SPAN ("{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}"), &conversation, NULL);
    bundle_render (bundle, conversation, (int64_t)time (NULL), 0, &tried->prompt, &tried->problem);
    json_destroy (&conversation);
    tried->start = parser_choice_prefill (&bundle->format, buffer_span (&tried->prompt));
}

//  The template of conversations with tools, where they have one of their own.
static const bundle_template_t *
s_tool_template (const bundle_t *bundle)
{
    return bundle->with_tools != bundle->plain ? bundle->with_tools : NULL;
}

//  ---- As text -------------------------------------------------------------------------------------------------------

static void
s_label (buffer_t *out, const char *label)
{
    buffer_print (out, "%-*s", LABEL_COLUMN, label);
}

static void
s_say_text (buffer_t *out, const char *before, span_t text)
{
    buffer_t escaped = { 0 };
    json_escape (&escaped, text);
    buffer_append_string (out, before);
    brief_append_text (buffer_span (&escaped), TEXT_SHOWN, out);
    buffer_fini (&escaped);
}

static void
s_say_template (const char *label, const bundle_template_t *template, buffer_t *out)
{
    s_label (out, label);
    if (template)
        buffer_print (out, "%zu bytes from %s\n", template->source.size, template->origin);
    else
        buffer_append_string (out, "none\n");
}

//  Those that no conversation uses.
static void
s_say_other_templates (const bundle_t *bundle, buffer_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < bundle->templates.count; i++) {
        const bundle_template_t *template = array_at (&bundle->templates, i);
        if (template->compiled)
            continue;
        if (!count++)
            s_label (out, "  not used");
        s_say_text (out, count > 1 ? ", " : "", buffer_span (&template->name));
    }
    buffer_append_string (out, count ? "\n" : "");
}

static void
s_say_features (const bundle_t *bundle, buffer_t *out)
{
    const char *feature;
    size_t cursor = 0, count = 0;
    s_label (out, "  uses");
    for (; (feature = bundle_next_feature (bundle, &cursor)); count++)
        buffer_print (out, "%s%s", count ? ", " : "", feature);
    buffer_append_string (out, count ? "\n" : "nothing out of the ordinary\n");
}

static void
s_say_templates (const bundle_t *bundle, buffer_t *out)
{
    s_say_template ("template", bundle->plain, out);
    if (s_tool_template (bundle))
        s_say_template ("  for tools", bundle->with_tools, out);
    s_say_other_templates (bundle, out);
    if (bundle->with_tools || bundle->plain)
        s_say_features (bundle, out);
}

static void
s_say_probes (const char *heading, const bundle_template_t *template, buffer_t *out)
{
    size_t cursor = 0;
    const char *name;
    buffer_t value = { 0 };
    if (!template)
        return;
    buffer_print (out, "%s\n", heading);
    while (template_findings_next (&template->findings, &cursor, &name, &value)) {
        buffer_print (out, "  %-*s", PROBE_COLUMN, name);
        s_say_text (out, "", value.size ? buffer_span (&value) : SPAN ("-"));
        buffer_append_byte (out, '\n');
        buffer_clear (&value);
    }
    buffer_fini (&value);
}

static void
s_say_special (const bundle_t *bundle, buffer_t *out)
{
    size_t count = 0;
    s_label (out, "  special");
    for (uint32_t id = 0; id < tokenizer_size (bundle->tokenizer); id++)
        if (tokenizer_is_special (bundle->tokenizer, id) && ++count <= SPECIAL_SHOWN)
            s_say_text (out, count > 1 ? "  " : "", tokenizer_token_text (bundle->tokenizer, id));
    if (count > SPECIAL_SHOWN)
        buffer_print (out, "  and %zu more", count - SPECIAL_SHOWN);
    buffer_append_string (out, count ? "\n" : "none\n");
}

static void
s_say_vocabulary (const bundle_t *bundle, buffer_t *out)
{
    s_label (out, "vocabulary");
    if (!bundle->tokenizer) {
        buffer_append_string (out, "none\n");
        return;
    }
    s_say_text (out, "", buffer_span (&bundle->vocabulary));
    buffer_print (out, ", %u tokens", tokenizer_size (bundle->tokenizer));
    if (bundle->cutting.size)
        s_say_text (out, ", cut by ", buffer_span (&bundle->cutting));
    buffer_append_byte (out, '\n');
    s_label (out, "  begins");
    s_say_text (out, "", bundle->bos.size ? buffer_span (&bundle->bos) : SPAN ("with nothing"));
    s_say_text (out, ", ends ", bundle->eos.size ? buffer_span (&bundle->eos) : SPAN ("with nothing"));
    buffer_append_byte (out, '\n');
    s_say_special (bundle, out);
}

static void
s_say_answers (const bundle_t *bundle, const tried_t *tried, buffer_t *out)
{
    s_label (out, "answers");
    buffer_print (out, "%s, since %s\n", bundle->format.format->name, bundle->format.reason);
    if (bundle->format.reasoning)
        buffer_print (out, "  %-10s%s\n", "thinks", bundle->format.reasoning->name);
    s_label (out, "  start");
    if (tried->problem.status)
        s_say_text (out, "not known: ", span_from_string (tried->problem.text));
    else if (tried->start.size)
        s_say_text (out, "behind ", tried->start);
    else
        buffer_append_string (out, "afresh");
    buffer_append_byte (out, '\n');
}

static void
s_say (const bundle_t *bundle, const tried_t *tried, buffer_t *out)
{
    if (bundle->name.size) {
        s_label (out, "model");
        s_say_text (out, "", buffer_span (&bundle->name));
        buffer_append_byte (out, '\n');
    }
    s_say_templates (bundle, out);
    s_say_vocabulary (bundle, out);
    s_say_answers (bundle, tried, out);
    s_say_probes ("probes", bundle->plain, out);
    s_say_probes ("probes of the one for tools", s_tool_template (bundle), out);
}

//  ---- As JSON -------------------------------------------------------------------------------------------------------

static void
s_write_text (json_writer_t *json, const char *key, span_t text)
{
    json_write_key (json, key);
    if (text.size)
        json_write_string (json, text);
    else
        json_write_null (json);
}

static void
s_write_names (const bundle_t *bundle, json_writer_t *json)
{
    json_write_key (json, "names");
    json_write_begin_array (json);
    for (size_t i = 0; i < bundle->templates.count; i++)
        json_write_string (json, buffer_span (&((const bundle_template_t *)array_at (&bundle->templates, i))->name));
    json_write_end_array (json);
}

static void
s_write_template (const bundle_t *bundle, json_writer_t *json)
{
    const bundle_template_t *template = bundle->plain ? bundle->plain : bundle->with_tools;
    const char *feature;
    size_t cursor = 0;
    json_write_key (json, "template");
    json_write_begin_object (json);
    s_write_text (json, "source", span_from_string (template ? template->origin : ""));
    json_write_key (json, "bytes");
    json_write_u64 (json, template ? template->source.size : 0);
    s_write_names (bundle, json);
    json_write_key (json, "has_tool_template");
    json_write_bool (json, s_tool_template (bundle) != NULL);
    json_write_key (json, "features");
    json_write_begin_array (json);
    while ((feature = bundle_next_feature (bundle, &cursor)))
        json_write_string (json, span_from_string (feature));
    json_write_end_array (json);
    json_write_end_object (json);
}

static void
s_write_probes (const char *key, const bundle_template_t *template, json_writer_t *json)
{
    size_t cursor = 0;
    const char *name;
    buffer_t value = { 0 };
    json_write_key (json, key);
    json_write_begin_object (json);
    while (template && template_findings_next (&template->findings, &cursor, &name, &value)) {
        json_write_key (json, name);
        json_write_string (json, buffer_span (&value));
        buffer_clear (&value);
    }
    json_write_end_object (json);
    buffer_fini (&value);
}

static void
s_write_vocabulary (const bundle_t *bundle, json_writer_t *json)
{
    uint32_t size = bundle->tokenizer ? tokenizer_size (bundle->tokenizer) : 0;
    json_write_key (json, "vocabulary");
    json_write_begin_object (json);
    s_write_text (json, "kind", buffer_span (&bundle->vocabulary));
    json_write_key (json, "size");
    json_write_u64 (json, size);
    s_write_text (json, "pre_tokenizer", buffer_span (&bundle->cutting));
    s_write_text (json, "bos", buffer_span (&bundle->bos));
    s_write_text (json, "eos", buffer_span (&bundle->eos));
    json_write_key (json, "special");
    json_write_begin_object (json);
    for (uint32_t id = 0; id < size; id++)
        if (tokenizer_is_special (bundle->tokenizer, id)) {
            json_write_key_span (json, tokenizer_token_text (bundle->tokenizer, id));
            json_write_u64 (json, id);
        }
    json_write_end_object (json);
    json_write_end_object (json);
}

static void
s_write_answers (const bundle_t *bundle, const tried_t *tried, json_writer_t *json)
{
    json_write_key (json, "answers");
    json_write_begin_object (json);
    s_write_text (json, "format", span_from_string (bundle->format.format->name));
    s_write_text (json, "reason", span_from_string (bundle->format.reason));
    s_write_text (json, "reasoning", span_from_string (bundle->format.reasoning ? bundle->format.reasoning->name : ""));
    s_write_text (json, "start", tried->start);
    s_write_text (json, "problem", span_from_string (tried->problem.status ? tried->problem.text : ""));
    json_write_end_object (json);
}

static void
s_write (const bundle_t *bundle, const tried_t *tried, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    s_write_text (&json, "model", buffer_span (&bundle->name));
    s_write_template (bundle, &json);
    s_write_vocabulary (bundle, &json);
    s_write_answers (bundle, tried, &json);
    s_write_probes ("probes", bundle->plain, &json);
    s_write_probes ("tool_probes", s_tool_template (bundle), &json);
    json_write_end_object (&json);
    buffer_append_byte (out, '\n');
}

//  ---- The verb ------------------------------------------------------------------------------------------------------

static status_t
s_inspect (const model_flags_t *flags, const char *path, buffer_t *out, error_t *error)
{
    model_files_t files;
    bundle_t *bundle = NULL;
    tried_t tried = { 0 };
    status_t status = model_files_open (&files, path, BUNDLE_TOKENIZER, error);
    if (!status && *flags->chat_template)
        status = model_files_open_template (&files, flags->chat_template, error);
    if (!status && bundle_load_to_inspect (files.files, &bundle, error))
        status = error_prefix (error, "'%s'", path);
    if (!status) {
        s_try (bundle, &tried);
        (flags->json ? s_write : s_say) (bundle, &tried, out);
    }
    buffer_fini (&tried.prompt);
    bundle_destroy (&bundle);
    model_files_close (&files);
    return status;
}

static result_t
s_run (const invocation_t *invocation)
{
    buffer_t out = { 0 };
    error_t error = { 0 };
    status_t status = s_inspect (invocation->flags, invocation->words [1], &out, &error);
    if (status)
        command_complain (invocation->command, "%s", error.text);
    command_print (&out);
    buffer_fini (&out);
    return command_result (status);
}

static const char *const s_choices [] = { "inspect", NULL };

const command_t model_command = {
    .name = "model",
    .arguments = "inspect MODEL",
    .doc = "Say what a model brings: template, vocabulary, how it answers.",
    .essay =
        "MODEL is a GGUF file, a Hugging Face folder (tokenizer.json, tokenizer_config.json, chat_template.jinja,\n"
        "chat_template.json, additional_chat_templates/), one of its files, or a chat template NAME.jinja. Nothing is\n"
        "downloaded and nothing is run but the chat templates that conversations use, on a few words.\n",
    .table = s_flags,
    .flags_size = sizeof (model_flags_t),
    .choices = s_choices,
    .words_min = 2,
    .words_max = 2,
    .run = s_run,
};
