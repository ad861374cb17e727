//  brief - a message in a few words, for people who watch
//
//  `name=value` for each field that is there; lists by their length, structs by their fields, hashes by their beginning.
//  It is for eyes only: programs ask for JSON.

#ifndef CLI_BRIEF_H
#define CLI_BRIEF_H

#include "schemas/message.h"

//  Appends the fields of a message.
void brief_append (const message_type_t *type, const void *message, buffer_t *out);

//  Appends text that others chose, at most shown_max bytes of it: control characters never reach a terminal.
void brief_append_text (span_t text, size_t shown_max, buffer_t *out);

//  Appends "1.2s", "35ms", "4d 3h": at most two units.
void brief_append_ms (uint64_t ms, buffer_t *out);

#endif
