#include "actors/frontend/exposition.h"

#include "base/memory.h"

typedef struct {
    buffer_t head;       //  Its HELP and TYPE lines, as the first actor said them
    buffer_t samples;    //  Of all actors
} family_t;

void
exposition_init (exposition_t *self)
{
    *self = (exposition_t){ .families = map_new (0) };
}

void
exposition_fini (exposition_t *self)
{
    size_t cursor = 0;
    void *value;
    while (map_next (self->families, &cursor, NULL, &value)) {
        family_t *family = value;
        buffer_fini (&family->head);
        buffer_fini (&family->samples);
        memory_free (family);
    }
    map_destroy (&self->families);
}

static family_t *
s_family (exposition_t *self, span_t name)
{
    family_t *family = map_get (self->families, name);
    if (!family) {
        family = memory_new (sizeof *family);
        map_put (self->families, name, family);
    }
    return family;
}

//  The third word of "# HELP name ..." and "# TYPE name ...".
static span_t
s_name_of_comment (span_t line)
{
    span_t rest = span_slice (line, sizeof "# HELP " - 1, line.size);
    return span_slice (rest, 0, span_find_byte (rest, ' '));
}

//  "name{labels} value" or "name value", with one more label at the front.
static void
s_append_sample (buffer_t *out, span_t line, span_t actor)
{
    size_t brace = span_find_byte (line, '{');
    size_t blank = span_find_byte (line, ' ');
    bool labelled = brace < blank;
    size_t name_size = labelled ? brace : blank;
    buffer_append (out, span_slice (line, 0, name_size));
    buffer_print (out, "{actor=\"%.*s\"", SPAN_ARG (actor));
    if (labelled) {
        span_t labels = span_slice (line, brace + 1, line.size);
        buffer_append_string (out, labels.size && labels.data [0] == '}' ? "" : ",");
        buffer_append (out, labels);
    } else {
        buffer_append_byte (out, '}');
        buffer_append (out, span_slice (line, blank, line.size));
    }
    buffer_append_byte (out, '\n');
}

//  head_open: the family of this text whose comments are being read had none before.
static family_t *
s_take_comment (exposition_t *self, span_t line, family_t *current, bool *head_open)
{
    family_t *family = s_family (self, s_name_of_comment (line));
    if (family != current)
        *head_open = family->head.size == 0;
    if (*head_open) {
        buffer_append (&family->head, line);
        buffer_append_byte (&family->head, '\n');
    }
    return family;
}

bool
exposition_add (exposition_t *self, span_t text, span_t actor)
{
    family_t *family = NULL;
    bool head_open = false;
    if (self->size + text.size > EXPOSITION_MAX)
        return false;
    self->size += text.size;
    while (text.size) {
        size_t end = span_find_byte (text, '\n');
        span_t line = span_slice (text, 0, end);
        text = span_slice (text, end + 1, text.size);
        if (span_starts_with (line, SPAN ("# HELP ")) || span_starts_with (line, SPAN ("# TYPE ")))
            family = s_take_comment (self, line, family, &head_open);
        else if (family && line.size && line.data [0] != '#')
            s_append_sample (&family->samples, line, actor);
    }
    return true;
}

void
exposition_render (const exposition_t *self, buffer_t *out)
{
    size_t cursor = 0;
    void *value;
    while (map_next (self->families, &cursor, NULL, &value)) {
        const family_t *family = value;
        buffer_append (out, buffer_span (&family->head));
        buffer_append (out, buffer_span (&family->samples));
    }
}
