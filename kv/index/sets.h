//  sets - sets of numbers, each stored once
//
//  Thousands of blocks in a row have the same holders, so a block does not keep its set but the set's number.  The empty
//  set and sets of one are their own numbers; larger ones are interned: counted references, found by the xor of the mixed
//  members, which is one step away from that of a neighbour set.  They are kept as bits, or as a sorted row of members where
//  that takes less room.  What "this set with that member" was last time is remembered, so that only the first block of a run
//  pays for making the set.
//
//  A number that is kept holds a reference; sets_with and sets_without take the caller's and give one on the result.

#ifndef KV_INDEX_SETS_H
#define KV_INDEX_SETS_H

#include <stdbool.h>

#include "kv/table.h"

enum { SETS_MEMBER_MAX = 0x3FFFFFFF, SETS_EMPTY = 0 };

typedef uint32_t set_t;    //  At most 31 bits

//  A set that is being read.
typedef struct {
    uint32_t count;             //  Members
    uint32_t left;              //  Of them to come
    const uint32_t *members;    //  Those, ascending; NULL where there are bits
    const uint64_t *bits;       //  Words to come
    uint64_t word;              //  Bits to come of the one before
    uint32_t base;              //  Which its first bit is
    uint32_t single;            //  What `members` points to for a set of one
} set_view_t;

typedef struct sets sets_t;

//  Gives the sets; never NULL.
sets_t *sets_new (void);
void sets_destroy (sets_t **self_p);

//  Frees a piece of the memory of sets that are about to be destroyed and of which there are none: only this and sets_destroy
//  may follow.  False where none is left.
bool sets_shed (sets_t *self);

//  The set with one more member (1..SETS_MEMBER_MAX), which it must not have.
set_t sets_with (sets_t *self, set_t set, uint32_t member);

//  The set without a member, which it must have.
set_t sets_without (sets_t *self, set_t set, uint32_t member);

//  Takes or gives back a reference.
void sets_retain (sets_t *self, set_t set);
void sets_release (sets_t *self, set_t set);

bool sets_has (const sets_t *self, set_t set, uint32_t member);

//  Begins to read a set.  Borrowed while the set has references and the view stays where it is.
void sets_view (const sets_t *self, set_t set, set_view_t *view);

//  The next member, ascending; 0 behind the last.
static inline uint32_t
sets_next (set_view_t *view)
{
    if (view->left == 0)
        return 0;
    view->left--;
    if (view->members)
        return *view->members++;
    for (; !view->word; view->base += 64)
        view->word = *view->bits++;
    uint32_t member = view->base - 64 + (uint32_t)__builtin_ctzll (view->word);
    view->word &= view->word - 1;
    return member;
}

//  The set as bits: member m is bit m % 64 of word m / 64.  Returns words that are there (borrowed like a view) or were
//  written to `words`, and in *count how many: at most what the largest member needs, for which there must be room.
const uint64_t *sets_bits (const sets_t *self, set_t set, uint64_t *words, uint32_t *count);

//  Start loading what sets_bits reads first, and then.
void sets_prefetch (const sets_t *self, set_t set);
void sets_prefetch_bits (const sets_t *self, set_t set);

//  Whether somebody marked this set with this number; marks of sets of one are not kept.
bool sets_is_marked (const sets_t *self, set_t set, uint64_t mark);
void sets_mark (sets_t *self, set_t set, uint64_t mark);

//  Whether the set is one that is counted in references.
bool sets_is_interned (set_t set);

//  Interned sets, and bytes in use.
uint32_t sets_count (const sets_t *self);
uint64_t sets_bytes (const sets_t *self);

//  Stops the process where a set is wrong or the number of references is not `references`.  For tests.
void sets_check (const sets_t *self, uint64_t references);

#endif
