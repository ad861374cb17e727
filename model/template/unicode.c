#include "model/template/unicode.h"

#include <utf8proc.h>

#include "model/template/casing.h"

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
        { 0x24f5, 0x24fd }, { 0x24ff, 0x24ff }, { 0x2776, 0x277e }, { 0x2780, 0x2788 }, { 0x278a, 0x2792 },
        { 0x1369, 0x1371 }, { 0x19da, 0x19da }, { 0x10a40, 0x10a43 }, { 0x10e60, 0x10e68 }, { 0x11052, 0x1105a },
        { 0x1f100, 0x1f10a } };
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

bool
unicode_is_title (uint32_t point)
{
    return s_category (point) == UTF8PROC_CATEGORY_LT;
}

//  Upper, lower or title case; also letters without a category that says so.
static bool
s_is_cased (uint32_t point)
{
    return unicode_is_upper (point) || unicode_is_lower (point) || unicode_is_title (point);
}

//  Whether a character is passed over where it is asked what stands beside a Greek sigma.
static bool
s_is_passed (uint32_t point)
{
    static const uint32_t others [] = { '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027,
        0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a };
    utf8proc_category_t category = s_category (point);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others [i] == point)
            return true;
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK;
}

//  A Greek sigma that ends a word is written otherwise in lower case: one behind a letter, and before none.
static bool
s_ends_word (span_t text, size_t at, size_t size)
{
    uint32_t point = '.';
    size_t before = at, behind = at + size, next;
    while (before && s_is_passed (point)) {
        while ((text.data [--before] & 0xc0) == 0x80 && before)
            ;
        point = unicode_decode (span_slice (text, before, 4), &next);
    }
    if (!at || s_is_passed (point) || !s_is_cased (point))
        return false;
    for (point = '.'; behind < text.size && s_is_passed (point); behind += next)
        point = unicode_decode (span_slice (text, behind, 4), &next);
    return s_is_passed (point) || !s_is_cased (point);
}

//  Each appends what becomes of a character at a place of a text.
typedef void (append_fn) (buffer_t *out, span_t text, size_t at, size_t size, uint32_t point);

static void
s_append_lower (buffer_t *out, span_t text, size_t at, size_t size, uint32_t point)
{
    if (point == 0x130)
        buffer_append_string (out, "i\xcc\x87");
    else if (point == 0x3a3 && s_ends_word (text, at, size))
        unicode_append (out, 0x3c2);
    else
        unicode_append (out, (uint32_t)utf8proc_tolower ((utf8proc_int32_t)point));
}

static void
s_append_upper (buffer_t *out, span_t text, size_t at, size_t size, uint32_t point)
{
    const char *upper = casing_upper (point);
    if (*upper)
        buffer_append_string (out, upper);
    else
        unicode_append (out, (uint32_t)utf8proc_toupper ((utf8proc_int32_t)point));
}

static void
s_append_title (buffer_t *out, uint32_t point)
{
    const char *title = casing_title (point);
    if (*title)
        buffer_append_string (out, title);
    else
        unicode_append (out, (uint32_t)utf8proc_totitle ((utf8proc_int32_t)point));
}

static void
s_append_other (buffer_t *out, span_t text, size_t at, size_t size, uint32_t point)
{
    if (unicode_is_upper (point))
        s_append_lower (out, text, at, size, point);
    else if (unicode_is_lower (point))
        s_append_upper (out, text, at, size, point);
    else
        unicode_append (out, point);
}

//  From a place on.
static void
s_convert (buffer_t *out, span_t text, size_t at, append_fn *append)
{
    for (size_t size; at < text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        append (out, text, at, size, point);
    }
}

void
unicode_append_swapped (buffer_t *out, span_t text)
{
    s_convert (out, text, 0, s_append_other);
}

void
unicode_append_upper (buffer_t *out, span_t text)
{
    s_convert (out, text, 0, s_append_upper);
}

void
unicode_append_lower (buffer_t *out, span_t text)
{
    s_convert (out, text, 0, s_append_lower);
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

void
unicode_append_capital (buffer_t *out, span_t text)
{
    size_t size = 0;
    if (text.size)
        s_append_title (out, unicode_decode (text, &size));
    s_convert (out, text, size, s_append_lower);
}

void
unicode_append_title (buffer_t *out, span_t text)
{
    bool inside = false;
    for (size_t at = 0, size; at < text.size; at += size) {
        uint32_t point = unicode_decode (span_slice (text, at, 4), &size);
        if (inside)
            s_append_lower (out, text, at, size, point);
        else
            s_append_title (out, point);
        inside = s_is_cased (point);
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
