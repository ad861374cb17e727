//  What a source has of one rank, tier and kind, in all namespaces, is a claim, from the first of it until it is cleared or
//  forgotten.  The holders of a claim, one in each namespace, name it as their owner; whose it is only the reach is told.  So a
//  clear, and the end of a source, tell the reach that the claim is nobody's: from then on it is in no answer, whatever it has
//  in however many namespaces.  Its holders leave the indexes later, some with this call and some with each that follows: it
//  took a call to bring each there.  Then the number is the next claim's.

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kv/catalog/catalog_private.h"

enum { WORD_BITS = 64 };

//  ---- Sources -------------------------------------------------------------------------------------------------------

source_entry_t *
catalog_source_at (const catalog_t *self, uint32_t slot)
{
    return table_at (&self->sources, slot);
}

source_entry_t *
catalog_find_source (const catalog_t *self, uint64_t source)
{
    uint32_t slot = table_find (&self->sources, table_key_of_pair (0, source));
    while (slot && catalog_source_at (self, slot)->source != source)
        slot = table_next_equal (&self->sources, slot);
    return slot ? catalog_source_at (self, slot) : NULL;
}

source_entry_t *
catalog_source (catalog_t *self, uint64_t source)
{
    source_entry_t *entry = catalog_find_source (self, source);
    if (entry)
        return entry;
    uint32_t slot = table_add (&self->sources, table_key_of_pair (0, source));
    entry = catalog_source_at (self, slot);
    entry->source = source;
    entry->slot = slot;
    array_init (&entry->claims, sizeof (uint32_t));
    return entry;
}

void
catalog_end_source (catalog_t *self, source_entry_t *entry)
{
    reach_forget (self->reach, entry->slot);
    array_fini (&entry->claims);
    table_remove (&self->sources, entry->slot);
}

//  ---- Claims --------------------------------------------------------------------------------------------------------

static claim_t *
s_claim (const catalog_t *self, uint32_t number)
{
    return pile_at (&self->claims, number);
}

uint32_t
catalog_position (uint16_t rank, tier_t tier, holder_kind_t kind)
{
    return ((uint32_t)rank * TIER_COUNT + tier) * HOLDER_KIND_COUNT + kind;
}

claim_t *
catalog_claim_at (const catalog_t *self, const source_entry_t *entry, size_t position)
{
    uint32_t number = position < entry->claims.count ? ((uint32_t *)entry->claims.data) [position] : 0;
    return number ? s_claim (self, number) : NULL;
}

claim_t *
catalog_find_claim (const catalog_t *self, const source_entry_t *entry, uint16_t rank, tier_t tier, holder_kind_t kind)
{
    return entry ? catalog_claim_at (self, entry, catalog_position (rank, tier, kind)) : NULL;
}

claim_t *
catalog_claim_of (const catalog_t *self, const holder_t *holder)
{
    claim_t *claim = s_claim (self, holder->owner);
    return claim->is_over ? NULL : claim;
}

//  One that is nobody's.  The first is none.
static claim_t *
s_free_claim (catalog_t *self)
{
    uint32_t number = self->free_claim;
    if (number) {
        self->free_claim = s_claim (self, number)->next;
        return s_claim (self, number);
    }
    if (self->claims.count == 0)
        pile_add (&self->claims);
    claim_t *claim = pile_add (&self->claims);
    claim->holder.owner = (uint32_t)self->claims.count - 1;
    return claim;
}

static claim_t *
s_begin_claim (catalog_t *self, source_entry_t *entry, uint16_t rank, tier_t tier, holder_kind_t kind)
{
    uint32_t position = catalog_position (rank, tier, kind);
    claim_t *claim = s_free_claim (self);
    uint32_t number = claim->holder.owner;
    *claim = (claim_t){ .slot = entry->slot,
        .holder = { .owner = number, .rank = rank, .tier = (uint8_t)tier, .kind = (uint8_t)kind } };
    array_init (&claim->spaces, sizeof (uint64_t));
    if (position >= entry->claims.count)
        array_append (&entry->claims, NULL, position + 1 - entry->claims.count);
    *(uint32_t *)array_at (&entry->claims, position) = number;
    reach_count_as (self->reach, number, entry->slot);
    return claim;
}

claim_t *
catalog_claim (
    catalog_t *self, const namespace_entry_t *space, uint64_t source, uint16_t rank, tier_t tier, holder_kind_t kind)
{
    source_entry_t *entry = catalog_source (self, source);
    claim_t *claim = catalog_find_claim (self, entry, rank, tier, kind);
    if (!claim)
        claim = s_begin_claim (self, entry, rank, tier, kind);
    uint32_t word = space->slot / WORD_BITS;
    if (word >= claim->spaces.count)
        array_append (&claim->spaces, NULL, word + 1 - claim->spaces.count);
    ((uint64_t *)claim->spaces.data) [word] |= 1ull << space->slot % WORD_BITS;
    return claim;
}

namespace_entry_t *
catalog_next_space (const catalog_t *self, const claim_t *claim, uint32_t *slot)
{
    const uint64_t *words = claim->spaces.data;
    for (; *slot < claim->spaces.count * WORD_BITS; ++*slot) {
        uint64_t rest = words [*slot / WORD_BITS] >> *slot % WORD_BITS;
        if (!rest) {
            *slot |= WORD_BITS - 1;
            continue;
        }
        *slot += (uint32_t)__builtin_ctzll (rest);
        namespace_entry_t *space = *(namespace_entry_t **)array_at (&self->by_slot, *slot);
        if (space)
            return space;
    }
    return NULL;
}

uint64_t
catalog_digest_in (const namespace_entry_t *space, const claim_t *claim)
{
    uint64_t digest = index_digest (space->index, index_holder_find (space->index, &claim->holder));
    uint64_t where = space->id ^ (uint64_t)claim->holder.rank << 8 ^ claim->holder.tier;
    return digest ? hash_u64 (digest ^ hash_u64 (where)) : 0;
}

//  ---- The end of a claim --------------------------------------------------------------------------------------------

void
catalog_end_claim (catalog_t *self, claim_t *claim)
{
    const holder_t *holder = &claim->holder;
    source_entry_t *entry = catalog_source_at (self, claim->slot);
    *(uint32_t *)array_at (&entry->claims, catalog_position (holder->rank, holder->tier, holder->kind)) = 0;
    reach_count_as (self->reach, holder->owner, REACH_NOBODY);
    claim->is_over = true;
    claim->next = self->leaving;
    self->leaving = holder->owner;
}

void
catalog_end_claims (catalog_t *self, const source_entry_t *entry, holder_kind_t first, holder_kind_t last)
{
    for (size_t i = 0; i < entry->claims.count; i++) {
        claim_t *claim = catalog_claim_at (self, entry, i);
        if (claim && claim->holder.kind >= first && claim->holder.kind <= last)
            catalog_end_claim (self, claim);
    }
}

//  The last claim that ended leaves the next namespace.  Whose slots these are may be others' by now.
static void
s_leave (catalog_t *self)
{
    claim_t *claim = s_claim (self, self->leaving);
    namespace_entry_t *space = catalog_next_space (self, claim, &claim->left);
    if (space) {
        catalog_forget_holder (self, space, &claim->holder);
        claim->left++;
        return;
    }
    array_fini (&claim->spaces);
    self->leaving = claim->next;
    claim->next = self->free_claim;
    self->free_claim = claim->holder.owner;
}

bool
catalog_leave (catalog_t *self, size_t steps)
{
    for (; steps && self->leaving; steps--)
        s_leave (self);
    return self->leaving != 0;
}

void
catalog_claims_fini (catalog_t *self)
{
    for (uint32_t number = 1; number < self->claims.count; number++)
        array_fini (&s_claim (self, number)->spaces);
    pile_fini (&self->claims);
    for (uint32_t slot = 1; slot < table_bound (&self->sources); slot++)
        array_fini (&catalog_source_at (self, slot)->claims);
    table_fini (&self->sources);
}

//  ---- Check ---------------------------------------------------------------------------------------------------------

//  Every holder of an index belongs to a claim that knows of it.
static void
s_check_holders (const catalog_t *self, const namespace_entry_t *space)
{
    for (uint32_t number = 0; number < index_holder_bound (space->index); number++) {
        const holder_t *holder = index_holder (space->index, number);
        if (!holder)
            continue;
        BUG_ON (holder->owner == 0 || holder->owner >= self->claims.count);
        const claim_t *claim = s_claim (self, holder->owner);
        uint32_t slot = space->slot;
        BUG_ON (holder_pack (holder) != holder_pack (&claim->holder));
        BUG_ON (catalog_next_space (self, claim, &slot) != space || slot < claim->left);
    }
}

static void
s_check_digest (const catalog_t *self, const claim_t *claim)
{
    uint64_t digest = claim->digest;
    const namespace_entry_t *space;
    for (uint32_t slot = 0; (space = catalog_next_space (self, claim, &slot)); slot++)
        digest -= claim->holder.kind == HOLDER_EXACT ? catalog_digest_in (space, claim) : 0;
    BUG_ON (digest);
}

void
catalog_check (const catalog_t *self)
{
    size_t live = 0, over = 0, unused = 0;
    for (size_t i = 0; i < self->namespaces.count; i++) {
        index_check (catalog_namespace_at (self, i)->index);
        s_check_holders (self, catalog_namespace_at (self, i));
    }
    table_check (&self->sources);
    for (uint32_t slot = 1; slot < table_bound (&self->sources); slot++) {
        const source_entry_t *entry = catalog_source_at (self, slot);
        for (size_t k = 0; k < entry->claims.count; k++) {
            const claim_t *claim = catalog_claim_at (self, entry, k);
            if (!claim)
                continue;
            BUG_ON (!entry->node.key || claim->slot != slot || claim->is_over);
            s_check_digest (self, claim);
            live++;
        }
    }
    for (uint32_t number = self->leaving; number; number = s_claim (self, number)->next, over++)
        BUG_ON (!s_claim (self, number)->is_over);
    for (uint32_t number = self->free_claim; number; number = s_claim (self, number)->next)
        unused++;
    BUG_ON (self->claims.count && live + over + unused + 1 != self->claims.count);
}
