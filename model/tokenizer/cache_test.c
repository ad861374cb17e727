//  What the caches know of what they no longer hold, and what they do not take.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/tokenizer/cache.h"

static cache_key_t
s_key (uint32_t number)
{
    return cache_key (span_of (&number, sizeof number), sizeof number);
}

static bool
s_holds (const cache_t *cache, uint32_t number)
{
    return cache_get_short (cache_set (cache, s_key (number)), s_key (number));
}

//  Ten times as many as there is room for: of each it is known what it became, or that it may be lost.
static void
test_what_was_one_token_is_held_or_known_to_be_lost (void **state)
{
    enum { PIECES = 10 * 2 << CACHE_LOG_MIN };
    cache_t cache;
    size_t held = 0;
    cache_init (&cache, 1);
    for (uint32_t i = 0; i < PIECES; i++) {
        assert_true (i || !cache_has_lost (&cache, s_key (i)));
        cache_put_short (&cache, s_key (i), &i, 1);
    }
    for (uint32_t i = 0; i < PIECES; i++) {
        assert_true (s_holds (&cache, i) || cache_has_lost (&cache, s_key (i)));
        held += s_holds (&cache, i);
    }
    assert_in_range (held, 1 << CACHE_LOG_MIN, 2 << CACHE_LOG_MIN);
    cache_fini (&cache);
}

//  Where only pieces of more tokens were pushed out, no look into the vocabulary is needed.
static void
test_what_was_more_tokens_is_not_called_lost (void **state)
{
    enum { PIECES = 10 * 2 << CACHE_LOG_MIN };
    cache_t cache;
    cache_init (&cache, 1);
    for (uint32_t i = 0; i < PIECES; i++)
        cache_put_short (&cache, s_key (i), (const uint32_t [2]){ i, i }, 2);
    for (uint32_t i = 0; i < PIECES; i++)
        assert_false (cache_has_lost (&cache, s_key (i)));
    cache_fini (&cache);
}

static void
test_a_stretch_comes_again_when_it_came_before_and_is_then_remembered (void **state)
{
    static const uint32_t ids [] = { 1, 2, 3 };
    cache_t cache;
    uint32_t count;
    cache_init (&cache, 1);
    span_t first = SPAN ("    return NULL;\n"), other = SPAN ("    return self;\n");
    uint64_t hash = cache_hash (&cache, CACHE_STRETCH, first);
    assert_false (cache_comes_again (&cache, hash));
    assert_false (cache_comes_again (&cache, cache_hash (&cache, CACHE_STRETCH, other)));
    assert_null (cache_get (&cache, CACHE_STRETCH, first, hash, &count));
    assert_true (cache_comes_again (&cache, hash));
    cache_put (&cache, CACHE_STRETCH, first, hash, ids, 3);
    assert_memory_equal (cache_get (&cache, CACHE_STRETCH, first, hash, &count), ids, sizeof ids);
    assert_int_equal (count, 3);
    cache_fini (&cache);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_was_one_token_is_held_or_known_to_be_lost),
        cmocka_unit_test (test_what_was_more_tokens_is_not_called_lost),
        cmocka_unit_test (test_a_stretch_comes_again_when_it_came_before_and_is_then_remembered),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
