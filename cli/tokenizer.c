//  stator tokenizer - text to token ids and back, row by row

#include <string.h>

#include "cli/command.h"
#include "cli/rows.h"
#include "cli/tokenizer_file.h"

typedef struct {
    const char *rows;    //  Where they stand
    bool add_special;    //  What the model wants around a text
    bool plain;          //  Special tokens in a text are only text
} tokenizer_flags_of_command_t;

static const option_t s_flags [] = {
    { .name = "rows",
        .type = OPTION_STRING,
        .offset = offsetof (tokenizer_flags_of_command_t, rows),
        .fallback = "-",
        .doc = "File with the rows; - is standard input." },
    { .name = "add_special",
        .type = OPTION_BOOL,
        .offset = offsetof (tokenizer_flags_of_command_t, add_special),
        .doc = "Add what the model wants around a text: begin of text, say." },
    { .name = "plain",
        .type = OPTION_BOOL,
        .offset = offsetof (tokenizer_flags_of_command_t, plain),
        .doc = "Take special tokens in a text for text, as in what a user wrote." },
    OPTIONS_END,
};

//  What is done with each row.
typedef struct {
    tokenizer_t *tokenizer;                       //  By which
    const tokenizer_flags_of_command_t *flags;    //  As typed
    array_t ids;                                  //  uint32_t: of the row
    buffer_t text;                                //  Of the row
} rows_t;

static status_t
s_encode (void *self_, const json_t *row, json_writer_t *json, error_t *error)
{
    rows_t *self = self_;
    const json_t *text = json_get (row, "text");
    tokenizer_flags_t flags = { .add_special = self->flags->add_special, .parse_special = !self->flags->plain };
    if (json_kind (text) != JSON_STRING)
        return error_set (error, STATUS_INVALID, "it has no \"text\"");
    array_cut (&self->ids, 0);
    status_t status = tokenizer_encode (self->tokenizer, json_string (text), flags, &self->ids, error);
    json_write_key (json, "ids");
    json_write_begin_array (json);
    for (size_t i = 0; i < self->ids.count && !status; i++)
        json_write_u64 (json, *(const uint32_t *)array_at (&self->ids, i));
    json_write_end_array (json);
    return status;
}

static status_t
s_decode (void *self_, const json_t *row, json_writer_t *json, error_t *error)
{
    rows_t *self = self_;
    const json_t *ids = json_get (row, "ids");
    if (json_kind (ids) != JSON_ARRAY)
        return error_set (error, STATUS_INVALID, "it has no \"ids\"");
    buffer_clear (&self->text);
    array_cut (&self->ids, 0);
    for (size_t i = 0; i < json_count (ids); i++) {
        uint64_t id;
        if (!json_to_u64 (json_at (ids, i), &id) || id >= tokenizer_size (self->tokenizer))
            return error_set (error, STATUS_INVALID, "element %zu of \"ids\" is no token of this model", i);
        array_append (&self->ids, &(uint32_t){ (uint32_t)id }, 1);
    }
    tokenizer_decode_text (self->tokenizer, self->ids.data, self->ids.count, false, &self->text);
    json_write_key (json, "text");
    json_write_string (json, buffer_span (&self->text));
    return STATUS_OK;
}

static const char *const s_choices [] = { "encode", "decode", NULL };

static result_t
s_run (const invocation_t *invocation)
{
    rows_t rows = { .flags = invocation->flags };
    error_t error = { 0 };
    rows_fn *answer = strcmp (invocation->words [0], s_choices [0]) == 0 ? s_encode : s_decode;
    array_init (&rows.ids, sizeof (uint32_t));
    status_t status = tokenizer_file_load (invocation->words [1], &rows.tokenizer, &error);
    if (!status)
        status = rows_answer (rows.flags->rows, answer, &rows, &error);
    if (status)
        command_complain (invocation->command, "%s", error.text);
    tokenizer_destroy (&rows.tokenizer);
    array_fini (&rows.ids);
    buffer_fini (&rows.text);
    return command_result (status);
}

const command_t tokenizer_command = {
    .name = "tokenizer",
    .arguments = "encode|decode MODEL",
    .doc = "Turn text into token ids, or ids into text.",
    .essay =
        "MODEL is a tokenizer.json, a GGUF file, or a folder with a tokenizer.json. Rows are read as JSON, one a "
        "line:\n"
        "encode turns {\"id\": ..., \"text\": ...} into {\"id\": ..., \"ids\": [...]}, decode the other way round.\n",
    .table = s_flags,
    .flags_size = sizeof (tokenizer_flags_of_command_t),
    .choices = s_choices,
    .words_min = 2,
    .words_max = 2,
    .run = s_run,
};
