#include "model/template/lexer.h"

#include <string.h>

#include "base/buffer.h"
#include "model/template/unicode.h"
#include "model/template/value.h"

enum { DEPTH_MAX = 200 };

void
lexer_init (lexer_t *self, span_t source, arena_t *arena)
{
    if (source.size && source.data [source.size - 1] == '\n')
        source.size--;
    *self = (lexer_t){ .source = source, .arena = arena, .line = 1 };
}

static uint8_t
s_byte (const lexer_t *self, size_t ahead)
{
    return self->at + ahead < self->source.size ? self->source.data [self->at + ahead] : 0;
}

static bool
s_has (const lexer_t *self, const char *text)
{
    return span_starts_with (span_slice (self->source, self->at, self->source.size), span_from_string (text));
}

static void
s_advance (lexer_t *self, size_t size)
{
    for (size_t i = 0; i < size; i++)
        self->line += self->source.data [self->at + i] == '\n';
    self->at += size;
}

static bool
s_is_blank (uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' || byte == '\v';
}

//  ---- Text ----------------------------------------------------------------------------------------------------------

static void
s_skip_whitespace (lexer_t *self)
{
    while (self->at < self->source.size && s_is_blank (s_byte (self, 0)))
        s_advance (self, 1);
}

static void
s_skip_line_end (lexer_t *self)
{
    if (s_has (self, "\n"))
        s_advance (self, 1);
}

//  What stands before a tag, by the tag's first characters.
static span_t
s_trim_before (const lexer_t *self, size_t start, size_t tag)
{
    span_t text = span_slice (self->source, start, tag - start);
    uint8_t kind = self->source.data [tag + 1];
    uint8_t mark = tag + 2 < self->source.size ? self->source.data [tag + 2] : 0;
    if (mark == '-') {
        while (text.size && s_is_blank (text.data [text.size - 1]))
            text.size--;
        return text;
    }
    if (kind == '{' || mark == '+')
        return text;
    size_t kept = text.size;
    while (kept && (text.data [kept - 1] == ' ' || text.data [kept - 1] == '\t'))
        kept--;
    bool at_line_start = kept ? text.data [kept - 1] == '\n' : start == 0 || self->source.data [start - 1] == '\n';
    return at_line_start ? span_slice (text, 0, kept) : text;
}

static size_t
s_find_tag (const lexer_t *self)
{
    for (size_t i = self->at; i + 1 < self->source.size; i++) {
        uint8_t next = self->source.data [i + 1];
        if (self->source.data [i] == '{' && (next == '{' || next == '%' || next == '#'))
            return i;
    }
    return self->source.size;
}

static status_t
s_skip_comment (lexer_t *self, error_t *error)
{
    uint32_t line = self->line;
    while (self->at < self->source.size && !s_has (self, "#}"))
        s_advance (self, 1);
    if (self->at >= self->source.size)
        return error_set (error, STATUS_INVALID, "line %u: a comment is not closed by #}", line);
    self->strip_next = self->source.data [self->at - 1] == '-';
    self->trim_next = self->source.data [self->at - 1] != '+';
    s_advance (self, 2);
    return STATUS_OK;
}

//  Whether `{% raw %}` begins here; its content then goes out as text.
static bool
s_find_raw (const lexer_t *self, const char *word, size_t from, size_t *begin, size_t *end)
{
    for (size_t i = from; i + 1 < self->source.size; i++) {
        if (self->source.data [i] != '{' || self->source.data [i + 1] != '%')
            continue;
        size_t at = i + 2;
        span_t rest = span_slice (self->source, at, self->source.size);
        at += rest.size && (rest.data [0] == '-' || rest.data [0] == '+');
        while (at < self->source.size && s_is_blank (self->source.data [at]))
            at++;
        bool is_word = span_starts_with (span_slice (self->source, at, self->source.size), span_from_string (word));
        at += strlen (word);
        while (is_word && at < self->source.size && s_is_blank (self->source.data [at]))
            at++;
        uint8_t sign = is_word && at < self->source.size ? self->source.data [at] : 0;
        at += sign == '-' || (sign == '+' && word [0] == 'e');    //  Only `endraw` may keep a line end
        if (is_word && span_starts_with (span_slice (self->source, at, 2), SPAN ("%}"))) {
            *begin = i;
            *end = at + 2;
            return true;
        }
        if (from == i)
            return false;
    }
    return false;
}

static bool
s_take_raw (lexer_t *self, token_t *token)
{
    size_t begin, content, end, after;
    if (!s_find_raw (self, "raw", self->at, &begin, &content) || begin != self->at ||
        !s_find_raw (self, "endraw", content, &end, &after))
        return false;
    bool strip = self->source.data [content - 3] == '-';
    while (strip && content < end && s_is_blank (self->source.data [content]))
        content++;
    token->text = s_trim_before (self, content, end);
    self->strip_next = self->source.data [after - 3] == '-';
    self->trim_next = self->source.data [after - 3] != '+';
    s_advance (self, after - self->at);
    return true;
}

static void
s_open_tag (lexer_t *self, token_t *token)
{
    bool is_block = s_byte (self, 1) == '%';
    token->kind = is_block ? TOKEN_BLOCK_BEGIN : TOKEN_PRINT_BEGIN;
    self->closing = is_block ? TOKEN_BLOCK_END : TOKEN_PRINT_END;
    self->inside = true;
    self->depth = 0;
    s_advance (self, 2);
    if (s_byte (self, 0) == '-' || s_byte (self, 0) == '+')
        s_advance (self, 1);
}

static status_t
s_next_outside (lexer_t *self, token_t *token, error_t *error)
{
    for (;;) {
        if (self->strip_next)
            s_skip_whitespace (self);
        else if (self->trim_next)
            s_skip_line_end (self);
        self->strip_next = self->trim_next = false;
        size_t start = self->at;
        size_t tag = s_find_tag (self);
        *token = (token_t){ .kind = TOKEN_TEXT, .line = self->line };
        if (tag == self->source.size) {
            token->text = span_slice (self->source, start, tag - start);
            s_advance (self, tag - start);
            token->kind = token->text.size ? TOKEN_TEXT : TOKEN_END;
            return STATUS_OK;
        }
        token->text = s_trim_before (self, start, tag);
        s_advance (self, tag - start);
        if (token->text.size)
            return STATUS_OK;
        if (s_byte (self, 1) != '#') {
            if (s_byte (self, 1) == '%' && s_take_raw (self, token)) {
                if (token->text.size)
                    return STATUS_OK;
                continue;
            }
            token->line = self->line;
            s_open_tag (self, token);
            return STATUS_OK;
        }
        status_t status = s_skip_comment (self, error);
        if (status)
            return status;
    }
}

//  ---- Inside a tag --------------------------------------------------------------------------------------------------

static bool
s_is_name_byte (uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte >= 0x80;
}

static bool
s_close_tag (lexer_t *self, token_t *token)
{
    const char *end = self->closing == TOKEN_BLOCK_END ? "%}" : "}}";
    bool strip = s_byte (self, 0) == '-';
    bool keep = s_byte (self, 0) == '+' && self->closing == TOKEN_BLOCK_END;
    span_t rest = span_slice (self->source, self->at + (strip || keep), 2);
    if (self->depth || !span_equal_string (rest, end))
        return false;
    token->kind = self->closing;
    self->inside = false;
    self->strip_next = strip;
    self->trim_next = self->closing == TOKEN_BLOCK_END && !keep;
    s_advance (self, strip || keep ? 3 : 2);
    return true;
}

static uint32_t
s_hex (span_t digits)
{
    uint32_t value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        uint8_t byte = digits.data [i];
        uint32_t digit = byte >= '0' && byte <= '9'   ? byte - '0'
                         : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
                         : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                                      : 16;
        if (digit == 16)
            return UINT32_MAX;
        value = value * 16 + digit;
    }
    return value;
}

//  One escape, the backslash read already.  Returns its size; 0 for what is no escape: the backslash stays.
static size_t
s_unescape (span_t rest, buffer_t *out)
{
    static const char from [] = "\\'\"abfnrtv";
    static const char to [] = "\\'\"\a\b\f\n\r\t\v";
    uint8_t kind = rest.size ? rest.data [0] : 0;
    const char *found = kind ? strchr (from, kind) : NULL;
    if (found) {
        buffer_append_byte (out, (uint8_t)to [found - from]);
        return 1;
    }
    size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    uint32_t point = digits && rest.size > digits ? s_hex (span_slice (rest, 1, digits)) : UINT32_MAX;
    if (point != UINT32_MAX) {
        unicode_append (out, point);
        return digits + 1;
    }
    if (kind == '\n')
        return 1;
    if (kind >= '0' && kind <= '7') {
        size_t size = 0;
        uint32_t octal = 0;
        for (; size < 3 && size < rest.size && rest.data [size] >= '0' && rest.data [size] <= '7'; size++)
            octal = octal * 8 + rest.data [size] - '0';
        unicode_append (out, octal);
        return size;
    }
    return 0;
}

static status_t
s_take_string (lexer_t *self, token_t *token, error_t *error)
{
    uint8_t quote = s_byte (self, 0);
    buffer_t text = { 0 };
    size_t at = self->at + 1;
    for (; at < self->source.size && self->source.data [at] != quote; at++) {
        if (self->source.data [at] != '\\') {
            buffer_append_byte (&text, self->source.data [at]);
            continue;
        }
        size_t size = s_unescape (span_slice (self->source, at + 1, self->source.size), &text);
        if (size == 0)
            buffer_append_byte (&text, '\\');
        at += size;
    }
    bool closed = at < self->source.size;
    token->kind = TOKEN_STRING;
    token->text = arena_copy (self->arena, buffer_span (&text));
    bool fits = token->text.size == text.size;
    buffer_fini (&text);
    if (!closed)
        return error_set (error, STATUS_INVALID, "line %u: a string is not closed", self->line);
    if (!fits)
        return error_set (error, STATUS_LIMIT, "line %u: the template is too large", self->line);
    s_advance (self, at + 1 - self->at);
    return STATUS_OK;
}

static bool
s_is_digit (uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

enum {
    WHOLE_MAX = 130,               //  As many digits as JSON may bring, and two bytes behind them
    DECIMAL_MAX = WHOLE_MAX * 2    //  Decimal digits of as many hexadecimal ones
};

//  The digits of a base from a place on, single underscores between them left out; what follows them in *end.  Returns how many:
//  those beyond the room are left out.
static size_t
s_copy_digits (const lexer_t *self, size_t at, unsigned base, char *out, size_t room, size_t *end)
{
    size_t size = 0;
    for (; at < self->source.size; at++) {
        uint8_t byte = self->source.data [at];
        span_t next = span_slice (self->source, at + 1, 1);
        bool separates = byte == '_' && next.size && s_hex (next) < base;
        if (!separates && s_hex (span_of (&byte, 1)) >= base)
            break;
        if (!separates && size + 1 < room)
            out [size] = (char)byte;
        size += !separates;
    }
    out [size < room ? size : room - 1] = 0;
    *end = at;
    return size;
}

//  A whole number by its decimal digits, which may have zeros before them.  False where there are too many.
static bool
s_read_whole (lexer_t *self, token_t *token, span_t digits)
{
    uint64_t integer = 0;
    while (digits.size > 1 && digits.data [0] == '0')
        digits = span_slice (digits, 1, digits.size);
    bool fits = span_to_u64 (digits, &integer) && integer <= INT64_MAX;
    token->kind = fits ? TOKEN_INTEGER : TOKEN_BIG;
    token->integer = fits ? (int64_t)integer : 0;
    if (fits)
        return true;
    token->text = arena_copy (self->arena, digits);
    return digits.size + 1 < WHOLE_MAX && token->text.size == digits.size;
}

//  Digits of a base as decimal ones: those already there are multiplied, from the last one on.
static span_t
s_decimal (const char *digits, unsigned base, char out [DECIMAL_MAX])
{
    size_t used = 1;
    memset (out, '0', DECIMAL_MAX);
    for (const char *at = digits; *at; at++) {
        uint32_t carry = s_hex (span_of (at, 1));
        for (size_t i = 0; i < used || carry; i++) {
            char *place = &out [DECIMAL_MAX - 1 - i];
            carry += (uint32_t)(*place - '0') * base;
            *place = (char)('0' + carry % 10);
            carry /= 10;
            used = i + 1 > used ? i + 1 : used;
        }
    }
    return span_of (out + DECIMAL_MAX - used, used);
}

//  0x, 0o and 0b with their digits.  False where no such number stands here.
static bool
s_take_based (lexer_t *self, token_t *token, error_t *error)
{
    static const char marks [] = "xXoObB";
    static const unsigned bases [] = { 16, 8, 2 };
    char digits [WHOLE_MAX];
    size_t end;
    const char *mark = s_byte (self, 0) == '0' && s_byte (self, 1) ? strchr (marks, s_byte (self, 1)) : NULL;
    if (!mark)
        return false;
    unsigned base = bases [(mark - marks) / 2];
    size_t size = s_copy_digits (self, self->at + 2, base, digits, sizeof digits, &end);
    if (!size)
        return false;
    char decimal [DECIMAL_MAX];
    token->text = span_slice (self->source, self->at, end - self->at);
    if (!s_read_whole (self, token, s_decimal (digits, base, decimal)) || size >= sizeof digits)
        error_set (error, STATUS_INVALID, "line %u: the number 0%c%s is too large", self->line, *mark, digits);
    s_advance (self, end - self->at);
    return true;
}

//  A fraction and an exponent behind whole digits, appended to `text`; where they end.  `at` where there are none.
static size_t
s_copy_fraction (const lexer_t *self, size_t at, char *text, size_t room)
{
    size_t end = at;
    size_t used = strlen (text);
    size_t after = at;
    if (at < self->source.size && self->source.data [at] == '.' && used + 1 < room) {
        text [used] = '.';
        size_t size = s_copy_digits (self, at + 1, 10, text + used + 1, room - used - 1, &after);
        end = after = size ? after : at;
        used = size ? strlen (text) : used;
        text [used] = 0;
    }
    bool exponent = after + 1 < self->source.size && (self->source.data [after] | 0x20) == 'e' && used + 3 < room;
    if (!exponent)
        return end;
    uint8_t sign = self->source.data [after + 1];
    bool has_sign = sign == '+' || sign == '-';
    text [used] = 'e';
    text [used + 1] = sign == '-' ? '-' : '+';
    if (s_copy_digits (self, after + 1 + has_sign, 10, text + used + 2, room - used - 2, &after))
        return after;
    text [used] = 0;
    return end;
}

static status_t
s_take_number (lexer_t *self, token_t *token, error_t *error)
{
    char text [WHOLE_MAX];
    size_t whole_end;
    error_clear (error);
    if (s_take_based (self, token, error))
        return error->status;
    bool fits = s_copy_digits (self, self->at, 10, text, sizeof text, &whole_end) < sizeof text;
    bool is_index = self->at && self->source.data [self->at - 1] == '.';    //  x.0.1
    size_t end = is_index ? whole_end : s_copy_fraction (self, whole_end, text, sizeof text);
    bool real = end > whole_end;
    bool zeros = text [0] == '0' && !real;
    size_t digits = strspn (text, "0");
    if (zeros && text [digits])    //  007 is 00 and 7: two values side by side
        end = self->at + digits;
    token->kind = TOKEN_FLOAT;
    token->text = span_slice (self->source, self->at, end - self->at);
    token->real = 0;
    if (real && !value_read_real (span_from_string (text), &token->real))
        return error_set (error, STATUS_INVALID, "line %u: the number %s is too long", self->line, text);
    if (!fits || (!real && !s_read_whole (self, token, zeros ? SPAN ("0") : span_from_string (text))))
        return error_set (error, STATUS_INVALID, "line %u: the number %s is too large", self->line, text);
    s_advance (self, end - self->at);
    return STATUS_OK;
}

static status_t
s_take_operator (lexer_t *self, token_t *token, error_t *error)
{
    static const char *const operators [] = { "==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "(",
        ")", "[", "]", "{", "}", ".", ",", ":", "|", "=", "<", ">" };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!s_has (self, operators [i]))
            continue;
        token->kind = TOKEN_OPERATOR;
        token->text = span_from_string (operators [i]);
        self->depth += strchr ("([{", operators [i][0]) != NULL;
        if (strchr (")]}", operators [i][0]) && self->depth)
            self->depth--;
        if (self->depth > DEPTH_MAX)
            return error_set (error, STATUS_LIMIT, "line %u: brackets are nested too deep", self->line);
        s_advance (self, strlen (operators [i]));
        return STATUS_OK;
    }
    return error_set (error, STATUS_INVALID, "line %u: unexpected character '%c'", self->line, s_byte (self, 0));
}

static status_t
s_next_inside (lexer_t *self, token_t *token, error_t *error)
{
    s_skip_whitespace (self);
    *token = (token_t){ .line = self->line };
    if (self->at >= self->source.size)
        return error_set (error, STATUS_INVALID, "line %u: a tag is not closed", self->line);
    uint8_t byte = s_byte (self, 0);
    if (s_close_tag (self, token))
        return STATUS_OK;
    if (byte == '\'' || byte == '"')
        return s_take_string (self, token, error);
    if (s_is_digit (byte))
        return s_take_number (self, token, error);
    if (!s_is_name_byte (byte))
        return s_take_operator (self, token, error);
    size_t size = 0;
    while (s_is_name_byte (s_byte (self, size)))
        size++;
    token->kind = TOKEN_NAME;
    token->text = span_slice (self->source, self->at, size);
    s_advance (self, size);
    return STATUS_OK;
}

status_t
lexer_next (lexer_t *self, token_t *token, error_t *error)
{
    return self->inside ? s_next_inside (self, token, error) : s_next_outside (self, token, error);
}
