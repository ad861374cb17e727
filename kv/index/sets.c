#include "kv/index/sets.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    INTERNED = 0x40000000,    //  Marks the number of a set that is interned; without it the set is one seat
    MEMO_BITS = 10            //  Of the number of steps that are remembered
};

typedef struct {
    node_t node;       //  Key: xor of the mixed members
    uint32_t count;    //  Members, at least 2
    union {
        uint32_t *members;    //  Ascending
        uint64_t *bits;       //  Up to the largest member, where that takes no more room
    };
    uint32_t words;         //  Of bits; 0 where there are members
    uint32_t references;    //  Never 0
    uint64_t serial;        //  Of this set, so that a remembered step notices that the number is another's; 0: nobody's
    uint64_t mark;          //  The caller's
} interned_t;

//  "from with (or without) member is to", while both serials still hold.
typedef struct {
    set_t from;              //  Before
    uint32_t member;         //  Added or removed
    set_t to;                //  After; SETS_EMPTY while unused: a step to the empty set needs no memory
    uint64_t from_serial;    //  Of `from` at the time
    uint64_t to_serial;      //  Of `to` at the time
} step_t;

struct sets {
    table_t interned;                //  interned_t
    uint64_t member_bytes;           //  Of all members and bits
    uint64_t references;             //  To interned sets, all together
    uint64_t serial;                 //  Last one given
    array_t words;                   //  uint64_t: bits of a set that is being made
    array_t row;                     //  uint32_t: its members
    step_t memo [1 << MEMO_BITS];    //  By a hash of (from, member)
};

sets_t *
sets_new (void)
{
    sets_t *self = memory_new (sizeof *self);
    table_init (&self->interned, sizeof (interned_t));
    array_init (&self->words, sizeof (uint64_t));
    array_init (&self->row, sizeof (uint32_t));
    return self;
}

static interned_t *
s_interned (const sets_t *self, set_t set)
{
    return table_at (&self->interned, set & ~(uint32_t)INTERNED);
}

void
sets_destroy (sets_t **self_p)
{
    sets_t *self = *self_p;
    if (!self)
        return;
    for (uint32_t number = 1; number < table_bound (&self->interned); number++) {
        interned_t *each = s_interned (self, number);
        if (each->node.key)
            memory_free (each->members);
    }
    array_fini (&self->row);
    array_fini (&self->words);
    table_fini (&self->interned);
    memory_free (self);
    *self_p = NULL;
}

bool
sets_shed (sets_t *self)
{
    return table_shed (&self->interned);
}

static void
s_view (const interned_t *interned, set_view_t *view)
{
    *view = (set_view_t){ .count = interned->count, .left = interned->count };
    if (interned->words)
        view->bits = interned->bits;
    else
        view->members = interned->members;
}

void
sets_view (const sets_t *self, set_t set, set_view_t *view)
{
    if (set & INTERNED) {
        s_view (s_interned (self, set), view);
        return;
    }
    uint32_t count = set != SETS_EMPTY;
    *view = (set_view_t){ .count = count, .left = count, .members = &view->single, .single = set };
}

//  Position of the first member that is not below this one.
static uint32_t
s_position (const uint32_t *members, uint32_t count, uint32_t member)
{
    uint32_t low = 0;
    while (count) {
        uint32_t half = count / 2;
        if (members [low + half] < member) {
            low += half + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low;
}

static uint32_t
s_words (uint32_t member)
{
    return member / 64 + 1;
}

bool
sets_has (const sets_t *self, set_t set, uint32_t member)
{
    if (!(set & INTERNED))
        return set == member;
    const interned_t *interned = s_interned (self, set);
    if (interned->words)
        return s_words (member) <= interned->words && interned->bits [member / 64] >> member % 64 & 1;
    uint32_t position = s_position (interned->members, interned->count, member);
    return position < interned->count && interned->members [position] == member;
}

static void
s_write_bits (set_view_t view, uint64_t *words)
{
    for (uint32_t member; (member = sets_next (&view)) != 0;)
        words [member / 64] |= 1ull << member % 64;
}

//  Bytes of its bits or members.
static size_t
s_bytes (const interned_t *interned)
{
    return interned->words ? interned->words * sizeof (uint64_t) : interned->count * sizeof (uint32_t);
}

void
sets_retain (sets_t *self, set_t set)
{
    if (set & INTERNED) {
        s_interned (self, set)->references++;
        self->references++;
    }
}

void
sets_release (sets_t *self, set_t set)
{
    if (!(set & INTERNED))
        return;
    interned_t *interned = s_interned (self, set);
    self->references--;
    if (--interned->references)
        return;
    self->member_bytes -= s_bytes (interned);
    interned->serial = 0;
    memory_free (interned->members);
    table_remove (&self->interned, set & ~(uint32_t)INTERNED);
}

static uint64_t
s_key (set_view_t view)
{
    uint64_t key = 0;
    for (uint32_t member; (member = sets_next (&view)) != 0;)
        key ^= hash_u64 (member);
    return key;
}

//  ---- Making a set that is one step away, in memory that is kept for it ---------------------------------------------

//  From bits: as bits, but for one.
static void
s_flip (sets_t *self, const interned_t *from, uint32_t member, interned_t *made)
{
    uint32_t words = from->words > s_words (member) ? from->words : s_words (member);
    array_cut (&self->words, 0);
    made->bits = array_append (&self->words, NULL, words);
    memcpy (made->bits, from->bits, from->words * sizeof (uint64_t));
    made->bits [member / 64] ^= 1ull << member % 64;
    while (!made->bits [words - 1])
        words--;
    made->words = words;
}

//  From members: as members, with one more or one less.
static void
s_insert (sets_t *self, const uint32_t *members, uint32_t count, uint32_t member, interned_t *made)
{
    uint32_t position = s_position (members, count, member);
    bool adding = made->count > count;
    array_cut (&self->row, 0);
    array_append (&self->row, members, position);
    array_append (&self->row, &member, adding);
    array_append (&self->row, members + position + !adding, count - position - !adding);
    made->members = self->row.data;
    made->words = 0;
}

//  Members as bits.
static void
s_pack (sets_t *self, interned_t *made, uint32_t words)
{
    set_view_t view;
    s_view (made, &view);
    array_cut (&self->words, 0);
    made->bits = array_append (&self->words, NULL, words);
    made->words = words;
    s_write_bits (view, made->bits);
}

//  Bits as members.
static void
s_unpack (sets_t *self, interned_t *made)
{
    set_view_t view;
    s_view (made, &view);
    array_cut (&self->row, 0);
    uint32_t *next = array_append (&self->row, NULL, made->count);
    made->members = next;
    made->words = 0;
    while (view.left)
        *next++ = sets_next (&view);
}

//  Makes the set, in the form that takes less room; its count is set.
static void
s_make (sets_t *self, set_t set, uint32_t member, interned_t *made)
{
    const interned_t *from = set & INTERNED ? s_interned (self, set) : NULL;
    if (from && from->words)
        s_flip (self, from, member, made);
    else
        s_insert (self, from ? from->members : &set, from ? from->count : 1, member, made);
    uint32_t words = made->words ? made->words : s_words (made->members [made->count - 1]);
    bool are_bits = words * sizeof (uint64_t) <= made->count * sizeof (uint32_t);
    if (are_bits && !made->words)
        s_pack (self, made, words);
    else if (!are_bits && made->words)
        s_unpack (self, made);
}

static bool
s_is_equal (const interned_t *a, const interned_t *b)
{
    return a->count == b->count && a->words == b->words && !memcmp (a->members, b->members, s_bytes (a));
}

//  Gives a node what was made.
static void
s_keep (sets_t *self, uint32_t number, const interned_t *made)
{
    interned_t *interned = s_interned (self, number);
    interned->count = made->count;
    interned->words = made->words;
    interned->members = memcpy (memory_resize (NULL, s_bytes (made)), made->members, s_bytes (made));
    interned->serial = ++self->serial;
    self->member_bytes += s_bytes (made);
}

//  Another node in the place of that of a set that only the caller has, with its number and references.
static void
s_replace (sets_t *self, uint32_t number, uint64_t key)
{
    interned_t *interned = s_interned (self, number);
    uint32_t references = interned->references;
    self->member_bytes -= s_bytes (interned);
    memory_free (interned->members);
    table_remove (&self->interned, number);
    BUG_ON (table_add (&self->interned, key) != number);    //  What was freed last is used first
    interned->references = references;
}

//  Finds or makes the set that is one step away, without a reference for the caller yet.  Where nobody else has the set it is
//  made into that.
static set_t
s_step (sets_t *self, set_t set, uint32_t member, bool adding)
{
    set_view_t view;
    sets_view (self, set, &view);
    if (view.count + adding == 1)
        return member;
    if (!adding && view.count == 2) {
        uint32_t first = sets_next (&view);
        return first == member ? sets_next (&view) : first;
    }
    interned_t made = { .count = adding ? view.count + 1 : view.count - 1 };
    s_make (self, set, member, &made);
    uint64_t key = (set & INTERNED ? s_interned (self, set)->node.key : s_key (view)) ^ hash_u64 (member);
    uint32_t number = table_find (&self->interned, key);
    while (number && !s_is_equal (s_interned (self, number), &made))
        number = table_next_equal (&self->interned, number);
    if (number)
        return number | INTERNED;
    if (set & INTERNED && s_interned (self, set)->references == 1)
        s_replace (self, number = set & ~(uint32_t)INTERNED, key);
    else
        number = table_add (&self->interned, key);
    s_keep (self, number, &made);
    return number | INTERNED;
}

static uint64_t
s_serial (const sets_t *self, set_t set)
{
    return set & INTERNED ? s_interned (self, set)->serial : 0;
}

static set_t
s_remembered_step (sets_t *self, set_t set, uint32_t member, bool adding)
{
    uint64_t mixed = ((uint64_t)set << 32 | member) * 0x9E3779B97F4A7C15u;
    step_t *step = &self->memo [mixed >> (64 - MEMO_BITS)];
    bool known = step->from == set && step->member == member && step->to && step->from_serial == s_serial (self, set) &&
                 step->to_serial == s_serial (self, step->to);
    if (!known) {
        step->from_serial = s_serial (self, set);
        step->to = s_step (self, set, member, adding);
        step->to_serial = s_serial (self, step->to);
        step->from = set;
        step->member = member;
    }
    sets_retain (self, step->to);
    set_t to = step->to;
    sets_release (self, set);
    return to;
}

set_t
sets_with (sets_t *self, set_t set, uint32_t member)
{
    BUG_ON (member == 0 || member > SETS_MEMBER_MAX);
    return set == SETS_EMPTY ? member : s_remembered_step (self, set, member, true);
}

set_t
sets_without (sets_t *self, set_t set, uint32_t member)
{
    return set == member ? SETS_EMPTY : s_remembered_step (self, set, member, false);
}

const uint64_t *
sets_bits (const sets_t *self, set_t set, uint64_t *words, uint32_t *count)
{
    set_view_t view;
    sets_view (self, set, &view);
    if (view.bits) {
        *count = s_interned (self, set)->words;
        return view.bits;
    }
    *count = view.count ? s_words (view.members [view.count - 1]) : 0;
    memset (words, 0, *count * sizeof *words);
    s_write_bits (view, words);
    return words;
}

void
sets_prefetch (const sets_t *self, set_t set)
{
    if (set & INTERNED)
        __builtin_prefetch (&s_interned (self, set)->bits);
}

void
sets_prefetch_bits (const sets_t *self, set_t set)
{
    if (set & INTERNED)
        __builtin_prefetch (s_interned (self, set)->bits);
}

bool
sets_is_marked (const sets_t *self, set_t set, uint64_t mark)
{
    return (set & INTERNED) && s_interned (self, set)->mark == mark;
}

void
sets_mark (sets_t *self, set_t set, uint64_t mark)
{
    if (set & INTERNED)
        s_interned (self, set)->mark = mark;
}

bool
sets_is_interned (set_t set)
{
    return set & INTERNED;
}

uint32_t
sets_count (const sets_t *self)
{
    return self->interned.count;
}

uint64_t
sets_bytes (const sets_t *self)
{
    return table_bytes (&self->interned) + self->member_bytes;
}

static void
s_check_bits (const interned_t *interned, uint32_t largest)
{
    uint32_t count = 0;
    BUG_ON ((interned->words != 0) != (s_words (largest) * 2 <= interned->count));
    for (uint32_t word = 0; word < interned->words; word++)
        count += (uint32_t)__builtin_popcountll (interned->bits [word]);
    BUG_ON (interned->words && (count != interned->count || interned->words != s_words (largest)));
}

static void
s_check_set (const interned_t *interned)
{
    set_view_t view;
    s_view (interned, &view);
    BUG_ON (
        interned->count < 2 || interned->references == 0 || interned->node.key != s_key (view) || !interned->serial);
    uint32_t last = 0;
    while (view.left) {
        uint32_t member = sets_next (&view);
        BUG_ON (member <= last);
        last = member;
    }
    s_check_bits (interned, last);
}

//  A step that would be remembered leads where it says: one set is the other and the member.
static void
s_check_step (const sets_t *self, const step_t *step)
{
    bool known =
        step->to && step->from_serial == s_serial (self, step->from) && step->to_serial == s_serial (self, step->to);
    if (!known)
        return;
    bool adding = !sets_has (self, step->from, step->member);
    set_t less = adding ? step->from : step->to, more = adding ? step->to : step->from;
    set_view_t small, large;
    sets_view (self, less, &small);
    sets_view (self, more, &large);
    BUG_ON (large.count != small.count + 1 || !sets_has (self, more, step->member));
    BUG_ON (s_key (large) != (s_key (small) ^ hash_u64 (step->member)));
}

void
sets_check (const sets_t *self, uint64_t references)
{
    uint64_t counted = 0, bytes = 0;
    table_check (&self->interned);
    for (uint32_t number = 1; number < table_bound (&self->interned); number++) {
        const interned_t *interned = s_interned (self, number);
        if (!interned->node.key)
            continue;
        s_check_set (interned);
        counted += interned->references;
        bytes += s_bytes (interned);
        for (uint32_t other = table_next_equal (&self->interned, number); other;
             other = table_next_equal (&self->interned, other)) {
            const interned_t *same = s_interned (self, other);
            BUG_ON (s_is_equal (same, interned));
        }
    }
    for (size_t i = 0; i < 1 << MEMO_BITS; i++)
        s_check_step (self, &self->memo [i]);
    BUG_ON (counted != references || counted != self->references || bytes != self->member_bytes);
}
