//  json_check - the words of a JSON text
//
//  Looks at each token by itself, not at how they follow each other: that is the parser's part.  Refused with the byte offset:
//  bytes that are not UTF-8, what is no token of RFC 8259, raw control characters in strings, keys with a NUL, numbers of more
//  than 128 characters.

#ifndef BASE_JSON_CHECK_H
#define BASE_JSON_CHECK_H

#include "base/error.h"

enum { JSON_NUMBER_MAX = 128 };    //  Characters of a number

//  STATUS_INVALID with a sentence where a token is wrong.  *beyond: a whole number that json_is_beyond is among them.
status_t json_check (span_t text, bool *beyond, error_t *error);

//  Whether a whole number has more than 64 bits: it is below -2^63, or 2^64 or more.
bool json_is_beyond (span_t number);

#endif
