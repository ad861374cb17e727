//  What a probe finds, on templates that are known to do it.  tests/templates/findings holds all published templates.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "model/template/probe.h"

static void
s_probe (const char *source, template_findings_t *findings)
{
    error_t error = { 0 };
    template_t *template = template_compile (span_from_string (source), &error);
    if (!template)
        fail_msg ("%s", error.text);
    template_probe (template, NULL, findings);
    template_destroy (&template);
}

//  Words of a finding.
static const char *
s_said (const template_findings_t *findings, const char *wanted, buffer_t *value)
{
    const char *name;
    size_t cursor = 0;
    for (buffer_clear (value); template_findings_next (findings, &cursor, &name, value); buffer_clear (value))
        if (strcmp (name, wanted) == 0)
            return buffer_string (value);
    fail_msg ("no finding is called %s", wanted);
    return "";
}

static void
test_messages_are_kept_moved_dropped_or_refused (void **state)
{
    static const struct {
        const char *source;
        fate_t fate;
    } rows [] = {
        { "{% for m in messages %}[{{ m.content }}]{% endfor %}", FATE_KEPT },
        { "{% for m in messages if m.role == 'system' %}{{ m.content }}{% endfor %}"
          "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}",
            FATE_MOVED },
        { "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}", FATE_DROPPED },
        { "{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('first') }}{% endif "
          "%}"
          "{{ m.content }}{% endfor %}",
            FATE_REFUSED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        template_findings_t findings;
        s_probe (rows [i].source, &findings);
        assert_int_equal (findings.system_middle, rows [i].fate);
        template_findings_fini (&findings);
    }
}

static void
test_reasoning_is_found_in_the_member_and_for_the_time_it_is_read (void **state)
{
    static const struct {
        const char *source;
        const char *member;
        reasoning_t kept;
    } rows [] = {
        { "{% for m in messages %}{{ m.content }}{% endfor %}", "", REASONING_NEVER },
        { "{% for m in messages %}{{ m.reasoning_content }}{{ m.content }}{% endfor %}", "reasoning_content",
            REASONING_ALWAYS },
        { "{% for m in messages %}{% if messages[-1].role == 'tool' %}{{ m.thinking }}{% endif %}{{ m.content }}"
          "{% endfor %}",
            "thinking", REASONING_IN_LOOP },
        { "{% for m in messages %}{% if messages[-1].role == 'user' %}{{ m.reasoning }}{% endif %}{{ m.content }}"
          "{% endfor %}",
            "reasoning", REASONING_NOT_LATEST },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        template_findings_t findings;
        s_probe (rows [i].source, &findings);
        assert_string_equal (findings.reasoning, rows [i].member);
        assert_int_equal (findings.kept, rows [i].kept);
        template_findings_fini (&findings);
    }
}

static void
test_an_answer_begins_with_what_the_generation_prompt_adds (void **state)
{
    template_findings_t findings;
    buffer_t value = { 0 };
    s_probe (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>"
        "{% if enable_thinking %}<think>{% endif %}{% else %}<|end|>{% endif %}",
        &findings);
    assert_string_equal (s_said (&findings, "tail", &value), "<|assistant|>");
    assert_string_equal (s_said (&findings, "thinking", &value), "enable_thinking");
    assert_string_equal (s_said (&findings, "tail_thinking", &value), "<|assistant|><think>");
    assert_string_equal (s_said (&findings, "tail_plain", &value), "<|assistant|>");
    buffer_fini (&value);
    template_findings_fini (&findings);
}

static void
test_tools_and_arguments_are_found_as_the_template_writes_them (void **state)
{
    template_findings_t findings;
    buffer_t value = { 0 };
    s_probe ("{% for t in tools or [] %}{{ t|tojson }}{% endfor %}{% for m in messages %}{{ m.content }}"
             "{% for c in m.tool_calls or [] %}{{ c.function.name + c.function.arguments }}{% endfor %}{% endfor %}",
        &findings);
    assert_string_equal (s_said (&findings, "tools", &value), "before all");
    assert_string_equal (s_said (&findings, "tools_as_json", &value), "yes");
    assert_string_equal (s_said (&findings, "call_arguments", &value), "refused");
    assert_string_equal (s_said (&findings, "text_arguments", &value), "kept");
    assert_string_equal (s_said (&findings, "wants_text", &value), "yes");
    buffer_fini (&value);
    template_findings_fini (&findings);
}

static void
test_a_template_that_only_raises_has_findings_all_the_same (void **state)
{
    template_findings_t findings;
    s_probe ("{{ raise_exception('no') }}", &findings);
    assert_int_equal (findings.system_first, FATE_REFUSED);
    assert_int_equal (findings.tools, TOOLS_REFUSED);
    assert_int_equal (findings.tail.size, 0);
    template_findings_fini (&findings);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_messages_are_kept_moved_dropped_or_refused),
        cmocka_unit_test (test_reasoning_is_found_in_the_member_and_for_the_time_it_is_read),
        cmocka_unit_test (test_an_answer_begins_with_what_the_generation_prompt_adds),
        cmocka_unit_test (test_tools_and_arguments_are_found_as_the_template_writes_them),
        cmocka_unit_test (test_a_template_that_only_raises_has_findings_all_the_same),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
