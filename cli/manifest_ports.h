//  manifest_ports - no two of a fleet listen on one port of a machine
//
//  Ports that the system chooses meet nobody.  Two of one number on one machine are refused whatever addresses they are
//  bound to: who listens on all of them takes it from the others.

#ifndef CLI_MANIFEST_PORTS_H
#define CLI_MANIFEST_PORTS_H

#include "cli/manifest.h"

//  Complains about ports beyond the last one, and about those that frontends, the broker and the engines that we start
//  would take from each other.  root: NULL where the file could not be read.
void manifest_check_ports (const manifest_t *fleet, const config_node_t *root, complaints_t *complaints);

#endif
