//  fake_llama - a program of the simulated world that speaks as llama-server does
//
//  Two slots of 512 tokens whose caches are real: what it says it has reused, it has.  Token n of an answer is 300 + n,
//  its text "wN "; a token comes every 10 ms.  Tests reach into it to make it misbehave.

#ifndef TESTS_WORKERS_FAKE_LLAMA_H
#define TESTS_WORKERS_FAKE_LLAMA_H

#include "simulator/realm.h"

enum { FAKE_SLOTS = 2, FAKE_CONTEXT = 512 };

typedef struct {
    bool loading;                //  /health says 503
    bool stranger;               //  /props is not there
    bool nameless;               //  /v1/models is not there
    const char *template_now;    //  Chat template; NULL: "x"
    bool hangs;                  //  Healthy, but no token moves
    uint64_t fails_at;           //  Every answer fails at this token; 0: none
    bool cuts;                   //  Answers end inside a character
    bool overstates;             //  It has reused and computed more than it was given
    bool refuses;                //  Every completion is a 400
    uint64_t hangs_up_at;        //  Every stream just ends at this token; 0: none
    uint64_t requests;           //  Completions begun
    uint64_t aborted;            //  Of these, those whose client hung up
    uint32_t last_slot;          //  Slot of the last one
    uint64_t last_reused;        //  What it reused
} fake_llama_t;

extern fake_llama_t fake_llama;
extern const realm_program_t fake_llama_program;

//  The cache of every slot is empty, and nobody is told.
void fake_llama_forget (void);

#endif
