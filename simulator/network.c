#include "simulator/network_private.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

//  Wildcard ports come from here, as on Linux.
enum { PORT_FIRST = 32768 };

network_t *
network_new (realm_t *realm)
{
    network_t *self = memory_new (sizeof *self);
    self->realm = realm;
    self->bounds = map_new (0);
    self->next_port = PORT_FIRST;
    self->queue = UINT32_MAX;
    list_init (&self->all_bounds);
    list_init (&self->circuits);
    return self;
}

void
network_destroy (network_t **self_p)
{
    network_t *self = *self_p;
    if (!self)
        return;
    list_link_t *link;
    while ((link = list_first (&self->circuits)))
        circuit_destroy (circuit_from_link (link));
    map_destroy (&self->bounds);
    memory_free (self);
    *self_p = NULL;
}

network_figures_t *
network_figures (network_t *self)
{
    return &self->figures;
}

void
network_set_publishing (network_t *self, uint32_t loss_ppm, uint32_t reorder_ppm)
{
    self->loss_ppm = loss_ppm;
    self->reorder_ppm = reorder_ppm;
    realm_note (self->realm, NOTE_FAULT, loss_ppm, reorder_ppm);
}

void
network_set_queue (network_t *self, uint32_t messages)
{
    self->queue = messages;
    realm_note (self->realm, NOTE_FAULT, messages, 0);
}

uint32_t
network_queue (const network_t *self)
{
    return self->queue;
}

uint32_t
network_loss_ppm (const network_t *self)
{
    return self->loss_ppm;
}

uint32_t
network_reorder_ppm (const network_t *self)
{
    return self->reorder_ppm;
}

//  ---- Endpoints -----------------------------------------------------------------------------------------------------

static bool
s_is_loopback (const char *host)
{
    return strcmp (host, "127.0.0.1") == 0 || strcmp (host, "localhost") == 0 || strcmp (host, "[::1]") == 0;
}

static bool
s_is_wildcard (const char *host)
{
    return strcmp (host, "*") == 0 || strcmp (host, "0.0.0.0") == 0 || strcmp (host, "[::]") == 0;
}

static status_t
s_parse_tcp (endpoint_t *self, realm_process_t *from, const char *text, error_t *error)
{
    const char *colon = strrchr (text, ':');
    uint64_t port = 0;
    if (!colon || colon == text)
        return error_set (error, STATUS_INVALID, "tcp://%s: write tcp://HOST:PORT", text);
    span_copy_string (span_of (text, (size_t)(colon - text)), self->host, sizeof self->host);
    self->any_port = strcmp (colon + 1, "*") == 0 || strcmp (colon + 1, "0") == 0;
    if (!self->any_port && (!span_to_u64 (span_from_string (colon + 1), &port) || port > 65535))
        return error_set (error, STATUS_INVALID, "tcp://%s: %s is no port", text, colon + 1);
    snprintf (self->name, sizeof self->name, "%llu", (unsigned long long)port);
    self->tcp = true;
    self->local = s_is_loopback (self->host);
    self->wildcard = s_is_wildcard (self->host);
    realm_machine_t *own = realm_process_machine (from);
    self->machine = self->local || self->wildcard ? own : realm_machine_find (realm_process_realm (from), self->host);
    return STATUS_OK;
}

status_t
network_parse_endpoint (endpoint_t *self, realm_process_t *from, const char *text, error_t *error)
{
    *self = (endpoint_t){ .machine = realm_process_machine (from) };
    span_t rest = span_from_string (text);
    if (strlen (text) >= NETWORK_ENDPOINT_MAX - 64)
        return error_set (error, STATUS_INVALID, "endpoint of %zu bytes is too long", rest.size);
    if (span_starts_with (rest, SPAN ("tcp://")))
        return s_parse_tcp (self, from, text + 6, error);
    if (span_starts_with (rest, SPAN ("ipc://")))
        snprintf (self->name, sizeof self->name, "ipc|%s", text + 6);
    else if (span_starts_with (rest, SPAN ("inproc://")))
        snprintf (self->name, sizeof self->name, "inproc|%u|%s", realm_process_number (from), text + 9);
    else
        return error_set (error, STATUS_INVALID, "%s: not tcp://, ipc:// or inproc://", text);
    return STATUS_OK;
}

void
network_endpoint_key (const endpoint_t *self, const realm_process_t *from, char key [NETWORK_ENDPOINT_MAX])
{
    if (self->machine)
        snprintf (key, NETWORK_ENDPOINT_MAX, "%u|%.440s", realm_machine_number (self->machine), self->name);
    else
        snprintf (key, NETWORK_ENDPOINT_MAX, "nowhere|%.440s", self->host);
}

//  ---- Binding -------------------------------------------------------------------------------------------------------

static void
s_choose_port (network_t *self, endpoint_t *target, const realm_process_t *process)
{
    char key [NETWORK_ENDPOINT_MAX];
    do {
        snprintf (target->name, sizeof target->name, "%u", self->next_port);
        self->next_port = self->next_port == 65535 ? PORT_FIRST : self->next_port + 1;
        network_endpoint_key (target, process, key);
    } while (map_get (self->bounds, span_from_string (key)));
}

static void
s_write_endpoint (network_bound_t *self, const endpoint_t *target, const char *endpoint)
{
    if (target->tcp)
        snprintf (self->endpoint, sizeof self->endpoint, "tcp://%.255s:%.16s",
            target->wildcard ? "0.0.0.0" : target->host, target->name);
    else
        snprintf (self->endpoint, sizeof self->endpoint, "%.500s", endpoint);
}

network_bound_t *
network_bound_open (realm_process_t *process, const char *endpoint, const network_bound_watch_t *watch, error_t *error)
{
    network_t *network = realm_network (realm_process_realm (process));
    endpoint_t target;
    if (network_parse_endpoint (&target, process, endpoint, error) != STATUS_OK)
        return NULL;
    if (target.machine != realm_process_machine (process)) {
        error_set (error, STATUS_INVALID, "cannot bind %s: no address of this machine", endpoint);
        return NULL;
    }
    if (target.any_port)
        s_choose_port (network, &target, process);
    network_bound_t *self = memory_new (sizeof *self);
    *self = (network_bound_t){ .network = network, .process = process, .watch = *watch, .local = target.local };
    network_endpoint_key (&target, process, self->key);
    s_write_endpoint (self, &target, endpoint);
    const network_bound_t *holder = map_get (network->bounds, span_from_string (self->key));
    if (holder) {
        error_set (error, STATUS_EXISTS, "cannot bind %s: taken by process %u (%s)", endpoint,
            realm_process_number (holder->process), realm_process_title (holder->process));
        memory_free (self);
        return NULL;
    }
    self->bound = true;
    map_put (network->bounds, span_from_string (self->key), self);
    list_append (&network->all_bounds, &self->link);
    return self;
}

static void
s_unbind (network_bound_t *self)
{
    if (self->bound)
        map_remove (self->network->bounds, span_from_string (self->key));
    self->bound = false;
}

void
network_bound_close (network_bound_t *self)
{
    s_unbind (self);
    list_remove (&self->network->all_bounds, &self->link);
    memory_free (self);
}

const char *
network_bound_endpoint (const network_bound_t *self)
{
    return self->endpoint;
}

//  ---- For the realm -------------------------------------------------------------------------------------------------

void
network_bury (network_t *self, realm_process_t *process, bool crashed, bool silent)
{
    for (list_link_t *link = list_first (&self->all_bounds); link; link = list_next (&self->all_bounds, link)) {
        network_bound_t *bound = LIST_ENTRY (link, network_bound_t, link);
        if (bound->process == process)
            s_unbind (bound);
    }
    for (list_link_t *link = list_first (&self->circuits); link; link = list_next (&self->circuits, link))
        circuit_bury (circuit_from_link (link), process, crashed, silent);
}

void
network_reconsider (network_t *self)
{
    for (list_link_t *link = list_first (&self->circuits); link; link = list_next (&self->circuits, link))
        circuit_reconsider (circuit_from_link (link));
}
