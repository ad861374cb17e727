//  What is close enough to have been meant.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/suggest.h"

typedef struct {
    const char *typed;
    const char *meant;    //  NULL: nothing is close
} case_t;

static const case_t s_cases [] = {
    { "worker", "worker" },
    { "wokrer", "worker" },     //  Two swapped
    { "workr", "worker" },      //  One left out
    { "workker", "worker" },    //  One put in
    { "wonker", "worker" },     //  One replaced
    { "WORKER", "worker" },     //  Case does not count
    { "body-max", "body_max" },
    { "xyz", NULL },
    { "", NULL },
    { "r", NULL },    //  Everything would be close to one letter
    { "a word that is longer than any that could be meant, by far", NULL },
};

static void
test_a_slip_of_the_hand_is_understood (void **state)
{
    static const char *const words [] = { "router", "worker", "frontend", "body_max", "head_max" };
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; i++) {
        suggest_t suggest;
        suggest_init (&suggest, span_from_string (s_cases [i].typed));
        for (size_t j = 0; j < sizeof words / sizeof *words; j++)
            suggest_offer (&suggest, words [j]);
        if (s_cases [i].meant)
            assert_string_equal (suggest_best (&suggest), s_cases [i].meant);
        else
            assert_null (suggest_best (&suggest));
    }
}

static void
test_the_first_of_equals_wins (void **state)
{
    suggest_t suggest;
    suggest_init (&suggest, SPAN ("cat"));
    suggest_offer (&suggest, "bat");
    suggest_offer (&suggest, "hat");
    assert_string_equal (suggest_best (&suggest), "bat");
}

static void
test_a_complaint_can_end_with_it (void **state)
{
    static const char *const words [] = { "broker", "core", NULL };
    suggest_t suggest;
    suggest_init (&suggest, SPAN ("brokr"));
    suggest_offer_words (&suggest, words);
    assert_string_equal (suggest_text (&suggest), "; did you mean 'broker'?");
    suggest_init (&suggest, SPAN ("nobody"));
    suggest_offer_words (&suggest, words);
    assert_string_equal (suggest_text (&suggest), "");
}

static void
test_what_is_meant_may_be_written_otherwise (void **state)
{
    char name [] = "router-mode";
    suggest_t suggest;
    suggest_init (&suggest, SPAN ("router-mod"));
    suggest_offer_as (&suggest, name, "--router-mode");
    name [0] = '?';    //  Borrowed for the call only
    assert_string_equal (suggest_best (&suggest), "--router-mode");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_slip_of_the_hand_is_understood),
        cmocka_unit_test (test_the_first_of_equals_wins),
        cmocka_unit_test (test_a_complaint_can_end_with_it),
        cmocka_unit_test (test_what_is_meant_may_be_written_otherwise),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
