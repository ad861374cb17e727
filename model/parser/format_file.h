//  format_file - a format described in YAML, for models that formats.c does not know
//
//  A mapping of the members of parser_format_t to strings, lists of strings and true or false:
//
//      like: qwen3_coder
//      section_start: <calls>
//      section_end: </calls>
//      think_start: [<thinking>, <thought>]
//
//  `like` begins with a known row, `also` names one that is read, too.  What is not written there is absent.

#ifndef MODEL_PARSER_FORMAT_FILE_H
#define MODEL_PARSER_FORMAT_FILE_H

#include "base/error.h"
#include "model/parser/format.h"

enum { PARSER_FORMAT_FILE_MAX = 1 << 16 };

//  Reads a format; borrows the text for the call.  Gives it through *format.  STATUS_INVALID with the line and what is wrong
//  there: no YAML, a member nobody knows, markers too long, or too few of them for the machine to find a call's parts.
status_t parser_format_load (span_t text, parser_format_t **format, error_t *error);

//  Frees a format that was loaded and nulls the caller's pointer.  No parser uses it any more.
void parser_format_destroy (parser_format_t **self_p);

//  The members a file may have, by number, as it writes them; NULL beyond the last.
const char *parser_format_member (size_t number);

#endif
