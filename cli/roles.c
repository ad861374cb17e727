#include "cli/roles.h"

#include <stddef.h>

//  What everybody who lives in the directory needs: to register, to fill gaps, to be asked whether one is there.
#define MEMBER                                                                                                \
    "broker.register_actor", "broker.heartbeat", "broker.unregister_actor", "broker.list_actors", "*.replay", \
        "*.take_snapshot", "*.ping"

static const char *const s_host_speaks [] = { "host/{name}", NULL };
static const char *const s_host_calls [] = { MEMBER, "*.get_status", "*.get_metrics", "*.list_processes", NULL };
static const char *const s_core_speaks [] = { "frontend/*", "router/*", "indexer/*", NULL };
static const char *const s_worker_speaks [] = { "worker/*", NULL };
static const char *const s_member_calls [] = { MEMBER, NULL };
static const char *const s_all [] = { "*", NULL };
static const char *const s_policy_calls [] = { "broker.list_actors", "*.ping", "*.take_snapshot", "*.replay",
    "indexer.match_prefix", NULL };

static const guard_role_t s_roles [] = {
    { "host", s_host_speaks, s_host_calls },
    { "core", s_core_speaks, s_all },
    { "worker", s_worker_speaks, s_member_calls },
    { "operator", NULL, s_all },
    { "policy", NULL, s_policy_calls },
};
static const guard_t s_guard = { s_roles, sizeof s_roles / sizeof *s_roles };

const option_t roles_table [] = {
    { .name = "name",
        .type = OPTION_STRING,
        .traits = OPTION_REQUIRED,
        .offset = offsetof (manifest_role_t, name),
        .example = "operator",
        .doc = "What certificates call it." },
    { .name = "speaks",
        .type = OPTION_STRINGS,
        .offset = offsetof (manifest_role_t, speaks),
        .example = "[worker/*]",
        .doc = "Addresses it may register and publish events for; * is anything, {name} the name of the key." },
    { .name = "calls",
        .type = OPTION_STRINGS,
        .offset = offsetof (manifest_role_t, calls),
        .example = "[broker.list_actors, '*.ping']",
        .doc = "Methods it may call, written SERVICE.METHOD; * is anything." },
    OPTIONS_END,
};

const guard_t *
roles_guard (const option_list_t *configured, arena_t *memory)
{
    if (!configured->count)
        return &s_guard;
    size_t count = configured->count < GUARD_ROLES_MAX ? configured->count : GUARD_ROLES_MAX;
    guard_t *guard = arena_new (memory, sizeof *guard);
    guard_role_t *roles = arena_new (memory, count * sizeof *roles);
    for (size_t i = 0; i < count; i++) {
        const manifest_role_t *role = (const manifest_role_t *)configured->items + i;
        roles [i] = (guard_role_t){ role->name, role->speaks.items, role->calls.items };
    }
    *guard = (guard_t){ roles, count };
    return guard;
}
