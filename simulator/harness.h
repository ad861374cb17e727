//  harness - whoever uses a fleet, and checks what comes
//
//  A number of sessions, each an agent that sends its growing conversation turn by turn: most as a stream, some whole, some
//  leaving in the middle, some reading slowly.  Every request is watched: it ends exactly once, its stream is whole, and
//  each byte of it is the one that the engine must have said (simulated engines draw from the request's seed and the
//  position alone), so a gap, a repetition or a stranger's token cannot hide.
//
//  It lives on a port like an actor.  What is wrong is told as a sentence; what faults excuse is only counted.

#ifndef SIMULATOR_HARNESS_H
#define SIMULATOR_HARNESS_H

#include "runtime/port.h"

typedef struct harness harness_t;

//  Byte `position` of the answer to a request with this seed.
typedef uint8_t (harness_token_fn) (void *arg, int64_t seed, uint64_t position);

typedef struct {
    const char *const *urls;    //  Of frontends, "http://m0:8000", NULL-terminated; borrowed for the harness's life
    const char *model;          //  Asked for; borrowed for the harness's life
    uint64_t interval_ns;       //  Between two requests of all sessions, on average
    uint32_t prompt_bytes;      //  Of a first turn, about
    uint32_t turns;             //  Of a session, on average
    uint32_t max_tokens;        //  Of an answer
    uint32_t slow_tokens;       //  Of one that is read slowly: more than fits between engine and reader; 0: the same
    uint32_t plain_ppm;         //  Share of requests that are not streamed
    uint32_t leave_ppm;         //  Share of streams whose client leaves in the middle
    uint32_t slow_ppm;          //  Share of streams whose client reads slowly
    harness_token_fn *token;    //  What must come; NULL: contents are not checked
    void *token_arg;            //  For token
    //  True where a fault may have struck a request that began at `since_ns`: it may then break off or be refused.
    bool (*excused) (void *arg, uint64_t since_ns);
    //  Something is wrong that nothing excuses.  Borrowed.
    void (*on_violation) (void *arg, const char *sentence);
    void *arg;    //  For both
} harness_options_t;

typedef struct {
    uint64_t started;               //  Requests
    uint64_t ended;                 //  Of these, over, of which
    uint64_t whole;                 //  had the whole answer
    uint64_t left;                  //  were left by the client
    uint64_t refused;               //  got an error status
    uint64_t broken;                //  broke off, or ended with an error in the stream
    uint64_t tokens;                //  Bytes of answers
    uint64_t prompt_tokens;         //  As the usage said
    uint64_t cached_tokens;         //  As the usage said
    uint64_t first_token_ns;        //  Sum over `first_tokens`
    uint64_t first_tokens;          //  Streams that had one
    uint64_t first_token_max_ns;    //  Longest
    uint64_t open;                  //  Requests under way
    uint64_t streaming;             //  Of these, with an answer begun
    uint64_t oldest_ns;             //  When the oldest of these began; 0: none
} harness_figures_t;

//  Starts on a port, whose user it becomes.  Gives the harness; never NULL.
harness_t *harness_new (port_t *port, const harness_options_t *options, uint64_t seed);

//  Cancels what is under way.  Nulls the caller's pointer.
void harness_destroy (harness_t **self_p);

//  No new requests.
void harness_stop (harness_t *self);

//  So far; what is open, as of now.
void harness_figures (const harness_t *self, harness_figures_t *figures);

#endif
