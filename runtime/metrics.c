#include "runtime/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/memory.h"

enum { LABEL_SETS_MAX = 1000 };

//  Of the metric that stands for all further ones.
#define OTHER "other=\"true\""

struct metric {
    const metric_desc_t *desc;    //  What it is
    char *labels;                 //  a="b" or empty; owned
    int64_t value;                //  Counter, gauge; histogram: count
    uint64_t sum;                 //  Histogram, kept units
    uint64_t *buckets;            //  Histogram: observations up to each edge, not cumulative; owned
};

//  All metrics of one name.
typedef struct {
    const metric_desc_t *desc;    //  Theirs
    array_t metrics;              //  metric_t *, owned
} family_t;

struct metrics {
    map_t *families;    //  Name -> family_t
    map_t *by_key;      //  Name, '{', labels -> metric_t
};

metrics_t *
metrics_new (void)
{
    metrics_t *self = memory_new (sizeof *self);
    self->families = map_new (0);
    self->by_key = map_new (0);
    return self;
}

static metric_t *
s_metric_at (const family_t *family, size_t position)
{
    return *(metric_t **)array_at (&family->metrics, position);
}

static void
s_family_destroy (family_t *family)
{
    for (size_t i = 0; i < family->metrics.count; i++) {
        metric_t *metric = s_metric_at (family, i);
        memory_free (metric->labels);
        memory_free (metric->buckets);
        memory_free (metric);
    }
    array_fini (&family->metrics);
    memory_free (family);
}

void
metrics_destroy (metrics_t **self_p)
{
    metrics_t *self = *self_p;
    if (!self)
        return;
    size_t cursor = 0;
    void *family;
    while (map_next (self->families, &cursor, NULL, &family))
        s_family_destroy (family);
    map_destroy (&self->families);
    map_destroy (&self->by_key);
    memory_free (self);
    *self_p = NULL;
}

void
metrics_tell (const metric_desc_t *const *list, metric_told_fn *told, void *arg)
{
    for (; *list; list++)
        told (arg, *list);
}

static family_t *
s_family (metrics_t *self, const metric_desc_t *desc)
{
    span_t name = span_from_string (desc->name);
    family_t *family = map_get (self->families, name);
    if (!family) {
        family = memory_new (sizeof *family);
        family->desc = desc;
        array_init (&family->metrics, sizeof (metric_t *));
        map_put (self->families, name, family);
    }
    return family;
}

void
metrics_add_label (buffer_t *labels, const char *name, span_t value)
{
    buffer_print (labels, "%s%s=\"", labels->size ? "," : "", name);
    for (size_t i = 0; i < value.size; i++) {
        uint8_t byte = value.data [i];
        if (byte == '"' || byte == '\\')
            buffer_append_byte (labels, '\\');
        if (byte == '\n')
            buffer_append_string (labels, "\\n");
        else
            buffer_append_byte (labels, byte ? byte : ' ');
    }
    buffer_append_byte (labels, '"');
}

//  The quote that ends a value, or the end where it has none.
static const char *
s_end_of_value (const char *value)
{
    while (*value && *value != '"')
        value += *value == '\\' && value [1] ? 2 : 1;
    return value;
}

//  a="b",c="d" against "a,c".
static bool
s_are_named (const char *labels, const char *names)
{
    while (*labels) {
        size_t size = strcspn (labels, "=");
        if (strncmp (labels, names, size) != 0 || strncmp (labels + size, "=\"", 2) != 0)
            return false;
        labels = s_end_of_value (labels + size + 2);
        names += size;
        if (!*labels || *++labels != *names)
            return false;
        labels += *labels == ',';
        names += *names == ',';
    }
    return !*names;
}

static const char *
s_text (const char *text)
{
    return text ? text : "";
}

static metric_t *
s_make (metrics_t *self, family_t *family, const metric_desc_t *desc, const char *labels, span_t key)
{
    metric_t *metric = memory_new (sizeof *metric);
    metric->desc = desc;
    metric->labels = memory_copy_string (labels);
    metric->buckets = memory_new (desc->edge_count * sizeof *metric->buckets);
    *(metric_t **)array_add (&family->metrics) = metric;
    map_put (self->by_key, key, metric);
    return metric;
}

metric_t *
metrics_get (metrics_t *self, const metric_desc_t *desc, const char *labels)
{
    buffer_t key = { 0 };
    bool is_other = labels && strcmp (labels, OTHER) == 0;
    buffer_print (&key, "%s{%s", desc->name, s_text (labels));
    metric_t *metric = map_get (self->by_key, buffer_span (&key));
    family_t *family = metric ? NULL : s_family (self, desc);
    BUG_ON (family && !is_other && !s_are_named (s_text (labels), s_text (desc->labels)));
    if (family && family->metrics.count >= LABEL_SETS_MAX && labels && !is_other)
        metric = metrics_get (self, desc, OTHER);
    else if (family)
        metric = s_make (self, family, desc, s_text (labels), buffer_span (&key));
    buffer_fini (&key);
    return metric;
}

void
metric_add (metric_t *self, int64_t amount)
{
    self->value += amount;
}

void
metric_set (metric_t *self, int64_t value)
{
    self->value = value;
}

void
metric_observe (metric_t *self, uint64_t value)
{
    BUG_ON (self->desc->kind != METRIC_HISTOGRAM);
    self->value++;
    self->sum += value;
    for (size_t i = 0; i < self->desc->edge_count; i++) {
        if (value <= self->desc->edges [i]) {
            self->buckets [i]++;
            return;
        }
    }
}

int64_t
metric_value (const metric_t *self)
{
    return self->value;
}

//  A kept value in the printed unit: a decimal fraction without trailing zeros.
static void
s_print_scaled (buffer_t *out, int64_t value, uint64_t scale)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (scale < 2) {
        buffer_print (out, "%" PRId64, value);
        return;
    }
    buffer_print (out, "%s%" PRIu64, value < 0 ? "-" : "", magnitude / scale);
    uint64_t rest = magnitude % scale;
    if (rest)
        buffer_append_byte (out, '.');
    while (rest) {
        rest *= 10;
        buffer_append_byte (out, (uint8_t)('0' + rest / scale));
        rest %= scale;
    }
}

static void
s_render_name (buffer_t *out, const metric_t *metric, const char *suffix, const char *extra)
{
    buffer_print (out, "%s%s", metric->desc->name, suffix);
    if (*metric->labels || *extra)
        buffer_print (out, "{%s%s%s}", metric->labels, *metric->labels && *extra ? "," : "", extra);
    buffer_append_byte (out, ' ');
}

static void
s_render_bucket (buffer_t *out, const metric_t *metric, size_t edge, uint64_t cumulative)
{
    buffer_t label = { 0 };
    buffer_append_string (&label, "le=\"");
    if (edge < metric->desc->edge_count)
        s_print_scaled (&label, (int64_t)metric->desc->edges [edge], metric->desc->scale);
    else
        buffer_append_string (&label, "+Inf");
    buffer_append_byte (&label, '"');
    s_render_name (out, metric, "_bucket", buffer_string (&label));
    buffer_print (out, "%" PRIu64 "\n", cumulative);
    buffer_fini (&label);
}

static void
s_render_histogram (buffer_t *out, const metric_t *metric)
{
    uint64_t cumulative = 0;
    for (size_t i = 0; i < metric->desc->edge_count; i++) {
        cumulative += metric->buckets [i];
        s_render_bucket (out, metric, i, cumulative);
    }
    s_render_bucket (out, metric, metric->desc->edge_count, (uint64_t)metric->value);
    s_render_name (out, metric, "_sum", "");
    s_print_scaled (out, (int64_t)metric->sum, metric->desc->scale);
    buffer_append_byte (out, '\n');
    s_render_name (out, metric, "_count", "");
    buffer_print (out, "%" PRId64 "\n", metric->value);
}

static void
s_render_family (buffer_t *out, const family_t *family)
{
    static const char *const kinds [] = { "counter", "gauge", "histogram" };
    const metric_desc_t *desc = family->desc;
    buffer_print (out, "# HELP %s %s\n# TYPE %s %s\n", desc->name, desc->help, desc->name, kinds [desc->kind]);
    for (size_t i = 0; i < family->metrics.count; i++) {
        const metric_t *metric = s_metric_at (family, i);
        if (desc->kind == METRIC_HISTOGRAM) {
            s_render_histogram (out, metric);
            continue;
        }
        s_render_name (out, metric, "", "");
        s_print_scaled (out, metric->value, desc->scale);
        buffer_append_byte (out, '\n');
    }
}

void
metrics_render (const metrics_t *self, buffer_t *out)
{
    size_t cursor = 0;
    void *family;
    while (map_next (self->families, &cursor, NULL, &family))
        s_render_family (out, family);
}

bool
metrics_next (const metrics_t *self, size_t *cursor, const char **name, const char **labels, int64_t *value)
{
    void *found;
    if (!map_next (self->by_key, cursor, NULL, &found))
        return false;
    const metric_t *metric = found;
    *name = metric->desc->name;
    *labels = metric->labels;
    *value = metric->value;
    return true;
}
