#include "runtime/guard.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/suggest.h"

enum { SUBJECT_MAX = 256, PATTERN_MAX = 256 };

static bool
s_is_between (uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == ',';
}

static status_t
s_find_role (const guard_t *self, span_t name, uint32_t *roles, error_t *error)
{
    for (size_t i = 0; i < self->count; i++)
        if (span_equal_string (name, self->roles [i].name)) {
            *roles |= UINT32_C (1) << i;
            return STATUS_OK;
        }
    suggest_t suggest;
    buffer_t known = { 0 };
    suggest_init (&suggest, name);
    for (size_t i = 0; i < self->count; i++) {
        suggest_offer (&suggest, self->roles [i].name);
        buffer_print (&known, "%s%s", i ? "|" : "", self->roles [i].name);
    }
    error_set (error, STATUS_NOT_FOUND, "there is no role '%.*s', only %s%s", SPAN_ARG (span_slice (name, 0, 64)),
        buffer_string (&known), suggest_text (&suggest));
    buffer_fini (&known);
    return STATUS_NOT_FOUND;
}

status_t
guard_parse_roles (const guard_t *self, span_t names, uint32_t *roles, error_t *error)
{
    status_t status = STATUS_OK;
    *roles = 0;
    for (size_t at = 0; at < names.size && status == STATUS_OK;) {
        size_t end = at;
        while (end < names.size && !s_is_between (names.data [end]))
            end++;
        if (end > at)
            status = s_find_role (self, span_slice (names, at, end - at), roles, error);
        at = end + 1;
    }
    return status;
}

//  '*' stands for any bytes: the last one seen takes one byte more whenever what follows it does not fit.
static bool
s_matches (const char *pattern, span_t subject)
{
    const char *star = NULL;
    size_t at = 0, retry = 0;
    while (at < subject.size) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = at;
        } else if (*pattern && (uint8_t)*pattern == subject.data [at]) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star;
            at = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

//  A pattern with the name of the key in it; one that does not fit matches nothing.
static bool
s_matches_filled (const char *pattern, const char *brace, const char *name, span_t subject)
{
    char filled [PATTERN_MAX];
    static const char word [] = "{name}";
    if (strncmp (brace, word, sizeof word - 1) != 0)
        return false;
    int size =
        snprintf (filled, sizeof filled, "%.*s%s%s", (int)(brace - pattern), pattern, name, brace + sizeof word - 1);
    return size >= 0 && size < PATTERN_MAX && s_matches (filled, subject);
}

static bool
s_any_matches (const char *const *patterns, const char *name, span_t subject)
{
    for (; patterns && *patterns; patterns++) {
        const char *brace = strchr (*patterns, '{');
        if (brace ? s_matches_filled (*patterns, brace, name, subject) : s_matches (*patterns, subject))
            return true;
    }
    return false;
}

bool
guard_may_speak (const guard_t *self, const socket_sender_t *sender, span_t address)
{
    if (!sender->proven)
        return true;
    for (size_t i = 0; self && i < self->count; i++)
        if ((sender->roles >> i & 1) && s_any_matches (self->roles [i].speaks, sender->name, address))
            return true;
    return false;
}

bool
guard_may_call (const guard_t *self, const socket_sender_t *sender, const char *service, span_t method)
{
    char subject [SUBJECT_MAX];
    if (!sender->proven)
        return true;
    int size = snprintf (subject, sizeof subject, "%s.%.*s", service, SPAN_ARG (method));
    if (size < 0 || (size_t)size >= sizeof subject)
        return false;
    for (size_t i = 0; self && i < self->count; i++)
        if ((sender->roles >> i & 1) &&
            s_any_matches (self->roles [i].calls, sender->name, span_of (subject, (size_t)size)))
            return true;
    return false;
}
