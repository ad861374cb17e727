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

//  ---- Many at once --------------------------------------------------------------------------------------------------

//  Whether a byte is right depends on the three before it: their forms say whether a character goes on here, and s_forms narrows
//  the second byte of some. That is the same question for each of 16 bytes.

enum {
    STEP = 16,     //  Bytes that are asked at once,
    BLOCK = 64,    //  and before an answer is looked at
    CONTEXT = 3    //  Bytes before it that matter
};

typedef uint8_t bytes_t __attribute__ ((vector_size (STEP)));
typedef int8_t marks_t __attribute__ ((vector_size (STEP)));

static inline bytes_t
s_load (const uint8_t *from)
{
    bytes_t bytes;
    memcpy (&bytes, from, sizeof bytes);
    return bytes;
}

//  A mark for each byte that is wrong, where those before it are right.
static inline marks_t
s_wrong (const uint8_t *from)
{
    bytes_t byte = s_load (from), first = s_load (from - 1);
    marks_t goes_on = (marks_t)byte < -64;
    marks_t should = (first >= 0xc0) | (s_load (from - 2) >= 0xe0) | (s_load (from - 3) >= 0xf0);
    marks_t low = ((first == 0xe0) & (byte < 0xa0)) | ((first == 0xf0) & (byte < 0x90));
    marks_t high = ((first == 0xed) & (byte > 0x9f)) | ((first == 0xf4) & (byte > 0x8f));
    marks_t never = (byte - 0xc0 <= 1) | (byte > 0xf4);
    return (goes_on ^ should) | low | high | never;
}

//  Whether none of the first bytes of a text is wrong, up to BLOCK, where those before `at` are right. The last may leave a
//  character incomplete.
static bool
s_is_right (span_t text, size_t at)
{
    uint8_t copy [CONTEXT + BLOCK] = { 0 };
    const uint8_t *bytes = text.data + at;
    size_t before = at < CONTEXT ? at : CONTEXT, size = text.size - at < BLOCK ? text.size - at : BLOCK;
    if (before < CONTEXT || size < BLOCK) {
        memcpy (copy + CONTEXT - before, bytes - before, before + size);
        bytes = copy + CONTEXT;
    }
    marks_t wrong = { 0 };
    for (size_t i = 0; i < size; i += STEP)
        wrong |= s_wrong (bytes + i);
    uint64_t halves [2];
    memcpy (halves, &wrong, sizeof halves);
    return (halves [0] | halves [1]) == 0;
}

size_t
utf8_valid_prefix (span_t text)
{
    size_t at = utf8_ascii_prefix (text);
    if (at == text.size)
        return at;
    while (at < text.size && s_is_right (text, at)) {
        at = text.size - at < BLOCK ? text.size : at + BLOCK;
        if (text.data [at - 1] < 0x80)
            at += utf8_ascii_prefix (span_slice (text, at, text.size));
    }
    at -= utf8_incomplete_tail (span_slice (text, 0, at));
    for (size_t size; (size = utf8_sequence (span_slice (text, at, text.size)));)
        at += size;
    return at;
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
