#include "model/tokenizer/ruby.h"

#include <stdio.h>
#include <string.h>

#include "model/tokenizer/sets.h"

//  Classes nested deeper than this are copied as they are.
enum { DEPTH_MAX = 16 };

typedef struct {
    span_t text;      //  The expression
    size_t at;        //  Next byte
    buffer_t *out;    //  The pattern so far
    size_t atom;      //  Where the last atom begins in it: what a quantifier is for
} ruby_t;

static uint8_t
s_peek (const ruby_t *self, size_t ahead)
{
    return self->at + ahead < self->text.size ? self->text.data [self->at + ahead] : 0;
}

static bool
s_follows (const ruby_t *self, const char *string)
{
    return span_starts_with (span_slice (self->text, self->at, self->text.size), span_from_string (string));
}

static void
s_copy (ruby_t *self, size_t size)
{
    span_t taken = span_slice (self->text, self->at, size);
    buffer_append (self->out, taken);
    self->at += taken.size;
}

//  ---- Escapes -------------------------------------------------------------------------------------------------------

//  Where what stands in a class cannot be one of its members, it is an alternative to them: `nested`, which is NULL outside of
//  classes.
static void
s_put_set (ruby_t *self, span_t members, bool out, buffer_t *nested)
{
    if (nested && !out) {
        buffer_append (self->out, members);
        return;
    }
    buffer_t *to = nested ? nested : self->out;
    buffer_print (to, "%s[%s", nested ? "|" : "", out ? "^" : "");
    buffer_append (to, members);
    buffer_append_byte (to, ']');
}

//  Puts a set by its name, as whoever wrote it spelled that. Returns false where nobody knows it.
static bool
s_named (ruby_t *self, const char *sign, span_t name, bool out, buffer_t *nested)
{
    char plain [40];
    buffer_t members = { 0 };
    size_t used = (size_t)snprintf (plain, sizeof plain, "%s", sign);
    for (size_t i = 0; i < name.size && used + 2 < sizeof plain; i++)
        if (!memchr (" _-", name.data [i], 3))
            plain [used++] = (char)(name.data [i] >= 'A' && name.data [i] <= 'Z' ? name.data [i] + 32 : name.data [i]);
    snprintf (plain + used, sizeof plain - used, "%s", sign);
    set_t set = sets_put (nested && strcmp (plain, "word") == 0 ? "[\\w]" : plain, &members);
    if (set != SET_UNKNOWN)
        s_put_set (self, buffer_span (&members), out ^ (set == SET_OUT), nested);
    buffer_fini (&members);
    return set != SET_UNKNOWN;
}

//  \p{name}, \p{^name}, \P{name}. What nobody here knows PCRE2 may.
static void
s_property (ruby_t *self, buffer_t *nested)
{
    span_t rest = span_slice (self->text, self->at + 3, self->text.size);
    size_t size = span_find_byte (rest, '}');
    bool not = s_peek (self, 3) == '^';
    span_t name = span_slice (rest, not, size - (not &&size));
    if (s_named (self, "", name, not ^(s_peek (self, 1) == 'P'), nested))
        self->at += size + 4;
    else
        s_copy (self, size + 4);
}

//  \s, \S and their like. Returns false where the letter stands for no set.
static bool
s_letter (ruby_t *self, buffer_t *nested)
{
    static const char *const names [] = { "\\s", "\\w", "\\h", "\\d" };
    uint8_t letter = s_peek (self, 1);
    bool out = letter >= 'A' && letter <= 'Z';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((letter | 0x20) != names [i][1])
            continue;
        buffer_t members = { 0 };
        sets_put (nested && i == 1 ? "[\\w]" : names [i], &members);
        s_put_set (self, buffer_span (&members), out, nested);
        buffer_fini (&members);
        self->at += 2;
        return true;
    }
    return false;
}

//  \b and \B: words are those of \w, which PCRE2 does not ask for.
static void
s_boundary (ruby_t *self)
{
    buffer_t members = { 0 };
    sets_put ("\\w", &members);
    const char *word = buffer_string (&members);
    if (s_peek (self, 1) == 'b')
        buffer_print (self->out, "(?:(?<=[%s])(?![%s])|(?<![%s])(?=[%s]))", word, word, word, word);
    else
        buffer_print (self->out, "(?:(?<=[%s])(?=[%s])|(?<![%s])(?![%s]))", word, word, word, word);
    buffer_fini (&members);
    self->at += 2;
}

static bool
s_is_hexadecimal (uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

//  \uXXXX, which PCRE2 writes \x{XXXX}. Returns false where there are not four digits.
static bool
s_code (ruby_t *self)
{
    for (size_t i = 2; i < 6; i++)
        if (!s_is_hexadecimal (s_peek (self, i)))
            return false;
    buffer_print (self->out, "\\x{%.4s}", (const char *)self->text.data + self->at + 2);
    self->at += 6;
    return true;
}

//  nested: as in s_put_set.
static void
s_escape (ruby_t *self, buffer_t *nested)
{
    uint8_t letter = s_peek (self, 1);
    bool property = letter == 'p' || letter == 'P';
    if (property && s_peek (self, 2) == '{')
        s_property (self, nested);
    else if (property) {    //  Without a name it is a letter
        self->at++;
        s_copy (self, 1);
    } else if (!nested && (letter == 'b' || letter == 'B'))
        s_boundary (self);
    else if (!s_letter (self, nested) && !(letter == 'u' && s_code (self)))
        s_copy (self, 2);
}

//  ---- Classes -------------------------------------------------------------------------------------------------------

static void s_class (ruby_t *self, unsigned depth);

//  [:name:] or [:^name:], which stand in classes.
static void
s_bracket (ruby_t *self, buffer_t *nested)
{
    span_t rest = span_slice (self->text, self->at + 2, self->text.size);
    size_t size = span_find_byte (rest, ':');
    bool not = s_peek (self, 2) == '^';
    if (size < rest.size && s_named (self, ":", span_slice (rest, not, size - (not &&size)), not, nested))
        self->at += size + 4;
    else
        s_copy (self, 2 + span_find_byte (span_slice (self->text, self->at + 1, self->text.size), ']'));
}

//  One part of a class, up to && or its end: its members go to `out` without brackets, nested classes to `nested` as
//  alternatives.
static void
s_class_part (ruby_t *self, buffer_t *nested, unsigned depth)
{
    bool first = true;
    while (self->at < self->text.size && !s_follows (self, "&&")) {
        uint8_t byte = s_peek (self, 0);
        if (byte == ']' && !first)
            return;
        first = false;
        if (byte == '\\')
            s_escape (self, nested);
        else if (byte == '[' && s_peek (self, 1) == ':')
            s_bracket (self, nested);
        else if (byte == '[' && depth < DEPTH_MAX) {
            buffer_t *out = self->out;
            self->out = nested;
            buffer_append_byte (nested, '|');
            s_class (self, depth + 1);
            self->out = out;
        } else if (byte == '[') {
            buffer_append_byte (self->out, '\\');
            s_copy (self, 1);
        } else
            s_copy (self, 1);
    }
}

//  A part as something that matches one character: [members], or (?:[members]|nested|...).
static void
s_put_part (buffer_t *out, span_t members, span_t nested, bool not )
{
    if (nested.size == 0) {
        buffer_print (out, "[%s", not ? "^" : "");
        buffer_append (out, members);
        buffer_append_byte (out, ']');
        return;
    }
    buffer_append_string (out, not ? "(?:(?!" : "(?:");
    if (members.size) {
        buffer_append_byte (out, '[');
        buffer_append (out, members);
        buffer_append_byte (out, ']');
        buffer_append (out, nested);
    } else
        buffer_append (out, span_slice (nested, 1, nested.size));
    buffer_append_string (out, not ? ")(?s:.))" : ")");
}

//  [a&&b&&c] is (?=a)(?=b)c, and [^a&&b] is anything that is not that.
static void
s_class (ruby_t *self, unsigned depth)
{
    buffer_t *out = self->out;
    buffer_t whole = { 0 };
    self->at++;
    bool not = s_peek (self, 0) == '^';
    self->at += not ;
    for (bool more = true, alone = true; more; alone = false) {
        buffer_t members = { 0 }, nested = { 0 };
        self->out = &members;
        s_class_part (self, &nested, depth);
        more = s_follows (self, "&&");
        self->at += more ? 2 : 0;
        if (more)
            buffer_append_string (&whole, "(?=");
        s_put_part (&whole, buffer_span (&members), buffer_span (&nested), not &&alone && !more);
        if (more)
            buffer_append_byte (&whole, ')');
        if (!more && not &&!alone) {
            buffer_append_string (out, "(?:(?!");
            buffer_append_string (&whole, ")(?s:.))");
        } else if (!more && !alone) {
            buffer_append_string (out, "(?:");
            buffer_append_byte (&whole, ')');
        }
        buffer_fini (&members);
        buffer_fini (&nested);
    }
    self->at++;
    buffer_append (out, buffer_span (&whole));
    buffer_fini (&whole);
    self->out = out;
}

//  ---- Everything else -----------------------------------------------------------------------------------------------

//  {n,m}: its size with braces; 0 where it is none.
static size_t
s_interval (const ruby_t *self)
{
    size_t size = 1;
    while ((s_peek (self, size) >= '0' && s_peek (self, size) <= '9') || s_peek (self, size) == ',')
        size++;
    return size > 1 && s_peek (self, size) == '}' ? size + 1 : 0;
}

//  A plus behind an interval repeats it, in Ruby; to PCRE2 it would be possessive.
static void
s_quantifier (ruby_t *self, size_t size)
{
    s_copy (self, size);
    if (s_peek (self, 0) != '+')
        return;
    buffer_t repeated = { 0 };
    buffer_append_string (&repeated, "(?:");
    buffer_append (&repeated, span_slice (buffer_span (self->out), self->atom, self->out->size));
    buffer_append_byte (&repeated, ')');
    self->out->size = self->atom;
    buffer_append (self->out, buffer_span (&repeated));
    buffer_fini (&repeated);
    s_copy (self, 1);
}

//  The options of a group that begins here: Ruby's m is PCRE2's s.
static void
s_group (ruby_t *self)
{
    s_copy (self, s_follows (self, "(?<") || s_follows (self, "(?P") ? 3 : 1);
    if (s_peek (self, 0) != '?')
        return;
    s_copy (self, 1);
    while (strchr ("imx-", s_peek (self, 0)) && s_peek (self, 0)) {
        buffer_append_byte (self->out, s_peek (self, 0) == 'm' ? 's' : s_peek (self, 0));
        self->at++;
    }
}

void
ruby_to_pcre (span_t expression, buffer_t *pattern)
{
    ruby_t self = { expression, 0, pattern, pattern->size };
    size_t groups [DEPTH_MAX] = { 0 }, depth = 0;
    while (self.at < expression.size) {
        uint8_t byte = s_peek (&self, 0);
        size_t interval = byte == '{' ? s_interval (&self) : 0;
        if (interval) {
            s_quantifier (&self, interval);
            continue;
        }
        if (byte == ')' && depth > 0) {
            depth--;
            self.atom = depth < DEPTH_MAX ? groups [depth] : pattern->size;
            s_copy (&self, 1);
            continue;
        }
        if (byte != '*' && byte != '+' && byte != '?')
            self.atom = pattern->size;
        if (byte == '\\')
            s_escape (&self, NULL);
        else if (byte == '[')
            s_class (&self, 0);
        else if (byte == '(') {
            if (depth < DEPTH_MAX)
                groups [depth] = pattern->size;
            depth++;
            s_group (&self);
        } else
            s_copy (&self, 1);
    }
}
