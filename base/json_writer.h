//  json_writer - JSON appended to a buffer, without a tree
//
//  The calls follow the text: begin, key, value, end; commas come by themselves.  The writer checks no grammar: a key
//  outside an object is a mistake of the caller that shows in the first test.  Strings are escaped; bytes that are not
//  UTF-8 become U+FFFD, so that the output is valid JSON whatever goes in.

#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include "base/buffer.h"

typedef struct {
    buffer_t *out;    //  Borrowed; text is appended
    bool comma;       //  A value stands before the next one
} json_writer_t;

void json_writer_init (json_writer_t *self, buffer_t *out);

void json_write_begin_object (json_writer_t *self);
void json_write_end_object (json_writer_t *self);
void json_write_begin_array (json_writer_t *self);
void json_write_end_array (json_writer_t *self);

//  The name of the next value.
void json_write_key (json_writer_t *self, const char *key);
void json_write_key_span (json_writer_t *self, span_t key);

void json_write_string (json_writer_t *self, span_t text);
void json_write_u64 (json_writer_t *self, uint64_t value);
void json_write_i64 (json_writer_t *self, int64_t value);
void json_write_bool (json_writer_t *self, bool value);
void json_write_null (json_writer_t *self);

//  The shortest digits that read back as the same number, with a point or an exponent; null where it is not finite.
void json_write_double (json_writer_t *self, double value);

//  A value that is JSON already.
void json_write_raw (json_writer_t *self, span_t json);

//  The escaped text without quotes, for whoever writes a string in pieces.
void json_escape (buffer_t *out, span_t text);

//  The same for text that is cut anywhere, also inside a character: bytes from 0x80 on stay as they are.
void json_escape_bytes (buffer_t *out, span_t text);

#endif
