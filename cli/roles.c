#include "cli/roles.h"

#include <stddef.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/placeholder.h"
#include "schemas/message.h"

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

//  ---- Checks --------------------------------------------------------------------------------------------------------

static const char *const s_placeholders [] = { "name", NULL };

static const manifest_role_t *
s_role (const option_list_t *configured, size_t position)
{
    return (const manifest_role_t *)configured->items + position;
}

//  A method without a star has to be there.
static void
s_check_method (const char *pattern, const char *path, place_t place, complaints_t *complaints)
{
    const char *dot = strchr (pattern, '.');
    suggest_t suggest;
    if (!dot && strcmp (pattern, "*") != 0)
        complaints_add (
            complaints, place, "%s: '%.100s' is no method: write SERVICE.METHOD, '*' for anything", path, pattern);
    if (!dot || strchr (dot, '*') || message_find_call (span_from_string (dot + 1)))
        return;
    suggest_init (&suggest, span_from_string (dot + 1));
    for (size_t i = 0; i < message_count (); i++)
        if (message_at (i)->kind == MESSAGE_CALL || message_at (i)->kind == MESSAGE_STREAM)
            suggest_offer (&suggest, message_at (i)->name);
    complaints_add (
        complaints, place, "%s: no schema has the method '%.100s'%s", path, dot + 1, suggest_text (&suggest));
}

static void
s_check_patterns (size_t position, const char *key, const option_strings_t *patterns, const config_node_t *node,
    complaints_t *complaints)
{
    const config_node_t *list = config_child (config_element (node, position), key);
    buffer_t path = { 0 }, text = { 0 };
    buffer_print (&path, "security.roles[%zu].%s", position, key);
    for (size_t i = 0; i < patterns->count; i++) {
        const config_node_t *element = config_element (list, i);
        place_t place = element ? element->place : list ? list->place : (place_t){ 0 };
        span_t unknown = placeholder_unknown (patterns->items [i], s_placeholders);
        buffer_clear (&text);
        if (unknown.size) {
            placeholder_complain (unknown, s_placeholders, &text);
            complaints_add (complaints, place, "%s: %s", buffer_string (&path), buffer_string (&text));
        } else if (strcmp (key, "calls") == 0) {
            s_check_method (patterns->items [i], buffer_string (&path), place, complaints);
        }
    }
    buffer_fini (&text);
    buffer_fini (&path);
}

static void
s_check_name (const option_list_t *configured, size_t position, place_t place, complaints_t *complaints)
{
    const char *name = s_role (configured, position)->name;
    if (strpbrk (name, " \t,\"") || !*name)
        complaints_add (complaints, place,
            "security.roles[%zu].name: '%.100s' has blanks, commas or quotes, or nothing", position, name);
    for (size_t i = 0; i < position; i++)
        if (strcmp (s_role (configured, i)->name, name) == 0)
            complaints_add (complaints, place, "security.roles[%zu] and security.roles[%zu] are both called '%.100s'",
                i, position, name);
}

void
roles_check (const option_list_t *configured, const config_node_t *node, complaints_t *complaints)
{
    if (configured->count > GUARD_ROLES_MAX)
        complaints_add (complaints, node ? node->place : (place_t){ 0 },
            "security.roles: there is room for %d, not for %zu", GUARD_ROLES_MAX, configured->count);
    for (size_t i = 0; i < configured->count; i++) {
        const config_node_t *element = config_element (node, i), *name = config_child (element, "name");
        place_t place = name ? name->place : element ? element->place : (place_t){ 0 };
        s_check_name (configured, i, place, complaints);
        s_check_patterns (i, "speaks", &s_role (configured, i)->speaks, node, complaints);
        s_check_patterns (i, "calls", &s_role (configured, i)->calls, node, complaints);
    }
}
