//  roles - what the holders of keys may do in a fleet
//
//  The table that guard.h asks: the one of the configuration, or this one where it has none.

#ifndef CLI_ROLES_H
#define CLI_ROLES_H

#include "base/arena.h"
#include "runtime/guard.h"
#include "runtime/option.h"

typedef struct {
    const char *name;           //  "operator"
    option_strings_t speaks;    //  Patterns of addresses
    option_strings_t calls;     //  Patterns of methods
} manifest_role_t;

//  Of the configuration's list.
extern const option_t roles_table [];

//  configured: manifest_role_t; borrowed as long as the guard.  Gives the guard in the arena; roles beyond GUARD_ROLES_MAX
//  are left out.
const guard_t *roles_guard (const option_list_t *configured, arena_t *memory);

//  Says what makes no sense in it: names that no certificate can have or that stand twice, more roles than there is room
//  for, methods that nobody has, braces around anything but {name}.  node: the list in the file, for places; NULL: none.
void roles_check (const option_list_t *configured, const config_node_t *node, complaints_t *complaints);

#endif
