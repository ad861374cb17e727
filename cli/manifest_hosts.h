//  manifest_hosts - the part of a fleet file that spreads it over machines, checked

#ifndef CLI_MANIFEST_HOSTS_H
#define CLI_MANIFEST_HOSTS_H

#include "cli/manifest.h"

//  Complains about hosts that make no sense, and notes where each stands.  root: NULL where the file could not be read.
void manifest_check_hosts (manifest_t *fleet, const config_node_t *root, complaints_t *complaints);

#endif
