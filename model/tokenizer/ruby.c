#include "model/tokenizer/ruby.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

//  Classes nested deeper than this are copied as they are.
enum { DEPTH_MAX = 16 };

typedef struct {
    span_t text;      //  The expression
    size_t at;        //  Next byte
    buffer_t *out;    //  The pattern so far
    size_t atom;      //  Where the last atom begins in it: what a quantifier is for
} ruby_t;

//  What an escape means; inside a class its brackets fall away.
typedef struct {
    char letter;            //  Behind the backslash
    const char *outside;    //  Replacement
    const char *inside;     //  Replacement in a class; NULL: as it was
} escape_t;

#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"

//  Superscripts and fractions of Latin-1 are of words by themselves, in classes they are not: so it is in Onigmo's tables.
#define NUMBERS "\xc2\xb2\xc2\xb3\xc2\xb9\xc2\xbc\xc2\xbd\xc2\xbe"

static const escape_t s_escapes [] = {
    { 's', "\\p{White_Space}", "\\p{White_Space}" },
    { 'S', "\\P{White_Space}", "\\P{White_Space}" },
    { 'w', "[" WORD NUMBERS "]", WORD },
    { 'W', "[^" WORD NUMBERS "]", NULL },
    { 'h', "[0-9A-Fa-f]", "0-9A-Fa-f" },
    { 'H', "[^0-9A-Fa-f]", NULL },
    { 'd', "\\p{Nd}", "\\p{Nd}" },
    { 'D', "\\P{Nd}", "\\P{Nd}" },
};

//  Long names that PCRE2 does not know.
static const struct {
    const char *name;     //  Between the braces, lower case, without blanks and underscores
    const char *brief;    //  What PCRE2 calls it
} s_properties [] = {
    { "letter", "L" },
    { "lowercaseletter", "Ll" },
    { "uppercaseletter", "Lu" },
    { "titlecaseletter", "Lt" },
    { "modifierletter", "Lm" },
    { "otherletter", "Lo" },
    { "mark", "M" },
    { "nonspacingmark", "Mn" },
    { "spacingmark", "Mc" },
    { "enclosingmark", "Me" },
    { "number", "N" },
    { "decimalnumber", "Nd" },
    { "letternumber", "Nl" },
    { "othernumber", "No" },
    { "punctuation", "P" },
    { "punct", "P" },
    { "symbol", "S" },
    { "mathsymbol", "Sm" },
    { "currencysymbol", "Sc" },
    { "separator", "Z" },
    { "spaceseparator", "Zs" },
    { "other", "C" },
    { "control", "Cc" },
    { "cntrl", "Cc" },
    { "space", "White_Space" },
    { "alpha", "Alphabetic" },
    { "digit", "Nd" },
    { "upper", "Uppercase" },
    { "lower", "Lowercase" },
};

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

//  ---- Escapes ---------------------------------------------------------------------------------------------------------

//  Whether a name is that of a script.  To Oniguruma that is all that belongs to it, \p{sc:...} to PCRE2, where the bare name
//  means all that is used in it, too.
static bool
s_is_script (const char *name)
{
    buffer_t pattern = { 0 };
    int number;
    PCRE2_SIZE place;
    buffer_print (&pattern, "\\p{sc:%s}", name);
    pcre2_code *code = pcre2_compile (pattern.data, pattern.size, PCRE2_UTF, &number, &place, NULL);
    pcre2_code_free (code);
    buffer_fini (&pattern);
    return code != NULL;
}

static void
s_put_property (ruby_t *self, bool not, const char *kind, const char *name)
{
    buffer_print (self->out, "\\%c{%s%s%s}", s_peek (self, 1), not ? "^" : "", kind, name);
}

static void
s_property (ruby_t *self)
{
    span_t rest = span_slice (self->text, self->at + 3, self->text.size);
    size_t size = span_find_byte (rest, '}');
    char name [32];
    size_t used = 0;
    for (size_t i = 0; i < size && used + 1 < sizeof name; i++)
        if (rest.data [i] != ' ' && rest.data [i] != '_' && rest.data [i] != '-')
            name [used++] = (char)(rest.data [i] >= 'A' && rest.data [i] <= 'Z' ? rest.data [i] + 32 : rest.data [i]);
    name [used] = '\0';
    bool not = *name == '^';
    const char *bare = name + not ;
    for (size_t i = 0; i < sizeof s_properties / sizeof *s_properties; i++) {
        if (strcmp (bare, s_properties [i].name) != 0)
            continue;
        s_put_property (self, not, "", s_properties [i].brief);
        self->at += size + 4;
        return;
    }
    if (s_is_script (bare)) {
        s_put_property (self, not, "sc:", bare);
        self->at += size + 4;
    } else
        s_copy (self, size + 4);
}

static void
s_escape (ruby_t *self, bool inside)
{
    uint8_t letter = s_peek (self, 1);
    if ((letter == 'p' || letter == 'P') && s_peek (self, 2) == '{') {
        s_property (self);
        return;
    }
    for (size_t i = 0; i < sizeof s_escapes / sizeof *s_escapes; i++) {
        const char *replacement = inside ? s_escapes [i].inside : s_escapes [i].outside;
        if (letter == s_escapes [i].letter && replacement) {
            buffer_append_string (self->out, replacement);
            self->at += 2;
            return;
        }
    }
    s_copy (self, 2);
}

//  ---- Classes ---------------------------------------------------------------------------------------------------------

static void s_class (ruby_t *self, unsigned depth);

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
            s_escape (self, true);
        else if (byte == '[' && s_peek (self, 1) == ':')
            s_copy (self, 2 + span_find_byte (span_slice (self->text, self->at + 1, self->text.size), ']'));
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

//  ---- Everything else -------------------------------------------------------------------------------------------------

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
            s_escape (&self, false);
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
