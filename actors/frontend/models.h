//  models - what can be asked for, as the workers' cards say
//
//  Each worker registers a card; cards that agree in name and fingerprint are one model.  Two cards of one name that
//  differ in their fingerprint are two models: both are listed, the one with more workers that take work (on a tie the
//  lower fingerprint) under the plain name, each also as NAME@FINGERPRINT.  So every frontend resolves a name the same way.
//  An alias goes with the last worker whose card says it.

#ifndef ACTORS_FRONTEND_MODELS_H
#define ACTORS_FRONTEND_MODELS_H

#include "kv/namespace.h"
#include "runtime/actor.h"
#include "schemas/worker.h"

//  Bytes of NAME@FINGERPRINT with its NUL: a card's name has 256 at most.
enum { MODEL_ID_MAX = 256 + 1 + 16 + 1 };

typedef struct models models_t;

typedef struct {
    span_t name;               //  As the card says
    char id [MODEL_ID_MAX];    //  NAME@FINGERPRINT
    uint64_t fingerprint;      //  Of tokenizer, template and weights
    uint32_t block_size;       //  Tokens a block
    uint32_t context;          //  Tokens of prompt and output; 0: not known
    bool sends_text;           //  Items carry the tokens' bytes
    uint64_t files;        //  Hash of what it brings, as most cards that have one say, on a tie the lower; 0: nothing
    span_t tokenizing;     //  How its prompts become tokens
    namespace_t ns;        //  Of its plain requests
    uint64_t created_s;    //  Wall-clock seconds when it was seen first
    size_t workers;        //  That are known
    size_t accepting;      //  Of these, alive and taking new work
} model_t;

//  What an entry of the directory changed.
typedef enum {
    MODELS_SAME,        //  Nothing worth a line
    MODELS_APPEARED,    //  A model that was not there
    MODELS_VANISHED,    //  The last worker of a model is gone
    MODELS_CONFLICT,    //  A second fingerprint under a name
    MODELS_UNUSABLE,    //  A card that cannot be read or served
} models_news_t;

//  secret: of the cluster, for namespaces; 1..CLUSTER_SECRET_MAX bytes, copied.  Gives the table; never NULL.
models_t *models_new (span_t secret);
void models_destroy (models_t **self_p);

//  A name that the configuration promises: where nobody serves it, somebody will.  Copied.
void models_expect (models_t *self, span_t name);
bool models_is_expected (const models_t *self, span_t name);

//  Takes note of a worker.  Borrows the entry for the call.  *sentence says what changed, for the log.
models_news_t models_see (models_t *self, const actor_entry_t *entry, uint64_t wall_s, error_t *sentence);

//  By name, alias or NAME@FINGERPRINT; NULL where there is none.  Borrowed until the next models_see, as all below.
const model_t *models_find (const models_t *self, span_t name);

//  The very model.
const model_t *models_get (const models_t *self, span_t name, uint64_t fingerprint);

//  Address of a worker that serves the model now: the `choice`th, counted around.  Empty where there is none.
span_t models_worker (const models_t *self, const model_t *model, uint64_t choice);

//  Walks the names that can be asked for, without NAME@FINGERPRINT of models that have their plain name: start with
//  *cursor 0; false at the end.
bool models_next_name (const models_t *self, size_t *cursor, span_t *name, const model_t **model);

//  Walks all models: start with *cursor 0; NULL at the end.
const model_t *models_next (const models_t *self, size_t *cursor);

//  Models, and workers that take new work.
size_t models_count (const models_t *self);
size_t models_accepting (const models_t *self);

#endif
