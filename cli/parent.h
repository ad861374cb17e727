//  parent - a process that must not outlive the one that started it
//
//  A host may be killed without a word.  What it started then ends too: each process watches its parent through a pidfd
//  and kills its own process group (the host gives each one its own) when the parent is gone.

#ifndef CLI_PARENT_H
#define CLI_PARENT_H

#include <stdint.h>

#include "base/error.h"

//  Ends this process, and its group where it leads one, as soon as `id` has ended; at once where it is not our parent any
//  more.  STATUS_UNSUPPORTED where the system has no pidfd.
status_t parent_watch (int64_t id, error_t *error);

#endif
