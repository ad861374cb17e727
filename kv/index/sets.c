#include "kv/index/sets.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/memory.h"

enum { INTERNED = 0x40000000, MEMO_BITS = 10, DENSE = 32 };

typedef struct {
    node_t node;            //  Key: xor of the mixed members
    uint32_t count;         //  Members, at least 2
    uint32_t *members;      //  Ascending
    uint64_t *bits;         //  The same, where one in DENSE below the largest is a member; else NULL
    uint32_t words;         //  Of bits up to the largest member
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
    uint64_t member_bytes;           //  Of all rows of members
    uint64_t references;             //  To interned sets, all together
    uint64_t serial;                 //  Last one given
    step_t memo [1 << MEMO_BITS];    //  By a hash of (from, member)
};

sets_t *
sets_new (void)
{
    sets_t *self = memory_new (sizeof *self);
    table_init (&self->interned, sizeof (interned_t));
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
        if (!each->node.key)
            continue;
        memory_free (each->bits);
        memory_free (each->members);
    }
    table_fini (&self->interned);
    memory_free (self);
    *self_p = NULL;
}

bool
sets_shed (sets_t *self)
{
    return table_shed (&self->interned);
}

void
sets_view (const sets_t *self, set_t set, set_view_t *view)
{
    if (set & INTERNED) {
        const interned_t *interned = s_interned (self, set);
        view->members = interned->members;
        view->count = interned->count;
    } else {
        view->single = set;
        view->members = &view->single;
        view->count = set != SETS_EMPTY;
    }
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

bool
sets_has (const sets_t *self, set_t set, uint32_t member)
{
    if (!(set & INTERNED))
        return set == member;
    const interned_t *interned = s_interned (self, set);
    if (interned->bits)    //  One look, not ten
        return member / 64 < interned->words && interned->bits [member / 64] >> member % 64 & 1;
    uint32_t position = s_position (interned->members, interned->count, member);
    return position < interned->count && interned->members [position] == member;
}

static uint32_t
s_words (uint32_t member)
{
    return member / 64 + 1;
}

static void
s_write_bits (const set_view_t *view, uint64_t *words)
{
    for (uint32_t i = 0; i < view->count; i++)
        words [view->members [i] / 64] |= 1ull << view->members [i] % 64;
}

static uint64_t
s_member_bytes (const interned_t *interned)
{
    uint32_t words = interned->bits ? interned->words : 0;
    return interned->count * sizeof (uint32_t) + words * sizeof (uint64_t);
}

//  Keeps a set as bits, if that is not much larger: those of the set it was made from, but for one; `from` is NULL where that
//  has none.
static void
s_add_bits (interned_t *interned, const interned_t *from, uint32_t member)
{
    set_view_t view = { .members = interned->members, .count = interned->count };
    uint32_t largest = view.members [view.count - 1];
    interned->words = s_words (largest);
    if (largest / DENSE >= view.count)
        return;
    interned->bits = memory_new (interned->words * sizeof (uint64_t));
    if (!from) {
        s_write_bits (&view, interned->bits);
        return;
    }
    uint32_t words = from->words < interned->words ? from->words : interned->words;
    memcpy (interned->bits, from->bits, words * sizeof (uint64_t));
    if (member / 64 < interned->words)
        interned->bits [member / 64] ^= 1ull << member % 64;
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
    self->member_bytes -= s_member_bytes (interned);
    interned->serial = 0;
    memory_free (interned->bits);
    memory_free (interned->members);
    table_remove (&self->interned, set & ~(uint32_t)INTERNED);
}

static uint64_t
s_key (const set_view_t *view)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < view->count; i++)
        key ^= hash_u64 (view->members [i]);
    return key;
}

static uint64_t
s_key_of (const sets_t *self, set_t set, const set_view_t *view)
{
    return set & INTERNED ? s_interned (self, set)->node.key : s_key (view);
}

//  Whether `interned` is the view plus the member, or (where it has it) less the member.
static bool
s_is_step (const interned_t *interned, const set_view_t *view, uint32_t position, uint32_t member, bool adding)
{
    const set_view_t now = { .members = interned->members, .count = interned->count };
    const set_view_t *large = adding ? &now : view, *small = adding ? view : &now;
    return large->count == small->count + 1 && large->members [position] == member &&
           !memcmp (large->members, small->members, position * sizeof (uint32_t)) &&
           !memcmp (
               large->members + position + 1, small->members + position, (small->count - position) * sizeof (uint32_t));
}

static void
s_fill (interned_t *interned, const set_view_t *view, uint32_t position, uint32_t member, bool adding)
{
    interned->count = view->count + (adding ? 1 : -1);
    interned->members = memory_resize (NULL, interned->count * sizeof (uint32_t));
    uint32_t *behind = interned->members + position;
    memcpy (interned->members, view->members, position * sizeof (uint32_t));
    if (adding)
        *behind++ = member;
    const uint32_t *rest = view->members + position + !adding;
    memcpy (behind, rest, (size_t)(view->members + view->count - rest) * sizeof (uint32_t));
}

//  The set if it is kept as bits, else NULL.
static const interned_t *
s_with_bits (const sets_t *self, set_t set)
{
    const interned_t *interned = set & INTERNED ? s_interned (self, set) : NULL;
    return interned && interned->bits ? interned : NULL;
}

static void
s_make (
    sets_t *self, set_t set, const set_view_t *view, uint32_t position, uint32_t member, bool adding, uint32_t number)
{
    interned_t *interned = s_interned (self, number);
    s_fill (interned, view, position, member, adding);
    s_add_bits (interned, s_with_bits (self, set), member);
    interned->serial = ++self->serial;
    self->member_bytes += s_member_bytes (interned);
}

static void
s_change_members (interned_t *interned, uint32_t position, uint32_t member, bool adding)
{
    uint32_t count = interned->count + (adding ? 1 : -1), behind = interned->count - position - !adding;
    if (adding)
        interned->members = memory_resize (interned->members, count * sizeof (uint32_t));
    uint32_t *at = interned->members + position;
    memmove (at + adding, at + !adding, behind * sizeof (uint32_t));
    if (adding)
        *at = member;
    else
        interned->members = memory_resize (interned->members, count * sizeof (uint32_t));
    interned->count = count;
}

static void
s_change_bits (interned_t *interned, uint32_t member)
{
    uint32_t largest = interned->members [interned->count - 1];
    if (interned->bits && s_words (largest) == interned->words && largest / DENSE < interned->count) {
        interned->bits [member / 64] ^= 1ull << member % 64;
        return;
    }
    memory_free (interned->bits);
    interned->bits = NULL;
    s_add_bits (interned, NULL, 0);
}

//  Makes a set that nobody else has into the one that is one step away; its number stays.
static void
s_turn (sets_t *self, uint32_t number, uint32_t position, uint32_t member, bool adding, uint64_t key)
{
    interned_t turned = *s_interned (self, number);
    self->member_bytes -= s_member_bytes (&turned);
    s_change_members (&turned, position, member, adding);
    s_change_bits (&turned, member);
    table_remove (&self->interned, number);
    BUG_ON (table_add (&self->interned, key) != number);    //  What was freed last is used first
    turned.node = s_interned (self, number)->node;
    turned.serial = ++self->serial;
    turned.mark = 0;
    *s_interned (self, number) = turned;
    self->member_bytes += s_member_bytes (&turned);
}

//  Finds or makes the set that is one step away, without a reference for the caller yet.  Where nobody else has the set it is
//  made into that.
static set_t
s_step (sets_t *self, set_t set, uint32_t member, bool adding)
{
    set_view_t view;
    sets_view (self, set, &view);
    uint32_t position = s_position (view.members, view.count, member);
    if (view.count + adding == 1)
        return member;
    if (!adding && view.count == 2)
        return view.members [!position];
    uint64_t key = s_key_of (self, set, &view) ^ hash_u64 (member);
    uint32_t number = table_find (&self->interned, key);
    while (number && !s_is_step (s_interned (self, number), &view, position, member, adding))
        number = table_next_equal (&self->interned, number);
    if (!number && set & INTERNED && s_interned (self, set)->references == 1) {
        number = set & ~(uint32_t)INTERNED;
        s_turn (self, number, position, member, adding, key);
    } else if (!number) {
        number = table_add (&self->interned, key);
        s_make (self, set, &view, position, member, adding, number);
    }
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
    const interned_t *interned = set & INTERNED ? s_interned (self, set) : NULL;
    *count = interned ? interned->words : set == SETS_EMPTY ? 0 : s_words (set);
    if (interned && interned->bits)
        return interned->bits;
    set_view_t view;
    sets_view (self, set, &view);
    memset (words, 0, *count * sizeof *words);
    s_write_bits (&view, words);
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
s_check_bits (const interned_t *interned)
{
    uint32_t largest = interned->members [interned->count - 1], count = 0;
    BUG_ON (interned->words != s_words (largest) || !interned->bits != (largest / DENSE >= interned->count));
    for (uint32_t word = 0; interned->bits && word < interned->words; word++)
        count += (uint32_t)__builtin_popcountll (interned->bits [word]);
    for (uint32_t i = 0; interned->bits && i < interned->count; i++)
        BUG_ON (!(interned->bits [interned->members [i] / 64] >> interned->members [i] % 64 & 1));
    BUG_ON (interned->bits && count != interned->count);
}

static void
s_check_set (const interned_t *interned)
{
    set_view_t view = { .members = interned->members, .count = interned->count };
    uint64_t key = s_key (&view);
    BUG_ON (interned->count < 2 || interned->references == 0 || interned->node.key != key || !interned->serial);
    for (uint32_t i = 1; i < interned->count; i++)
        BUG_ON (interned->members [i - 1] >= interned->members [i]);
    s_check_bits (interned);
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
    BUG_ON (s_key_of (self, more, &large) != (s_key_of (self, less, &small) ^ hash_u64 (step->member)));
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
        bytes += s_member_bytes (interned);
        for (uint32_t other = table_next_equal (&self->interned, number); other;
             other = table_next_equal (&self->interned, other)) {
            const interned_t *same = s_interned (self, other);
            BUG_ON (same->count == interned->count &&
                    !memcmp (same->members, interned->members, same->count * sizeof (uint32_t)));
        }
    }
    for (size_t i = 0; i < 1 << MEMO_BITS; i++)
        s_check_step (self, &self->memo [i]);
    BUG_ON (counted != references || counted != self->references || bytes != self->member_bytes);
}
