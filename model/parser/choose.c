//  Which format a model writes, and where its answer stands when the prompt ends

#include <stdio.h>
#include <string.h>

#include "model/parser/format.h"
#include "model/parser/text.h"

//  How far back an opener may stand.
enum { PREFILL_MAX = 1 << 16 };

//  ---- Format --------------------------------------------------------------------------------------------------------

static bool
s_contains (span_t text, const char *word)
{
    return text_find (text, word) != SIZE_MAX;
}

//  What in a template speaks for a row; NULL: nothing.
static const char *
s_evidence_of (const parser_format_t *row, span_t template_source)
{
    if (row->evidence_too && !s_contains (template_source, row->evidence_too))
        return NULL;
    for (size_t i = 0; i < PARSER_ALTERNATIVES && row->evidence [i]; i++)
        if (s_contains (template_source, row->evidence [i]))
            return row->evidence [i];
    return NULL;
}

//  What in a vocabulary speaks for a row: what would in a template, or (`opener`) what opens a section or a call, as one token.
//  NULL: nothing.
static const char *
s_token_of (const parser_format_t *row, bool opener, parser_has_token_t has_token, void *context)
{
    const char *const openers [PARSER_ALTERNATIVES] = { row->section_start, row->call_start };
    const char *const *words = opener ? openers : row->evidence;
    for (size_t i = 0; has_token && row->machine != PARSER_PLAIN && i < PARSER_ALTERNATIVES; i++)
        if (words [i] && strlen (words [i]) > 1 && has_token (context, span_from_string (words [i])))
            return words [i];
    return NULL;
}

static bool
s_thinks_in (const parser_format_t *row, span_t template_source)
{
    for (size_t i = 0; i < PARSER_ALTERNATIVES && row->think_start [i]; i++)
        if (s_contains (template_source, row->think_start [i]))
            return true;
    return false;
}

//  The first row whose marks of reasoning a template writes, where the chosen one has others or none.
static const parser_format_t *
s_choose_reasoning (const parser_format_t *chosen, span_t template_source)
{
    size_t count;
    const parser_format_t *rows = parser_formats (&count);
    if (s_thinks_in (chosen, template_source) || chosen->machine == PARSER_HARMONY)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (s_thinks_in (&rows [i], template_source))
            return &rows [i];
    return NULL;
}

//  By what the template writes, else by what the vocabulary has.
static const parser_format_t *
s_choose (span_t template_source, parser_has_token_t has_token, void *context, const char **why, const char **word)
{
    size_t count;
    const parser_format_t *rows = parser_formats (&count);
    *why = "the chat template writes";
    for (size_t i = 0; i < count; i++)
        if ((*word = s_evidence_of (&rows [i], template_source)) != NULL)
            return &rows [i];
    *why = "the vocabulary has the token";
    for (size_t i = 0; i < 2 * count; i++)
        if ((*word = s_token_of (&rows [i % count], i >= count, has_token, context)) != NULL)
            return &rows [i % count];
    *why = "neither template nor vocabulary has a marker that is known";
    return &rows [count - 1];
}

parser_choice_t
parser_choose (span_t template_source, parser_has_token_t has_token, void *context)
{
    parser_choice_t choice = { 0 };
    const char *why, *word;
    choice.format = s_choose (template_source, has_token, context, &why, &word);
    choice.reasoning = s_choose_reasoning (choice.format, template_source);
    snprintf (choice.reason, sizeof choice.reason, "%s%s%s", why, word ? " " : "", word ? word : "");
    return choice;
}

//  ---- Start ---------------------------------------------------------------------------------------------------------

//  Where the last occurrence of a word begins; SIZE_MAX: nowhere.
static size_t
s_last (span_t text, const char *word)
{
    size_t size = word ? strlen (word) : 0;
    for (size_t at = text.size; size && at >= size; at--)
        if (memcmp (text.data + at - size, word, size) == 0)
            return at - size;
    return SIZE_MAX;
}

//  Behind an opener, these begin a turn: the opener is somebody's text then.
static bool
s_has_turn (span_t text)
{
    static const char *const turns [] = { "<|im_", "<|start", "<|eot", "<|end", "<|user", "<|assistant",
        "<\xef\xbd\x9c", "[INST]", "[/INST]", "<start_of_turn>", "<|turn>", "</s>" };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        if (s_contains (text, turns [i]))
            return true;
    return false;
}

//  The last of some markers in a text, and where it begins.
static const char *
s_last_of (span_t text, const char *const markers [], size_t *at)
{
    const char *found = NULL;
    for (size_t i = 0; i < PARSER_ALTERNATIVES && markers [i]; i++) {
        size_t position = s_last (text, markers [i]);
        if (position == SIZE_MAX || (found && position < *at))
            continue;
        *at = position;
        found = markers [i];
    }
    return found;
}

//  From an opener of reasoning that is still open.
static span_t
s_open_reasoning (const parser_format_t *format, span_t prompt)
{
    size_t opened = 0;
    size_t closed = 0;
    const char *opener = s_last_of (prompt, format->think_start, &opened);
    const char *closer = s_last_of (prompt, format->think_end, &closed);
    if (!opener || (closer && closed > opened))
        return (span_t){ 0 };
    if (s_has_turn (span_slice (prompt, opened + strlen (opener), prompt.size)))
        return (span_t){ 0 };
    return span_slice (prompt, opened, prompt.size);
}

span_t
parser_prefill (const parser_format_t *format, span_t whole)
{
    span_t prompt = span_slice (whole, whole.size - (whole.size < PREFILL_MAX ? whole.size : PREFILL_MAX), whole.size);
    const char *const openers [] = { format->section_start, format->call_start };
    if (format->machine == PARSER_HARMONY || format->recipients) {
        size_t start = s_last (prompt, "<|start|>");
        return start == SIZE_MAX ? (span_t){ 0 } : span_slice (prompt, start, prompt.size);
    }
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        size_t start = s_last (prompt, openers [i]);
        if (start != SIZE_MAX && strlen (openers [i]) > 1 && start + strlen (openers [i]) == prompt.size)
            return span_slice (prompt, start, prompt.size);
    }
    return s_open_reasoning (format, prompt);
}

span_t
parser_choice_prefill (const parser_choice_t *self, span_t prompt)
{
    span_t prefill = parser_prefill (self->format, prompt);
    return prefill.size || !self->reasoning ? prefill : parser_prefill (self->reasoning, prompt);
}
