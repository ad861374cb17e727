//  globals - functions that every template can call

#include <stddef.h>

#include "model/template/render.h"

static value_t
s_range (render_t *render, value_t self, const args_t *args)
{
    int64_t from = args->count > 1 ? args_int (args, 0, NULL, 0) : 0;
    int64_t to = args_int (args, args->count > 1, NULL, 0);
    int64_t step = args_int (args, 2, NULL, 1);
    value_t list = value_new_list (&render->heap, VALUE_LIST);
    for (size_t i = 0; i < args->count && i < 3; i++)
        if (args->items [i].kind != VALUE_INT && args->items [i].kind != VALUE_BOOL)
            return value_fail (&render->heap, "TypeError: '%s' object cannot be interpreted as an integer",
                value_type_name (args->items [i]));
    if (!args->count || step == 0)
        return value_fail (&render->heap, "ValueError: range() arg 3 must not be zero");
    for (int64_t i = from; (step > 0 ? i < to : i > to) && value_step (&render->heap, 1);) {
        value_list_add (&render->heap, list.as.list, value_int (i));
        if (__builtin_add_overflow (i, step, &i))
            break;
    }
    return list;
}

static value_t
s_dict_of (render_t *render, const args_t *args, value_kind_t kind)
{
    value_t dict = value_new_dict (&render->heap, kind);
    const value_t *from = args_get (args, 0, NULL);
    for (size_t i = 0; from && from->kind == VALUE_DICT && i < from->as.dict->count && value_step (&render->heap, 1);
         i++)
        value_dict_set (&render->heap, dict.as.dict, from->as.dict->pairs [i].key, from->as.dict->pairs [i].value);
    for (size_t i = 0; i < args->keyword_count && value_step (&render->heap, 1); i++)
        value_dict_set (&render->heap, dict.as.dict, value_text (args->names [i]), args->values [i]);
    return dict;
}

static value_t
s_namespace (render_t *render, value_t self, const args_t *args)
{
    return s_dict_of (render, args, VALUE_NAMESPACE);
}

static value_t
s_dict (render_t *render, value_t self, const args_t *args)
{
    return s_dict_of (render, args, VALUE_DICT);
}

static value_t
s_raise_exception (render_t *render, value_t self, const args_t *args)
{
    buffer_t text = { 0 };
    value_print (&render->heap, args_or (args, 0, "message", value_none ()), &text);
    value_fail (&render->heap, "TemplateError: %.*s", SPAN_ARG (buffer_span (&text)));
    buffer_fini (&text);
    return (value_t){ 0 };
}

static value_t
s_strftime_now (render_t *render, value_t self, const args_t *args)
{
    return render_strftime (render, args_text (args, 0, "format", SPAN ("")));
}

const builtin_t globals_table [] = {
    { "range", s_range },
    { "namespace", s_namespace },
    { "dict", s_dict },
    { "raise_exception", s_raise_exception },
    { "strftime_now", s_strftime_now },
    { NULL, NULL },
};

//  ---- strftime ----

//  A moment taken apart (proleptic Gregorian calendar; days by Howard Hinnant's civil_from_days).
typedef struct {
    int64_t year;           //  2026
    int64_t month;          //  1 to 12
    int64_t day;            //  1 to 31
    int64_t hour;           //  0 to 23
    int64_t minute;         //  0 to 59
    int64_t second;         //  0 to 59
    int64_t weekday;        //  0: Sunday
    int64_t day_of_year;    //  1 to 366
} moment_t;

static bool
s_is_leap (int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static moment_t
s_moment (int64_t now_s)
{
    static const int64_t before [] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    int64_t days = now_s / 86400 - (now_s % 86400 < 0);
    int64_t rest = now_s - days * 86400;
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    moment_t moment = { .hour = rest / 3600, .minute = rest / 60 % 60, .second = rest % 60 };
    moment.day = day_of_year - (153 * month + 2) / 5 + 1;
    moment.month = month < 10 ? month + 3 : month - 9;
    moment.year = year_of_era + era * 400 + (moment.month <= 2);
    moment.weekday = ((days + 4) % 7 + 7) % 7;
    moment.day_of_year = before [moment.month - 1] + moment.day + (moment.month > 2 && s_is_leap (moment.year));
    return moment;
}

//  What prints as a number: which, and how wide.
static const struct {
    uint8_t directive;    //  Behind the %
    size_t offset;        //  In moment_t
    int width;            //  Filled up with zeros, unless %- says otherwise
} s_numbers [] = {
    { 'Y', offsetof (moment_t, year), 1 },
    { 'm', offsetof (moment_t, month), 2 },
    { 'd', offsetof (moment_t, day), 2 },
    { 'H', offsetof (moment_t, hour), 2 },
    { 'M', offsetof (moment_t, minute), 2 },
    { 'S', offsetof (moment_t, second), 2 },
    { 'j', offsetof (moment_t, day_of_year), 3 },
    { 'w', offsetof (moment_t, weekday), 1 },
};

static bool
s_print_number (buffer_t *out, const moment_t *moment, uint8_t directive, bool padded)
{
    for (size_t i = 0; i < sizeof s_numbers / sizeof *s_numbers; i++) {
        if (s_numbers [i].directive != directive)
            continue;
        int64_t value = *(const int64_t *)((const char *)moment + s_numbers [i].offset);
        buffer_print (out, "%0*lld", padded ? s_numbers [i].width : 1, (long long)value);
        return true;
    }
    return false;
}

static void
s_print_moment (buffer_t *out, const moment_t *moment, uint8_t directive, bool padded)
{
    static const char *const months [] = { "January", "February", "March", "April", "May", "June", "July", "August",
        "September", "October", "November", "December" };
    static const char *const days [] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" };
    long long twelve = moment->hour % 12 ? moment->hour % 12 : 12;
    if (s_print_number (out, moment, directive, padded))
        return;
    switch (directive) {
    case 'y':
        buffer_print (out, "%02lld", (long long)moment->year % 100);
        break;
    case 'e':
        buffer_print (out, "%2lld", (long long)moment->day);
        break;
    case 'I':
        buffer_print (out, "%0*lld", padded ? 2 : 1, twelve);
        break;
    case 'B':
        buffer_append_string (out, months [moment->month - 1]);
        break;
    case 'b':
    case 'h':
        buffer_append (out, span_of (months [moment->month - 1], 3));
        break;
    case 'A':
        buffer_append_string (out, days [moment->weekday]);
        break;
    case 'a':
        buffer_append (out, span_of (days [moment->weekday], 3));
        break;
    case 'p':
        buffer_append_string (out, moment->hour < 12 ? "AM" : "PM");
        break;
    case '%':
        buffer_append_byte (out, '%');
        break;
    case 'Z':    //  A moment without a zone prints none
    case 'z':
        break;
    default:
        buffer_print (out, "%%%c", directive);
    }
}

//  Formats that stand for others.
static span_t
s_expand (uint8_t directive)
{
    return directive == 'F'   ? SPAN ("%Y-%m-%d")
           : directive == 'T' ? SPAN ("%H:%M:%S")
           : directive == 'D' ? SPAN ("%m/%d/%y")
                              : SPAN ("");
}

static void
s_print_format (buffer_t *out, const moment_t *moment, span_t format)
{
    for (size_t i = 0; i < format.size; i++) {
        if (format.data [i] != '%' || i + 1 == format.size) {
            buffer_append_byte (out, format.data [i]);
            continue;
        }
        bool padded = format.data [i + 1] != '-' || i + 2 == format.size;
        i += padded ? 1 : 2;
        span_t expanded = s_expand (format.data [i]);
        if (expanded.size)
            s_print_format (out, moment, expanded);
        else
            s_print_moment (out, moment, format.data [i], padded);
    }
}

value_t
render_strftime (render_t *self, span_t format)
{
    buffer_t out = { 0 };
    moment_t moment = s_moment (self->now_s);
    s_print_format (&out, &moment, format);
    return value_take_buffer (&self->heap, &out);
}
