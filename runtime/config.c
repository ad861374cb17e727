#include "runtime/config.h"

#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/bug.h"
#include "base/memory.h"

enum { MEMORY_MAX = 16 << 20, VARIABLE_MAX = 128, KEYS_MAX = 1000 };

struct config {
    arena_t arena;          //  Nodes and text
    config_node_t *root;    //  Always a section
};

//  A collection that is being read.
typedef struct {
    config_node_t *node;    //  The collection
    config_node_t *last;    //  Its newest child
    const char *key;        //  Section: the key read last, waiting for its value; NULL: a key comes next
    place_t key_place;      //  Where that key stands
} level_t;

typedef struct {
    config_t *config;                     //  What is being built
    const config_world_t *world;          //  Variables
    complaints_t *complaints;             //  Where to complain
    level_t levels [CONFIG_DEPTH_MAX];    //  Collections that are open, outermost first
    size_t depth;                         //  How many
    bool stopped;                         //  Reading on makes no sense
} reader_t;

static place_t
s_place (yaml_mark_t mark)
{
    return (place_t){ (uint32_t)mark.line + 1, (uint32_t)mark.column + 1 };
}

static void
s_stop (reader_t *self, place_t place, const char *reason)
{
    complaints_add (self->complaints, place, "%s", reason);
    self->stopped = true;
}

//  ---- Variables -----------------------------------------------------------------------------------------------------

static const char *
s_variable (reader_t *self, span_t name)
{
    char text [VARIABLE_MAX];
    if (!self->world || !self->world->variable || !span_copy_string (name, text, sizeof text))
        return NULL;
    return self->world->variable (self->world->arg, text);
}

static bool
s_is_name (span_t name)
{
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data [i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return name.size > 0;
}

//  What stands between ${ and }.  False where that was complained about.
static bool
s_expand_one (reader_t *self, span_t inside, place_t place, buffer_t *out)
{
    size_t colon = span_find_byte (inside, ':');
    span_t name = span_slice (inside, 0, colon);
    span_t rest = span_slice (inside, colon, SIZE_MAX);
    if (!s_is_name (name) || (rest.size && !span_starts_with (rest, SPAN (":-")))) {
        complaints_add (self->complaints, place,
            "'${%.*s}' is neither ${NAME} nor ${NAME:-default}; write $${ for ${ itself",
            SPAN_ARG (span_slice (inside, 0, 80)));
        return false;
    }
    const char *value = s_variable (self, name);
    if (!value && !rest.size) {
        complaints_add (self->complaints, place,
            "environment variable '%.*s' is not set; set it, or write ${%.*s:-default}", SPAN_ARG (name),
            SPAN_ARG (name));
        return false;
    }
    if (value && *value)
        buffer_append_string (out, value);
    else
        buffer_append (out, span_slice (rest, 2, SIZE_MAX));
    return true;
}

static bool
s_expand (reader_t *self, span_t text, place_t place, buffer_t *out)
{
    bool good = true;
    for (size_t at = 0; at < text.size;) {
        span_t rest = span_slice (text, at, SIZE_MAX);
        if (span_starts_with (rest, SPAN ("$${"))) {
            buffer_append_string (out, "${");
            at += 3;
        } else if (span_starts_with (rest, SPAN ("${"))) {
            size_t end = span_find_byte (rest, '}');
            good &= s_expand_one (self, span_slice (rest, 2, end - 2), place, out);
            at += end + 1;
        } else {
            buffer_append_byte (out, text.data [at++]);
        }
    }
    return good;
}

//  ---- Nodes ---------------------------------------------------------------------------------------------------------

static config_node_t *
s_new_node (reader_t *self, config_kind_t kind, place_t place)
{
    config_node_t *node = arena_new (&self->config->arena, sizeof *node);
    if (!node) {
        s_stop (self, place, "the file is too large");
        return NULL;
    }
    node->kind = kind;
    node->place = place;
    return node;
}

//  A copy with a NUL behind it; NULL (and complained about) where it does not fit.
static const char *
s_keep_text (reader_t *self, span_t text, place_t place)
{
    char *copy = arena_new (&self->config->arena, text.size + 1);
    if (!copy)
        s_stop (self, place, "the file is too large once its variables are filled in");
    else if (text.size)
        memcpy (copy, text.data, text.size);
    return copy;
}

static level_t *
s_level (reader_t *self)
{
    return self->depth ? &self->levels [self->depth - 1] : NULL;
}

//  Hangs a finished or just opened node where it belongs.
static void
s_attach (reader_t *self, config_node_t *node)
{
    level_t *level = s_level (self);
    if (!level) {
        if (node->kind != CONFIG_SECTION && !config_is_null (node))
            s_stop (self, node->place, "the file must be a section of 'key: value' lines");
        self->config->root = node;
        return;
    }
    if (level->node->kind == CONFIG_SECTION) {
        if (level->node->count == KEYS_MAX)
            s_stop (self, level->key_place, "a section has at most 1000 keys");
        const config_node_t *earlier = config_child (level->node, level->key);
        if (earlier)
            complaints_add (self->complaints, level->key_place, "key '%s' is there already, in line %u", level->key,
                earlier->key_place.line);
        node->key = level->key;
        node->key_place = level->key_place;
        level->key = NULL;
    }
    *(level->last ? &level->last->next : &level->node->first) = node;
    level->last = node;
    level->node->count++;
}

static void
s_on_key (reader_t *self, level_t *level, span_t text, place_t place)
{
    if (!text.size || text.size > CONFIG_KEY_MAX || memchr (text.data, 0, text.size)) {
        s_stop (self, place, "a key must have 1 to 64 characters");
        return;
    }
    level->key = s_keep_text (self, text, place);
    level->key_place = place;
}

static void
s_on_scalar (reader_t *self, const yaml_event_t *event)
{
    span_t text = span_of (event->data.scalar.value, event->data.scalar.length);
    place_t place = s_place (event->start_mark);
    level_t *level = s_level (self);
    if (level && level->node->kind == CONFIG_SECTION && !level->key) {
        s_on_key (self, level, text, place);
        return;
    }
    buffer_t expanded = { 0 };
    bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (event->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE)
        buffer_append (&expanded, text);
    else if (!s_expand (self, text, place, &expanded)) {
        buffer_clear (&expanded);    //  Said nothing, rather than a second complaint about what is left
        quoted = false;
    }
    if (expanded.size && memchr (expanded.data, 0, expanded.size))
        s_stop (self, place, "a value must not hold a NUL character");
    config_node_t *node = self->stopped ? NULL : s_new_node (self, CONFIG_SCALAR, place);
    if (node) {
        node->quoted = quoted;
        node->text = s_keep_text (self, buffer_span (&expanded), place);
    }
    if (node && node->text)
        s_attach (self, node);
    buffer_fini (&expanded);
}

static void
s_on_open (reader_t *self, config_kind_t kind, place_t place)
{
    level_t *level = s_level (self);
    if (level && level->node->kind == CONFIG_SECTION && !level->key) {
        s_stop (self, place, "a key must be plain text");
        return;
    }
    if (self->depth == CONFIG_DEPTH_MAX) {
        s_stop (self, place, "sections and lists are nested too deeply");
        return;
    }
    config_node_t *node = s_new_node (self, kind, place);
    if (!node)
        return;
    s_attach (self, node);
    self->levels [self->depth++] = (level_t){ .node = node };
}

static bool
s_is_odd (const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    default:
        return false;
    }
}

static void
s_on_event (reader_t *self, const yaml_event_t *event)
{
    place_t place = s_place (event->start_mark);
    if (s_is_odd (event)) {
        s_stop (self, place,
            "anchors (&), aliases (*) and tags (!) are not used here; put the text in quotes if it is text");
        return;
    }
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (self->config->root)
            s_stop (self, place, "a second document begins here; one file is one document");
        break;
    case YAML_SCALAR_EVENT:
        s_on_scalar (self, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        s_on_open (self, CONFIG_LIST, place);
        break;
    case YAML_MAPPING_START_EVENT:
        s_on_open (self, CONFIG_SECTION, place);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        self->depth--;
        break;
    default:
        break;
    }
}

//  What to do about what libyaml says.
static const struct {
    const char *problem;    //  Begins so
    const char *advice;     //  Said behind it
} s_advice [] = {
    { "did not find expected ',' or", "; close the bracket, and put text with '{', ':' or '#' in it in quotes" },
    { "did not find expected", "; is the line indented as its neighbours are?" },
    { "found character that cannot start", "; indent with spaces, not tabs, and put text that begins so in quotes" },
    { "found unexpected end of stream", "; the quote that begins here is not closed" },
    { "mapping values are not allowed",
        "; is the line indented as its neighbours are? Text with ': ' in it wants quotes" },
    { "found a tab character", "; indent with spaces" },
    { "", "" },
};

static const char *
s_advise (const char *problem)
{
    size_t i = 0;
    while (strncmp (problem, s_advice [i].problem, strlen (s_advice [i].problem)) != 0)
        i++;
    return s_advice [i].advice;
}

//  Of a byte.
static place_t
s_place_of_byte (span_t text, size_t offset)
{
    place_t place = { 1, 1 };
    for (size_t i = 0; i < offset && i < text.size; i++) {
        bool ends = text.data [i] == '\n';
        place.line += ends;
        place.column = ends ? 1 : place.column + 1;
    }
    return place;
}

static void
s_complain_syntax (reader_t *self, const yaml_parser_t *parser, span_t text)
{
    const char *problem = parser->problem ? parser->problem : "not YAML";
    //  A quote that is not closed is told where it begins, not where the file ends.
    bool begins = parser->context && strncmp (problem, "found unexpected end of stream", 30) == 0;
    if (parser->error == YAML_READER_ERROR)
        complaints_add (self->complaints, s_place_of_byte (text, parser->problem_offset),
            "%s; a configuration is text in UTF-8: save it as such", problem);
    else
        complaints_add (self->complaints, s_place (begins ? parser->context_mark : parser->problem_mark), "%s%s%s%s",
            problem, parser->context ? " " : "", parser->context ? parser->context : "", s_advise (problem));
}

//  True when the end of the stream was reached in good order.
static bool
s_read (reader_t *self, yaml_parser_t *parser, span_t text)
{
    while (!self->stopped) {
        yaml_event_t event;
        if (!yaml_parser_parse (parser, &event)) {
            s_complain_syntax (self, parser, text);
            return false;
        }
        bool ended = event.type == YAML_STREAM_END_EVENT;
        s_on_event (self, &event);
        yaml_event_delete (&event);
        if (ended)
            return true;
    }
    return false;
}

config_t *
config_parse (span_t text, const config_world_t *world, complaints_t *complaints)
{
    config_t *self = memory_new (sizeof *self);
    arena_init (&self->arena, MEMORY_MAX);
    reader_t reader = { .config = self, .world = world, .complaints = complaints };
    yaml_parser_t parser;
    bool whole = false;
    if (text.size > CONFIG_SIZE_MAX)
        s_stop (&reader, (place_t){ 0 }, "a configuration of more than 1 MiB is not read");
    else if (!yaml_parser_initialize (&parser))
        s_stop (&reader, (place_t){ 0 }, "there is no memory to read it");
    else {
        yaml_parser_set_input_string (&parser, text.size ? text.data : (const uint8_t *)"", text.size);
        whole = s_read (&reader, &parser, text);
        yaml_parser_delete (&parser);
    }
    if (whole && (!self->root || self->root->kind != CONFIG_SECTION))
        self->root = s_new_node (&reader, CONFIG_SECTION, (place_t){ 1, 1 });
    if (!whole)
        config_destroy (&self);
    return self;
}

void
config_destroy (config_t **self_p)
{
    config_t *self = *self_p;
    if (!self)
        return;
    arena_fini (&self->arena);
    memory_free (self);
    *self_p = NULL;
}

const config_node_t *
config_root (const config_t *self)
{
    return self->root;
}

const config_node_t *
config_child (const config_node_t *node, const char *key)
{
    if (!node || node->kind != CONFIG_SECTION)
        return NULL;
    for (const config_node_t *child = node->first; child; child = child->next)
        if (strcmp (child->key, key) == 0)
            return child;
    return NULL;
}

const config_node_t *
config_element (const config_node_t *node, size_t position)
{
    if (!node || node->kind != CONFIG_LIST)
        return NULL;
    const config_node_t *child = node->first;
    while (child && position--)
        child = child->next;
    return child;
}

bool
config_is_null (const config_node_t *node)
{
    if (node->kind != CONFIG_SCALAR || node->quoted)
        return false;
    return !*node->text || strcmp (node->text, "~") == 0 || strcmp (node->text, "null") == 0;
}

const char *
config_kind_name (config_kind_t kind)
{
    static const char *const names [] = {
        [CONFIG_SCALAR] = "a value", [CONFIG_LIST] = "a list", [CONFIG_SECTION] = "a section"
    };
    return names [kind];
}
