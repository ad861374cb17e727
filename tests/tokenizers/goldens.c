//  Holds a tokenizer against what the reference implementation made of the same texts.
//
//      goldens FILE INPUTS GOLDEN
//      goldens FOLDER              all NAME.tokenizer.json and NAME.gguf of it, with inputs.jsonl and NAME.jsonl
//
//  FILE: a tokenizer.json or GGUF file. INPUTS: rows {"id", "text"}. GOLDEN: rows {"id", "ids"[, "with_special"]
//  [, "roundtrip"][, "decoded"]}. Every text is
//  encoded whole, again from the cache, cut at every seam, and decoded again. Prints what differs; exit 1 where anything does.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "model/tokenizer/tokenizer.h"

enum { PRINTED_MAX = 10 };

typedef struct {
    tokenizer_t *tokenizer;    //  Under test
    map_t *texts;              //  json_t: input rows by id
    size_t checks;             //  Made
    size_t failures;           //  Of them
} goldens_t;

static bool
s_read_file (const char *path, buffer_t *bytes)
{
    FILE *file = fopen (path, "rb");
    if (!file) {
        perror (path);
        return false;
    }
    for (size_t size = 1; size;) {
        size = fread (buffer_reserve (bytes, 1 << 20), 1, 1 << 20, file);
        buffer_commit (bytes, size);
    }
    fclose (file);
    return true;
}

static bool
s_equals (const array_t *ids, const json_t *expected)
{
    bool equal = ids->count == json_count (expected);
    for (size_t i = 0; i < ids->count && equal; i++) {
        uint64_t id;
        equal = json_to_u64 (json_at (expected, i), &id) && id == *(const uint32_t *)array_at (ids, i);
    }
    return equal;
}

//  The ids of a long text are told by their number and ends.
static bool
s_agrees (const array_t *ids, const json_t *expected)
{
    uint64_t count, first, last;
    if (json_kind (expected) != JSON_OBJECT)
        return s_equals (ids, expected);
    return ids->count && json_to_u64 (json_get (expected, "len"), &count) && count == ids->count &&
           json_to_u64 (json_get (expected, "first"), &first) && first == *(const uint32_t *)array_at (ids, 0) &&
           json_to_u64 (json_get (expected, "last"), &last) &&
           last == *(const uint32_t *)array_at (ids, ids->count - 1);
}

static void
s_check (goldens_t *self, bool holds, const char *what, span_t id, const array_t *ids)
{
    self->checks++;
    if (holds)
        return;
    if (self->failures++ >= PRINTED_MAX)
        return;
    printf ("%.*s: %s:", SPAN_ARG (id), what);
    for (size_t i = 0; ids && i < ids->count && i < 64; i++)
        printf (" %u", *(const uint32_t *)array_at (ids, i));
    printf ("\n");
}

static void
s_encode (goldens_t *self, span_t text, tokenizer_flags_t flags, array_t *ids)
{
    error_t error;
    if (tokenizer_encode (self->tokenizer, text, flags, ids, &error)) {
        printf ("%s\n", error.text);
        exit (1);
    }
}

//  The ids of a text that is cut at every seam.
static void
s_encode_cut (goldens_t *self, span_t text, array_t *ids)
{
    array_t seams;
    size_t done = 0;
    tokenizer_flags_t flags = { .parse_special = true };
    array_init (&seams, sizeof (size_t));
    tokenizer_seams (self->tokenizer, text, flags, &seams);
    array_append (&seams, &text.size, 1);
    for (size_t i = 0; i < seams.count; i++) {
        size_t place = *(const size_t *)array_at (&seams, i);
        s_encode (self, span_slice (text, done, place - done), flags, ids);
        flags.not_first = place > 0;
        done = place;
    }
    array_fini (&seams);
}

static void
s_check_decoding (goldens_t *self, const json_t *row, span_t text, const array_t *ids)
{
    buffer_t whole = { 0 }, streamed = { 0 }, said = { 0 };
    detokenizer_t detokenizer;
    tokenizer_decode (self->tokenizer, ids->data, ids->count, false, &whole);
    tokenizer_decode_text (self->tokenizer, ids->data, ids->count, false, &said);
    detokenizer_init (&detokenizer, self->tokenizer, false);
    for (size_t i = 0; i < ids->count; i++)
        detokenizer_push (&detokenizer, *(const uint32_t *)array_at (ids, i), &streamed);
    detokenizer_finish (&detokenizer, &streamed);
    span_t id = json_string (json_get (row, "id"));
    if (json_is_true (json_get (row, "roundtrip"))) {
        s_check (self, span_equal (buffer_span (&whole), text), "decoded", id, ids);
        s_check (self, span_equal (buffer_span (&streamed), text), "streamed", id, ids);
    }
    const json_t *decoded = json_get (row, "decoded");
    if (decoded) {
        s_check (self, span_equal (buffer_span (&streamed), json_string (decoded)), "streamed otherwise", id, ids);
        s_check (self, span_equal (buffer_span (&said), json_string (decoded)), "decoded otherwise", id, ids);
    }
    buffer_fini (&said);
    buffer_fini (&whole);
    buffer_fini (&streamed);
}

static void
s_check_row (goldens_t *self, const json_t *row)
{
    span_t id = json_string (json_get (row, "id"));
    const json_t *expected = json_get (row, "ids"), *special = json_get (row, "with_special");
    const json_t *input = map_get (self->texts, id);
    span_t text = json_string (json_get (input, "text"));
    array_t ids;
    array_init (&ids, sizeof (uint32_t));
    static const char *const passes [] = { "whole", "again" };
    for (size_t i = 0; i < 2; i++) {
        array_cut (&ids, 0);
        s_encode (self, text, (tokenizer_flags_t){ .parse_special = true }, &ids);
        s_check (self, input && s_equals (&ids, expected), passes [i], id, &ids);
    }
    s_check_decoding (self, row, text, &ids);
    array_cut (&ids, 0);
    s_encode_cut (self, text, &ids);
    s_check (self, s_equals (&ids, expected), "cut at seams", id, &ids);
    array_cut (&ids, 0);
    s_encode (self, text, (tokenizer_flags_t){ .parse_special = true, .add_special = true }, &ids);
    if (special)
        s_check (self, s_agrees (&ids, special), "with special tokens", id, &ids);
    array_fini (&ids);
}

//  Calls for every line of a file. Keeps the trees where asked to.
static bool
s_each_row (goldens_t *self, const char *path, bool keep)
{
    buffer_t bytes = { 0 };
    error_t error;
    bool good = s_read_file (path, &bytes);
    for (span_t rest = buffer_span (&bytes); good && rest.size;) {
        size_t size = span_find_byte (rest, '\n');
        json_t *row = NULL;
        good = json_parse (span_slice (rest, 0, size), &row, &error) == STATUS_OK;
        if (good && keep)
            map_put (self->texts, json_string (json_get (row, "id")), row);
        else if (good)
            s_check_row (self, row);
        if (!keep)
            json_destroy (&row);
        rest = span_slice (rest, size + 1, rest.size);
    }
    if (!good)
        printf ("%s: %s\n", path, error.text);
    buffer_fini (&bytes);
    return good;
}

static bool
s_load (goldens_t *self, const char *path)
{
    buffer_t bytes = { 0 };
    error_t error;
    if (!s_read_file (path, &bytes))
        return false;
    span_t file = buffer_span (&bytes);
    status_t status = span_starts_with (file, SPAN ("GGUF")) ? tokenizer_load_gguf (file, &self->tokenizer, &error)
                                                             : tokenizer_load_json (file, &self->tokenizer, &error);
    buffer_fini (&bytes);
    if (status)
        printf ("%s: %s\n", path, error.text);
    return status == STATUS_OK;
}

//  Everything there is about one tokenizer. Returns whether all of it held.
static bool
s_run (const char *file, const char *inputs, const char *golden)
{
    goldens_t self = { .texts = map_new (0) };
    bool good = s_load (&self, file) && s_each_row (&self, inputs, true) && s_each_row (&self, golden, false);
    printf ("%s: %zu checks, %zu failed\n", golden, self.checks, self.failures);
    void *row;
    for (size_t cursor = 0; map_next (self.texts, &cursor, NULL, &row);) {
        json_t *tree = row;
        json_destroy (&tree);
    }
    map_destroy (&self.texts);
    tokenizer_destroy (&self.tokenizer);
    return good && self.checks && !self.failures;
}

//  The name of a tokenizer's file without its ending; 0 bytes for other files.
static size_t
s_stem (const char *name)
{
    static const char *const endings [] = { ".tokenizer.json", ".gguf" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen (name), ending = strlen (endings [i]);
        if (size > ending && strcmp (name + size - ending, endings [i]) == 0)
            return size - ending;
    }
    return 0;
}

//  Every NAME.tokenizer.json and NAME.gguf of a folder, with NAME.jsonl and the texts of inputs.jsonl.
static bool
s_run_folder (const char *path)
{
    DIR *folder = opendir (path);
    size_t found = 0, failed = 0;
    for (struct dirent *entry; folder && (entry = readdir (folder));) {
        char file [512], inputs [512], golden [512];
        size_t stem = s_stem (entry->d_name);
        if (!stem)
            continue;
        snprintf (file, sizeof file, "%s/%s", path, entry->d_name);
        snprintf (inputs, sizeof inputs, "%s/inputs.jsonl", path);
        snprintf (golden, sizeof golden, "%s/%.*s.jsonl", path, (int)stem, entry->d_name);
        found++;
        failed += !s_run (file, inputs, golden);
    }
    if (folder)
        closedir (folder);
    printf ("%zu tokenizers, %zu failed\n", found, failed);
    return found && !failed;
}

int
main (int argc, char **argv)
{
    if (argc != 4 && argc != 2) {
        fprintf (stderr, "usage: %s FOLDER | FILE INPUTS GOLDEN\n", argv [0]);
        return 2;
    }
    bool good = argc == 2 ? s_run_folder (argv [1]) : s_run (argv [1], argv [2], argv [3]);
    return good ? 0 : 1;
}
