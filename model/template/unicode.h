//  unicode - what Python's str knows about characters
//
//  On utf8proc.  Whitespace, case and printability as Python 3's str methods have them.

#ifndef MODEL_TEMPLATE_UNICODE_H
#define MODEL_TEMPLATE_UNICODE_H

#include "base/buffer.h"

//  The code point at the start of a well-formed text; its size in *size.  A malformed byte is U+FFFD of size 1.
uint32_t unicode_decode (span_t text, size_t *size);

//  Appends a code point as UTF-8; what is none becomes U+FFFD.
void unicode_append (buffer_t *out, uint32_t point);

//  str.isspace ().
bool unicode_is_space (uint32_t point);

//  Bytes of the line end, of those of str.splitlines (), that a text begins with: 0 where it begins with none.
size_t unicode_line_end (span_t text);

//  One character that repr () shows as it is.
bool unicode_is_printable (span_t character);

//  Appends a character as repr () escapes it: \xa0, \u200b, \U000e0001.
void unicode_escape (span_t character, buffer_t *out);

bool unicode_is_letter (uint32_t point);     //  str.isalpha ()
bool unicode_is_decimal (uint32_t point);    //  str.isdecimal ()
//  0 to 9 for the decimal digits of any script; -1 for what is none.
int unicode_decimal_value (uint32_t point);

bool unicode_is_digit (uint32_t point);           //  str.isdigit ()
bool unicode_is_numeric (uint32_t point);         //  str.isnumeric (), but for ideographs
bool unicode_is_alphanumeric (uint32_t point);    //  str.isalnum ()
bool unicode_is_upper (uint32_t point);
bool unicode_is_lower (uint32_t point);
bool unicode_is_title (uint32_t point);    //  Upper, then lower case, in one

//  Appends in upper, lower, the other, or title case (the first letter of each word upper, the rest lower).  A word is a
//  run of letters that have a case.  One code point becomes one, but for a hundred that have no capital of their own.
void unicode_append_upper (buffer_t *out, span_t text);
void unicode_append_lower (buffer_t *out, span_t text);
void unicode_append_capital (buffer_t *out, span_t text);    //  The first letter only
void unicode_append_swapped (buffer_t *out, span_t text);
void unicode_append_title (buffer_t *out, span_t text);

//  Appends without the differences of case: some become more than one.
void unicode_append_folded (buffer_t *out, span_t text);

//  Without leading or trailing characters that are in `set`; where set is NULL, without whitespace.
span_t unicode_strip (span_t text, const span_t *set, bool left, bool right);

#endif
