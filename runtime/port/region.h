//  region - memory that other processes of the machine can map under the same name
//
//  The functions are those of port_table_t (runtime/port.h).

#ifndef RUNTIME_PORT_REGION_H
#define RUNTIME_PORT_REGION_H

#include "runtime/port.h"

//  name: 1 to 200 bytes without a slash.  size: 0 for all of an existing one.
port_region_t *region_open (const char *name, size_t size, bool create, error_t *error);
void *region_memory (const port_region_t *self, size_t *size);
void region_close (port_region_t *self, bool remove);

#endif
