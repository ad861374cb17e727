#include "actors/frontend/models.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/encoder.h"
#include "base/map.h"
#include "base/memory.h"

//  A name that leads to models: of a card, or an alias.
typedef struct {
    span_t name;        //  In `text`
    char *text;         //  The name, owned
    array_t entries;    //  entry_t *: models that have it, in order of first sight
} name_t;

typedef struct {
    model_t model;     //  What others see
    char *text;        //  Name and tokenizing, owned
    array_t names;     //  name_t *: its own and its aliases, borrowed
    map_t *workers;    //  Address -> worker_t, borrowed
} entry_t;

typedef struct {
    char address [ADDRESS_MAX];    //  Of the worker
    entry_t *entry;                //  What it serves
    bool accepting;                //  Alive and taking new work
} worker_t;

struct models {
    uint8_t secret [CLUSTER_SECRET_MAX];    //  Of the cluster
    size_t secret_size;                     //  Bytes of it
    map_t *entries;                         //  NAME@FINGERPRINT -> entry_t, owned
    map_t *names;                           //  Name or alias -> name_t, owned
    map_t *workers;                         //  Address -> worker_t, owned
    map_t *expected;                        //  Names of the configuration; the values mean nothing
};

models_t *
models_new (span_t secret)
{
    models_t *self = memory_new (sizeof *self);
    self->secret_size = secret.size < CLUSTER_SECRET_MAX ? secret.size : CLUSTER_SECRET_MAX;
    memcpy (self->secret, secret.data, self->secret_size);
    self->entries = map_new (0);
    self->names = map_new (0);
    self->workers = map_new (0);
    self->expected = map_new (0);
    return self;
}

void
models_expect (models_t *self, span_t name)
{
    map_put (self->expected, name, self);
}

bool
models_is_expected (const models_t *self, span_t name)
{
    return map_get (self->expected, name) != NULL;
}

//  ---- Names -----------------------------------------------------------------------------------------------------------

static void
s_add_name (models_t *self, entry_t *entry, span_t text)
{
    name_t *name = map_get (self->names, text);
    if (!name) {
        name = memory_new (sizeof *name);
        name->text = memory_copy (text.data, text.size);
        name->name = span_of (name->text, text.size);
        array_init (&name->entries, sizeof (entry_t *));
        map_put (self->names, text, name);
    }
    for (size_t i = 0; i < entry->names.count; i++)
        if (*(name_t **)array_at (&entry->names, i) == name)
            return;
    *(entry_t **)array_add (&name->entries) = entry;
    *(name_t **)array_add (&entry->names) = name;
}

static void
s_drop_name (models_t *self, entry_t *entry, name_t *name)
{
    for (size_t i = 0; i < name->entries.count; i++)
        if (*(entry_t **)array_at (&name->entries, i) == entry) {
            array_remove (&name->entries, i);
            break;
        }
    if (name->entries.count)
        return;
    map_remove (self->names, name->name);
    array_fini (&name->entries);
    memory_free (name->text);
    memory_free (name);
}

//  ---- Models ----------------------------------------------------------------------------------------------------------

static void
s_free_entry (models_t *self, entry_t *entry)
{
    for (size_t i = 0; i < entry->names.count; i++)
        s_drop_name (self, entry, *(name_t **)array_at (&entry->names, i));
    map_remove (self->entries, span_from_string (entry->model.id));
    map_destroy (&entry->workers);
    array_fini (&entry->names);
    memory_free (entry->text);
    memory_free (entry);
}

static void
s_make_id (char id [300], span_t name, uint64_t fingerprint)
{
    snprintf (id, 300, "%.*s@%016" PRIx64, SPAN_ARG (span_slice (name, 0, 256)), fingerprint);
}

static entry_t *
s_new_entry (models_t *self, const model_card_t *card, uint64_t wall_s)
{
    entry_t *entry = memory_new (sizeof *entry);
    buffer_t text = { 0 };
    buffer_append (&text, card->model);
    buffer_append (&text, card->tokenizing);
    entry->text = memory_copy (text.data, text.size);
    buffer_fini (&text);
    entry->model = (model_t){
        .name = span_of (entry->text, card->model.size),
        .fingerprint = card->fingerprint,
        .block_size = card->block_size,
        .context = card->context,
        .sends_text = card->sends_text,
        .tokenizing = span_of (entry->text + card->model.size, card->tokenizing.size),
        .created_s = wall_s,
    };
    s_make_id (entry->model.id, card->model, card->fingerprint);
    entry->workers = map_new (0);
    array_init (&entry->names, sizeof (name_t *));
    map_put (self->entries, span_from_string (entry->model.id), entry);
    s_add_name (self, entry, card->model);
    return entry;
}

//  Whether prompts can be made for it and its answers read.
static status_t
s_check_card (const models_t *self, const model_card_t *card, namespace_t *ns, error_t *error)
{
    const encoder_t *encoder = encoder_find (card->tokenizing);
    if (card->model.size == 0)
        return error_set (error, STATUS_INVALID, "its card names no model");
    if (!encoder)
        return error_set (error, STATUS_UNSUPPORTED, "nobody here tokenises as '%.*s'", SPAN_ARG (card->tokenizing));
    if (!card->sends_text && !encoder->text)
        return error_set (error, STATUS_UNSUPPORTED, "it sends tokens without text, and nobody here can read them");
    return namespace_init_model (
        ns, span_of (self->secret, self->secret_size), card->fingerprint, card->block_size, error);
}

//  ---- Workers ---------------------------------------------------------------------------------------------------------

static void
s_set_accepting (worker_t *worker, bool accepting)
{
    worker->entry->model.accepting += accepting;
    worker->entry->model.accepting -= worker->accepting;
    worker->accepting = accepting;
}

//  Returns true where its model went with it.
static bool
s_drop_worker (models_t *self, worker_t *worker)
{
    entry_t *entry = worker->entry;
    s_set_accepting (worker, false);
    map_remove (entry->workers, span_from_string (worker->address));
    map_remove (self->workers, span_from_string (worker->address));
    memory_free (worker);
    entry->model.workers--;
    if (entry->model.workers)
        return false;
    s_free_entry (self, entry);
    return true;
}

static worker_t *
s_join (models_t *self, entry_t *entry, span_t address)
{
    worker_t *worker = memory_new (sizeof *worker);
    span_copy_string (address, worker->address, sizeof worker->address);
    worker->entry = entry;
    entry->model.workers++;
    map_put (self->workers, address, worker);
    map_put (entry->workers, address, worker);
    return worker;
}

static models_news_t
s_see_gone (models_t *self, const actor_entry_t *seen, error_t *sentence)
{
    worker_t *worker = map_get (self->workers, seen->address);
    if (!worker)
        return MODELS_SAME;
    error_set (sentence, STATUS_OK, "model %s went with its last worker %s", worker->entry->model.id, worker->address);
    return s_drop_worker (self, worker) ? MODELS_VANISHED : MODELS_SAME;
}

static models_news_t
s_see_card (models_t *self, const actor_entry_t *seen, const model_card_t *card, uint64_t wall_s, error_t *sentence)
{
    namespace_t ns;
    if (s_check_card (self, card, &ns, sentence)) {
        error_prefix (sentence, "%.*s cannot be used", SPAN_ARG (seen->address));
        s_see_gone (self, seen, NULL);
        return MODELS_UNUSABLE;
    }
    char id [300];
    s_make_id (id, card->model, card->fingerprint);
    entry_t *entry = map_get (self->entries, span_from_string (id));
    bool appeared = !entry;
    if (appeared)
        entry = s_new_entry (self, card, wall_s);
    entry->model.ns = ns;
    if (card->has_files && !entry->model.files)
        entry->model.files = card->files;
    for (size_t i = 0; i < card->aliases_count; i++)
        s_add_name (self, entry, card->aliases [i]);

    worker_t *worker = map_get (self->workers, seen->address);
    if (worker && worker->entry != entry) {
        s_drop_worker (self, worker);
        worker = NULL;
    }
    if (!worker)
        worker = s_join (self, entry, seen->address);
    s_set_accepting (worker, seen->state == ACTOR_STATE_ALIVE && !seen->draining);
    if (!appeared)
        return MODELS_SAME;
    name_t *name = map_get (self->names, card->model);
    if (name->entries.count > 1) {
        error_set (sentence, STATUS_EXISTS,
            "%.*s serves another model under the name %.*s: tokenizer, template or weights differ; it is listed as %s",
            SPAN_ARG (seen->address), SPAN_ARG (card->model), entry->model.id);
        return MODELS_CONFLICT;
    }
    error_set (sentence, STATUS_OK, "model %s is served by %.*s", entry->model.id, SPAN_ARG (seen->address));
    return MODELS_APPEARED;
}

models_news_t
models_see (models_t *self, const actor_entry_t *seen, uint64_t wall_s, error_t *sentence)
{
    if (seen->state == ACTOR_STATE_GONE || !seen->has_card)
        return s_see_gone (self, seen, sentence);
    arena_t arena;
    arena_init (&arena, 1 << 20);
    model_card_t card;
    models_news_t news = MODELS_UNUSABLE;
    if (model_card_decode (&card, seen->card, &arena, sentence))
        error_prefix (sentence, "card of %.*s", SPAN_ARG (seen->address));
    else
        news = s_see_card (self, seen, &card, wall_s, sentence);
    arena_fini (&arena);
    return news;
}

void
models_destroy (models_t **self_p)
{
    models_t *self = *self_p;
    if (!self)
        return;
    size_t cursor = 0;
    void *worker;
    while (map_next (self->workers, &cursor, NULL, &worker))
        s_drop_worker (self, worker);
    map_destroy (&self->workers);
    map_destroy (&self->entries);
    map_destroy (&self->names);
    map_destroy (&self->expected);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Asking ----------------------------------------------------------------------------------------------------------

static bool
s_is_before (const entry_t *a, const entry_t *b)
{
    if (a->model.accepting != b->model.accepting)
        return a->model.accepting > b->model.accepting;
    return a->model.fingerprint < b->model.fingerprint;
}

//  Whom a name means.  A model of this very name comes before one that has it as an alias.
static const entry_t *
s_bearer (const name_t *name)
{
    const entry_t *best = NULL;
    bool best_is_own = false;
    for (size_t i = 0; i < name->entries.count; i++) {
        const entry_t *entry = *(entry_t **)array_at (&name->entries, i);
        bool is_own = span_equal (entry->model.name, name->name);
        if (!best || is_own > best_is_own || (is_own == best_is_own && s_is_before (entry, best))) {
            best = entry;
            best_is_own = is_own;
        }
    }
    return best;
}

const model_t *
models_find (const models_t *self, span_t text)
{
    const name_t *name = map_get (self->names, text);
    const entry_t *entry = name ? s_bearer (name) : map_get (self->entries, text);
    return entry ? &entry->model : NULL;
}

const model_t *
models_get (const models_t *self, span_t name, uint64_t fingerprint)
{
    char id [300];
    s_make_id (id, name, fingerprint);
    const entry_t *entry = map_get (self->entries, span_from_string (id));
    return entry ? &entry->model : NULL;
}

span_t
models_worker (const models_t *self, const model_t *model, uint64_t choice)
{
    const entry_t *entry = map_get (self->entries, span_from_string (model->id));
    size_t cursor = 0;
    void *value;
    if (!entry || model->accepting == 0)
        return SPAN ("");
    for (choice %= model->accepting; map_next (entry->workers, &cursor, NULL, &value);) {
        const worker_t *worker = value;
        if (worker->accepting && choice-- == 0)
            return span_from_string (worker->address);
    }
    return SPAN ("");
}

bool
models_next_name (const models_t *self, size_t *cursor, span_t *name, const model_t **model)
{
    //  Names come first, then what no plain name leads to; the upper half of the cursor says how far that is.
    static const size_t ENTRIES = SIZE_MAX / 2;
    void *value;
    while (*cursor < ENTRIES && map_next (self->names, cursor, NULL, &value)) {
        *name = ((name_t *)value)->name;
        *model = &s_bearer (value)->model;
        return true;
    }
    size_t place = *cursor < ENTRIES ? 0 : *cursor - ENTRIES;
    while (map_next (self->entries, &place, NULL, &value)) {
        *cursor = ENTRIES + place;
        *model = &((entry_t *)value)->model;
        *name = span_from_string ((*model)->id);
        if (models_find (self, (*model)->name) != *model)
            return true;
    }
    *cursor = ENTRIES + place;
    return false;
}

const model_t *
models_next (const models_t *self, size_t *cursor)
{
    void *entry;
    return map_next (self->entries, cursor, NULL, &entry) ? &((entry_t *)entry)->model : NULL;
}

size_t
models_count (const models_t *self)
{
    return map_count (self->entries);
}

size_t
models_accepting (const models_t *self)
{
    size_t accepting = 0, cursor = 0;
    void *entry;
    while (map_next (self->entries, &cursor, NULL, &entry))
        accepting += ((entry_t *)entry)->model.accepting;
    return accepting;
}
