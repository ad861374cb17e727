//  exposition - the metrics of many actors in one page
//
//  Takes the text (Prometheus' format 0.0.4) of one actor after the other, gives each sample a label that says whose it is,
//  and writes metrics of one name together, as the format demands.

#ifndef ACTORS_FRONTEND_EXPOSITION_H
#define ACTORS_FRONTEND_EXPOSITION_H

#include "base/buffer.h"
#include "base/map.h"

typedef struct {
    map_t *families;    //  Name -> family, owned
    size_t size;        //  Bytes of all samples
} exposition_t;

//  What is beyond is left out.
enum { EXPOSITION_MAX = 64 << 20 };

void exposition_init (exposition_t *self);
void exposition_fini (exposition_t *self);

//  Adds the text of an actor.  Borrows both for the call.  False where it does not fit any more.
bool exposition_add (exposition_t *self, span_t text, span_t actor);

//  Appends all of it.
void exposition_render (const exposition_t *self, buffer_t *out);

#endif
