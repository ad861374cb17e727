#include "base/json.h"

#include <json-c/json.h>
#include <string.h>

#include "base/json_check.h"

//  json-c has no const, and its trees are ours: the pointer is the same.
static json_object *
s_object (const json_t *self)
{
    return (json_object *)(uintptr_t)self;
}

static const json_t *
s_from_object (const json_object *object)
{
    return (const json_t *)object;
}

//  ---- Reading -------------------------------------------------------------------------------------------------------

//  Parsed, and nothing but blanks behind it.
static status_t
s_check_parsed (enum json_tokener_error result, size_t end, span_t text, error_t *error)
{
    if (result == json_tokener_continue || result == json_tokener_error_parse_eof)
        return error_set (error, STATUS_INVALID, "not JSON: it ends too early");
    if (result == json_tokener_error_depth)
        return error_set (error, STATUS_INVALID, "not JSON: nested deeper than %d at byte %zu", JSON_DEPTH_MAX, end);
    if (result != json_tokener_success)
        return error_set (error, STATUS_INVALID, "not JSON: %s at byte %zu", json_tokener_error_desc (result), end);
    if (span_trim (span_slice (text, end, text.size)).size)
        return error_set (error, STATUS_INVALID, "not JSON: something follows the value at byte %zu", end);
    return STATUS_OK;
}

//  The 16 bits of \uXXXX at the start of a text; 0 where no such escape stands there.
static uint32_t
s_unit (span_t text)
{
    uint32_t unit = 0;
    if (text.size < 6 || text.data [0] != '\\' || text.data [1] != 'u')
        return 0;
    for (size_t i = 2; i < 6; i++) {
        uint8_t byte = text.data [i];
        uint8_t letter = byte | 0x20;
        if (!(byte >= '0' && byte <= '9') && !(letter >= 'a' && letter <= 'f'))
            return 0;
        unit = unit * 16 + (byte <= '9' ? byte - (uint32_t)'0' : letter - (uint32_t)'a' + 10);
    }
    return unit;
}

//  The code point of two escapes at the start of a text that json-c would get wrong: one that ends in D800 to DFFF becomes
//  U+FFFD there (0.16).  0 for all else.
static uint32_t
s_misread_pair (span_t text)
{
    uint32_t high = s_unit (text);
    uint32_t low = s_unit (span_slice (text, 6, 6));
    if (high < 0xd800 || high > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return 0;
    uint32_t point = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return (point & 0xffff) >= 0xd800 && (point & 0xffff) <= 0xdfff ? point : 0;
}

//  The text with such pairs as the characters they mean, in `room`; the text itself where it has none.
static span_t
s_replace_pairs (span_t text, buffer_t *room)
{
    size_t copied = 0;
    for (size_t at = span_find_byte (text, '\\'); at < text.size;) {
        uint32_t point = s_misread_pair (span_slice (text, at, 12));
        if (point) {
            const uint8_t character [] = { (uint8_t)(0xf0 | point >> 18), (uint8_t)(0x80 | (point >> 12 & 0x3f)),
                (uint8_t)(0x80 | (point >> 6 & 0x3f)), (uint8_t)(0x80 | (point & 0x3f)) };
            buffer_append (room, span_slice (text, copied, at - copied));
            buffer_append (room, span_of (character, sizeof character));
            copied = at + 12;
        }
        at += point ? 12 : 2;    //  What is escaped begins no escape
        at += span_find_byte (span_slice (text, at, text.size), '\\');
    }
    if (!copied)
        return text;
    buffer_append (room, span_slice (text, copied, text.size));
    return buffer_span (room);
}

//  Behind the closing quote of a string that begins at at.
static size_t
s_pass_string (span_t text, size_t at)
{
    for (at++; at < text.size && text.data [at] != '"'; at++)
        at += text.data [at] == '\\';
    return at;
}

//  ---- Whole numbers beyond 64 bits ----------------------------------------------------------------------------------
//
//  json-c takes the next one that it has, but keeps the digits of what has an exponent.  So they go through it as what no JSON
//  has: with a zero before them and an exponent, both of which are taken off what it keeps.

static const char s_before [] = "0", s_behind [] = "E0";

//  Appends the number at the start of a text that json_check let pass.  Returns its bytes.
static size_t
s_wrap_number (span_t text, buffer_t *out)
{
    size_t sign = text.data [0] == '-', size = sign;
    while (size < text.size && text.data [size] >= '0' && text.data [size] <= '9')
        size++;
    bool real = size < text.size && strchr (".eE", text.data [size]);
    bool beyond = !real && json_is_beyond (span_slice (text, 0, size));
    buffer_append (out, span_slice (text, 0, sign));
    buffer_append_string (out, beyond ? s_before : "");
    buffer_append (out, span_slice (text, sign, size - sign));
    buffer_append_string (out, beyond ? s_behind : "");
    return size;
}

//  The text with all of them wrapped.
static span_t
s_wrap_numbers (span_t text, buffer_t *room)
{
    for (size_t at = 0; at < text.size;) {
        uint8_t byte = text.data [at];
        size_t size = byte == '"' ? s_pass_string (text, at) + 1 - at : 1;
        bool begins = byte == '-' || (byte >= '0' && byte <= '9');
        bool inside = begins && at && strchr ("0123456789.eE+-", text.data [at - 1]);
        if (begins && !inside)
            size = s_wrap_number (span_slice (text, at, text.size), room);
        else
            buffer_append (room, span_slice (text, at, size));
        at += size;
    }
    return buffer_span (room);
}

//  Takes off what a number was wrapped in, where it was: no other begins with a zero before a digit.
static void
s_unwrap_number (json_object *number)
{
    char *digits = json_object_get_userdata (number);
    if (!digits)
        return;
    digits += *digits == '-';
    if (digits [0] != '0' || digits [1] < '0' || digits [1] > '9')
        return;
    size_t size = strlen (digits) - (sizeof s_before - 1) - (sizeof s_behind - 1);
    memmove (digits, digits + sizeof s_before - 1, size);
    digits [size] = '\0';
}

static void
s_unwrap_numbers (json_object *tree)
{
    size_t count = json_object_is_type (tree, json_type_array) ? json_object_array_length (tree) : 0;
    for (size_t i = 0; i < count; i++)
        s_unwrap_numbers (json_object_array_get_idx (tree, i));
    if (json_object_is_type (tree, json_type_object)) {
        json_object_object_foreach (tree, key, value)
        {
            (void)key;
            s_unwrap_numbers (value);
        }
    }
    if (json_object_is_type (tree, json_type_double))
        s_unwrap_number (tree);
}

static status_t
s_parse (span_t text, json_t **tree, error_t *error)
{
    json_tokener *tokener = json_tokener_new_ex (JSON_DEPTH_MAX);
    json_tokener_set_flags (tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    json_object *object = json_tokener_parse_ex (tokener, (const char *)text.data, (int)text.size);
    size_t end = json_tokener_get_parse_end (tokener);
    //  A number that ends with the text may go on for all json-c knows: a NUL says that it does not.
    if (json_tokener_get_error (tokener) == json_tokener_continue)
        object = json_tokener_parse_ex (tokener, "", 1);
    status_t status = s_check_parsed (json_tokener_get_error (tokener), end, text, error);
    json_tokener_free (tokener);
    if (status == STATUS_OK)
        *tree = (json_t *)object;
    else
        json_object_put (object);
    return status;
}

//  The same of a text with such pairs, or such numbers where `beyond` says so.
static status_t
s_parse_rewritten (span_t text, bool beyond, json_t **tree, error_t *error)
{
    buffer_t pairs = { 0 }, numbers = { 0 };
    span_t plain = s_replace_pairs (text, &pairs);
    if (beyond)
        plain = s_wrap_numbers (plain, &numbers);
    status_t status = plain.size > INT32_MAX ? error_set (error, STATUS_LIMIT, "not JSON: larger than 2 GiB")
                                             : s_parse (plain, tree, error);
    if (!status && beyond)
        s_unwrap_numbers (s_object (*tree));
    //  What is wrong with it is wrong with the text, and told of its bytes.
    if (status && status != STATUS_LIMIT && plain.data != text.data)
        status = s_parse (text, tree, error);
    buffer_fini (&numbers);
    buffer_fini (&pairs);
    return status;
}

uint64_t
json_weight (span_t text)
{
    //  An object has room for sixteen members from the start.  A value has a place in its parent; an array's first one has
    //  no comma before it.
    enum { OBJECT = 800, ARRAY = 160, VALUE = 112, KEY = 32 };
    static const uint16_t weights [256] = {
        ['{'] = OBJECT + VALUE + KEY, ['['] = ARRAY + VALUE, [','] = VALUE + KEY, [':'] = VALUE
    };
    uint64_t weight = VALUE;
    for (size_t at = 0; at < text.size; at++) {
        weight += weights [text.data [at]];
        if (text.data [at] == '"')
            at = s_pass_string (text, at);
    }
    return weight;
}

status_t
json_parse (span_t text, json_t **tree, error_t *error)
{
    bool beyond;
    if (text.size > INT32_MAX)
        return error_set (error, STATUS_LIMIT, "not JSON: larger than 2 GiB");
    status_t status = json_check (text, &beyond, error);
    return status ? status : s_parse_rewritten (text, beyond, tree, error);
}

void
json_destroy (json_t **self_p)
{
    json_object_put (s_object (*self_p));
    *self_p = NULL;
}

//  Whether what json-c keeps as a double was written without fraction and exponent.
static bool
s_is_whole (const json_t *number)
{
    const char *digits = json_object_get_userdata (s_object (number));
    return digits && !strpbrk (digits, ".eE");
}

json_kind_t
json_kind (const json_t *self)
{
    static const json_kind_t kinds [] = {
        [json_type_null] = JSON_NULL,
        [json_type_boolean] = JSON_BOOL,
        [json_type_double] = JSON_REAL,
        [json_type_int] = JSON_INTEGER,
        [json_type_object] = JSON_OBJECT,
        [json_type_array] = JSON_ARRAY,
        [json_type_string] = JSON_STRING,
    };
    json_type type = json_object_get_type (s_object (self));
    return type == json_type_double && s_is_whole (self) ? JSON_INTEGER : kinds [type];
}

const char *
json_kind_name (json_kind_t kind)
{
    static const char *const names [] = {
        "null",
        "a boolean",
        "an integer",
        "a number",
        "a string",
        "an array",
        "an object",
    };
    return names [kind];
}

const json_t *
json_get (const json_t *self, const char *key)
{
    json_object *value = NULL;
    if (json_kind (self) == JSON_OBJECT)
        json_object_object_get_ex (s_object (self), key, &value);
    return s_from_object (value);
}

const json_t *
json_get_path (const json_t *self, const char *path)
{
    while (self && *path) {
        char key [64];
        size_t size = strcspn (path, ".");
        if (!span_copy_string (span_of (path, size), key, sizeof key))
            return NULL;
        self = json_get (self, key);
        path += size + (path [size] == '.');
    }
    return self;
}

size_t
json_count (const json_t *self)
{
    return json_kind (self) == JSON_ARRAY ? json_object_array_length (s_object (self)) : 0;
}

const json_t *
json_at (const json_t *self, size_t position)
{
    return s_from_object (position < json_count (self) ? json_object_array_get_idx (s_object (self), position) : NULL);
}

bool
json_next (const json_t *self, uintptr_t *cursor, span_t *key, const json_t **value)
{
    if (json_kind (self) != JSON_OBJECT || *cursor == UINTPTR_MAX)
        return false;
    struct json_object_iterator at = json_object_iter_begin (s_object (self));
    struct json_object_iterator end = json_object_iter_end (s_object (self));
    if (*cursor)
        at.opaque_ = (const void *)*cursor;
    if (json_object_iter_equal (&at, &end))
        return false;
    *key = span_from_string (json_object_iter_peek_name (&at));
    *value = s_from_object (json_object_iter_peek_value (&at));
    json_object_iter_next (&at);
    *cursor = at.opaque_ ? (uintptr_t)at.opaque_ : UINTPTR_MAX;
    return true;
}

//  ---- Values --------------------------------------------------------------------------------------------------------

span_t
json_string (const json_t *self)
{
    if (json_kind (self) != JSON_STRING)
        return (span_t){ NULL, 0 };
    return span_of (json_object_get_string (s_object (self)), (size_t)json_object_get_string_len (s_object (self)));
}

bool
json_is_true (const json_t *self)
{
    return json_kind (self) == JSON_BOOL && json_object_get_boolean (s_object (self));
}

span_t
json_digits (const json_t *self)
{
    bool kept = json_object_is_type (s_object (self), json_type_double);
    return span_from_string (kept ? json_object_get_userdata (s_object (self)) : NULL);
}

//  A whole number within 64 bits.
static bool
s_is_integer (const json_t *self)
{
    return json_object_is_type (s_object (self), json_type_int);
}

bool
json_to_i64 (const json_t *self, int64_t *value)
{
    if (s_is_integer (self)) {
        //  Between 2^63 and 2^64 json-c keeps it, and clamps it here.
        int64_t integer = json_object_get_int64 (s_object (self));
        if (integer == INT64_MAX && json_object_get_uint64 (s_object (self)) > INT64_MAX)
            return false;
        *value = integer;
        return true;
    }
    double real = json_kind (self) == JSON_REAL ? json_object_get_double (s_object (self)) : 0.5;
    if (!(real >= -9007199254740992.0 && real <= 9007199254740992.0) || (double)(int64_t)real != real)
        return false;
    *value = (int64_t)real;
    return true;
}

bool
json_to_u64 (const json_t *self, uint64_t *value)
{
    int64_t integer;
    if (s_is_integer (self) && json_object_get_int64 (s_object (self)) >= 0) {
        *value = json_object_get_uint64 (s_object (self));
        return true;
    }
    if (!json_to_i64 (self, &integer) || integer < 0)
        return false;
    *value = (uint64_t)integer;
    return true;
}

bool
json_to_double (const json_t *self, double *value)
{
    json_kind_t kind = json_kind (self);
    if (kind != JSON_INTEGER && kind != JSON_REAL)
        return false;
    *value = json_object_get_double (s_object (self));
    return true;
}

//  ---- Trees of our own ----------------------------------------------------------------------------------------------

json_t *
json_new_object (void)
{
    return (json_t *)json_object_new_object ();
}

json_t *
json_new_array (void)
{
    return (json_t *)json_object_new_array ();
}

json_t *
json_new_string (span_t text)
{
    return (json_t *)json_object_new_string_len (text.size ? (const char *)text.data : "", (int)text.size);
}

json_t *
json_new_bool (bool truth)
{
    return (json_t *)json_object_new_boolean (truth);
}

json_t *
json_share (const json_t *self)
{
    return (json_t *)json_object_get (s_object (self));
}

void
json_put (json_t *object, const char *key, json_t *value)
{
    json_object_object_add (s_object (object), key, s_object (value));
}

void
json_add (json_t *array, json_t *value)
{
    json_object_array_add (s_object (array), s_object (value));
}

void
json_render (const json_t *self, buffer_t *out)
{
    size_t size;
    const char *text = json_object_to_json_string_length (
        s_object (self), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
    buffer_append (out, span_of (text, size));
}
