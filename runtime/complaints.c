#include "runtime/complaints.h"

#include <stdarg.h>
#include <stdio.h>

void
complaints_init (complaints_t *self, const char *source)
{
    *self = (complaints_t){ .source = source };
    array_init (&self->list, sizeof (complaint_t));
}

void
complaints_fini (complaints_t *self)
{
    array_fini (&self->list);
}

void
complaints_add (complaints_t *self, place_t place, const char *format, ...)
{
    if (self->list.count == COMPLAINTS_MAX) {
        self->omitted++;
        return;
    }
    complaint_t *complaint = array_add (&self->list);
    complaint->place = place;
    complaint->order = (uint32_t)self->list.count;
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (complaint->text, sizeof complaint->text, format, arguments);
    va_end (arguments);
}

bool
complaints_any (const complaints_t *self)
{
    return self->list.count > 0;
}

static int
s_compare (const void *a_, const void *b_)
{
    const complaint_t *a = a_, *b = b_;
    if (a->place.line != b->place.line)
        return a->place.line < b->place.line ? -1 : 1;
    if (a->place.column != b->place.column)
        return a->place.column < b->place.column ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

void
complaints_sort (complaints_t *self)
{
    array_sort (&self->list, s_compare);
}

static void
s_render (const complaints_t *self, const complaint_t *complaint, buffer_t *out)
{
    buffer_print (out, "%s:", self->source);
    if (complaint->place.line)
        buffer_print (out, "%u:%u:", complaint->place.line, complaint->place.column);
    buffer_print (out, " %s", complaint->text);
}

void
complaints_render (complaints_t *self, buffer_t *out)
{
    complaints_sort (self);
    for (size_t i = 0; i < self->list.count; i++) {
        s_render (self, array_at (&self->list, i), out);
        buffer_append_byte (out, '\n');
    }
    if (self->omitted)
        buffer_print (out, "%s: %zu more\n", self->source, self->omitted);
}

status_t
complaints_to_error (complaints_t *self, error_t *error)
{
    if (!complaints_any (self))
        return STATUS_OK;
    complaints_sort (self);
    buffer_t text = { 0 };
    s_render (self, array_at (&self->list, 0), &text);
    size_t more = self->list.count - 1 + self->omitted;
    if (more)
        buffer_print (&text, " (and %zu more)", more);
    error_set (error, STATUS_INVALID, "%s", buffer_string (&text));
    buffer_fini (&text);
    return STATUS_INVALID;
}
