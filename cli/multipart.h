//  multipart - a message of several frames, as libzmq hands it over

#ifndef CLI_MULTIPART_H
#define CLI_MULTIPART_H

#include <stdbool.h>
#include <zmq.h>

#include "base/span.h"

enum { MULTIPART_MAX = 8 };

//  Zero: there is no message.
typedef struct {
    zmq_msg_t parts [MULTIPART_MAX];    //  Of the message received last
    span_t frames [MULTIPART_MAX];      //  Over them
    size_t count;                       //  How many
} multipart_t;

//  Receives one whole message in place of the one before; frames beyond MULTIPART_MAX are dropped.  False where none waits: it is
//  empty then.
bool multipart_receive (multipart_t *self, void *socket);

//  Lets the message go.
void multipart_fini (multipart_t *self);

#endif
