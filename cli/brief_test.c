//  Messages in a few words: what is there is said, what is long is cut, and nothing reaches a terminal that it would obey.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "cli/brief.h"
#include "schemas/host.h"
#include "schemas/kv.h"
#include "schemas/route.h"

static void
s_expect (const message_type_t *type, const void *message, const char *expected)
{
    buffer_t text = { 0 };
    brief_append (type, message, &text);
    assert_string_equal (buffer_string (&text), expected);
    buffer_fini (&text);
}

static void
test_fields_are_named_and_absent_ones_left_out (void **state)
{
    host_process_t process = {
        .name = SPAN ("broker"), .state = PROCESS_STATE_RUNNING, .pid = 7, .uptime_ms = 12, .command = SPAN ("x")
    };
    s_expect (&host_process_message, &process, "name=broker state=running pid=7 restarts=0 uptime_ms=12 command=x");
    process.has_last_exit = true;
    process.last_exit = -1;
    s_expect (&host_process_message, &process,
        "name=broker state=running pid=7 restarts=0 last_exit=-1 uptime_ms=12 command=x");
}

static void
test_structs_are_opened_and_lists_counted (void **state)
{
    process_changed_t event = { .process = { .name = SPAN ("a"), .state = PROCESS_STATE_LOOPING },
        .has_reason = true,
        .reason = SPAN ("it crashed") };
    s_expect (&process_changed_message, &event,
        "process={name=a state=looping pid=0 restarts=0 uptime_ms=0 command=} reason=it crashed");
    uint8_t hashes [2 * HASH128_SIZE] = { 0xab, 0xcd, 0xef, 0x01 };
    kv_removed_t removed = { .hashes = { hashes, 2 } };
    buffer_t text = { 0 };
    brief_append (&kv_removed_message, &removed, &text);
    assert_non_null (strstr (buffer_string (&text), "hashes=[2]"));
    buffer_fini (&text);
}

static void
test_text_is_cut_and_made_harmless (void **state)
{
    char long_name [300];
    memset (long_name, 'n', sizeof long_name);
    host_process_t process = {
        .name = span_of (long_name, sizeof long_name), .state = PROCESS_STATE_RUNNING, .command = SPAN ("\x1b[2J\n\x7f")
    };
    buffer_t text = { 0 };
    brief_append (&host_process_message, &process, &text);
    assert_non_null (strstr (buffer_string (&text), "n... state"));
    assert_non_null (strstr (buffer_string (&text), "command=?[2J??"));
    buffer_fini (&text);
    brief_append_text (SPAN ("worker/\x1b]0;"), 9, &text);
    assert_string_equal (buffer_string (&text), "worker/?]...");
    buffer_fini (&text);
}

static void
test_durations_have_two_units (void **state)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } cases [] = { { 0, "0ms" }, { 999, "999ms" }, { 1000, "1.0s" }, { 59999, "59.9s" }, { 61000, "1min 1s" },
        { 3600000, "1h 0min" }, { 90000000, "1d 1h" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer_t text = { 0 };
        brief_append_ms (cases [i].ms, &text);
        assert_string_equal (buffer_string (&text), cases [i].text);
        buffer_fini (&text);
    }
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_fields_are_named_and_absent_ones_left_out),
        cmocka_unit_test (test_structs_are_opened_and_lists_counted),
        cmocka_unit_test (test_text_is_cut_and_made_harmless),
        cmocka_unit_test (test_durations_have_two_units),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
