//  complaints - everything that is wrong with one file
//
//  Whoever fixes a configuration wants to see all of it at once, each with its place.  The list is bounded; what does
//  not fit is counted.  An empty list means that all is well.

#ifndef RUNTIME_COMPLAINTS_H
#define RUNTIME_COMPLAINTS_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

enum { COMPLAINTS_MAX = 20 };

//  Where in a file; line and column from 1.  {0}: nowhere in particular.
typedef struct {
    uint32_t line;      //  From 1; 0: nowhere
    uint32_t column;    //  From 1
} place_t;

typedef struct {
    place_t place;                 //  Where
    uint32_t order;                //  Of arrival, to keep equals apart
    char text [ERROR_TEXT_MAX];    //  What, and what to do about it
} complaint_t;

typedef struct {
    const char *source;    //  Name of the file, as the user gave it; borrowed
    array_t list;          //  complaint_t
    size_t omitted;        //  Complaints beyond COMPLAINTS_MAX
} complaints_t;

//  source: "fleet.yaml", or "command line".  Borrowed.
void complaints_init (complaints_t *self, const char *source);
void complaints_fini (complaints_t *self);

void complaints_add (complaints_t *self, place_t place, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

bool complaints_any (const complaints_t *self);

//  In the order of the file, for whoever prints them otherwise.
void complaints_sort (complaints_t *self);

//  Sorts, then appends a line "source:line:column: text" for each, and one that says how many were left out.
void complaints_render (complaints_t *self, buffer_t *out);

//  STATUS_OK where there are none; else the first one goes into the error, with how many more there are.
status_t complaints_to_error (complaints_t *self, error_t *error);

#endif
