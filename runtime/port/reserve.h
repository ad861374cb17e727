//  reserve - what happens to peers when the process has no descriptor left
//
//  accept fails then, and the peer stays in the queue: a loop is told of it again at once, for ever, and the ipc listener of
//  libzmq 4.3 aborts the process.  So accept4 is ours, for every library of the process, and one descriptor is kept back:
//  it is given up, the peer is accepted and closed at once, and the descriptor taken again.  Whoever came sees that
//  it was turned away, and may come again.  Where another thread is quicker to take what was given up, the peer waits
//  until something is free again, and the loop that is told of it takes a short rest each time.
//
//  All functions may be called from any thread.

#ifndef RUNTIME_PORT_RESERVE_H
#define RUNTIME_PORT_RESERVE_H

#include <stdint.h>

//  Keeps the descriptor back, from the first call on; nothing where there is none to keep.
void reserve_keep (void);

//  Peers of this process turned away so far.
uint64_t reserve_turned_away (void);

#endif
