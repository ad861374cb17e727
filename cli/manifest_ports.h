//  manifest_ports - the ports of a fleet, and that no two of it want the same one
//
//  Ports that the system chooses meet nobody.  Two of one number on one machine are refused whatever addresses they are
//  bound to: who listens on all of them takes it from the others.  An engine that runs already has its port too: who asked
//  it where one of ours listens would ask ourselves.

#ifndef CLI_MANIFEST_PORTS_H
#define CLI_MANIFEST_PORTS_H

#include "cli/manifest.h"

enum { MANIFEST_KEY_MAX = 64 };

//  Ports in a row, of the frontends, of an endpoint of the broker, or of the engines of a group.
typedef struct {
    char key [MANIFEST_KEY_MAX];    //  Of the configuration, that leads to them
    place_t place;                  //  Of its value; {0}: in no file
    const char *machine;            //  Name of the host; "": this machine
    span_t address;                 //  Bound there; borrowed from the fleet
    int64_t first;                  //  0: the system chooses, or there is none
    int64_t count;                  //  How many
    bool ours;                      //  The fleet listens there; else an engine that runs already
    bool here;                      //  On this machine, as far as that is said
} manifest_ports_t;

//  Appends the manifest_ports_t of all.  root: for their places; NULL: they have none.
void manifest_ports (const manifest_t *fleet, const config_node_t *root, array_t *ports);

//  Complains about ports beyond the last one, and about those that two of the fleet would take from each other.  root: NULL
//  where the file could not be read.
void manifest_check_ports (const manifest_t *fleet, const config_node_t *root, complaints_t *complaints);

#endif
