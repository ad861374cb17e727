//  chat - one question to a fleet, over its own HTTP port, as any client would ask it

#ifndef CLI_CHAT_H
#define CLI_CHAT_H

#include "cli/command.h"

typedef struct {
    const char *host;       //  Of the frontend
    unsigned port;          //  Likewise; 0: not known yet
    const char *model;      //  Whom to ask
    const char *prompt;     //  What
    unsigned patience_s;    //  How long the fleet may take to become ready
    //  Where the system chooses the port: it, or 0 while nobody can say.  The function may be NULL where it is known.
    unsigned (*find_port) (void *arg);
    //  Called again and again while the model is not there: false where it never will be.  The function may be NULL.
    bool (*look) (void *arg);
    void *arg;       //  For both
    bool gave_up;    //  Out: nobody waits for the model any more
} chat_t;

//  Waits until the port is known and the model is there, asks, and prints the answer on standard output as it comes.
result_t chat_run (chat_t *self);

//  Says what can be tried next, after a chat_run that was answered.  program: how this one was called, so that what is said
//  can be typed; which: the flags that name the fleet, each after a space.
void chat_print_hints (const chat_t *self, const char *program, const char *which);

//  Ends a chat_run in another thread soon.
void chat_stop (void);

#endif
