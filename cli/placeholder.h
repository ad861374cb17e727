//  placeholder - {port} in a text of the configuration
//
//  A name in braces is filled in, or is a slip of the hand.  Braces around anything else are text, and so are two in a row,
//  as JSON and templates have them.

#ifndef CLI_PLACEHOLDER_H
#define CLI_PLACEHOLDER_H

#include "base/buffer.h"

//  Appends the text with each {name} of the NULL-terminated names replaced by the value at its position.
void placeholder_fill (const char *text, const char *const *names, const char *const *values, buffer_t *out);

//  The first name in braces, without them, that is none of these; empty where all are.  Borrows the text.
span_t placeholder_unknown (const char *text, const char *const *names);

//  "there is nothing to fill in for '{prot}'; did you mean '{port}'?"; else it ends with the names that there are.
void placeholder_complain (span_t name, const char *const *names, buffer_t *out);

#endif
