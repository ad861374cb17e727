//  Feeds bytes to the loader of a model's files, parted by lines of "---": tokenizer.json, tokenizer_config.json, a chat
//  template, what the engine does, chat_template.json, further templates.  What is loaded renders a conversation, and says
//  what its templates do.  (GGUF files: gguf.c.)

#include "base/bug.h"
#include "model/bundle/bundle.h"
#include "tests/fuzz/fuzz.h"

enum { STEPS_MAX = 100000 };

static const bundle_file_t s_order [] = { BUNDLE_TOKENIZER, BUNDLE_CONFIG, BUNDLE_TEMPLATE, BUNDLE_ENGINE,
    BUNDLE_PROCESSOR, BUNDLE_TEMPLATES };

//  The next part of the input.
static span_t
s_next_part (span_t *rest)
{
    span_t line = SPAN ("\n---\n");
    for (size_t at = 0; at < rest->size; at++)
        if (span_starts_with (span_slice (*rest, at, line.size), line)) {
            span_t part = span_slice (*rest, 0, at);
            *rest = span_slice (*rest, at + line.size, rest->size);
            return part;
        }
    span_t part = *rest;
    *rest = SPAN ("");
    return part;
}

static void
s_render (const bundle_t *bundle)
{
    json_t *conversation = NULL;
    buffer_t out = { 0 };
    error_t error = { 0 };
    json_parse (SPAN ("{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"tools\":[{}]}"), &conversation, NULL);
    if (bundle_render (bundle, conversation, 1768478400, STEPS_MAX, &out, &error))
        BUG_ON (out.size || !error.status || !error.text [0]);
    json_destroy (&conversation);
    buffer_fini (&out);
}

static void
s_say (const bundle_t *bundle)
{
    buffer_t value = { 0 };
    const char *name;
    for (size_t cursor = 0; bundle_next_feature (bundle, &cursor);)
        ;
    for (size_t cursor = 0; bundle->plain && template_findings_next (&bundle->plain->findings, &cursor, &name, &value);)
        BUG_ON (!*name);
    buffer_fini (&value);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    span_t files [BUNDLE_FILES] = { 0 }, rest = span_of (data, size);
    bundle_t *bundle = NULL;
    error_t error = { 0 };
    for (size_t i = 0; i < sizeof s_order / sizeof *s_order; i++)
        files [s_order [i]] = s_next_part (&rest);
    if (bundle_load (files, &bundle, &error)) {
        BUG_ON (bundle || !error.status || !error.text [0]);
        return 0;
    }
    s_render (bundle);
    s_say (bundle);
    bundle_destroy (&bundle);
    return 0;
}
