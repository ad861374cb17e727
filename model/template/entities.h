//  entities - what a reference of HTML stands for
//
//  As Python's html.unescape reads them, which is how the HTML standard wants it: by name, with or without the semicolon where the
//  standard has both, and by number.

#ifndef MODEL_TEMPLATE_ENTITIES_H
#define MODEL_TEMPLATE_ENTITIES_H

#include "base/buffer.h"

//  By the first letter the names and what they stand for: NEWLINE name TAB characters, again and again.  From scripts/entities.
extern const char *const entities_names [UINT8_MAX + 1];

//  Appends what the reference at the start of a text, which begins with `&`, stands for: the text itself where it is none.
//  Returns the bytes that were read.
size_t entities_read (span_t text, buffer_t *out);

#endif
