#include "cli/placeholder.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

enum { SHOWN_MAX = 48 };

static const char s_letters [] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", s_digits [] = "0123456789-";

//  The name in braces that a text begins with; empty where it begins otherwise.
static span_t
s_begins_with (const char *text)
{
    if (*text != '{' || !text [1] || !strchr (s_letters, text [1]))
        return SPAN ("");
    size_t size = 1;
    while (text [1 + size] && (strchr (s_letters, text [1 + size]) || strchr (s_digits, text [1 + size])))
        size++;
    return text [1 + size] == '}' ? span_of (text + 1, size) : SPAN ("");
}

//  Its position; that of the NULL behind them where it is none.
static size_t
s_find (span_t name, const char *const *names)
{
    size_t i = 0;
    while (names [i] && !span_equal_string (name, names [i]))
        i++;
    return i;
}

void
placeholder_fill (const char *text, const char *const *names, const char *const *values, buffer_t *out)
{
    while (*text) {
        span_t name = s_begins_with (text);
        size_t position = s_find (name, names);
        if (names [position]) {
            buffer_append_string (out, values [position]);
            text += name.size + 2;
        } else {
            buffer_append_byte (out, (uint8_t)*text++);
        }
    }
}

span_t
placeholder_unknown (const char *text, const char *const *names)
{
    for (const char *at = text; *at; at++) {
        span_t name = s_begins_with (at);
        if (name.size && (at == text || at [-1] != '{') && !names [s_find (name, names)])
            return name;
    }
    return SPAN ("");
}

void
placeholder_complain (span_t name, const char *const *names, buffer_t *out)
{
    char braced [SHOWN_MAX];
    suggest_t suggest;
    suggest_init (&suggest, name);
    for (size_t i = 0; names [i]; i++) {
        snprintf (braced, sizeof braced, "{%s}", names [i]);
        suggest_offer_as (&suggest, names [i], braced);
    }
    buffer_print (out, "there is nothing to fill in for '{%.*s}'", SPAN_ARG (span_slice (name, 0, SHOWN_MAX)));
    buffer_append_string (out, suggest_best (&suggest) ? suggest_text (&suggest) : "; known:");
    for (size_t i = 0; names [i] && !suggest_best (&suggest); i++)
        buffer_print (out, " {%s}", names [i]);
}
