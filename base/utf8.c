#include "base/utf8.h"

#include <string.h>

//  What the first byte says: how many bytes follow, and the bounds of the second (the others are 80..BF).
typedef struct {
    uint8_t first_min;     //  First byte, from
    uint8_t first_max;     //  to
    uint8_t size;          //  Bytes in all
    uint8_t second_min;    //  Second byte, from
    uint8_t second_max;    //  to
} form_t;

static const form_t s_forms [] = {
    { 0xc2, 0xdf, 2, 0x80, 0xbf },
    { 0xe0, 0xe0, 3, 0xa0, 0xbf },
    { 0xe1, 0xec, 3, 0x80, 0xbf },
    { 0xed, 0xed, 3, 0x80, 0x9f },
    { 0xee, 0xef, 3, 0x80, 0xbf },
    { 0xf0, 0xf0, 4, 0x90, 0xbf },
    { 0xf1, 0xf3, 4, 0x80, 0xbf },
    { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

static const form_t *
s_form_of (uint8_t first)
{
    for (size_t i = 0; i < sizeof s_forms / sizeof s_forms [0]; i++)
        if (first >= s_forms [i].first_min && first <= s_forms [i].first_max)
            return &s_forms [i];
    return NULL;
}

//  How many of the first bytes agree with the form, at most form->size.
static size_t
s_agreeing (const form_t *form, span_t text)
{
    if (text.size < 2 || text.data [1] < form->second_min || text.data [1] > form->second_max)
        return 1;
    size_t agreeing = 2;
    while (agreeing < form->size && agreeing < text.size && (text.data [agreeing] & 0xc0) == 0x80)
        agreeing++;
    return agreeing;
}

size_t
utf8_sequence (span_t text)
{
    if (text.size == 0)
        return 0;
    if (text.data [0] < 0x80)
        return 1;
    const form_t *form = s_form_of (text.data [0]);
    return form && s_agreeing (form, text) == form->size ? form->size : 0;
}

//  Characters beyond ASCII, up to the last bytes of a text. What s_forms says of first and second bytes is said of their bits here;
//  each size has a way of its own, so that the next character is looked at before this one's size is known for sure.
static size_t
s_long_prefix (span_t text)
{
    size_t at = 0;
    while (at + 4 <= text.size) {
        const uint8_t *byte = text.data + at;
        uint32_t bytes = byte [0] | (uint32_t)byte [1] << 8 | (uint32_t)byte [2] << 16 | (uint32_t)byte [3] << 24;
        uint32_t plane = (bytes & 7) << 2 | (bytes >> 12 & 3);
        if ((bytes & 0xc0c0f0) == 0x8080e0 && (bytes & 0x200f) != 0 && (bytes & 0x200f) != 0x200d)
            at += 3;
        else if ((bytes & 0xc0e0) == 0x80c0 && bytes & 0x1e)
            at += 2;
        else if ((bytes & 0xc0c0c0f8) == 0x808080f0 && plane >= 1 && plane <= 16)
            at += 4;
        else
            break;
    }
    return at;
}

size_t
utf8_valid_prefix (span_t text)
{
    span_t left = text;
    for (;;) {
        left = span_slice (left, utf8_ascii_prefix (left), left.size);
        left = span_slice (left, s_long_prefix (left), left.size);
        size_t size = utf8_sequence (left);
        if (size == 0)
            return text.size - left.size;
        left = span_slice (left, size, left.size);
    }
}

bool
utf8_is_valid (span_t text)
{
    return utf8_valid_prefix (text) == text.size;
}

size_t
utf8_incomplete_tail (span_t text)
{
    for (size_t tail = 1; tail <= 3 && tail <= text.size; tail++) {
        span_t end = span_slice (text, text.size - tail, tail);
        if ((end.data [0] & 0xc0) == 0x80)
            continue;
        const form_t *form = s_form_of (end.data [0]);
        return form && form->size > tail && s_agreeing (form, end) == tail ? tail : 0;
    }
    return 0;
}
