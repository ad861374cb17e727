#include "model/template/entities.h"

#include <stdio.h>
#include <string.h>

#include "model/template/unicode.h"

//  No name without a semicolon is longer than SHORT_MAX.
enum { NAME_MAX_POINTS = 32, SHORT_MAX = 6, REPLACEMENT = 0xfffd };

//  ---- By name -------------------------------------------------------------------------------------------------------

//  The characters of a name, found between the newline before it and the tab behind it.  Empty where there is none.
static span_t
s_find (span_t name)
{
    char key [NAME_MAX_POINTS + 4];
    const char *names = entities_names [name.data [0]];
    if (!names || name.size > NAME_MAX_POINTS + 1)
        return (span_t){ 0 };
    int size = snprintf (key, sizeof key, "\n%.*s\t", SPAN_ARG (name));
    const char *found = strstr (names, key);
    if (!found)
        return (span_t){ 0 };
    return span_of (found + size, strcspn (found + size, "\n") + (found [size] == '\n'));
}

//  Bytes of what may be a name, and its semicolon.
static size_t
s_name_size (span_t text)
{
    size_t at = 0;
    for (size_t points = 0, size; at < text.size && points < NAME_MAX_POINTS; points++, at += size) {
        if (text.data [at] == 0 || strchr ("\t\n\f <&#;", text.data [at]))
            break;
        unicode_decode (span_slice (text, at, 4), &size);
    }
    return at + (at && at < text.size && text.data [at] == ';');
}

//  The longest name at the start counts, and is followed by the rest as it is.
static size_t
s_read_name (span_t text, buffer_t *out)
{
    size_t all = s_name_size (text);
    for (size_t size = all; size > 1; size = size > SHORT_MAX ? SHORT_MAX : size - 1) {
        span_t characters = s_find (span_slice (text, 0, size));
        buffer_append (out, characters);
        if (characters.size)
            return size;
    }
    return 0;
}

//  ---- By number -----------------------------------------------------------------------------------------------------

//  What the standard makes of the numbers 80 to 9F: those of Windows-1252.
static const uint16_t s_windows [] = { 0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030,
    0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc,
    0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178 };

//  Stands for nothing: control characters and what is none.
static bool
s_is_dropped (uint32_t point)
{
    bool control = (point < ' ' && !strchr ("\t\n\f\r", (int)point)) || point == 0x7f;
    return control || (point >= 0xfdd0 && point <= 0xfdef) || (point & 0xfffe) == 0xfffe;
}

static void
s_append_number (uint32_t number, buffer_t *out)
{
    if (number >= 0x80 && number <= 0x9f)
        unicode_append (out, s_windows [number - 0x80]);
    else if (!number || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff))
        unicode_append (out, REPLACEMENT);
    else if (!s_is_dropped (number))
        unicode_append (out, number);
}

//  The value of a digit; 16 where it is none of the base.
static uint32_t
s_digit (uint8_t byte, uint32_t base)
{
    uint8_t letter = byte | 0x20;
    if (byte >= '0' && byte <= '9')
        return byte - (uint32_t)'0';
    return base == 16 && letter >= 'a' && letter <= 'f' ? letter - (uint32_t)'a' + 10 : 16;
}

//  Behind `#`.
static size_t
s_read_number (span_t text, buffer_t *out)
{
    uint32_t number = 0;
    size_t hexadecimal = text.size && (text.data [0] | 0x20) == 'x', at = hexadecimal;
    uint32_t base = hexadecimal ? 16 : 10;
    for (; at < text.size && s_digit (text.data [at], base) < base; at++)
        if (number <= 0x10ffff)
            number = number * base + s_digit (text.data [at], base);
    if (at == hexadecimal)
        return 0;
    s_append_number (number, out);
    return at + (at < text.size && text.data [at] == ';');
}

size_t
entities_read (span_t text, buffer_t *out)
{
    span_t rest = span_slice (text, 1, text.size);
    bool numbered = rest.size && rest.data [0] == '#';
    size_t size = numbered ? s_read_number (span_slice (rest, 1, rest.size), out) : s_read_name (rest, out);
    if (size)
        return 1 + numbered + size;
    buffer_append (out, span_slice (text, 0, 1));
    return 1;
}
