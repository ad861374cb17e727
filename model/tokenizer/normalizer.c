#include "model/tokenizer/normalizer.h"

#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/categories.h"
#include "model/tokenizer/classes.h"
#include "model/tokenizer/letters.h"
#include "model/tokenizer/search.h"

enum {
    GROWTH_MAX = 64,        //  After all steps together, normalised text is at most this many times as long,
    GROWTH_FREE = 65536,    //  and this many bytes
    TOUCHED = 1 << 17       //  Characters below it have a bit that says whether a form touches them
};

void
normalizer_init (normalizer_t *self)
{
    array_init (&self->steps, sizeof (normalization_t));
}

static void
s_free_step (normalization_t *step)
{
    memory_free ((void *)step->string.data);
    memory_free ((void *)step->content.data);
    regex_destroy (&step->regex);
    charsmap_fini (&step->charsmap);
    memory_free (step->touched);
    memory_free (step->orderly);
}

void
normalizer_fini (normalizer_t *self)
{
    for (size_t i = 0; i < self->steps.count; i++)
        s_free_step (array_at (&self->steps, i));
    array_fini (&self->steps);
}

bool
normalizer_is_empty (const normalizer_t *self)
{
    return self->steps.count == 0;
}

//  ---- Unicode's forms -----------------------------------------------------------------------------------------------

static bool
s_is_ascii (span_t text)
{
    return utf8_ascii_prefix (text) == text.size;
}

typedef struct {
    uint32_t from;    //  First
    uint32_t to;      //  Last
} range_t;

//  The ranges ascend.
static bool
s_is_in (const range_t *ranges, size_t count, uint32_t code)
{
    size_t first = 0;
    for (size_t end = count; first < end;) {
        size_t middle = (first + end) / 2;
        if (code > ranges [middle].to)
            first = middle + 1;
        else
            end = middle;
    }
    return first < count && code >= ranges [first].from;
}

#define IS_IN(ranges, code) s_is_in (ranges, sizeof (ranges) / sizeof *(ranges), code)

//  Characters of class 0 that join the one before them (NFC_Quick_Check=Maybe).
static const range_t s_joining [] = { { 0x9be, 0x9be }, { 0x9d7, 0x9d7 }, { 0xb3e, 0xb3e }, { 0xb56, 0xb57 },
    { 0xbbe, 0xbbe }, { 0xbd7, 0xbd7 }, { 0xcc2, 0xcc2 }, { 0xcd5, 0xcd6 }, { 0xd3e, 0xd3e }, { 0xd57, 0xd57 },
    { 0xdcf, 0xdcf }, { 0xddf, 0xddf }, { 0x102e, 0x102e }, { 0x1161, 0x1175 }, { 0x11a8, 0x11c2 }, { 0x1b35, 0x1b35 },
    { 0x11127, 0x11127 }, { 0x1133e, 0x1133e }, { 0x11357, 0x11357 }, { 0x114b0, 0x114b0 }, { 0x114ba, 0x114ba },
    { 0x114bd, 0x114bd }, { 0x115af, 0x115af } };

//  The same of other classes, and rows where some of them are: whoever is taken for one goes through the library.
static const range_t s_joining_marks [] = { { 0x300, 0x345 }, { 0x653, 0x655 }, { 0x93c, 0x93c }, { 0xc56, 0xc56 },
    { 0xdca, 0xdca }, { 0x3099, 0x309a }, { 0x11000, TOUCHED } };

//  The forms are those of Unicode 9 in `tokenizers`: what came later it leaves as it is.
static bool
s_is_young (uint32_t code)
{
    return categories_in (UNICODE_9, code) == UTF8PROC_CATEGORY_CN;
}

//  A form as utf8proc makes it, and what it may touch.
typedef struct {
    utf8proc_option_t options;    //  For utf8proc_map
    uint32_t from;                //  No character below is changed or joined to the one before it
    bool compatible;              //  Characters that look alike become one
    bool composes;                //  In the end characters are joined, else they stay apart
} form_t;

static const form_t s_forms [] = {
    [NORMALIZE_NFC] = { UTF8PROC_COMPOSE, 0x300, false, true },
    [NORMALIZE_NFD] = { UTF8PROC_DECOMPOSE, 0xa0, false, false },
    [NORMALIZE_NFKC] = { UTF8PROC_COMPOSE | UTF8PROC_COMPAT, 0xa0, true, true },
    [NORMALIZE_NFKD] = { UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, 0xa0, true, false },
};

static status_t
s_map (const form_t *form, span_t text, buffer_t *out, error_t *error)
{
    utf8proc_uint8_t *mapped = NULL;
    utf8proc_ssize_t size =
        utf8proc_map (text.data, (utf8proc_ssize_t)text.size, &mapped, UTF8PROC_STABLE | form->options);
    if (size < 0)
        return error_set (error, STATUS_INVALID, "text cannot be normalised: %s", utf8proc_errmsg (size));
    buffer_append (out, span_of (mapped, (size_t)size));
    memory_free (mapped);
    return STATUS_OK;
}

//  Whether a form may change a character, move it, or join it to the one before it: no for what surely stays.
static bool
s_may_touch (const form_t *form, uint32_t code)
{
    if (code < form->from)
        return false;
    if (code >= 0xac00 && code <= 0xd7a3)
        return !form->composes;
    const utf8proc_property_t *property = utf8proc_get_property ((utf8proc_int32_t)code);
    bool decomposes = property->decomp_seqindex != UINT16_MAX && (form->compatible || !property->decomp_type);
    bool touched = decomposes || property->combining_class || (form->composes && IS_IN (s_joining, code));
    return touched && !s_is_young (code);
}

//  The same without those that fall apart and are joined again: they stay.
static bool
s_touches (const form_t *form, uint32_t code)
{
    if (!s_may_touch (form, code))
        return false;
    uint8_t bytes [4];
    span_t text = span_of (bytes, letters_encode (code, bytes));
    buffer_t mapped = { 0 };
    bool stays = !utf8proc_get_property ((utf8proc_int32_t)code)->combining_class && !IS_IN (s_joining, code) &&
                 form->composes && s_map (form, text, &mapped, NULL) == STATUS_OK &&
                 span_equal (buffer_span (&mapped), text);
    buffer_fini (&mapped);
    return !stays;
}

//  Whether a character that a form touches is a mark that stays where it is in order: it neither falls apart nor joins another.
static bool
s_is_orderly (uint32_t code)
{
    const utf8proc_property_t *property = utf8proc_get_property ((utf8proc_int32_t)code);
    return property->combining_class && property->decomp_seqindex == UINT16_MAX && !IS_IN (s_joining_marks, code);
}

static bool
s_is_form (normalize_t kind)
{
    return kind == NORMALIZE_NFC || kind == NORMALIZE_NFD || kind == NORMALIZE_NFKC || kind == NORMALIZE_NFKD;
}

//  A bit for each of the characters that text is mostly made of: whether a form touches it.
static uint64_t *
s_all_touched (const form_t *form)
{
    uint64_t *touched = memory_new (TOUCHED / 8);
    for (uint32_t code = form->from; code < TOUCHED; code++)
        if ((code < 0xd800 || code > 0xdfff) && s_touches (form, code))
            touched [code / 64] |= 1ull << (code % 64);
    return touched;
}

//  A bit for each of them that stays where it is in order.
static uint64_t *
s_all_orderly (const uint64_t *touched)
{
    uint64_t *orderly = memory_new (TOUCHED / 8);
    for (uint32_t word = 0; word < TOUCHED / 64; word++)
        for (uint64_t left = touched [word]; left; left &= left - 1)
            if (s_is_orderly (word * 64 + (uint32_t)__builtin_ctzll (left)))
                orderly [word] |= left & -left;
    return orderly;
}

//  Whether none of them is one of the characters of classes_rows.
static bool
s_leaves_rows (const uint64_t *touched)
{
    for (uint32_t word = 0; word < TOUCHED / 64; word++)
        for (uint64_t left = touched [word]; left; left &= left - 1) {
            uint8_t block [CLASSES_BYTES] = { 0 };
            letters_encode (word * 64 + (uint32_t)__builtin_ctzll (left), block);
            classes_rows_t rows = classes_rows (block);
            if ((rows.twos | rows.threes | rows.signs) & 1)
                return false;
        }
    return true;
}

static inline bool
s_is_touched (const normalization_t *step, uint32_t code)
{
    return code < TOUCHED ? step->touched [code / 64] >> (code % 64) & 1 : s_may_touch (&s_forms [step->kind], code);
}

//  The same of the character that begins here. Those of three bytes are most that are asked for: two say which word, one which bit.
static inline bool
s_is_touched_at (const normalization_t *step, const uint8_t *bytes)
{
    size_t size;
    if (bytes [0] >= 0xe0 && bytes [0] < 0xf0)
        return step->touched [(bytes [0] & 0xfu) << 6 | (bytes [1] & 0x3fu)] >> (bytes [2] & 0x3f) & 1;
    return s_is_touched (step, letters_decode (bytes, &size));
}

//  Of a block of text, the first bytes of characters that a form may touch.
static uint64_t
s_ask_for (const normalization_t *step, const uint8_t *block)
{
    uint64_t firsts = classes_below (block, 0) & ~classes_below (block, CLASSES_GOES_ON);
    if (!step->leaves_rows)
        return firsts;
    classes_rows_t rows = classes_rows (block);
    return firsts & ~(rows.twos | rows.threes | rows.signs);
}

//  Marks one behind the other that stay as long as they are in order: most there are.
typedef struct {
    size_t start;     //  The first one
    size_t end;       //  Behind the last
    uint32_t last;    //  That one
} marks_t;

static utf8proc_propval_t
s_class_of (uint32_t code)
{
    return utf8proc_get_property ((utf8proc_int32_t)code)->combining_class;
}

//  Takes a touched character up among the marks, if all of them stay with it.
static bool
s_takes (const normalization_t *step, marks_t *marks, uint32_t code, size_t place, size_t size)
{
    bool follows = marks->end == place;
    if (!follows)
        marks->start = place;
    if (code >= TOUCHED || !(step->orderly [code / 64] >> (code % 64) & 1) ||
        (follows && s_class_of (marks->last) > s_class_of (code)))
        return false;
    marks->end = place + size;
    marks->last = code;
    return true;
}

//  The next character that a form changes, or the first of the marks that it is one of; the text's end where there is none. No
//  mark stands before `at`.
static size_t
s_next_changed (const normalization_t *step, span_t text, size_t at)
{
    size_t size;
    marks_t marks = { .end = SIZE_MAX };
    while ((at += utf8_ascii_prefix (span_slice (text, at, text.size))) < text.size) {
        uint8_t copy [CLASSES_BYTES] = { 0 };
        const uint8_t *block = text.data + at;
        if (text.size - at < CLASSES_BYTES)
            block = memcpy (copy, block, text.size - at);
        for (uint64_t left = s_ask_for (step, block); left; left &= left - 1) {
            size_t place = at + (size_t)__builtin_ctzll (left);
            if (!s_is_touched_at (step, text.data + place))
                continue;
            uint32_t code = letters_decode (text.data + place, &size);
            if (!s_takes (step, &marks, code, place, size))
                return marks.start;
        }
        at += CLASSES_BYTES;
    }
    return text.size;
}

//  Where the character before `at` begins, not before `start`; `at` where that is young, since the library would move it.
static size_t
s_before (span_t text, size_t start, size_t at)
{
    size_t size;
    size_t before = at > start ? at - 1 : at;
    while (before > start && (text.data [before] & 0xc0) == 0x80)
        before--;
    return before < at && s_is_young (letters_decode (text.data + before, &size)) ? at : before;
}

//  The end of a run of such characters.
static size_t
s_end_touched (const normalization_t *step, span_t text, size_t at)
{
    size_t size;
    while (at < text.size && text.data [at] >= 0x80 && s_is_touched (step, letters_decode (text.data + at, &size)))
        at += size;
    return at;
}

//  Only what may change goes through the library: runs of touched characters, each with the character that it may join.
static status_t
s_form (const normalization_t *step, span_t text, buffer_t *out, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t at = 0; at < text.size && !status;) {
        size_t touched = s_next_changed (step, text, at);
        size_t before = touched == text.size ? touched : s_before (text, at, touched);
        buffer_append (out, span_slice (text, at, before - at));
        at = s_end_touched (step, text, touched);
        if (before < at)
            status = s_map (&s_forms [step->kind], span_slice (text, before, at - before), out, error);
    }
    return status;
}

//  Whether a form leaves a text as it is.
static bool
s_is_untouched (const normalization_t *step, span_t text)
{
    return s_next_changed (step, text, 0) == text.size;
}

status_t
normalizer_add (normalizer_t *self, normalization_t step, error_t *error)
{
    if (self->steps.count == NORMALIZER_STEPS_MAX) {
        s_free_step (&step);
        return error_set (error, STATUS_LIMIT, "more than %d normalizers", NORMALIZER_STEPS_MAX);
    }
    if (s_is_form (step.kind)) {
        step.touched = s_all_touched (&s_forms [step.kind]);
        step.orderly = s_all_orderly (step.touched);
        step.leaves_rows = s_leaves_rows (step.touched);
    }
    array_append (&self->steps, &step, 1);
    return STATUS_OK;
}

//  ---- Characters ----------------------------------------------------------------------------------------------------

//  Lower case is that of Unicode 17. What the library may not know of it lies so far behind upper case.
static const struct {
    range_t upper;       //  These
    int32_t distance;    //  have theirs there
} s_later_case [] = { { { 0x1c89, 0x1c89 }, 1 }, { { 0xa7cb, 0xa7cb }, 0x264 - 0xa7cb }, { { 0xa7cc, 0xa7cc }, 1 },
    { { 0xa7ce, 0xa7ce }, 1 }, { { 0xa7d2, 0xa7d2 }, 1 }, { { 0xa7d4, 0xa7d4 }, 1 }, { { 0xa7da, 0xa7da }, 1 },
    { { 0xa7dc, 0xa7dc }, 0x19b - 0xa7dc }, { { 0x10d50, 0x10d65 }, 0x20 }, { { 0x16ea0, 0x16eb8 }, 0x1b } };

static uint32_t
s_lower (uint32_t code)
{
    for (size_t i = 0; i < sizeof s_later_case / sizeof *s_later_case && code >= s_later_case [0].upper.from; i++)
        if (s_is_in (&s_later_case [i].upper, 1, code))
            return code + (uint32_t)s_later_case [i].distance;
    return (uint32_t)utf8proc_tolower ((utf8proc_int32_t)code);
}

//  One character becomes two in lower case: LATIN CAPITAL LETTER I WITH DOT ABOVE.
static void
s_lowercase (span_t text, buffer_t *out)
{
    size_t size;
    for (size_t at = 0; at < text.size; at += size) {
        uint32_t code = letters_decode (text.data + at, &size);
        uint8_t *place = buffer_reserve (out, 4);
        if (code == 0x130)
            buffer_append (out, SPAN ("i\xcc\x87"));
        else
            buffer_commit (out, letters_encode (s_lower (code), place));
    }
}

static bool
s_is_mark (uint32_t code)
{
    utf8proc_category_t category = categories_in (UNICODE_9, code);
    return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

static void
s_strip_accents (span_t text, buffer_t *out)
{
    size_t size;
    for (size_t at = 0; at < text.size; at += size)
        if (!s_is_mark (letters_decode (text.data + at, &size)))
            buffer_append (out, span_slice (text, at, size));
}

//  Bert's ideographs; what the normalizer Nmt drops, and what it makes spaces of.
static const range_t s_han [] = { { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff }, { 0xf900, 0xfaff }, { 0x20000, 0x2a6df },
    { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf }, { 0x2f800, 0x2fa1f } };
static const range_t s_dropped [] = { { 0x1, 0x8 }, { 0xb, 0xb }, { 0xe, 0x1f }, { 0x7f, 0x7f }, { 0x8f, 0x8f },
    { 0x9f, 0x9f } };
static const range_t s_spaces [] = { { 0x9, 0xa }, { 0xc, 0xd }, { 0x1680, 0x1680 }, { 0x200b, 0x200f },
    { 0x2028, 0x2029 }, { 0x2581, 0x2581 }, { 0xfeff, 0xfeff }, { 0xfffd, 0xfffd } };

//  What becomes of a character.
typedef enum { STAYS, GOES, IS_SPACE, IS_PARTED } fate_t;

static fate_t
s_fate (normalize_t kind, uint32_t code)
{
    utf8proc_category_t category = categories_in (UNICODE_8, code);
    switch (kind) {
    case NORMALIZE_STRIP_MARKS:
        return category == UTF8PROC_CATEGORY_MN ? GOES : STAYS;
    case NORMALIZE_PART_HAN:
        return IS_IN (s_han, code) ? IS_PARTED : STAYS;
    case NORMALIZE_NMT:
        return IS_IN (s_dropped, code) ? GOES : IS_IN (s_spaces, code) ? IS_SPACE : STAYS;
    default:
        break;
    }
    if (letters_of (code) & LETTER_SPACE)
        return category == UTF8PROC_CATEGORY_CC && !strchr ("\t\n\r", (int)code) ? GOES : IS_SPACE;
    return code == 0xfffd || category >= UTF8PROC_CATEGORY_CC ? GOES : STAYS;
}

//  Steps that look at one character at a time.
static void
s_write_characters (normalize_t kind, span_t text, buffer_t *out)
{
    size_t size;
    for (size_t at = 0; at < text.size; at += size) {
        fate_t fate = s_fate (kind, letters_decode (text.data + at, &size));
        if (fate == IS_SPACE || fate == IS_PARTED)
            buffer_append_byte (out, ' ');
        if (fate == STAYS || fate == IS_PARTED)
            buffer_append (out, span_slice (text, at, size));
        if (fate == IS_PARTED)
            buffer_append_byte (out, ' ');
    }
}

static span_t
s_strip_left (span_t text)
{
    size_t at = 0;
    for (size_t size; at < text.size && letters_at (text.data + at, &size) & LETTER_SPACE;)
        at += size;
    return span_slice (text, at, text.size);
}

static span_t
s_strip_right (span_t text)
{
    size_t end = text.size, at = text.size, size;
    while (end) {
        do
            at--;
        while (at && (text.data [at] & 0xc0) == 0x80);
        if (!(letters_at (text.data + at, &size) & LETTER_SPACE))
            break;
        end = at;
    }
    return span_slice (text, 0, end);
}

//  ---- Replacing -----------------------------------------------------------------------------------------------------

static status_t
s_find (const normalization_t *step, span_t text, size_t from, size_t *start, size_t *end, error_t *error)
{
    if (step->regex)
        return regex_find (step->regex, text, from, start, end, error);
    *start = from + search_find (span_slice (text, from, text.size), step->string);
    *end = *start + step->string.size;
    return *start < text.size ? STATUS_OK : STATUS_NOT_FOUND;
}

static status_t
s_replace (const normalization_t *step, span_t text, size_t limit, buffer_t *out, error_t *error)
{
    size_t done = 0, last = SIZE_MAX, start, end;
    status_t status = STATUS_NOT_FOUND;
    for (size_t from = 0; from <= text.size && !(status = s_find (step, text, from, &start, &end, error));) {
        //  What is empty and ends where the last one did is none: it is looked for behind the next character.
        if (start == end && end == last) {
            size_t size = 1;
            if (end < text.size)
                letters_decode (text.data + end, &size);
            from = end + size;
            continue;
        }
        buffer_append (out, span_slice (text, done, start - done));
        buffer_append (out, step->content);
        if (out->size > limit)
            return STATUS_OK;
        done = from = last = end;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    buffer_append (out, span_slice (text, done, text.size));
    return STATUS_OK;
}

//  ---- Steps ---------------------------------------------------------------------------------------------------------

//  Whether a step can leave the text as it is, as far as a glance tells.
static bool
s_leaves (const normalization_t *step, span_t text)
{
    switch (step->kind) {
    case NORMALIZE_NFC:
    case NORMALIZE_NFD:
    case NORMALIZE_NFKC:
    case NORMALIZE_NFKD:
        return s_is_untouched (step, text);
    case NORMALIZE_STRIP_ACCENTS:
        return s_is_ascii (text);
    case NORMALIZE_PREPEND:
        return text.size == 0;
    default:
        return false;
    }
}

//  What is longer than `limit` need not be whole.
static status_t
s_write (const normalization_t *step, span_t text, size_t limit, buffer_t *out, error_t *error)
{
    switch (step->kind) {
    case NORMALIZE_NFC:
    case NORMALIZE_NFD:
    case NORMALIZE_NFKC:
    case NORMALIZE_NFKD:
        return s_form (step, text, out, error);
    case NORMALIZE_LOWERCASE:
        s_lowercase (text, out);
        return STATUS_OK;
    case NORMALIZE_STRIP_ACCENTS:
        s_strip_accents (text, out);
        return STATUS_OK;
    case NORMALIZE_STRIP_MARKS:
    case NORMALIZE_CLEAN:
    case NORMALIZE_PART_HAN:
    case NORMALIZE_NMT:
        s_write_characters (step->kind, text, out);
        return STATUS_OK;
    case NORMALIZE_ALPHABET:
        alphabet_from_bytes (text, out);
        return STATUS_OK;
    case NORMALIZE_REPLACE:
        return s_replace (step, text, limit, out, error);
    case NORMALIZE_CHARSMAP:
        charsmap_apply (&step->charsmap, text, limit, out);
        return STATUS_OK;
    case NORMALIZE_PREPEND:
        buffer_append (out, step->content);
        break;
    case NORMALIZE_STRIP_LEFT:
        text = s_strip_left (text);
        break;
    case NORMALIZE_STRIP_RIGHT:
        text = s_strip_right (text);
        break;
    }
    buffer_append (out, text);
    return STATUS_OK;
}

//  Whether a step drops what begins a text.
static bool
s_beheads (const normalization_t *step, span_t text)
{
    size_t start, end;
    uint32_t first = text.size ? letters_decode (text.data, &end) : 0;
    switch (text.size ? step->kind : NORMALIZE_PREPEND) {
    case NORMALIZE_STRIP_ACCENTS:
        return s_is_mark (first);
    case NORMALIZE_STRIP_LEFT:
        return letters_of (first) & LETTER_SPACE;
    case NORMALIZE_STRIP_MARKS:
    case NORMALIZE_CLEAN:
    case NORMALIZE_NMT:
        return s_fate (step->kind, first) == GOES;
    case NORMALIZE_REPLACE:
        return !step->content.size && s_find (step, text, 0, &start, &end, NULL) == STATUS_OK && start == 0 && end > 0;
    default:
        return false;
    }
}

status_t
normalizer_apply (const normalizer_t *self, span_t text, normalized_t *room, span_t *result, error_t *error)
{
    size_t limit = text.size * GROWTH_MAX + GROWTH_FREE;
    room->headless = false;
    for (size_t i = 0; i < self->steps.count; i++) {
        const normalization_t *step = array_at (&self->steps, i);
        if (s_leaves (step, text))
            continue;
        buffer_clear (&room->next);
        room->headless |= s_beheads (step, text);
        status_t status = s_write (step, text, limit, &room->next, error);
        if (!status && room->next.size > limit)
            status =
                error_set (error, STATUS_LIMIT, "normalised text grows to more than %d times its size", GROWTH_MAX);
        if (status)
            return status;
        buffer_t written = room->next;
        room->next = room->text;
        room->text = written;
        text = buffer_span (&room->text);
    }
    *result = text;
    return STATUS_OK;
}
