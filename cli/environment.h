//  environment - files and environment, for what runs before there is a port

#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include "runtime/config.h"

//  The environment of this process and its files.
extern const config_world_t environment_world;

//  Appends a whole file of at most `size_max` bytes; "-" is standard input.  STATUS_NOT_FOUND, STATUS_IO, STATUS_LIMIT.
status_t environment_read_file (const char *path, size_t size_max, buffer_t *out, error_t *error);

//  Writes all of it to an open file, waits until it would survive a crash, and closes the file in any case.  False, and errno
//  says why, where it cannot.
bool environment_write_file (int file, span_t bytes);

//  Whether a program can be started by this name: a path, or a name to be found in PATH.
bool environment_has_program (const char *name);

#endif
