//  site - a fleet on this machine: its configuration, its folders, its secret
//
//  What `up`, `run` and `actor` begin with, and what the verbs that look at a running fleet find it by.

#ifndef CLI_SITE_H
#define CLI_SITE_H

#include "cli/assembly.h"
#include "cli/certificate.h"
#include "cli/command.h"
#include "cli/folders.h"

//  The file in the run folder that holds the configuration of the running fleet, secrets included.
#define SITE_CONFIG "fleet.yaml"

typedef struct {
    manifest_t *fleet;               //  As it was read
    folders_t folders;               //  Of its cluster
    uint8_t secret [SECRET_SIZE];    //  Of its cluster
    manifest_t *first;               //  Of the start: actors keep pointing into it
    manifest_t *before;              //  Of the reload before, until the actors have new options
    buffer_t changed;                //  Names of what the last reload changed
    array_t certificates;            //  certificate_t: those that were read last
    char machine [64];               //  Name of this machine
    int lock;                        //  Descriptor that holds the run folder; -1: it is not held
    assembly_site_t assembly;        //  All of this as assemblies want it
} site_t;

//  What a verb asks of a fleet beyond what its file must be.
typedef void (site_check_fn) (const manifest_t *fleet, complaints_t *complaints);

//  Reads a fleet from a file (NULL: the built-in one) and the flags of the invocation.  check: asked too; NULL: nothing.
//  Says what is wrong on standard error.  Gives the fleet through *fleet, also where there was something, but not where
//  there is no file: manifest_destroy.
result_t site_read_fleet (manifest_t **fleet, const invocation_t *invocation, const char *file, site_check_fn *check);

//  Reads a fleet from a file alone; NULL: one in which everything has its default.  Gives it; NULL and a sentence where
//  something is wrong.
manifest_t *site_load_fleet (const char *file, error_t *error);

//  Reads the fleet from a file (NULL: the built-in one) and the flags of the invocation, makes its folders, gets its
//  secret.  On failure says what is wrong on standard error, and there is nothing to close.
result_t site_open (site_t *self, const invocation_t *invocation, const char *file);
void site_close (site_t *self);

//  Reads the file again, in place of what was read before; publish: and publishes it.  STATUS_INVALID where it is wrong
//  (each mistake is said on standard error) or changes what only a new start can change, STATUS_IO where it cannot be
//  published: then everything stays as it is.
status_t site_reload (site_t *self, const invocation_t *invocation, const char *file, bool publish, error_t *error);

//  Writes a fleet into the run folder, for its processes to read.
status_t site_publish (const site_t *self, manifest_t *fleet, error_t *error);

//  Where somebody has emptied or removed the run folder: makes it, holds it and publishes anew, which is what *restored says.
status_t site_restore (site_t *self, bool *restored, error_t *error);

//  The keyring of a process of the fleet; NULL where nothing of this host leaves the machine.  Appends to `news` what is
//  different since the last time.
status_t site_read_keys (site_t *self, keyring_t **keys, buffer_t *news, error_t *error);

//  Nothing but blanks and comments: most often another file than was meant.
void site_check_contents (span_t text, complaints_t *complaints);

//  Says what is wrong with the keys of a fleet that is spread over machines; own_only: with those of this host.
void site_check_keys (const manifest_t *fleet, bool own_only, complaints_t *complaints);

//  Says which programs are not there, of the engines that this machine is to start.
void site_check_programs (const manifest_t *fleet, complaints_t *complaints);

//  How a verb names a running fleet.
typedef struct {
    const char *cluster;    //  Its name
    const char *host;       //  Which host of it this machine is; "": it has none
    const char *config;     //  Its file, for whoever is on none of its hosts; "": not needed
    const char *key;        //  Whose key to use; "": the host's
    const char *run_dir;    //  Its run folder; "": by its name
    const char *broker;     //  Its broker's ROUTER; "": as the fleet's configuration says
    const char *events;     //  Its broker's XPUB; "": likewise
} site_flags_t;

extern const option_t site_flags_table [];

//  Where the broker of a running fleet listens.  STATUS_UNREACHABLE where none runs.  From then on callers (caller.h) prove
//  themselves with the key.
status_t site_find_broker (
    const site_flags_t *flags, char endpoint [ENDPOINT_MAX], char events [ENDPOINT_MAX], error_t *error);

#endif
