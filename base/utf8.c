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

static size_t
s_ascii_prefix (span_t text)
{
    size_t size = 0;
    uint64_t word;
    for (; size + sizeof word <= text.size; size += sizeof word) {
        memcpy (&word, text.data + size, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (size < text.size && text.data [size] < 0x80)
        size++;
    return size;
}

static inline bool
s_goes_on (uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

//  Characters of two and three bytes whose second byte has no bounds of its own: nearly all beyond ASCII.
static size_t
s_plain_prefix (span_t text)
{
    size_t size = 0;
    while (size + 3 <= text.size) {
        const uint8_t *at = text.data + size;
        if (at [0] > 0xe0 && at [0] < 0xf0 && at [0] != 0xed && s_goes_on (at [1]) && s_goes_on (at [2]))
            size += 3;
        else if (at [0] >= 0xc2 && at [0] < 0xe0 && s_goes_on (at [1]))
            size += 2;
        else
            break;
    }
    return size;
}

size_t
utf8_valid_prefix (span_t text)
{
    span_t left = text;
    for (;;) {
        left = span_slice (left, s_ascii_prefix (left), left.size);
        left = span_slice (left, s_plain_prefix (left), left.size);
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
