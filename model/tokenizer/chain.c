#include "model/tokenizer/chain.h"

#include "base/utf8.h"
#include "model/tokenizer/alphabet.h"

//  Tokens one behind the other.
typedef struct {
    buffer_t bytes;    //  Of all
    array_t ends;      //  size_t: where each ends
} row_t;

//  What a step is made of, and what it makes.
typedef struct {
    const decoding_t *step;    //  Which
    row_t *in;                 //  Tokens before it
    row_t *out;                //  Behind it
} walk_t;

static span_t
s_token (const row_t *row, size_t position)
{
    const size_t *ends = row->ends.data;
    size_t start = position ? ends [position - 1] : 0;
    return span_slice (buffer_span (&row->bytes), start, ends [position] - start);
}

static void
s_end_token (row_t *row)
{
    array_append (&row->ends, &row->bytes.size, 1);
}

//  ---- Steps ---------------------------------------------------------------------------------------------------------

//  Bytes in a row are one token, or, where they are no text, as many characters that say so.
static void
s_end_bytes (const buffer_t *run, row_t *out)
{
    span_t bytes = buffer_span (run);
    if (!bytes.size)
        return;
    bool valid = utf8_is_valid (bytes);
    if (valid)
        buffer_append (&out->bytes, bytes);
    for (size_t i = 0; i < bytes.size && !valid; i++) {
        buffer_append (&out->bytes, SPAN ("\xef\xbf\xbd"));
        if (i + 1 < bytes.size)
            s_end_token (out);
    }
    s_end_token (out);
}

static void
s_fall_back (const walk_t *walk)
{
    buffer_t run = { 0 };
    for (size_t i = 0; i < walk->in->ends.count; i++) {
        span_t token = s_token (walk->in, i);
        int byte = alphabet_named_byte (token);
        if (byte >= 0) {
            buffer_append_byte (&run, (uint8_t)byte);
            continue;
        }
        s_end_bytes (&run, walk->out);
        buffer_clear (&run);
        buffer_append (&walk->out->bytes, token);
        s_end_token (walk->out);
    }
    s_end_bytes (&run, walk->out);
    buffer_fini (&run);
}

static void
s_fuse (const walk_t *walk)
{
    buffer_append (&walk->out->bytes, buffer_span (&walk->in->bytes));
    s_end_token (walk->out);
}

//  Bytes of all tokens are one text.
static void
s_read_alphabet (const walk_t *walk)
{
    buffer_t bytes = { 0 };
    for (size_t i = 0; i < walk->in->ends.count; i++)
        if (!alphabet_to_bytes (s_token (walk->in, i), &bytes))
            buffer_append (&bytes, s_token (walk->in, i));
    if (decoder_append_text (buffer_span (&bytes), &walk->out->bytes))
        buffer_append (&walk->out->bytes, SPAN ("\xef\xbf\xbd"));
    s_end_token (walk->out);
    buffer_fini (&bytes);
}

//  Drops what says nothing, or what comes again.
static void
s_drop (const walk_t *walk)
{
    for (size_t i = 0; i < walk->in->ends.count; i++) {
        span_t token = s_token (walk->in, i);
        bool drops =
            walk->step->kind == DECODE_FILLED ? !token.size : i && span_equal (token, s_token (walk->in, i - 1));
        if (drops)
            continue;
        buffer_append (&walk->out->bytes, token);
        s_end_token (walk->out);
    }
}

//  What looks at one token, and whether it is the first or the last one.
static void
s_each (const walk_t *walk)
{
    for (size_t i = 0; i < walk->in->ends.count; i++) {
        decoder_step (walk->step, s_token (walk->in, i), i == 0, i + 1 == walk->in->ends.count, &walk->out->bytes);
        s_end_token (walk->out);
    }
}

static void
s_walk (const walk_t *walk)
{
    switch (walk->step->kind) {
    case DECODE_BYTE:
        s_fall_back (walk);
        break;
    case DECODE_FUSE:
        s_fuse (walk);
        break;
    case DECODE_ALPHABET:
        s_read_alphabet (walk);
        break;
    case DECODE_FILLED:
    case DECODE_ONCE:
        s_drop (walk);
        break;
    default:
        s_each (walk);
    }
}

void
chain_decode (const decoder_t *decoder, const vocabulary_t *written, const uint32_t *ids, size_t count, buffer_t *text)
{
    row_t rows [2] = { 0 };
    size_t now = 0;
    array_init (&rows [0].ends, sizeof (size_t));
    array_init (&rows [1].ends, sizeof (size_t));
    for (size_t i = 0; i < count; i++)
        if (vocabulary_has (written, ids [i])) {
            buffer_append (&rows [0].bytes, vocabulary_bytes (written, ids [i]));
            s_end_token (&rows [0]);
        }
    for (size_t i = 0; i < decoder->steps.count; i++, now = 1 - now) {
        walk_t walk = { array_at (&decoder->steps, i), &rows [now], &rows [1 - now] };
        buffer_clear (&walk.out->bytes);
        array_cut (&walk.out->ends, 0);
        s_walk (&walk);
    }
    buffer_append (text, buffer_span (&rows [now].bytes));
    for (size_t i = 0; i < 2; i++) {
        buffer_fini (&rows [i].bytes);
        array_fini (&rows [i].ends);
    }
}
