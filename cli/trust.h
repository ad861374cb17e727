//  trust - the keyring of a process of the fleet, from certificates and configuration

#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "base/array.h"
#include "cli/manifest.h"
#include "runtime/keyring.h"

//  Where the certificates of a fleet lie: as configured, else `keys` in its state folder.
void trust_folder (const manifest_t *fleet, const char *state_dir, char *out, size_t size);

//  Reads everybody's certificate, and one's own secret: that of `own`.  Appends the certificates to `list` (certificate_t,
//  by name).  NULL and a sentence where something is wrong.
keyring_t *trust_read (const manifest_t *fleet, const char *folder, const char *own, array_t *list, error_t *error);

//  Appends what is different between two such lists: "ada added, bob revoked", and what of it takes a new start.
void trust_compare (const manifest_t *fleet, const array_t *before, const array_t *after, buffer_t *news);

//  Complains about hosts that others reach but cannot know: those without certificate, or without the roles for what they
//  run; and about the secret of this one (fleet->cluster.host) where it is missing.  own_only: leaves the others alone,
//  which the fleet can do without for a while.
void trust_check (const manifest_t *fleet, const char *folder, bool own_only, complaints_t *complaints);

#endif
