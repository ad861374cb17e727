//  option_value - the text of one value, read and written
//
//  Part of option.h: what stands behind a key, whatever it came from.

#ifndef RUNTIME_OPTION_VALUE_H
#define RUNTIME_OPTION_VALUE_H

#include "runtime/option.h"

//  Reads `text` into the row's field.  Sections, lists and strings in lists are not values.  The error is a sentence
//  about the value alone: "'70000' is not between 0 and 65535".  The field stays as it was on failure.
status_t option_value_parse (
    const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error);

//  The value as it would be written in a file, quotes included where they are needed.
void option_value_render (const option_t *row, const void *field, buffer_t *out);

//  What may be written: "integer, 0 to 65535", "kv|round_robin", "duration (30s, 10ms, 20min)".
void option_value_describe (const option_t *row, buffer_t *out);

//  Text as YAML would need it: as it is, or in double quotes.
void option_value_quote (const char *text, buffer_t *out);

//  Copies strings into the context's memory, with a NULL behind them.  False where there is no room.
bool option_value_keep_strings (
    const char *const *items, size_t count, option_strings_t *out, const option_context_t *context);

#endif
