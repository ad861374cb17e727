//  casing - characters whose other case is more than one character
//
//  Unicode's table of special casing, as far as it depends on nothing else: what the rest becomes a library tells.

#ifndef MODEL_TEMPLATE_CASING_H
#define MODEL_TEMPLATE_CASING_H

#include <stdint.h>

//  In upper case, and as the first letter of a word; "" where one character says it.
const char *casing_upper (uint32_t point);
const char *casing_title (uint32_t point);

#endif
