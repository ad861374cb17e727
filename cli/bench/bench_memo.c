//  stator bench memo - the tokens and hashes of a growing conversation, remembered and made anew
//
//  A harness sends its whole history with every turn.  Each conversation of a file is sent as it grew: the prompts that end in
//  a user's message or a tool's result.  A prompt is rendered first, which is not timed.  With --quick only the first prompt is
//  made anew as well, so that what is counted is the memo's.

#include "cli/bench/bench.h"
#include "cli/contexts.h"
#include "cli/mapping.h"
#include "cli/tokenizer_file.h"
#include "model/memo/memo.h"
#include "model/template/template.h"

enum { BLOCK_SIZE = 64, MEMO_BYTES = 256 << 20 };

typedef struct {
    tokenizer_t *cold;        //  Makes everything anew
    tokenizer_t *warm;        //  The memo's
    template_t *template;     //  Of the model
    contexts_t contexts;      //  Conversations
    mapping_t source;         //  Of the template
    namespace_t ns;           //  Of the blocks
    memo_t *memo;             //  Of one conversation
    array_t ids, expected;    //  uint32_t: scratch
    buffer_t prompt;          //  Scratch
    size_t turns;             //  Prompts of the conversation
    bool quick;               //  As the run has it
    double cold_s;            //  For all of them without the memo
    double memo_s;            //  With it
    double last_cold_s;       //  For the last of them without it
    double last_memo_s;       //  With it
} grown_t;

static status_t
s_open (grown_t *self, const bench_run_t *run, error_t *error)
{
    array_init (&self->ids, sizeof (uint32_t));
    array_init (&self->expected, sizeof (uint32_t));
    status_t status = tokenizer_file_load (run->words [0], &self->cold, error);
    if (!status)
        status = tokenizer_file_load (run->words [0], &self->warm, error);
    if (!status)
        status = mapping_open (&self->source, run->words [1], error);
    if (!status)
        status = contexts_open (&self->contexts, run->words [2], error);
    if (!status)
        status = namespace_init_model (&self->ns, SPAN ("bench"), 1, BLOCK_SIZE, error);
    if (!status && !(self->template = template_compile (self->source.bytes, error)))
        status = error->status;
    return status;
}

static void
s_close (grown_t *self)
{
    template_destroy (&self->template);
    contexts_close (&self->contexts);
    mapping_close (&self->source);
    tokenizer_destroy (&self->cold);
    tokenizer_destroy (&self->warm);
    array_fini (&self->ids);
    array_fini (&self->expected);
    buffer_fini (&self->prompt);
}

//  The conversation with its first messages only.
static json_t *
s_first_messages (const json_t *conversation, size_t count)
{
    json_t *first = json_new_object (), *messages = json_new_array ();
    for (size_t i = 0; i < count; i++)
        json_add (messages, json_share (json_at (json_get (conversation, "messages"), i)));
    json_put (first, "messages", messages);
    json_put (first, "tools", json_share (json_get (conversation, "tools")));
    return first;
}

//  The prompt of these; false where the template refuses them.
static bool
s_render (grown_t *self, const json_t *conversation, size_t count)
{
    json_t *first = s_first_messages (conversation, count);
    json_t *context = contexts_fill (&self->contexts, first);
    template_input_t input = { .context = context, .now_s = self->contexts.now_s };
    buffer_clear (&self->prompt);
    status_t status = template_render (self->template, &input, &self->prompt, NULL, NULL);
    json_destroy (&context);
    json_destroy (&first);
    return status == STATUS_OK;
}

static span_t
s_bytes (const array_t *ids)
{
    return span_of (ids->data, ids->count * sizeof (uint32_t));
}

static status_t
s_encode_cold (grown_t *self, error_t *error)
{
    sequence_t *chain = sequence_new (&self->ns);
    tokenizer_flags_t flags = { .parse_special = true };
    array_cut (&self->expected, 0);
    double start = bench_seconds ();
    status_t status = tokenizer_encode (self->cold, buffer_span (&self->prompt), flags, &self->expected, error);
    sequence_extend (chain, self->expected.data, self->expected.count);
    self->last_cold_s = bench_seconds () - start;
    self->cold_s += self->last_cold_s;
    sequence_destroy (&chain);
    return status;
}

static status_t
s_encode_memo (grown_t *self, error_t *error)
{
    sequence_t *chain = NULL;
    array_cut (&self->ids, 0);
    double start = bench_seconds ();
    status_t status = memo_encode (self->memo, &self->ns, buffer_span (&self->prompt), &self->ids, &chain, error);
    self->last_memo_s = bench_seconds () - start;
    self->memo_s += self->last_memo_s;
    sequence_destroy (&chain);
    return status;
}

static status_t
s_encode (grown_t *self, error_t *error)
{
    bool both = !self->quick || !self->turns;
    status_t status = both ? s_encode_cold (self, error) : STATUS_OK;
    if (!status)
        status = s_encode_memo (self, error);
    if (!status && both && !span_equal (s_bytes (&self->ids), s_bytes (&self->expected)))
        status = error_set (error, STATUS_INTERNAL, "a memo gave %zu tokens that are not the %zu of the same prompt",
            self->ids.count, self->expected.count);
    return status;
}

static void
s_print (const grown_t *self, const char *name)
{
    bench_cell_t cell;
    memo_counts_t counts = memo_counts (self->memo);
    double turns = (double)self->turns;
    bench_cell_begin (&cell, &bench_memo, name);
    bench_cell_count (&cell, "turns", self->turns);
    bench_cell_count (&cell, "prompt_bytes", counts.bytes);
    bench_cell_figure (&cell, "known_percent", counts.bytes ? 100.0 * (double)counts.known / (double)counts.bytes : 0);
    bench_cell_figure (&cell, "cold_us", self->cold_s / turns * 1e6);
    bench_cell_figure (&cell, "memo_us", self->memo_s / turns * 1e6);
    bench_cell_figure (&cell, "last_cold_us", self->last_cold_s * 1e6);
    bench_cell_figure (&cell, "last_memo_us", self->last_memo_s * 1e6);
    bench_cell_ratio (&cell, self->memo_s, self->cold_s);
    bench_cell_print (&cell);
}

static status_t
s_grow (grown_t *self, const json_t *conversation, const char *name, error_t *error)
{
    const json_t *messages = json_get (conversation, "messages");
    status_t status = STATUS_OK;
    self->memo = memo_new (self->warm, MEMO_BYTES, 1);
    self->turns = 0;
    self->cold_s = self->memo_s = 0;
    for (size_t i = 0; i < json_count (messages) && !status; i++) {
        span_t role = json_string (json_get (json_at (messages, i), "role"));
        bool sent = span_equal_string (role, "user") || span_equal_string (role, "tool");
        if (!sent || !s_render (self, conversation, i + 1))
            continue;
        status = s_encode (self, error);
        self->turns++;
    }
    if (!status && self->turns)
        s_print (self, name);
    memo_destroy (&self->memo);
    return status;
}

static status_t
s_run (const bench_run_t *run, error_t *error)
{
    grown_t grown = { .quick = run->quick };
    status_t status = s_open (&grown, run, error);
    for (size_t i = 0; !status && i < grown.contexts.rows.count; i++) {
        const context_t *row = array_at (&grown.contexts.rows, i);
        char name [128];
        span_copy_string (buffer_span (&row->name), name, sizeof name);
        status = s_grow (&grown, row->conversation, name, error);
    }
    s_close (&grown);
    return status;
}

const bench_t bench_memo = {
    .name = "memo",
    .arguments = "MODEL TEMPLATE CONTEXTS",
    .doc = "Memo: tokens and hashes of the conversations of a file as they grew, beside the same made anew.",
    .words_min = 3,
    .words_max = 3,
    .run = s_run,
};
