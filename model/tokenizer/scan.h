//  scan - JSON read in one go
//
//  A tokenizer.json is megabytes of vocabulary, which as a tree (base/json.h) would take seconds and a gigabyte. This walks
//  the text instead: the caller says what it expects, values it does not know are passed over. The first mistake stays;
//  from then on every call says that there is nothing more.

#ifndef MODEL_TOKENIZER_SCAN_H
#define MODEL_TOKENIZER_SCAN_H

#include "base/buffer.h"
#include "base/error.h"

typedef struct {
    span_t text;           //  Well-formed UTF-8, borrowed
    size_t at;             //  Next byte
    size_t origin;         //  Where the text begins in the file, for sentences
    buffer_t unescaped;    //  Of the last string with escapes
    status_t status;       //  Of the first mistake
    error_t *error;        //  Its sentence goes here
} scan_t;

//  Starts with a text, whose first byte is number `origin` of the file.
void scan_init (scan_t *self, span_t text, size_t origin, error_t *error);
void scan_fini (scan_t *self);

//  Says what is wrong at the next byte, once. Returns false.
bool scan_fail (scan_t *self, const char *reason);

//  Walks the members of an object whose { comes next: for (bool first = true; scan_member (&scan, &first, &key);), each time
//  followed by one of the functions below for its value. The key is valid until the next string.
bool scan_member (scan_t *self, bool *first, span_t *key);

//  The same for the elements of an array.
bool scan_element (scan_t *self, bool *first);

//  A string, unescaped; valid until the next one. Half of a pair of surrogates is a mistake: no text has it, and whatever stood
//  in its place would be another token.
bool scan_string (scan_t *self, span_t *string);

//  Passes over all that is left, of which it reads the strings alone. Returns whether they are without a mistake.
bool scan_strings (scan_t *self);

//  A whole number from 0 to 2^32 - 1.
bool scan_u32 (scan_t *self, uint32_t *number);

//  Any number.
bool scan_double (scan_t *self, double *number);

//  Passes over a value. raw: its text, borrowed from the whole.
bool scan_value (scan_t *self, span_t *raw);

//  The kind of the value that comes next: its first byte; 0 at the end.
uint8_t scan_peek (scan_t *self);

//  Nothing but blanks is left.
bool scan_end (scan_t *self);

#endif
