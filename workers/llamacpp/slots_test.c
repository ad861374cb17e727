//  Slots against a naive oracle: what is told of blocks is what lies in the slots.

#include "workers/llamacpp/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/random.h"

enum { SLOTS = 3, BLOCK = 4, TOKENS = 64 };

static namespace_t s_space;
static map_t *s_told;         //  How many copies were told of, by the first 64 bits
static uintptr_t s_copies;    //  All of them

static void
s_add_copies (uint64_t hash, intptr_t copies)
{
    uintptr_t before = (uintptr_t)map_remove_u64 (s_told, hash);
    uintptr_t after = before + (uintptr_t)copies;
    assert_true (after < 100);
    s_copies += (uintptr_t)copies;
    if (after)
        map_put_u64 (s_told, hash, (void *)after);
}

static void
s_on_stored (void *arg, hash128_t parent, const hash128_t *hashes, size_t count)
{
    if (!hash128_equal (parent, SEQUENCE_ROOT))
        assert_non_null (map_get_u64 (s_told, parent.high));
    for (size_t i = 0; i < count; i++)
        s_add_copies (hashes [i].high, 1);
}

static void
s_on_removed (void *arg, const uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        s_add_copies (hashes [i], -1);
}

static slots_t *
s_begin (void)
{
    namespace_init_model (&s_space, SPAN ("secret"), 1, BLOCK, NULL);
    s_told = map_new (0);
    s_copies = 0;
    return slots_new (SLOTS, &s_space, &(slots_watch_t){ s_on_stored, s_on_removed, NULL });
}

static void
s_end (slots_t *slots)
{
    slots_destroy (&slots);
    map_destroy (&s_told);
}

static column_t
s_prompt (uint32_t *tokens, size_t count, uint32_t first)
{
    for (size_t i = 0; i < count; i++)
        tokens [i] = first + (uint32_t)i;
    return column_of_u32 (tokens, count);
}

static void
test_a_conversation_stays_in_its_slot (void **state)
{
    slots_t *slots = s_begin ();
    uint32_t a [TOKENS], b [TOKENS];
    uint32_t first = slots_choose (slots, s_prompt (a, 10, 100));
    assert_int_equal (slots_begin (slots, first, column_of_u32 (a, 10)), 0);
    slots_reused (slots, first, 0);
    slots_computed (slots, first, 10);
    assert_int_equal (s_copies, 2);
    uint32_t answer [] = { 110, 111, 112 };
    slots_generated (slots, first, answer, 3);
    assert_int_equal (s_copies, 3);
    slots_end (slots, first, 12, 1);
    assert_int_equal (slots_tokens (slots, first), 12);

    uint32_t second = slots_choose (slots, s_prompt (b, 10, 500));
    assert_int_not_equal (first, second);
    slots_begin (slots, second, column_of_u32 (b, 10));
    slots_computed (slots, second, 10);
    slots_end (slots, second, 10, 2);

    assert_int_equal (slots_choose (slots, s_prompt (a, 20, 100)), first);
    assert_int_equal (slots_begin (slots, first, column_of_u32 (a, 20)), 12);
    slots_end (slots, first, SIZE_MAX, 3);
    s_end (slots);
}

//  A prompt that is in the slot already keeps all but one token.
static void
test_the_last_token_is_always_computed (void **state)
{
    slots_t *slots = s_begin ();
    uint32_t a [TOKENS];
    slots_begin (slots, 0, s_prompt (a, 8, 1));
    slots_computed (slots, 0, 8);
    slots_end (slots, 0, 8, 1);
    assert_int_equal (s_copies, 2);
    assert_int_equal (slots_begin (slots, 0, column_of_u32 (a, 8)), 7);
    assert_int_equal (s_copies, 1);
    slots_computed (slots, 0, 8);
    assert_int_equal (s_copies, 2);
    s_end (slots);
}

//  A short common beginning does not cost another conversation its slot.
static void
test_a_slot_is_not_given_away_for_little (void **state)
{
    slots_t *slots = s_begin ();
    uint32_t a [TOKENS], b [TOKENS];
    slots_begin (slots, 0, s_prompt (a, 40, 1));
    slots_computed (slots, 0, 40);
    slots_end (slots, 0, 40, 1);
    s_prompt (b, 40, 1);
    b [10] = 999;
    assert_int_equal (slots_choose (slots, column_of_u32 (b, 40)), 1);
    b [10] = 11;
    b [25] = 999;
    assert_int_equal (slots_choose (slots, column_of_u32 (b, 40)), 0);
    s_end (slots);
}

static void
test_less_than_believed_removes_blocks (void **state)
{
    slots_t *slots = s_begin ();
    uint32_t a [TOKENS];
    slots_begin (slots, 0, s_prompt (a, 40, 1));
    slots_computed (slots, 0, 40);
    slots_end (slots, 0, 40, 1);
    assert_int_equal (slots_begin (slots, 0, column_of_u32 (a, 40)), 39);
    slots_reused (slots, 0, 13);
    assert_int_equal (s_copies, 3);
    slots_reused (slots, 0, 200);
    assert_int_equal (slots_tokens (slots, 0), 13);
    s_end (slots);
}

//  One random request after another in random slots: what is told of is the whole blocks of what they hold.
static void
test_blocks_follow_the_slots (void **state)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_t random;
        random_init (&random, seed);
        slots_t *slots = s_begin ();
        for (int step = 0; step < 60; step++) {
            uint32_t tokens [TOKENS];
            size_t count = 1 + random_below (&random, TOKENS / 2);
            for (size_t i = 0; i < count; i++)
                tokens [i] = (uint32_t)random_below (&random, i < 8 ? 2 : 3);
            uint32_t slot = slots_choose (slots, column_of_u32 (tokens, count));
            size_t predicted = slots_begin (slots, slot, column_of_u32 (tokens, count));
            assert_true (predicted < count);
            slots_reused (slots, slot, random_below (&random, predicted + 2));
            size_t computed = 1 + random_below (&random, count);
            slots_computed (slots, slot, computed);
            if (random_below (&random, 4)) {
                uint32_t answer [TOKENS / 2];
                size_t said = 1 + random_below (&random, TOKENS / 2);
                for (size_t i = 0; i < said; i++)
                    answer [i] = (uint32_t)random_below (&random, 3);
                slots_generated (slots, slot, answer, said);
            }
            slots_end (
                slots, slot, random_below (&random, 2) ? SIZE_MAX : random_below (&random, TOKENS), (uint64_t)step);

            uintptr_t expected = 0;
            for (uint32_t i = 0; i < SLOTS; i++)
                expected += slots_tokens (slots, i) / BLOCK;
            if (s_copies != expected)
                fail_msg ("seed %llu step %d: %zu blocks told of, %zu in the slots", (unsigned long long)seed, step,
                    (size_t)s_copies, (size_t)expected);
        }
        s_end (slots);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_conversation_stays_in_its_slot),
        cmocka_unit_test (test_the_last_token_is_always_computed),
        cmocka_unit_test (test_a_slot_is_not_given_away_for_little),
        cmocka_unit_test (test_less_than_believed_removes_blocks),
        cmocka_unit_test (test_blocks_follow_the_slots),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
