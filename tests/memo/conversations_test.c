//  Golden conversations through a memo, as harnesses send them: grown turn by turn, sent twice, edited, compacted, and all
//  of them taking turns.  For every prompt the memo gives the tokens and hashes that are made without it.
//
//  Every golden template renders every golden conversation.  The tokenizers are small ones of each kind; what the templates
//  write between angle or square brackets is added to them as special tokens, as their own models have it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/map.h"
#include "model/memo/memo.h"
#include "model/template/template.h"

#define FOLDER "tests/data/chat_templates/"

enum { TEMPLATES_MAX = 128, MARKER_MAX = 40, FIRST_MARKER = 5000, MEMO_BYTES = 64 << 20 };

static const int64_t NOW_S = 1768478400;    //  2026-01-15T12:00:00
static const char *const s_kinds [] = { "qwen", "llama3", "gemma", "llama2", "o200k", "unigram", "metaspace_first" };

static char s_paths [TEMPLATES_MAX][256];
static size_t s_path_count;
static const json_t *s_contexts;    //  By name

//  One tokenizer, by a memo and without.
typedef struct {
    tokenizer_t *cold;        //  Makes everything anew
    tokenizer_t *warm;        //  The memo's
    memo_t *memo;             //  Under test
    namespace_t ns;           //  Of its blocks
    template_t *template;     //  Of the model
    size_t rendered;          //  Prompts
    array_t ids, expected;    //  uint32_t: scratch
    buffer_t prompt;          //  Scratch
} model_t;

static void
s_read (const char *path, buffer_t *out)
{
    FILE *file = fopen (path, "rb");
    if (!file)
        fail_msg ("no file %s", path);
    buffer_clear (out);
    for (size_t size; (size = fread (buffer_reserve (out, 65536), 1, 65536, file)) > 0;)
        buffer_commit (out, size);
    fclose (file);
}

//  The templates of the golden rows.
static void
s_note_paths (void)
{
    buffer_t rows = { 0 };
    map_t *seen = map_new (0);
    s_read (FOLDER "golden.jsonl", &rows);
    for (span_t rest = buffer_span (&rows); rest.size;) {
        json_t *row = NULL;
        size_t size = span_find_byte (rest, '\n');
        assert_int_equal (json_parse (span_slice (rest, 0, size), &row, NULL), STATUS_OK);
        span_t name = json_string (json_get (row, "template"));
        if (s_path_count < TEMPLATES_MAX && !map_put (seen, name, seen))
            snprintf (s_paths [s_path_count++], sizeof *s_paths, FOLDER "%.*s", SPAN_ARG (name));
        json_destroy (&row);
        rest = span_slice (rest, size + 1, rest.size);
    }
    map_destroy (&seen);
    buffer_fini (&rows);
}

//  ---- Tokenizers with the templates' markers ------------------------------------------------------------------------

//  The size of a marker at the start of a text: <...> or [LETTERS], without blanks, quotes or braces.  0: none.
static size_t
s_marker (span_t text)
{
    bool angle = text.data [0] == '<';
    if (!angle && text.data [0] != '[')
        return 0;
    for (size_t i = 1; i < text.size && i < MARKER_MAX; i++) {
        uint8_t byte = text.data [i];
        if (byte == (angle ? '>' : ']'))
            return i > 1 ? i + 1 : 0;
        bool fits =
            angle ? byte > ' ' && !strchr ("\"\\'{}<", byte) : (byte >= 'A' && byte <= 'Z') || strchr ("_/", byte);
        if (!fits)
            break;
    }
    return 0;
}

static void
s_print_markers (span_t source, buffer_t *out)
{
    map_t *seen = map_new (0);
    for (size_t at = 0, size; at < source.size; at += size ? size : 1) {
        span_t marker = span_slice (source, at, source.size);
        size = s_marker (marker);
        marker = span_slice (marker, 0, size);
        if (size && !map_put (seen, marker, seen))
            buffer_print (out, "{\"id\":%zu,\"content\":\"%.*s\",\"special\":true},", FIRST_MARKER + map_count (seen),
                SPAN_ARG (marker));
    }
    map_destroy (&seen);
}

static tokenizer_t *
s_load_tokenizer (const char *kind, span_t source)
{
    static const char list [] = "\"added_tokens\":[";
    char path [512];
    buffer_t file = { 0 }, text = { 0 };
    tokenizer_t *tokenizer;
    error_t error;
    snprintf (path, sizeof path, TOKENIZERS "%s.tokenizer.json", kind);
    s_read (path, &file);
    size_t head = (size_t)(strstr (buffer_string (&file), list) - buffer_string (&file)) + sizeof list - 1;
    buffer_append (&text, span_slice (buffer_span (&file), 0, head));
    s_print_markers (source, &text);
    buffer_append (&text, span_slice (buffer_span (&file), head, file.size));
    if (tokenizer_load_json (buffer_span (&text), &tokenizer, &error))
        fail_msg ("%s: %s", kind, error.text);
    buffer_fini (&file);
    buffer_fini (&text);
    return tokenizer;
}

static void
s_open (model_t *self, size_t number)
{
    buffer_t source = { 0 };
    error_t error;
    const char *kind = s_kinds [number % (sizeof s_kinds / sizeof *s_kinds)];
    s_read (s_paths [number], &source);
    *self = (model_t){ .cold = s_load_tokenizer (kind, buffer_span (&source)),
        .warm = s_load_tokenizer (kind, buffer_span (&source)) };
    self->template = template_compile (buffer_span (&source), &error);
    self->memo = memo_new (self->warm, MEMO_BYTES, number);
    assert_int_equal (namespace_init_model (&self->ns, SPAN ("secret"), number, 4, &error), STATUS_OK);
    array_init (&self->ids, sizeof (uint32_t));
    array_init (&self->expected, sizeof (uint32_t));
    buffer_fini (&source);
}

static void
s_close (model_t *self)
{
    memo_destroy (&self->memo);
    tokenizer_destroy (&self->warm);
    tokenizer_destroy (&self->cold);
    template_destroy (&self->template);
    array_fini (&self->ids);
    array_fini (&self->expected);
    buffer_fini (&self->prompt);
}

//  ---- Conversations -------------------------------------------------------------------------------------------------

//  Which part of a conversation, and what became of it.
typedef struct {
    size_t first;     //  Message to begin with
    size_t count;     //  Messages
    size_t edited;    //  Message that says something else; SIZE_MAX: none
} view_t;

static void
s_write_edited (json_writer_t *json, const json_t *message)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    json_write_begin_object (json);
    while (json_next (message, &cursor, &key, &value)) {
        buffer_t text = { 0 };
        json_write_key_span (json, key);
        json_render (value, &text);
        if (span_equal_string (key, "content") && json_kind (value) == JSON_STRING)
            json_write_string (json, SPAN ("Something else was meant here, and it is not even short."));
        else
            json_write_raw (json, buffer_span (&text));
        buffer_fini (&text);
    }
    json_write_end_object (json);
}

static void
s_write_messages (json_writer_t *json, const json_t *messages, const view_t *view)
{
    json_write_begin_array (json);
    for (size_t i = view->first; i < view->first + view->count && i < json_count (messages); i++) {
        buffer_t text = { 0 };
        json_render (json_at (messages, i), &text);
        if (i == view->edited)
            s_write_edited (json, json_at (messages, i));
        else
            json_write_raw (json, buffer_span (&text));
        buffer_fini (&text);
    }
    json_write_end_array (json);
}

//  As transformers fills it up.
static json_t *
s_context (const json_t *conversation, const view_t *view)
{
    buffer_t text = { 0 };
    json_writer_t json;
    json_t *context;
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    json_writer_init (&json, &text);
    json_write_begin_object (&json);
    json_write_key (&json, "bos_token");
    json_write_string (&json, SPAN ("<s>"));
    json_write_key (&json, "eos_token");
    json_write_string (&json, SPAN ("</s>"));
    json_write_key (&json, "add_generation_prompt");
    json_write_bool (&json, true);
    while (json_next (conversation, &cursor, &key, &value)) {
        buffer_t member = { 0 };
        json_write_key_span (&json, key);
        json_render (value, &member);
        if (span_equal_string (key, "messages"))
            s_write_messages (&json, value, view);
        else
            json_write_raw (&json, buffer_span (&member));
        buffer_fini (&member);
    }
    json_write_end_object (&json);
    assert_int_equal (json_parse (buffer_span (&text), &context, NULL), STATUS_OK);
    buffer_fini (&text);
    return context;
}

static void
s_compare (model_t *self, const char *what)
{
    sequence_t *chain = NULL, *expected = sequence_new (&self->ns);
    size_t count, expected_count;
    error_t error;
    span_t prompt = buffer_span (&self->prompt);
    array_cut (&self->ids, 0);
    array_cut (&self->expected, 0);
    tokenizer_flags_t flags = { .parse_special = true };
    if (tokenizer_encode (self->cold, prompt, flags, &self->expected, &error) ||
        memo_encode (self->memo, &self->ns, prompt, &self->ids, &chain, &error))
        fail_msg ("%s: %s", what, error.text);
    sequence_extend (expected, self->expected.data, self->expected.count);
    const hash128_t *hashes = sequence_hashes (chain, &count);
    const hash128_t *expected_hashes = sequence_hashes (expected, &expected_count);
    if (self->ids.count != self->expected.count || count != expected_count ||
        (self->ids.count && memcmp (self->ids.data, self->expected.data, self->ids.count * sizeof (uint32_t)) != 0) ||
        (count && memcmp (hashes, expected_hashes, count * sizeof *hashes) != 0))
        fail_msg ("%s: \"%.*s\"", what, SPAN_ARG (prompt));
    sequence_destroy (&chain);
    sequence_destroy (&expected);
}

//  Templates refuse conversations that they do not like, as the goldens have it.
static void
s_send (model_t *self, const json_t *conversation, view_t view, const char *what)
{
    json_t *context = s_context (conversation, &view);
    template_input_t input = { .context = context, .now_s = NOW_S };
    buffer_clear (&self->prompt);
    if (template_render (self->template, &input, &self->prompt, NULL, NULL) == STATUS_OK) {
        s_compare (self, what);
        self->rendered++;
    }
    json_destroy (&context);
}

//  Calls for every conversation in turn.
static void
s_each (model_t *self, const char *what, void (*step) (model_t *self, const json_t *conversation, const char *what))
{
    uintptr_t cursor = 0;
    span_t name;
    const json_t *conversation;
    while (json_next (s_contexts, &cursor, &name, &conversation))
        step (self, conversation, what);
}

static size_t
s_length (const json_t *conversation)
{
    return json_count (json_get (conversation, "messages"));
}

static void
s_grow (model_t *self, const json_t *conversation, const char *what)
{
    for (size_t count = 1; count <= s_length (conversation); count++)
        s_send (self, conversation, (view_t){ 0, count, SIZE_MAX }, what);
}

//  Every message in its turn says something else, and the conversation goes on from there.
static void
s_edit (model_t *self, const json_t *conversation, const char *what)
{
    for (size_t edited = 0; edited < s_length (conversation); edited++)
        for (size_t count = edited + 1; count <= s_length (conversation); count++)
            s_send (self, conversation, (view_t){ 0, count, edited }, what);
}

//  Its beginning is dropped.
static void
s_compact (model_t *self, const json_t *conversation, const char *what)
{
    for (size_t first = 1; first < s_length (conversation); first++)
        s_send (self, conversation, (view_t){ first, s_length (conversation), SIZE_MAX }, what);
}

static void
test_what_a_memo_gives_is_what_would_be_made_anew (void **state)
{
    memo_counts_t sum = { 0 };
    for (size_t number = 0; number < s_path_count; number++) {
        model_t model;
        s_open (&model, number);
        for (size_t round = 0; round < 5; round++) {
            s_each (&model, s_paths [number], s_grow);
            s_each (&model, s_paths [number], s_edit);
            s_each (&model, s_paths [number], s_compact);
        }
        memo_counts_t counts = memo_counts (model.memo);
        assert_int_equal (counts.prompts, model.rendered);
        sum.prompts += counts.prompts;
        sum.bytes += counts.bytes;
        sum.known += counts.known;
        s_close (&model);
    }
    print_message ("%zu templates, %llu prompts, %llu bytes, of these %llu known\n", s_path_count,
        (unsigned long long)sum.prompts, (unsigned long long)sum.bytes, (unsigned long long)sum.known);
    assert_true (s_path_count > 60);
    assert_true (sum.known * 10 > sum.bytes * 9);
}

static int
s_set_up (void **state)
{
    static json_t *file;
    buffer_t text = { 0 };
    s_note_paths ();
    s_read (FOLDER "contexts.json", &text);
    assert_int_equal (json_parse (buffer_span (&text), &file, NULL), STATUS_OK);
    s_contexts = json_get (file, "contexts");
    buffer_fini (&text);
    *state = &file;
    return 0;
}

static int
s_tear_down (void **state)
{
    json_destroy (*state);
    return 0;
}

int
main (void)
{
    const struct CMUnitTest tests [] = { cmocka_unit_test (test_what_a_memo_gives_is_what_would_be_made_anew) };
    return cmocka_run_group_tests (tests, s_set_up, s_tear_down);
}
