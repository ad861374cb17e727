//  Templates against what Jinja2 itself renders (tests/data/chat_templates), and against templates that mean harm.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/template/template.h"

#define FOLDER "tests/data/chat_templates/"

static const int64_t NOW_S = 1768478400;    //  2026-01-15T12:00:00

static void
s_read (const char *path, buffer_t *out)
{
    FILE *file = fopen (path, "rb");
    assert_non_null (file);
    buffer_clear (out);
    for (;;) {
        size_t size = fread (buffer_reserve (out, 65536), 1, 65536, file);
        if (size == 0)
            break;
        buffer_commit (out, size);
    }
    fclose (file);
}

//  The context of a conversation as transformers fills it up.
static json_t *
s_context (const json_t *contexts, const char *name)
{
    buffer_t text = { 0 };
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    json_t *context;
    buffer_append_string (&text, "{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\",\"add_generation_prompt\":true,"
                                 "\"tools\":null,\"documents\":null");
    while (json_next (json_get (json_get (contexts, "contexts"), name), &cursor, &key, &value)) {
        buffer_print (&text, ",\"%.*s\":", SPAN_ARG (key));
        json_render (value, &text);
    }
    buffer_append_byte (&text, '}');
    assert_int_equal (json_parse (buffer_span (&text), &context, NULL), STATUS_OK);
    buffer_fini (&text);
    return context;
}

static void
s_string (const json_t *row, const char *key, char out [256])
{
    span_copy_string (json_string (json_get (row, key)), out, 256);
}

//  They ascend, inside the prompt.
static void
s_check_seams (const array_t *seams, size_t size)
{
    size_t last = 0;
    for (size_t i = 0; i < seams->count; i++) {
        size_t seam = *(size_t *)array_at (seams, i);
        assert_true (last < seam && seam < size);
        last = seam;
    }
}

static void
s_check_row (const json_t *row, const json_t *contexts)
{
    char name [256], context_name [256], path [512];
    buffer_t source = { 0 };
    buffer_t out = { 0 };
    error_t error = { 0 };
    array_t seams;
    array_init (&seams, sizeof (size_t));
    s_string (row, "template", name);
    s_string (row, "context", context_name);
    snprintf (path, sizeof path, FOLDER "%s", name);
    s_read (path, &source);
    template_t *template = template_compile (buffer_span (&source), &error);
    json_t *context = s_context (contexts, context_name);
    template_input_t input = { .context = context, .now_s = NOW_S };
    status_t status = template ? template_render (template, &input, &out, &seams, &error) : error.status;
    bool wants_error = json_get (row, "error") != NULL;
    if (wants_error != (status != STATUS_OK))
        fail_msg ("%s with %s: %s", name, context_name, status ? error.text : "rendered, but Jinja2 raises");
    if (!wants_error && !span_equal (buffer_span (&out), json_string (json_get (row, "text"))))
        fail_msg ("%s with %s renders otherwise:\n%s", name, context_name, buffer_string (&out));
    s_check_seams (&seams, out.size);
    array_fini (&seams);
    template_destroy (&template);
    json_destroy (&context);
    buffer_fini (&source);
    buffer_fini (&out);
}

static void
test_every_published_template_renders_as_jinja_does (void **state)
{
    buffer_t text = { 0 };
    json_t *contexts;
    size_t rows = 0;
    s_read (FOLDER "contexts.json", &text);
    assert_int_equal (json_parse (buffer_span (&text), &contexts, NULL), STATUS_OK);
    s_read (FOLDER "golden.jsonl", &text);
    for (span_t rest = buffer_span (&text); rest.size; rows++) {
        json_t *row;
        size_t end = span_find_byte (rest, '\n');
        assert_int_equal (json_parse (span_slice (rest, 0, end), &row, NULL), STATUS_OK);
        s_check_row (row, contexts);
        json_destroy (&row);
        rest = span_slice (rest, end + 1, rest.size);
    }
    assert_int_equal (rows, 1035);
    json_destroy (&contexts);
    buffer_fini (&text);
}

//  ---- The language --------------------------------------------------------------------------------------------------

static void
s_check_language_row (const json_t *row, const json_t *context)
{
    buffer_t out = { 0 };
    error_t error = { 0 };
    span_t source = json_string (json_get (row, "source"));
    template_t *template = template_compile (source, &error);
    template_input_t input = { .context = context, .now_s = NOW_S };
    status_t status = template ? template_render (template, &input, &out, NULL, &error) : error.status;
    bool fails = json_get (row, "error") != NULL;
    if (fails != (status != STATUS_OK))
        fail_msg ("%.*s: %s", SPAN_ARG (source), status ? error.text : "rendered, but Jinja2 raises");
    if (!fails && !span_equal (buffer_span (&out), json_string (json_get (row, "text"))))
        fail_msg ("%.*s renders otherwise: %s", SPAN_ARG (source), buffer_string (&out));
    template_destroy (&template);
    buffer_fini (&out);
}

//  tests/templates/make.py writes the answers.
static void
test_the_language_is_jinjas (void **state)
{
    buffer_t text = { 0 };
    json_t *first = NULL;
    size_t rows = 0;
    s_read (FOLDER "language.jsonl", &text);
    for (span_t rest = buffer_span (&text); rest.size; rows++) {
        json_t *row;
        size_t end = span_find_byte (rest, '\n');
        assert_int_equal (json_parse (span_slice (rest, 0, end), &row, NULL), STATUS_OK);
        if (rows)
            s_check_language_row (row, json_get (first, "context"));
        if (rows)
            json_destroy (&row);
        else
            first = row;
        rest = span_slice (rest, end + 1, rest.size);
    }
    assert_true (rows > 400);
    json_destroy (&first);
    buffer_fini (&text);
}

//  ---- Seams ---------------------------------------------------------------------------------------------------------

//  Renders with seams and writes a bar where they are.
static void
s_render_bars (const char *source, const char *context_text, buffer_t *out)
{
    json_t *context;
    buffer_t text = { 0 };
    array_t seams;
    array_init (&seams, sizeof (size_t));
    assert_int_equal (json_parse (span_from_string (context_text), &context, NULL), STATUS_OK);
    template_t *template = template_compile (span_from_string (source), NULL);
    template_input_t input = { .context = context };
    buffer_append_string (&text, "before");
    array_append (&seams, &(size_t){ 1000 }, 1);
    assert_int_equal (template_render (template, &input, &text, &seams, NULL), STATUS_OK);
    span_t prompt = span_slice (buffer_span (&text), strlen ("before"), text.size);
    size_t at = 0;
    for (size_t i = 1; i < seams.count; i++) {
        size_t seam = *(size_t *)array_at (&seams, i);
        buffer_append (out, span_slice (prompt, at, seam - at));
        buffer_append_byte (out, '|');
        at = seam;
    }
    buffer_append (out, span_slice (prompt, at, prompt.size));
    template_destroy (&template);
    json_destroy (&context);
    array_fini (&seams);
    buffer_fini (&text);
}

static void
test_seams_lie_where_messages_begin_and_end (void **state)
{
    static const struct {
        const char *source;
        const char *barred;
    } rows [] = {
        { "<s>{% for m in messages %}<{{ m }}>{% endfor %}go", "<s>|<a>|<b>|<c>|go" },
        { "{% for m in messages %}{{ m }}{% endfor %}", "a|b|c" },
        { "{% for m in messages %}{{ loop.index }}{% for n in messages %}{{ n }}{% endfor %}{% endfor %}!",
            "1abc|2abc|3abc|!" },
        { "{% macro f(x) %}{% for y in x %}{{ y }}{% endfor %}{% endmacro %}{{ f(messages) }}!", "abc!" },
        { "a{% macro f(x) %}{% for y in x %}{{ y }}{% endfor %}{% endmacro %}{{ f(messages) }}!", "aabc!" },
        { "{% set all %}{% for y in messages %}{{ y }}{% endfor %}{% endset %}{{ all }}!", "abc!" },
        { "{% for m in messages %}{% if m == 'b' %}{% break %}{% endif %}{{ m }}{% endfor %}!", "a|!" },
        { "{% for m in messages if m == 'z' %}{% else %}none{% endfor %}", "none" },
        { "{% for m in messages %}{% endfor %}x", "x" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buffer_t out = { 0 };
        s_render_bars (rows [i].source, "{\"messages\":[\"a\",\"b\",\"c\"]}", &out);
        assert_string_equal (buffer_string (&out), rows [i].barred);
        buffer_fini (&out);
    }
}

static void
test_a_rendering_that_fails_leaves_no_seams (void **state)
{
    json_t *context;
    buffer_t out = { 0 };
    array_t seams;
    array_init (&seams, sizeof (size_t));
    assert_int_equal (json_parse (SPAN ("{\"messages\":[1,2]}"), &context, NULL), STATUS_OK);
    template_t *template = template_compile (SPAN ("{% for m in messages %}{{ m }}{% endfor %}{{ 1 // 0 }}"), NULL);
    template_input_t input = { .context = context };
    assert_int_equal (template_render (template, &input, &out, &seams, NULL), STATUS_INVALID);
    assert_int_equal (seams.count, 0);
    assert_int_equal (out.size, 0);
    template_destroy (&template);
    json_destroy (&context);
    array_fini (&seams);
    buffer_fini (&out);
}

//  A prompt of the first messages of a conversation, with its seams.  False where the template refuses it.
static bool
s_render_first (const template_t *template, const json_t *conversation, size_t count, buffer_t *out, array_t *seams)
{
    buffer_t text = { 0 };
    json_t *context = NULL;
    const json_t *messages = json_get (conversation, "messages");
    buffer_append_string (
        &text, "{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\",\"add_generation_prompt\":true,\"tools\":");
    if (json_get (conversation, "tools"))
        json_render (json_get (conversation, "tools"), &text);
    else
        buffer_append_string (&text, "null");
    buffer_append_string (&text, ",\"messages\":[");
    for (size_t i = 0; i < count; i++) {
        buffer_append_string (&text, i ? "," : "");
        json_render (json_at (messages, i), &text);
    }
    buffer_append_string (&text, "]}");
    assert_int_equal (json_parse (buffer_span (&text), &context, NULL), STATUS_OK);
    template_input_t input = { .context = context, .now_s = NOW_S };
    bool rendered = template_render (template, &input, out, seams, NULL) == STATUS_OK;
    json_destroy (&context);
    buffer_fini (&text);
    return rendered;
}

typedef struct {
    size_t common;      //  Bytes that two prompts of a growing conversation begin with alike
    size_t reusable;    //  Of them, before the last seam that both have
} growth_t;

static void
s_measure (
    const buffer_t *before, const array_t *old_seams, const buffer_t *after, const array_t *seams, growth_t *growth)
{
    size_t common = 0;
    size_t last = 0;
    while (common < before->size && common < after->size && before->data [common] == after->data [common])
        common++;
    for (size_t i = 0; i < seams->count && i < old_seams->count; i++) {
        size_t seam = *(size_t *)array_at (seams, i);
        if (seam <= common && seam == *(size_t *)array_at (old_seams, i))
            last = seam;
    }
    growth->common += common;
    growth->reusable += last;
}

static void
s_grow (const template_t *template, const json_t *conversation, growth_t *growth)
{
    for (size_t count = 2; count <= json_count (json_get (conversation, "messages")); count++) {
        buffer_t before = { 0 }, after = { 0 };
        array_t old_seams, seams;
        array_init (&old_seams, sizeof (size_t));
        array_init (&seams, sizeof (size_t));
        if (s_render_first (template, conversation, count - 1, &before, &old_seams) &&
            s_render_first (template, conversation, count, &after, &seams))
            s_measure (&before, &old_seams, &after, &seams, growth);
        array_fini (&old_seams);
        array_fini (&seams);
        buffer_fini (&before);
        buffer_fini (&after);
    }
}

//  What two prompts of a growing conversation have in common ends at a seam, but for the last message and what a generation
//  prompt begins with: much of it here, since the conversations are short.
static void
test_a_growing_conversation_keeps_its_seams (void **state)
{
    static const char *const templates [] = { "llama.cpp/Qwen-Qwen3-0.6B.jinja", "llama.cpp/GLM-4.6.jinja",
        "npm/llama3_1.jinja", "llama.cpp/Kimi-K2-Instruct.jinja", "llama.cpp/Qwen3-Coder.jinja",
        "llama.cpp/google-gemma-4-31B-it.jinja", "llama.cpp/openai-gpt-oss-120b.jinja",
        "vllm/tool_chat_template_hermes.jinja" };
    buffer_t text = { 0 }, source = { 0 };
    json_t *contexts;
    s_read (FOLDER "contexts.json", &text);
    assert_int_equal (json_parse (buffer_span (&text), &contexts, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        growth_t growth = { 0 };
        uintptr_t cursor = 0;
        span_t key;
        char path [512];
        const json_t *conversation;
        snprintf (path, sizeof path, FOLDER "%s", templates [i]);
        s_read (path, &source);
        template_t *template = template_compile (buffer_span (&source), NULL);
        while (json_next (json_get (contexts, "contexts"), &cursor, &key, &conversation))
            s_grow (template, conversation, &growth);
        template_destroy (&template);
        if (growth.reusable * 100 < growth.common * 60)
            fail_msg ("%s: %zu of %zu common bytes stand before a seam", templates [i], growth.reusable, growth.common);
    }
    json_destroy (&contexts);
    buffer_fini (&text);
    buffer_fini (&source);
}

//  ---- Long conversations --------------------------------------------------------------------------------------------

//  So many messages with a little text each, and one text of so many bytes.
static json_t *
s_long_conversation (size_t count, size_t text_size)
{
    json_t *context = json_new_object (), *messages = json_new_array ();
    buffer_t text = { 0 };
    for (size_t i = 0; i < count; i++) {
        json_t *message = json_new_object ();
        json_put (message, "role", json_new_string (i % 2 ? SPAN ("tool") : SPAN ("assistant")));
        json_add (messages, message);
    }
    memset (buffer_reserve (&text, text_size), 'x', text_size);
    buffer_commit (&text, text_size);
    json_put (context, "messages", messages);
    json_put (context, "text", json_new_string (buffer_span (&text)));
    buffer_fini (&text);
    return context;
}

static void
s_check_long (const char *source, const json_t *context, size_t memory_max)
{
    buffer_t out = { 0 };
    error_t error = { 0 };
    template_t *template = template_compile (span_from_string (source), &error);
    template_input_t input = { .context = context, .now_s = NOW_S, .memory_max = memory_max };
    if (!template || template_render (template, &input, &out, NULL, &error))
        fail_msg ("%s: %s", source, error.text);
    template_destroy (&template);
    buffer_fini (&out);
}

//  Some templates look at all messages for each of them; what a turn of a loop leaves behind must not be kept.
static void
test_loops_over_loops_keep_nothing (void **state)
{
    static const char *const sources [] = {
        "{% for m in messages %}{% for n in messages %}{% if n.tool_calls or n.name is defined %}x{% endif %}{% endfor "
        "%}"
        "{% endfor %}",
        "{% for m in messages %}{% for i in range(messages|length - 1, -1, -1) %}{% if loop.last %}{{ messages[i].role "
        "}}"
        "{% endif %}{% endfor %}{% endfor %}",
        "{% for m in messages %}{% for n in messages %}{% for c in 'ab' %}{% set d = c %}{% endfor %}{% endfor %}"
        "{% endfor %}",
        "{% macro same(a, b) %}{% if a.role != b.role %}{% set c = a.role is eq('x') %}{% endif %}{% endmacro %}"
        "{% for m in messages %}{% for n in messages %}{% if m.role is eq(n.role) and loop.first %}{{ same(m, n) }}"
        "{% endif %}{% endfor %}{% endfor %}",
        "{% for m in messages %}{% for n in messages[loop.index:] %}{% break %}{% endfor %}{% endfor %}",
    };
    json_t *context = s_long_conversation (1000, 0);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        s_check_long (sources [i], context, 2 << 20);
    json_destroy (&context);
}

//  Templates that look at every message for each one, or at every character of a content, or at a content many times, have
//  what that takes.
static void
test_bounds_grow_with_the_conversation (void **state)
{
    json_t *many = s_long_conversation (4000, 0), *large = s_long_conversation (1, 16 << 20);
    s_check_long (
        "{% for m in messages %}{% for n in messages %}{% if n.name %}x{% endif %}{% endfor %}{% endfor %}", many, 0);
    s_check_long ("{% for c in text %}{% if c == 'y' %}x{% endif %}{% endfor %}", large, 0);
    s_check_long ("{{ (text * 18)|length }}", large, 0);
    json_destroy (&many);
    json_destroy (&large);
}

//  ---- Templates that mean harm --------------------------------------------------------------------------------------

static status_t
s_render (const char *source, const char *context_text, buffer_t *out, error_t *error)
{
    json_t *context;
    assert_int_equal (json_parse (span_from_string (context_text), &context, NULL), STATUS_OK);
    template_t *template = template_compile (span_from_string (source), error);
    template_input_t input = {
        .context = context, .now_s = NOW_S, .output_max = 1 << 20, .memory_max = 4 << 20, .steps_max = 200000
    };
    status_t status = template ? template_render (template, &input, out, NULL, error) : error->status;
    template_destroy (&template);
    json_destroy (&context);
    return status;
}

//  Expected: datetime (2026, 1, 15, 12).strftime of Python.
static void
test_the_moment_prints_as_python_does (void **state)
{
    buffer_t out = { 0 };
    error_t error = { 0 };
    assert_int_equal (s_render ("{{ strftime_now ('%Y-%m-%d %H:%M:%S|%F %T %D|%-d %-m %-H %-I|%y %e %j %-j %w|%B %b %A "
                                "%a|%I %p|%%|%Z|') }}",
                          "{}", &out, &error),
        STATUS_OK);
    assert_string_equal (buffer_string (&out), "2026-01-15 12:00:00|2026-01-15 12:00:00 01/15/26|15 1 12 12|26 15 015 "
                                               "15 4|January Jan Thursday Thu|12 PM|%||");
    buffer_fini (&out);
}

//  Numbers of any size, as Python's json and Jinja2 have them; what is computed with those beyond 64 bits is refused.
static void
test_numbers_of_any_size_come_out_as_given (void **state)
{
    static const char context [] =
        "{\"n\":123456789012345678901234567890,\"m\":-99999999999999999999,\"u\":18446744073709551615,\"p\":"
        "9007199254740993,\"f\":[1e400,-1e400,-0.0,1e22,1E+2,0.30000000000000004],\"q\":9007199254740992.0,\"s\":\"-"
        "0099999999999999999999\",\"call\":{\"id\":99999999999999999999,\"x\":1e16}}";
    static const char *const rows [][2] = {
        { "{{ n }} {{ m }} {{ u }}", "123456789012345678901234567890 -99999999999999999999 18446744073709551615" },
        { "{{ n|tojson }} {{ call|tojson }} {{ call }} {{ [n]|string }}",
            "123456789012345678901234567890 {\"id\": 99999999999999999999, \"x\": 1e+16} {'id': 99999999999999999999, "
            "'x': 1e+16} [123456789012345678901234567890]" },
        { "{{ n > m }} {{ n > 1 }} {{ m < -1 }} {{ n == n }} {{ n != m }} {{ u < n }} {{ n < 1e30 }} {{ n > 1e29 }}",
            "True True True True True True True True" },
        { "{{ call.id == 1e20 }} {{ call.id < 1e20 }} {{ p == q }} {{ p > q }} {{ [n, m, 1, 2.5, u]|sort }} {{ [n, "
          "m]|min }}",
            "False True False True [-99999999999999999999, 1, 2.5, 18446744073709551615, "
            "123456789012345678901234567890] -99999999999999999999" },
        { "{{ {n: 1}[n] }} {{ n in [1, n] }} {{ n|float }} {{ n|int }} {{ m|abs }} {{ n|string|length }} {{ n is "
          "integer }} {{ n is number }}",
            "1 True 1.2345678901234568e+29 123456789012345678901234567890 99999999999999999999 30 True True" },
        { "{{ \"%d %s %e\" % (n, n, n) }} {{ \"{:,}\".format(m) }} {{ \"{:>32}\".format(n) }}",
            "123456789012345678901234567890 123456789012345678901234567890 1.234568e+29 -99,999,999,999,999,999,999   "
            "123456789012345678901234567890" },
        { "{{ f|tojson }} {{ f }}", "[Infinity, -Infinity, -0.0, 1e+22, 100.0, 0.30000000000000004] [inf, -inf, -0.0, "
                                    "1e+22, 100.0, 0.30000000000000004]" },
        { "{{ f[0] }} {{ f[2] }} {{ f[3] }} {{ f[4] }} {{ f[3]|int }} {{ \"%d\" % f[3] }} {{ 0.1 + 0.2 }}",
            "inf -0.0 1e+22 100.0 10000000000000000000000 10000000000000000000000 0.30000000000000004" },
        { "{{ s|int }} {{ \"1e22\"|int }} {{ 7 / p }} {{ \"1e400\"|int(3) }}",
            "-99999999999999999999 10000000000000000000000 7.771561172376095e-16 3" },
        { "{{ n.real }} {{ m.numerator }} {{ n.imag }} {{ n.denominator }} {{ m.conjugate() }} {{ n.is_integer() }}",
            "123456789012345678901234567890 -99999999999999999999 0 1 -99999999999999999999 True" },
    };
    static const char *const refused [] = { "{{ n + 1 }}", "{{ 1 - n }}", "{{ -n }}", "{{ n * m }}", "{{ n // 7 }}",
        "{{ n % 2 }}", "{{ 2 % m }}", "{{ n ** 2 }}", "{{ 2 ** n }}", "{{ 123456789012345678901234567890 + 1 }}",
        "{{ 'ffffffffffffffffffff'|int(0, 16) }}", "{{ f[0]|int }}", "{{ '%d' % f[1] }}", "{{ n.bit_length() }}",
        "{{ n.as_integer_ratio() }}" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buffer_t out = { 0 };
        error_t error = { 0 };
        if (s_render (rows [i][0], context, &out, &error))
            fail_msg ("%s: %s", rows [i][0], error.text);
        assert_string_equal (buffer_string (&out), rows [i][1]);
        buffer_fini (&out);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        buffer_t out = { 0 };
        error_t error = { 0 };
        assert_int_equal (s_render (refused [i], context, &out, &error), STATUS_INVALID);
        bool named = strstr (error.text, "a whole number leaves 64 bits") || strstr (error.text, "OverflowError");
        assert_true (named && out.size == 0);
    }
}

//  What stands where something else was expected is named as it is written, numbers too.
static void
test_numbers_in_the_wrong_place_are_named (void **state)
{
#define ONES "1111111111111111111111111111111111111111111111111111111111111111111111"
    static const char *const rows [][2] = { { "{{ [1 2] }}", "found '2'" }, { "{{ [1 1.5e3] }}", "found '1.5e3'" },
        { "{{ (1 0x1F) }}", "found '0x1F'" }, { "{% for 1_000 %}", "found '1_000'" }, { "{% 77 %}", "tag '77'" },
        { "{{ [1 12345678901234567890] }}", "found '12345678901234567890'" },
        { "{{ 0b" ONES ONES " }}", "is too large" }, { "{{ " ONES ONES ".5 }}", "is too large" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buffer_t out = { 0 };
        error_t error = { 0 };
        assert_int_equal (s_render (rows [i][0], "{}", &out, &error), STATUS_INVALID);
        if (!strstr (error.text, rows [i][1]))
            fail_msg ("%s: %s", rows [i][0], error.text);
        buffer_fini (&out);
    }
}

//  References of HTML by name and by number, as Python's html.unescape reads them.
static void
test_striptags_reads_the_references_of_html (void **state)
{
    static const char *const rows [][2] = { { "<b>&eacute;&NotEqualTilde;&CounterClockwiseContourIntegral;</b>",
                                                "\u00e9\u2242\u0338\u2233" },
        { "&amp;lt; &amp &ampx; &notit; &notin; &no; &bogus; & &; a&",
            "&lt; & &x; \u00acit; \u2209 &no; &bogus; & &; a&" },
        { "&#65;&#x41;&#X41&#65 &#0;&#xd800;&#x110000;&#99999999999;", "AAAA \ufffd\ufffd\ufffd\ufffd" },
        { "&#x80;&#x9f;&#x81;|&#1;&#x7f;&#xfdd0;&#x1ffff;|&#x1F999;&#;&#x;",
            "\u20ac\u0178\xc2\x81||\U0001f999&#;&#x;" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buffer_t source = { 0 }, out = { 0 };
        error_t error = { 0 };
        buffer_print (&source, "{{ '%s'|striptags }}", rows [i][0]);
        if (s_render (buffer_string (&source), "{}", &out, &error))
            fail_msg ("%s: %s", rows [i][0], error.text);
        assert_string_equal (buffer_string (&out), rows [i][1]);
        buffer_fini (&source);
        buffer_fini (&out);
    }
}

static const struct {
    const char *source;
    status_t status;
} s_harm [] = {
    { "{% for i in range(1000000000) %}x{% endfor %}", STATUS_INVALID },
    { "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}", STATUS_LIMIT },
    { "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}", STATUS_INVALID },
    { "{{ 'x' * 1000000000 }}", STATUS_INVALID },
    { "{% for i in range(1000) %}{{ 'x' * 10000 }}{% endfor %}", STATUS_LIMIT },
    { "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
        STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{% for i in range(1000) %}{{ 'z' in x }}{% endfor %}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{% for i in range(1000) %}{{ x[99999] }}{% endfor %}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{% for i in range(1000) %}{{ x is upper }}{% endfor %}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{{ (x + 'z') in x * 4 }}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{{ (x * 4).split(x + 'z') }}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{{ (x * 4).strip('z' * 100000 + 'y')|length }}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{{ (x * 4).count(x + 'z') }}", STATUS_LIMIT },
    { "{% set ns = namespace(x=(1,)) %}{% for i in range(190) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
      "{{ {ns.x: 1}|length }}",
        STATUS_LIMIT },
    { "{{ ('<!--' * 10000)|striptags }}{{ [1]|random }}", STATUS_INVALID },
    { "{{ range(9)|trim('y' * 1000000) }}{{ range(9)|trim('y' * 1000000) }}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{% for i in range(99) %}{{ x < x }}{% endfor %}", STATUS_LIMIT },
    { "{% set x = 'y' * 100000 %}{{ x.startswith((x[:99999] + 'z',) * 99) }}", STATUS_LIMIT },
    { "{% set l = range(9999)|list %}{% for i in range(99) %}{{ l.insert(0, l.pop()) }}{% endfor %}", STATUS_LIMIT },
    { "{% set d = {} %}{{ d.update({'d': d}) }}{{ [d]|map(attribute='d' + '.d' * 299999)|list|length }}",
        STATUS_LIMIT },
    { "{{ ('{' * 1000000).format() }}", STATUS_LIMIT },
    { "{{ strftime_now ('%Y' * 100000) }}", STATUS_LIMIT },
    { "{{ ('a-b ' * 50000)|wordwrap(3) }}", STATUS_LIMIT },
    { "{{ ('a\\nb' * 100000)|wordwrap(9, true, 'x' * 100000) }}", STATUS_LIMIT },
    { "{{ ('www.a.com ' * 50000)|urlize }}", STATUS_LIMIT },
    { "{% set ns = namespace(x=['y' * 1000]) %}{% for i in range(180) %}{% set ns.x = {'k' * 10000: ns.x} %}{% endfor "
      "%}"
      "{{ ns.x|pprint }}",
        STATUS_LIMIT },
    { "{{ ('a' * 10000).translate({97: 'b' * 10000})|length }}", STATUS_LIMIT },
    { "{{ range(0, 9223372036854775807, 4611686018427387904)[::2] }}", STATUS_INVALID },
    { "{{ range(5, 0, -9223372036854775807 - 1)[::-1]|list }}", STATUS_INVALID },
    { "{{ 9223372036854775807|round(-1) }}", STATUS_INVALID },
    { "{% for i in range(2) %}{{ ['y' * 700000] }}{% endfor %}", STATUS_LIMIT },
    { "{% for i in range(600) %}{{ '%.50f'|format(1e300) }}{% endfor %}", STATUS_LIMIT },
    { "{% for i in range(500) %}{{ 1e308 % 1e-308 }}{% endfor %}", STATUS_LIMIT },
    { "{{ 'x'.encode() }}{{ (5).to_bytes() }}", STATUS_INVALID },
    { "{% for c in '\x80"
      "ab' %}{{ loop.previtem }}{% endfor %}",
        STATUS_INVALID },
    { "{{ '%9999999d' % 1 }}", STATUS_INVALID },
    { "{{ '{:>9999999}'.format(1) }}", STATUS_INVALID },
    { "{{ 'x'.center(10000000) }}", STATUS_LIMIT },
    { "{{ 'x'|indent(9999999999) }}", STATUS_INVALID },
    { "{{ [1]|tojson(indent=99999999) }}", STATUS_INVALID },
    { "{{ '{:{:{:{}}}}'.format(1, 2, 3, 4) }}", STATUS_INVALID },
    { "{{ 2 ** 99999 }}", STATUS_INVALID },
    { "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", STATUS_LIMIT },
    { "{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
        STATUS_INVALID },
    { "{% set l = [] %}{{ l.append(l) }}{{ l }}", STATUS_INVALID },
    { "{% set l = [] %}{{ l.append(l) }}{{ l|tojson }}", STATUS_INVALID },
    { "{% set l = [] %}{% set m = [] %}{{ l.append(l) }}{{ m.append(m) }}{{ l == m }}", STATUS_INVALID },
    { "{{ range(*[1, 2, 3, 4]) }}", STATUS_INVALID },
    { "{{ range(*5) }}{{ dict(**{1: 2}) }}", STATUS_INVALID },
    { "{{ dict(**[1]) }}", STATUS_INVALID },
    { "{{ 9223372036854775807 + 1 }}", STATUS_INVALID },
    { "{{ big + 1 }}", STATUS_INVALID },
    { "{{ -big }}", STATUS_INVALID },
    { "{{ 1 // 0 }}", STATUS_INVALID },
    { "{{ ''.__class__.__mro__ }}", STATUS_INVALID },
    { "{{ '%*d' % 3 }}", STATUS_INVALID },
    { "{% if %}", STATUS_INVALID },
    { "{{ (((((((((( }}", STATUS_INVALID },
    { "{% endfor %}", STATUS_INVALID },
    { "{{ 'open", STATUS_INVALID },
    { "{# open", STATUS_INVALID },
    { "{% break %}", STATUS_INVALID },
    { "{{ x.y.z }}", STATUS_INVALID },
};

static void
test_harm_is_bounded_and_named (void **state)
{
    for (size_t i = 0; i < sizeof s_harm / sizeof *s_harm; i++) {
        buffer_t out = { 0 };
        error_t error = { 0 };
        status_t status = s_render (s_harm [i].source, "{\"big\":18446744073709551615}", &out, &error);
        if (status != s_harm [i].status)
            fail_msg ("%s: %s, %s", s_harm [i].source, status_name (status), error.text);
        assert_true (span_starts_with (span_from_string (error.text), SPAN ("line 1: ")));
        assert_int_equal (out.size, 0);
        buffer_fini (&out);
    }
}

//  Ten million bytes of content, NUL and half a surrogate in it, go through what templates do to content.
static void
test_long_texts_are_rendered_or_refused_in_time (void **state)
{
    static const char *const sources [] = {
        "{{ x|length }}{{ x|trim|length }}{{ x|upper|length }}{{ x|tojson|length }}{{ x.replace('a', 'b')|length }}",
        "{{ x.split('a')|length }}",
        "{% for c in x %}{{ c }}{% endfor %}",
        "{{ x|reverse|length }}{{ x[::-1]|length }}{{ x[5:-5]|length }}",
        "{{ (x * 100)|length }}",
        "}}",
    };
    buffer_t text = { 0 };
    json_t *context;
    buffer_append_string (&text, "{\"x\":\" \\u0000\\ud800");
    for (size_t i = 0; i < 10000000; i++)
        buffer_append_byte (&text, i % 100 ? 'b' : 'a');
    buffer_append_string (&text, "\"}");
    assert_int_equal (json_parse (buffer_span (&text), &context, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        buffer_t out = { 0 };
        error_t error = { 0 };
        template_t *template = template_compile (span_from_string (sources [i]), &error);
        template_input_t input = { .context = context };
        status_t status = template_render (template, &input, &out, NULL, &error);
        if (status != STATUS_OK && status != STATUS_LIMIT && status != STATUS_INVALID)
            fail_msg ("%s: %s", sources [i], error.text);
        template_destroy (&template);
        buffer_fini (&out);
    }
    json_destroy (&context);
    buffer_fini (&text);
}

static void
test_nesting_without_end_is_refused (void **state)
{
    buffer_t source = { 0 };
    buffer_t out = { 0 };
    error_t error = { 0 };
    for (int i = 0; i < 100000; i++)
        buffer_append_string (&source, "{% if x %}");
    assert_int_equal (s_render (buffer_string (&source), "{}", &out, &error), STATUS_INVALID);
    buffer_clear (&source);
    buffer_append_string (&source, "{{ ");
    for (int i = 0; i < 100000; i++)
        buffer_append_string (&source, "not ");
    assert_int_equal (s_render (buffer_string (&source), "{}", &out, &error), STATUS_INVALID);
    buffer_fini (&source);
    buffer_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_every_published_template_renders_as_jinja_does),
        cmocka_unit_test (test_the_language_is_jinjas),
        cmocka_unit_test (test_seams_lie_where_messages_begin_and_end),
        cmocka_unit_test (test_a_growing_conversation_keeps_its_seams),
        cmocka_unit_test (test_a_rendering_that_fails_leaves_no_seams),
        cmocka_unit_test (test_the_moment_prints_as_python_does),
        cmocka_unit_test (test_loops_over_loops_keep_nothing),
        cmocka_unit_test (test_bounds_grow_with_the_conversation),
        cmocka_unit_test (test_numbers_of_any_size_come_out_as_given),
        cmocka_unit_test (test_numbers_in_the_wrong_place_are_named),
        cmocka_unit_test (test_striptags_reads_the_references_of_html),
        cmocka_unit_test (test_harm_is_bounded_and_named),
        cmocka_unit_test (test_long_texts_are_rendered_or_refused_in_time),
        cmocka_unit_test (test_nesting_without_end_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
