#include "model/tokenizer/splitter.h"

#include <string.h>

#include "base/memory.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/letters.h"
#include "model/tokenizer/scripts.h"
#include "model/tokenizer/search.h"

void
pieces_init (pieces_t *self)
{
    *self = (pieces_t){ 0 };
    array_init (&self->pieces, sizeof (piece_t));
    array_init (&self->pieces2, sizeof (piece_t));
}

void
pieces_fini (pieces_t *self)
{
    buffer_fini (&self->text);
    buffer_fini (&self->text2);
    array_fini (&self->pieces);
    array_fini (&self->pieces2);
}

void
splitter_init (splitter_t *self)
{
    *self = (splitter_t){ 0 };
    array_init (&self->steps, sizeof (step_t));
}

static void
s_free_step (step_t *step)
{
    regex_destroy (&step->regex);
    memory_free ((void *)step->string.data);
    memory_free ((void *)step->prefix.data);
    memory_free ((void *)step->for_space.data);
}

void
splitter_fini (splitter_t *self)
{
    for (size_t i = 0; i < self->steps.count; i++)
        s_free_step (array_at (&self->steps, i));
    array_fini (&self->steps);
}

status_t
splitter_add (splitter_t *self, step_t step, error_t *error)
{
    if (self->steps.count == SPLITTER_STEPS_MAX) {
        s_free_step (&step);
        return error_set (error, STATUS_LIMIT, "more than %d pre-tokenizers", SPLITTER_STEPS_MAX);
    }
    array_append (&self->steps, &step, 1);
    return STATUS_OK;
}

bool
splitter_writes_bytes (const splitter_t *self)
{
    alphabet_t last = ALPHABET_STAYS;
    for (size_t i = 0; i < self->steps.count; i++) {
        const step_t *step = array_at (&self->steps, i);
        last = step->alphabet == ALPHABET_STAYS ? last : step->alphabet;
    }
    return last == ALPHABET_FROM_BYTES;
}

//  ---- Changing the text ---------------------------------------------------------------------------------------------

//  Swaps in what a step has made of all pieces.
static void
s_swap (pieces_t *pieces)
{
    buffer_t text = pieces->text;
    pieces->text = pieces->text2;
    pieces->text2 = text;
    array_t row = pieces->pieces;
    pieces->pieces = pieces->pieces2;
    pieces->pieces2 = row;
    buffer_clear (&pieces->text2);
    array_cut (&pieces->pieces2, 0);
}

static void
s_append_spaced (buffer_t *out, span_t text, span_t for_space)
{
    while (for_space.size) {
        size_t before = span_find_byte (text, ' ');
        buffer_append (out, span_slice (text, 0, before));
        if (before == text.size)
            return;
        buffer_append (out, for_space);
        text = span_slice (text, before + 1, text.size);
    }
    buffer_append (out, text);
}

//  A piece as the step wants it, before it is cut.
static void
s_change (const step_t *step, span_t piece, bool is_first, buffer_t *out)
{
    bool prefixed = step->prefixed == PREFIX_ALWAYS || (step->prefixed == PREFIX_FIRST && is_first);
    bool there = span_starts_with (piece, step->prefix) ||
                 (span_equal (step->for_space, step->prefix) && piece.size && piece.data [0] == ' ');
    if (prefixed && !there)
        buffer_append (out, step->prefix);
    s_append_spaced (out, piece, step->for_space);
}

static void
s_change_alphabet (alphabet_t alphabet, span_t piece, buffer_t *out)
{
    if (alphabet == ALPHABET_FROM_BYTES)
        alphabet_from_bytes (piece, out);
    else if (!alphabet_to_bytes (piece, out))
        buffer_append (out, piece);
}

//  Writes all pieces anew; alphabet: only that, or (STAYS) what comes before cutting.
static void
s_rewrite (const step_t *step, alphabet_t alphabet, bool is_first, pieces_t *pieces, span_t *text)
{
    for (size_t i = 0; i < pieces->pieces.count; i++) {
        const piece_t *piece = array_at (&pieces->pieces, i);
        span_t bytes = span_slice (*text, piece->start, piece->end - piece->start);
        piece_t changed = { pieces->text2.size, 0 };
        if (alphabet != ALPHABET_STAYS)
            s_change_alphabet (alphabet, bytes, &pieces->text2);
        else
            s_change (step, bytes, is_first && i == 0 && piece->start == 0, &pieces->text2);
        changed.end = pieces->text2.size;
        array_append (&pieces->pieces2, &changed, 1);
    }
    s_swap (pieces);
    *text = buffer_span (&pieces->text);
}

//  ---- Cutting -------------------------------------------------------------------------------------------------------

//  Pieces of one piece, as they come.
typedef struct {
    const step_t *step;    //  What becomes of matches
    array_t *out;          //  piece_t
    size_t first;          //  Where this piece's pieces begin in it
    bool matched;          //  The one before was a match
} cutter_t;

static void
s_join_last (cutter_t *self, size_t start, size_t end)
{
    if (self->out->count > self->first)
        ((piece_t *)array_at (self->out, self->out->count - 1))->end = end;
    else
        array_append (self->out, &(piece_t){ start, end }, 1);
}

//  A stretch that matches or does not; empty ones count for what comes next, but make no piece.
static void
s_emit (cutter_t *self, size_t start, size_t end, bool matches)
{
    split_t split = self->step->split;
    matches ^= self->step->invert;
    bool joins = split == SPLIT_WITH_PREVIOUS ? matches && !self->matched
                 : split == SPLIT_CONTIGUOUS  ? matches == self->matched
                 : split == SPLIT_WITH_NEXT   ? !matches && self->matched
                                              : false;
    if (joins)
        s_join_last (self, start, end);
    else if (!(split == SPLIT_REMOVED && matches))
        array_append (self->out, &(piece_t){ start, end }, 1);
    self->matched = matches;
}

//  True where the character is what the step cuts at.
static bool
s_cuts_at (cut_t cut, uint32_t code)
{
    unsigned kind = letters_of (code);
    if (cut == CUT_DIGITS)
        return letters_is_number (code);
    if (cut == CUT_BLANKS)
        return kind & LETTER_SPACE;
    return code < 128 ? (kind & LETTER_PS) != 0 : letters_is_punctuation (code);
}

static void
s_cut_characters (const step_t *step, span_t text, piece_t piece, cutter_t *cutter)
{
    size_t start = piece.start, size;
    for (size_t at = piece.start; at < piece.end; at += size) {
        if (!s_cuts_at (step->cut, letters_decode (text.data + at, &size)))
            continue;
        if (start < at)
            s_emit (cutter, start, at, false);
        s_emit (cutter, at, at + size, true);
        start = at + size;
    }
    if (start < piece.end)
        s_emit (cutter, start, piece.end, false);
}

//  What comes before the first character of a script is left out.
static void
s_cut_scripts (span_t text, piece_t piece, cutter_t *cutter)
{
    unsigned last = SCRIPT_ANY;
    size_t start = piece.end, size;
    for (size_t at = piece.start; at < piece.end; at += size) {
        unsigned script = scripts_of (letters_decode (text.data + at, &size));
        if (script == SCRIPT_ANY || script == last)
            continue;
        if (start < at)
            s_emit (cutter, start, at, false);
        start = at;
        last = script;
    }
    if (start < piece.end)
        s_emit (cutter, start, piece.end, false);
}

static void
s_cut_lengths (const step_t *step, span_t text, piece_t piece, cutter_t *cutter)
{
    size_t size, at = piece.start;
    while (at < piece.end) {
        size_t start = at;
        for (size_t count = 0; count < step->length && at < piece.end; count++) {
            letters_decode (text.data + at, &size);
            at += size;
        }
        s_emit (cutter, start, at, false);
    }
}

//  The next match in a piece; STATUS_NOT_FOUND where there is none.
static status_t
s_find (const step_t *step, span_t text, size_t from, size_t *start, size_t *end, error_t *error)
{
    if (step->cut == CUT_REGEX)
        return regex_find (step->regex, text, from, start, end, error);
    *start = from + search_find (span_slice (text, from, text.size), step->string);
    *end = *start + step->string.size;
    return *start < text.size ? STATUS_OK : STATUS_NOT_FOUND;
}

//  An empty match cuts where it stands, but not right behind another; the search goes on behind the next character.
static status_t
s_cut_matches (const step_t *step, span_t text, piece_t piece, cutter_t *cutter, error_t *error)
{
    span_t inside = span_slice (text, piece.start, piece.end - piece.start);
    size_t done = 0, start = 0, end = 0;
    status_t status = STATUS_OK;
    for (size_t from = 0; from <= inside.size && !(status = s_find (step, inside, from, &start, &end, error));) {
        size_t size = 0;
        if (start == end && (size = 1) && end < inside.size)
            letters_decode (inside.data + end, &size);
        from = end + size;
        if (start == end && from > size && end == done)
            continue;
        if (done < start)
            s_emit (cutter, piece.start + done, piece.start + start, false);
        s_emit (cutter, piece.start + start, piece.start + end, true);
        done = end;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (done < inside.size)
        s_emit (cutter, piece.start + done, piece.end, false);
    return STATUS_OK;
}

static void
s_drop_empty (array_t *pieces, size_t first)
{
    piece_t *row = pieces->data;
    size_t kept = first;
    for (size_t i = first; i < pieces->count; i++)
        if (row [i].start < row [i].end)
            row [kept++] = row [i];
    array_cut (pieces, kept);
}

static status_t
s_cut (const step_t *step, span_t text, piece_t piece, cutter_t *cutter, error_t *error)
{
    if (step->cut == CUT_REGEX || step->cut == CUT_STRING)
        return s_cut_matches (step, text, piece, cutter, error);
    if (step->cut == CUT_SCRIPTS)
        s_cut_scripts (text, piece, cutter);
    else if (step->cut == CUT_LENGTH)
        s_cut_lengths (step, text, piece, cutter);
    else
        s_cut_characters (step, text, piece, cutter);
    return STATUS_OK;
}

static status_t
s_cut_all (const step_t *step, span_t text, pieces_t *pieces, error_t *error)
{
    for (size_t i = 0; i < pieces->pieces.count; i++) {
        piece_t piece = *(const piece_t *)array_at (&pieces->pieces, i);
        cutter_t cutter = { step, &pieces->pieces2, pieces->pieces2.count, false };
        status_t status = s_cut (step, text, piece, &cutter, error);
        if (status)
            return status;
        s_drop_empty (&pieces->pieces2, cutter.first);
    }
    array_t row = pieces->pieces;
    pieces->pieces = pieces->pieces2;
    pieces->pieces2 = row;
    array_cut (&pieces->pieces2, 0);
    return STATUS_OK;
}

static status_t
s_step (const step_t *step, bool is_first, pieces_t *pieces, span_t *text, error_t *error)
{
    if (step->for_space.size || step->prefixed != PREFIX_NEVER)
        s_rewrite (step, ALPHABET_STAYS, is_first, pieces, text);
    status_t status = step->cut == CUT_NOTHING ? STATUS_OK : s_cut_all (step, *text, pieces, error);
    if (!status && step->alphabet != ALPHABET_STAYS)
        s_rewrite (step, step->alphabet, false, pieces, text);
    return status;
}

status_t
splitter_cut (const splitter_t *self, span_t text, bool is_first, pieces_t *pieces, span_t *result, error_t *error)
{
    array_cut (&pieces->pieces, 0);
    array_cut (&pieces->pieces2, 0);
    buffer_clear (&pieces->text2);
    if (text.size)
        array_append (&pieces->pieces, &(piece_t){ 0, text.size }, 1);
    for (size_t i = 0; i < self->steps.count; i++) {
        status_t status = s_step (array_at (&self->steps, i), is_first, pieces, &text, error);
        if (status)
            return status;
    }
    *result = text;
    return STATUS_OK;
}
