#include "actors/frontend/encoder.h"

static const encoder_t *const s_encoders [] = { &encoder_bytes, &encoder_engine };

const encoder_t *
encoder_find (span_t tokenizing)
{
    for (size_t i = 0; i < sizeof s_encoders / sizeof s_encoders [0]; i++)
        if (span_equal_string (tokenizing, s_encoders [i]->name))
            return s_encoders [i];
    return NULL;
}

void
encoding_start (encoding_t *self, buffer_t *question)
{
    self->encoder->start (self, question);
}

void
encoding_drop (encoding_t *self)
{
    if (self->encoder && self->encoder->drop)
        self->encoder->drop (self);
}

void
encoding_complete (encoding_t *self, const api_error_t *error)
{
    self->done (actor_state (self->actor), self->arg, error);
}
