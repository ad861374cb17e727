//  Metrics: what is kept as integers is printed as Prometheus reads it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "runtime/metrics.h"

static const uint64_t s_edges [] = { 1000000, 500000000, 2000000000 };
static const metric_desc_t s_counter = {
    .name = "test_total", .help = "A counter.", .kind = METRIC_COUNTER, .labels = "code"
};
static const metric_desc_t s_gauge = { .name = "test_ratio", .help = "A gauge.", .kind = METRIC_GAUGE, .scale = 1000 };
static const metric_desc_t s_histogram = { .name = "test_seconds",
    .help = "A histogram.",
    .kind = METRIC_HISTOGRAM,
    .scale = 1000000000,
    .edges = s_edges,
    .edge_count = 3,
    .labels = "model_name" };

static void
s_check_text (const metrics_t *metrics, const char *expected)
{
    buffer_t text = { 0 };
    metrics_render (metrics, &text);
    assert_string_equal (buffer_string (&text), expected);
    buffer_fini (&text);
}

static void
test_metrics_of_one_name_are_printed_together (void **state)
{
    metrics_t *metrics = metrics_new ();
    metric_add (metrics_get (metrics, &s_counter, "code=\"200\""), 2);
    metric_set (metrics_get (metrics, &s_gauge, NULL), -1250);
    metric_add (metrics_get (metrics, &s_counter, "code=\"500\""), 1);
    metric_add (metrics_get (metrics, &s_counter, "code=\"200\""), 1);
    s_check_text (metrics, "# HELP test_total A counter.\n# TYPE test_total counter\n"
                           "test_total{code=\"200\"} 3\ntest_total{code=\"500\"} 1\n"
                           "# HELP test_ratio A gauge.\n# TYPE test_ratio gauge\ntest_ratio -1.25\n");
    metrics_destroy (&metrics);
    assert_null (metrics);
}

//  An observation on an edge belongs below it; buckets are cumulative; the last one counts all.
static void
test_a_histogram_counts_up_to_each_edge (void **state)
{
    metrics_t *metrics = metrics_new ();
    metric_t *histogram = metrics_get (metrics, &s_histogram, "model_name=\"m\"");
    metric_observe (histogram, 1000000);
    metric_observe (histogram, 1000001);
    metric_observe (histogram, 3000000000);
    s_check_text (metrics, "# HELP test_seconds A histogram.\n# TYPE test_seconds histogram\n"
                           "test_seconds_bucket{model_name=\"m\",le=\"0.001\"} 1\n"
                           "test_seconds_bucket{model_name=\"m\",le=\"0.5\"} 2\n"
                           "test_seconds_bucket{model_name=\"m\",le=\"2\"} 2\n"
                           "test_seconds_bucket{model_name=\"m\",le=\"+Inf\"} 3\n"
                           "test_seconds_sum{model_name=\"m\"} 3.002000001\n"
                           "test_seconds_count{model_name=\"m\"} 3\n");
    assert_int_equal (metric_value (histogram), 3);
    metrics_destroy (&metrics);
}

//  Labels that come from outside cannot make metrics without end.
static void
test_too_many_label_sets_share_one_metric (void **state)
{
    metrics_t *metrics = metrics_new ();
    metric_t *other = NULL;
    for (int i = 0; i < 1500; i++) {
        char labels [32];
        snprintf (labels, sizeof labels, "code=\"%d\"", i);
        metric_t *metric = metrics_get (metrics, &s_counter, labels);
        metric_add (metric, 1);
        if (i >= 1000)
            assert_true (!other || metric == other);
        if (i >= 1000)
            other = metric;
    }
    assert_int_equal (metric_value (other), 500);
    metrics_destroy (&metrics);
}

//  The name of a model is anything.
static void
test_a_value_may_be_anything (void **state)
{
    static const metric_desc_t desc = {
        .name = "test_pairs", .help = "Pairs.", .kind = METRIC_GAUGE, .labels = "model_name,code"
    };
    metrics_t *metrics = metrics_new ();
    buffer_t labels = { 0 };
    metrics_add_label (&labels, "model_name", SPAN ("a\"=\\,b\nc\0d"));
    metrics_add_label (&labels, "code", SPAN (""));
    metric_set (metrics_get (metrics, &desc, buffer_string (&labels)), 1);
    buffer_fini (&labels);
    s_check_text (metrics, "# HELP test_pairs Pairs.\n# TYPE test_pairs gauge\n"
                           "test_pairs{model_name=\"a\\\"=\\\\,b\\nc d\",code=\"\"} 1\n");
    metrics_destroy (&metrics);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_metrics_of_one_name_are_printed_together),
        cmocka_unit_test (test_a_histogram_counts_up_to_each_edge),
        cmocka_unit_test (test_too_many_label_sets_share_one_metric),
        cmocka_unit_test (test_a_value_may_be_anything),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
