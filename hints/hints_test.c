//  The story of a request's hints: read, chosen, answered, written back.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hints/hints.h"

typedef struct {
    arena_t arena;          //  Of the hints
    hints_t hints;          //  Under test
    envelope_t envelope;    //  What they came to
    buffer_t text;          //  Their receipts
} story_t;

//  headers: name, value, name, value, ..., NULL.
static void
s_begin (story_t *self, const char *const *headers, const char *body)
{
    *self = (story_t){ 0 };
    arena_init (&self->arena, SIZE_MAX);
    hints_init (&self->hints, &self->arena);
    for (; *headers; headers += 2)
        hints_read_header (&self->hints, span_from_string (headers [0]), span_from_string (headers [1]));
    json_t *tree = NULL;
    assert_int_equal (json_parse (span_from_string (body), &tree, NULL), STATUS_OK);
    hints_read_body (&self->hints, tree);
    json_destroy (&tree);
    hints_choose (&self->hints, &self->envelope);
}

static const char *
s_receipts (story_t *self)
{
    buffer_clear (&self->text);
    hints_render (&self->hints, &self->text);
    return buffer_string (&self->text);
}

static void
s_end (story_t *self)
{
    buffer_fini (&self->text);
    arena_fini (&self->arena);
}

#define NO_HEADERS ((const char *const []){ NULL })

static void
test_nothing_said_is_nothing_answered (void **state)
{
    story_t story;
    s_begin (&story, (const char *const []){ "user-agent", "curl", NULL }, "{\"model\":\"m\"}");
    hints_close (&story.hints);
    assert_string_equal (s_receipts (&story), "");
    assert_false (story.envelope.has_session || story.envelope.has_priority);
    s_end (&story);
}

static void
test_our_own_object_says_everything (void **state)
{
    story_t story;
    s_begin (&story, NO_HEADERS,
        "{\"stator\":{\"hints\":{\"priority\":5,\"expected_output\":200,\"session\":\"s\",\"agent\":\"a\",\"parent\":"
        "\"p\","
        "\"final\":true,\"turns_left\":3}}}");
    assert_int_equal (story.envelope.priority, 5);
    assert_int_equal (story.envelope.expected_output, 200);
    assert_true (span_equal (story.envelope.session, SPAN ("s")));
    assert_true (span_equal (story.envelope.agent, SPAN ("a")));
    assert_true (span_equal (story.envelope.parent, SPAN ("p")));
    assert_true (story.envelope.has_final && story.envelope.final);
    assert_int_equal (story.envelope.turns_left, 3);
    s_end (&story);
}

//  Claude Code, Codex and OpenCode as they were seen to speak.
static void
test_harnesses_are_understood (void **state)
{
    static const struct {
        const char *headers [9];
        const char *session, *agent, *parent;
    } cases [] = {
        { { "X-Claude-Code-Session-Id", "c1", NULL }, "c1", "", "" },
        { { "x-claude-code-session-id", "c1", "x-claude-code-agent-id", "a7", NULL }, "c1", "a7", "" },
        { { "session-id", "root", "thread-id", "t2", "x-codex-parent-thread-id", "t1", NULL }, "root", "t2", "t1" },
        { { "x-session-id", "o1", "x-session-affinity", "o1", NULL }, "o1", "o1", "" },
        { { "x-session-id", "o2", "x-session-affinity", "o2", "x-parent-session-id", "o1", NULL }, "o1", "o2", "o1" },
        { { "x-dynamo-session-id", "d2", "x-dynamo-parent-session-id", "d1", NULL }, "d1", "d2", "d1" },
        { { "X-SMG-Routing-Key", "k", NULL }, "k", "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases [0]; i++) {
        story_t story;
        s_begin (&story, cases [i].headers, "{}");
        assert_true (span_equal_string (story.envelope.session, cases [i].session));
        assert_true (span_equal_string (story.envelope.agent, cases [i].agent));
        assert_true (span_equal_string (story.envelope.parent, cases [i].parent));
        s_end (&story);
    }
}

static void
test_priorities_have_one_polarity_here (void **state)
{
    static const struct {
        const char *headers [3];
        const char *body;
        int priority;
    } cases [] = {
        { { "x-vllm-priority", "-3", NULL }, "{}", 3 },
        { { "x-dynamo-request-priority", "4", NULL }, "{}", 4 },
        { { NULL }, "{\"service_tier\":\"flex\"}", -10 },
        { { NULL }, "{\"service_tier\":\"auto\"}", 0 },
        { { NULL }, "{\"service_tier\":\"priority\"}", 10 },
        { { NULL }, "{\"nvext\":{\"agent_hints\":{\"priority\":-2}}}", -2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases [0]; i++) {
        story_t story;
        s_begin (&story, cases [i].headers, cases [i].body);
        assert_true (story.envelope.has_priority);
        assert_int_equal (story.envelope.priority, cases [i].priority);
        s_end (&story);
    }
}

//  The earlier source counts, whatever the order of arrival; who says the same is not scolded.
static void
test_the_earlier_source_counts (void **state)
{
    story_t story;
    s_begin (&story, (const char *const []){ "x-correlation-id", "c", "x-session-affinity", "s", NULL },
        "{\"prompt_cache_key\":\"s\"}");
    assert_true (span_equal (story.envelope.session, SPAN ("s")));
    hints_answer (&story.hints, HINT_SESSION, OUTCOME_ACCEPTED, SPAN (""));
    hints_close (&story.hints);
    assert_string_equal (s_receipts (&story),
        "session:x-correlation-id=rejected(x-session-affinity counts), session:x-session-affinity=accepted, "
        "session:prompt_cache_key=accepted");
    s_end (&story);
}

static void
test_out_of_range_is_clipped_with_a_receipt (void **state)
{
    story_t story;
    s_begin (&story, NO_HEADERS,
        "{\"stator\":{\"hints\":{\"priority\":99999999999,\"turns_left\":-1,\"expected_output\":18446744073709551615}}"
        "}");
    assert_int_equal (story.envelope.priority, HINT_PRIORITY_MAX);
    assert_int_equal (story.envelope.turns_left, 0);
    assert_int_equal (story.envelope.expected_output, HINT_TOKENS_MAX);
    hints_answer (&story.hints, HINT_PRIORITY, OUTCOME_ACCEPTED, SPAN (""));
    hints_answer (&story.hints, HINT_TURNS_LEFT, OUTCOME_ACCEPTED, SPAN (""));
    hints_answer (&story.hints, HINT_EXPECTED_OUTPUT, OUTCOME_REJECTED, SPAN ("not used"));
    assert_string_equal (s_receipts (&story), "priority:stator.hints.priority=clipped(3600), "
                                              "expected_output:stator.hints.expected_output=rejected(not used), "
                                              "turns_left:stator.hints.turns_left=clipped(0)");
    s_end (&story);
}

static void
test_what_cannot_be_read_is_rejected_and_the_next_source_counts (void **state)
{
    story_t story;
    s_begin (&story, (const char *const []){ "x-vllm-priority", "soon", "x-session-id", "", NULL },
        "{\"service_tier\":\"priority\",\"stator\":{\"hints\":{\"session\":{},\"prio\":1}},\"user\":\"u\"}");
    assert_int_equal (story.envelope.priority, 10);
    assert_true (span_equal (story.envelope.session, SPAN ("u")));
    assert_false (story.envelope.has_agent);
    const char *receipts = s_receipts (&story);
    assert_non_null (strstr (receipts, "priority:x-vllm-priority=rejected(not a whole number)"));
    assert_non_null (strstr (receipts, "session:x-session-id=rejected(empty)"));
    assert_non_null (strstr (receipts, "session:stator.hints.session=rejected(not a plain value)"));
    assert_non_null (strstr (receipts, "prio=rejected(no hint of this name)"));
    assert_non_null (strstr (receipts, "priority:service_tier=deferred"));
    s_end (&story);
}

static void
test_what_means_nothing_in_our_objects_is_told (void **state)
{
    static const struct {
        const char *body;       //  What is asked
        const char *receipt;    //  The only one
    } cases [] = {
        { "{\"stator\":{\"hnts\":{\"priority\":1}}}", "hnts=rejected(no hint of this name)" },
        { "{\"stator\":{\"hint\":{}}}", "hint=rejected(no hint of this name)" },
        { "{\"stator\":{\"hints\":{\"prio\":1}}}", "prio=rejected(no hint of this name)" },
        { "{\"stator\":{\"hints\":[1]}}", "stator.hints=rejected(not an object)" },
        { "{\"stator\":5}", "stator=rejected(not an object)" },
        { "{\"stator\":{\"hints\":{}}}", "" },
        { "{\"somebody\":5}", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases [0]; i++) {
        story_t story;
        s_begin (&story, NO_HEADERS, cases [i].body);
        assert_string_equal (s_receipts (&story), cases [i].receipt);
        s_end (&story);
    }
}

static void
test_each_hint_has_one_final_answer (void **state)
{
    story_t story;
    s_begin (&story, NO_HEADERS, "{\"stator\":{\"hints\":{\"priority\":1,\"final\":true,\"session\":\"s\"}}}");
    receipt_t receipts [] = {
        { .hint = SPAN ("priority"), .outcome = OUTCOME_DEFERRED },
        { .hint = SPAN ("priority"), .outcome = OUTCOME_ACCEPTED },
        { .hint = SPAN ("priority"), .outcome = OUTCOME_REJECTED, .has_reason = true, .reason = SPAN ("too late") },
        { .hint = SPAN ("color"), .outcome = OUTCOME_REJECTED },
        { .hint = SPAN ("session"), .outcome = OUTCOME_REJECTED, .has_reason = true, .reason = SPAN ("saturated") },
    };
    hints_answer_all (&story.hints, receipts, sizeof receipts / sizeof receipts [0]);
    hints_close (&story.hints);
    hints_answer (&story.hints, HINT_FINAL, OUTCOME_ACCEPTED, SPAN (""));
    assert_string_equal (s_receipts (&story),
        "session:stator.hints.session=rejected(saturated), final:stator.hints.final=rejected(nobody acts on it), "
        "priority:stator.hints.priority=accepted");
    s_end (&story);
}

//  However much is said, and however strangely, the text fits a header and is plain.
static void
test_receipts_fit_a_header (void **state)
{
    buffer_t body = { 0 };
    buffer_append_string (&body, "{\"stator\":{\"hints\":{\"\\u0007\\u20ac\":1");
    for (int i = 0; i < 100; i++)
        buffer_print (&body, ",\"a-very-long-name-that-means-nothing-%d\":1", i);
    buffer_append_string (&body, "}}}");
    story_t story;
    s_begin (&story, (const char *const []){ "x-session-id", "s", NULL }, buffer_string (&body));
    const char *receipts = s_receipts (&story);
    assert_true (strlen (receipts) <= HINTS_TEXT_MAX);
    assert_non_null (strstr (receipts, "____=rejected"));
    assert_non_null (strstr (receipts, ", more="));
    assert_int_equal (story.hints.count, HINTS_MAX);
    assert_int_equal (story.hints.count + story.hints.dropped, 2 + 101);
    buffer_fini (&body);
    s_end (&story);
}

static void
test_identities_are_bounded_text (void **state)
{
    char longer [HINT_IDENTITY_MAX + 2];
    memset (longer, 'a', sizeof longer - 1);
    longer [sizeof longer - 1] = '\0';
    const char *values [] = { longer, "tab\there", "\xff", "" };
    for (size_t i = 0; i < sizeof values / sizeof values [0]; i++) {
        story_t story;
        s_begin (&story, (const char *const []){ "x-session-affinity", values [i], NULL }, "{}");
        assert_false (story.envelope.has_session);
        assert_non_null (strstr (s_receipts (&story), "=rejected("));
        s_end (&story);
    }
}

//  The manual's table is kept by hand: it must name every source.
static void
test_the_manual_names_every_source (void **state)
{
    static char text [1 << 16];
    FILE *file = fopen ("docs/http.md", "r");
    assert_non_null (file);
    text [fread (text, 1, sizeof text - 1, file)] = '\0';
    fclose (file);
    for (size_t i = 0; i < hint_source_count; i++)
        if (hint_sources [i].rule != HINT_READS_NOT)
            assert_non_null (strstr (text, hint_sources [i].name));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_nothing_said_is_nothing_answered),
        cmocka_unit_test (test_our_own_object_says_everything),
        cmocka_unit_test (test_harnesses_are_understood),
        cmocka_unit_test (test_priorities_have_one_polarity_here),
        cmocka_unit_test (test_the_earlier_source_counts),
        cmocka_unit_test (test_out_of_range_is_clipped_with_a_receipt),
        cmocka_unit_test (test_what_cannot_be_read_is_rejected_and_the_next_source_counts),
        cmocka_unit_test (test_what_means_nothing_in_our_objects_is_told),
        cmocka_unit_test (test_each_hint_has_one_final_answer),
        cmocka_unit_test (test_receipts_fit_a_header),
        cmocka_unit_test (test_identities_are_bounded_text),
        cmocka_unit_test (test_the_manual_names_every_source),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
