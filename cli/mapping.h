//  mapping - a file as bytes, without reading it
//
//  Model files are gigabytes of which a command looks at the front.

#ifndef CLI_MAPPING_H
#define CLI_MAPPING_H

#include "base/error.h"

typedef struct {
    span_t bytes;    //  The whole file
} mapping_t;

//  Maps a file. STATUS_NOT_FOUND, STATUS_IO.
status_t mapping_open (mapping_t *self, const char *path, error_t *error);

//  What borrowed its bytes must be gone.
void mapping_close (mapping_t *self);

#endif
