//  directory - registering with the broker, and knowing who else has
//
//  An actor registers, then renews by heartbeat; a reply that does not know it, or comes from another incarnation of the
//  broker, makes it register again and hand over once more what the old broker may not have passed on.  What it knows of
//  others comes from the broker's life stream by the same feed as any other stream: gaps are filled, a restarted broker
//  is fenced.  After that fence entries stay as they are but unconfirmed; those that do not come back within a lease
//  become unreachable here, and ten minutes later gone, as the new broker cannot say so.

#include "runtime/directory.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "runtime/actor_private.h"
#include "schemas/message_memory.h"

static const uint64_t REGISTER_TIMEOUT_NS = 2000000000;
static const uint64_t REGISTER_PAUSE_NS = 300000000;
static const uint64_t GOODBYE_TIMEOUT_NS = 500000000;
static const uint64_t GONE_AFTER_NS = 600000000000;

typedef struct {
    actor_entry_t entry;        //  As the broker published it; lies in `memory`
    message_memory_t memory;    //  Of the entry
    bool confirmed;             //  By the present broker
} known_t;

struct directory {
    actor_t *actor;         //  Whose
    map_t *by_address;      //  -> known_t, owned
    map_t *by_source;       //  source_id -> known_t
    call_t registering;     //  Under way
    call_t beating;         //  Under way
    actor_timer_t beat;     //  Next heartbeat or registration
    actor_timer_t grace;    //  After a fence: who has not come back, then who never will
    uint64_t broker;        //  Its incarnation; 0: none yet
    bool registered;        //  The entry stands
    bool announce_again;    //  Something changed while a heartbeat was under way
    bool card_is_new;       //  The broker has another one, or none
    bool refusal_said;      //  In the log
    bool was_accepting;     //  What the last heartbeat or registration said
};

static void s_register (void *state, actor_t *actor, void *arg);
static void s_beat (void *state, actor_t *actor, void *arg);

//  ---- Own entry -----------------------------------------------------------------------------------------------------

bool
actor_accepts (const actor_t *self)
{
    if (!self->ready || self->draining)
        return false;
    for (uint16_t stream = 1; stream < STREAM_COUNT; stream++)
        if (actor_follows (self, stream) && !self->directory->was_accepting && !actor_is_synced (self, stream))
            return false;
    return true;
}

static void
s_take_broker (directory_t *self, uint64_t incarnation, uint64_t life_sequence)
{
    bool is_new = self->broker != incarnation;
    self->broker = incarnation;
    sink_note_tail (self->actor, event_source (SPAN (BROKER_ADDRESS)), STREAM_LIFE, incarnation, life_sequence);
    if (is_new)
        source_resend_all (self->actor);
}

//  A refusal is said once; a newer incarnation under the same address ends this one.
static void
s_not_registered (directory_t *self, call_result_t result)
{
    actor_t *actor = self->actor;
    const error_t *error = call_error (&self->registering);
    if (result == CALL_FAILED && error->status == STATUS_STALE) {
        actor_log (actor, LOG_ERROR, "%s ends: %s", actor->address, error->text);
        self->registered = false;
        actor_drain (actor);
        return;
    }
    if (result == CALL_FAILED && error->status != STATUS_UNREACHABLE && !self->refusal_said)
        actor_log (actor, LOG_WARNING, "the broker refuses to register %s: %s", actor->address, error->text);
    self->refusal_said = result == CALL_FAILED;
    timer_start (&self->beat, actor, REGISTER_PAUSE_NS, s_register, self);
}

static void
s_on_registered (void *state, void *arg, call_result_t result, const void *reply_)
{
    directory_t *self = arg;
    const register_reply_t *reply = reply_;
    actor_t *actor = self->actor;
    if (result != CALL_REPLIED) {
        s_not_registered (self, result);
        return;
    }
    actor_count (actor, COUNT_REGISTERED);
    actor->incarnation = reply->incarnation;
    self->registered = true;
    self->broker = 0;
    s_take_broker (self, reply->broker_incarnation, reply->life_sequence);
    timer_start (&self->beat, actor, self->card_is_new ? 1 : actor->options.heartbeat_ns, s_beat, self);
    directory_announce_if_synced (actor);
}

static actor_entry_t
s_own_entry (const actor_t *actor)
{
    return (actor_entry_t){
        .address = span_from_string (actor->address),
        .endpoint = span_from_string (actor->endpoint),
        .has_local = *actor->local != 0,
        .local = span_from_string (actor->local),
        .incarnation = actor->incarnation,
        .version = WIRE_VERSION,
        .schema = schema_hash (),
        .lease_ms = (uint32_t)(actor->options.lease_ns / 1000000),
        .state = ACTOR_STATE_ALIVE,
        .host = span_from_string (actor->host),
        .process = actor->options.process,
        .draining = !actor_accepts (actor),
        .has_card = actor->card.size != 0,
        .card = buffer_span (&actor->card),
    };
}

static void
s_register (void *state, actor_t *actor, void *arg)
{
    directory_t *self = arg;
    array_t tails, capabilities;
    array_init (&tails, sizeof (stream_tail_t));
    array_init (&capabilities, sizeof (span_t));
    source_tails (actor, &tails);
    for (size_t i = 0; i < actor->capabilities.count; i++)
        *(span_t *)array_add (&capabilities) = span_from_string (*(char **)array_at (&actor->capabilities, i));
    register_actor_t request = {
        .entry = s_own_entry (actor), .tails = tails.data, .tails_count = tails.count, .renewed = self->registered
    };
    request.entry.capabilities = capabilities.data;
    request.entry.capabilities_count = capabilities.count;
    self->was_accepting = !request.entry.draining;
    self->announce_again = false;
    self->card_is_new = false;
    call_drop (&self->beating);
    call_drop (&self->registering);
    call_start (&self->registering, actor,
        &(call_options_t){ .address = SPAN (BROKER_ADDRESS),
            .type = &register_actor_message,
            .request = &request,
            .timeout_ns = REGISTER_TIMEOUT_NS,
            .done = s_on_registered,
            .arg = self });
    array_fini (&capabilities);
    array_fini (&tails);
}

static void
s_on_beat (void *state, void *arg, call_result_t result, const void *reply_)
{
    directory_t *self = arg;
    const heartbeat_reply_t *reply = reply_;
    actor_t *actor = self->actor;
    if (result == CALL_REPLIED && (!reply->known || reply->broker_incarnation != self->broker)) {
        s_register (state, actor, self);
        return;
    }
    if (result == CALL_REPLIED)
        s_take_broker (self, reply->broker_incarnation, reply->life_sequence);
    uint64_t delay = self->announce_again && result == CALL_REPLIED ? 1 : actor->options.heartbeat_ns;
    self->announce_again = false;
    timer_start (&self->beat, actor, delay, s_beat, self);
}

static void
s_beat (void *state, actor_t *actor, void *arg)
{
    directory_t *self = arg;
    if (self->card_is_new) {
        s_register (state, actor, self);
        return;
    }
    array_t tails;
    array_init (&tails, sizeof (stream_tail_t));
    actor_mend (actor, NULL);
    source_flush_all (actor);
    source_tails (actor, &tails);
    self->was_accepting = actor_accepts (actor);
    heartbeat_t request = { span_from_string (actor->address), actor->incarnation, !self->was_accepting, tails.data,
        tails.count };
    call_start (&self->beating, actor,
        &(call_options_t){ .address = SPAN (BROKER_ADDRESS),
            .type = &heartbeat_message,
            .request = &request,
            .timeout_ns = actor->options.heartbeat_ns * 2,
            .done = s_on_beat,
            .arg = self });
    array_fini (&tails);
}

void
directory_start (actor_t *actor)
{
    if (actor->options.broker)
        s_register (actor->state, actor, actor->directory);
}

static void
s_said_goodbye (void *state, void *arg, call_result_t result, const void *reply)
{
    directory_t *self = arg;
    actor_said_goodbye (self->actor);
}

//  Behind the last events on the same leg: when the answer is here the broker has those too.
void
directory_stop (actor_t *actor)
{
    directory_t *self = actor->directory;
    timer_stop (&self->beat);
    call_drop (&self->beating);
    call_drop (&self->registering);
    if (!self->registered) {
        actor_said_goodbye (actor);
        return;
    }
    self->registered = false;
    unregister_actor_t request = { span_from_string (actor->address), actor->incarnation };
    call_start (&self->beating, actor,
        &(call_options_t){ .address = SPAN (BROKER_ADDRESS),
            .type = &unregister_actor_message,
            .request = &request,
            .timeout_ns = GOODBYE_TIMEOUT_NS,
            .done = s_said_goodbye,
            .arg = self });
}

void
directory_announce (actor_t *actor)
{
    directory_t *self = actor->directory;
    if (!self->registered)
        return;
    if (call_is_active (&self->beating) || call_is_active (&self->registering))
        self->announce_again = true;
    else
        timer_start (&self->beat, actor, 1, s_beat, self);
}

//  A heartbeat has no room for it: the actor registers anew.
void
directory_announce_card (actor_t *actor)
{
    actor->directory->card_is_new = true;
    directory_announce (actor);
}

void
directory_announce_if_synced (actor_t *actor)
{
    directory_t *self = actor->directory;
    if (self->registered && !self->was_accepting && actor_accepts (actor))
        directory_announce (actor);
}

bool
directory_is_registered (const actor_t *actor)
{
    return actor->directory->registered;
}

//  ---- The others ----------------------------------------------------------------------------------------------------

static void
s_known_destroy (known_t *self)
{
    message_memory_fini (&self->memory);
    memory_free (self);
}

static known_t *
s_known (directory_t *self, span_t address)
{
    known_t *known = map_get (self->by_address, address);
    if (known)
        return known;
    known = memory_new (sizeof *known);
    message_memory_init (&known->memory);
    map_put (self->by_address, address, known);
    map_put_u64 (self->by_source, event_source (address), known);
    return known;
}

static void
s_tell_class (actor_t *actor, const actor_entry_t *entry)
{
    for (const actor_handler_t *handler = actor->class->handlers; handler->kind != HANDLER_END; handler++)
        if (handler->kind == HANDLER_ACTOR && (!handler->service || address_is_of (entry->address, handler->service)))
            handler->on_actor (actor->state, actor, entry);
}

static void
s_forget (directory_t *self, known_t *known)
{
    uint64_t source = event_source (known->entry.address);
    sink_forget (self->actor, source);
    map_remove (self->by_address, known->entry.address);
    map_remove_u64 (self->by_source, source);
    s_known_destroy (known);
}

//  Who was alive and is gone said goodbye.
static void
s_part (actor_t *actor, const actor_entry_t *entry, bool moved)
{
    if (moved)
        link_break (actor, entry->address, "was replaced");
    else if (entry->state == ACTOR_STATE_GONE)
        link_leave (actor, entry->address);
    else if (entry->state == ACTOR_STATE_UNREACHABLE)
        link_break (actor, entry->address, "is unreachable");
}

//  The new entry stands before the link breaks: whoever fails by that may call again at once.
static void
s_on_actor_changed (directory_t *self, const actor_entry_t *entry)
{
    actor_t *actor = self->actor;
    known_t *known = s_known (self, entry->address);
    bool was_alive = known->entry.state == ACTOR_STATE_ALIVE;
    bool moved = known->entry.incarnation != entry->incarnation || !span_equal (known->entry.endpoint, entry->endpoint);
    if (entry->incarnation < known->entry.incarnation)
        return;
    message_memory_copy (&known->memory, &actor_entry_message, entry, &known->entry);
    known->confirmed = true;
    if (was_alive)
        s_part (actor, entry, moved);
    sink_fence (actor, event_source (entry->address), entry->incarnation);
    if (entry->state == ACTOR_STATE_ALIVE && (!was_alive || moved))
        sink_ask_soon (actor, entry);
    s_tell_class (actor, &known->entry);
    if (known->entry.state == ACTOR_STATE_GONE)
        s_forget (self, known);
    directory_announce_if_synced (actor);
}

void
directory_on_event (actor_t *actor, const message_type_t *type, const void *event)
{
    if (type == &actor_changed_message) {
        s_on_actor_changed (actor->directory, &((const actor_changed_t *)event)->entry);
    } else if (type == &source_tails_message) {
        const source_tails_t *tails = event;
        for (size_t i = 0; i < tails->tails_count; i++)
            sink_note_tail (actor, tails->tails [i].source, tails->tails [i].stream, tails->tails [i].incarnation,
                tails->tails [i].sequence);
    }
}

static void
s_patience_over (void *state, actor_t *actor, void *arg)
{
    directory_t *self = arg;
    size_t cursor = 0;
    void *value;
    while (map_next (self->by_address, &cursor, NULL, &value)) {
        known_t *known = value;
        if (known->confirmed)
            continue;
        known->entry.state = ACTOR_STATE_GONE;
        s_tell_class (actor, &known->entry);
        s_forget (self, known);
    }
}

static void
s_grace_over (void *state, actor_t *actor, void *arg)
{
    directory_t *self = arg;
    size_t cursor = 0;
    void *value;
    while (map_next (self->by_address, &cursor, NULL, &value)) {
        known_t *known = value;
        if (known->confirmed || known->entry.state != ACTOR_STATE_ALIVE)
            continue;
        known->entry.state = ACTOR_STATE_UNREACHABLE;
        link_break (actor, known->entry.address, "did not come back after the broker was restarted");
        s_tell_class (actor, &known->entry);
    }
    timer_start (&self->grace, actor, GONE_AFTER_NS, s_patience_over, self);
}

void
directory_on_reset (actor_t *actor)
{
    directory_t *self = actor->directory;
    size_t cursor = 0;
    void *value;
    while (map_next (self->by_address, &cursor, NULL, &value))
        ((known_t *)value)->confirmed = false;
    timer_start (&self->grace, actor, actor->options.lease_ns + actor->options.heartbeat_ns, s_grace_over, self);
}

directory_t *
directory_new (actor_t *actor)
{
    directory_t *self = memory_new (sizeof *self);
    self->actor = actor;
    self->by_address = map_new (0);
    self->by_source = map_new (0);
    return self;
}

void
directory_destroy (directory_t **self_p)
{
    directory_t *self = *self_p;
    size_t cursor = 0;
    void *known;
    while (map_next (self->by_address, &cursor, NULL, &known))
        s_known_destroy (known);
    map_destroy (&self->by_address);
    map_destroy (&self->by_source);
    memory_free (self);
    *self_p = NULL;
}

//  ---- What others ask -----------------------------------------------------------------------------------------------

const actor_entry_t *
directory_find (const actor_t *actor, span_t address)
{
    const known_t *known = map_get (actor->directory->by_address, address);
    return known ? &known->entry : NULL;
}

const actor_entry_t *
directory_find_source (const actor_t *actor, uint64_t source)
{
    const known_t *known = map_get_u64 (actor->directory->by_source, source);
    return known ? &known->entry : NULL;
}

const actor_entry_t *
directory_next (const actor_t *actor, const char *service, size_t *cursor)
{
    void *value;
    while (map_next (actor->directory->by_address, cursor, NULL, &value)) {
        const known_t *known = value;
        if (!service || address_is_of (known->entry.address, service))
            return &known->entry;
    }
    return NULL;
}

static bool
s_takes_work (const actor_entry_t *entry)
{
    return entry->state == ACTOR_STATE_ALIVE && !entry->draining;
}

const actor_entry_t *
directory_owner (const actor_t *actor, const char *service, span_t key)
{
    const actor_entry_t *best = NULL;
    uint64_t best_score = 0;
    size_t cursor = 0;
    const actor_entry_t *entry;
    while ((entry = directory_next (actor, service, &cursor))) {
        uint64_t score = hash_bytes (key, event_source (entry->address));
        if (s_takes_work (entry) && (!best || score > best_score)) {
            best = entry;
            best_score = score;
        }
    }
    return best;
}

const actor_entry_t *
directory_any (const actor_t *actor, const char *service)
{
    const actor_entry_t *best = NULL;
    size_t cursor = 0;
    const actor_entry_t *entry;
    while ((entry = directory_next (actor, service, &cursor)))
        if (s_takes_work (entry) && (!best || span_compare (entry->address, best->address) < 0))
            best = entry;
    return best;
}

bool
address_is_of (span_t address, const char *service)
{
    size_t slash = span_find_byte (address, '/');
    return slash < address.size && span_equal_string (span_slice (address, 0, slash), service);
}
