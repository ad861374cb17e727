//  extent - where a JSON value ends, without reading it
//
//  Follows brackets, strings and escapes of one value that comes in pieces, and knows what would close it.  It checks no
//  grammar: what cannot stand outside a string is reported, not refused.

#ifndef MODEL_PARSER_EXTENT_H
#define MODEL_PARSER_EXTENT_H

#include "base/buffer.h"

enum { EXTENT_DEPTH_MAX = 512, EXTENT_SCALAR_MAX = 8 };

typedef enum {
    EXTENT_VALUE,        //  A value must come
    EXTENT_FIRST,        //  A value or the end of the array
    EXTENT_FIRST_KEY,    //  A key or the end of the object
    EXTENT_KEY,          //  A key must come
    EXTENT_COLON,        //  A colon must come
    EXTENT_NEXT,         //  A comma or the end
} extent_expect_t;

typedef struct {
    uint32_t depth;                            //  Open brackets
    extent_expect_t expect;                    //  What comes
    bool in_string;                            //  Between quotes
    bool in_key;                               //  The string is a key
    uint8_t escape;                            //  Characters that the escape still takes
    char scalar [EXTENT_SCALAR_MAX];           //  End of the number or word being read
    uint8_t scalar_size;                       //  Bytes of it
    bool done;                                 //  The value is complete
    uint8_t objects [EXTENT_DEPTH_MAX / 8];    //  A bit an open level: it is an object
} extent_t;

//  Before the first byte of a value.
void extent_init (extent_t *self);

//  Goes on through the value.  Returns the bytes that belong to it: fewer than there are where it is done, or where a byte cannot
//  stand outside a string (*odd is then set; whoever wants to go on skips it).
size_t extent_feed (extent_t *self, span_t text, bool *odd);

//  Appends what closes the value.  False, with nothing appended, where nothing would.
bool extent_close (const extent_t *self, buffer_t *out);

#endif
