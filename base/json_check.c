#include "base/json_check.h"

#include <string.h>

#include "base/utf8.h"

static status_t
s_refuse (size_t offset, error_t *error, const char *problem)
{
    return error_set (error, STATUS_INVALID, "not JSON: %s at byte %zu", problem, offset);
}

static bool
s_is_space (uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool
s_is_digit (uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

//  Bytes a number is made of; a token ends before any other.
static bool
s_is_numeric (uint8_t byte)
{
    return s_is_digit (byte) || byte == '-' || byte == '+' || byte == '.' || byte == 'e' || byte == 'E';
}

bool
json_is_beyond (span_t number)
{
    uint64_t magnitude;
    bool negative = number.size && number.data [0] == '-';
    span_t digits = span_slice (number, negative, number.size);
    if (digits.size < 19)
        return false;
    return !span_to_u64 (digits, &magnitude) || (negative && magnitude > (uint64_t)INT64_MAX + 1);
}

//  Whether a number has neither fraction nor exponent.
static bool
s_is_whole (span_t number)
{
    for (size_t i = 1; i < number.size; i++)
        if (!s_is_digit (number.data [i]))
            return false;
    return true;
}

static status_t
s_check_number (span_t text, size_t *at, bool *beyond, error_t *error)
{
    size_t start = *at;
    while (*at < text.size && s_is_numeric (text.data [*at]))
        (*at)++;
    span_t number = span_slice (text, start, *at - start);
    if (number.size > JSON_NUMBER_MAX)
        return s_refuse (start, error, "a number of more than 128 characters");
    *beyond = *beyond || (s_is_whole (number) && json_is_beyond (number));
    return span_is_number (number) ? STATUS_OK : s_refuse (start, error, "a number that is none");
}

static status_t
s_check_word (span_t text, size_t *at, error_t *error)
{
    static const char *const words [] = { "true", "false", "null" };
    span_t rest = span_slice (text, *at, text.size);
    for (size_t i = 0; i < sizeof words / sizeof words [0]; i++)
        if (span_starts_with (rest, span_from_string (words [i]))) {
            *at += strlen (words [i]);
            return STATUS_OK;
        }
    return s_refuse (*at, error, "unexpected text");
}

static bool
s_is_key (span_t text, size_t behind)
{
    while (behind < text.size && s_is_space (text.data [behind]))
        behind++;
    return behind < text.size && text.data [behind] == ':';
}

//  json-c keeps keys as C strings: a NUL would cut one, and make it another key.
static bool
s_holds_nul (span_t string)
{
    for (size_t i = 0; i < string.size; i++)
        if (string.data [i] == '\\' && span_starts_with (span_slice (string, ++i, string.size), SPAN ("u0000")))
            return true;
    return false;
}

static status_t
s_check_string (span_t text, size_t *at, error_t *error)
{
    size_t start = ++*at;
    for (; *at < text.size && text.data [*at] != '"'; (*at)++) {
        if (text.data [*at] < 0x20)
            return s_refuse (*at, error, "a raw control character in a string");
        if (text.data [*at] == '\\')
            ++*at;
    }
    if (*at >= text.size)
        return s_refuse (text.size, error, "a string without an end");
    span_t string = span_slice (text, start, *at - start);
    ++*at;
    if (s_holds_nul (string) && s_is_key (text, *at))
        return s_refuse (start, error, "a key with a NUL");
    return STATUS_OK;
}

static status_t
s_check_token (span_t text, size_t *at, bool *beyond, error_t *error)
{
    uint8_t byte = text.data [*at];
    if (byte == '"')
        return s_check_string (text, at, error);
    if (byte == '-' || s_is_digit (byte))
        return s_check_number (text, at, beyond, error);
    if (!s_is_space (byte) && (byte == '\0' || !strchr ("[]{},:", byte)))
        return s_check_word (text, at, error);
    ++*at;
    return STATUS_OK;
}

status_t
json_check (span_t text, bool *beyond, error_t *error)
{
    size_t valid = utf8_valid_prefix (text);
    if (valid < text.size)
        return s_refuse (valid, error, "text that is not UTF-8");
    status_t status = STATUS_OK;
    *beyond = false;
    for (size_t at = 0; at < text.size && !status;)
        status = s_check_token (text, &at, beyond, error);
    return status;
}
