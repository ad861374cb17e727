//  A harness against a frontend that is made to answer wrongly: whatever is wrong must be noticed, and nothing else.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "simulator/harness.h"
#include "simulator/port/sim_port.h"

enum { TOKENS = 8, HANGING_MAX = 200 };

//  How the frontend answers.
typedef enum {
    RIGHT,             //  As it should
    SKIPS,             //  A token is missing
    REPEATS,           //  A token comes twice
    MIXES,             //  A token of another request
    FORGETS_DONE,      //  The stream ends without saying so
    FINISHES_TWICE,    //  Two finish reasons
    GOES_ON,           //  Text behind the finish reason
    TALKS_TOO_MUCH,    //  More tokens than were asked for
    STOPS_SHORT,       //  Fewer, but it says that the limit was reached
    BREAKS_OFF,        //  The connection breaks
    REFUSES,           //  400
    HANGS,             //  Nothing comes
    WAYS
} way_t;

static way_t s_way;
static bool s_excuse;
static uint32_t s_slow_tokens;    //  Every reader is slow, and asks for so many; 0: none is
static uint64_t s_violations;
static port_t *s_server_port, *s_harness_port;
static port_listener_t *s_listener;
static port_exchange_t *s_hanging [HANGING_MAX];
static size_t s_hanging_count;
static harness_t *s_harness;
static harness_options_t s_options;

static uint8_t
s_token (void *arg, int64_t seed, uint64_t position)
{
    return (uint8_t)('a' + (uint64_t)(seed * 7 + (int64_t)position) % 26);
}

//  ---- The frontend --------------------------------------------------------------------------------------------------

static int64_t
s_seed (span_t body)
{
    char text [64] = "";
    for (size_t i = 0; i + 7 < body.size; i++)
        if (memcmp (body.data + i, "\"seed\":", 7) == 0)
            span_copy_string (span_slice (body, i + 7, 20), text, sizeof text);
    long long seed = 0;
    assert_int_equal (sscanf (text, "%lld", &seed), 1);
    return seed;
}

static void
s_write (port_exchange_t *exchange, const char *text)
{
    s_server_port->table->exchange_write (exchange, span_from_string (text));
}

static void
s_write_token (port_exchange_t *exchange, int64_t seed, uint64_t position)
{
    char text [64];
    snprintf (text, sizeof text, "data: {\"delta\":{\"content\":\"%c\"},\"finish_reason\":null}\n\n",
        s_token (NULL, seed, position));
    s_write (exchange, text);
}

static void
s_write_answer (port_exchange_t *exchange, int64_t seed)
{
    uint64_t count = s_way == TALKS_TOO_MUCH ? TOKENS + 1 : s_way == STOPS_SHORT ? TOKENS - 1 : TOKENS;
    for (uint64_t position = 0; position < count; position++) {
        bool odd = position == 3;
        if (odd && s_way == SKIPS)
            continue;
        s_write_token (exchange, odd && s_way == MIXES ? seed + 1 : seed, position);
        if (odd && s_way == REPEATS)
            s_write_token (exchange, seed, position);
    }
    s_write (exchange, ": a comment\n\n");
}

static void
s_write_end (port_exchange_t *exchange, int64_t seed)
{
    static const char finish [] = "data: {\"delta\":{},\"finish_reason\":\"length\"}\n\n";
    s_write (exchange, finish);
    if (s_way == FINISHES_TWICE)
        s_write (exchange, finish);
    if (s_way == GOES_ON)
        s_write_token (exchange, seed, TOKENS);
    s_write (exchange, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"cached_tokens\":40}}\n\n");
    if (s_way != FORGETS_DONE)
        s_write (exchange, "data: [DONE]\n\n");
}

static void
s_on_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    const port_table_t *table = s_server_port->table;
    int64_t seed = s_seed (request->body);
    if (s_way == REFUSES) {
        table->exchange_respond (exchange, 400, NULL, 0, SPAN ("{\"error\":{}}"));
        return;
    }
    if (s_way == HANGS) {
        assert_true (s_hanging_count < HANGING_MAX);
        s_hanging [s_hanging_count++] = exchange;
        return;
    }
    table->exchange_begin (exchange, 200, NULL, 0);
    s_write_answer (exchange, seed);
    if (s_way == BREAKS_OFF) {
        table->exchange_abort (exchange);
        return;
    }
    s_write_end (exchange, seed);
    table->exchange_end (exchange);
}

//  ---- The realm -----------------------------------------------------------------------------------------------------

static status_t
s_server_start (realm_process_t *process, void **state, error_t *error)
{
    listener_options_t options = { .on_request = s_on_request };
    s_server_port = sim_port_new (process);
    s_listener = s_server_port->table->listen (s_server_port, "0.0.0.0:8000", &options, error);
    return s_listener ? STATUS_OK : error->status;
}

static void
s_server_stop (realm_process_t *process, void *state)
{
    while (s_hanging_count)
        s_server_port->table->exchange_abort (s_hanging [--s_hanging_count]);
    s_server_port->table->listener_close (s_listener);
}

static status_t
s_harness_start (realm_process_t *process, void **state, error_t *error)
{
    s_harness_port = sim_port_new (process);
    s_harness = harness_new (s_harness_port, &s_options, 1);
    return STATUS_OK;
}

static void
s_harness_stop (realm_process_t *process, void *state)
{
    harness_destroy (&s_harness);
}

static bool
s_excused (void *arg, uint64_t since_ns)
{
    return s_excuse;
}

static void
s_on_violation (void *arg, const char *sentence)
{
    s_violations++;
}

static void
s_start (realm_t *realm, const char *machine, const realm_program_t *program)
{
    const char *argv [] = { program->name, NULL };
    realm_start_t start = { .argv = argv };
    realm_register_program (realm, program);
    assert_non_null (realm_process_start (realm_machine_new (realm, machine), &start, NULL));
}

//  A minute of one request a second.
static harness_figures_t
s_run (way_t way, bool excuse)
{
    static const realm_program_t server = { .name = "server", .start = s_server_start, .stop = s_server_stop };
    static const realm_program_t harness = { .name = "harness", .start = s_harness_start, .stop = s_harness_stop };
    static const char *const urls [] = { "http://m0:8000", NULL };
    s_way = way;
    s_excuse = excuse;
    s_violations = 0;
    s_options = (harness_options_t){ .urls = urls,
        .model = "m",
        .interval_ns = REALM_SECOND,
        .prompt_bytes = 100,
        .turns = 2,
        .max_tokens = TOKENS,
        .slow_tokens = s_slow_tokens,
        .slow_ppm = s_slow_tokens ? 1000000 : 0,
        .token = s_token,
        .excused = s_excused,
        .on_violation = s_on_violation };
    realm_options_t options = { .seed = 3 };
    realm_t *realm = realm_new (&options);
    s_start (realm, "m0", &server);
    s_start (realm, "m1", &harness);
    realm_run (realm, 60 * REALM_SECOND);
    harness_stop (s_harness);
    realm_run (realm, 70 * REALM_SECOND);
    harness_figures_t figures;
    harness_figures (s_harness, &figures);
    realm_destroy (&realm);
    assert_true (figures.started > 20);
    assert_int_equal (figures.started, figures.ended + figures.open);
    return figures;
}

static void
test_right_answers_are_no_violation (void **state)
{
    harness_figures_t figures = s_run (RIGHT, false);
    assert_int_equal (s_violations, 0);
    assert_int_equal (figures.whole, figures.started);
    assert_int_equal (figures.tokens, figures.started * TOKENS);
    assert_int_equal (figures.prompt_tokens, figures.started * 100);
    assert_int_equal (figures.cached_tokens, figures.started * 40);
}

static void
test_each_wrong_way_is_noticed_every_time (void **state)
{
    for (way_t way = RIGHT + 1; way < HANGS; way++) {
        print_message ("way %d\n", (int)way);
        harness_figures_t figures = s_run (way, false);
        assert_true (s_violations >= figures.started);
    }
}

static void
test_an_endless_request_stays_open (void **state)
{
    harness_figures_t figures = s_run (HANGS, false);
    assert_int_equal (figures.open, figures.started);
    assert_true (figures.oldest_ns > 0);
}

//  A fault excuses what breaks off, never what is wrong.
static void
test_faults_excuse_breaking_off_and_nothing_else (void **state)
{
    harness_figures_t figures = s_run (BREAKS_OFF, true);
    assert_int_equal (s_violations, 0);
    assert_int_equal (figures.broken, figures.started);
    for (way_t way = RIGHT + 1; way < BREAKS_OFF; way++) {
        figures = s_run (way, true);
        assert_true (s_violations >= figures.started);
    }
}

static void
test_slow_readers_may_ask_for_more (void **state)
{
    s_slow_tokens = TOKENS * 3;
    harness_figures_t figures = s_run (RIGHT, false);
    s_slow_tokens = 0;
    assert_true (figures.ended > 0);
    assert_int_equal (
        s_violations, figures.ended);    //  The server says no more than ever, and that this was the length
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_right_answers_are_no_violation),
        cmocka_unit_test (test_each_wrong_way_is_noticed_every_time),
        cmocka_unit_test (test_an_endless_request_stays_open),
        cmocka_unit_test (test_faults_excuse_breaking_off_and_nothing_else),
        cmocka_unit_test (test_slow_readers_may_ask_for_more),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
