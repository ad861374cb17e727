//  Feeds bytes to the template interpreter: the first line is the context, a JSON object, the rest a template.  Bounds are
//  small, so that what takes long is a finding; a rendering and its seams must fit each other.

#include "base/bug.h"
#include "base/json.h"
#include "model/template/template.h"
#include "tests/fuzz/fuzz.h"

enum { OUTPUT_MAX = 1 << 18, MEMORY_MAX = 1 << 22, STEPS_MAX = 100000 };

static void
s_check_seams (const array_t *seams, size_t size)
{
    size_t last = 0;
    for (size_t i = 0; i < seams->count; i++) {
        size_t seam = *(const size_t *)array_at (seams, i);
        BUG_ON (seam <= last || seam >= size);
        last = seam;
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    json_t *context = NULL;
    error_t error = { 0 };
    buffer_t out = { 0 };
    array_t seams;
    span_t input = span_of (data, size);
    size_t line = span_find_byte (input, '\n');
    if (json_parse (span_slice (input, 0, line), &context, NULL))
        return 0;
    array_init (&seams, sizeof (size_t));
    template_t *template = template_compile (span_slice (input, line + 1, size), &error);
    template_input_t limits = { .context = context, .now_s = 1768478400 };
    limits.output_max = OUTPUT_MAX;
    limits.memory_max = MEMORY_MAX;
    limits.steps_max = STEPS_MAX;
    if (template && template_render (template, &limits, &out, &seams, &error))
        BUG_ON (out.size || seams.count || !error.status || !error.text [0]);
    s_check_seams (&seams, out.size);
    BUG_ON (out.size > OUTPUT_MAX);
    template_destroy (&template);
    json_destroy (&context);
    array_fini (&seams);
    buffer_fini (&out);
    return 0;
}
