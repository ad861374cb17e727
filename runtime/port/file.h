//  file - whole files, and files that grow
//
//  The functions are those of port_table_t (runtime/port.h), with the state folder in place of the port.

#ifndef RUNTIME_PORT_FILE_H
#define RUNTIME_PORT_FILE_H

#include "runtime/port.h"

//  An absolute path as it is, another one inside the folder.  Gives the string: memory_free.
char *file_path (const char *folder, const char *path);

//  Makes the folders that a path leads through, readable by the owner only.
status_t file_make_folders (const char *path, error_t *error);

status_t file_read (const char *folder, const char *path, size_t size_max, buffer_t *out, error_t *error);
status_t file_read_front (const char *folder, const char *path, size_t size, buffer_t *out, error_t *error);
status_t file_write (const char *folder, const char *path, span_t bytes, bool secret, error_t *error);
port_file_t *file_open (const char *folder, const char *path, error_t *error);
status_t file_append (port_file_t *self, span_t bytes, error_t *error);
void file_close (port_file_t *self);

#endif
