//  guard - what the holder of a key may do
//
//  A role has a name, the addresses that it may speak for (register, renew, hand over batches) and the methods that it may
//  call.  Patterns are text in which '*' stands for anything and '{name}' for the name of the key: "host/{name}".  A method
//  is written SERVICE.METHOD: "broker.list_actors", "*.ping".  The roles are data: which services there are is not known
//  here.
//
//  A message of a plain endpoint comes from this machine and may do everything; what keeps others out of such an endpoint
//  is the system (port.h).

#ifndef RUNTIME_GUARD_H
#define RUNTIME_GUARD_H

#include "runtime/port.h"

enum { GUARD_ROLES_MAX = 32 };

typedef struct {
    const char *name;             //  "operator"
    const char *const *speaks;    //  Patterns of addresses, NULL-terminated; NULL: none
    const char *const *calls;     //  Patterns of methods, NULL-terminated; NULL: none
} guard_role_t;

typedef struct {
    const guard_role_t *roles;    //  Bit i of a key's roles is roles [i]
    size_t count;                 //  At most GUARD_ROLES_MAX
} guard_t;

//  Reads names separated by blanks or commas.  STATUS_NOT_FOUND for a role that is not there.
status_t guard_parse_roles (const guard_t *self, span_t names, uint32_t *roles, error_t *error);

//  May this sender speak for the address, call the method of the service?  self NULL: only on plain endpoints.
bool guard_may_speak (const guard_t *self, const socket_sender_t *sender, span_t address);
bool guard_may_call (const guard_t *self, const socket_sender_t *sender, const char *service, span_t method);

#endif
