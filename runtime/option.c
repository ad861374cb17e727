#include "runtime/option.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "runtime/option_value.h"
#include "base/suggest.h"

enum { PATH_MAX_SIZE = 256, LIST_MAX = 10000 };

static void *
s_field (option_target_t target, const option_t *row)
{
    return (uint8_t *)target.fields + row->offset;
}

static option_target_t
s_inside (option_target_t target, const option_t *row)
{
    return (option_target_t){ row->table, s_field (target, row) };
}

static bool
s_is_value (const option_t *row)
{
    return row->type <= OPTION_SECRET;
}

static bool
s_is_strings (const option_t *row)
{
    return row->type == OPTION_STRINGS || row->type == OPTION_COMMAND;
}

//  ---- Defaults ------------------------------------------------------------------------------------------------------

//  What a field without a default holds.
static void
s_set_nothing (const option_t *row, void *field)
{
    switch (row->type) {
    case OPTION_BOOL:
        *(bool *)field = false;
        break;
    case OPTION_ENUM:
        *(int *)field = 0;
        break;
    case OPTION_INTEGER:
    case OPTION_DECIMAL:
    case OPTION_SIZE:
    case OPTION_DURATION:
        *(int64_t *)field = 0;
        break;
    case OPTION_STRINGS:
    case OPTION_COMMAND:
        *(option_strings_t *)field = (option_strings_t){ 0 };
        break;
    case OPTION_LIST:
        *(option_list_t *)field = (option_list_t){ 0 };
        break;
    default:
        *(const char **)field = "";
    }
}

static void
s_set_default (const option_t *row, void *field, option_context_t *context)
{
    error_t error;
    s_set_nothing (row, field);
    if (row->fallback && option_value_parse (row, row->fallback, field, context, &error) != STATUS_OK)
        BUG_ON (error.status != STATUS_LIMIT);
}

void
option_set_defaults (option_target_t target, option_context_t *context)
{
    for (const option_t *row = target.table; row->name; row++) {
        if (row->type == OPTION_SECTION || row->type == OPTION_INCLUDE)
            option_set_defaults (s_inside (target, row), context);
        else
            s_set_default (row, s_field (target, row), context);
    }
}

//  ---- Files ---------------------------------------------------------------------------------------------------------

static void s_read_node (option_target_t target, const option_t *row, const config_node_t *node, const char *path,
    option_context_t *context);

//  The row of a key, and the struct it is in; rows of included tables count as ours.
static const option_t *
s_find (option_target_t target, const char *name, option_target_t *owner)
{
    for (const option_t *row = target.table; row->name; row++) {
        if (row->type != OPTION_INCLUDE && strcmp (row->name, name) == 0) {
            *owner = target;
            return row;
        }
        const option_t *found = row->type == OPTION_INCLUDE ? s_find (s_inside (target, row), name, owner) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static void
s_offer_names (const option_t *table, suggest_t *suggest)
{
    for (const option_t *row = table; row->name; row++) {
        if (row->type == OPTION_INCLUDE)
            s_offer_names (row->table, suggest);
        else if (!(row->traits & OPTION_HIDDEN))
            suggest_offer (suggest, row->name);
    }
}

static void
s_complain_unknown (const option_t *table, const config_node_t *node, const char *path, option_context_t *context)
{
    suggest_t suggest;
    suggest_init (&suggest, span_from_string (node->key));
    s_offer_names (table, &suggest);
    complaints_add (context->complaints, node->key_place, "unknown key '%s'%s%s%s", node->key, *path ? " in " : "",
        path, suggest_text (&suggest));
}

static bool
s_expect (config_kind_t kind, const config_node_t *node, const char *path, option_context_t *context)
{
    if (node->kind != kind)
        complaints_add (context->complaints, node->place, "%s must be %s, not %s", path, config_kind_name (kind),
            config_kind_name (node->kind));
    return node->kind == kind;
}

static void
s_read_value (const option_t *row, void *field, const config_node_t *node, const char *path, option_context_t *context)
{
    error_t error;
    if (s_expect (CONFIG_SCALAR, node, path, context) &&
        option_value_parse (row, node->text, field, context, &error) != STATUS_OK)
        complaints_add (context->complaints, node->place, "%s: %s", path, error.text);
}

static void
s_read_strings (void *field, const config_node_t *node, const char *path, option_context_t *context)
{
    array_t items;
    array_init (&items, sizeof (const char *));
    for (const config_node_t *child = node->first; child; child = child->next) {
        char name [PATH_MAX_SIZE];
        snprintf (name, sizeof name, "%s[%zu]", path, items.count);
        if (s_expect (CONFIG_SCALAR, child, name, context))
            *(const char **)array_add (&items) = child->text;
    }
    if (!option_value_keep_strings (items.data, items.count, field, context))
        complaints_add (context->complaints, node->place, "%s takes more memory than a configuration may", path);
    array_fini (&items);
}

static void
s_read_list (
    const option_t *row, option_list_t *list, const config_node_t *node, const char *path, option_context_t *context)
{
    if (!s_expect (CONFIG_LIST, node, path, context))
        return;
    void *items = node->count <= LIST_MAX ? arena_new (context->memory, node->count * row->size + 1) : NULL;
    if (!items) {
        complaints_add (context->complaints, node->place, "%s has too many elements", path);
        return;
    }
    *list = (option_list_t){ .items = items, .count = node->count };
    size_t position = 0;
    for (const config_node_t *child = node->first; child; child = child->next, position++) {
        option_target_t element = { row->table, (uint8_t *)items + position * row->size };
        char name [PATH_MAX_SIZE];
        snprintf (name, sizeof name, "%s[%zu]", path, position);
        option_set_defaults (element, context);
        if (s_expect (CONFIG_SECTION, child, name, context))
            option_read_section (element, child, name, context);
    }
}

static void
s_read_node (
    option_target_t target, const option_t *row, const config_node_t *node, const char *path, option_context_t *context)
{
    void *field = s_field (target, row);
    if (config_is_null (node))
        return;
    if (row->type == OPTION_LIST)
        s_read_list (row, field, node, path, context);
    else if (row->type == OPTION_SECTION) {
        if (s_expect (CONFIG_SECTION, node, path, context))
            option_read_section (s_inside (target, row), node, path, context);
    } else if (s_is_strings (row) && node->kind == CONFIG_LIST)
        s_read_strings (field, node, path, context);
    else
        s_read_value (row, field, node, path, context);
}

static void
s_complain_missing (const option_t *table, const config_node_t *node, const char *path, option_context_t *context)
{
    for (const option_t *row = table; row->name; row++) {
        if (row->type == OPTION_INCLUDE)
            s_complain_missing (row->table, node, path, context);
        else if (row->traits & OPTION_REQUIRED && !config_child (node, row->name))
            complaints_add (context->complaints, node->place, "%s has no '%s'", *path ? path : "the file", row->name);
    }
}

void
option_read_section (option_target_t target, const config_node_t *node, const char *path, option_context_t *context)
{
    for (const config_node_t *child = node->first; child; child = child->next) {
        option_target_t owner;
        const option_t *row = s_find (target, child->key, &owner);
        if (!row) {
            s_complain_unknown (target.table, child, path, context);
            continue;
        }
        char name [PATH_MAX_SIZE];
        snprintf (name, sizeof name, "%s%s%s", path, *path ? "." : "", row->name);
        s_read_node (owner, row, child, name, context);
    }
    s_complain_missing (target.table, node, path, context);
}

//  ---- Flags ---------------------------------------------------------------------------------------------------------

//  A word of the command line, taken apart.
typedef struct {
    span_t name;          //  Without dashes; '_' still as typed
    const char *value;    //  Behind '='; NULL where there is none
    bool short_form;      //  -o rather than --output
    bool negated;         //  --no-NAME
} flag_t;

static void
s_flag_name (const char *prefix, const char *name, char *out, size_t size)
{
    snprintf (out, size, "%s%s%s", prefix, *prefix ? "-" : "", name);
    for (char *c = out; *c; c++)
        if (*c == '_')
            *c = '-';
}

//  What a row with a value is called on the command line.
static const char *
s_long_flag (const option_t *row, const char *path)
{
    return row->flag ? row->flag : path;
}

static bool
s_flag_is (const flag_t *flag, const char *name)
{
    size_t size = strlen (name);
    if (flag->name.size != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char typed = (char)flag->name.data [i];
        if ((typed == '_' ? '-' : typed) != name [i])
            return false;
    }
    return true;
}

//  The row of a flag.
static const option_t *
s_find_flag (option_target_t target, const flag_t *flag, const char *prefix, void **field)
{
    for (const option_t *row = target.table; row->name; row++) {
        char name [PATH_MAX_SIZE];
        s_flag_name (prefix, row->type == OPTION_INCLUDE ? "" : row->name, name, sizeof name);
        if (row->type == OPTION_SECTION || row->type == OPTION_INCLUDE) {
            const option_t *found =
                s_find_flag (s_inside (target, row), flag, row->type == OPTION_INCLUDE ? prefix : name, field);
            if (found)
                return found;
        }
        if (!s_is_value (row))
            continue;
        *field = s_field (target, row);
        if (flag->short_form ? row->letter && (char)flag->name.data [0] == row->letter
                             : s_flag_is (flag, s_long_flag (row, name)))
            return row;
    }
    return NULL;
}

//  Who says where a row stands is told its flag.
static void
s_offer_flags (const option_t *table, const char *prefix, suggest_t *suggest)
{
    for (const option_t *row = table; row->name; row++) {
        char name [PATH_MAX_SIZE], flag [PATH_MAX_SIZE + 2];
        bool include = row->type == OPTION_INCLUDE;
        s_flag_name (prefix, include ? "" : row->name, name, sizeof name);
        if (include || row->type == OPTION_SECTION)
            s_offer_flags (row->table, include ? prefix : name, suggest);
        if (!s_is_value (row) || row->traits & OPTION_HIDDEN)
            continue;
        snprintf (flag, sizeof flag, "--%s", s_long_flag (row, name));
        suggest_offer_as (suggest, name, flag);
        suggest_offer_as (suggest, s_long_flag (row, name), flag);
    }
}

static void
s_complain_flag (
    const option_target_t *targets, size_t count, const char *word, const flag_t *flag, option_context_t *context)
{
    suggest_t suggest;
    suggest_init (&suggest, flag->name);
    for (size_t i = 0; i < count && !flag->short_form; i++)
        s_offer_flags (targets [i].table, "", &suggest);
    const char *meant = suggest_text (&suggest);
    complaints_add (
        context->complaints, (place_t){ 0 }, "unknown flag '%.100s'%s", word, *meant ? meant : "; --help lists them");
}

//  False where the word is no flag.
static bool
s_take_apart (const char *word, flag_t *flag)
{
    *flag = (flag_t){ 0 };
    if (word [0] != '-' || !word [1])
        return false;
    flag->short_form = word [1] != '-';
    span_t rest = span_from_string (word + (flag->short_form ? 1 : 2));
    size_t equals = span_find_byte (rest, '=');
    flag->name = span_slice (rest, 0, equals);
    if (equals < rest.size)
        flag->value = (const char *)rest.data + equals + 1;
    if (flag->short_form && flag->name.size > 1 && !flag->value) {
        flag->value = (const char *)rest.data + 1;
        flag->name.size = 1;
    }
    return true;
}

//  Finds the row of a flag in any of the targets, `--no-` put aside where only that helps.
static const option_t *
s_lookup (const option_target_t *targets, size_t count, flag_t *flag, void **field)
{
    for (size_t i = 0; i < count; i++) {
        const option_t *row = s_find_flag (targets [i], flag, "", field);
        if (row)
            return row;
    }
    if (flag->short_form || flag->negated || flag->value || !span_starts_with (flag->name, SPAN ("no-")))
        return NULL;
    flag_t positive = { .name = span_slice (flag->name, 3, SIZE_MAX), .negated = true };
    const option_t *row = s_lookup (targets, count, &positive, field);
    if (!row || row->type != OPTION_BOOL)
        return NULL;
    *flag = positive;
    return row;
}

//  Reads the flag in words [*at], and its value in the next word where it has one.
static void
s_read_flag (const option_target_t *targets, size_t target_count, const char *const *words, size_t count, size_t *at,
    flag_t *flag, option_context_t *context)
{
    const char *word = words [*at];
    void *field = NULL;
    const option_t *row = s_lookup (targets, target_count, flag, &field);
    if (!row) {
        s_complain_flag (targets, target_count, word, flag, context);
        return;
    }
    const char *value = flag->value;
    if (row->type == OPTION_BOOL && !value)
        value = flag->negated ? "false" : "true";
    else if (!value && *at + 1 < count)
        value = words [++*at];
    error_t error;
    if (!value)
        complaints_add (context->complaints, (place_t){ 0 }, "'%.100s' needs a value", word);
    else if (option_value_parse (row, value, field, context, &error) != STATUS_OK)
        complaints_add (context->complaints, (place_t){ 0 }, "%s%.*s: %s", flag->short_form ? "-" : "--",
            SPAN_ARG (flag->name), error.text);
}

void
option_read_arguments (const option_target_t *targets, size_t target_count, const char *const *words, size_t count,
    array_t *rest, option_context_t *context)
{
    bool flags = true;
    for (size_t at = 0; at < count; at++) {
        flag_t flag;
        if (flags && strcmp (words [at], "--") == 0)
            flags = false;
        else if (flags && s_take_apart (words [at], &flag))
            s_read_flag (targets, target_count, words, count, &at, &flag, context);
        else
            *(const char **)array_add (rest) = words [at];
    }
}

//  ---- Soundness -----------------------------------------------------------------------------------------------------

static bool
s_row_is_sound (const option_t *table, const option_t *row, option_context_t *context, error_t *error)
{
    union {
        int64_t number;
        option_strings_t strings;
    } scratch;
    if (row->type != OPTION_INCLUDE && (!row->doc || !*row->doc))
        return error_set (error, STATUS_INVALID, "'%s' has no sentence", row->name) == STATUS_OK;
    for (const option_t *other = table; other < row; other++)
        if (strcmp (other->name, row->name) == 0 && row->type != OPTION_INCLUDE)
            return error_set (error, STATUS_INVALID, "'%s' is there twice", row->name) == STATUS_OK;
    if (!s_is_value (row))
        return row->table ? option_table_is_sound (row->table, error)
                          : error_set (error, STATUS_INVALID, "'%s' has no table", row->name) == STATUS_OK;
    const char *const texts [] = { row->fallback, row->type == OPTION_SECRET ? NULL : row->example };
    for (size_t i = 0; i < 2; i++)
        if (texts [i] && option_value_parse (row, texts [i], &scratch, context, error) != STATUS_OK)
            return error_prefix (error, "%s", row->name) == STATUS_OK;
    return true;
}

bool
option_table_is_sound (const option_t *table, error_t *error)
{
    arena_t memory;
    arena_init (&memory, SIZE_MAX);
    option_context_t context = { .memory = &memory };
    bool sound = true;
    for (const option_t *row = table; row->name && sound; row++)
        sound = s_row_is_sound (table, row, &context, error);
    arena_fini (&memory);
    return sound;
}
