//  What a table says to people: the help of a command, the shipped configuration file, the manual.

#include "runtime/option.h"

#include <string.h>

#include "runtime/option_value.h"

enum { WIDTH = 100, HELP_COLUMN = 34, INDENT = 2 };

static bool
s_is_shown (const option_t *row)
{
    return !(row->traits & OPTION_HIDDEN);
}

static bool
s_is_value (const option_t *row)
{
    return row->type <= OPTION_SECRET;
}

static void
s_pad (buffer_t *out, size_t count)
{
    while (count--)
        buffer_append_byte (out, ' ');
}

//  Words of `text` in lines that begin with `first`, then `next`.
static void
s_wrap (const char *text, const char *first, size_t indent, const char *next, buffer_t *out)
{
    size_t column = 0;
    for (const char *at = text; *at;) {
        size_t size = strcspn (at, " ");
        if (!column || column + 1 + size > WIDTH) {
            if (column)
                buffer_append_byte (out, '\n');
            s_pad (out, indent);
            buffer_append_string (out, column ? next : first);
            column = indent + strlen (first);
        } else {
            buffer_append_byte (out, ' ');
            column++;
        }
        buffer_append (out, span_of (at, size));
        column += size;
        at += size;
        at += strspn (at, " ");
    }
    buffer_append_byte (out, '\n');
}

//  ---- Help ----------------------------------------------------------------------------------------------------------

static void
s_print_flag_name (const char *name, buffer_t *out)
{
    for (; *name; name++)
        buffer_append_byte (out, *name == '_' ? '-' : (uint8_t)*name);
}

static const char *
s_placeholder (const option_t *row)
{
    static const char *const names [] = {
        [OPTION_BOOL] = "",
        [OPTION_INTEGER] = " N",
        [OPTION_DECIMAL] = " N",
        [OPTION_SIZE] = " SIZE",
        [OPTION_DURATION] = " TIME",
        [OPTION_STRING] = " TEXT",
        [OPTION_ENUM] = " ",
        [OPTION_STRINGS] = " A,B",
        [OPTION_COMMAND] = " COMMAND",
        [OPTION_ENDPOINT] = " ENDPOINT",
        [OPTION_URL] = " URL",
        [OPTION_SECRET] = " SECRET",
    };
    return names [row->type];
}

static void
s_print_flag (const option_t *row, const char *prefix, buffer_t *out)
{
    buffer_t head = { 0 }, text = { 0 };
    buffer_append_string (&head, "  --");
    s_print_flag_name (row->flag ? "" : prefix, &head);
    s_print_flag_name (row->flag ? row->flag : row->name, &head);
    buffer_append_string (&head, s_placeholder (row));
    if (row->type == OPTION_ENUM)
        option_value_describe (row, &head);
    if (row->letter)
        buffer_print (&head, ", -%c", row->letter);
    buffer_append_string (&text, row->doc);
    if (row->fallback && row->type != OPTION_BOOL)
        buffer_print (&text, " [%s]", row->fallback);
    buffer_append (out, buffer_span (&head));
    if (head.size + 2 > HELP_COLUMN) {
        buffer_append_byte (out, '\n');
        s_pad (out, HELP_COLUMN);
    } else {
        s_pad (out, HELP_COLUMN - head.size);
    }
    buffer_t wrapped = { 0 };
    s_wrap (buffer_string (&text), "", HELP_COLUMN, "", &wrapped);
    buffer_append (out, span_slice (buffer_span (&wrapped), HELP_COLUMN, SIZE_MAX));
    buffer_fini (&wrapped);
    buffer_fini (&text);
    buffer_fini (&head);
}

static void
s_print_flags (const option_t *table, const char *prefix, buffer_t *out)
{
    for (const option_t *row = table; row->name; row++) {
        if (!s_is_shown (row))
            continue;
        if (row->type == OPTION_INCLUDE)
            s_print_flags (row->table, prefix, out);
        else if (s_is_value (row))
            s_print_flag (row, prefix, out);
        else if (row->type == OPTION_SECTION) {
            buffer_t inner = { 0 };
            buffer_print (&inner, "%s%s-", prefix, row->name);
            s_print_flags (row->table, buffer_string (&inner), out);
            buffer_fini (&inner);
        }
    }
}

void
option_print_help (const option_t *table, buffer_t *out)
{
    s_print_flags (table, "", out);
}

//  ---- The shipped file ----------------------------------------------------------------------------------------------

//  How lines begin while a file is printed.
typedef struct {
    size_t indent;    //  Blanks
    bool inactive;    //  The keys are commented out: they show what an element of a list has
    size_t inner;     //  Inactive: blanks between '#' and the key
    bool dash;        //  Inactive: the next key begins an element
    bool begun;       //  Something was printed here: a blank line comes between
} style_t;

static void
s_print_comment (const option_t *row, const style_t *style, buffer_t *out)
{
    buffer_t text = { 0 };
    buffer_append_string (&text, row->doc);
    if (row->advice)
        buffer_print (&text, " %s", row->advice);
    if (row->traits & OPTION_LIVE)
        buffer_append_string (&text, " A reload changes it.");
    if (row->flag)
        buffer_print (&text, " Its flag is --%s.", row->flag);
    if (s_is_value (row)) {
        buffer_append_string (&text, " [");
        option_value_describe (row, &text);
        buffer_append_string (&text, row->traits & OPTION_REQUIRED ? "; must be given]" : "]");
    }
    s_wrap (buffer_string (&text), "#  ", style->indent, "#  ", out);
    buffer_fini (&text);
}

static void
s_print_key (const option_t *row, style_t *style, bool inactive, buffer_t *out)
{
    s_pad (out, style->indent);
    if (inactive)
        buffer_append_byte (out, '#');
    s_pad (out, style->dash ? style->inner - INDENT : style->inner);
    buffer_print (out, "%s%s:", style->dash ? "- " : "", row->name);
    style->dash = false;
}

static void s_print_rows (const option_t *table, style_t *style, buffer_t *out);

static void
s_print_default (const option_t *row, style_t *style, buffer_t *out)
{
    const char *value = row->fallback ? row->fallback : row->example;
    bool text = row->type == OPTION_STRING || row->type == OPTION_ENDPOINT || row->type == OPTION_URL;
    s_print_key (row, style, style->inactive || !row->fallback, out);
    buffer_append_byte (out, ' ');
    if (!value || !*value)
        buffer_append_string (out, "\"\"");
    else if (text)
        option_value_quote (value, out);
    else
        buffer_append_string (out, value);
    buffer_append_byte (out, '\n');
}

static void
s_print_section (const option_t *row, style_t *style, buffer_t *out)
{
    style_t inside = *style;
    *(style->inactive ? &inside.inner : &inside.indent) += INDENT;
    inside.begun = inside.dash = false;
    s_print_key (row, style, style->inactive, out);
    buffer_append_byte (out, '\n');
    s_print_rows (row->table, &inside, out);
}

static void
s_print_list (const option_t *row, style_t *style, buffer_t *out)
{
    style_t inside = { .indent = style->indent, .inactive = true, .inner = style->inner + 2 * INDENT, .dash = true };
    s_print_key (row, style, true, out);
    buffer_append_byte (out, '\n');
    s_print_rows (row->table, &inside, out);
}

static void
s_print_rows (const option_t *table, style_t *style, buffer_t *out)
{
    for (const option_t *row = table; row->name; row++) {
        if (!s_is_shown (row))
            continue;
        if (row->type == OPTION_INCLUDE) {
            s_print_rows (row->table, style, out);
            continue;
        }
        if (style->begun)
            buffer_append_byte (out, '\n');
        style->begun = true;
        s_print_comment (row, style, out);
        if (row->type == OPTION_SECTION)
            s_print_section (row, style, out);
        else if (row->type == OPTION_LIST)
            s_print_list (row, style, out);
        else
            s_print_default (row, style, out);
    }
}

//  ---- What a struct holds -------------------------------------------------------------------------------------------

//  How a struct is printed.
typedef struct {
    buffer_t *out;         //  Where to
    bool secrets;          //  Also what nobody else may read
    const char *bullet;    //  What stands before the next key: "- " or nothing
} dump_t;

//  A value without a default that nobody has given.
static bool
s_says_nothing (const option_t *row, const void *field)
{
    if (row->fallback || row->type == OPTION_BOOL || row->type == OPTION_ENUM)
        return false;
    if (row->type == OPTION_STRINGS || row->type == OPTION_COMMAND)
        return ((const option_strings_t *)field)->count == 0;
    if (row->type == OPTION_INTEGER || row->type == OPTION_DECIMAL || row->type == OPTION_SIZE ||
        row->type == OPTION_DURATION)
        return *(const int64_t *)field == 0;
    return !**(const char *const *)field;
}

static void s_dump_rows (dump_t *self, option_target_t target, size_t indent);

static void
s_dump_start (dump_t *self, const option_t *row, size_t indent)
{
    s_pad (self->out, indent - strlen (self->bullet));
    buffer_print (self->out, "%s%s:", self->bullet, row->name);
    self->bullet = "";
}

static void
s_dump_list (dump_t *self, const option_t *row, const option_list_t *list, size_t indent)
{
    s_dump_start (self, row, indent);
    buffer_append_string (self->out, list->count ? "\n" : " []\n");
    for (size_t i = 0; i < list->count; i++) {
        self->bullet = "- ";
        s_dump_rows (
            self, (option_target_t){ row->table, (uint8_t *)list->items + i * row->size }, indent + 2 * INDENT);
    }
}

static void
s_dump_value (dump_t *self, const option_t *row, const void *field, size_t indent)
{
    bool is_secret = row->type == OPTION_SECRET;
    if (s_says_nothing (row, field) || (is_secret && !self->secrets))
        return;
    s_dump_start (self, row, indent);
    buffer_append_byte (self->out, ' ');
    if (is_secret)
        option_value_quote (*(const char *const *)field, self->out);
    else
        option_value_render (row, field, self->out);
    buffer_append_byte (self->out, '\n');
}

static void
s_dump_rows (dump_t *self, option_target_t target, size_t indent)
{
    for (const option_t *row = target.table; row->name; row++) {
        void *field = (uint8_t *)target.fields + row->offset;
        option_target_t inside = { row->table, field };
        switch (row->type) {
        case OPTION_INCLUDE:
            s_dump_rows (self, inside, indent);
            break;
        case OPTION_LIST:
            s_dump_list (self, row, field, indent);
            break;
        case OPTION_SECTION:
            s_dump_start (self, row, indent);
            buffer_append_byte (self->out, '\n');
            s_dump_rows (self, inside, indent + INDENT);
            break;
        default:
            s_dump_value (self, row, field, indent);
        }
    }
}

void
option_print_config (option_target_t target, buffer_t *out)
{
    style_t style = { 0 };
    dump_t dump = { .out = out, .bullet = "" };
    if (target.fields)
        s_dump_rows (&dump, target, 0);
    else
        s_print_rows (target.table, &style, out);
}

void
option_print_secrets (option_target_t target, buffer_t *out)
{
    dump_t dump = { .out = out, .secrets = true, .bullet = "" };
    s_dump_rows (&dump, target, 0);
}

//  ---- The manual ----------------------------------------------------------------------------------------------------

static void
s_print_cell (const char *text, buffer_t *out)
{
    for (; *text; text++)
        buffer_print (out, "%s%c", *text == '|' ? "\\" : "", *text);
}

static void
s_print_manual_row (const option_t *row, buffer_t *out)
{
    buffer_t wanted = { 0 };
    option_value_describe (row, &wanted);
    buffer_print (out, "| `%s` | ", row->name);
    s_print_cell (buffer_string (&wanted), out);
    buffer_fini (&wanted);
    const char *fallback = row->fallback ? row->fallback : "";
    buffer_append_string (out, " | ");
    if (row->traits & OPTION_REQUIRED)
        buffer_append_string (out, "must be given");
    else
        buffer_print (out, "%s%s%s", *fallback ? "`" : "", fallback, *fallback ? "`" : "");
    buffer_append_string (out, " | ");
    s_print_cell (row->doc, out);
    if (row->advice) {
        buffer_append_byte (out, ' ');
        s_print_cell (row->advice, out);
    }
    if (row->traits & OPTION_LIVE)
        buffer_append_string (out, " A reload changes it.");
    if (row->flag)
        buffer_print (out, " Its flag is `--%s`.", row->flag);
    buffer_append_string (out, " |\n");
}

static void
s_print_manual_table (const option_t *table, bool *begun, buffer_t *out)
{
    for (const option_t *row = table; row->name; row++) {
        if (!s_is_shown (row))
            continue;
        if (row->type == OPTION_INCLUDE)
            s_print_manual_table (row->table, begun, out);
        if (!s_is_value (row))
            continue;
        if (!*begun)
            buffer_append_string (out, "\n| key | is | default | what it does |\n|---|---|---|---|\n");
        *begun = true;
        s_print_manual_row (row, out);
    }
}

static void s_print_manual (const option_t *table, const char *path, unsigned level, buffer_t *out);

//  Those of included tables count as ours; their values stand in our table already.
static void
s_print_manual_sections (const option_t *table, const char *path, unsigned level, buffer_t *out)
{
    for (const option_t *row = table; row->name; row++) {
        if (s_is_value (row) || !s_is_shown (row))
            continue;
        if (row->type == OPTION_INCLUDE) {
            s_print_manual_sections (row->table, path, level, out);
            continue;
        }
        buffer_t name = { 0 };
        buffer_print (&name, "%s%s%s%s", path, *path ? "." : "", row->name, row->type == OPTION_LIST ? "[]" : "");
        buffer_append_byte (out, '\n');
        for (unsigned i = 0; i < level; i++)
            buffer_append_byte (out, '#');
        buffer_print (out, " %s\n\n%s%s%s\n", buffer_string (&name), row->doc, row->advice ? " " : "",
            row->advice ? row->advice : "");
        s_print_manual (row->table, buffer_string (&name), level + 1, out);
        buffer_fini (&name);
    }
}

static void
s_print_manual (const option_t *table, const char *path, unsigned level, buffer_t *out)
{
    bool begun = false;
    s_print_manual_table (table, &begun, out);
    s_print_manual_sections (table, path, level, out);
}

void
option_print_manual (const option_t *table, unsigned level, buffer_t *out)
{
    s_print_manual (table, "", level, out);
}
