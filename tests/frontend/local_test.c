//  Prompts that a frontend makes itself: after it was compared with the engine, as long as it does what the engine does.

#include "tests/frontend/fixture.h"
#include "tests/held_job.h"

enum { PROBES = 5, FINGERPRINT = 9 };

//  Two special tokens, a few letters, and bytes for the rest.
#define VOCABULARY                                                                                               \
    "{\"added_tokens\":[{\"id\":300,\"content\":\"<m>\",\"special\":true},{\"id\":301,\"content\":\"</m>\","     \
    "\"special\":true}],\"pre_tokenizer\":{\"type\":\"Digits\",\"individual_digits\":true},"                     \
    "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"h\":2," \
    "\"i\":3,\"hi\":4},\"merges\":[\"h i\"]}}"
#define SAY                                                                                        \
    "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}" \
    "<m>{{ m.role }} {{ m.content }}</m>\n{% endfor %}"

static span_t s_files [BUNDLE_FILES];

static void
s_begin (size_t workers)
{
    fixture_begin (0);
    fixture_options [0].local_prompts = true;
    fixture_options [0].memo = 1 << 20;
    fixture_options [0].check_every = 1000;
    stage_crash (fixture_stage, "frontend/0");
    stage_start (fixture_stage, "frontend/0");
    s_files [BUNDLE_TOKENIZER] = SPAN (VOCABULARY);
    s_files [BUNDLE_TEMPLATE] = SPAN (SAY);
    fixture_engine = true;
    fixture_files = s_files;
    for (size_t i = 0; i < workers; i++)
        fixture_add_worker (i, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
}

static void
s_describe (buffer_t *text)
{
    actor_t *frontend = stage_find (fixture_stage, "frontend/0");
    frontend_class.describe (actor_state (frontend), frontend, text);
}

static void
s_check_said (const char *sentence)
{
    buffer_t text = { 0 };
    s_describe (&text);
    if (!strstr (buffer_string (&text), sentence))
        fail_msg ("%s", buffer_string (&text));
    buffer_fini (&text);
}

//  Of the models of a name together, or of the one with a fingerprint; UINT64_MAX: there is none.
static uint64_t
s_metric_of (const char *metric, const char *label)
{
    metrics_t *metrics = actor_metrics (stage_find (fixture_stage, "frontend/0"));
    size_t cursor = 0;
    const char *name, *labels;
    int64_t value;
    uint64_t sum = UINT64_MAX;
    buffer_t text = { 0 };
    actor_render_metrics (stage_find (fixture_stage, "frontend/0"), &text);    //  Has it measured
    buffer_fini (&text);
    while (metrics_next (metrics, &cursor, &name, &labels, &value))
        if (strcmp (name, metric) == 0 && strstr (labels, label))
            sum = (sum == UINT64_MAX ? 0 : sum) + (uint64_t)value;
    return sum;
}

static uint64_t
s_metric (const char *metric)
{
    return s_metric_of (metric, "model_name=\"local\"");
}

#define SAYS(text) "{\"model\":\"local\",\"max_tokens\":3,\"messages\":[" text "]}"
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"

static chat_t *
s_ask (const char *body)
{
    chat_t *chat = fixture_ask (body);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_true (chat->ended && chat->end == STATUS_OK);
    return chat;
}

//  ---- Made here -----------------------------------------------------------------------------------------------------

static void
test_prompts_are_made_here_once_they_were_compared (void **state)
{
    s_begin (1);
    s_check_said ("; prompts of local are made here");
    assert_int_equal (fixture_scripts [0].renderings, PROBES - 1);    //  One of them cannot be rendered here
    assert_int_equal (s_ask (SAYS (USER ("hi 12")))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, PROBES - 1);
    assert_int_equal (
        fixture_scripts [0].prompt_tokens, 12);    //  <m>, 5 unknown letters of "user ", hi, " ", 1, 2, </m>, "\n"
    assert_int_equal (s_metric ("stator_local_prompts"), 1);
    assert_int_equal (s_metric ("stator_prompts_checked_total"), PROBES - 1);
    assert_int_equal (s_metric ("stator_prompts_differing_total"), UINT64_MAX);
    fixture_end ();
}

static void
test_a_turn_costs_what_is_new_in_it (void **state)
{
    s_begin (1);
    uint64_t bytes = s_metric ("stator_memo_bytes_total");
    s_ask (SAYS (USER ("a question of some length, a question of some length")));
    s_ask (SAYS (USER ("a question of some length, a question of some length") "," USER ("hi")));
    assert_int_equal (s_metric ("stator_memo_bytes_total") - bytes, 65 + 65 + 15);
    assert_int_equal (s_metric ("stator_memo_bytes_known_total"), 64);
    fixture_end ();
}

static unsigned s_jobs;               //  Started
static port_table_t s_counting;       //  A frontend's port, but that jobs are counted
static const port_table_t *s_port;    //  As it is

static void
s_count_job (port_t *port, job_fn *run, job_done_fn *done, void *arg, void *data)
{
    s_jobs++;
    s_port->job_start (port, run, done, arg, data);
}

//  A short conversation is read at once, but for what its template makes of it.
static void
test_a_template_that_takes_long_holds_nobody_up (void **state)
{
    s_begin (0);
    s_files [BUNDLE_TEMPLATE] =
        SPAN ("{% for i in range(100000 if messages[-1].content == 'hi' else 1) %}{% set x = i %}"
              "{% endfor %}{{ messages[-1].content * (9000 if messages[-1].content == 'aaaaaaaa' else 1) }}");
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    port_t *port = actor_port (stage_find (fixture_stage, "frontend/0"));
    s_port = port->table;
    s_counting = *s_port;
    s_counting.job_start = s_count_job;
    port->table = &s_counting;
    s_jobs = 0;
    assert_int_equal (s_ask (SAYS (USER ("a")))->status, 200);
    assert_int_equal (s_jobs, 0);
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    assert_int_equal (s_jobs, 1);
    assert_int_equal (fixture_scripts [0].prompt_tokens, 1);
    assert_int_equal (s_ask (SAYS (USER ("aaaaaaaa")))->status, 400);    //  Longer than the context
    assert_int_equal (s_jobs, 2);
    assert_int_equal (s_metric ("stator_local_prompts"), 1);
    fixture_end ();
}

//  A template that would go on and on gives its place to others; the engine may have more time.
static void
test_a_template_that_takes_too_long_is_given_up (void **state)
{
    s_begin (0);
    s_files [BUNDLE_TEMPLATE] = SPAN ("{% if messages[-1].content == 'hi' %}{% for i in range(1500) %}"
                                      "{% for j in range(1500) %}{% endfor %}{% endfor %}{% endif %}a");
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    uint32_t before = fixture_scripts [0].renderings;
    assert_int_equal (s_ask (SAYS (USER ("a")))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, before);
    assert_int_equal (s_metric ("stator_prompts_too_long_total"), UINT64_MAX);
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, before + 1);
    assert_int_equal (s_metric ("stator_prompts_too_long_total"), 1);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

//  Long conversations are worked on elsewhere, one at a time; who leaves meanwhile is forgotten.
static void
test_long_conversations_take_turns_and_some_leave (void **state)
{
    enum { SIZE = 200000, CHATS = 4 };
    size_t left = 0;
    s_begin (1);
    buffer_t text = { 0 };
    buffer_print (&text, "{\"model\":\"local\",\"messages\":[{\"role\":\"user\",\"content\":\"%0*d\"}]}", SIZE, 7);
    const char *body = buffer_string (&text);
    for (uint64_t step = 0; step < 20; step++) {
        for (size_t i = 0; i < CHATS; i++)
            fixture_fetch (i, URL, body, NULL, 0);
        stage_run (fixture_stage, step * REALM_MS / 4);
        chat_t *leaver = &fixture_chats [step % CHATS];
        left += leaver->fetch != NULL;
        if (leaver->fetch)
            fixture_port ()->fetch_cancel (leaver->fetch);
        leaver->fetch = NULL;
        stage_run (fixture_stage, REALM_SECOND);
        for (size_t i = 0; i < CHATS; i++)
            assert_true (fixture_chats [i].status == 400 || i == step % CHATS);    //  Longer than the context
    }
    assert_true (left > 5);
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    buffer_fini (&text);
    fixture_end ();
}

//  What a conversation became in memory may have millions of parts, which nobody may have to wait for.
static void
test_a_conversation_that_nobody_waits_for_goes_aside (void **state)
{
    enum { SIZE = 50000 };
    buffer_t text = { 0 };
    s_begin (1);
    held_job_begin (actor_port (stage_find (fixture_stage, "frontend/0")));
    buffer_print (&text, SAYS ("{\"role\":\"user\",\"content\":\"%0*d\"}"), SIZE, 7);
    for (size_t i = 0; i < 2; i++) {
        fixture_fetch (i, URL, buffer_string (&text), NULL, 0);
        stage_run (fixture_stage, REALM_SECOND);
    }
    assert_int_equal (held_job_others, 0);
    fixture_port ()->fetch_cancel (fixture_chats [1].fetch);
    fixture_chats [1].fetch = NULL;
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (held_job_others, 1);
    held_job_end ();
    stage_run (fixture_stage, REALM_SECOND);
    assert_int_equal (fixture_chats [0].status, 400);    //  Longer than the context
    assert_null (held_job.run);
    buffer_fini (&text);
    fixture_end ();
}

//  ---- Answers -------------------------------------------------------------------------------------------------------

#define TOOLS "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{}}}],"

static chat_t *
s_hear_by (span_t template, const char *says, const char *members, uint32_t stop_after)
{
    buffer_t body = { 0 };
    s_begin (0);
    s_files [BUNDLE_TEMPLATE] = template;
    fixture_says = says;
    fixture_scripts [0].stop_after = stop_after;
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    buffer_print (&body, "{\"model\":\"local\",%s\"messages\":[" USER ("hi") "]}", members);
    chat_t *chat = s_ask (buffer_string (&body));
    assert_int_equal (chat->status, 200);
    buffer_fini (&body);
    return chat;
}

static chat_t *
s_hear (const char *says, const char *members, uint32_t stop_after)
{
    return s_hear_by (SPAN (SAY "{# <tool_call> #}"), says, members, stop_after);
}

//  Every token counts, whatever of it the client is shown.
static void
test_thoughts_and_calls_are_told_apart (void **state)
{
    static const char says [] =
        "<think>\nHm.\n</think>\n\nSo.<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    enum { SIZE = sizeof says - 1 };
    chat_t *chat = s_hear (says, TOOLS, SIZE);
    assert_int_equal (fixture_ended.last.completion_tokens, SIZE);
    assert_true (fixture_contains (chat, "\"content\":\"So.\""));
    assert_true (fixture_contains (chat, "\"reasoning_content\":\"Hm.\""));
    assert_true (fixture_contains (chat, "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]"));
    assert_true (fixture_contains (chat, "\"finish_reason\":\"tool_calls\""));
    fixture_end ();
    chat = s_hear (says, TOOLS "\"stream\":true,", SIZE);
    assert_true (fixture_contains (chat, "\"delta\":{\"reasoning_content\":\"H"));
    assert_true (fixture_contains (chat, "{\"tool_calls\":[{\"index\":0,\"id\":\"call_"));
    assert_true (fixture_contains (chat, "\"finish_reason\":\"tool_calls\""));
    assert_false (fixture_contains (chat, "tool_call>"));
    fixture_end ();
    chat = s_hear (says, "", SIZE);
    assert_true (fixture_contains (chat, "<tool_call>"));
    assert_true (fixture_contains (chat, "\"finish_reason\":\"stop\""));
    fixture_end ();
}

//  A model may call as one family does and think as another, or think and not call; its prompt may begin the thoughts.
static void
test_thoughts_may_be_of_another_family_than_calls (void **state)
{
    static const char says [] = "[THINK]Hm.[/THINK]So.<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    chat_t *chat = s_hear_by (SPAN (SAY "{# [THINK] <tool_call> #}"), says, TOOLS, sizeof says - 1);
    assert_true (fixture_contains (chat, "\"content\":\"So.\""));
    assert_true (fixture_contains (chat, "\"reasoning_content\":\"Hm.\""));
    assert_true (fixture_contains (chat, "\"finish_reason\":\"tool_calls\""));
    fixture_end ();
    chat = s_hear_by (SPAN (SAY "[THINK]{# <tool_call> #}"), says + 7, TOOLS, sizeof says - 8);
    assert_true (fixture_contains (chat, "\"content\":\"So.\""));
    assert_true (fixture_contains (chat, "\"reasoning_content\":\"Hm.\""));
    fixture_end ();
}

//  At the limit there is no more than what was written, and no sign that the call is whole.
static void
test_a_limit_cuts_a_call (void **state)
{
    static const char says [] =
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"path\": \"abcdefghijklmnopqrstuvwxyz\"}}";
    chat_t *chat = s_hear (says, TOOLS "\"max_tokens\":52,", 0);
    assert_true (fixture_contains (chat, "\"arguments\":\"{\\\"path\\\": \\\"abc\"}}]"));
    assert_true (fixture_contains (chat, "\"finish_reason\":\"length\""));
    fixture_end ();
}

//  ---- The engine's word counts --------------------------------------------------------------------------------------

static void
test_an_engine_that_differs_makes_the_prompts (void **state)
{
    fixture_differs = UINT32_MAX;
    s_begin (1);
    s_check_said ("; prompts of local are made by its engines, since theirs of a probe's conversation has");
    uint32_t before = fixture_scripts [0].renderings;
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, before + 1);
    assert_int_equal (s_metric ("stator_local_prompts"), 0);
    assert_int_equal (s_metric ("stator_prompts_differing_total"), 1);
    fixture_end ();
}

//  The first comparison has to wait for the engine; what comes meanwhile is the engine's.
static void
test_nothing_is_made_here_before_it_was_compared (void **state)
{
    fixture_busy = 1;
    s_begin (0);
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 200 * REALM_MS);
    s_check_said ("made by its engines until ours were compared with theirs");
    fixture_ask (SAYS (USER ("hi")));
    stage_run (fixture_stage, 200 * REALM_MS);
    assert_int_equal (fixture_scripts [0].renderings, 2);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

//  An engine that has no time for it is asked ever less often.
static void
test_an_engine_that_cannot_be_compared_with_is_left_in_peace (void **state)
{
    fixture_busy = 1000;
    s_begin (1);
    stage_run (fixture_stage, 60 * REALM_SECOND);
    assert_in_range (fixture_scripts [0].renderings, 4, 8);
    s_check_said ("made by its engines until ours were compared with theirs");
    fixture_busy = 0;
    stage_run (fixture_stage, 120 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

static void
test_each_of_two_models_of_a_name_is_measured (void **state)
{
    s_begin (1);
    fixture_differs = UINT32_MAX;
    fixture_add_worker (1, "local", FINGERPRINT + 1);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_int_equal (s_metric_of ("stator_local_prompts", "fingerprint=\"0000000000000009\""), 1);
    assert_int_equal (s_metric_of ("stator_local_prompts", "fingerprint=\"000000000000000a\""), 0);
    assert_true (s_metric_of ("stator_memo_used_bytes", "fingerprint=\"0000000000000009\"") > 0);
    assert_int_equal (s_metric_of ("stator_memo_used_bytes", "fingerprint=\"000000000000000a\""), 0);
    fixture_end ();
}

static void
test_a_difference_that_comes_later_is_found (void **state)
{
    s_begin (1);
    fixture_options [0].check_every = 3;
    stage_crash (fixture_stage, "frontend/0");
    stage_start (fixture_stage, "frontend/0");
    stage_run (fixture_stage, 5 * REALM_SECOND);
    fixture_differs = UINT32_MAX;
    for (size_t i = 0; i < 3; i++) {
        s_check_said ("; prompts of local are made here");
        assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    }
    s_check_said ("; prompts of local are made by its engines, since theirs of a client's conversation has");
    assert_int_equal (s_metric ("stator_prompts_differing_total"), 1);
    uint32_t before = fixture_scripts [0].renderings;
    s_ask (SAYS (USER ("hi")));
    assert_int_equal (fixture_scripts [0].renderings, before + 1);
    fixture_end ();
}

//  A template that says what day it is, and midnight: the second look settles it.
static void
test_a_difference_that_does_not_come_again_is_none (void **state)
{
    fixture_differs = 1;
    s_begin (1);
    s_check_said ("; prompts of local are made here");
    assert_int_equal (fixture_scripts [0].renderings, PROBES);
    assert_int_equal (s_metric ("stator_prompts_checked_total"), PROBES - 1);
    fixture_options [0].check_every = 1;
    stage_crash (fixture_stage, "frontend/0");
    stage_start (fixture_stage, "frontend/0");
    stage_run (fixture_stage, 5 * REALM_SECOND);
    uint32_t before = fixture_scripts [0].renderings;
    fixture_differs = 1;
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, before + 2);
    s_check_said ("; prompts of local are made here");
    assert_int_equal (s_metric ("stator_prompts_differing_total"), UINT64_MAX);
    fixture_end ();
}

//  What this template raises for, and an answer that is to be gone on with.
static void
test_what_is_not_made_here_is_the_engines (void **state)
{
    s_begin (1);
    uint32_t before = fixture_scripts [0].renderings;
    assert_int_equal (
        s_ask (SAYS (USER ("hi") ",{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"1\"}"))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, before + 1);
    assert_int_equal (s_ask (SAYS (USER ("hi") ",{\"role\":\"assistant\",\"content\":\"ha\"}"))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, before + 2);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

static void
test_files_that_cannot_be_used_are_the_engines_business (void **state)
{
    s_begin (0);
    s_files [BUNDLE_TEMPLATE] = SPAN ("{% if %}");
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    s_check_said (
        "made by its engines, since its files cannot be used: the chat template of chat_template.jinja: line 1");
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    fixture_end ();
}

static void
test_files_that_are_not_those_of_the_card_are_not_used (void **state)
{
    s_begin (0);
    fixture_withholds = true;
    fixture_add_worker (0, "local", FINGERPRINT);
    s_files [BUNDLE_TEMPLATE] = SPAN ("another one");
    fixture_withholds = false;
    stage_run (fixture_stage, 20 * REALM_SECOND);
    s_check_said ("made by its engines until its files are here");
    assert_in_range (s_metric ("stator_model_files_wrong_total"), 2, 8);
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    s_files [BUNDLE_TEMPLATE] = SPAN (SAY);
    stage_run (fixture_stage, 60 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

//  While there is no room for the files they are not loaded, and what was taken for them is given back.
static void
test_a_model_is_left_to_its_engines_until_there_is_room (void **state)
{
    static const uint64_t rooms [] = { 1000, 100000 };    //  Too little for the files; for the memo beside them
    for (size_t i = 0; i < 2; i++) {
        s_begin (0);
        budget_t *budget = actor_budget (stage_find (fixture_stage, "frontend/0"));
        uint64_t taken = budget->limit - budget->used - rooms [i];
        assert_int_equal (budget_take (budget, taken, NULL), STATUS_OK);
        uint64_t used = budget->used;
        fixture_add_worker (0, "local", FINGERPRINT);
        stage_run (fixture_stage, 60 * REALM_SECOND);
        s_check_said ("made by its engines until its files are here");
        assert_true (budget->refused > 1);
        assert_int_equal (budget->used, used);
        budget_give (budget, taken);
        stage_run (fixture_stage, 60 * REALM_SECOND);
        s_check_said ("; prompts of local are made here");
        fixture_end ();
    }
}

//  What was taken to load it, by a guess, is given back for what it really takes.
static void
test_a_model_takes_what_it_holds (void **state)
{
    bundle_t *bundle = NULL;
    s_begin (0);
    budget_t *budget = actor_budget (stage_find (fixture_stage, "frontend/0"));
    uint64_t used = budget->used;
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    assert_int_equal (bundle_load (s_files, &bundle, NULL), STATUS_OK);
    assert_int_equal (budget->used - used, fixture_options [0].memo + tokenizer_memory (bundle->tokenizer));
    bundle_destroy (&bundle);
    stage_drain (fixture_stage, "worker/a");
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_int_equal (budget->used, used);
    fixture_end ();
}

//  Where it would not fit even alone, it is not asked for again and again.
static void
test_a_model_that_never_fits_is_left_to_its_engines (void **state)
{
    s_begin (0);
    budget_t *budget = actor_budget (stage_find (fixture_stage, "frontend/0"));
    uint64_t used = budget->used;
    budget->limit = used + 1000;
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 60 * REALM_SECOND);
    s_check_said ("prompts of local are made by its engines, since ");
    assert_int_equal (budget->refused, 1);
    assert_int_equal (budget->used, used);
    fixture_end ();
}

//  With the model go its files.
static void
test_a_model_that_is_gone_is_forgotten (void **state)
{
    s_begin (1);
    s_check_said ("; prompts of local are made here");
    assert_int_equal (s_metric ("stator_local_prompts"), 1);
    assert_true (s_metric ("stator_memo_used_bytes") > 0);
    stage_drain (fixture_stage, "worker/a");
    stage_run (fixture_stage, 5 * REALM_SECOND);
    s_check_said ("models: 0, workers: 0, requests in progress: 0");
    assert_int_equal (s_metric ("stator_local_prompts"), 0);
    assert_int_equal (s_metric ("stator_memo_used_bytes"), 0);
    fixture_add_worker (1, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

//  The worker dies while it is asked; another one has the same files.
static void
test_files_come_from_whoever_has_them (void **state)
{
    s_begin (0);
    fixture_withholds = true;
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 3 * REALM_SECOND);
    s_check_said ("made by its engines until its files are here");
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    stage_crash (fixture_stage, "worker/a");
    fixture_withholds = false;
    fixture_add_worker (1, "local", FINGERPRINT);
    stage_run (fixture_stage, 60 * REALM_SECOND);
    s_check_said ("; prompts of local are made here");
    fixture_end ();
}

static void
test_nothing_is_made_here_where_nobody_wants_it (void **state)
{
    fixture_begin (0);
    s_files [BUNDLE_TOKENIZER] = SPAN (VOCABULARY);
    s_files [BUNDLE_TEMPLATE] = SPAN (SAY);
    fixture_engine = true;
    fixture_files = s_files;
    fixture_add_worker (0, "local", FINGERPRINT);
    stage_run (fixture_stage, 5 * REALM_SECOND);
    assert_int_equal (s_ask (SAYS (USER ("hi")))->status, 200);
    assert_int_equal (fixture_scripts [0].renderings, 1);
    fixture_end ();
}

static bool
s_says (const char *sentence)
{
    buffer_t text = { 0 };
    s_describe (&text);
    bool says = strstr (buffer_string (&text), sentence) != NULL;
    buffer_fini (&text);
    return says;
}

//  Files that are given when they are asked for again.
static void
s_begin_late (void)
{
    s_begin (0);
    fixture_withholds = true;
    fixture_add_worker (0, "local", FINGERPRINT);
    fixture_withholds = false;
}

//  Whatever it is about.
static void
test_a_frontend_ends_in_the_middle_of_it (void **state)
{
    static const char *const stages [] = { "until its files are here", "until its files are loaded",
        "until ours were compared with theirs", "are made here" };
    enum { STAGES = sizeof stages / sizeof *stages, STEPS = 80 };
    static const uint64_t STEP_NS = REALM_MS / 4;
    size_t met [STAGES] = { 0 };
    uint64_t before_ns = 0;
    for (s_begin_late (); s_says (stages [0]); before_ns += STEP_NS)
        stage_run (fixture_stage, STEP_NS);
    fixture_end ();
    before_ns -= 4 * STEP_NS;
    for (uint64_t step = 0; step < STEPS; step++) {
        s_begin_late ();
        stage_run (fixture_stage, before_ns);
        fixture_ask (SAYS (USER ("hi")));
        stage_run (fixture_stage, step * STEP_NS);
        for (size_t i = 0; i < STAGES; i++)
            met [i] += s_says (stages [i]);
        fixture_end ();
    }
    for (size_t i = 0; i < STAGES; i++)
        assert_true (met [i] > 0);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_prompts_are_made_here_once_they_were_compared),
        cmocka_unit_test (test_a_turn_costs_what_is_new_in_it),
        cmocka_unit_test (test_a_template_that_takes_long_holds_nobody_up),
        cmocka_unit_test (test_a_template_that_takes_too_long_is_given_up),
        cmocka_unit_test (test_long_conversations_take_turns_and_some_leave),
        cmocka_unit_test (test_a_conversation_that_nobody_waits_for_goes_aside),
        cmocka_unit_test (test_thoughts_and_calls_are_told_apart),
        cmocka_unit_test (test_thoughts_may_be_of_another_family_than_calls),
        cmocka_unit_test (test_a_limit_cuts_a_call),
        cmocka_unit_test (test_an_engine_that_differs_makes_the_prompts),
        cmocka_unit_test (test_nothing_is_made_here_before_it_was_compared),
        cmocka_unit_test (test_an_engine_that_cannot_be_compared_with_is_left_in_peace),
        cmocka_unit_test (test_each_of_two_models_of_a_name_is_measured),
        cmocka_unit_test (test_a_difference_that_comes_later_is_found),
        cmocka_unit_test (test_a_difference_that_does_not_come_again_is_none),
        cmocka_unit_test (test_what_is_not_made_here_is_the_engines),
        cmocka_unit_test (test_files_that_cannot_be_used_are_the_engines_business),
        cmocka_unit_test (test_files_that_are_not_those_of_the_card_are_not_used),
        cmocka_unit_test (test_a_model_is_left_to_its_engines_until_there_is_room),
        cmocka_unit_test (test_a_model_takes_what_it_holds),
        cmocka_unit_test (test_a_model_that_never_fits_is_left_to_its_engines),
        cmocka_unit_test (test_a_model_that_is_gone_is_forgotten),
        cmocka_unit_test (test_files_come_from_whoever_has_them),
        cmocka_unit_test (test_nothing_is_made_here_where_nobody_wants_it),
        cmocka_unit_test (test_a_frontend_ends_in_the_middle_of_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
