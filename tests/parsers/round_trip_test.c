//  Calls drawn at random, written in every format and read again: what comes back is what was written, wherever the bytes are
//  cut and whatever strings hold; where the text breaks off, what comes back is its beginning.

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/random.h"
#include "base/utf8.h"
#include "tests/parsers/said.h"

enum { ROUNDS = 1500, CALLS_MAX = 3, MEMBERS = 5 };

//  Arguments by the type that every tool here gives them.
static const char *const s_keys [MEMBERS] = { "s", "i", "b", "o", "a" };
static const char *const s_names [] = { "read_file", "f", "get-weather_2" };
static const char s_schema [] =
    "{\"properties\":{\"s\":{\"type\":\"string\"},\"i\":{\"type\":\"integer\"},\"b\":{\"type\":"
    "\"boolean\"},\"o\":{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"}}},\"a\":{"
    "\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}";

//  What a round draws.
typedef struct {
    const parser_format_t *format;    //  The row that says how calls are written
    const parser_format_t *reader;    //  The one that reads them: the same, or one that reads it, too
    random_t random;                  //  From the round's seed
    json_t *arguments [CALLS_MAX];    //  Of each call
    const char *names [CALLS_MAX];    //  Its tool
    size_t count;                     //  Calls
    buffer_t text;                    //  What the model says
    buffer_t content;                 //  What of it is for the user
    buffer_t calls;                   //  Name and rendered arguments, a line each
} round_t;

//  ---- Values --------------------------------------------------------------------------------------------------------

//  Strings hold what formats are made of, as far as the notation can tell it from its own marks.
static void
s_draw_string (round_t *self, buffer_t *out)
{
    const parser_format_t *row = self->format;
    bool tags = row->key_start != NULL, json = row->machine == PARSER_JSON || row->machine == PARSER_NAMED;
    const char *const words [] = { "a", " ", "\n", "{", "}", "]", "\"", "'", "\\", "\xe6\xbc\xa2\xf0\x9f\xa6\x99",
        row->cdata ? NULL : "&amp;", "null", "<", "</", "<x>", ", b=1)", "\t", "\x01",
        json || (tags && !row->nested) ? row->section_start : NULL,
        row->machine == PARSER_HARMONY && !tags ? "<|call|>" : NULL, json ? row->section_end : NULL,
        json ? row->call_end : NULL, tags && !row->nested ? row->value_end : NULL };
    for (uint64_t left = random_below (&self->random, 6); left; left--) {
        const char *word = words [random_below (&self->random, sizeof words / sizeof *words)];
        buffer_append_string (out, word ? word : "");
    }
    //  What looks like the end of a value is one before a tag: something stands between.
    buffer_append_string (out, tags ? "." : "");
}

static void
s_write_string (round_t *self, json_writer_t *json)
{
    buffer_t text = { 0 };
    s_draw_string (self, &text);
    json_write_string (json, buffer_span (&text));
    buffer_fini (&text);
}

static void
s_write_value (round_t *self, json_writer_t *json, size_t member)
{
    switch (member) {
    case 0:
        s_write_string (self, json);
        break;
    case 1:
        json_write_i64 (json, (int64_t)random_below (&self->random, 2000) - 1000);
        break;
    case 2:
        json_write_bool (json, random_below (&self->random, 2));
        break;
    case 3:
        json_write_begin_object (json);
        json_write_key (json, "s");
        s_write_string (self, json);
        json_write_end_object (json);
        break;
    default:
        json_write_begin_array (json);
        for (uint64_t left = 1 + random_below (&self->random, 3); left; left--)
            json_write_u64 (json, random_below (&self->random, 100));
        json_write_end_array (json);
    }
}

static json_t *
s_draw_arguments (round_t *self)
{
    buffer_t text = { 0 };
    json_writer_t json;
    json_writer_init (&json, &text);
    json_write_begin_object (&json);
    for (size_t i = 0; i < MEMBERS; i++)
        if (random_below (&self->random, 2)) {
            json_write_key (&json, s_keys [i]);
            s_write_value (self, &json, i);
        }
    json_write_end_object (&json);
    json_t *arguments = said_parse_json (buffer_span (&text));
    buffer_fini (&text);
    return arguments;
}

//  ---- Writing -------------------------------------------------------------------------------------------------------

//  In Python's notation, or with a quote of the format's own.
static void
s_write_literal (round_t *self, const json_t *value)
{
    uintptr_t cursor = 0;
    span_t key, text = json_string (value);
    const json_t *member;
    const char *quote = self->format->quote;
    buffer_t *out = &self->text;
    if (json_kind (value) == JSON_STRING && quote)
        buffer_print (out, "%s%.*s%s", quote, SPAN_ARG (text), quote);
    else if (json_kind (value) == JSON_STRING) {
        buffer_append_byte (out, '\'');
        for (size_t i = 0; i < text.size; i++)
            if (text.data [i] == '\n')
                buffer_append_string (out, "\\n");
            else
                buffer_print (out, "%s%c", strchr ("'\\", text.data [i]) ? "\\" : "", text.data [i]);
        buffer_append_byte (out, '\'');
    } else if (json_kind (value) == JSON_BOOL)
        buffer_append_string (out, quote                  ? (json_is_true (value) ? "true" : "false")
                                   : json_is_true (value) ? "True"
                                                          : "False");
    else if (json_kind (value) == JSON_OBJECT) {
        buffer_append_byte (out, '{');
        while (json_next (value, &cursor, &key, &member)) {
            buffer_print (out, quote ? "%.*s:" : "'%.*s': ", SPAN_ARG (key));
            s_write_literal (self, member);
        }
        buffer_append_byte (out, '}');
    } else
        json_render (value, out);
}

static void
s_write_expression (round_t *self, const char *name, const json_t *arguments)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    bool braces = self->format->call_start != NULL;
    buffer_print (&self->text, "%s%s", name, braces ? "{" : "(");
    for (const char *comma = ""; json_next (arguments, &cursor, &key, &value); comma = ",") {
        buffer_print (&self->text, "%s%.*s%s", comma, SPAN_ARG (key), braces ? ":" : "=");
        s_write_literal (self, value);
    }
    buffer_append_string (&self->text, braces ? "}" : ")");
}

//  The parts of a value as tags.
static void
s_write_parts (round_t *self, const json_t *value)
{
    const parser_format_t *row = self->format;
    uintptr_t cursor = 0;
    span_t key;
    const json_t *part;
    if (json_kind (value) == JSON_STRING)
        buffer_append (&self->text, json_string (value));
    else if (!row->nested)
        json_render (value, &self->text);
    else if (json_kind (value) == JSON_ARRAY)
        for (size_t i = 0; i < json_count (value); i++) {
            buffer_print (&self->text, "%sitem%s", row->key_start, row->key_end);
            s_write_parts (self, json_at (value, i));
            buffer_print (&self->text, "%sitem%s", row->value_end, row->key_end);
        }
    else if (json_kind (value) == JSON_OBJECT)
        while (json_next (value, &cursor, &key, &part)) {
            buffer_print (&self->text, "%s%.*s%s", row->key_start, SPAN_ARG (key), row->key_end);
            s_write_parts (self, part);
            buffer_print (&self->text, "%s%.*s%s", row->value_end, SPAN_ARG (key), row->key_end);
        }
    else
        json_render (value, &self->text);
}

static void
s_write_key (round_t *self, span_t key, bool string)
{
    const parser_format_t *row = self->format;
    buffer_t type = { 0 };
    if (row->attributes)
        buffer_print (&type, "type=\"%s\"", string ? "string" : "number");
    else if (strstr (row->key_start, "DSML"))
        buffer_print (&type, " string=\"%s\"", string ? "true" : "false");
    buffer_append_string (&self->text, row->key_start);
    if (!row->attributes)
        buffer_print (&self->text, "%.*s%s%s", SPAN_ARG (key), row->key_end, buffer_string (&type));
    else if (random_below (&self->random, 2))
        buffer_print (&self->text, "key=\"%.*s\" %s%s", SPAN_ARG (key), buffer_string (&type), row->key_end);
    else
        buffer_print (&self->text, "%s key=\"%.*s\"%s", buffer_string (&type), SPAN_ARG (key), row->key_end);
    buffer_fini (&type);
}

static void
s_write_tags (round_t *self, const char *name, const json_t *arguments)
{
    const parser_format_t *row = self->format;
    const char *line = random_below (&self->random, 2) ? "\n" : "";
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    if (name && row->attributes)
        buffer_print (&self->text, "index=\"1\" tool=\"%s\"%s%s", name, row->name_end, line);
    else if (name)
        buffer_print (&self->text, "%s%s%s", name, row->name_end, line);
    if (row->nested)
        s_write_parts (self, arguments);
    while (!row->nested && json_next (arguments, &cursor, &key, &value)) {
        bool string = json_kind (value) == JSON_STRING;
        s_write_key (self, key, string);
        buffer_print (&self->text, "%s%s", row->value_start ? row->value_start : "", row->trim_newline ? "\n" : "");
        s_write_parts (self, value);
        buffer_print (&self->text, "%s%s%s", row->trim_newline ? "\n" : "", row->value_end, line);
    }
}

//  What stands between a name and its arguments.
static const char *
s_separator (const parser_format_t *row)
{
    static const char *const separators [][2] = { { "kimi_k2", ":0<|tool_call_argument_begin|>" },
        { "deepseek_v3", "\n```json\n" }, { "deepseek_v3_1", "<\xef\xbd\x9ctool\xe2\x96\x81sep\xef\xbd\x9c>" },
        { "functionary_v3_1", ">" }, { "functionary_v3_2", "\n" },
        { "plamo3",
            "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>" } };
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++)
        if (strcmp (row->name, separators [i][0]) == 0)
            return separators [i][1];
    fail_msg ("how %s parts a name from its arguments is not known here", row->name);
    return NULL;
}

static void
s_write_json (round_t *self, const char *name, const json_t *arguments)
{
    buffer_print (&self->text, self->format->name_is_key ? "{\"%s\": " : "{\"name\": \"%s\", \"arguments\": ", name);
    json_render (arguments, &self->text);
    buffer_append_byte (&self->text, '}');
}

static void
s_write_call (round_t *self, size_t number)
{
    const parser_format_t *row = self->format;
    const char *name = self->names [number];
    const json_t *arguments = self->arguments [number];
    const char *call_start = row->machine == PARSER_JSON || !row->call_start ? "" : row->call_start;
    buffer_append_string (&self->text, call_start);
    if (row->machine == PARSER_JSON)
        s_write_json (self, name, arguments);
    else if (row->machine == PARSER_LITERAL)
        s_write_expression (self, name, arguments);
    else if (row->machine == PARSER_TAGS)
        s_write_tags (self, name, arguments);
    else {
        buffer_print (&self->text, "%s%s%s", row->header_start ? row->header_start : "", name, s_separator (row));
        json_render (arguments, &self->text);
    }
    buffer_append_string (&self->text, row->call_end ? row->call_end : "");
}

static void
s_write_harmony (round_t *self)
{
    for (size_t i = 0; i < self->count; i++) {
        bool tags = self->format->key_start != NULL;
        const char *header = i || random_below (&self->random, 2) ? "<|start|>assistant" : "";
        if (tags)
            buffer_print (
                &self->text, "%s to=%s<|channel|>analysis <|constrain|>xml<|message|>", header, self->names [i]);
        else
            buffer_print (&self->text, "%s<|channel|>commentary to=functions.%s <|constrain|>json<|message|>", header,
                self->names [i]);
        if (tags)
            s_write_tags (self, NULL, self->arguments [i]);
        else
            json_render (self->arguments [i], &self->text);
        buffer_append_string (&self->text, "<|call|>");
    }
}

static void
s_write_calls (round_t *self)
{
    const parser_format_t *row = self->format;
    bool bracket = row->section_start && strcmp (row->section_start, "[") == 0;
    bool list = row->machine == PARSER_JSON && (bracket || random_below (&self->random, 2));
    buffer_append_string (&self->text, row->section_start ? row->section_start : "");
    buffer_append_string (&self->text, list && !bracket ? "[" : "");
    for (size_t i = 0; i < self->count; i++) {
        bool comma = i && (list || bracket || row->machine == PARSER_JSON || row->machine == PARSER_LITERAL);
        buffer_append_string (&self->text, comma ? ", " : "");
        s_write_call (self, i);
    }
    buffer_append_string (&self->text, list || bracket ? "]" : "");
    buffer_append_string (&self->text, row->section_end ? row->section_end : "");
}

static void
s_write_text (round_t *self)
{
    static const char *const words [] = { "So", " a < b", ".", " (x)", " \xe6\xbc\xa2", "\nline ", " \"q\"", "<b>c" };
    buffer_t text = { 0 };
    for (uint64_t left = random_below (&self->random, 5); left; left--)
        buffer_append_string (&text, words [random_below (&self->random, sizeof words / sizeof *words)]);
    span_t said = span_trim (buffer_span (&text));
    buffer_append (&self->text, said);
    buffer_append (&self->content, said);
    buffer_fini (&text);
}

//  ---- Rounds --------------------------------------------------------------------------------------------------------

static void
s_draw (round_t *self)
{
    const parser_format_t *row = self->format;
    self->count = 1 + random_below (&self->random, CALLS_MAX);
    for (size_t i = 0; i < self->count; i++) {
        self->names [i] = s_names [random_below (&self->random, sizeof s_names / sizeof *s_names)];
        self->arguments [i] = s_draw_arguments (self);
        buffer_print (&self->calls, "%s ", self->names [i]);
        json_render (self->arguments [i], &self->calls);
        buffer_append_byte (&self->calls, '\n');
    }
    if (row->machine == PARSER_HARMONY) {
        s_write_harmony (self);
        return;
    }
    s_write_text (self);
    s_write_calls (self);
    if (row->section_end || row->call_end)
        s_write_text (self);
}

static void
s_round_fini (round_t *self)
{
    for (size_t i = 0; i < self->count; i++)
        json_destroy (&self->arguments [i]);
    buffer_fini (&self->text);
    buffer_fini (&self->content);
    buffer_fini (&self->calls);
}

//  name(id)arguments as name and arguments rendered anew.  Arguments that are no JSON stand as they are.
static void
s_normal_calls (span_t calls, buffer_t *out)
{
    while (calls.size) {
        size_t size = span_find_byte (calls, '\n');
        span_t line = span_slice (calls, 0, size);
        span_t arguments = span_slice (line, span_find_byte (line, ')') + 1, line.size);
        json_t *json = NULL;
        buffer_append (out, span_slice (line, 0, span_find_byte (line, '(')));
        buffer_append_byte (out, ' ');
        if (json_parse (arguments, &json, NULL) == STATUS_OK)
            json_render (json, out);
        else
            buffer_append (out, arguments);
        buffer_append_byte (out, '\n');
        json_destroy (&json);
        calls = span_slice (calls, size + 1, calls.size);
    }
}

static json_t *
s_tools (void)
{
    buffer_t text = { 0 };
    for (size_t i = 0; i < sizeof s_names / sizeof *s_names; i++)
        buffer_print (&text, "%s{\"name\":\"%s\",\"parameters\":%s}", i ? "," : "[", s_names [i], s_schema);
    buffer_append_byte (&text, ']');
    json_t *tools = said_parse_json (buffer_span (&text));
    buffer_fini (&text);
    return tools;
}

//  The row itself, or mostly the next that it reads, too, where calls in it need no words of their own.
static const parser_format_t *
s_draw_row (random_t *random, const parser_format_t *row)
{
    const parser_format_t *also = row->also;
    bool plain = also && (also->machine == PARSER_JSON || also->machine == PARSER_TAGS) && also->section_end;
    return plain && random_below (random, 2) ? also : row;
}

typedef void (check_fn) (round_t *round, const parser_options_t *options, const char *what);

//  Runs a check on rounds of every format that has calls.
static void
s_for_each_round (check_fn *check)
{
    size_t count;
    const parser_format_t *rows = parser_formats (&count);
    json_t *tools = s_tools ();
    parser_options_t options = { .tools = tools, .prompted = true };
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        char what [64];
        round_t round = { .reader = &rows [seed % count] };
        if (round.reader->machine == PARSER_PLAIN)
            continue;
        random_init (&round.random, seed);
        round.format = s_draw_row (&round.random, round.reader);
        s_draw (&round);
        snprintf (what, sizeof what, "%s, seed %llu", round.format->name, (unsigned long long)seed);
        check (&round, &options, what);
        s_round_fini (&round);
    }
    json_destroy (&tools);
}

static void
s_check_whole (round_t *round, const parser_options_t *options, const char *what)
{
    said_t said;
    buffer_t calls = { 0 };
    said_parse_all_ways (round->reader, options, buffer_span (&round->text), false, &said);
    s_normal_calls (buffer_span (&said.calls), &calls);
    said_assert_text (what, buffer_span (&calls), buffer_span (&round->calls), false);
    said_assert_text (what, buffer_span (&said.content), buffer_span (&round->content), false);
    assert_int_equal (said.reasoning.size, 0);
    buffer_fini (&calls);
    said_fini (&said);
}

//  Calls written in any format come back as they were, and the text around them to the byte.
static void
test_what_was_written_is_read (void **state)
{
    s_for_each_round (s_check_whole);
}

//  Whether the string that a call has is the beginning of the one that was written; nobody can tell what a single byte at the
//  end was to be.
static bool
s_has_beginning (span_t line, span_t full)
{
    json_t *got = NULL, *written = NULL;
    size_t name = span_find_byte (line, ' ') + 1;
    bool good = true;
    if (json_parse (span_slice (line, name, line.size), &got, NULL) == STATUS_OK &&
        json_parse (span_slice (full, name, full.size), &written, NULL) == STATUS_OK && json_get (got, "s")) {
        span_t part = json_string (json_get (got, "s"));
        span_t sure = span_slice (part, 0, part.size - (part.size > 0));
        good = span_starts_with (json_string (json_get (written, "s")), sure);
    }
    json_destroy (&got);
    json_destroy (&written);
    return good;
}

//  The calls that were said are those written, in order; only the last may be less.
static void
s_check_beginning (span_t got, span_t written, const char *what)
{
    while (got.size) {
        size_t size = span_find_byte (got, '\n'), expected = span_find_byte (written, '\n');
        span_t line = span_slice (got, 0, size), full = span_slice (written, 0, expected);
        size_t name = span_find_byte (line, ' ');
        bool last = size + 1 >= got.size;
        bool begins = span_starts_with (full, span_slice (line, 0, name + 1)) && s_has_beginning (line, full);
        if (!span_equal (line, full) && !(last && begins))
            fail_msg ("%s: got %.*s where %.*s was written", what, SPAN_ARG (line), SPAN_ARG (full));
        got = span_slice (got, size + 1, got.size);
        written = span_slice (written, expected + 1, written.size);
    }
}

//  Arguments that brackets and quotes can close are JSON; those that end behind a comma cannot.
static void
s_check_arguments (span_t calls, const char *what)
{
    for (size_t size; calls.size; calls = span_slice (calls, size + 1, calls.size)) {
        size = span_find_byte (calls, '\n');
        span_t line = span_slice (calls, 0, size);
        span_t arguments = span_trim (span_slice (line, span_find_byte (line, ')') + 1, line.size));
        json_t *json = NULL;
        if (json_parse (arguments, &json, NULL) && arguments.data [arguments.size - 1] != ',')
            fail_msg ("%s: %.*s", what, SPAN_ARG (line));
        json_destroy (&json);
    }
}

static void
s_check_cut (round_t *round, const parser_options_t *options, const char *what)
{
    span_t text = buffer_span (&round->text);
    for (size_t cuts = 0; cuts < 24; cuts++) {
        said_t said;
        buffer_t calls = { 0 };
        span_t beginning = span_slice (text, 0, random_below (&round->random, text.size));
        beginning.size = utf8_valid_prefix (beginning);
        said_parse (round->reader, options, beginning, SAID_WHOLE, false, &said);
        s_normal_calls (buffer_span (&said.calls), &calls);
        s_check_beginning (buffer_span (&calls), buffer_span (&round->calls), what);
        s_check_arguments (buffer_span (&said.calls), what);
        //  Nobody can tell what a single byte at the end was to be; between messages of harmony, more of them.
        span_t content = buffer_span (&said.content), sure = span_slice (content, 0, content.size - (content.size > 0));
        bool told = said.count && round->format->machine != PARSER_HARMONY;
        if (told && !span_starts_with (buffer_span (&round->content), sure))
            fail_msg ("%s: %.*s leaks", what, SPAN_ARG (buffer_span (&said.content)));
        buffer_fini (&calls);
        said_fini (&said);
    }
}

//  Wherever an answer breaks off, what was read is the beginning of what was meant, closed.
static void
test_what_breaks_off_is_closed (void **state)
{
    s_for_each_round (s_check_cut);
}

static void
s_check_without_tools (round_t *round, const parser_options_t *options, const char *what)
{
    said_t said;
    parser_options_t none = { .no_calls = true, .no_reasoning = true, .prompted = true };
    if (round->reader->silent [0] || round->reader->recipients || round->format->machine == PARSER_HARMONY)
        return;
    said_parse_all_ways (round->reader, &none, buffer_span (&round->text), false, &said);
    said_assert_text (what, buffer_span (&said.content), buffer_span (&round->text), false);
    assert_int_equal (said.count, 0);
    said_fini (&said);
}

//  Without tools the same text passes byte for byte.
static void
test_without_tools_text_passes (void **state)
{
    s_for_each_round (s_check_without_tools);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_what_was_written_is_read),
        cmocka_unit_test (test_what_breaks_off_is_closed),
        cmocka_unit_test (test_without_tools_text_passes),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
