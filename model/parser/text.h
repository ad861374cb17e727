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
text_match_t text_match_span (span_t text, span_t marker, bool last);

//  The same of a string, whose end need not be looked for: most differ in their first bytes.
static inline text_match_t
text_match (span_t text, const char *marker, bool last)
{
    size_t at = 0;
    if (!marker)
        return TEXT_DIFFERS;
    while (at < text.size && marker [at] && text.data [at] == (uint8_t)marker [at])
        at++;
    if (!marker [at])
        return TEXT_WHOLE;
    return at == text.size && !last ? TEXT_PARTIAL : TEXT_DIFFERS;
}

//  Which of some markers (NULL: never) stands at the start of a text: the longest one, *which is its place among them. Partial
//  where a longer one may stand there, which *which then is.
text_match_t text_match_any (span_t text, const char *const markers [], size_t count, bool last, size_t *which);

//  Whether a text is the beginning of a marker, two bytes or more: at the end of an answer it is one that was cut.
bool text_is_cut (span_t text, span_t marker);

//  Where a word first stands in a text; SIZE_MAX: nowhere.
size_t text_find (span_t text, const char *word);

//  Bytes at the start, at most `max`, before the first that begins one of these markers (NULL: none).
size_t text_before (span_t text, const char *const markers [], size_t count, size_t max);

//  Space, tab, line end.
static inline bool
text_is_blank (uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

//  Blanks at the start.
size_t text_blanks (span_t text);

#endif
