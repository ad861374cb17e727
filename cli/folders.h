//  folders - where a fleet keeps its sockets and its secret
//
//  The run folder holds sockets, logs and the configuration the fleet was started with; whoever can write there can speak
//  for any actor, so it belongs to its user alone.  The state folder holds what survives: the cluster's secret, stores.

#ifndef CLI_FOLDERS_H
#define CLI_FOLDERS_H

#include "cli/manifest.h"

//  The file that is locked, in the run folder.
#define FOLDERS_LOCK "lock"

enum { FOLDER_PATH_MAX = 512, SECRET_SIZE = 32 };

typedef struct {
    char run [FOLDER_PATH_MAX];      //  Absolute, no slash at the end
    char state [FOLDER_PATH_MAX];    //  Likewise
} folders_t;

//  Names the folders of a cluster, by the configuration or else by the environment.  Makes nothing.
status_t folders_find (folders_t *self, const manifest_cluster_t *cluster, error_t *error);

//  Finds a run folder of another host of the same cluster, beside this one, that has a file of this name.  Writes the name
//  of the host.
bool folders_find_host (const folders_t *self, const char *name, char host [FOLDER_PATH_MAX]);

//  Makes those that are not there, readable by their owner only; refuses folders of somebody else.
status_t folders_make (const folders_t *self, error_t *error);

//  Holds the run folder for this process until it ends.  STATUS_EXISTS where another fleet runs there.  *lock: the descriptor
//  that does; of an earlier call, or -1.
status_t folders_lock (const folders_t *self, int *lock, error_t *error);

//  The cluster's secret.  make: at first use; else STATUS_NOT_FOUND where it is not there.
status_t folders_secret (const folders_t *self, bool make, uint8_t secret [SECRET_SIZE], error_t *error);

//  Writes a file into the run folder, readable by its owner only, whole or not at all.
status_t folders_write (const folders_t *self, const char *name, span_t bytes, error_t *error);

//  Writes RUN/NAME into `out`.
void folders_path (const folders_t *self, const char *name, char *out, size_t size);

#endif
