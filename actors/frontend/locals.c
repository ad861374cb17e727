#include "actors/frontend/locals.h"

void
locals_init (locals_t *self, const local_setup_t *setup)
{
    self->setup = *setup;
    self->models = map_new (0);
}

void
locals_fini (locals_t *self)
{
    size_t cursor = 0;
    void *value;
    while (map_next (self->models, &cursor, NULL, &value)) {
        local_model_t *local = value;
        local_model_destroy (&local);
    }
    map_destroy (&self->models);
}

//  Models that are gone, or bring other files now.
static void
s_drop_old (locals_t *self)
{
    size_t cursor = 0;
    span_t id;
    void *value;
    while (map_next (self->models, &cursor, &id, &value)) {
        local_model_t *local = value;
        if (local_model_is_current (local))
            continue;
        map_remove (self->models, id);
        local_model_destroy (&local);
    }
}

void
locals_follow (locals_t *self)
{
    size_t cursor = 0;
    const model_t *model;
    s_drop_old (self);
    while ((model = models_next (self->setup.models, &cursor))) {
        span_t id = span_from_string (model->id);
        if (model->files && span_equal_string (model->tokenizing, "engine") && !map_get (self->models, id))
            map_put (self->models, id, local_model_new (&self->setup, model));
    }
}

local_model_t *
locals_find (const locals_t *self, span_t name, uint64_t fingerprint)
{
    const model_t *model = models_get (self->setup.models, name, fingerprint);
    return model ? map_get (self->models, span_from_string (model->id)) : NULL;
}

void
locals_describe (const locals_t *self, buffer_t *out)
{
    size_t cursor = 0;
    void *local;
    while (map_next (self->models, &cursor, NULL, &local)) {
        buffer_append_string (out, "; ");
        local_model_describe (local, out);
    }
}

void
locals_measure (const locals_t *self)
{
    size_t cursor = 0;
    void *local;
    while (map_next (self->models, &cursor, NULL, &local))
        local_model_measure (local);
}
