#include "model/tokenizer/load_rules.h"

#include "base/memory.h"

//  The pairs that were seen, by the number of a rule, plus one.
typedef struct {
    const merge_t *rules;    //  Of the file
    uint32_t *slots;         //  By hash, open addressing; 0: free
    size_t mask;             //  One less than there are slots, of which half stay free
} seen_t;

//  Whether a rule is the first of its pair.
static bool
s_see (seen_t *self, uint32_t number)
{
    const merge_t *rule = &self->rules [number];
    uint64_t hash = ((uint64_t)rule->left << 32 | rule->right) * 0x9e3779b97f4a7c15u;
    for (size_t at = (hash >> 32) & self->mask;; at = (at + 1) & self->mask) {
        uint32_t slot = self->slots [at];
        if (!slot) {
            self->slots [at] = number + 1;
            return true;
        }
        if (self->rules [slot - 1].left == rule->left && self->rules [slot - 1].right == rule->right)
            return false;
    }
}

void
load_rules (const array_t *rules, rules_t counts, merges_t *merges)
{
    size_t slots = 1, count = rules->count;
    while (slots < 2 * count)
        slots *= 2;
    seen_t seen = { rules->data, memory_new_table (slots * sizeof (uint32_t)), slots - 1 };
    bool *counting = memory_new (count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t number = counts == RULES_FIRST ? i : count - 1 - i;
        counting [number] = s_see (&seen, (uint32_t)number);
    }
    for (size_t i = 0; i < count; i++)
        if (counting [i])
            merges_put (merges, seen.rules [i]);
    memory_free (counting);
    memory_free (seen.slots);
}
