#include "model/template/unicode.h"

#include <utf8proc.h>

uint32_t
unicode_decode (span_t text, size_t *size)
{
    utf8proc_int32_t point;
    utf8proc_ssize_t read = text.size ? utf8proc_iterate (text.data, (utf8proc_ssize_t)text.size, &point) : 0;
    *size = read > 0 ? (size_t)read : 1;
    return read > 0 ? (uint32_t)point : 0xfffd;
}

void
unicode_append (buffer_t *out, uint32_t point)
{
    bool is_scalar = point < 0xd800 || (point > 0xdfff && point <= 0x10ffff);
    uint8_t *end = buffer_reserve (out, 4);
    buffer_commit (out, (size_t)utf8proc_encode_char (is_scalar ? (utf8proc_int32_t)point : 0xfffd, end));
}

static utf8proc_category_t
s_category (uint32_t point)
{
    return utf8proc_category ((utf8proc_int32_t)point);
}

bool
unicode_is_space (uint32_t point)
{
    if (point < 0x80)
        return (point >= 9 && point <= 13) || (point >= 28 && point <= 32);
    return point == 0x85 || s_category (point) == UTF8PROC_CATEGORY_ZS || point == 0x2028 || point == 0x2029;
}

size_t
unicode_line_end (span_t text)
{
    size_t size;
    if (span_starts_with (text, SPAN ("\r\n")))
        return 2;
    uint32_t point = unicode_decode (text, &size);
    bool ends = (point >= 0x0a && point <= 0x0d) || (point >= 0x1c && point <= 0x1e) || point == 0x85 ||
                point == 0x2028 || point == 0x2029;
    return ends ? size : 0;
}

bool
unicode_is_printable (span_t character)
{
    size_t size;
    uint32_t point = unicode_decode (character, &size);
    switch (s_category (point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    case UTF8PROC_CATEGORY_ZS:
        return point == ' ';
    default:
        return true;
    }
}

void
unicode_escape (span_t character, buffer_t *out)
{
    size_t size;
    uint32_t point = unicode_decode (character, &size);
    if (point < 0x100)
        buffer_print (out, "\\x%02x", point);
    else if (point < 0x10000)
        buffer_print (out, "\\u%04x", point);
    else
        buffer_print (out, "\\U%08x", point);
}

bool
unicode_is_letter (uint32_t point)
{
    utf8proc_category_t category = s_category (point);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool
unicode_is_decimal (uint32_t point)
{
    return s_category (point) == UTF8PROC_CATEGORY_ND;
}

//  Decimals lie in rows of ten, each row on its own: the digit is the way to the row's start.
int
unicode_decimal_value (uint32_t point)
{
    if (point < 0x80)
        return point >= '0' && point <= '9' ? (int)point - '0' : -1;
    if (!unicode_is_decimal (point))
        return -1;
    uint32_t start = point;
    while (unicode_is_decimal (start - 1))
        start--;
    return (int)((point - start) % 10);
}

//  Beside decimals: superscripts, subscripts and single digits in circles, brackets and with full stops.
bool
unicode_is_digit (uint32_t point)
{
    static const uint32_t ranges [][2] = { { 0xb2, 0xb3 }, { 0xb9, 0xb9 }, { 0x2070, 0x2070 }, { 0x2074, 0x2079 },
        { 0x2080, 0x2089 }, { 0x2460, 0x2468 }, { 0x2474, 0x247c }, { 0x2488, 0x2490 }, { 0x24ea, 0x24ea },
        { 0x24f5, 0x24fd }, { 0x24ff, 0x24ff }, { 0x2776, 0x277e }, { 0x2780, 0x2788 }, { 0x278a, 0x2792 } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges [i][0] && point <= ranges [i][1])
            return true;
    return unicode_is_decimal (point);
}

bool
unicode_is_numeric (uint32_t point)
{
    utf8proc_category_t category = s_category (point);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool
unicode_is_alphanumeric (uint32_t point)
{
    return unicode_is_letter (point) || unicode_is_numeric (point);
}

bool
unicode_is_upper (uint32_t point)
{
    return utf8proc_isupper ((utf8proc_int32_t)point);
}

bool
unicode_is_lower (uint32_t point)
{
    return utf8proc_islower ((utf8proc_int32_t)point) || point == 0xaa || point == 0xba;
}

typedef utf8proc_int32_t (convert_fn) (utf8proc_int32_t point);

//  Capitals of several code points; "" for any other character.
static const char *
s_long_upper (uint32_t point)
{
    static const struct {
        uint32_t point;
        const char *upper;
    } rows [] = { { 0xdf, "SS" }, { 0x149, "\xca\xbcN" }, { 0xfb00, "FF" }, { 0xfb01, "FI" }, { 0xfb02, "FL" },
        { 0xfb03, "FFI" }, { 0xfb04, "FFL" }, { 0xfb05, "ST" }, { 0xfb06, "ST" } };
    for (size_t i = 0; point >= 0xdf && i < sizeof rows / sizeof *rows; i++)
        if (rows [i].point == point)
            return rows [i].upper;
    return "";
}

//  A Greek sigma that ends a word is written otherwise in lower case.
static bool
s_ends_word (span_t text, size_t at, size_t size)
{
    size_t before = at;
    size_t next;
    while (before && (text.data [--before] & 0xc0) == 0x80)
        ;
    span_t rest = span_slice (text, at + size, 4);
    return at && unicode_is_letter (unicode_decode (span_slice (text, before, 4), &next)) &&
           !(rest.size && unicode_is_letter (unicode_decode (rest, &next)));
}

static void
s_convert (buffer_t *out, span_t text, convert_fn *convert)
{
    for (size_t at = 0, size; at < text.size; at += size) {
        if (text.data [at] < 0x80) {
            buffer_append_byte (out, (uint8_t)convert (text.data [at]));
            size = 1;
            continue;
        }
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        const char *long_upper = convert == utf8proc_toupper ? s_long_upper (point) : "";
        if (*long_upper)
            buffer_append_string (out, long_upper);
        else if (convert == utf8proc_tolower && point == 0x130)
            buffer_append_string (out, "i\xcc\x87");
        else if (convert == utf8proc_tolower && point == 0x3a3 && s_ends_word (text, at, size))
            unicode_append (out, 0x3c2);
        else
            unicode_append (out, (uint32_t)convert ((utf8proc_int32_t)point));
    }
}

static utf8proc_int32_t
s_swap (utf8proc_int32_t point)
{
    return unicode_is_upper ((uint32_t)point) ? utf8proc_tolower (point) : utf8proc_toupper (point);
}

void
unicode_append_swapped (buffer_t *out, span_t text)
{
    s_convert (out, text, s_swap);
}

void
unicode_append_upper (buffer_t *out, span_t text)
{
    s_convert (out, text, utf8proc_toupper);
}

void
unicode_append_lower (buffer_t *out, span_t text)
{
    s_convert (out, text, utf8proc_tolower);
}

void
unicode_append_folded (buffer_t *out, span_t text)
{
    enum { FOLDED_MAX = 8 };
    for (size_t at = 0, size; at < text.size; at += size) {
        utf8proc_int32_t folded [FOLDED_MAX];
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        utf8proc_ssize_t count =
            utf8proc_decompose_char ((utf8proc_int32_t)point, folded, FOLDED_MAX, UTF8PROC_CASEFOLD, NULL);
        for (utf8proc_ssize_t i = 0; i < count && i < FOLDED_MAX; i++)
            unicode_append (out, (uint32_t)folded [i]);
    }
}

//  The first character of a text as it begins a word; its size.
static size_t
s_append_first (buffer_t *out, span_t text)
{
    size_t size = 0;
    uint32_t point = text.size ? unicode_decode (text, &size) : 0;
    span_t upper = span_from_string (s_long_upper (point));
    if (upper.size && upper.data [0] < 0x80) {
        buffer_append_byte (out, upper.data [0]);
        unicode_append_lower (out, span_slice (upper, 1, upper.size));
    } else {
        s_convert (out, span_slice (text, 0, size), utf8proc_totitle);
    }
    return size;
}

void
unicode_append_capital (buffer_t *out, span_t text)
{
    size_t first = s_append_first (out, text);
    unicode_append_lower (out, span_slice (text, first, text.size));
}

void
unicode_append_title (buffer_t *out, span_t text)
{
    bool inside = false;
    for (size_t at = 0, size; at < text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        if (inside)
            unicode_append (out, (uint32_t)utf8proc_tolower ((utf8proc_int32_t)point));
        else
            s_append_first (out, span_slice (text, at, size));
        inside = unicode_is_letter (point);
    }
}

static bool
s_contains (const span_t *set, uint32_t wanted)
{
    if (!set)
        return unicode_is_space (wanted);
    for (size_t at = 0, size; at < set->size; at += size)
        if (unicode_decode (span_slice (*set, at, 4), &size) == wanted)
            return true;
    return false;
}

static size_t
s_last_character (span_t text)
{
    size_t size = 1;
    while (size < text.size && size < 4 && (text.data [text.size - size] & 0xc0) == 0x80)
        size++;
    return size;
}

span_t
unicode_strip (span_t text, const span_t *set, bool left, bool right)
{
    size_t size;
    while (left && text.size && s_contains (set, unicode_decode (text, &size)))
        text = span_slice (text, size, text.size);
    while (right && text.size) {
        size_t last = s_last_character (text);
        if (!s_contains (set, unicode_decode (span_slice (text, text.size - last, last), &size)))
            break;
        text = span_slice (text, 0, text.size - last);
    }
    return text;
}
