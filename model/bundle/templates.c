#include "model/bundle/templates.h"

#include "model/gguf.h"

void
templates_init (array_t *self)
{
    array_init (self, sizeof (bundle_template_t));
}

void
templates_fini (array_t *self)
{
    for (size_t i = 0; i < self->count; i++) {
        bundle_template_t *template = array_at (self, i);
        buffer_fini (&template->name);
        buffer_fini (&template->source);
        template_findings_fini (&template->findings);
        template_destroy (&template->compiled);
    }
    array_fini (self);
}

bundle_template_t *
templates_find (const array_t *self, span_t name)
{
    for (size_t i = 0; i < self->count; i++) {
        bundle_template_t *template = array_at (self, i);
        if (span_equal (buffer_span (&template->name), name))
            return template;
    }
    return NULL;
}

status_t
templates_compile (bundle_template_t *template, const json_t *variables, error_t *error)
{
    if (!template || template->compiled)
        return STATUS_OK;
    template->compiled = template_compile (buffer_span (&template->source), error);
    if (!template->compiled)
        return error_prefix (error, "the chat template of %s", template->origin);
    template_probe (template->compiled, variables, &template->findings);
    return STATUS_OK;
}

//  ---- Where they come from ------------------------------------------------------------------------------------------

//  Of two templates with one name the last counts; an empty one is none.
static void
s_add (array_t *self, span_t name, span_t source, const char *origin)
{
    bundle_template_t *template = templates_find (self, name);
    if (!source.size)
        return;
    if (!template) {
        template = array_add (self);
        buffer_append (&template->name, name);
    }
    buffer_clear (&template->source);
    buffer_append (&template->source, source);
    template->origin = origin;
}

static status_t
s_add_named (array_t *self, const json_t *row, const char *origin, error_t *error)
{
    const json_t *name = json_get (row, "name");
    const json_t *source = json_get (row, "template");
    if (json_kind (name) != JSON_STRING || json_kind (source) != JSON_STRING)
        return error_set (error, STATUS_INVALID, "%s: a listed chat template needs \"name\" and \"template\"", origin);
    s_add (self, json_string (name), json_string (source), origin);
    return STATUS_OK;
}

//  A list of templates with names, or one that has none.
static status_t
s_add_listed (array_t *self, const json_t *list, const char *origin, error_t *error)
{
    status_t status = STATUS_OK;
    s_add (self, SPAN (TEMPLATES_DEFAULT), json_string (list), origin);
    for (size_t i = 0; i < json_count (list) && !status; i++)
        status = s_add_named (self, json_at (list, i), origin, error);
    return status;
}

//  member: of the file's object that holds them; NULL: the file is the list.
static status_t
s_read_json (array_t *self, span_t file, const char *member, const char *origin, error_t *error)
{
    json_t *tree = NULL;
    if (!file.size)
        return STATUS_OK;
    if (json_parse (file, &tree, error))
        return error_prefix (error, "%s", origin);
    status_t status = s_add_listed (self, member ? json_get (tree, member) : tree, origin, error);
    json_destroy (&tree);
    return status;
}

//  tokenizer.chat_template is the default, tokenizer.chat_template.NAME another one.
static status_t
s_read_gguf (array_t *self, span_t file, error_t *error)
{
    gguf_t gguf;
    span_t key = SPAN ("tokenizer.chat_template");
    if (!file.size)
        return STATUS_OK;
    status_t status = gguf_init (&gguf, file, error);
    if (status)
        return status;
    for (size_t i = 0; i < gguf.entries.count; i++) {
        const gguf_entry_t *entry = array_at (&gguf.entries, i);
        span_t name = span_slice (entry->key, key.size, entry->key.size);
        if (entry->type != GGUF_STRING || !span_starts_with (entry->key, key))
            continue;
        if (!name.size)
            s_add (self, SPAN (TEMPLATES_DEFAULT), entry->data, "GGUF");
        else if (name.data [0] == '.')
            s_add (self, span_slice (name, 1, name.size), entry->data, "GGUF");
    }
    gguf_fini (&gguf);
    return STATUS_OK;
}

status_t
templates_read (array_t *self, const span_t files [BUNDLE_FILES], error_t *error)
{
    static const char member [] = "chat_template";
    s_add (self, SPAN (TEMPLATES_DEFAULT), files [BUNDLE_TEMPLATE], bundle_file_names [BUNDLE_TEMPLATE]);
    status_t status = s_read_json (self, files [BUNDLE_TEMPLATES], NULL, BUNDLE_TEMPLATES_FOLDER, error);
    if (!status && !self->count)
        status = s_read_json (self, files [BUNDLE_PROCESSOR], member, bundle_file_names [BUNDLE_PROCESSOR], error);
    if (!status && !self->count)
        status = s_read_json (self, files [BUNDLE_CONFIG], member, bundle_file_names [BUNDLE_CONFIG], error);
    if (!status && !self->count)
        status = s_read_gguf (self, files [BUNDLE_GGUF], error);
    return status;
}
