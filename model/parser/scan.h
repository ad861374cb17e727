//  scan - where a JSON value ends, without reading it
//
//  Follows brackets, strings and escapes of one value that comes in pieces, and knows what would close it.  It checks no
//  grammar: what cannot stand outside a string is reported, not refused.

#ifndef MODEL_PARSER_SCAN_H
#define MODEL_PARSER_SCAN_H

#include "base/buffer.h"

enum { SCAN_DEPTH_MAX = 512, SCAN_SCALAR_MAX = 8 };

typedef enum {
    SCAN_VALUE,        //  A value must come
    SCAN_FIRST,        //  A value or the end of the array
    SCAN_FIRST_KEY,    //  A key or the end of the object
    SCAN_KEY,          //  A key must come
    SCAN_COLON,        //  A colon must come
    SCAN_NEXT,         //  A comma or the end
} scan_expect_t;

typedef struct {
    uint8_t objects [SCAN_DEPTH_MAX / 8];    //  A bit a level: it is an object
    uint32_t depth;                          //  Open brackets
    scan_expect_t expect;                    //  What comes
    bool in_string;                          //  Between quotes
    bool in_key;                             //  The string is a key
    uint8_t escape;                          //  Characters that the escape still takes
    char scalar [SCAN_SCALAR_MAX];           //  End of the number or word being read
    uint8_t scalar_size;                     //  Bytes of it
    bool done;                               //  The value is complete
} scan_t;

//  Before the first byte of a value.
void scan_init (scan_t *self);

//  Goes on through the value.  Returns the bytes that belong to it: fewer than there are where it is done, or where a byte cannot
//  stand outside a string (*odd is then set; whoever wants to go on skips it).
size_t scan_feed (scan_t *self, span_t text, bool *odd);

//  Appends what closes the value.  False, with nothing appended, where nothing would.
bool scan_close (const scan_t *self, buffer_t *out);

#endif
