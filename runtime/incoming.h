//  incoming - a call or stream that this actor serves
//
//  The runtime makes it when the call arrives and hands it to the handler of its method.  It must be completed exactly
//  once, now or later: incoming_reply or incoming_end, or incoming_fail.  Completing it frees it.  If the caller cancels,
//  goes away, or its deadline passes, on_cancel is called once; the incoming must then still be completed (incoming_fail
//  with STATUS_CANCELLED is usual; nothing is sent).  A call whose watch has no on_cancel simply answers into the void.
//
//  Streams have credit: positions count elements of the stream (what an element is the method says), and nothing is sent
//  at or beyond the credit.  An item may hold several elements; its position is that of the first.

#ifndef RUNTIME_INCOMING_H
#define RUNTIME_INCOMING_H

#include "runtime/actor.h"

typedef struct {
    void (*on_cancel) (void *arg, incoming_t *incoming);    //  Nobody wants the answer any more
    void (*on_credit) (void *arg, incoming_t *incoming);    //  Stream: more may be sent
    void (*on_free) (void *arg);                            //  The incoming is gone: completed, or its actor ends
    void *arg;                                              //  For the three
    uint64_t patience_ns;    //  Stream: a caller that gives no credit for so long, and has left none, is gone; 0: never
    bool probe_suffices;     //  It is not where it probes: its credit waits for somebody else, who may take any time
} incoming_watch_t;

//  Names who to tell; what is left out is not told.  A caller that is given up for its silence gets an error.
void incoming_watch (incoming_t *self, const incoming_watch_t *watch);

//  The answer of a call.  Borrows it.
void incoming_reply (incoming_t *self, const void *reply);

//  The same with a reply that is encoded already: it leaves uncopied.  reply: taken, and empty afterwards.
void incoming_reply_encoded (incoming_t *self, buffer_t *reply);

//  Gives what keeps the bytes that the message's spans point at: they outlive the incoming then.  Where the request is small
//  nothing is given, and they are the incoming's.
keeper_t incoming_keep (incoming_t *self);

//  The error of a call or stream.
void incoming_fail (incoming_t *self, status_t status, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

//  Stream: position that the caller allows up to (exclusive), and position sent so far.
uint64_t incoming_credit (const incoming_t *self);
uint64_t incoming_position (const incoming_t *self);

//  Stream: sends an item of `count` elements at the current position, which moves on by as many.  Borrows it.  It leaves by
//  the end of the turn, in one message with those of other streams to the same peer where the caller takes them so.
//  The caller of this function keeps within the credit (BUG_ON); count may be 0 for items that carry no element.
void incoming_send (incoming_t *self, uint64_t count, const void *item);

//  Stream: complete.  Borrows the end message.
void incoming_end (incoming_t *self, const void *end);

//  Address the caller gave, for logs: never a proof.  Borrowed.
const char *incoming_sender (const incoming_t *self);

//  W3C traceparent, or the empty span.
span_t incoming_trace (const incoming_t *self);

#endif
