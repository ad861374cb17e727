//  What a template uses, by the words it is written in

#include "model/bundle/bundle.h"
#include "model/parser/text.h"

static const struct {
    const char *word;       //  In the template's text
    const char *feature;    //  What that says
} s_features [] = {
    { "{% macro ", "macros" },
    { "{%- macro ", "macros" },
    { "namespace(", "namespaces" },
    { "{% call ", "call blocks" },
    { "{%- call ", "call blocks" },
    { "{% filter ", "filter blocks" },
    { "{%- filter ", "filter blocks" },
    { " generation ", "generation blocks" },
    { " break ", "loop controls" },
    { " continue ", "loop controls" },
    { "tojson", "tojson" },
    { "strftime_now", "strftime_now" },
    { "raise_exception", "raise_exception" },
    { "tools", "tools" },
    { "tool_calls", "tool calls" },
    { "reasoning_content", "reasoning" },
    { ".thinking", "reasoning" },
    { "enable_thinking", "enable_thinking" },
    { "reasoning_effort", "reasoning_effort" },
    { "developer", "developer role" },
    { "documents", "documents" },
    { "image", "images" },
};

enum { FEATURES = sizeof s_features / sizeof *s_features };

static bool
s_has (const bundle_template_t *template, const char *word)
{
    return template && text_find (buffer_span (&template->source), word) != SIZE_MAX;
}

static bool
s_is_used (const bundle_t *self, size_t row)
{
    const char *word = s_features [row].word;
    return s_has (self->plain, word) || s_has (self->with_tools, word);
}

const char *
bundle_next_feature (const bundle_t *self, size_t *cursor)
{
    while (*cursor < FEATURES) {
        size_t row = (*cursor)++;
        bool said = row && s_features [row].feature == s_features [row - 1].feature && s_is_used (self, row - 1);
        if (!said && s_is_used (self, row))
            return s_features [row].feature;
    }
    return NULL;
}
