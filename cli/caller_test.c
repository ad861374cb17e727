//  What a caller refuses to send.

#include "cli/caller.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "runtime/port.h"
#include "schemas/worker.h"

enum { PATIENCE_MS = 100 };

//  Nobody answers there.
static caller_t *
s_caller (void)
{
    error_t error;
    caller_t *caller = caller_new ("inproc://nobody", &error);
    assert_non_null (caller);
    return caller;
}

//  The callee would hang up without a word: so the sentence comes from here, at once, and the next call is another one.
static void
test_a_message_that_nobody_would_take_is_not_sent (void **state)
{
    tokenize_reply_t reply;
    arena_t arena;
    error_t error;
    uint8_t *text = memory_new (SOCKET_MESSAGE_MAX);
    tokenize_t request = { .model = SPAN ("m"), .text = span_of (text, SOCKET_MESSAGE_MAX) };
    caller_t *caller = s_caller ();
    arena_init (&arena, SOCKET_MESSAGE_MAX);
    assert_int_equal (
        caller_call (caller, &tokenize_message, &request, PATIENCE_MS, &arena, &reply, &error), STATUS_LIMIT);
    assert_non_null (strstr (error.text, " bytes was not sent: it may have 68157440"));
    request.text = SPAN ("hello");
    assert_int_equal (
        caller_call (caller, &tokenize_message, &request, PATIENCE_MS, &arena, &reply, &error), STATUS_DEADLINE);
    caller_destroy (&caller);
    arena_fini (&arena);
    memory_free (text);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_message_that_nobody_would_take_is_not_sent),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
