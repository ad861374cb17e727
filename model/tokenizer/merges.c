//  What lays the rules out is known as "hash and displace": the upper bits of a rule's hash say which bucket it is in, and each
//  bucket has a factor that spreads its rules over the slots. The factors are found by trying, that of the largest bucket first, as
//  long as there is room for it. Buckets hold a few rules each, and some of the slots stay free, so few are tried.

#include "model/tokenizer/merges.h"

#include <string.h>

#include "base/memory.h"

enum {
    SLOTS_MIN = 1024,
    SLOTS_A_BUCKET = 8,    //  Slots for each bucket
    BUCKET_MAX = 64,       //  Rules of a bucket, at most: chance makes it no larger
    TRIES = 6              //  Layouts that are tried, each with twice the slots of the one before
};

#define FREE UINT32_MAX

void
merges_init (merges_t *self)
{
    *self = (merges_t){ 0 };
    array_init (&self->rules, sizeof (merge_t));
}

void
merges_fini (merges_t *self)
{
    array_fini (&self->rules);
    memory_free (self->slots);
    memory_free (self->factors);
    *self = (merges_t){ 0 };
}

void
merges_put (merges_t *self, merge_t rule)
{
    array_append (&self->rules, &rule, 1);
}

static uint64_t
s_hash (const merges_t *self, uint32_t rank)
{
    const merge_t *rule = merges_rule (self, rank);
    return merges_hash (self, rule->left, rule->right);
}

static bool
s_same_pair (const merges_t *self, uint32_t a, uint32_t b)
{
    return merges_rule (self, a)->left == merges_rule (self, b)->left &&
           merges_rule (self, a)->right == merges_rule (self, b)->right;
}

//  ---- Buckets -------------------------------------------------------------------------------------------------------

//  Rules by the bucket of their hash.
typedef struct {
    uint32_t *ranks;     //  Those of one bucket are neighbours, the lowest first
    uint32_t *starts;    //  By bucket: where its ranks start; one more at the end
    size_t count;        //  How many buckets
} buckets_t;

static void
s_divide (const merges_t *self, buckets_t *buckets)
{
    buckets->ranks = memory_new ((self->rules.count + 1) * sizeof *buckets->ranks);
    buckets->starts = memory_new ((buckets->count + 1) * sizeof *buckets->starts);
    for (uint32_t rank = 0; rank < self->rules.count; rank++)
        buckets->starts [s_hash (self, rank) >> self->bucket_shift]++;
    for (size_t bucket = 1; bucket <= buckets->count; bucket++)
        buckets->starts [bucket] += buckets->starts [bucket - 1];
    for (uint32_t rank = (uint32_t)self->rules.count; rank-- > 0;)
        buckets->ranks [--buckets->starts [s_hash (self, rank) >> self->bucket_shift]] = rank;
}

static size_t
s_size (const buckets_t *buckets, size_t bucket)
{
    return buckets->starts [bucket + 1] - buckets->starts [bucket];
}

//  What the slots of a bucket's rules shall hold; of two rules of one pair that of the later. Returns how many.
static size_t
s_contents_of (const merges_t *self, const buckets_t *buckets, size_t bucket, uint64_t *hashes, uint32_t *contents)
{
    size_t count = 0;
    for (size_t i = buckets->starts [bucket]; i < buckets->starts [bucket + 1]; i++) {
        size_t at = 0;
        while (at < count && !s_same_pair (self, contents [at] & MERGE_RANKS, buckets->ranks [i]))
            at++;
        hashes [at] = s_hash (self, buckets->ranks [i]);
        contents [at] = buckets->ranks [i] | merges_tag (hashes [at]);
        count += at == count;
    }
    return count;
}

//  ---- Slots ---------------------------------------------------------------------------------------------------------

//  Puts the rules of a bucket where its factor says. Returns whether there was room; if not, none is there.
static bool
s_put_bucket (merges_t *self, const uint64_t *hashes, const uint32_t *contents, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = &self->slots [merges_slot (self, hashes [i])];
        if (*slot == FREE) {
            *slot = contents [i];
            continue;
        }
        while (i-- > 0)
            self->slots [merges_slot (self, hashes [i])] = FREE;
        return false;
    }
    return true;
}

static bool
s_place_bucket (merges_t *self, const buckets_t *buckets, size_t bucket)
{
    uint64_t hashes [BUCKET_MAX];
    uint32_t contents [BUCKET_MAX];
    size_t count = s_contents_of (self, buckets, bucket, hashes, contents);
    for (uint32_t factor = 1; factor <= UINT16_MAX; factor += 2) {
        self->factors [bucket] = (uint16_t)factor;
        if (s_put_bucket (self, hashes, contents, count))
            return true;
    }
    return false;
}

static bool
s_place (merges_t *self, const buckets_t *buckets)
{
    for (size_t bucket = 0; bucket < buckets->count; bucket++)
        if (s_size (buckets, bucket) > BUCKET_MAX)
            return false;
    for (size_t size = BUCKET_MAX; size; size--)
        for (size_t bucket = 0; bucket < buckets->count; bucket++)
            if (s_size (buckets, bucket) == size && !s_place_bucket (self, buckets, bucket))
                return false;
    return true;
}

//  Returns whether the rules fit into `slots` slots.
static bool
s_lay_out (merges_t *self, size_t slots)
{
    buckets_t buckets = { .count = slots / SLOTS_A_BUCKET };
    self->slot_shift = 32 - (unsigned)__builtin_ctzll (slots);
    self->bucket_shift = 64 - (unsigned)__builtin_ctzll (buckets.count);
    memory_free (self->slots);
    memory_free (self->factors);
    self->slots = memory_new_table (slots * sizeof *self->slots);
    self->factors = memory_new_table (buckets.count * sizeof *self->factors);
    memset (self->slots, 0xff, slots * sizeof *self->slots);
    s_divide (self, &buckets);
    bool holds = s_place (self, &buckets);
    memory_free (buckets.ranks);
    memory_free (buckets.starts);
    return holds;
}

//  How far above their ranks all are that rules make; 0 where that differs.
static uint32_t
s_above (const merges_t *self)
{
    uint32_t above = self->rules.count ? merges_rule (self, 0)->id : 0;
    for (uint32_t rank = 0; rank < self->rules.count; rank++)
        if (merges_rule (self, rank)->id != rank + above)
            return 0;
    return above;
}

//  Whether a rule comes behind those that make what it is for: then each merge has a higher rank than all before it.
static bool
s_rises (const merges_t *self)
{
    for (uint32_t rank = 0; rank < self->rules.count; rank++) {
        const merge_t *rule = merges_rule (self, rank);
        if (rule->left >= rule->id || rule->right >= rule->id)
            return false;
    }
    return self->above != 0;
}

status_t
merges_seal (merges_t *self, error_t *error)
{
    size_t slots = SLOTS_MIN;
    self->above = s_above (self);
    self->rises = s_rises (self);
    while (slots * 3 < self->rules.count * 4)
        slots *= 2;
    self->multiplier = 0xbf58476d1ce4e5b9u;
    for (int try = 0; try < TRIES; try++, slots *= 2, self->multiplier *= 0x94d049bb133111ebu)
        if (s_lay_out (self, slots))
            return STATUS_OK;
    return error_set (error, STATUS_LIMIT, "the rules cannot be laid out: too many are alike");
}

//  Backwards in time: the ranks of merges rise, so what stood on both sides at each of them follows from what stands there now. The
//  later made of the two was not there before its rule was applied, but the half of it that is nearer. Were there a rule for two
//  that stood side by side, at a rank at which both did, it would have been applied.
bool
merges_hold_apart (const merges_t *self, uint32_t left, uint32_t right)
{
    for (uint32_t gone = MERGE_RANKS;;) {
        uint32_t later = left > right ? left : right;
        if (merges_guess (self, left, right) <= gone)
            return false;
        if (later < self->above)
            return true;
        gone = later - self->above;
        if (left == later)
            left = merges_rule (self, gone)->right;
        else
            right = merges_rule (self, gone)->left;
    }
}

uint64_t
merges_memory (const merges_t *self)
{
    uint64_t slots = self->slots ? 1ull << (32 - self->slot_shift) : 0;
    return self->rules.capacity * sizeof (merge_t) + slots * sizeof *self->slots +
           slots / SLOTS_A_BUCKET * sizeof *self->factors;
}
