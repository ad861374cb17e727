#include "actors/frontend/models.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/frontend/encoder.h"
#include "base/map.h"
#include "base/memory.h"

typedef struct {
    model_t model;     //  What others see
    char *text;        //  Name and tokenizing, owned
    map_t *workers;    //  Address -> worker_t, borrowed
    array_t offers;    //  offer_t, in no order
} entry_t;

//  Files that a model brings: another engine's version may bring others under the same fingerprint.
typedef struct {
    uint64_t files;    //  Hash of them
    size_t workers;    //  Of the model, whose cards say so
} offer_t;

//  A model that has a name.
typedef struct {
    entry_t *entry;    //  The model
    size_t workers;    //  Of it, whose cards say so
} claim_t;

//  A name that leads to models: of a card, or an alias.
typedef struct {
    span_t name;       //  In `text`
    char *text;        //  The name, owned
    array_t claims;    //  claim_t, in order of first sight
} name_t;

typedef struct {
    char address [ADDRESS_MAX];    //  Of the worker
    entry_t *entry;                //  What it serves
    array_t names;                 //  name_t *: what its card calls that, borrowed
    uint64_t files;                //  Hash of what its card brings; 0: nothing
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

//  ---- Names ---------------------------------------------------------------------------------------------------------

static name_t *
s_name (models_t *self, span_t text)
{
    name_t *name = map_get (self->names, text);
    if (name)
        return name;
    name = memory_new (sizeof *name);
    name->text = memory_copy (text.data, text.size);
    name->name = span_of (name->text, text.size);
    array_init (&name->claims, sizeof (claim_t));
    map_put (self->names, text, name);
    return name;
}

//  The position of a model's claim to a name; the count where it has none.
static size_t
s_find_claim (const name_t *name, const entry_t *entry)
{
    size_t i = 0;
    while (i < name->claims.count && ((claim_t *)array_at (&name->claims, i))->entry != entry)
        i++;
    return i;
}

static void
s_add_name (models_t *self, worker_t *worker, span_t text)
{
    name_t *name = s_name (self, text);
    for (size_t i = 0; i < worker->names.count; i++)
        if (*(name_t **)array_at (&worker->names, i) == name)
            return;
    size_t position = s_find_claim (name, worker->entry);
    claim_t *claim = position < name->claims.count ? array_at (&name->claims, position) : array_add (&name->claims);
    claim->entry = worker->entry;
    claim->workers++;
    *(name_t **)array_add (&worker->names) = name;
}

//  A worker of the model does not say it any more.
static void
s_drop_name (models_t *self, const entry_t *entry, name_t *name)
{
    size_t position = s_find_claim (name, entry);
    claim_t *claim = array_at (&name->claims, position);
    if (--claim->workers)
        return;
    array_remove (&name->claims, position);
    if (name->claims.count)
        return;
    map_remove (self->names, name->name);
    array_fini (&name->claims);
    memory_free (name->text);
    memory_free (name);
}

static void
s_drop_names (models_t *self, const entry_t *entry, array_t *names)
{
    for (size_t i = 0; i < names->count; i++)
        s_drop_name (self, entry, *(name_t **)array_at (names, i));
    array_fini (names);
}

//  What a worker's card says now, in place of what it said before.
static void
s_take_names (models_t *self, worker_t *worker, const model_card_t *card)
{
    array_t before = worker->names;
    array_init (&worker->names, sizeof (name_t *));
    s_add_name (self, worker, card->model);
    for (size_t i = 0; i < card->aliases_count; i++)
        s_add_name (self, worker, card->aliases [i]);
    s_drop_names (self, worker->entry, &before);
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

static void
s_add_offer (entry_t *entry, uint64_t files)
{
    for (size_t i = 0; i < entry->offers.count; i++) {
        offer_t *offer = array_at (&entry->offers, i);
        if (offer->files == files) {
            offer->workers++;
            return;
        }
    }
    *(offer_t *)array_add (&entry->offers) = (offer_t){ files, 1 };
}

static void
s_drop_offer (entry_t *entry, uint64_t files)
{
    size_t i = 0;
    while (((offer_t *)array_at (&entry->offers, i))->files != files)
        i++;
    if (--((offer_t *)array_at (&entry->offers, i))->workers == 0)
        array_remove (&entry->offers, i);
}

//  What most bring, on a tie the lower hash: the same at every frontend, in whatever order it hears of the cards.
static uint64_t
s_best_offer (const entry_t *entry)
{
    offer_t best = { 0 };
    for (size_t i = 0; i < entry->offers.count; i++) {
        const offer_t *offer = array_at (&entry->offers, i);
        if (offer->workers > best.workers || (offer->workers == best.workers && offer->files < best.files))
            best = *offer;
    }
    return best.files;
}

static void
s_set_files (worker_t *worker, uint64_t files)
{
    if (files)
        s_add_offer (worker->entry, files);
    if (worker->files)
        s_drop_offer (worker->entry, worker->files);
    worker->files = files;
    worker->entry->model.files = s_best_offer (worker->entry);
}

//  ---- Models --------------------------------------------------------------------------------------------------------

static void
s_free_entry (models_t *self, entry_t *entry)
{
    map_remove (self->entries, span_from_string (entry->model.id));
    map_destroy (&entry->workers);
    array_fini (&entry->offers);
    memory_free (entry->text);
    memory_free (entry);
}

static void
s_make_id (char id [MODEL_ID_MAX], span_t name, uint64_t fingerprint)
{
    snprintf (id, MODEL_ID_MAX, "%.*s@%016" PRIx64, SPAN_ARG (span_slice (name, 0, 256)), fingerprint);
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
    array_init (&entry->offers, sizeof (offer_t));
    map_put (self->entries, span_from_string (entry->model.id), entry);
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

//  ---- Workers -------------------------------------------------------------------------------------------------------

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
    s_set_files (worker, 0);
    s_drop_names (self, entry, &worker->names);
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
    array_init (&worker->names, sizeof (name_t *));
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
    char id [MODEL_ID_MAX];
    s_make_id (id, card->model, card->fingerprint);
    entry_t *entry = map_get (self->entries, span_from_string (id));
    bool appeared = !entry;
    if (appeared)
        entry = s_new_entry (self, card, wall_s);
    entry->model.ns = ns;
    worker_t *worker = map_get (self->workers, seen->address);
    if (worker && worker->entry != entry) {
        s_drop_worker (self, worker);
        worker = NULL;
    }
    if (!worker)
        worker = s_join (self, entry, seen->address);
    s_take_names (self, worker, card);
    s_set_files (worker, card->has_files ? card->files : 0);
    s_set_accepting (worker, seen->state == ACTOR_STATE_ALIVE && !seen->draining);
    if (!appeared)
        return MODELS_SAME;
    name_t *name = map_get (self->names, card->model);
    if (name->claims.count > 1) {
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

//  ---- Asking --------------------------------------------------------------------------------------------------------

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
    for (size_t i = 0; i < name->claims.count; i++) {
        const entry_t *entry = ((claim_t *)array_at (&name->claims, i))->entry;
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
    char id [MODEL_ID_MAX];
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
