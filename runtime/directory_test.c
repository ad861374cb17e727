//  The directory as actors know it, in the simulated world.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "runtime/call.h"
#include "runtime/directory.h"
#include "schemas/directory.h"
#include "tests/stage_broker.h"

enum { KEYS = 300 };

static const actor_handler_t s_handlers [] = { HANDLERS_END };
static const actor_class_t s_part_class = { .name = "part", .state_size = 1, .handlers = s_handlers };
static const actor_class_t s_watcher_class = { .name = "watcher", .state_size = 1, .handlers = s_handlers };

static stage_t *s_stage;

static void
s_begin (void)
{
    const stage_actor_t actors [] = { { .class = &s_part_class, .instance = "a", .machine = "m1" },
        { .class = &s_part_class, .instance = "b", .machine = "m2" },
        { .class = &s_part_class, .instance = "c", .machine = "m3" }, { .class = &s_watcher_class, .instance = "0" },
        { .class = &s_watcher_class, .instance = "1", .machine = "m1" } };
    s_stage = stage_with_broker (5, actors, sizeof actors / sizeof *actors);
    stage_run (s_stage, REALM_SECOND);
}

static span_t
s_owner (const char *watcher, int key)
{
    char text [32];
    snprintf (text, sizeof text, "session %d", key);
    const actor_entry_t *owner = directory_owner (stage_find (s_stage, watcher), "part", span_from_string (text));
    return owner ? owner->address : SPAN ("");
}

static void
test_everybody_names_the_same_owner_and_all_get_some (void **state)
{
    int counts [3] = { 0 };
    s_begin ();
    for (int key = 0; key < KEYS; key++) {
        span_t owner = s_owner ("watcher/0", key);
        assert_true (span_equal (owner, s_owner ("watcher/1", key)));
        counts [owner.data [5] - 'a']++;
    }
    for (int i = 0; i < 3; i++)
        assert_in_range (counts [i], KEYS / 6, KEYS / 2);
    stage_destroy (&s_stage);
}

//  When one leaves, only what it owned moves.
static void
test_only_the_keys_of_a_lost_owner_move (void **state)
{
    char before [KEYS];
    s_begin ();
    for (int key = 0; key < KEYS; key++)
        before [key] = (char)s_owner ("watcher/0", key).data [5];
    stage_crash (s_stage, "part/b");
    stage_run (s_stage, 7 * REALM_SECOND);
    for (int key = 0; key < KEYS; key++) {
        char now = (char)s_owner ("watcher/0", key).data [5];
        assert_true (before [key] == 'b' ? now != 'b' : now == before [key]);
    }
    stage_destroy (&s_stage);
}

//  Who says goodbye is gone at once; who only dies is unreachable when its lease is over.
static void
test_a_goodbye_is_quicker_than_a_lease (void **state)
{
    s_begin ();
    const actor_t *watcher = stage_find (s_stage, "watcher/0");
    stage_drain (s_stage, "part/a");
    stage_crash (s_stage, "part/b");
    stage_run (s_stage, REALM_SECOND);
    assert_null (directory_find (watcher, SPAN ("part/a")));
    assert_int_equal (directory_find (watcher, SPAN ("part/b"))->state, ACTOR_STATE_ALIVE);
    stage_run (s_stage, 6 * REALM_SECOND);
    assert_int_equal (directory_find (watcher, SPAN ("part/b"))->state, ACTOR_STATE_UNREACHABLE);
    stage_destroy (&s_stage);
}

//  The broker forgets everything at its restart; its actors do not let it show.
static void
test_a_restarted_broker_reports_nobody_absent (void **state)
{
    s_begin ();
    stage_crash (s_stage, "broker/0");
    stage_run (s_stage, 20 * REALM_SECOND);
    stage_start (s_stage, "broker/0");
    for (int i = 0; i < 100; i++) {
        stage_run (s_stage, REALM_SECOND / 10);
        size_t cursor = 0;
        const actor_entry_t *entry;
        while ((entry = directory_next (stage_find (s_stage, "watcher/0"), "part", &cursor)))
            assert_int_equal (entry->state, ACTOR_STATE_ALIVE);
    }
    stage_destroy (&s_stage);
}

//  The new broker has never heard of whoever ended while there was none: followers must find out by themselves.
static void
test_whoever_ended_while_the_broker_was_away_is_forgotten (void **state)
{
    s_begin ();
    const actor_t *watcher = stage_find (s_stage, "watcher/0");
    stage_crash (s_stage, "broker/0");
    stage_crash (s_stage, "part/b");
    stage_start (s_stage, "broker/0");
    stage_run (s_stage, 20 * REALM_SECOND);
    assert_int_equal (directory_find (watcher, SPAN ("part/b"))->state, ACTOR_STATE_UNREACHABLE);
    stage_run (s_stage, 601 * REALM_SECOND);
    assert_null (directory_find (watcher, SPAN ("part/b")));
    assert_int_equal (directory_find (watcher, SPAN ("part/a"))->state, ACTOR_STATE_ALIVE);
    stage_destroy (&s_stage);
}

//  ---- Registrations that make no sense ------------------------------------------------------------------------------

typedef struct {
    status_t status;         //  Of a refusal
    uint64_t incarnation;    //  What the broker wants it to be
} registration_t;

static registration_t s_last;
static call_t s_call;

static void
s_on_registered (void *state, void *arg, call_result_t result, const void *reply)
{
    s_last = (registration_t){ call_error (&s_call)->status, 0 };
    if (result == CALL_REPLIED)
        s_last = (registration_t){ STATUS_OK, ((const register_reply_t *)reply)->incarnation };
}

static registration_t
s_register (const char *address, uint64_t incarnation)
{
    register_actor_t request = { .entry = { .address = span_from_string (address),
                                     .incarnation = incarnation,
                                     .lease_ms = 5000,
                                     .state = ACTOR_STATE_ALIVE } };
    call_start (&s_call, stage_find (s_stage, "watcher/0"),
        &(call_options_t){ .address = SPAN ("broker/0"),
            .type = &register_actor_message,
            .request = &request,
            .timeout_ns = REALM_SECOND,
            .done = s_on_registered });
    stage_run (s_stage, 2 * REALM_SECOND);
    return s_last;
}

//  Whoever took the last number there is would keep the address for ever: the next one could not be above it.
static void
test_an_incarnation_beyond_all_time_is_refused (void **state)
{
    s_begin ();
    assert_int_equal (s_register ("part/z", UINT64_MAX).status, STATUS_INVALID);
    assert_int_equal (s_register ("part/z", INT64_MAX).incarnation, INT64_MAX);
    assert_int_equal (s_register ("part/z", 5).incarnation, (uint64_t)INT64_MAX + 1);
    assert_int_equal (s_register ("part/z", (uint64_t)INT64_MAX + 1).incarnation, (uint64_t)INT64_MAX + 2);
    stage_destroy (&s_stage);
}

static void
test_what_is_no_address_is_refused (void **state)
{
    static const char *const addresses [] = { "", "part", "/", "part/", "/z", "part/y/z", "part/y z", "part/y.z",
        "pa.rt/z", "part/\n" };
    s_begin ();
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        assert_int_equal (s_register (addresses [i], 1).status, STATUS_INVALID);
    stage_destroy (&s_stage);
}

//  ---- The directory, page by page -----------------------------------------------------------------------------------

typedef struct {
    call_t call;                //  For the next page
    char last [ADDRESS_MAX];    //  Address of the page before
    size_t pages;               //  So far
    size_t entries;             //  So far
    bool whole;                 //  There are no further ones
} listing_t;

static void
s_on_page (void *state, void *arg, call_result_t result, const void *reply)
{
    listing_t *self = arg;
    const list_actors_reply_t *page = reply;
    assert_int_equal (result, CALL_REPLIED);
    for (size_t i = 0; i < page->actors_count; i++) {
        assert_true (span_compare (span_from_string (self->last), page->actors [i].address) < 0);
        span_copy_string (page->actors [i].address, self->last, sizeof self->last);
    }
    self->pages++;
    self->entries += page->actors_count;
    self->whole = !page->more;
}

//  All entries of a service.
static listing_t
s_list (const char *service)
{
    listing_t listing = { .pages = 0 };
    while (!listing.whole) {
        list_actors_t request = { .has_service = true,
            .service = span_from_string (service),
            .has_after = true,
            .after = span_from_string (listing.last) };
        call_start (&listing.call, stage_find (s_stage, "watcher/0"),
            &(call_options_t){ .address = SPAN ("broker/0"),
                .type = &list_actors_message,
                .request = &request,
                .timeout_ns = REALM_SECOND,
                .done = s_on_page,
                .arg = &listing });
        stage_run (s_stage, REALM_SECOND);
    }
    return listing;
}

static void
test_a_large_directory_comes_in_pages_each_entry_once (void **state)
{
    enum { MANY = 2500 };
    s_begin ();
    for (int i = 0; i < MANY; i++) {
        char address [ADDRESS_MAX];
        snprintf (address, sizeof address, "many/%d", i);
        register_actor_t request = { .entry = { .address = span_from_string (address),
                                         .incarnation = 1,
                                         .lease_ms = 3600000,
                                         .state = ACTOR_STATE_ALIVE } };
        call_start (&s_call, stage_find (s_stage, "watcher/0"),
            &(call_options_t){ .address = SPAN ("broker/0"),
                .type = &register_actor_message,
                .request = &request,
                .timeout_ns = REALM_SECOND,
                .done = s_on_registered });
        stage_run (s_stage, REALM_SECOND / 100);
    }
    listing_t listing = s_list ("many");
    assert_int_equal (listing.entries, MANY);
    assert_int_equal (listing.pages, 3);
    stage_destroy (&s_stage);
}

//  Whoever is silent is unreachable after its lease, and out of the directory after ten minutes of that.
static void
test_the_silent_leave_the_directory (void **state)
{
    s_begin ();
    stage_crash (s_stage, "part/b");
    stage_run (s_stage, 590 * REALM_SECOND);
    assert_int_equal (
        directory_find (stage_find (s_stage, "watcher/0"), SPAN ("part/b"))->state, ACTOR_STATE_UNREACHABLE);
    assert_int_equal (s_list ("part").entries, 3);
    stage_run (s_stage, 30 * REALM_SECOND);
    assert_int_equal (s_list ("part").entries, 2);
    stage_destroy (&s_stage);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_everybody_names_the_same_owner_and_all_get_some),
        cmocka_unit_test (test_only_the_keys_of_a_lost_owner_move),
        cmocka_unit_test (test_a_goodbye_is_quicker_than_a_lease),
        cmocka_unit_test (test_a_restarted_broker_reports_nobody_absent),
        cmocka_unit_test (test_whoever_ended_while_the_broker_was_away_is_forgotten),
        cmocka_unit_test (test_an_incarnation_beyond_all_time_is_refused),
        cmocka_unit_test (test_what_is_no_address_is_refused),
        cmocka_unit_test (test_a_large_directory_comes_in_pages_each_entry_once),
        cmocka_unit_test (test_the_silent_leave_the_directory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
