//  What differs between two structs of one table.

#include "runtime/option.h"

#include <stdio.h>
#include <string.h>

#include "runtime/option_value.h"

enum { PATH_SIZE = 256 };

static bool
s_same_value (const option_t *row, const void *before, const void *after)
{
    if (row->type == OPTION_SECRET)
        return strcmp (*(const char *const *)before, *(const char *const *)after) == 0;
    buffer_t a = { 0 }, b = { 0 };
    option_value_render (row, before, &a);
    option_value_render (row, after, &b);
    bool same = span_equal (buffer_span (&a), buffer_span (&b));
    buffer_fini (&a);
    buffer_fini (&b);
    return same;
}

//  Notes that anything differs at all.
static void
s_on_any (void *arg, const char *path, const option_t *row)
{
    *(bool *)arg = true;
}

static bool
s_same_list (const option_t *row, const option_list_t *before, const option_list_t *after)
{
    bool differs = before->count != after->count;
    for (size_t i = 0; i < before->count && !differs; i++)
        option_compare (row->table, (const uint8_t *)before->items + i * row->size,
            (const uint8_t *)after->items + i * row->size, "", s_on_any, &differs);
    return !differs;
}

void
option_compare (const option_t *table, const void *before, const void *after, const char *path,
    option_change_fn *on_change, void *arg)
{
    for (const option_t *row = table; row->name; row++) {
        const void *a = (const uint8_t *)before + row->offset, *b = (const uint8_t *)after + row->offset;
        char name [PATH_SIZE];
        snprintf (name, sizeof name, "%s%s%s", path, *path && *row->name ? "." : "", row->name);
        switch (row->type) {
        case OPTION_INCLUDE:
            option_compare (row->table, a, b, path, on_change, arg);
            break;
        case OPTION_SECTION:
            option_compare (row->table, a, b, name, on_change, arg);
            break;
        case OPTION_LIST:
            if (!s_same_list (row, a, b))
                on_change (arg, name, row);
            break;
        default:
            if (!s_same_value (row, a, b))
                on_change (arg, name, row);
        }
    }
}
