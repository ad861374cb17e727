#include "model/parser/literal.h"

#include <string.h>

#include "base/json_writer.h"
#include "model/parser/number.h"
#include "model/parser/text.h"

#define REST SIZE_MAX
#define AGAIN (SIZE_MAX - 1)

enum { QUOTE_OWN = 1, QUOTE_NONE = 2 };

//  Bytes behind a quote that are looked at to see whether it ends a string; of JSON that wait for what follows a first element.
enum { FOLLOW_MAX = 64, UNDECIDED_MAX = 4096 };

void
literal_init (literal_t *self, const char *quote, bool arguments)
{
    memset (self, 0, offsetof (literal_t, word));
    self->quote = quote;
    self->has_markers = quote;
    self->stops [2] = quote ? (uint8_t)*quote : 0;
    self->depth = arguments;
    self->objects = arguments;
    self->in_key = arguments;
}

void
literal_end_at (literal_t *self, const char *a, const char *b)
{
    self->has_markers = self->quote || a || b;
    self->ends [0] = a;
    self->ends [1] = b;
    self->stops [0] = a ? (uint8_t)*a : 0;
    self->stops [1] = b ? (uint8_t)*b : 0;
}

//  ---- Levels --------------------------------------------------------------------------------------------------------

static bool
s_in_object (const literal_t *self)
{
    return self->depth && (self->objects >> (self->depth - 1) & 1);
}

//  What stands before the next word, string or bracket.
static void
s_separate (literal_t *self, buffer_t *out)
{
    if (self->keyed)
        buffer_append (out, SPAN (": "));
    else if (self->started)
        buffer_append (out, SPAN (", "));
}

//  A word, string or bracket is complete: it was a key or a value.  Behind a value of an object comes a key, even where the comma
//  is missing.
static void
s_ended (literal_t *self)
{
    self->keyed = self->in_key;
    self->started = true;
    self->in_key = !self->keyed && s_in_object (self);
    self->done = self->depth == 0;
}

//  A key that got no value gets null; in the own notation, a bare value without bytes, which is a string.
static void
s_settle (literal_t *self, buffer_t *out)
{
    if (self->keyed)
        buffer_append_string (out, self->quote ? ": \"\"" : ": null");
    self->keyed = false;
}

static void s_word_value (span_t word, bool python, buffer_t *out);

//  Beyond a bound the first element of a level is a key.
static void
s_bound (literal_t *self, const buffer_t *out)
{
    self->undecided = out->size - self->brace <= UNDECIDED_MAX;
}

//  A key that got no value, at the start of its level, is the first element of a set.  Not inlined: sets are rare.
__attribute__ ((noinline)) static void
s_decide (literal_t *self, buffer_t *out)
{
    s_bound (self, out);
    if (self->undecided && self->keyed) {
        out->data [self->brace] = '[';
        self->objects &= ~(1ull << (self->depth - 1));
        self->keyed = false;
    }
    size_t size = out->size - self->brace - 3;
    if (self->undecided && self->bare && !s_in_object (self) && size <= LITERAL_WORD_MAX) {
        char word [LITERAL_WORD_MAX];
        memcpy (word, out->data + self->brace + 2, size);
        out->size = self->brace + 1;
        s_word_value (span_of (word, size), true, out);
    }
    self->undecided = self->bare = false;
}

static bool
s_push (literal_t *self, bool object, buffer_t *out)
{
    if (self->in_key || self->depth == LITERAL_DEPTH_MAX)
        return false;
    s_separate (self, out);
    buffer_append_byte (out, object ? '{' : '[');
    self->objects &= ~(1ull << self->depth);
    self->objects |= (uint64_t)object << self->depth;
    self->depth++;
    self->started = self->keyed = false;
    self->in_key = object;
    self->undecided = object && !self->quote;
    self->bare = false;
    self->brace = out->size - 1;
    return true;
}

static bool
s_pop (literal_t *self, buffer_t *out)
{
    if (!self->depth)
        return false;
    if (self->undecided)
        s_decide (self, out);
    s_settle (self, out);
    buffer_append_byte (out, s_in_object (self) ? '}' : ']');
    self->depth--;
    self->in_key = false;
    s_ended (self);
    return true;
}

//  ---- Words ---------------------------------------------------------------------------------------------------------

static void
s_put_string (span_t text, buffer_t *out)
{
    buffer_append_byte (out, '"');
    json_escape_bytes (out, text);
    buffer_append_byte (out, '"');
}

//  A number as JSON writes it.
static bool
s_is_number (span_t word)
{
    uint64_t whole;
    double real;
    bool plain = word.data [0] >= '1' && word.data [0] <= '9' && span_to_u64 (word, &whole);
    return plain || span_to_double (word, &real);
}

static void
s_word_value (span_t word, bool python, buffer_t *out)
{
    static const char *const words [][2] = { { "True", "true" }, { "False", "false" }, { "None", "null" },
        { "true", "true" }, { "false", "false" }, { "null", "null" } };
    for (size_t i = 0; word.data [0] > '9' && i < sizeof words / sizeof *words; i++)
        if (span_equal_string (word, words [i][0])) {
            buffer_append_string (out, words [i][1]);
            return;
        }
    if (s_is_number (word)) {
        buffer_append (out, word);
        return;
    }
    if (!python || word.data [0] > '9' || !number_from_python (word, out))
        s_put_string (word, out);
}

//  A bare key of the own notation in quotes that it does not need.
static span_t
s_unquote (span_t key)
{
    bool quoted =
        key.size > 1 && (key.data [0] == '"' || key.data [0] == '\'') && key.data [key.size - 1] == key.data [0];
    return quoted ? span_slice (key, 1, key.size - 2) : key;
}

static void
s_put_word (literal_t *self, span_t word, buffer_t *out)
{
    s_separate (self, out);
    if (self->quote)
        word = span_trim (word);
    if (!self->in_key)
        s_word_value (word, !self->quote, out);
    else {
        self->bare = self->undecided && span_find_byte (word, '\\') == word.size;
        s_put_string (self->quote ? s_unquote (word) : word, out);
    }
    s_ended (self);
}

static void
s_end_word (literal_t *self, buffer_t *out)
{
    s_put_word (self, span_of (self->word, self->word_size), out);
    self->word_size = 0;
}

enum { ENDS_WORD = 1, ENDS_KEY = 2, ENDS_VALUE = 4, ENDS_PREFIX = 8 };

//  Bytes that end a word, or only the prefix of a string; in the own notation, a bare key and a bare value, which may have blanks
//  and quotes in them.
static const uint8_t s_ends [UINT8_MAX + 1] = { ['['] = ENDS_WORD,
    [']'] = ENDS_WORD | ENDS_VALUE,
    ['('] = ENDS_WORD,
    [')'] = ENDS_WORD,
    ['{'] = ENDS_WORD,
    ['}'] = ENDS_WORD | ENDS_KEY | ENDS_VALUE,
    [','] = ENDS_WORD | ENDS_VALUE,
    [':'] = ENDS_WORD | ENDS_KEY,
    ['='] = ENDS_WORD,
    ['\''] = ENDS_WORD | ENDS_PREFIX,
    ['"'] = ENDS_WORD | ENDS_PREFIX,
    [' '] = ENDS_WORD,
    ['\t'] = ENDS_WORD,
    ['\r'] = ENDS_WORD,
    ['\n'] = ENDS_WORD };

//  Where we are: what ends a word here.
static uint8_t
s_where (const literal_t *self)
{
    return !self->quote ? ENDS_WORD : self->in_key ? ENDS_KEY : ENDS_VALUE;
}

//  Whether this byte begins a word, or goes on in one.
static bool
s_in_word (const literal_t *self, uint8_t byte)
{
    if (!self->quote)
        return !s_ends [byte];
    bool bare_key = self->in_key && byte != ',' && !text_is_blank (byte);
    bool bare = self->word_size || bare_key || byte == '(' || byte == ')';
    return bare ? !(s_ends [byte] & s_where (self)) : !s_ends [byte];
}

//  Whether a byte may begin what ends it all.
static bool
s_may_end (const literal_t *self, uint8_t byte)
{
    return byte == self->stops [0] || byte == self->stops [1];
}

//  Bytes of a word: the first, which is one, and those behind it that end none.
static size_t
s_word_size (const literal_t *self, span_t text)
{
    uint8_t where = s_where (self);
    size_t size = 1;
    if (self->has_markers)
        while (size < text.size && !(s_ends [text.data [size]] & where) && !s_may_end (self, text.data [size]))
            size++;
    else
        while (size < text.size && !(s_ends [text.data [size]] & where))
            size++;
    return size;
}

//  A word that became too long to be kept is a string, which goes out as it comes.
static void
s_begin_long_word (literal_t *self, buffer_t *out)
{
    s_separate (self, out);
    buffer_append_byte (out, '"');
    json_escape_bytes (out, span_of (self->word, self->word_size));
    self->word_size = 0;
    self->open_quote = QUOTE_NONE;
}

//  Takes bytes of a word.  Returns how many.  A whole one, but for the prefix of a string, is written at once; not before ']', with
//  which a key would begin.
static size_t
s_add_to_word (literal_t *self, span_t text, buffer_t *out)
{
    size_t size = s_word_size (self, text);
    uint8_t next = size < text.size ? text.data [size] : 0;
    bool whole = self->quote ? s_ends [next] & s_where (self) && next != ']' : s_ends [next] == ENDS_WORD;
    if (self->word_size + size > LITERAL_WORD_MAX) {
        s_begin_long_word (self, out);
        json_escape_bytes (out, span_slice (text, 0, size));
    } else if (whole && self->depth && !self->word_size)
        s_put_word (self, span_slice (text, 0, size), out);
    else {
        memcpy (self->word + self->word_size, text.data, size);
        self->word_size += (uint32_t)size;
    }
    return size;
}

//  ---- Strings -------------------------------------------------------------------------------------------------------

static void
s_open_string (literal_t *self, uint8_t quote, buffer_t *out)
{
    self->word_size = 0;    //  A prefix, as in r"..."
    s_separate (self, out);
    buffer_append_byte (out, '"');
    self->open_quote = quote;
    self->begun = self->tripled = false;
}

static void
s_close_string (literal_t *self, buffer_t *out)
{
    self->open_quote = 0;
    buffer_append_byte (out, '"');
    s_ended (self);
}

//  A character by number, as JSON's escapes write it.
static void
s_put_character (uint32_t code, buffer_t *out)
{
    if (code < 0x10000)
        buffer_print (out, "\\u%04x", code);
    else if (code < 0x110000)
        buffer_print (out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    else
        buffer_append_string (out, "\\ufffd");
}

static void
s_end_digits (literal_t *self, buffer_t *out)
{
    uint32_t code = 0;
    for (uint8_t i = 0; i < self->digits_size; i++)
        code = code * self->digits_base + number_digit_value ((uint8_t)self->digits [i]);
    s_put_character (code, out);
    self->digits_want = 0;
}

static bool
s_is_letter (uint8_t byte)
{
    return ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') || byte == '_';
}

static void
s_begin_digits (literal_t *self, uint8_t want, uint8_t base)
{
    self->digits_size = 0;
    self->digits_want = want;
    self->digits_base = base;
}

//  The byte behind a backslash.
static void
s_escaped (literal_t *self, uint8_t byte, buffer_t *out)
{
    static const char plain [] = "n\nt\tr\rb\bf\fv\va\a\\\\''\"\"";
    self->escaped = false;
    if (byte == '\n')
        return;
    for (size_t i = 0; i + 1 < sizeof plain; i += 2)
        if ((uint8_t)plain [i] == byte) {
            json_escape_bytes (out, span_of (plain + i + 1, 1));
            return;
        }
    if (byte == 'x' || byte == 'u' || byte == 'U')
        s_begin_digits (self, byte == 'x' ? 2 : byte == 'u' ? 4 : 8, 16);
    else if (number_is_digit (byte, 8)) {
        s_begin_digits (self, 3, 8);
        self->digits [self->digits_size++] = (char)byte;
    } else
        json_escape_bytes (out, span_of ((uint8_t []){ '\\', byte }, 2));
}

//  Takes one digit of a numeric escape.  False where the escape ended before this byte.
static bool
s_digit (literal_t *self, uint8_t byte, buffer_t *out)
{
    bool is_digit = number_is_digit (byte, self->digits_base);
    if (is_digit)
        self->digits [self->digits_size++] = (char)byte;
    if (!is_digit || self->digits_size == self->digits_want)
        s_end_digits (self, out);
    return is_digit;
}

bool
literal_in_string (const literal_t *self)
{
    return self->open_quote && self->open_quote != QUOTE_NONE;
}

//  What may end the string, in its middle; 0: we are not there.
static uint8_t
s_string_end (const literal_t *self)
{
    if (self->escaped || self->digits_want || !literal_in_string (self))
        return 0;
    return self->open_quote == QUOTE_OWN ? (uint8_t)*self->quote : self->open_quote;
}

uint8_t
literal_string_end (const literal_t *self)
{
    return self->begun ? s_string_end (self) : 0;
}

//  Bytes of a string that JSON has as they are, up to what may end it.
static size_t
s_plain (span_t text, uint8_t end)
{
    size_t at = 0;
    while (at < text.size && text.data [at] >= ' ' && text.data [at] != '"' && text.data [at] != '\\' &&
           text.data [at] != end)
        at++;
    return at;
}

//  Takes a byte of a string.
static size_t
s_put_byte (literal_t *self, uint8_t byte, buffer_t *out)
{
    self->begun = true;
    json_escape_bytes (out, span_of (&byte, 1));
    return 1;
}

//  Whether the next argument begins, `name =` or `name:`, for which the comma is missing.
static text_match_t
s_match_argument (span_t text, uint8_t sign, bool last)
{
    size_t name = 0;
    text = span_slice (text, 0, FOLLOW_MAX);
    while (name < text.size && (number_is_digit (text.data [name], 10) || s_is_letter (text.data [name])))
        name++;
    size_t at = name + text_blanks (span_slice (text, name, text.size));
    if (at + 1 >= text.size && text.size < FOLLOW_MAX && !last)
        return TEXT_PARTIAL;
    bool signs = name && at < text.size && text.data [at] == sign;
    return signs && (at + 1 == text.size || text.data [at + 1] != '=') ? TEXT_WHOLE : TEXT_DIFFERS;
}

//  What stands behind a string, and is no reason to believe that it goes on.
static const bool s_behind [UINT8_MAX + 1] = { [','] = true,
    [')'] = true,
    [']'] = true,
    ['}'] = true,
    [':'] = true,
    [';'] = true,
    ['='] = true,
    ['+'] = true,
    ['*'] = true,
    ['%'] = true,
    ['.'] = true };

//  Whether a string may end before this text.
static text_match_t
s_match_behind_string (const literal_t *self, span_t text, bool last)
{
    size_t blanks = text_blanks (span_slice (text, 0, FOLLOW_MAX));
    if (blanks == text.size || blanks == FOLLOW_MAX)
        return last || blanks == FOLLOW_MAX ? TEXT_WHOLE : TEXT_PARTIAL;
    uint8_t byte = text.data [blanks];
    if (s_behind [byte] || s_may_end (self, byte))
        return TEXT_WHOLE;
    return blanks ? s_match_argument (span_slice (text, blanks, text.size), '=', last) : TEXT_DIFFERS;
}

//  The same where the own quote ends it.
static text_match_t
s_match_behind_own (const literal_t *self, span_t text, bool last)
{
    size_t which, blanks = text_blanks (span_slice (text, 0, FOLLOW_MAX));
    if (blanks == text.size || blanks == FOLLOW_MAX)
        return last || blanks == FOLLOW_MAX ? TEXT_WHOLE : TEXT_PARTIAL;
    span_t rest = span_slice (text, blanks, text.size);
    if (s_ends [rest.data [0]] & (ENDS_KEY | ENDS_VALUE))
        return TEXT_WHOLE;
    text_match_t end =
        s_may_end (self, rest.data [0]) ? text_match_any (rest, self->ends, 2, last, &which) : TEXT_DIFFERS;
    return end == TEXT_DIFFERS ? s_match_argument (rest, ':', last) : end;
}

//  A quote in a string that one quote ends.
static size_t
s_quote (literal_t *self, span_t text, bool last, buffer_t *out)
{
    span_t rest = span_slice (text, 1, text.size);
    size_t blanks = text_blanks (span_slice (rest, 0, FOLLOW_MAX));
    uint8_t next = blanks < rest.size && blanks < FOLLOW_MAX ? rest.data [blanks] : 0;
    if (next == self->open_quote && !blanks && !self->begun) {
        self->tripled = true;
        return 2;
    }
    if (next == '\'' || next == '"') {
        self->open_quote = next;
        self->begun = true;
        return blanks + 2;
    }
    text_match_t end = s_match_behind_string (self, rest, last);
    if (end == TEXT_PARTIAL)
        return REST;
    if (end == TEXT_DIFFERS)
        return s_put_byte (self, text.data [0], out);
    s_close_string (self, out);
    return 1;
}

//  The same where three end it.
static size_t
s_triple_quote (literal_t *self, span_t text, bool last, buffer_t *out)
{
    const uint8_t three [] = { self->open_quote, self->open_quote, self->open_quote };
    text_match_t match = text_match_span (text, span_of (three, sizeof three), last);
    if (match == TEXT_PARTIAL)
        return REST;
    if (match == TEXT_DIFFERS)
        return s_put_byte (self, text.data [0], out);
    s_close_string (self, out);
    return sizeof three;
}

//  A quote in a string that it may end: mostly it does, which can be seen by the next byte.
static size_t
s_any_quote (literal_t *self, span_t text, bool last, buffer_t *out)
{
    if (self->tripled)
        return s_triple_quote (self, text, last, out);
    if (text.size == 1 || !s_behind [text.data [1]])
        return s_quote (self, text, last, out);
    s_close_string (self, out);
    return 1;
}

//  Where the own quote may stand.  Not inlined: bytes of other strings should not pay for it.
__attribute__ ((noinline)) static size_t
s_own_quote (literal_t *self, span_t text, bool last, buffer_t *out)
{
    text_match_t match = text_match (text, self->quote, last);
    if (match == TEXT_PARTIAL)
        return REST;
    size_t size = strlen (self->quote);
    text_match_t end =
        match == TEXT_WHOLE ? s_match_behind_own (self, span_slice (text, size, text.size), last) : match;
    if (end == TEXT_PARTIAL)
        return REST;
    if (end == TEXT_WHOLE) {
        s_close_string (self, out);
        return size;
    }
    if (last && text_is_cut (text, span_from_string (self->quote)))
        return text.size;
    return s_put_byte (self, text.data [0], out);
}

//  Goes on in a string.  Returns the bytes taken; REST where a quote may be unfinished.
static size_t
s_string (literal_t *self, span_t text, bool last, buffer_t *out)
{
    if (self->digits_want && s_digit (self, text.data [0], out))
        return 1;
    if (self->escaped) {
        s_escaped (self, text.data [0], out);
        return 1;
    }
    size_t plain = s_plain (text, s_string_end (self));
    if (plain) {
        self->begun = true;
        buffer_append (out, span_of (text.data, plain));
        bool ends = !self->tripled && self->open_quote != QUOTE_OWN && plain + 1 < text.size &&
                    text.data [plain] == self->open_quote && s_behind [text.data [plain + 1]];
        if (ends)
            s_close_string (self, out);
        return plain + ends;
    }
    if (self->open_quote == QUOTE_OWN)
        return s_own_quote (self, text, last, out);
    if (text.data [0] == self->open_quote)
        return s_any_quote (self, text, last, out);
    if (text.data [0] != '\\')
        return s_put_byte (self, text.data [0], out);
    self->escaped = self->begun = true;
    return 1;
}

//  ---- Between strings -----------------------------------------------------------------------------------------------

//  One byte outside strings.  False where nothing can be made of it.
static bool
s_structure (literal_t *self, uint8_t byte, buffer_t *out)
{
    if (byte == '\'' || byte == '"') {
        s_open_string (self, byte, out);
        return true;
    }
    if (self->word_size)
        s_end_word (self, out);
    if (self->done)
        return true;
    switch (byte) {
    case '[':
    case '(':
        return s_push (self, false, out);
    case '{':
        return s_push (self, true, out);
    case ']':
    case ')':
    case '}':
        return s_pop (self, out);
    case ',':
        if (self->undecided)
            s_decide (self, out);
        s_settle (self, out);
        self->in_key = s_in_object (self);
        return self->depth > 0;
    case ':':
        self->undecided = false;
        if (self->quote && self->in_key)
            s_put_word (self, (span_t){ 0 }, out);
        return true;
    default:
        return true;
    }
}

//  What ends it all, or the own quote, at the start of a text outside strings.  *which: the quote is 2.
static text_match_t
s_match_marker (const literal_t *self, span_t text, bool last, size_t *which)
{
    const char *quote = self->word_size ? NULL : self->quote;
    const char *const markers [] = { self->ends [0], self->ends [1], quote };
    bool may = s_may_end (self, text.data [0]) || text.data [0] == self->stops [2];
    return may ? text_match_any (text, markers, 3, last, which) : TEXT_DIFFERS;
}

//  Where a marker may stand.  Returns as s_between does, AGAIN where none stands.
static size_t
s_marker (literal_t *self, span_t text, bool last, buffer_t *out)
{
    size_t which = 0;
    text_match_t match = s_match_marker (self, text, last, &which);
    if (match == TEXT_PARTIAL)
        return REST;
    if (match == TEXT_WHOLE && which == 2) {
        s_open_string (self, QUOTE_OWN, out);
        return strlen (self->quote);
    }
    if (match == TEXT_WHOLE)
        return 0;
    bool cut = last && self->quote && !self->word_size && text_is_cut (text, span_from_string (self->quote));
    return cut ? text.size : AGAIN;
}

//  Goes on outside strings.  Returns the bytes taken; REST where a marker may be unfinished, 0 where one ends it all or nothing
//  can be made of it.
static size_t
s_between (literal_t *self, span_t text, bool last, buffer_t *out)
{
    size_t marker = self->has_markers ? s_marker (self, text, last, out) : AGAIN;
    if (marker != AGAIN)
        return marker;
    return s_in_word (self, text.data [0]) ? s_add_to_word (self, text, out) : s_structure (self, text.data [0], out);
}

//  Goes on in a word that is a string.  Returns the bytes taken; REST where a marker may be unfinished, AGAIN where the word ended.
static size_t
s_long_word (literal_t *self, span_t text, bool last, buffer_t *out)
{
    size_t which;
    bool ends = s_ends [text.data [0]] & s_where (self);
    text_match_t match = ends ? TEXT_WHOLE : s_match_marker (self, text, last, &which);
    if (match == TEXT_PARTIAL)
        return REST;
    if (match == TEXT_WHOLE) {
        s_close_string (self, out);
        return AGAIN;
    }
    size_t size = s_word_size (self, text);
    json_escape_bytes (out, span_slice (text, 0, size));
    return size;
}

size_t
literal_feed (literal_t *self, span_t text, bool last, buffer_t *out, bool *broken)
{
    size_t at = 0, taken = 1;
    while (at < text.size && taken && !self->done) {
        span_t rest = span_of (text.data + at, text.size - at);
        taken = !self->open_quote                ? s_between (self, rest, last, out)
                : self->open_quote == QUOTE_NONE ? s_long_word (self, rest, last, out)
                                                 : s_string (self, rest, last, out);
        if (taken == REST)
            break;
        at += taken == AGAIN ? 0 : taken;
    }
    if (self->undecided)
        s_bound (self, out);
    *broken = !taken;
    return at;
}

void
literal_close (literal_t *self, buffer_t *out)
{
    if (self->digits_want)
        s_end_digits (self, out);
    if (self->open_quote)
        s_close_string (self, out);
    if (self->word_size)
        s_end_word (self, out);
    s_settle (self, out);
    while (self->depth)
        s_pop (self, out);
}
