//  occupant - who holds a taken address
//
//  "Address in use" helps nobody; "held by llama-server (pid 4711)" does.  The kernel's tables under /proc/net lead from
//  an address to the inode of a socket, and the descriptors under /proc/PID/fd from there to a process (proc(5)).  Other
//  users' descriptors cannot be read: then the occupant stays unknown.

#ifndef RUNTIME_PORT_OCCUPANT_H
#define RUNTIME_PORT_OCCUPANT_H

#include <stdint.h>

#include "base/error.h"

enum { OCCUPANT_TEXT_MAX = 64 };

//  Writes "NAME (pid N)", "this process" or "an unknown process" for whoever listens on a TCP port.
void occupant_of_tcp (uint16_t port, char text [OCCUPANT_TEXT_MAX]);

//  Makes a path free for a socket: refuses one that is too long for the system (STATUS_LIMIT) or on which somebody
//  answers (STATUS_EXISTS, naming the occupant) or that is no socket (STATUS_EXISTS); removes a socket nobody holds.
status_t occupant_free_unix_path (const char *path, error_t *error);

#endif
