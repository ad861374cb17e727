//  Interned sets against bit masks, over random operations from a printed seed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "kv/index/sets.h"

enum { OWNERS = 300, MEMBERS = 24, OPERATIONS = 200000 };

static uint32_t
s_mask (const sets_t *sets, set_t set)
{
    set_view_t view;
    sets_view (sets, set, &view);
    uint32_t mask = 0;
    while (view.left)
        mask |= 1u << sets_next (&view);
    uint64_t words [1];
    uint32_t count;
    const uint64_t *bits = sets_bits (sets, set, words, &count);
    assert_int_equal (count, mask != 0);
    assert_true (mask == 0 || bits [0] == mask);
    return mask;
}

static uint64_t
s_references (const set_t *owned, size_t count)
{
    uint64_t references = 0;
    for (size_t i = 0; i < count; i++)
        references += sets_is_interned (owned [i]);
    return references;
}

static void
s_assert_same_masks_are_same_sets (const sets_t *sets, const set_t *owned, const uint32_t *masks)
{
    for (int i = 0; i < OWNERS; i++)
        for (int k = 0; k < i; k++)
            assert_int_equal (owned [i] == owned [k], masks [i] == masks [k]);
    sets_check (sets, s_references (owned, OWNERS));
}

static void
test_equal_sets_have_one_number (void **state)
{
    set_t owned [OWNERS] = { 0 };
    uint32_t masks [OWNERS] = { 0 };
    uint64_t seed = 20261129;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    sets_t *sets = sets_new ();
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t owner = (uint32_t)random_below (&random, OWNERS);
        uint32_t member = 1 + (uint32_t)random_below (&random, random_chance (&random, 800000) ? 4 : MEMBERS);
        bool has = masks [owner] >> member & 1;
        assert_int_equal (sets_has (sets, owned [owner], member), has);
        owned [owner] = has ? sets_without (sets, owned [owner], member) : sets_with (sets, owned [owner], member);
        masks [owner] ^= 1u << member;
        assert_int_equal (s_mask (sets, owned [owner]), masks [owner]);
        if (i % 5000 == 0)
            s_assert_same_masks_are_same_sets (sets, owned, masks);
    }
    for (int i = 0; i < OWNERS; i++)
        sets_release (sets, owned [i]);
    sets_check (sets, 0);
    assert_int_equal (sets_count (sets), 0);
    sets_destroy (&sets);
    assert_null (sets);
}

enum { LARGE_OWNERS = 12, LARGEST = 5000 };

static void
s_assert_members (const sets_t *sets, set_t set, const bool *has)
{
    set_view_t view;
    sets_view (sets, set, &view);
    uint32_t count = 0, words_count;
    uint64_t words [LARGEST / 64 + 1];
    const uint64_t *bits = sets_bits (sets, set, words, &words_count);
    for (uint32_t member = 1; member < LARGEST; member++) {
        assert_int_equal (sets_has (sets, set, member), has [member]);
        assert_int_equal (member / 64 < words_count && bits [member / 64] >> member % 64 & 1, has [member]);
        count += has [member];
        if (has [member])
            assert_int_equal (sets_next (&view), member);
    }
    assert_int_equal (view.count, count);
    assert_int_equal (sets_next (&view), 0);
    assert_true (sets_bytes (sets) < 100000);
}

//  Sets get large and small again, and their members close and far apart: bits become members and members bits.
static void
test_sets_are_what_they_are_in_any_form (void **state)
{
    static bool has [LARGE_OWNERS][LARGEST];
    set_t owned [LARGE_OWNERS] = { 0 };
    uint64_t seed = 20261130;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    sets_t *sets = sets_new ();
    for (int i = 0; i < 80000; i++) {
        uint32_t owner = (uint32_t)random_below (&random, LARGE_OWNERS), reach = 100u << owner / 2;
        uint32_t member = 1 + (uint32_t)random_below (&random, (reach < LARGEST ? reach : LARGEST) - 1);
        bool adding = random_chance (&random, i / 20000 % 2 ? 5000 : 800000);
        if (has [owner][member] == adding)
            continue;
        owned [owner] = adding ? sets_with (sets, owned [owner], member) : sets_without (sets, owned [owner], member);
        has [owner][member] = adding;
        if (i % 100 == 0)
            s_assert_members (sets, owned [owner], has [owner]);
        sets_check (sets, s_references (owned, LARGE_OWNERS));
    }
    for (uint32_t owner = 0; owner < LARGE_OWNERS; owner++)
        sets_release (sets, owned [owner]);
    sets_check (sets, 0);
    sets_destroy (&sets);
}

//  A mark is the set's, and a new set with an old number has none.
static void
test_marks_do_not_outlive_their_set (void **state)
{
    sets_t *sets = sets_new ();
    set_t set = sets_with (sets, sets_with (sets, SETS_EMPTY, 1), 2);
    sets_mark (sets, set, 7);
    assert_true (sets_is_marked (sets, set, 7));
    sets_release (sets, set);
    set_t other = sets_with (sets, sets_with (sets, SETS_EMPTY, 1), 3);
    assert_int_equal (other, set);
    assert_false (sets_is_marked (sets, other, 7));
    sets_release (sets, other);
    sets_destroy (&sets);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_equal_sets_have_one_number),
        cmocka_unit_test (test_sets_are_what_they_are_in_any_form),
        cmocka_unit_test (test_marks_do_not_outlive_their_set),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
