//  The contract of runtime/port.h about HTTP, told once and kept by both worlds.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/conformance/scene.h"

static void
s_fetch_from_listener (scene_t *scene, const fetch_options_t *options)
{
    char url [300];
    fetch_options_t whole = *options;
    snprintf (url, sizeof url, "http://%s/v1/chat?stream=1", PORT (scene)->listener_address (scene->listener));
    whole.url = url;
    whole.arg = scene;
    scene->fetch = PORT (scene)->fetch (scene->port, &whole, NULL);
    assert_non_null (scene->fetch);
}

static void
s_listen (scene_t *scene, listener_request_fn *on_request)
{
    listener_options_t options = { .on_request = on_request, .arg = scene };
    scene->listener = PORT (scene)->listen (scene->port, "127.0.0.1:0", &options, NULL);
    assert_non_null (scene->listener);
}

static void
s_on_head (void *arg, int status)
{
    char text [16];
    snprintf (text, sizeof text, "%d", status);
    scene_hear (arg, text);
}

//  The pieces are of any size: hears the bytes one by one.
static void
s_on_data (void *arg, span_t bytes)
{
    char text [2] = "";
    for (size_t i = 0; i < bytes.size; i++) {
        text [0] = (char)bytes.data [i];
        scene_hear (arg, text);
    }
}

static void
s_on_end (void *arg, status_t status, const error_t *error)
{
    scene_t *scene = arg;
    scene_hear (scene, status_name (status));
    PORT (scene)->listener_close (scene->listener);
    scene_over (scene);
}

static const http_header_t s_header = { { (const uint8_t *)"X-Test", 6 }, { (const uint8_t *)"yes", 3 } };

static void
s_on_more (void *arg)
{
    scene_t *scene = arg;
    if (scene->count++ < 3) {
        PORT (scene)->exchange_write (scene->exchange, SPAN ("ab"));
        PORT (scene)->alarm (scene->port, PORT (scene)->now_ns (scene->port) + MILLISECOND);
    } else
        PORT (scene)->exchange_end (scene->exchange);
}

static bool
s_has_header (const http_request_t *request)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (span_equal_nocase (request->headers [i].name, s_header.name))
            return span_equal (request->headers [i].value, s_header.value);
    return false;
}

static void
s_on_streaming_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *scene = arg;
    scene->exchange = exchange;
    scene_hear_span (scene, request->method);
    scene_hear_span (scene, request->path);
    scene_hear_span (scene, request->query);
    scene_hear_span (scene, request->body);
    scene_hear (scene, s_has_header (request) ? "header" : "none");
    PORT (scene)->exchange_begin (exchange, 200, &s_header, 1);
    scene->port->user.on_alarm = s_on_more;
    PORT (scene)->alarm (scene->port, PORT (scene)->now_ns (scene->port) + MILLISECOND);
}

static void
s_streaming (scene_t *scene)
{
    s_listen (scene, s_on_streaming_request);
    fetch_options_t options = { .method = "POST",
        .headers = &s_header,
        .header_count = 1,
        .body = SPAN ("{}"),
        .on_head = s_on_head,
        .on_data = s_on_data,
        .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_a_streamed_response_arrives_in_order_and_whole (void **state)
{
    scene_play (s_streaming, "POST /v1/chat stream=1 {} header 200 a b a b a b ok ");
}

static void
s_on_plain_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    PORT ((scene_t *)arg)->exchange_respond (exchange, 404, NULL, 0, SPAN ("no"));
}

static void
s_plain (scene_t *scene)
{
    s_listen (scene, s_on_plain_request);
    fetch_options_t options = { .method = "GET", .on_head = s_on_head, .on_data = s_on_data, .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_an_error_status_is_still_a_whole_response (void **state)
{
    scene_play (s_plain, "404 n o ok ");
}

static void
s_on_aborted_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *scene = arg;
    PORT (scene)->exchange_begin (exchange, 200, NULL, 0);
    PORT (scene)->exchange_abort (exchange);
}

static void
s_aborted (scene_t *scene)
{
    s_listen (scene, s_on_aborted_request);
    fetch_options_t options = { .method = "GET", .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_a_response_that_breaks_off_is_an_error (void **state)
{
    scene_play (s_aborted, "io ");
}

static void
s_on_gone (void *arg)
{
    scene_t *scene = arg;
    scene_hear (scene, "gone");
    scene_hear (scene, status_name (PORT (scene)->exchange_write (scene->exchange, SPAN ("x"))));
    PORT (scene)->exchange_abort (scene->exchange);
    PORT (scene)->listener_close (scene->listener);
    scene_over (scene);
}

static void
s_on_head_cancel (void *arg, int status)
{
    scene_t *scene = arg;
    scene_hear (scene, "head");
    PORT (scene)->fetch_cancel (scene->fetch);
}

static void
s_on_watched_request (void *arg, port_exchange_t *exchange, const http_request_t *request)
{
    scene_t *scene = arg;
    exchange_watch_t watch = { .on_gone = s_on_gone, .arg = scene };
    scene->exchange = exchange;
    PORT (scene)->exchange_watch (exchange, &watch);
    PORT (scene)->exchange_begin (exchange, 200, NULL, 0);
    PORT (scene)->exchange_write (exchange, SPAN ("first"));
}

static void
s_client_leaves (scene_t *scene)
{
    s_listen (scene, s_on_watched_request);
    fetch_options_t options = { .method = "GET", .on_head = s_on_head_cancel, .on_end = s_on_end };
    s_fetch_from_listener (scene, &options);
}

static void
test_the_server_hears_that_its_client_left (void **state)
{
    scene_play (s_client_leaves, "head gone unreachable ");
}

static void
s_on_refused (void *arg, status_t status, const error_t *error)
{
    scene_hear (arg, status_name (status));
    scene_over (arg);
}

static void
s_nobody_listens (scene_t *scene)
{
    s_listen (scene, s_on_plain_request);
    char url [300];
    snprintf (url, sizeof url, "http://%s/", PORT (scene)->listener_address (scene->listener));
    PORT (scene)->listener_close (scene->listener);
    fetch_options_t options = { .method = "GET", .url = url, .on_end = s_on_refused, .arg = scene };
    assert_non_null (PORT (scene)->fetch (scene->port, &options, NULL));
    scene_hear (scene, "asked");
}

static void
test_a_fetch_from_nobody_is_unreachable (void **state)
{
    scene_play (s_nobody_listens, "asked unreachable ");
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_streamed_response_arrives_in_order_and_whole),
        cmocka_unit_test (test_an_error_status_is_still_a_whole_response),
        cmocka_unit_test (test_a_response_that_breaks_off_is_an_error),
        cmocka_unit_test (test_the_server_hears_that_its_client_left),
        cmocka_unit_test (test_a_fetch_from_nobody_is_unreachable),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
