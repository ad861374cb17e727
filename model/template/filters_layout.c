//  filters_layout - texts and values in lines of a width: wordwrap and pprint, as Python's textwrap and pprint lay them out

#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

enum { WRAP_WIDTH = 79, PPRINT_WIDTH = 80 };

//  ---- Pieces of a paragraph -----------------------------------------------------------------------------------------
//
//  A line may end behind every piece: a run of blanks, a word, the part of a word up to a hyphen between letters, a dash
//  between words.

typedef struct {
    const uint32_t *points;    //  Of the paragraph
    size_t count;              //  How many
    size_t begin;              //  Of the present piece
    size_t end;                //  Behind it
    bool hyphens;              //  Words have parts
} pieces_t;

static uint32_t
s_point (const pieces_t *self, size_t at)
{
    return at < self->count ? self->points [at] : 0;
}

static bool
s_is_blank (uint32_t point)
{
    return point == ' ' || (point >= '\t' && point <= '\r');
}

static bool
s_is_word (uint32_t point)
{
    return point == '_' || unicode_is_alphanumeric (point);
}

static bool
s_is_letter (uint32_t point)
{
    return s_is_word (point) && !unicode_is_decimal (point);
}

//  Two letters or more around a hyphen that stands here, which other hyphens may part.
static bool
s_is_hyphen (const pieces_t *self, size_t at)
{
    if (s_point (self, at) != '-' || !s_is_letter (s_point (self, at - 1)) || !s_is_letter (s_point (self, at + 1)))
        return false;
    bool before =
        s_is_letter (s_point (self, at - 2)) || (s_point (self, at - 2) == '-' && s_is_letter (s_point (self, at - 3)));
    bool behind =
        s_is_letter (s_point (self, at + 2)) || (s_point (self, at + 2) == '-' && s_is_letter (s_point (self, at + 3)));
    return before && behind;
}

//  Hyphens of a dash between two words that begins here; 0 where none does.
static size_t
s_dash (const pieces_t *self, size_t at)
{
    uint32_t before = s_point (self, at - 1);
    size_t size = 0;
    if (s_point (self, at) != '-' ||
        !(s_is_word (before) || (before && before < 0x80 && strchr ("!\"'&.,?", (int)before))))
        return 0;
    while (s_point (self, at + size) == '-')
        size++;
    return size > 1 && s_is_word (s_point (self, at + size)) ? size : 0;
}

static void
s_next_piece (pieces_t *self)
{
    size_t at = self->begin = self->end;
    bool blank = s_is_blank (s_point (self, at));
    size_t dash = self->hyphens && at < self->count ? s_dash (self, at) : 0;
    for (at += dash; !dash && at < self->count && s_is_blank (self->points [at]) == blank; at++) {
        bool inside = self->hyphens && at > self->begin;
        if (inside && s_is_hyphen (self, at)) {
            at++;
            break;
        }
        if (inside && s_dash (self, at))
            break;
    }
    self->end = at;
}

static bool
s_is_empty (const pieces_t *self, size_t from, size_t to)
{
    while (from < to && unicode_is_space (self->points [from]))
        from++;
    return from == to;
}

//  ---- Wrapping ------------------------------------------------------------------------------------------------------

typedef struct {
    render_t *render;    //  For steps and errors
    buffer_t out;        //  The lines so far
    value_t between;     //  Two lines
    size_t width;        //  Characters a line
    bool breaks;         //  Words longer than a line
    bool hyphens;        //  At hyphens, too
    bool parts;          //  The same, and words have parts: Python asks in two ways
} wrap_t;

//  Where a word is cut of which so many characters fit.
static size_t
s_cut (const wrap_t *self, const pieces_t *pieces, size_t room)
{
    size_t cut = room;
    while (self->hyphens && cut && pieces->points [pieces->begin + cut - 1] != '-')
        cut--;
    for (size_t i = 0; i + 1 < cut; i++)
        if (pieces->points [pieces->begin + i] != '-')
            return cut;
    return room;
}

//  Puts what fits of a word that no line holds on this one; last: where its last piece begins.
static void
s_break_word (const wrap_t *self, pieces_t *pieces, size_t from, size_t *last)
{
    if (self->breaks) {
        *last = pieces->begin;
        pieces->begin += s_cut (self, pieces, self->width - (pieces->begin - from));
    } else if (pieces->begin == from) {
        *last = from;
        s_next_piece (pieces);
    }
}

//  Takes pieces for one line: from .. to, without blanks at its end.
static void
s_take_pieces (const wrap_t *self, pieces_t *pieces, size_t *from, size_t *to)
{
    size_t last = *from = pieces->begin;
    while (pieces->begin < pieces->count && pieces->end - *from <= self->width) {
        last = pieces->begin;
        s_next_piece (pieces);
    }
    if (pieces->end - pieces->begin > self->width)
        s_break_word (self, pieces, *from, &last);
    *to = s_is_empty (pieces, last, pieces->begin) ? last : pieces->begin;
}

static void
s_wrap_paragraph (wrap_t *self, pieces_t *pieces)
{
    value_heap_t *heap = &self->render->heap;
    size_t lines = 0, from, to;
    s_next_piece (pieces);
    while (pieces->begin < pieces->count && value_step (heap, 1) && value_scan (heap, self->between.as.text)) {
        if (lines && s_is_empty (pieces, pieces->begin, pieces->end))
            s_next_piece (pieces);
        s_take_pieces (self, pieces, &from, &to);
        if (from == to)
            continue;
        if (lines++)
            value_print (heap, self->between, &self->out);
        for (; from < to; from++)
            unicode_append (&self->out, pieces->points [from]);
    }
}

static bool
s_wrap_line (wrap_t *self, span_t line)
{
    value_heap_t *heap = &self->render->heap;
    pieces_t pieces = { .hyphens = self->parts };
    uint32_t *points = value_step (heap, line.size) ? value_alloc (heap, line.size * sizeof *points) : NULL;
    if (!points)
        return false;
    for (size_t at = 0, size; at < line.size; at += size)
        points [pieces.count++] = unicode_decode (span_slice (line, at, 4), &size);
    pieces.points = points;
    s_wrap_paragraph (self, &pieces);
    return !value_heap_failed (heap);
}

value_t
filters_wordwrap (render_t *render, value_t self, const args_t *args)
{
    args_t none = { 0 };
    value_t yes = value_bool (true), newline = value_text (SPAN ("\n"));
    value_t hyphens = args_or (args, 3, "break_on_hyphens", yes), between = args_or (args, 2, "wrapstring", newline);
    int64_t width = args_int (args, 0, "width", WRAP_WIDTH);
    wrap_t wrap = {
        .render = render, .width = (size_t)width, .between = between.kind == VALUE_NONE ? newline : between
    };
    wrap.breaks = value_is_true (args_or (args, 1, "break_long_words", yes));
    wrap.hyphens = value_is_true (hyphens);
    wrap.parts = hyphens.kind == VALUE_BOOL && hyphens.as.truth;
    if (self.kind == VALUE_UNDEFINED)
        return render_undefined_error (render, self);
    if (self.kind != VALUE_STRING || wrap.between.kind != VALUE_STRING)
        return value_fail (&render->heap, "AttributeError: a text is wrapped with a text, not '%s' with '%s'",
            value_type_name (self), value_type_name (wrap.between));
    const value_t *given = args_get (args, 0, "width");
    if (given && given->kind != VALUE_INT && given->kind != VALUE_BOOL && self.as.text.size)
        return value_fail (&render->heap, "TypeError: a width is a whole number, not '%s'", value_type_name (*given));
    if (width < 1 && self.as.text.size)
        return value_fail (&render->heap, "ValueError: invalid width %lld (must be > 0)", (long long)width);
    self.safe = false;
    value_t lines = render_builtin (render, builtin_find (methods_of_text, SPAN ("splitlines")), self, &none);
    for (size_t i = 0; !value_heap_failed (&render->heap) && i < lines.as.list->count; i++) {
        if (i)
            value_print (&render->heap, wrap.between, &wrap.out);
        s_wrap_line (&wrap, lines.as.list->items [i].as.text);
    }
    return value_take_buffer (&render->heap, &wrap.out);
}

//  ---- Values in lines -----------------------------------------------------------------------------------------------

//  The same value with its dicts in the order of their keys, which pprint shows.
static value_t
s_in_order (render_t *render, value_t value)
{
    value_t sorted = value;
    bool entered = value_enter (&render->heap);
    if (entered && value.kind == VALUE_DICT) {
        sorted = value_new_dict (&render->heap, VALUE_DICT);
        value_t flag = value_bool (true);
        value_t rows = render_filter (render, SPAN ("dictsort"), value, &(args_t){ .items = &flag, .count = 1 });
        for (size_t i = 0; !value_heap_failed (&render->heap) && i < rows.as.list->count; i++) {
            const value_t *pair = rows.as.list->items [i].as.list->items;
            value_dict_set (&render->heap, sorted.as.dict, pair [0], s_in_order (render, pair [1]));
        }
    }
    if (entered && value_is_sequence (value)) {
        sorted = value_new_list (&render->heap, value.kind);
        for (size_t i = 0; !value_heap_failed (&render->heap) && i < value.as.list->count; i++)
            value_list_add (&render->heap, sorted.as.list, s_in_order (render, value.as.list->items [i]));
    }
    value_leave (&render->heap);
    return value_heap_failed (&render->heap) ? (value_t){ 0 } : sorted;
}

//  Where a value stands that is being laid out.
typedef struct {
    size_t indent;       //  Characters before it
    size_t allowance;    //  That must fit behind it
    bool outermost;      //  A text gets brackets of its own
} place_t;

//  repr (), and its characters.
static span_t
s_repr (render_t *render, value_t value, int64_t *length)
{
    buffer_t out = { 0 };
    value_print_repr (&render->heap, value, &out);
    span_t text = value_take_buffer (&render->heap, &out).as.text;
    *length = (int64_t)value_text_length (text);
    return text;
}

//  A new line and its indentation, which keys make as long as they are.
static void
s_break (render_t *render, size_t indent, buffer_t *out)
{
    buffer_append_byte (out, '\n');
    for (size_t i = 0; i < indent && value_step (&render->heap, 1); i++)
        buffer_append_byte (out, ' ');
}

static void s_lay_out (render_t *render, value_t value, place_t place, buffer_t *out);

static void
s_lay_out_pairs (render_t *render, const value_dict_t *dict, place_t place, buffer_t *out)
{
    int64_t length;
    buffer_append_byte (out, '{');
    for (size_t i = 0; i < dict->count && value_step (&render->heap, 1); i++) {
        bool last = i + 1 == dict->count;
        buffer_append (out, s_repr (render, dict->pairs [i].key, &length));
        buffer_append_string (out, ": ");
        place_t inside = { place.indent + (size_t)length + 3, last ? place.allowance + 1 : 1, false };
        s_lay_out (render, dict->pairs [i].value, inside, out);
        if (last)
            break;
        buffer_append_byte (out, ',');
        s_break (render, place.indent + 1, out);
    }
    buffer_append_byte (out, '}');
}

static void
s_lay_out_items (render_t *render, value_t row, place_t place, buffer_t *out)
{
    const value_list_t *list = row.as.list;
    bool tuple = row.kind == VALUE_TUPLE;
    const char *end = !tuple ? "]" : list->count == 1 ? ",)" : ")";
    buffer_append_byte (out, tuple ? '(' : '[');
    for (size_t i = 0; i < list->count && value_step (&render->heap, 1); i++) {
        bool last = i + 1 == list->count;
        if (i) {
            buffer_append_byte (out, ',');
            s_break (render, place.indent + 1, out);
        }
        place_t inside = { place.indent + 1, last ? place.allowance + strlen (end) : 1, false };
        s_lay_out (render, list->items [i], inside, out);
    }
    buffer_append_string (out, end);
}

//  A word with the whitespace behind it.
static span_t
s_take_part (span_t *rest)
{
    size_t at = 0;
    bool space = false;
    for (size_t size; at < rest->size; at += size) {
        bool is_space = unicode_is_space (unicode_decode (span_slice (*rest, at, 4), &size));
        if (space && !is_space)
            break;
        space = is_space;
    }
    span_t part = span_slice (*rest, 0, at);
    *rest = span_slice (*rest, at, rest->size);
    return part;
}

//  Texts for the lines of a line that is too long: as many words each as fit.
static void
s_add_parts (render_t *render, value_t chunks, span_t line, int64_t width, int64_t last_width)
{
    int64_t length;
    span_t current = span_of (line.data, 0);
    for (span_t rest = line; rest.size && !value_heap_failed (&render->heap);) {
        span_t part = s_take_part (&rest);
        span_t candidate = span_of (current.data, current.size + part.size);
        s_repr (render, value_text (candidate), &length);
        bool fits = length <= (rest.size ? width : last_width);
        if (!fits && current.size)
            value_list_add (&render->heap, chunks.as.list, value_text (current));
        current = fits ? candidate : part;
    }
    if (current.size && !value_heap_failed (&render->heap))
        value_list_add (&render->heap, chunks.as.list, value_text (current));
}

//  The texts, a line each, that stand for one that is too long.
static value_t
s_chunks (render_t *render, span_t text, int64_t width, int64_t last_width)
{
    value_t keep = value_bool (true), chunks = value_new_list (&render->heap, VALUE_LIST);
    value_t lines = render_builtin (render, builtin_find (methods_of_text, SPAN ("splitlines")), value_text (text),
        &(args_t){ .items = &keep, .count = 1 });
    for (size_t i = 0; !value_heap_failed (&render->heap) && i < lines.as.list->count; i++) {
        int64_t length, most = i + 1 < lines.as.list->count ? width : last_width;
        s_repr (render, lines.as.list->items [i], &length);
        if (length > most)
            s_add_parts (render, chunks, lines.as.list->items [i].as.text, width, most);
        else if (!value_heap_failed (&render->heap))
            value_list_add (&render->heap, chunks.as.list, lines.as.list->items [i]);
    }
    return chunks;
}

static void
s_lay_out_text (render_t *render, span_t text, place_t place, buffer_t *out)
{
    int64_t length, width = PPRINT_WIDTH - (int64_t)place.indent - place.outermost;
    value_t chunks = s_chunks (render, text, width, width - (int64_t)place.allowance - place.outermost);
    bool brackets = place.outermost && !value_heap_failed (&render->heap) && chunks.as.list->count > 1;
    buffer_append_string (out, brackets ? "(" : "");
    for (size_t i = 0; !value_heap_failed (&render->heap) && i < chunks.as.list->count; i++) {
        if (i)
            s_break (render, place.indent + place.outermost, out);
        buffer_append (out, s_repr (render, chunks.as.list->items [i], &length));
    }
    buffer_append_string (out, brackets ? ")" : "");
}

static void
s_lay_out (render_t *render, value_t value, place_t place, buffer_t *out)
{
    int64_t length;
    span_t flat = s_repr (render, value, &length);
    bool fits = length <= PPRINT_WIDTH - (int64_t)place.indent - (int64_t)place.allowance;
    if (value_heap_failed (&render->heap) || out->size > render->heap.arena.limit)
        return;
    if (!fits && value.kind == VALUE_DICT)
        s_lay_out_pairs (render, value.as.dict, place, out);
    else if (!fits && value_is_sequence (value))
        s_lay_out_items (render, value, place, out);
    else if (!fits && value.kind == VALUE_STRING && !value.safe && value.as.text.size)
        s_lay_out_text (render, value.as.text, place, out);
    else
        buffer_append (out, flat);
}

value_t
filters_pprint (render_t *render, value_t self, const args_t *args)
{
    buffer_t out = { 0 };
    value_t sorted = s_in_order (render, self);
    if (!value_heap_failed (&render->heap))
        s_lay_out (render, sorted, (place_t){ .outermost = true }, &out);
    return value_take_buffer (&render->heap, &out);
}
