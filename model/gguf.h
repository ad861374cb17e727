//  gguf - the metadata of a GGUF file
//
//  What stands before the tensors: keys and values, read in place. Opening walks over all of it once and checks every
//  length against the file, so that what is asked for later lies inside; values stay where they are. Only the front of the
//  file is needed. Facts: the GGUF specification of ggml, versions 2 and 3, little-endian.

#ifndef MODEL_GGUF_H
#define MODEL_GGUF_H

#include "base/array.h"
#include "base/error.h"

typedef enum {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
} gguf_type_t;

typedef struct {
    span_t key;             //  "tokenizer.ggml.model"
    gguf_type_t type;       //  Of the value
    gguf_type_t element;    //  Of an array's elements
    uint64_t count;         //  Elements of an array; 1 for all else
    span_t data;            //  The value (of a string its text), or the elements one after another
} gguf_entry_t;

typedef struct {
    uint32_t version;    //  2 or 3
    uint64_t tensors;    //  How many the file says it has
    array_t entries;     //  gguf_entry_t, in the file's order
    size_t end;          //  Where the metadata end
} gguf_t;

//  Reads the metadata of a file, borrowed until gguf_fini. STATUS_INVALID with the place where it is wrong or ends too
//  early, STATUS_UNSUPPORTED for another version; nothing is to be freed then.
status_t gguf_init (gguf_t *self, span_t file, error_t *error);
void gguf_fini (gguf_t *self);

//  The string of a key; empty where there is none, or where it is something else. Borrowed from the file.
span_t gguf_string (const gguf_t *self, const char *key);

//  The whole number, from 0 on, of a key. False where there is none; value is then as it was.
bool gguf_u64 (const gguf_t *self, const char *key, uint64_t *value);

//  The truth value of a key, or what it is where it is absent.
bool gguf_flag (const gguf_t *self, const char *key, bool otherwise);

//  The array of a key with this kind of elements; NULL where there is none. Borrowed.
const gguf_entry_t *gguf_array (const gguf_t *self, const char *key, gguf_type_t element);

//  Walks the strings of an array of them: start with *cursor 0; false at the end. Borrowed from the file.
bool gguf_next_string (const gguf_entry_t *array, size_t *cursor, span_t *string);

//  An element, below count, of an array of numbers of that type.
int32_t gguf_i32_at (const gguf_entry_t *array, size_t position);
float gguf_f32_at (const gguf_entry_t *array, size_t position);

#endif
