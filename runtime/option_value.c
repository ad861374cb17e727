#include "runtime/option_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/suggest.h"

enum { MILLION = 1000000, IPC_PATH_MAX = 107 };

typedef struct {
    const char *name;    //  As written behind the number
    uint64_t factor;     //  Bytes, or ns
} unit_t;

//  Largest first among those that are written; spellings that are only read come last.
static const unit_t s_sizes [] = { { "TiB", 1ull << 40 }, { "GiB", 1ull << 30 }, { "MiB", 1ull << 20 },
    { "KiB", 1ull << 10 }, { "TB", 1000000000000 }, { "GB", 1000000000 }, { "MB", 1000000 }, { "kB", 1000 },
    { "KB", 1000 }, { "B", 1 }, { NULL, 0 } };

static const unit_t s_durations [] = { { "h", 3600000000000 }, { "min", 60000000000 }, { "s", 1000000000 },
    { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { "m", 60000000000 }, { "d", 86400000000000 }, { NULL, 0 } };

static const unit_t *
s_units (const option_t *row)
{
    return row->type == OPTION_SIZE ? s_sizes : s_durations;
}

//  ---- Numbers -------------------------------------------------------------------------------------------------------

//  A decimal number without sign and what stands behind it.
typedef struct {
    uint64_t whole;         //  Before the point
    uint64_t millionths;    //  Behind it
    bool too_large;         //  It does not fit
    const char *rest;       //  First character that is not part of it
} number_t;

static bool
s_digit (char c)
{
    return c >= '0' && c <= '9';
}

//  False where no number begins here, or where it is finer than a millionth.
static bool
s_read_number (const char *text, number_t *number)
{
    *number = (number_t){ 0 };
    if (!s_digit (*text))
        return false;
    for (; s_digit (*text); text++)
        if (__builtin_mul_overflow (number->whole, 10, &number->whole) ||
            __builtin_add_overflow (number->whole, (uint64_t)(*text - '0'), &number->whole))
            number->too_large = true;
    if (*text == '.') {
        uint64_t weight = MILLION;
        for (text++; s_digit (*text) && weight > 1; text++)
            number->millionths += (uint64_t)(*text - '0') * (weight /= 10);
        if (s_digit (*text) || text [-1] == '.')
            return false;
    }
    number->rest = text;
    return true;
}

//  number x factor; false where it does not fit.
static bool
s_scale (const number_t *number, uint64_t factor, uint64_t *value)
{
    uint64_t whole, part;
    if (number->too_large || __builtin_mul_overflow (number->whole, factor, &whole) ||
        __builtin_mul_overflow (number->millionths, factor, &part))
        return false;
    return !__builtin_add_overflow (whole, part / MILLION, value);
}

//  ---- Sentences -----------------------------------------------------------------------------------------------------

//  hint: what was meant, as suggest_text has it.
static status_t
s_refuse (const option_t *row, const char *text, const char *hint, error_t *error)
{
    buffer_t wanted = { 0 };
    option_value_describe (row, &wanted);
    error_set (error, STATUS_INVALID, "'%.100s' is not %s%s", text, buffer_string (&wanted), hint);
    buffer_fini (&wanted);
    return STATUS_INVALID;
}

static void
s_print_unsigned (const option_t *row, uint64_t value, buffer_t *out)
{
    if (row->type == OPTION_INTEGER) {
        buffer_print (out, "%llu", (unsigned long long)value);
        return;
    }
    for (const unit_t *unit = s_units (row); unit->name && value; unit++) {
        if (value % unit->factor == 0 && unit->factor > 1) {
            buffer_print (out, "%llu%s", (unsigned long long)(value / unit->factor), unit->name);
            return;
        }
    }
    buffer_print (out, "%llu%s", (unsigned long long)value, row->type == OPTION_DURATION && value ? "ns" : "");
}

static void
s_print_number (const option_t *row, int64_t value, buffer_t *out)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0)
        buffer_append_byte (out, '-');
    if (row->type != OPTION_DECIMAL) {
        s_print_unsigned (row, size, out);
        return;
    }
    buffer_print (out, "%llu.%06llu", (unsigned long long)(size / MILLION), (unsigned long long)(size % MILLION));
    while (out->data [out->size - 1] == '0' && out->data [out->size - 2] != '.')
        out->size--;
}

static bool
s_has_bounds (const option_t *row)
{
    return row->min || row->max;
}

//  "integer, 0 to 65535"
static void
s_describe_number (const option_t *row, const char *what, buffer_t *out)
{
    buffer_append_string (out, what);
    if (!s_has_bounds (row))
        return;
    buffer_append_string (out, row->max == INT64_MAX ? " of at least " : " from ");
    s_print_number (row, row->min, out);
    if (row->max == INT64_MAX)
        return;
    buffer_append_string (out, " to ");
    s_print_number (row, row->max, out);
}

static status_t
s_check_bounds (const option_t *row, const char *text, int64_t value, error_t *error)
{
    if (!s_has_bounds (row) || (value >= row->min && value <= row->max))
        return STATUS_OK;
    return s_refuse (row, text, "", error);
}

//  ---- Types ---------------------------------------------------------------------------------------------------------

static status_t
s_parse_bool (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    static const char *const words [] = { "true", "false", "yes", "no", "on", "off" };
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (text));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp (text, words [i]) == 0) {
            *(bool *)field = i % 2 == 0;
            return STATUS_OK;
        }
        suggest_offer (&suggest, words [i]);
    }
    return s_refuse (row, text, suggest_text (&suggest), error);
}

//  Integers and decimals.
static status_t
s_parse_signed (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    number_t number;
    bool negative = *text == '-';
    bool decimal = row->type == OPTION_DECIMAL;
    uint64_t size;
    if (!s_read_number (text + negative, &number) || *number.rest || (!decimal && strchr (text, '.')))
        return s_refuse (row, text, "", error);
    if (!s_scale (&number, decimal ? MILLION : 1, &size) || size > INT64_MAX)
        return error_set (error, STATUS_INVALID, "'%.100s' is too large", text);
    int64_t value = negative ? -(int64_t)size : (int64_t)size;
    status_t status = s_check_bounds (row, text, value, error);
    if (status == STATUS_OK)
        *(int64_t *)field = value;
    return status;
}

static const unit_t *
s_find_unit (const option_t *row, const char *name)
{
    for (const unit_t *unit = s_units (row); unit->name; unit++)
        if (strcmp (unit->name, name) == 0)
            return unit;
    return NULL;
}

static status_t
s_refuse_unit (const option_t *row, const char *text, const char *rest, error_t *error)
{
    if (!*rest)
        return error_set (
            error, STATUS_INVALID, "'%.100s' needs a unit: %.100ss, %.100sms or %.100smin", text, text, text, text);
    return error_set (error, STATUS_INVALID, "'%.100s' has the unknown unit '%.100s'; known are %s", text, rest,
        row->type == OPTION_SIZE ? "B, KiB, MiB, GiB, TiB, kB, MB, GB and TB" : "ns, us, ms, s, min, h and d");
}

//  Sizes and durations.
static status_t
s_parse_measure (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    number_t number;
    uint64_t value;
    if (!s_read_number (text, &number))
        return s_refuse (row, text, "", error);
    const char *unit_name = number.rest + strspn (number.rest, " ");
    const unit_t *unit = s_find_unit (row, unit_name);
    bool bare = !*unit_name && (row->type == OPTION_SIZE || (!number.whole && !number.millionths));
    if (!unit && !bare)
        return s_refuse_unit (row, text, unit_name, error);
    if (!s_scale (&number, unit ? unit->factor : 1, &value) || value > INT64_MAX)
        return error_set (error, STATUS_INVALID, "'%.100s' is too large", text);
    status_t status = s_check_bounds (row, text, (int64_t)value, error);
    if (status == STATUS_OK)
        *(uint64_t *)field = value;
    return status;
}

static bool
s_same_word (const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr ("-_", *a) && strchr ("-_", *b)))
            return false;
    return *a == *b;
}

static char
s_folded (char letter)
{
    return letter == '-' ? '_' : letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

//  Case does not count: it is a name that somebody wrote as he knows it.
static const option_refusal_t *
s_find_refusal (const option_t *row, const char *text)
{
    for (const option_refusal_t *refusal = row->refusals; refusal && refusal->word; refusal++) {
        size_t same = 0;
        while (text [same] && s_folded (text [same]) == s_folded (refusal->word [same]))
            same++;
        if (!text [same] && !refusal->word [same])
            return refusal;
    }
    return NULL;
}

static status_t
s_parse_enum (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (text));
    for (int i = 0; row->words [i]; i++) {
        if (s_same_word (text, row->words [i])) {
            *(int *)field = i;
            return STATUS_OK;
        }
        suggest_offer (&suggest, row->words [i]);
    }
    const option_refusal_t *refusal = s_find_refusal (row, text);
    return s_refuse (row, text, refusal ? refusal->sentence : suggest_text (&suggest), error);
}

static status_t
s_keep (span_t text, void *field, const option_context_t *context, error_t *error)
{
    char *copy = arena_new (context->memory, text.size + 1);
    if (!copy)
        return error_set (error, STATUS_LIMIT, "the configuration takes more memory than it may");
    if (text.size)
        memcpy (copy, text.data, text.size);
    *(const char **)field = copy;
    return STATUS_OK;
}

static status_t
s_parse_string (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    return s_keep (span_from_string (text), field, context, error);
}

//  HOST:PORT, PORT a number or * for one that the system chooses.
static bool
s_is_tcp (const char *address)
{
    const char *colon = strrchr (address, ':');
    uint64_t port;
    if (!colon || colon == address)
        return false;
    if (strcmp (colon + 1, "*") == 0)
        return true;
    return span_to_u64 (span_from_string (colon + 1), &port) && port <= UINT16_MAX;
}

static status_t
s_parse_endpoint (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    span_t endpoint = span_from_string (text);
    bool good = (span_starts_with (endpoint, SPAN ("tcp://")) && s_is_tcp (text + 6)) ||
                (span_starts_with (endpoint, SPAN ("ipc://")) && endpoint.size > 6) ||
                (span_starts_with (endpoint, SPAN ("inproc://")) && endpoint.size > 9);
    if (good && span_starts_with (endpoint, SPAN ("ipc://")) && endpoint.size - 6 > IPC_PATH_MAX)
        return error_set (
            error, STATUS_INVALID, "'%.100s...': the path of a socket has at most %d bytes", text, IPC_PATH_MAX);
    return good ? s_keep (endpoint, field, context, error) : s_refuse (row, text, "", error);
}

static status_t
s_parse_url (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    span_t url = span_from_string (text);
    bool good = (span_starts_with (url, SPAN ("http://")) && url.size > 7) ||
                (span_starts_with (url, SPAN ("https://")) && url.size > 8);
    return good ? s_keep (url, field, context, error) : s_refuse (row, text, "", error);
}

static status_t
s_parse_secret (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    span_t secret = span_from_string (text);
    if (!span_starts_with (secret, SPAN ("file:")))
        return s_keep (secret, field, context, error);
    if (!context->world || !context->world->read_file)
        return error_set (error, STATUS_UNSUPPORTED, "'file:' cannot be used here");
    buffer_t content = { 0 };
    status_t status = context->world->read_file (context->world->arg, text + 5, &content, error);
    if (status == STATUS_OK)
        status = s_keep (span_trim (buffer_span (&content)), field, context, error);
    buffer_fini (&content);
    return status;
}

//  ---- Strings -------------------------------------------------------------------------------------------------------

bool
option_value_keep_strings (
    const char *const *items, size_t count, option_strings_t *out, const option_context_t *context)
{
    const char **kept = arena_new (context->memory, (count + 1) * sizeof *kept);
    if (!kept)
        return false;
    for (size_t i = 0; i < count; i++)
        if (s_keep (span_from_string (items [i]), &kept [i], context, NULL) != STATUS_OK)
            return false;
    *out = (option_strings_t){ .items = kept, .count = count };
    return true;
}

//  Takes the next word off a command and appends it with a NUL; false at the end, or where a quote stays open.
static bool
s_next_word (const char **text_p, buffer_t *word, bool *open)
{
    const char *text = *text_p + strspn (*text_p, " \t\n");
    char quote = 0;
    bool any = *text != 0;
    for (; *text && (quote || !strchr (" \t\n", *text)); text++) {
        if (quote ? *text == quote : *text == '\'' || *text == '"')
            quote = quote ? 0 : *text;
        else if (*text == '\\' && quote != '\'' && text [1])
            buffer_append_byte (word, (uint8_t) * ++text);
        else
            buffer_append_byte (word, (uint8_t)*text);
    }
    buffer_append_byte (word, 0);
    *open = quote != 0;
    *text_p = text;
    return any && !quote;
}

//  Cuts at commas.
static bool
s_next_item (const char **text_p, buffer_t *item)
{
    const char *text = *text_p;
    if (!*text)
        return false;
    size_t size = strcspn (text, ",");
    buffer_append (item, span_trim (span_of (text, size)));
    buffer_append_byte (item, 0);
    *text_p = text + size + (text [size] == ',');
    return true;
}

//  OPTION_STRINGS and OPTION_COMMAND from one text.
static status_t
s_parse_strings (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    buffer_t words = { 0 };
    array_t items;
    array_init (&items, sizeof (const char *));
    bool open = false;
    size_t count = 0;
    const char *at = text;
    while (row->type == OPTION_COMMAND ? s_next_word (&at, &words, &open) : s_next_item (&at, &words))
        count++;
    for (size_t i = 0, start = 0; i < count; i++, start += strlen ((char *)words.data + start) + 1)
        *(const char **)array_add (&items) = (char *)words.data + start;
    status_t status = STATUS_OK;
    if (open)
        status = error_set (error, STATUS_INVALID, "'%.100s' has a quote that is not closed", text);
    else if (!option_value_keep_strings (items.data, items.count, field, context))
        status = error_set (error, STATUS_LIMIT, "the configuration takes more memory than it may");
    array_fini (&items);
    buffer_fini (&words);
    return status;
}

//  ---- The types as a table ------------------------------------------------------------------------------------------

typedef status_t (parse_fn) (
    const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error);

static parse_fn *const s_parsers [] = {
    [OPTION_BOOL] = s_parse_bool,
    [OPTION_INTEGER] = s_parse_signed,
    [OPTION_DECIMAL] = s_parse_signed,
    [OPTION_SIZE] = s_parse_measure,
    [OPTION_DURATION] = s_parse_measure,
    [OPTION_STRING] = s_parse_string,
    [OPTION_ENUM] = s_parse_enum,
    [OPTION_STRINGS] = s_parse_strings,
    [OPTION_COMMAND] = s_parse_strings,
    [OPTION_ENDPOINT] = s_parse_endpoint,
    [OPTION_URL] = s_parse_url,
    [OPTION_SECRET] = s_parse_secret,
};

status_t
option_value_parse (const option_t *row, const char *text, void *field, const option_context_t *context, error_t *error)
{
    BUG_ON (row->type > OPTION_SECRET);
    return s_parsers [row->type](row, text, field, context, error);
}

void
option_value_describe (const option_t *row, buffer_t *out)
{
    static const char *const plain [] = {
        [OPTION_BOOL] = "true or false",
        [OPTION_STRING] = "text",
        [OPTION_STRINGS] = "a list of texts",
        [OPTION_COMMAND] = "a command",
        [OPTION_ENDPOINT] = "an endpoint (tcp://HOST:PORT, ipc://PATH)",
        [OPTION_URL] = "a URL (http://HOST:PORT)",
        [OPTION_SECRET] = "a secret, or file:PATH",
        [OPTION_SECTION] = "a section",
        [OPTION_LIST] = "a list of sections",
    };
    switch (row->type) {
    case OPTION_INTEGER:
        s_describe_number (row, "a whole number", out);
        break;
    case OPTION_DECIMAL:
        s_describe_number (row, "a number", out);
        break;
    case OPTION_SIZE:
        s_describe_number (row, "a size (64MiB, 2GB)", out);
        break;
    case OPTION_DURATION:
        s_describe_number (row, "a duration (30s, 250ms, 20min)", out);
        break;
    case OPTION_ENUM:
        for (size_t i = 0; row->words [i]; i++)
            buffer_print (out, "%s%s", i ? "|" : "", row->words [i]);
        break;
    default:
        buffer_append_string (out, plain [row->type]);
    }
}

//  ---- Writing -------------------------------------------------------------------------------------------------------

static bool
s_is_plain (const char *text)
{
    static const char *const taken [] = { "~", "null", "true", "false", "yes", "no", "on", "off", NULL };
    for (size_t i = 0; taken [i]; i++)
        if (strcmp (text, taken [i]) == 0)
            return false;
    if (!*text || strchr ("-?:,[]{}#&*!|>'\"%@`= ", *text) || strstr (text, ": ") || strstr (text, " #") ||
        strstr (text, "${"))
        return false;
    for (; *text; text++)
        if ((uint8_t)*text < ' ' || *text == 0x7f || strchr ("[]{},", *text) || (*text == ':' && !text [1]) ||
            (*text == ' ' && !text [1]))
            return false;
    return true;
}

void
option_value_quote (const char *text, buffer_t *out)
{
    if (s_is_plain (text)) {
        buffer_append_string (out, text);
        return;
    }
    buffer_append_byte (out, '"');
    for (; *text; text++) {
        if ((uint8_t)*text < ' ' || *text == 0x7f)
            buffer_print (out, "\\x%02x", (uint8_t)*text);
        else if (text [0] == '$' && text [1] == '{')
            buffer_append_string (out, "$$");
        else
            buffer_print (out, "%s%c", strchr ("\"\\", *text) ? "\\" : "", *text);
    }
    buffer_append_byte (out, '"');
}

static void
s_render_strings (const option_strings_t *strings, buffer_t *out)
{
    buffer_append_byte (out, '[');
    for (size_t i = 0; i < strings->count; i++) {
        buffer_append_string (out, i ? ", " : "");
        option_value_quote (strings->items [i], out);
    }
    buffer_append_byte (out, ']');
}

void
option_value_render (const option_t *row, const void *field, buffer_t *out)
{
    switch (row->type) {
    case OPTION_BOOL:
        buffer_append_string (out, *(const bool *)field ? "true" : "false");
        break;
    case OPTION_INTEGER:
    case OPTION_DECIMAL:
    case OPTION_SIZE:
    case OPTION_DURATION:
        s_print_number (row, *(const int64_t *)field, out);
        break;
    case OPTION_ENUM:
        buffer_append_string (out, row->words [*(const int *)field]);
        break;
    case OPTION_STRINGS:
    case OPTION_COMMAND:
        s_render_strings (field, out);
        break;
    case OPTION_SECRET:
        break;
    default:
        option_value_quote (*(const char *const *)field, out);
    }
}
