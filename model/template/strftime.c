//  strftime - a moment in words, as Python's datetime writes one without a zone in the C locale

#include <stddef.h>

#include "model/template/render.h"

enum { STEPS_A_BYTE = 4 };

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
    int64_t twelve;         //  1 to 12, the hour
    int64_t short_year;     //  0 to 99
    int64_t century;        //  20
    int64_t iso_weekday;    //  1: Monday, to 7
    int64_t week_sunday;    //  Sundays so far this year
    int64_t week_monday;    //  Mondays so far this year
    int64_t iso_year;       //  Of the week
    int64_t iso_week;       //  1 to 53
    int64_t iso_short;      //  0 to 99
    int64_t now_s;          //  Since 1970
    int64_t zero;           //  Microseconds
} moment_t;

static bool
s_is_leap (int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

//  ISO weeks: the first has the year's first Thursday.
static void
s_count_weeks (moment_t *moment)
{
    int64_t monday = (moment->weekday + 6) % 7;
    moment->iso_weekday = monday + 1;
    moment->week_sunday = (moment->day_of_year + 6 - moment->weekday) / 7;
    moment->week_monday = (moment->day_of_year + 6 - monday) / 7;
    int64_t thursday = moment->day_of_year + 3 - monday;
    int64_t last = 365 + s_is_leap (moment->year);
    moment->iso_year = moment->year + (thursday > last) - (thursday < 1);
    if (thursday < 1)
        thursday += 365 + s_is_leap (moment->year - 1);
    moment->iso_week = thursday > last && moment->iso_year > moment->year ? 1 : (thursday + 6) / 7;
    moment->iso_short = moment->iso_year % 100;
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
    moment.twelve = moment.hour % 12 ? moment.hour % 12 : 12;
    moment.short_year = moment.year % 100;
    moment.century = moment.year / 100;
    moment.now_s = now_s;
    s_count_weeks (&moment);
    return moment;
}

//  What prints as a number: which, and how wide.
static const struct {
    uint8_t directive;    //  Behind the %
    size_t offset;        //  In moment_t
    int width;            //  Filled up to, unless %- says otherwise
    char with;            //  Zeros or blanks
} s_numbers [] = {
    { 'Y', offsetof (moment_t, year), 1, '0' },
    { 'm', offsetof (moment_t, month), 2, '0' },
    { 'd', offsetof (moment_t, day), 2, '0' },
    { 'H', offsetof (moment_t, hour), 2, '0' },
    { 'M', offsetof (moment_t, minute), 2, '0' },
    { 'S', offsetof (moment_t, second), 2, '0' },
    { 'j', offsetof (moment_t, day_of_year), 3, '0' },
    { 'w', offsetof (moment_t, weekday), 1, '0' },
    { 'y', offsetof (moment_t, short_year), 2, '0' },
    { 'C', offsetof (moment_t, century), 2, '0' },
    { 'e', offsetof (moment_t, day), 2, ' ' },
    { 'k', offsetof (moment_t, hour), 2, ' ' },
    { 'I', offsetof (moment_t, twelve), 2, '0' },
    { 'l', offsetof (moment_t, twelve), 2, ' ' },
    { 'u', offsetof (moment_t, iso_weekday), 1, '0' },
    { 'U', offsetof (moment_t, week_sunday), 2, '0' },
    { 'W', offsetof (moment_t, week_monday), 2, '0' },
    { 'G', offsetof (moment_t, iso_year), 1, '0' },
    { 'g', offsetof (moment_t, iso_short), 2, '0' },
    { 'V', offsetof (moment_t, iso_week), 2, '0' },
    { 's', offsetof (moment_t, now_s), 1, '0' },
    { 'f', offsetof (moment_t, zero), 6, '0' },
};

static bool
s_print_number (buffer_t *out, const moment_t *moment, uint8_t directive, bool padded)
{
    for (size_t i = 0; i < sizeof s_numbers / sizeof *s_numbers; i++) {
        if (s_numbers [i].directive != directive)
            continue;
        int64_t value = *(const int64_t *)((const char *)moment + s_numbers [i].offset);
        int width = padded ? s_numbers [i].width : 1;
        buffer_print (out, s_numbers [i].with == ' ' ? "%*lld" : "%0*lld", width, (long long)value);
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
    if (s_print_number (out, moment, directive, padded))
        return;
    switch (directive) {
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
    case 'P':
        buffer_append_string (out, moment->hour < 12 ? "am" : "pm");
        break;
    case '%':
        buffer_append_byte (out, '%');
        break;
    case 'n':
        buffer_append_byte (out, '\n');
        break;
    case 't':
        buffer_append_byte (out, '\t');
        break;
    case 'Z':    //  A moment without a zone prints none
    case 'z':
        break;
    default:
        buffer_print (out, "%%%c", directive);
    }
}

//  Formats that stand for others; empty for any other directive.
static span_t
s_expand (uint8_t directive)
{
    static const struct {
        uint8_t directive;
        const char *format;
    } rows [] = { { 'F', "%Y-%m-%d" }, { 'T', "%H:%M:%S" }, { 'D', "%m/%d/%y" }, { 'R', "%H:%M" },
        { 'r', "%I:%M:%S %p" }, { 'c', "%a %b %e %H:%M:%S %Y" }, { 'x', "%m/%d/%y" }, { 'X', "%H:%M:%S" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows [i].directive == directive)
            return span_from_string (rows [i].format);
    return SPAN ("");
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
    if (value_step (&self->heap, format.size * STEPS_A_BYTE))
        s_print_format (&out, &moment, format);
    return value_take_buffer (&self->heap, &out);
}
