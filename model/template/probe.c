#include "model/template/probe.h"

#include <stddef.h>
#include <string.h>

#include "base/json_writer.h"
#include "model/template/filters.h"

enum { STEPS_MAX = 1000000, MEMORY_MAX = 16 << 20, OUTPUT_MAX = 4 << 20 };

//  Words that no template brings by itself.
#define FRONT "zfrontz"
#define BEFORE "zbeforez"
#define MARK "zmarkz"
#define AFTER "zafterz"

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define ASSISTANT(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define SYSTEM(text) "{\"role\":\"system\",\"content\":\"" text "\"}"
#define DEVELOPER(text) "{\"role\":\"developer\",\"content\":\"" text "\"}"
#define CALL(id, name, arguments) \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":" arguments "}}"
#define CALLS(content, calls) "{\"role\":\"assistant\",\"content\":" content ",\"tool_calls\":[" calls "]}"
#define RESULT(text) "{\"role\":\"tool\",\"tool_call_id\":\"call00001\",\"name\":\"zcallz\",\"content\":\"" text "\"}"
#define ONE_CALL CALL ("call00001", "zcallz", "{\"path\":\"zvaluez\"}")
#define ONE_CALL_WITH(content) \
    MESSAGES (USER (BEFORE) "," CALLS (content, CALL ("call00001", MARK, "{}")) "," RESULT (AFTER))
#define MESSAGES(list) "\"messages\":[" list "]"
#define PARAMETERS                                                                                                \
    "{\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\", \"description\": \"The path.\"}}, " \
    "\"required\": [\"path\"]}"
#define TOOLS                                                                                     \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"ztoolz\",\"description\":\"Does " \
    "it.\",\"parameters\":" PARAMETERS "}}]"

typedef struct {
    const template_t *template;    //  Tried
    const json_t *variables;       //  Of every rendering
} probe_t;

//  ---- Rendering -----------------------------------------------------------------------------------------------------

static void
s_append_variables (const json_t *variables, buffer_t *text)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    while (json_next (variables, &cursor, &key, &value)) {
        buffer_append_string (text, ",\"");
        json_escape (text, key);
        buffer_append_string (text, "\":");
        json_render (value, text);
    }
}

//  A conversation by members of its object; members that stand further behind win.
static bool
s_render (const probe_t *self, const char *members, const char *more, buffer_t *out)
{
    buffer_t text = { 0 };
    json_t *context = NULL;
    buffer_clear (out);
    buffer_append_string (&text, "{\"add_generation_prompt\":true,\"tools\":null,\"documents\":null");
    s_append_variables (self->variables, &text);
    buffer_print (&text, ",%s%s}", members, more);
    status_t status = json_parse (buffer_span (&text), &context, NULL);
    template_input_t input = { .context = context };
    input.output_max = OUTPUT_MAX;
    input.memory_max = MEMORY_MAX;
    input.steps_max = STEPS_MAX;
    if (!status)
        status = template_render (self->template, &input, out, NULL, NULL);
    json_destroy (&context);
    buffer_fini (&text);
    return status == STATUS_OK;
}

static size_t
s_place (span_t prompt, const char *word)
{
    span_t found = filters_find (prompt, span_from_string (word));
    return found.data ? (size_t)(found.data - prompt.data) : SIZE_MAX;
}

//  ---- Fates ---------------------------------------------------------------------------------------------------------

//  MARK between BEFORE and AFTER, as far as these are there.
static fate_t
s_fate_of (const probe_t *self, const char *members)
{
    buffer_t prompt = { 0 };
    bool rendered = s_render (self, members, "", &prompt);
    size_t mark = s_place (buffer_span (&prompt), MARK);
    size_t before = s_place (buffer_span (&prompt), BEFORE);
    size_t after = s_place (buffer_span (&prompt), AFTER);
    buffer_fini (&prompt);
    if (!rendered)
        return FATE_REFUSED;
    if (mark == SIZE_MAX)
        return FATE_DROPPED;
    bool ordered = (before == SIZE_MAX || before < mark) && (after == SIZE_MAX || mark < after);
    return ordered ? FATE_KEPT : FATE_MOVED;
}

//  The same; where a call is lost that comes with empty content, it may come with none.
static fate_t
s_fate (const probe_t *self, const char *members)
{
    static const char empty [] = "\"content\":\"\"";
    fate_t fate = s_fate_of (self, members);
    const char *found = fate >= FATE_DROPPED ? strstr (members, empty) : NULL;
    if (!found)
        return fate;
    buffer_t without = { 0 };
    buffer_append (&without, span_of (members, (size_t)(found - members)));
    buffer_append_string (&without, "\"content\":null");
    buffer_append_string (&without, found + sizeof empty - 1);
    fate_t second = s_fate_of (self, buffer_string (&without));
    buffer_fini (&without);
    return second < fate ? second : fate;
}

#define OFFSET(member) offsetof (template_findings_t, member)

static const struct {
    size_t offset;          //  Of a fate_t in the findings
    const char *members;    //  Of the conversation
} s_fates [] = {
    { OFFSET (system_first), MESSAGES (SYSTEM (MARK) "," USER (AFTER)) },
    { OFFSET (system_middle), MESSAGES (USER (FRONT) "," ASSISTANT (BEFORE) "," SYSTEM (MARK) "," USER (AFTER)) },
    { OFFSET (system_after_tool),
        MESSAGES (USER (FRONT) "," CALLS ("\"\"", ONE_CALL) "," RESULT (BEFORE) "," SYSTEM (MARK)) "," TOOLS },
    { OFFSET (system_last), MESSAGES (USER (BEFORE) "," SYSTEM (MARK)) },
    { OFFSET (developer_first), MESSAGES (DEVELOPER (MARK) "," USER (AFTER)) },
    { OFFSET (developer_middle), MESSAGES (USER (FRONT) "," ASSISTANT (BEFORE) "," DEVELOPER (MARK) "," USER (AFTER)) },
    { OFFSET (two_users), MESSAGES (USER (BEFORE) "," USER (MARK)) },
    { OFFSET (second_call),
        MESSAGES (USER (BEFORE) "," CALLS ("\"\"", ONE_CALL "," CALL ("call00002", MARK, "{}")) "," RESULT (AFTER)) },
    { OFFSET (tool_result), MESSAGES (USER (FRONT) "," CALLS ("\"\"", ONE_CALL) "," RESULT (MARK)) },
    { OFFSET (call_arguments), MESSAGES (USER (BEFORE) "," CALLS ("\"\"",
                                   CALL ("call00001", "zcallz", "{\"path\":\"" MARK "\"}")) "," RESULT (AFTER)) },
    { OFFSET (text_arguments),
        MESSAGES (USER (BEFORE) "," CALLS (
            "\"\"", CALL ("call00001", "zcallz", "\"{\\\"path\\\":\\\"" MARK "\\\"}\"")) "," RESULT (AFTER)) },
    { OFFSET (inline_thoughts),
        MESSAGES (USER (FRONT) "," ASSISTANT ("<think>\\n" MARK "\\n</think>\\n\\n" AFTER) "," USER ("zuserz")) },
};

static void
s_try_fates (const probe_t *self, template_findings_t *findings)
{
    for (size_t i = 0; i < sizeof s_fates / sizeof *s_fates; i++)
        *(fate_t *)((char *)findings + s_fates [i].offset) = s_fate (self, s_fates [i].members);
}

//  Content in parts may be printed as it is, which a model cannot want.
static fate_t
s_typed_content (const probe_t *self)
{
    static const char members [] =
        MESSAGES ("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" MARK "\"}]}");
    buffer_t prompt = { 0 };
    fate_t fate = s_fate (self, members);
    bool raw = s_render (self, members, "", &prompt) && (s_place (buffer_span (&prompt), "'type'") != SIZE_MAX ||
                                                            s_place (buffer_span (&prompt), "\"type\"") != SIZE_MAX);
    buffer_fini (&prompt);
    return raw ? FATE_REFUSED : fate;
}

static bool
s_developer_is_system (const probe_t *self)
{
    buffer_t developer = { 0 }, system = { 0 };
    bool rendered = s_render (self, MESSAGES (DEVELOPER (MARK) "," USER (AFTER)), "", &developer) &&
                    s_render (self, MESSAGES (SYSTEM (MARK) "," USER (AFTER)), "", &system);
    bool equal = rendered && span_equal (buffer_span (&developer), buffer_span (&system));
    buffer_fini (&developer);
    buffer_fini (&system);
    return equal;
}

//  An object that is printed as Python writes one, or not at all, where the text of it is.
static bool
s_wants_text (const probe_t *self, const template_findings_t *findings)
{
    static const char members [] = MESSAGES (USER (BEFORE) "," CALLS ("\"\"", ONE_CALL) "," RESULT (AFTER));
    buffer_t prompt = { 0 };
    bool rendered = s_render (self, members, "", &prompt);
    bool python = rendered && s_place (buffer_span (&prompt), "{'path': 'zvaluez'}") != SIZE_MAX;
    buffer_fini (&prompt);
    return findings->text_arguments == FATE_KEPT && (findings->call_arguments != FATE_KEPT || python);
}

//  ---- Tools ---------------------------------------------------------------------------------------------------------

static void
s_try_tools (const probe_t *self, template_findings_t *findings)
{
    buffer_t prompt = { 0 };
    bool rendered = s_render (
        self, MESSAGES (SYSTEM (FRONT) "," USER (BEFORE) "," ASSISTANT (MARK) "," USER (AFTER)) "," TOOLS, "", &prompt);
    //  Some templates let a system message stand in for what tools need: then the conversation goes without one.
    if (!rendered || s_place (buffer_span (&prompt), "ztoolz") == SIZE_MAX)
        rendered =
            s_render (self, MESSAGES (USER (BEFORE) "," ASSISTANT (MARK) "," USER (AFTER)) "," TOOLS, "", &prompt);
    size_t tool = s_place (buffer_span (&prompt), "ztoolz");
    size_t system = s_place (buffer_span (&prompt), FRONT);
    findings->tools = !rendered                                        ? TOOLS_REFUSED
                      : tool == SIZE_MAX                               ? TOOLS_ABSENT
                      : system != SIZE_MAX && tool < system            ? TOOLS_BEFORE_ALL
                      : tool < s_place (buffer_span (&prompt), BEFORE) ? TOOLS_AFTER_SYSTEM
                      : tool < s_place (buffer_span (&prompt), AFTER)  ? TOOLS_BEFORE_LAST
                                                                       : TOOLS_AFTER_ALL;
    findings->tools_as_json = s_place (buffer_span (&prompt), PARAMETERS) != SIZE_MAX;
    buffer_fini (&prompt);
}

//  ---- Reasoning -----------------------------------------------------------------------------------------------------

#define THINKS(field, rest) "{\"role\":\"assistant\",\"" field "\":\"" MARK "\"," rest "}"
#define IN_HISTORY(field) MESSAGES (USER (BEFORE) "," THINKS (field, "\"content\":\"zsaidz\"") "," USER (AFTER))
#define IN_LOOP(field)                                                                                               \
    MESSAGES (USER (BEFORE) "," THINKS (field, "\"content\":\"\",\"tool_calls\":[" ONE_CALL "]") "," RESULT (AFTER)) \
    "," TOOLS

static void
s_try_reasoning (const probe_t *self, template_findings_t *findings)
{
    static const struct {
        const char *field;      //  That holds reasoning
        const char *history;    //  It in an earlier turn
        const char *loop;       //  It in the turn that is going on
    } rows [] = {
        { "reasoning_content", IN_HISTORY ("reasoning_content"), IN_LOOP ("reasoning_content") },
        { "reasoning", IN_HISTORY ("reasoning"), IN_LOOP ("reasoning") },
        { "thinking", IN_HISTORY ("thinking"), IN_LOOP ("thinking") },
    };
    findings->reasoning = "";
    findings->kept = REASONING_NEVER;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !*findings->reasoning; i++) {
        bool history = s_fate (self, rows [i].history) <= FATE_MOVED;
        bool loop = s_fate (self, rows [i].loop) <= FATE_MOVED;
        if (!history && !loop)
            continue;
        findings->reasoning = rows [i].field;
        findings->kept = history && loop ? REASONING_ALWAYS : loop ? REASONING_IN_LOOP : REASONING_NOT_LATEST;
    }
}

//  ---- How an answer begins ------------------------------------------------------------------------------------------

//  What add_generation_prompt changes at the end of a prompt.
static void
s_take_tail (const probe_t *self, const char *members, const char *more, buffer_t *tail)
{
    buffer_t with = { 0 }, without = { 0 }, quiet = { 0 };
    buffer_print (&quiet, "%s,\"add_generation_prompt\":false", more);
    if (s_render (self, members, more, &with) && s_render (self, members, buffer_string (&quiet), &without)) {
        size_t common = 0;
        while (common < with.size && common < without.size && with.data [common] == without.data [common])
            common++;
        //  Where something else ends the prompt without it, both may begin with the same letters of a marker.
        while (common && common < without.size && with.data [common] != '<' && !strchr ("\n >", with.data [common - 1]))
            common--;
        buffer_append (tail, span_slice (buffer_span (&with), common, with.size));
    }
    buffer_fini (&with);
    buffer_fini (&without);
    buffer_fini (&quiet);
}

//  The first variable whose two values give two prompts.
static void
s_try_thinking (const probe_t *self, template_findings_t *findings)
{
    static const struct {
        const char *name;    //  Of the variable
        const char *on;      //  It, set
        const char *off;     //  It, not
    } rows [] = {
        { "enable_thinking", ",\"enable_thinking\":true", ",\"enable_thinking\":false" },
        { "thinking", ",\"thinking\":true", ",\"thinking\":false" },
        { "reasoning_effort", ",\"reasoning_effort\":\"high\"", ",\"reasoning_effort\":\"none\"" },
    };
    static const char members [] = MESSAGES (USER (MARK));
    buffer_t on = { 0 }, off = { 0 };
    findings->thinking = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !*findings->thinking; i++) {
        bool rendered = s_render (self, members, rows [i].on, &on) && s_render (self, members, rows [i].off, &off);
        if (!rendered || span_equal (buffer_span (&on), buffer_span (&off)))
            continue;
        findings->thinking = rows [i].name;
        s_take_tail (self, members, rows [i].on, &findings->tail_thinking);
        s_take_tail (self, members, rows [i].off, &findings->tail_plain);
    }
    buffer_fini (&on);
    buffer_fini (&off);
}

void
template_probe (const template_t *self, const json_t *variables, template_findings_t *findings)
{
    probe_t probe = { .template = self, .variables = variables };
    *findings = (template_findings_t){ 0 };
    s_try_fates (&probe, findings);
    findings->typed_content = s_typed_content (&probe);
    findings->empty_content = s_fate_of (&probe, ONE_CALL_WITH ("\"\""));
    findings->null_content = s_fate_of (&probe, ONE_CALL_WITH ("null"));
    findings->developer_is_system = s_developer_is_system (&probe);
    findings->wants_text = s_wants_text (&probe, findings);
    s_try_tools (&probe, findings);
    s_try_reasoning (&probe, findings);
    s_try_thinking (&probe, findings);
    s_take_tail (&probe, MESSAGES (USER (MARK)), "", &findings->tail);
    s_take_tail (&probe, MESSAGES (USER (BEFORE) "," CALLS ("\"\"", ONE_CALL) "," RESULT (MARK)) "," TOOLS, "",
        &findings->tail_after_tool);
}

void
template_findings_fini (template_findings_t *self)
{
    buffer_fini (&self->tail);
    buffer_fini (&self->tail_thinking);
    buffer_fini (&self->tail_plain);
    buffer_fini (&self->tail_after_tool);
}

//  ---- As words ------------------------------------------------------------------------------------------------------

static const char *
s_fate_name (fate_t fate)
{
    static const char *const names [] = { "kept", "moved", "dropped", "refused" };
    return names [fate];
}

typedef enum { AS_FATE, AS_BOOL, AS_TOOLS, AS_KEPT, AS_WORD, AS_TEXT } form_t;

static const struct {
    const char *name;    //  Of a finding
    size_t offset;       //  In the findings
    form_t form;         //  How it is said
} s_rows [] = {
    { "system_first", OFFSET (system_first), AS_FATE },
    { "system_middle", OFFSET (system_middle), AS_FATE },
    { "system_after_tool", OFFSET (system_after_tool), AS_FATE },
    { "system_last", OFFSET (system_last), AS_FATE },
    { "developer_first", OFFSET (developer_first), AS_FATE },
    { "developer_middle", OFFSET (developer_middle), AS_FATE },
    { "developer_is_system", OFFSET (developer_is_system), AS_BOOL },
    { "two_users", OFFSET (two_users), AS_FATE },
    { "typed_content", OFFSET (typed_content), AS_FATE },
    { "empty_content", OFFSET (empty_content), AS_FATE },
    { "null_content", OFFSET (null_content), AS_FATE },
    { "second_call", OFFSET (second_call), AS_FATE },
    { "tool_result", OFFSET (tool_result), AS_FATE },
    { "call_arguments", OFFSET (call_arguments), AS_FATE },
    { "text_arguments", OFFSET (text_arguments), AS_FATE },
    { "wants_text", OFFSET (wants_text), AS_BOOL },
    { "tools", OFFSET (tools), AS_TOOLS },
    { "tools_as_json", OFFSET (tools_as_json), AS_BOOL },
    { "reasoning", OFFSET (reasoning), AS_WORD },
    { "reasoning_kept", OFFSET (kept), AS_KEPT },
    { "inline_thoughts", OFFSET (inline_thoughts), AS_FATE },
    { "thinking", OFFSET (thinking), AS_WORD },
    { "tail", OFFSET (tail), AS_TEXT },
    { "tail_thinking", OFFSET (tail_thinking), AS_TEXT },
    { "tail_plain", OFFSET (tail_plain), AS_TEXT },
    { "tail_after_tool", OFFSET (tail_after_tool), AS_TEXT },
};

bool
template_findings_next (const template_findings_t *self, size_t *cursor, const char **name, buffer_t *value)
{
    static const char *const places [] = { "absent", "before all", "after system", "before last", "after all",
        "refused" };
    static const char *const spans [] = { "never", "in loop", "always", "not latest" };
    if (*cursor == sizeof s_rows / sizeof *s_rows)
        return false;
    const void *field = (const char *)self + s_rows [*cursor].offset;
    *name = s_rows [*cursor].name;
    switch (s_rows [(*cursor)++].form) {
    case AS_FATE:
        buffer_append_string (value, s_fate_name (*(const fate_t *)field));
        break;
    case AS_BOOL:
        buffer_append_string (value, *(const bool *)field ? "yes" : "no");
        break;
    case AS_TOOLS:
        buffer_append_string (value, places [*(const tools_t *)field]);
        break;
    case AS_KEPT:
        buffer_append_string (value, spans [*(const reasoning_t *)field]);
        break;
    case AS_WORD:
        buffer_append_string (value, *(const char *const *)field);
        break;
    case AS_TEXT:
        buffer_append (value, buffer_span (field));
    }
    return true;
}
