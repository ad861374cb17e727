#include "model/template/template.h"

#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "model/template/syntax.h"
#include "model/template/render.h"

enum { SOURCE_MAX = 4 << 20, TREE_MAX = 64 << 20, OUTPUT_MAX = 64 << 20, SNIPPET_MAX = 80 };

//  What a rendering may take beside what its conversation is worth: a template may look at all messages for each message, and
//  at every character.
enum {
    STEPS = 50000000,
    STEPS_A_PAIR = 12,        //  Of messages
    STEPS_A_BYTE = 6,         //  Of the context in memory
    STEPS_MAX = 1500000000    //  In all
};
enum {
    MEMORY = 256 << 20,
    MEMORY_FACTOR = 8,      //  Of the context in memory
    MEMORY_MAX = 1 << 30    //  In all
};

struct template
{
    char *source;     //  Own copy
    size_t size;      //  Bytes of it
    arena_t arena;    //  The tree
    nodes_t body;     //  Its statements
};

//  Every \r\n and \r becomes \n, as Jinja reads a template; the new size.
static size_t
s_normalize_line_ends (char *text, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        bool pair = text [i] == '\r' && i + 1 < size && text [i + 1] == '\n';
        text [kept++] = text [i] == '\r' ? '\n' : text [i];
        i += pair;
    }
    return kept;
}

//  The text of a line, for messages.
static span_t
s_line (const template_t *self, uint32_t wanted)
{
    span_t rest = span_of (self->source, self->size);
    for (uint32_t line = 1; line < wanted && rest.size; line++)
        rest = span_slice (rest, span_find_byte (rest, '\n') + 1, rest.size);
    return span_slice (span_trim (span_slice (rest, 0, span_find_byte (rest, '\n'))), 0, SNIPPET_MAX);
}

//  "line N: ..." as the parser leaves it gets the line's text.
static void
s_add_snippet (const template_t *self, error_t *error)
{
    uint64_t line = 0;
    span_t text = span_from_string (error->text);
    span_t number =
        span_starts_with (text, SPAN ("line ")) ? span_slice (text, 5, span_find_byte (text, ':') - 5) : text;
    if (!span_to_u64 (number, &line))
        return;
    error_t plain = *error;
    error_set (error, plain.status, "%s, in: %.*s", plain.text, SPAN_ARG (s_line (self, (uint32_t)line)));
}

//  All texts of a rendering are UTF-8, then: those of a context are.
static status_t
s_check_text (span_t source, error_t *error)
{
    size_t valid = utf8_valid_prefix (source), line = 1;
    for (size_t i = 0; i < valid; i++)
        line += source.data [i] == '\n';
    return valid == source.size ? STATUS_OK
                                : error_set (error, STATUS_INVALID, "line %zu: what follows is not UTF-8", line);
}

template_t *
template_compile (span_t source, error_t *error)
{
    error_t unasked;
    error = error ? error : &unasked;
    if (source.size > SOURCE_MAX) {
        error_set (error, STATUS_LIMIT, "a template has at most %d bytes, this one has %zu", SOURCE_MAX, source.size);
        return NULL;
    }
    if (s_check_text (source, error))
        return NULL;
    template_t *self = memory_new (sizeof *self);
    self->source = memory_copy (source.data, source.size);
    self->size = s_normalize_line_ends (self->source, source.size);
    arena_init (&self->arena, TREE_MAX);
    syntax_t syntax;
    if (syntax_parse (&syntax, span_of (self->source, self->size), &self->arena, &self->body, error)) {
        s_add_snippet (self, error);
        template_destroy (&self);
    }
    return self;
}

void
template_destroy (template_t **self_p)
{
    template_t *self = *self_p;
    if (!self)
        return;
    arena_fini (&self->arena);
    memory_free (self->source);
    memory_free (self);
    *self_p = NULL;
}

static void
s_set_context (render_t *render, const json_t *context)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *member;
    while (!value_heap_failed (&render->heap) && json_next (context, &cursor, &key, &member))
        render_set (render, value_copy_text (&render->heap, key).as.text, value_from_json (&render->heap, member));
}

//  A message that ends where the prompt ends has no seam there.
static void
s_drop_last_seam (const render_t *render)
{
    array_t *seams = render->seams;
    if (!seams || seams->count == render->seams_from)
        return;
    if (*(size_t *)array_at (seams, seams->count - 1) == render->prompt->size - render->prompt_at)
        array_cut (seams, seams->count - 1);
}

//  The longest list that is a variable: the messages, as a rule.
static uint64_t
s_longest (const json_t *context)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *member;
    uint64_t longest = 0;
    while (json_next (context, &cursor, &key, &member))
        longest = json_count (member) > longest ? json_count (member) : longest;
    return longest;
}

static uint64_t
s_least (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  Bounds that were not given grow with the context, which is in memory by now.
static void
s_set_bounds (render_t *render, const template_input_t *input)
{
    uint64_t size = render->heap.arena.used;
    uint64_t messages = s_least (s_longest (input->context), STEPS_MAX / STEPS_A_PAIR);
    uint64_t pairs = s_least (messages * messages, STEPS_MAX / STEPS_A_PAIR);
    if (!input->steps_max)
        render->heap.steps = s_least (STEPS + pairs * STEPS_A_PAIR + size * STEPS_A_BYTE, STEPS_MAX);
    if (!input->memory_max)
        render->heap.arena.limit = s_least (MEMORY + size * MEMORY_FACTOR, MEMORY_MAX);
}

status_t
template_render (const template_t *self, const template_input_t *input, buffer_t *out, array_t *seams, error_t *error)
{
    size_t before = out->size;
    size_t most = input->output_max ? input->output_max : OUTPUT_MAX;
    render_t render = { .out = out, .prompt = out, .prompt_at = before, .out_max = before + most };
    render.seams = seams;
    render.seams_from = seams ? seams->count : 0;
    render.now_s = input->now_s;
    value_heap_init (&render.heap, input->memory_max ? input->memory_max : MEMORY_MAX,
        input->steps_max ? input->steps_max : STEPS_MAX);
    render_push (&render, NULL);
    s_set_context (&render, input->context);
    s_set_bounds (&render, input);
    render_push (&render, render.scope);
    execute (&render, &self->body);
    status_t status = render.heap.error.status;
    if (status) {
        error_set (error, status, "line %u: %s, in: %.*s", render.line, render.heap.error.text,
            SPAN_ARG (s_line (self, render.line)));
        out->size = before;
        if (seams)
            array_cut (seams, render.seams_from);
    } else {
        s_drop_last_seam (&render);
    }
    value_heap_fini (&render.heap);
    return status;
}
