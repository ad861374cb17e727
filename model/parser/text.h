//  text - small things that the machines share

#ifndef MODEL_PARSER_TEXT_H
#define MODEL_PARSER_TEXT_H

#include "base/buffer.h"

typedef enum {
    TEXT_DIFFERS,    //  Not here
    TEXT_WHOLE,      //  Here
    TEXT_PARTIAL,    //  The text ends inside the marker
} text_match_t;

//  Whether a marker (NULL: never) stands at the start of a text.  With `last` nothing is partial.
text_match_t text_match (span_t text, const char *marker, bool last);
text_match_t text_match_span (span_t text, span_t marker, bool last);

//  Whether a text is the beginning of a marker, two bytes or more: at the end of an answer it is one that was cut.
bool text_is_cut (span_t text, span_t marker);

//  Where a word first stands in a text; SIZE_MAX: nowhere.
size_t text_find (span_t text, const char *word);

//  Space, tab, line end.
bool text_is_blank (uint8_t byte);

//  Blanks at the start.
size_t text_blanks (span_t text);

//  Appends text as the inside of a JSON string; bytes from 0x80 on as they are.
void text_escape (buffer_t *out, span_t text);

#endif
