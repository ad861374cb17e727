//  json - JSON that somebody else wrote
//
//  Text in, a tree out, and back to text.  The reader is strict where json-c by itself is not
//  (base/json_check.h): RFC 8259 to the letter, UTF-8, one value with only blanks around it, at most JSON_DEPTH_MAX deep;
//  NaN, infinities, single quotes and raw control characters are refused.  Of a key that comes twice the last one counts.  A
//  lone surrogate escape becomes U+FFFD.  Members keep their order, numbers with a fraction and whole ones beyond 64 bits
//  their digits, 128 at most.  What memory a tree takes is json_weight's to say: up to 300 times its text.
//
//  An absent member and a null one are the same: NULL, which every function here accepts.  To write JSON of our own, use
//  base/json_writer.h.

#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buffer.h"
#include "base/error.h"

enum { JSON_DEPTH_MAX = 64 };

typedef struct json json_t;

typedef enum {
    JSON_NULL,       //  Null or absent
    JSON_BOOL,       //  True or false
    JSON_INTEGER,    //  A number without fraction or exponent, of any size
    JSON_REAL,       //  Any other number
    JSON_STRING,     //  Text, possibly with NUL inside
    JSON_ARRAY,      //  Elements in order
    JSON_OBJECT,     //  Members in order
} json_kind_t;

//  Parses a whole text, borrowed for the call.  Gives the tree through *tree (NULL for the text `null`).
//  STATUS_INVALID with what is wrong and at which byte.
status_t json_parse (span_t text, json_t **tree, error_t *error);

//  Bytes of memory that the tree of a text takes beside the bytes of its strings, at the most; of any text, JSON or not.
//  Measured with json-c 0.16 on 64 bits.
uint64_t json_weight (span_t text);

//  Whether json_parse would read a text, and what kind of value it is; without a tree of it.
bool json_recognize (span_t text, json_kind_t *kind);

//  Whether json_parse would read a text as an object; and the text of its member of this name, empty where there is none,
//  the last one's where there are several.  key: as it is spelt in the text.  Borrowed from the text.
bool json_recognize_member (span_t text, span_t key, span_t *value);

//  Frees a tree that json_parse gave and nulls the caller's pointer.
void json_destroy (json_t **self_p);

json_kind_t json_kind (const json_t *self);

//  "a string", "an object", ...: for sentences.
const char *json_kind_name (json_kind_t kind);

//  The member of an object; NULL where there is none or self is no object.  Borrowed from the tree, as all below.
const json_t *json_get (const json_t *self, const char *key);

//  The same along a path with dots: "stator.hints.priority".
const json_t *json_get_path (const json_t *self, const char *path);

//  Elements of an array; 0 where self is none.
size_t json_count (const json_t *self);

//  Element of an array; NULL beyond its end, or where self is none.
const json_t *json_at (const json_t *self, size_t position);

//  Walks the members of an object: start with *cursor 0; false at the end.
bool json_next (const json_t *self, uintptr_t *cursor, span_t *key, const json_t **value);

//  The text of a string; the empty span where self is none.
span_t json_string (const json_t *self);

bool json_is_true (const json_t *self);

//  A whole number, 3.0 included.  False where self is none; value is then as it was.
bool json_to_i64 (const json_t *self, int64_t *value);

//  The same from 0 on, to 2^64 - 1.
bool json_to_u64 (const json_t *self, uint64_t *value);

//  Any number, infinite where it is beyond a double (1e400).  False where self is none; value is then as it was.
bool json_to_double (const json_t *self, double *value);

//  A number as it was written: one with a fraction or an exponent, or a whole one beyond 64 bits.  The empty span for all else.
span_t json_digits (const json_t *self);

//  ---- Trees of our own ----------------------------------------------------------------------------------------------
//  Each gives its value, which json_destroy frees.  Text is UTF-8 and copied.

json_t *json_new_object (void);
json_t *json_new_array (void);
json_t *json_new_string (span_t text);
json_t *json_new_bool (bool truth);

//  A value in a second place: it is freed when both are.  NULL for NULL.
json_t *json_share (const json_t *self);

//  Sets a member, or appends an element; takes the value (NULL: null).
void json_put (json_t *object, const char *key, json_t *value);
void json_add (json_t *array, json_t *value);

//  ---- Text ----------------------------------------------------------------------------------------------------------

//  Appends a value and all below it as text without blanks.
void json_render (const json_t *self, buffer_t *out);

#endif
