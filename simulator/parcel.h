//  parcel - frames on their way, shared by all they go to

#ifndef SIMULATOR_PARCEL_H
#define SIMULATOR_PARCEL_H

#include "base/span.h"
#include "runtime/port.h"

typedef struct {
    uint32_t references;                  //  Who holds it
    uint32_t count;                       //  Frames
    uint64_t hash;                        //  Of all of it; 0: not computed yet
    uint32_t ends [SOCKET_FRAMES_MAX];    //  Where each frame ends in `bytes`
    uint8_t bytes [];                     //  The frames, one behind the other
} parcel_t;

//  Copies the frames, SOCKET_FRAMES_MAX at most.  Gives one reference: parcel_release.
parcel_t *parcel_new (const span_t *frames, size_t count);

//  One reference more.  NULL stays NULL.
parcel_t *parcel_acquire (parcel_t *self);
void parcel_release (parcel_t *self);

//  Borrowed for the parcel's life.
span_t parcel_frame (const parcel_t *self, size_t position);

//  Bytes of all frames.
size_t parcel_size (const parcel_t *self);

//  Of the frames and where they end; 0 for NULL.
uint64_t parcel_hash (parcel_t *self);

#endif
