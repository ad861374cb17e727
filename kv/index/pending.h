//  pending - blocks that are being computed
//
//  Between a decision and the first event about it the index does not know what is on its way: of eight siblings that come
//  in these milliseconds each would have the same prefix computed.  So whoever decides says here who computes which prompt,
//  until when it is expected, and when to stop believing it.
//
//  The blocks stand in the index like anybody's, under the worker's holder of kind HOLDER_PENDING: one match finds what is
//  there, what is guessed and what is coming, and the kind tells them apart.  The index must count references, for prefills
//  of one worker share blocks; where more than 1024 share one, the index has it until so many are done.  Times are the
//  caller's clock, in ns; nothing happens but in a call.

#ifndef KV_INDEX_PENDING_H
#define KV_INDEX_PENDING_H

#include "kv/index/index.h"

typedef struct pending pending_t;

typedef struct {
    uint64_t added;         //  Prefills so far, of which
    uint64_t settled;       //  were settled
    uint64_t expired;       //  expired
    uint64_t refused;       //  Prefills there was no room for
    uint64_t blocks;        //  Now, of all prefills together
    uint64_t unfinished;    //  Now: prefills whose blocks pending_expire has to go on with
} pending_stats_t;

//  Borrows the index.  limit: blocks of all prefills together.  Gives it; never NULL.
pending_t *pending_new (index_t *index, uint32_t limit);

//  Takes what is pending out of the index, but not its holders.
void pending_destroy (pending_t **self_p);

//  Frees a piece of the memory of one that is idle and about to be destroyed: only this and pending_destroy may follow.  False
//  where little is left.
bool pending_shed (pending_t *self);

//  A prompt that a worker computes.
typedef struct {
    const holder_t *worker;    //  Its kind is taken for HOLDER_PENDING
    const uint64_t *hashes;    //  Of its blocks from the first on, those it has included
    size_t count;              //  How many
    uint64_t expected_ns;      //  It is done at about this time
    uint64_t expiry_ns;        //  And forgotten at this one
} pending_prompt_t;

//  Borrows the prompt.  Blocks beyond the first 512 come with later calls of pending_expire, and go likewise; where the index has
//  no room for them then, the prompt is taken to end before them.  *id is for pending_settle, never 0.  STATUS_LIMIT where a
//  bound, here or of the index, leaves no room, STATUS_INVALID where a hash is 0: *id is 0 then, and nothing is pending.
status_t pending_add (pending_t *self, const pending_prompt_t *prompt, uint64_t *id, error_t *error);

//  It is done, or will not be: events say more now.  False where it expired already.
bool pending_settle (pending_t *self, uint64_t id);

//  A worker, by the holder its prefills were added for, has said that it stored blocks as another holder, `exact` by number:
//  settles its prefills of which it has the last block now.  Engines compute about
//  in the order in which they were asked, so the oldest 16 are looked at, and some thousand blocks settled; others end with
//  a later event or otherwise.  Returns how many.
size_t pending_arrived (pending_t *self, const holder_t *worker, uint32_t exact);

//  The blocks of a prefill, `*count` of them, and the number of its holder.  Borrowed until it is settled or expires; NULL,
//  and 0 and HOLDER_NONE, where it is not pending.
const uint64_t *pending_blocks (const pending_t *self, uint64_t id, uint32_t *holder, size_t *count);

//  Goes on with long prefills, forgets what expires at now_ns or before, the first to expire first, and frees what is left of
//  workers that are gone, as long as *left, a number of blocks, is not used up: what is left then, later calls do.  Returns
//  how many prefills expired.
size_t pending_expire (pending_t *self, uint64_t now_ns, size_t *left);

//  Whether nothing is pending, nor anything left of what was.
bool pending_is_idle (const pending_t *self);

//  When the block at a position of a prompt will be there, of those that this holder (a number) has pending; 0 where it has
//  not.  Of several prefills the earliest counts.
uint64_t pending_expected (const pending_t *self, uint32_t holder, size_t position, uint64_t hash);

//  A worker is gone, and what it computed with it: retires its holder, whatever it had.
void pending_forget (pending_t *self, const holder_t *worker);

void pending_stats (const pending_t *self, pending_stats_t *stats);

#endif
