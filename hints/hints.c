#include "hints/hints.h"

#include <stdio.h>
#include <string.h>

void
hints_init (hints_t *self, arena_t *arena)
{
    *self = (hints_t){ .arena = arena };
}

static void
s_settle (hint_t *hint, outcome_t outcome, span_t reason)
{
    hint->outcome = outcome;
    span_copy_string (reason, hint->reason, sizeof hint->reason);
}

//  NULL where there are too many.
static hint_t *
s_add (hints_t *self, const hint_source_t *source, span_t name)
{
    if (!self->hints)
        self->hints = arena_new (self->arena, HINTS_MAX * sizeof *self->hints);
    if (!self->hints || self->count == HINTS_MAX) {
        self->dropped++;
        return NULL;
    }
    hint_t *hint = &self->hints [self->count++];
    *hint = (hint_t){ .source = source, .name = name };
    return hint;
}

static bool
s_was_said (const hints_t *self, const hint_source_t *source)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->hints [i].source == source)
            return true;
    return false;
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

static void
s_take (hints_t *self, const hint_source_t *source, bool read, const hint_value_t *value, const char *reason)
{
    bool again = s_was_said (self, source);
    hint_t *hint = s_add (self, source, span_from_string (source->name));
    if (!hint)
        return;
    if (again)
        s_settle (hint, OUTCOME_REJECTED, SPAN ("said twice"));
    else if (!read)
        s_settle (hint, OUTCOME_REJECTED, span_from_string (reason));
    else
        hint->value = *value;
}

void
hints_read_header (hints_t *self, span_t name, span_t value)
{
    for (size_t i = 0; i < hint_source_count; i++) {
        const hint_source_t *source = &hint_sources [i];
        if (source->in_body || !span_equal_nocase (name, span_from_string (source->name)))
            continue;
        hint_value_t parsed;
        const char *reason = "";
        bool read = hint_source_read_header (source, span_trim (value), self->arena, &parsed, &reason);
        s_take (self, source, read, &parsed, reason);
    }
}

//  Whether a source of the body leads through the member KEY of the object that PREFIX ends at.
static bool
s_is_known (span_t prefix, span_t key)
{
    for (size_t i = 0; i < hint_source_count; i++) {
        span_t path = span_from_string (hint_sources [i].name);
        if (!hint_sources [i].in_body || !span_starts_with (path, prefix))
            continue;
        span_t rest = span_slice (path, prefix.size, path.size);
        if (span_starts_with (rest, key) && (rest.size == key.size || rest.data [key.size] == '.'))
            return true;
    }
    return false;
}

static void
s_reject_name (hints_t *self, span_t name, const char *reason)
{
    hint_t *hint = s_add (self, NULL, arena_copy (self->arena, span_slice (name, 0, HINT_REASON_MAX / 2)));
    if (hint)
        s_settle (hint, OUTCOME_REJECTED, span_from_string (reason));
}

//  Our own objects have no members for others: what means nothing in them is a mistake that its author wants to hear of.
//  prefix: the object's path and a dot.
static void
s_reject_unknown (hints_t *self, const json_t *object, span_t prefix)
{
    if (object && json_kind (object) != JSON_OBJECT)
        s_reject_name (self, span_slice (prefix, 0, prefix.size - 1), "not an object");
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    while (json_next (object, &cursor, &key, &value))
        if (!s_is_known (prefix, key))
            s_reject_name (self, key, "no hint of this name");
}

void
hints_read_body (hints_t *self, const json_t *body)
{
    for (size_t i = 0; i < hint_source_count; i++) {
        const hint_source_t *source = &hint_sources [i];
        const json_t *json = source->in_body ? json_get_path (body, source->name) : NULL;
        if (!json)
            continue;
        hint_value_t parsed = { 0 };
        const char *reason = "";
        bool read = hint_source_read_body (source, json, self->arena, &parsed, &reason);
        s_take (self, source, read, &parsed, reason);
    }
    s_reject_unknown (self, json_get_path (body, "stator"), SPAN ("stator."));
    s_reject_unknown (self, json_get_path (body, "stator.hints"), SPAN ("stator.hints."));
}

//  ---- Choosing ------------------------------------------------------------------------------------------------------

static bool
s_is_candidate (const hint_t *hint, hint_field_t field)
{
    return hint->source && hint->source->field == field && hint->outcome == 0;
}

//  The readable one whose source stands first in the table.
static hint_t *
s_first_of (hints_t *self, hint_field_t field)
{
    hint_t *first = NULL;
    for (size_t i = 0; i < self->count; i++) {
        hint_t *hint = &self->hints [i];
        if (s_is_candidate (hint, field) && (!first || hint->source < first->source))
            first = hint;
    }
    return first;
}

//  The others agree with it or are overruled.  Those that agree share its answer.
static void
s_overrule (hints_t *self, hint_field_t field, const hint_t *first)
{
    char reason [HINT_REASON_MAX];
    snprintf (reason, sizeof reason, "%.*s counts", SPAN_ARG (first->name));
    for (size_t i = 0; i < self->count; i++) {
        hint_t *hint = &self->hints [i];
        if (hint == first || !s_is_candidate (hint, field))
            continue;
        bool same = hint->value.number == first->value.number && span_equal (hint->value.text, first->value.text);
        if (!same)
            s_settle (hint, OUTCOME_REJECTED, span_from_string (reason));
    }
}

static void
s_fill (envelope_t *envelope, hint_field_t field, const hint_value_t *value)
{
    switch (field) {
    case HINT_PRIORITY:
        envelope->has_priority = true;
        envelope->priority = (int32_t)value->number;
        break;
    case HINT_EXPECTED_OUTPUT:
        envelope->has_expected_output = true;
        envelope->expected_output = (uint32_t)value->number;
        break;
    case HINT_SESSION:
        envelope->has_session = true;
        envelope->session = value->text;
        break;
    case HINT_AGENT:
        envelope->has_agent = true;
        envelope->agent = value->text;
        break;
    case HINT_PARENT:
        envelope->has_parent = true;
        envelope->parent = value->text;
        break;
    case HINT_FINAL:
        envelope->has_final = true;
        envelope->final = value->number != 0;
        break;
    case HINT_TURNS_LEFT:
        envelope->has_turns_left = true;
        envelope->turns_left = (uint32_t)value->number;
        break;
    case HINT_NOTHING:
        break;
    }
}

void
hints_choose (hints_t *self, envelope_t *envelope)
{
    *envelope = (envelope_t){ 0 };
    for (hint_field_t field = 0; field < HINT_FIELD_COUNT; field++) {
        hint_t *first = s_first_of (self, field);
        self->chosen [field] = first;
        if (!first)
            continue;
        s_fill (envelope, field, &first->value);
        s_overrule (self, field, first);
    }
}

//  ---- Answers -------------------------------------------------------------------------------------------------------

//  A value that was cut to its bound stays `clipped` where it is accepted: that is how far it was.
static void
s_answer (hint_t *hint, outcome_t outcome, span_t reason)
{
    if (outcome != OUTCOME_ACCEPTED || !hint->value.clipped) {
        s_settle (hint, outcome, reason);
        return;
    }
    char bound [32];
    snprintf (bound, sizeof bound, "%lld", (long long)hint->value.bound);
    s_settle (hint, OUTCOME_CLIPPED, span_from_string (bound));
}

void
hints_answer (hints_t *self, hint_field_t field, outcome_t outcome, span_t reason)
{
    if (outcome == OUTCOME_DEFERRED || outcome == OUTCOME_MISSING)
        return;
    for (size_t i = 0; i < self->count; i++)
        if (s_is_candidate (&self->hints [i], field))
            s_answer (&self->hints [i], outcome, reason);
}

void
hints_answer_all (hints_t *self, const receipt_t *receipts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (hint_field_t field = 0; field < HINT_FIELD_COUNT; field++)
            if (span_equal_string (receipts [i].hint, hint_field_name (field)))
                hints_answer (self, field, receipts [i].outcome, receipts [i].reason);
}

void
hints_close (hints_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->hints [i].outcome == 0)
            s_settle (&self->hints [i], OUTCOME_REJECTED, SPAN ("nobody acts on it"));
}

//  ---- Text ----------------------------------------------------------------------------------------------------------

static void
s_render_one (const hint_t *hint, buffer_t *out)
{
    hint_field_t field = hint->source ? hint->source->field : HINT_NOTHING;
    if (field != HINT_NOTHING)
        buffer_print (out, "%s:", hint_field_name (field));
    buffer_append (out, hint->name);
    buffer_print (out, "=%s", outcome_name (hint->outcome ? hint->outcome : OUTCOME_DEFERRED));
    if (hint->reason [0])
        buffer_print (out, "(%s)", hint->reason);
}

//  The text goes into a header: what is not plain ASCII becomes an underscore.
static void
s_make_plain (buffer_t *text)
{
    for (size_t i = 0; i < text->size; i++)
        if (text->data [i] < 0x20 || text->data [i] > 0x7e)
            text->data [i] = '_';
}

//  Appends those that are (or are not) accepted while they fit.  Returns how many did not.
static size_t
s_render_those (const hints_t *self, bool accepted, buffer_t *text)
{
    size_t left_out = 0;
    for (size_t i = 0; i < self->count; i++) {
        if ((self->hints [i].outcome == OUTCOME_ACCEPTED) != accepted)
            continue;
        size_t before = text->size;
        if (before)
            buffer_append_string (text, ", ");
        s_render_one (&self->hints [i], text);
        if (text->size > HINTS_TEXT_MAX - sizeof ", more=1000000") {
            text->size = before;
            left_out++;
        }
    }
    return left_out;
}

void
hints_render (const hints_t *self, buffer_t *out)
{
    buffer_t text = { 0 };
    size_t left_out = s_render_those (self, false, &text);
    left_out += s_render_those (self, true, &text) + self->dropped;
    if (left_out)
        buffer_print (&text, "%smore=%zu", text.size ? ", " : "", left_out);
    s_make_plain (&text);
    buffer_append (out, buffer_span (&text));
    buffer_fini (&text);
}
