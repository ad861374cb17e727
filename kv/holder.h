//  holder - who can hold blocks
//
//  A holder is (owner actor, data-parallel rank, tier): a worker's rank for `device`, a machine's block manager for `host`
//  and `disk`, a store's for `remote`.  A holder table gives each a small dense number, which everything that counts
//  blocks uses instead, and grows without a pause.  The owner's slot is whatever small number the caller keeps for whom it
//  is.

#ifndef KV_HOLDER_H
#define KV_HOLDER_H

#include "schemas/kv.h"

//  How far what is known of a holder can be trusted; the best first.
typedef enum {
    HOLDER_EXACT = 0,          //  Follows the holder's own events
    HOLDER_APPROXIMATE = 1,    //  A guess: what an engine without events probably holds
    HOLDER_PENDING = 2,        //  Not there yet: what is being computed
    HOLDER_KIND_COUNT
} holder_kind_t;

typedef struct {
    uint32_t owner;    //  Slot of the owning actor
    uint16_t rank;     //  Data-parallel rank
    uint8_t tier;      //  tier_t of schemas/kv.toml
    uint8_t kind;      //  holder_kind_t
} holder_t;

enum { TIER_COUNT = TIER_REMOTE + 1 };

//  The number of no holder.
#define HOLDER_NONE UINT32_MAX

typedef struct holder_table holder_table_t;

//  One number that differs for different holders.
uint64_t holder_pack (const holder_t *holder);

//  The holder that packs to this number.
holder_t holder_unpack (uint64_t packed);

//  Gives the table; never NULL.
holder_table_t *holder_table_new (void);
void holder_table_destroy (holder_table_t **self_p);

//  Frees a piece of the memory of a table that is about to be destroyed: only this and holder_table_destroy may follow.  False
//  where none is left.
bool holder_table_shed (holder_table_t *self);

//  The number of a holder; where it had none, the last that was given back, or else the next.
uint32_t holder_table_add (holder_table_t *self, const holder_t *holder);

//  The number of a holder; HOLDER_NONE where it has none.
uint32_t holder_table_find (const holder_table_t *self, const holder_t *holder);

//  The holder with this number; NULL where there is none.  Borrowed until the next add.
const holder_t *holder_table_get (const holder_table_t *self, uint32_t id);

//  Frees the number for somebody else.  False where there is no such holder.
bool holder_table_remove (holder_table_t *self, uint32_t id);

//  Holders that have a number.
uint32_t holder_table_count (const holder_table_t *self);

//  Numbers are below this.
uint32_t holder_table_bound (const holder_table_t *self);

//  In use.
uint64_t holder_table_bytes (const holder_table_t *self);

#endif
