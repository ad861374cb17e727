#include "model/parser/format_file.h"

#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bug.h"
#include "base/memory.h"

enum { TEXTS_MAX = 1 << 18 };

typedef struct {
    parser_format_t row;    //  What it is used as; the first member
    arena_t texts;          //  What the row points to
} loaded_t;

typedef struct {
    loaded_t *loaded;         //  What is filled
    yaml_document_t *yaml;    //  The file
    const yaml_node_t *at;    //  Where we are
    error_t *error;           //  The caller's
} loading_t;

static status_t
s_complain (const loading_t *self, const char *what, span_t word)
{
    return error_set (self->error, STATUS_INVALID, "line %zu: %s%s%.*s%s", self->at->start_mark.line + 1, what,
        word.size ? " '" : "", SPAN_ARG (span_slice (word, 0, 64)), word.size ? "'" : "");
}

static bool
s_scalar (const yaml_node_t *node, span_t *text)
{
    if (!node || node->type != YAML_SCALAR_NODE)
        return false;
    *text = span_of (node->data.scalar.value, node->data.scalar.length);
    return true;
}

//  ---- Members -------------------------------------------------------------------------------------------------------

typedef struct member member_t;
typedef status_t (read_fn) (loading_t *self, const member_t *member, const yaml_node_t *node);

struct member {
    const char *name;    //  As files write it
    read_fn *read;       //  What reads its value
    size_t offset;       //  In parser_format_t
    size_t count;        //  Strings there, at most
};

static status_t
s_read_string (loading_t *self, const yaml_node_t *node, const char **string)
{
    span_t text;
    self->at = node;
    if (!s_scalar (node, &text))
        return s_complain (self, "a string is expected", (span_t){ 0 });
    if (!text.size || text.size > PARSER_MARKER_MAX || memchr (text.data, 0, text.size))
        return s_complain (self, "a marker has 1 to 64 bytes, none of them zero", text);
    char *copy = arena_new (&self->loaded->texts, text.size + 1);
    if (!copy)
        return s_complain (self, "that is more text than a format needs", (span_t){ 0 });
    memcpy (copy, text.data, text.size);
    *string = copy;
    return STATUS_OK;
}

static status_t
s_read_strings (loading_t *self, const member_t *member, const yaml_node_t *node)
{
    const char **strings = (const char **)((char *)&self->loaded->row + member->offset);
    memset (strings, 0, member->count * sizeof *strings);
    if (node->type != YAML_SEQUENCE_NODE)
        return s_read_string (self, node, strings);
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    status_t status = STATUS_OK;
    if (count > member->count)
        return s_complain (self, "there is no place for so many of", span_from_string (member->name));
    for (size_t i = 0; i < count && !status; i++)
        status = s_read_string (
            self, yaml_document_get_node (self->yaml, node->data.sequence.items.start [i]), &strings [i]);
    return status;
}

static status_t
s_read_flag (loading_t *self, const member_t *member, const yaml_node_t *node)
{
    span_t text;
    bool *flag = (bool *)((char *)&self->loaded->row + member->offset);
    if (!s_scalar (node, &text) || (!span_equal_string (text, "true") && !span_equal_string (text, "false")))
        return s_complain (self, "true or false is expected for", span_from_string (member->name));
    *flag = span_equal_string (text, "true");
    return STATUS_OK;
}

//  The place of a word in a list; complains where it is not in it.
static status_t
s_read_word (loading_t *self, const yaml_node_t *node, const char *const *words, size_t count, size_t *place)
{
    span_t text = { 0 };
    s_scalar (node, &text);
    for (*place = 0; *place < count; (*place)++)
        if (span_equal_string (text, words [*place]))
            return STATUS_OK;
    buffer_t known = { 0 };
    for (size_t i = 0; i < count; i++)
        buffer_print (&known, "%s%s", i ? "|" : "a word is expected here, ", words [i]);
    buffer_append_string (&known, ", not");
    status_t status = s_complain (self, buffer_string (&known), text);
    buffer_fini (&known);
    return status;
}

static status_t
s_read_machine (loading_t *self, const member_t *member, const yaml_node_t *node)
{
    static const char *const words [] = { [PARSER_PLAIN] = "plain",
        [PARSER_JSON] = "json",
        [PARSER_NAMED] = "named",
        [PARSER_TAGS] = "tags",
        [PARSER_LITERAL] = "literal",
        [PARSER_HARMONY] = "harmony" };
    size_t place;
    status_t status = s_read_word (self, node, words, sizeof words / sizeof *words, &place);
    self->loaded->row.machine = (parser_machine_t)place;
    return status;
}

static status_t
s_read_ids (loading_t *self, const member_t *member, const yaml_node_t *node)
{
    static const char *const words [] = {
        [PARSER_IDS_FREE] = "free", [PARSER_IDS_NINE] = "nine", [PARSER_IDS_KIMI] = "kimi"
    };
    size_t place;
    status_t status = s_read_word (self, node, words, sizeof words / sizeof *words, &place);
    self->loaded->row.ids = (parser_ids_t)place;
    return status;
}

static status_t
s_find_row (loading_t *self, const yaml_node_t *node, const parser_format_t **row)
{
    span_t name = { 0 };
    s_scalar (node, &name);
    *row = parser_find (name);
    return *row ? STATUS_OK : s_complain (self, "no format is called", name);
}

static status_t
s_read_also (loading_t *self, const member_t *member, const yaml_node_t *node)
{
    return s_find_row (self, node, &self->loaded->row.also);
}

//  It comes first, whatever its place in the file.
static status_t
s_read_like (loading_t *self, const member_t *member, const yaml_node_t *node)
{
    return STATUS_OK;
}

#define FIELD(member) offsetof (parser_format_t, member)
#define STRING(member)                            \
    {                                             \
#member, s_read_strings, FIELD(member), 1 \
    }
#define STRINGS(member, count)                        \
    {                                                 \
#member, s_read_strings, FIELD(member), count \
    }
#define FLAG(member)                           \
    {                                          \
#member, s_read_flag, FIELD(member), 0 \
    }

static const member_t s_members [] = {
    STRING (name),
    { "like", s_read_like, 0, 0 },
    { "also", s_read_also, 0, 0 },
    { "machine", s_read_machine, 0, 0 },
    { "ids", s_read_ids, 0, 0 },
    STRINGS (think_start, PARSER_ALTERNATIVES),
    STRINGS (think_end, PARSER_ALTERNATIVES),
    STRINGS (silent, PARSER_SILENT),
    FLAG (think_open),
    FLAG (calls_end_thinking),
    FLAG (call_alone),
    FLAG (trim_newline),
    FLAG (guess_types),
    FLAG (name_is_key),
    FLAG (nested),
    FLAG (entities),
    FLAG (attributes),
    FLAG (cdata),
    FLAG (recipients),
    STRING (label_start),
    STRING (section_start),
    STRING (section_end),
    STRING (call_start),
    STRING (call_end),
    STRING (header_start),
    STRINGS (between, 2),
    STRING (name_end),
    STRING (key_start),
    STRING (key_end),
    STRING (value_start),
    STRING (value_end),
    STRING (quote),
};
enum { MEMBERS = sizeof s_members / sizeof *s_members };

const char *
parser_format_member (size_t number)
{
    return number < MEMBERS ? s_members [number].name : NULL;
}

static const member_t *
s_find_member (span_t name)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (span_equal_string (name, s_members [i].name))
            return &s_members [i];
    return NULL;
}

//  ---- The whole -----------------------------------------------------------------------------------------------------

//  What each machine cannot do without.
static status_t
s_check (loading_t *self)
{
    const parser_format_t *row = &self->loaded->row;
    const struct {
        const char *lacks;    //  The sentence
        bool holds;           //  It applies
    } faults [] = {
        { "calls need a machine that reads them", (row->machine == PARSER_PLAIN || row->machine == PARSER_HARMONY) &&
                                                      (row->section_start || row->call_start) },
        { "think_start and think_end belong together", !row->think_start [0] != !row->think_end [0] },
        { "calls in JSON need a section_start, or a call_start other than {",
            row->machine == PARSER_JSON && !row->section_start && strcmp (row->call_start, "{") == 0 &&
                !row->call_alone },
        { "calls in JSON begin with { or [, and so does call_start; what stands before them is section_start",
            row->machine == PARSER_JSON && row->call_start && *row->call_start != '{' && *row->call_start != '[' },
        { "calls with a header need a call_start", row->machine == PARSER_NAMED && !row->call_start },
        { "calls in tags need call_start, key_start, key_end and value_end",
            row->machine == PARSER_TAGS && !(row->call_start && row->key_start && row->key_end && row->value_end) },
        { "call expressions need a section_start or a call_start",
            row->machine == PARSER_LITERAL && !row->section_start && !row->call_start },
    };
    self->at = yaml_document_get_root_node (self->yaml);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults [i].holds)
            return s_complain (self, faults [i].lacks, (span_t){ 0 });
    return STATUS_OK;
}

static status_t
s_read_pair (loading_t *self, const yaml_node_pair_t *pair, bool like)
{
    span_t name = { 0 };
    const yaml_node_t *value = yaml_document_get_node (self->yaml, pair->value);
    self->at = yaml_document_get_node (self->yaml, pair->key);
    s_scalar (self->at, &name);
    const member_t *member = s_find_member (name);
    if (!member)
        return s_complain (self, "a format has no", name);
    if (!like)
        return member->read (self, member, value);
    const parser_format_t *row = NULL;
    status_t status = member->read == s_read_like ? s_find_row (self, value, &row) : STATUS_OK;
    if (row)
        self->loaded->row = *row;
    return status;
}

static status_t
s_read_root (loading_t *self)
{
    const yaml_node_t *root = self->at = yaml_document_get_root_node (self->yaml);
    status_t status = STATUS_OK;
    if (!root || root->type != YAML_MAPPING_NODE)
        return error_set (self->error, STATUS_INVALID, "a format is a mapping of names to values");
    for (int like = 1; like >= 0; like--)
        for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
             pair < root->data.mapping.pairs.top && !status; pair++)
            status = s_read_pair (self, pair, like);
    if (!status && self->loaded->row.machine == PARSER_JSON && !self->loaded->row.call_start)
        self->loaded->row.call_start = "{";
    return status ? status : s_check (self);
}

static status_t
s_load (loading_t *self, yaml_parser_t *yaml)
{
    yaml_document_t document;
    if (!yaml_parser_load (yaml, &document))
        return error_set (self->error, STATUS_INVALID, "line %zu: %s", yaml->problem_mark.line + 1,
            yaml->problem ? yaml->problem : "this is no YAML");
    self->yaml = &document;
    status_t status = s_read_root (self);
    yaml_document_delete (&document);
    return status;
}

status_t
parser_format_load (span_t text, parser_format_t **format, error_t *error)
{
    yaml_parser_t yaml;
    if (text.size > PARSER_FORMAT_FILE_MAX)
        return error_set (
            error, STATUS_LIMIT, "%zu bytes; %d are enough for a format", text.size, PARSER_FORMAT_FILE_MAX);
    loaded_t *loaded = memory_new (sizeof *loaded);
    loaded->row.name = "described";
    arena_init (&loaded->texts, TEXTS_MAX);
    loading_t loading = { .loaded = loaded, .error = error };
    BUG_ON (!yaml_parser_initialize (&yaml));
    yaml_parser_set_input_string (&yaml, text.size ? text.data : (const uint8_t *)"", text.size);
    status_t status = s_load (&loading, &yaml);
    yaml_parser_delete (&yaml);
    *format = &loaded->row;
    if (status)
        parser_format_destroy (format);
    return status;
}

void
parser_format_destroy (parser_format_t **self_p)
{
    loaded_t *loaded = (loaded_t *)*self_p;
    if (!loaded)
        return;
    arena_fini (&loaded->texts);
    memory_free (loaded);
    *self_p = NULL;
}
