#include "model/tokenizer/scan.h"

#include <string.h>

#include "model/tokenizer/classes.h"
#include "model/tokenizer/letters.h"

enum { DEPTH_MAX = 64, STEP = sizeof (classes_bytes_t) };

void
scan_init (scan_t *self, span_t text, size_t origin, error_t *error)
{
    *self = (scan_t){ .text = text, .origin = origin, .error = error };
}

void
scan_fini (scan_t *self)
{
    buffer_fini (&self->unescaped);
}

bool
scan_fail (scan_t *self, const char *reason)
{
    if (self->status == STATUS_OK)
        self->status = error_set (self->error, STATUS_INVALID, "%s at byte %zu", reason, self->origin + self->at);
    return false;
}

static inline bool
s_is_blank (uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

//  Files for people have many blanks in a row.
static void
s_pass_blanks (scan_t *self)
{
    for (; self->text.size - self->at >= STEP; self->at += STEP) {
        classes_bytes_t byte;
        memcpy (&byte, self->text.data + self->at, sizeof byte);
        unsigned blanks = (unsigned)classes_bits ((byte == ' ') | (byte == '\n') | (byte == '\r') | (byte == '\t'));
        unsigned others = ~blanks & ((1u << STEP) - 1);
        if (others) {
            self->at += (size_t)__builtin_ctz (others);
            return;
        }
    }
    while (self->at < self->text.size && s_is_blank (self->text.data [self->at]))
        self->at++;
}

uint8_t
scan_peek (scan_t *self)
{
    if (self->at < self->text.size && s_is_blank (self->text.data [self->at]))
        s_pass_blanks (self);
    return self->at < self->text.size && !self->status ? self->text.data [self->at] : 0;
}

static bool
s_take (scan_t *self, uint8_t byte)
{
    if (scan_peek (self) != byte)
        return false;
    self->at++;
    return true;
}

//  Opens on the first call, finds the comma on others; false at the end.
static bool
s_next (scan_t *self, bool *first, uint8_t open, uint8_t close)
{
    if (*first ? !s_take (self, open) : scan_peek (self) != ',' && scan_peek (self) != close)
        return scan_fail (
            self, *first ? (open == '{' ? "an object expected" : "an array expected") : "',' or an end expected");
    if (s_take (self, close))
        return false;
    if (!*first)
        self->at++;
    *first = false;
    return true;
}

bool
scan_member (scan_t *self, bool *first, span_t *key)
{
    if (!s_next (self, first, '{', '}') || !scan_string (self, key))
        return false;
    return s_take (self, ':') || scan_fail (self, "':' expected");
}

bool
scan_element (scan_t *self, bool *first)
{
    return s_next (self, first, '[', ']');
}

//  ---- Strings -------------------------------------------------------------------------------------------------------

//  How many bytes of a string come before its end, an escape, or what must not stand in one.
static size_t
s_plain (const scan_t *self)
{
    size_t at = self->at;
    for (; self->text.size - at >= STEP; at += STEP) {
        classes_bytes_t byte;
        memcpy (&byte, self->text.data + at, sizeof byte);
        unsigned ends = (unsigned)classes_bits ((byte == '"') | (byte == '\\') | (byte < 0x20));
        if (ends)
            return at - self->at + (size_t)__builtin_ctz (ends);
    }
    while (at < self->text.size && self->text.data [at] != '"' && self->text.data [at] != '\\' &&
           self->text.data [at] >= 0x20)
        at++;
    return at - self->at;
}

static bool
s_hex4 (const scan_t *self, size_t at, uint32_t *code)
{
    *code = 0;
    for (size_t i = at; i < at + 4; i++) {
        uint8_t digit = i < self->text.size ? self->text.data [i] : 0;
        uint8_t letter = digit | 0x20;
        if (digit >= '0' && digit <= '9')
            *code = *code << 4 | (digit - '0');
        else if (letter >= 'a' && letter <= 'f')
            *code = *code << 4 | (letter - 'a' + 10u);
        else
            return false;
    }
    return true;
}

//  \uXXXX, two of them for what lies beyond; a surrogate alone is no character.
static bool
s_unescape_unicode (scan_t *self)
{
    uint32_t code, low;
    if (!s_hex4 (self, self->at + 2, &code))
        return scan_fail (self, "four hexadecimal digits expected");
    bool high = code >= 0xd800 && code < 0xdc00, paired = false;
    if (high && span_starts_with (span_slice (self->text, self->at + 6, self->text.size), SPAN ("\\u")))
        paired = s_hex4 (self, self->at + 8, &low) && low >= 0xdc00 && low < 0xe000;
    if (!paired && code >= 0xd800 && code < 0xe000)
        return scan_fail (self, "half of a character that takes two \\u");
    self->at += paired ? 12 : 6;
    if (paired)
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    uint8_t *out = buffer_reserve (&self->unescaped, 4);
    buffer_commit (&self->unescaped, letters_encode (code, out));
    return true;
}

static bool
s_unescape (scan_t *self)
{
    static const char letters [] = "\"\\/bfnrt", bytes [] = "\"\\/\b\f\n\r\t";
    uint8_t letter = self->at + 1 < self->text.size ? self->text.data [self->at + 1] : 0;
    if (letter == 'u')
        return s_unescape_unicode (self);
    const char *found = letter ? strchr (letters, letter) : NULL;
    if (!found)
        return scan_fail (self, "an escape that is none");
    buffer_append_byte (&self->unescaped, (uint8_t)bytes [found - letters]);
    self->at += 2;
    return true;
}

bool
scan_string (scan_t *self, span_t *string)
{
    if (!s_take (self, '"'))
        return scan_fail (self, "a string expected");
    size_t size = s_plain (self);
    *string = span_slice (self->text, self->at, size);
    self->at += size;
    if (self->at < self->text.size && self->text.data [self->at] == '\\') {
        buffer_clear (&self->unescaped);
        buffer_append (&self->unescaped, *string);
        while (self->at < self->text.size && self->text.data [self->at] == '\\') {
            if (!s_unescape (self))
                return false;
            size = s_plain (self);
            buffer_append (&self->unescaped, span_slice (self->text, self->at, size));
            self->at += size;
        }
        *string = buffer_span (&self->unescaped);
    }
    if (self->at == self->text.size || self->text.data [self->at] != '"')
        return scan_fail (self, "a string without an end");
    self->at++;
    return true;
}

bool
scan_strings (scan_t *self)
{
    span_t string;
    do
        self->at += span_find_byte (span_slice (self->text, self->at, self->text.size), '"');
    while (self->at < self->text.size && scan_string (self, &string));
    return !self->status;
}

//  ---- Other values --------------------------------------------------------------------------------------------------

static inline bool
s_is_bracket (uint8_t byte)
{
    return byte == '{' || byte == '}' || byte == '[' || byte == ']';
}

static inline bool
s_ends_word (uint8_t byte)
{
    return s_is_blank (byte) || byte == ',' || byte == ':' || byte == '"' || s_is_bracket (byte);
}

//  A word of JSON: a number, true, false, null.
static span_t
s_word (scan_t *self)
{
    scan_peek (self);
    size_t at = self->at;
    while (at < self->text.size && !s_ends_word (self->text.data [at]))
        at++;
    return span_slice (self->text, self->at, at - self->at);
}

bool
scan_u32 (scan_t *self, uint32_t *number)
{
    uint64_t value;
    span_t word = s_word (self);
    if (!span_to_u64 (word, &value) || value > UINT32_MAX)
        return scan_fail (self, "a whole number expected");
    self->at += word.size;
    *number = (uint32_t)value;
    return true;
}

bool
scan_double (scan_t *self, double *number)
{
    span_t word = s_word (self);
    if (!span_to_double (word, number))
        return scan_fail (self, "a number expected");
    self->at += word.size;
    return true;
}

static bool
s_pass_string (scan_t *self)
{
    for (self->at++; self->at < self->text.size; self->at++) {
        self->at += s_plain (self);
        if (self->at == self->text.size || self->text.data [self->at] != '\\')
            break;
        self->at++;
    }
    if (self->at >= self->text.size || self->text.data [self->at] != '"')
        return scan_fail (self, "a string without an end");
    self->at++;
    return true;
}

//  What passing over 64 bytes must know: a bit for each.
typedef struct {
    uint64_t quotes;      //  Those of strings
    uint64_t opens;       //  Brackets that open, in strings too
    uint64_t closes;      //  And those that close
    uint64_t controls;    //  What must not stand in a string
    uint64_t escapes;     //  Backslashes
} marks_t;

static inline marks_t
s_marks (const uint8_t *bytes)
{
    marks_t all = { 0 };
    for (unsigned at = 0; at < CLASSES_BYTES; at += STEP) {
        classes_bytes_t byte;
        memcpy (&byte, bytes + at, sizeof byte);
        classes_bytes_t curly = byte | 0x20;
        all.quotes |= classes_bits (byte == '"') << at;
        all.opens |= classes_bits (curly == '{') << at;
        all.closes |= classes_bits (curly == '}') << at;
        all.controls |= classes_bits (byte < 0x20) << at;
        all.escapes |= classes_bits (byte == '\\') << at;
    }
    return all;
}

//  Each bit becomes whether the bits up to it are odd: from quotes, what is in strings.
static inline uint64_t
s_odd (uint64_t bits)
{
    for (unsigned step = 1; step < 64; step *= 2)
        bits ^= bits << step;
    return bits;
}

//  Returns whether brackets leave a depth that is neither 0 nor beyond DEPTH_MAX in between; if not, it stays.
static inline bool
s_go_deeper (uint64_t opens, uint64_t closes, size_t *depth)
{
    size_t now = *depth;
    for (uint64_t left = opens | closes; left; left &= left - 1) {
        now += opens & left & -left ? 1 : SIZE_MAX;
        if (now == 0 || now > DEPTH_MAX)
            return false;
    }
    *depth = now;
    return true;
}

//  Within brackets: passes over what needs no care, many bytes at once. It stands in no string then: in front of the last one.
static void
s_pass_many (scan_t *self, size_t *depth)
{
    uint64_t inside = 0;
    for (size_t at = self->at; self->text.size - at >= CLASSES_BYTES; at += CLASSES_BYTES) {
        marks_t marks = s_marks (self->text.data + at);
        inside = s_odd (marks.quotes) ^ -(inside >> 63);
        if (marks.escapes || marks.controls & inside ||
            !s_go_deeper (marks.opens & ~inside, marks.closes & ~inside, depth))
            return;
        if (!(inside >> 63))
            self->at = at + CLASSES_BYTES;
        else if (marks.quotes)
            self->at = at + 63 - (size_t)__builtin_clzll (marks.quotes);
    }
}

//  Brackets are counted, not paired: whoever reads the value checks it.
bool
scan_value (scan_t *self, span_t *raw)
{
    size_t depth = 0, start = (scan_peek (self), self->at);
    do {
        if (depth)
            s_pass_many (self, &depth);
        uint8_t byte = scan_peek (self);
        if (byte == '{' || byte == '[')
            depth++;
        else if (byte == '}' || byte == ']') {
            if (depth-- == 0)
                return scan_fail (self, "a value expected");
        }
        if (depth > DEPTH_MAX)
            return scan_fail (self, "values nested too deep");
        if (byte == '"') {
            if (!s_pass_string (self))
                return false;
            continue;
        }
        size_t size = s_is_bracket (byte) ? 1 : s_word (self).size;
        if (size == 0 && depth && (byte == ',' || byte == ':'))
            size = 1;
        if (size == 0)
            return scan_fail (self, "a value expected");
        self->at += size;
    } while (depth);
    *raw = span_slice (self->text, start, self->at - start);
    return true;
}

bool
scan_end (scan_t *self)
{
    if (self->status)
        return false;
    scan_peek (self);
    return self->at == self->text.size || scan_fail (self, "something follows the value");
}
