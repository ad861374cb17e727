//  ports - the TCP ports that a fleet takes on this machine, looked at before anything starts
//
//  Whoever holds the port of a frontend would be asked in its place, who holds that of an engine would be taken for it, and
//  without its port a broker keeps everybody waiting.

#ifndef CLI_PORTS_H
#define CLI_PORTS_H

#include "cli/manifest.h"

//  Complains about each port that somebody holds: who, and which key of the configuration leads to it.  Waits up to two
//  seconds for them to become free: a fleet that was killed a moment ago may still hold them.  What else keeps somebody from
//  listening may pass, and is theirs to say.
void ports_check (const manifest_t *fleet, complaints_t *complaints);

#endif
