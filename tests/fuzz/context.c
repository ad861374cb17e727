//  Feeds bytes, JSON, as the context of templates that look at it in every way: what a harness sends must not be able to
//  break the rendering of a template that somebody else wrote.

#include "base/bug.h"
#include "base/json.h"
#include "model/template/probe.h"
#include "tests/fuzz/fuzz.h"

enum { OUTPUT_MAX = 1 << 18, MEMORY_MAX = 1 << 22, STEPS_MAX = 100000 };

static const char *const s_templates [] = {
    "{{ messages }}{{ messages|tojson(indent=2) }}{{ tools|tojson(ensure_ascii=true, sort_keys=true) }}",
    "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content|trim }}{% else %}"
    "{% for c in m.content or [] %}{{ c.text or c['type'] }}{% endfor %}{% endif %}"
    "{% for t in m.tool_calls or [] %}{{ t.function.name }}{% for k, v in t.function.arguments|items %}"
    "{{ k }}={{ v if v is string else v|tojson }}{% endfor %}{% endfor %}{% endfor %}",
    "{% for m in messages|reverse %}{{ m.content[0] }}{{ m.content[::-1] }}{{ m.content.split('<')[-1].upper().title() "
    "}}"
    "{{ m.content|length }}{{ m.content.find('z') }}{{ '%s' % m.content }}{{ '{}'.format(m.content) }}{% endfor %}",
    "{{ messages|selectattr('role', 'eq', 'user')|map(attribute='content')|join(',') }}{{ "
    "messages|map('dictsort')|list }}",
    "{% for k, v in x.items() %}{{ k * 2 }}{{ v + 1 }}{{ v // 3 }}{{ v == x }}{{ v in x }}{% endfor %}{{ "
    "x|unique|list|sort }}",
};

static void
s_render (const char *source, const json_t *context)
{
    buffer_t out = { 0 };
    error_t error = { 0 };
    template_t *template = template_compile (span_from_string (source), &error);
    BUG_ON (!template);
    template_input_t limits = { .context = context, .output_max = OUTPUT_MAX };
    limits.memory_max = MEMORY_MAX;
    limits.steps_max = STEPS_MAX;
    if (template_render (template, &limits, &out, NULL, &error))
        BUG_ON (!error.status || !error.text [0]);
    template_destroy (&template);
    buffer_fini (&out);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    json_t *context = NULL;
    if (json_parse (span_of (data, size), &context, NULL))
        return 0;
    for (size_t i = 0; i < sizeof s_templates / sizeof *s_templates; i++)
        s_render (s_templates [i], context);
    json_destroy (&context);
    return 0;
}
