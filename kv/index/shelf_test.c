//  A shelf over random operations from a printed seed: what is on it is what was put there, without holes.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/random.h"
#include "kv/index/shelf.h"

enum { PIECES = 2000, OPERATIONS = 50000, SIZE_MAX_TESTED = 5000 };

//  Says whose it is, at both ends.
typedef struct {
    uint32_t *first;    //  Its owner
    uint32_t *last;     //  The same
} piece_t;

static piece_t
s_piece (void *memory, size_t size)
{
    return (piece_t){ memory, (uint32_t *)memory + size / sizeof (uint32_t) - 1 };
}

static void
s_take (shelf_t *shelf, void **owned, uint32_t owner)
{
    owned [owner] = shelf_take (shelf);
    piece_t piece = s_piece (owned [owner], shelf->piece_size);
    *piece.first = *piece.last = owner;
}

static void
s_give (shelf_t *shelf, void **owned, uint32_t owner)
{
    uint32_t *moved = shelf_give (shelf, owned [owner]);
    if (moved) {
        assert_ptr_equal (moved, owned [owner]);
        owned [*moved] = moved;
    }
    owned [owner] = NULL;
}

static size_t
s_count_owned (const shelf_t *shelf, void *const *owned)
{
    size_t count = 0;
    for (uint32_t owner = 0; owner < PIECES; owner++) {
        if (!owned [owner])
            continue;
        piece_t piece = s_piece (owned [owner], shelf->piece_size);
        assert_int_equal (*piece.first, owner);
        assert_int_equal (*piece.last, owner);
        count++;
    }
    return count;
}

//  Takes and gives pieces of one size, more of the one first and more of the other then.
static void
s_play (random_t *random, size_t piece_size)
{
    static void *owned [PIECES];
    shelf_t shelf;
    shelf_init (&shelf, piece_size);
    memset (owned, 0, sizeof owned);
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t owner = (uint32_t)random_below (random, PIECES);
        bool taking = random_chance (random, i < OPERATIONS / 2 ? 900000 : 100000);
        if (taking && !owned [owner])
            s_take (&shelf, owned, owner);
        else if (!taking && owned [owner])
            s_give (&shelf, owned, owner);
        assert_true (shelf.pages.count << shelf.bits < shelf.count + (2u << shelf.bits));
        if (i % 5000 == 0)
            assert_int_equal (shelf.count, s_count_owned (&shelf, owned));
    }
    assert_int_equal (shelf.count, s_count_owned (&shelf, owned));
    shelf_fini (&shelf);
}

static void
test_pieces_move_where_one_is_given_back (void **state)
{
    uint64_t seed = 20261130;
    print_message ("seed %llu\n", (unsigned long long)seed);
    random_t random;
    random_init (&random, seed);
    for (size_t size = 40; size <= SIZE_MAX_TESTED; size = size * 5 / 16 * 8)
        s_play (&random, size);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_pieces_move_where_one_is_given_back),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
