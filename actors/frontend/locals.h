//  locals - the models whose prompts are made here
//
//  Follows the models that workers register: for each that brings its files there is a local model (local_model.h), as long
//  as there is the model, with these files.

#ifndef ACTORS_FRONTEND_LOCALS_H
#define ACTORS_FRONTEND_LOCALS_H

#include "actors/frontend/local_model.h"
#include "base/map.h"

typedef struct {
    local_setup_t setup;    //  Of each
    map_t *models;          //  NAME@FINGERPRINT -> local_model_t, owned
} locals_t;

//  Copies the setup; what it borrows it borrows as long as this lives.
void locals_init (locals_t *self, const local_setup_t *setup);
void locals_fini (locals_t *self);

//  The models may have changed.
void locals_follow (locals_t *self);

//  NULL where prompts of this model are its engines'.  Borrowed until the next locals_follow.
local_model_t *locals_find (const locals_t *self, span_t name, uint64_t fingerprint);

//  Appends a clause on each: "; prompts of NAME are made here".
void locals_describe (const locals_t *self, buffer_t *out);

void locals_measure (const locals_t *self);

#endif
