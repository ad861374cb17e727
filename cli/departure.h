//  departure - in which order the actors of a process finish, and when the process ends
//
//  The actors of a process finish phase by phase: those of the lowest are asked first, and when the last of them has drained
//  those of the next.  Half a process is of no use to anybody, and its host starts it again only when all of it has ended:
//  an actor that drains although nobody has asked it here (it was called to, or somebody newer has its address) takes the
//  others along.
//
//  Whoever runs the actors says what has happened and does what comes out; neither a thread nor an actor is touched here.
//  So processes of the real world (house.h) and of the simulator (rehearsal.h) depart by the same rules.

#ifndef CLI_DEPARTURE_H
#define CLI_DEPARTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

//  Embedded: departure_init, departure_fini.  Actors are positions: 0, 1, ... in the order in which they were added.
typedef struct {
    array_t members;    //  One an actor
    size_t drained;     //  Of these, how many have
    bool asked;         //  The process was asked to end
} departure_t;

void departure_init (departure_t *self);
void departure_fini (departure_t *self);

//  One more actor.  phase: lower ones finish first.
void departure_add (departure_t *self, unsigned phase);

//  The process is asked to end.  False where it was before: now it is to end at once.
bool departure_ask (departure_t *self);

//  An actor has drained, asked or not.  What is known already may be said again.
void departure_note_drained (departure_t *self, size_t position);

//  Whom to ask to drain now: each actor once at most.  False where that is nobody, until something else has happened.
bool departure_next (departure_t *self, size_t *position);

//  Every actor has drained: the process ends.
bool departure_is_over (const departure_t *self);

#endif
