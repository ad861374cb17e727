#include "model/tokenizer/unigram.h"

#include <string.h>

#include "model/tokenizer/letters.h"

//  What an unknown character costs beyond the least likely token.
#define UNKNOWN_PENALTY 10.0

enum { KEPT_MAX = 1 << 20, NOWHERE = -1 };

//  The best way to a place.
typedef struct {
    double score;     //  Sum on the way
    int32_t start;    //  Where its last token begins; NOWHERE: no way yet
    uint32_t id;      //  That token; TOKEN_NONE: an unknown character
} node_t;

void
unigram_init (unigram_t *self, const vocabulary_t *vocabulary)
{
    *self = (unigram_t){ .vocabulary = vocabulary, .unknown = TOKEN_NONE };
    array_init (&self->scores, sizeof (double));
    array_init (&self->nodes, sizeof (node_t));
    memset (self->bytes, 0xff, sizeof self->bytes);
}

void
unigram_fini (unigram_t *self)
{
    array_fini (&self->scores);
    array_fini (&self->nodes);
}

void
unigram_seal (unigram_t *self)
{
    const double *scores = self->scores.data;
    vocabulary_longest (self->vocabulary, self->longest);
    for (uint32_t id = 0; id < vocabulary_size (self->vocabulary) && id < self->scores.count; id++)
        if (id == 0 || scores [id] < self->lowest)
            self->lowest = scores [id];
}

static void
s_offer (node_t *node, double score, size_t start, uint32_t id)
{
    if (node->start == NOWHERE || score > node->score)
        *node = (node_t){ score, (int32_t)start, id };
}

//  Offers every token that begins at a place to where it ends. They end where characters do.
static void
s_go_on (const unigram_t *self, span_t piece, size_t at, node_t *nodes)
{
    size_t size, most = self->longest [piece.data [at]];
    letters_decode (piece.data + at, &size);
    double here = nodes [at].score;
    bool whole = false;
    for (size_t end = at + size, next; end <= piece.size && end - at <= most; end += next) {
        uint32_t id = vocabulary_find (self->vocabulary, span_slice (piece, at, end - at));
        if (id != TOKEN_NONE && id < self->scores.count) {
            s_offer (&nodes [end], here + ((const double *)self->scores.data) [id], at, id);
            whole |= end == at + size;
        }
        if (end == piece.size)
            break;
        letters_decode (piece.data + end, &next);
    }
    if (!whole)
        s_offer (&nodes [at + size], here + self->lowest - UNKNOWN_PENALTY, at, TOKEN_NONE);
}

//  What no token says, in a row.
static void
s_append_unknown (const unigram_t *self, span_t text, array_t *ids)
{
    bool has_bytes = self->byte_fallback;
    if (!text.size)
        return;
    uint32_t whole = self->looks_unknown_up ? vocabulary_find (self->vocabulary, text) : TOKEN_NONE;
    if (whole != TOKEN_NONE) {
        array_append (ids, &whole, 1);
        return;
    }
    for (size_t i = 0; has_bytes && i < text.size; i++)
        has_bytes = self->bytes [text.data [i]] != TOKEN_NONE;
    for (size_t i = 0; has_bytes && i < text.size; i++)
        array_append (ids, &self->bytes [text.data [i]], 1);
    if (!has_bytes && self->unknown != TOKEN_NONE)
        array_append (ids, &self->unknown, 1);
}

status_t
unigram_encode (unigram_t *self, span_t piece, array_t *ids, error_t *error)
{
    if (piece.size > UNIGRAM_PIECE_MAX)
        return error_set (
            error, STATUS_LIMIT, "%zu bytes without a place to cut them; %d are enough", piece.size, UNIGRAM_PIECE_MAX);
    array_cut (&self->nodes, 0);
    node_t *nodes = array_append (&self->nodes, NULL, piece.size + 1);
    for (size_t i = 1; i <= piece.size; i++)
        nodes [i].start = NOWHERE;
    size_t size;
    for (size_t at = 0; at < piece.size; at += size) {
        s_go_on (self, piece, at, nodes);
        letters_decode (piece.data + at, &size);
    }
    //  The way back, turned round: each node's score makes room for where its token ends.
    size_t steps = 0;
    for (size_t end = piece.size; end; end = (size_t)nodes [end].start)
        nodes [piece.size - steps++].score = (double)end;
    size_t said = 0;
    for (size_t i = steps; i-- > 0;) {
        size_t end = (size_t)nodes [piece.size - i].score;
        const node_t *node = &nodes [end];
        if (node->id == TOKEN_NONE || node->id == self->unknown)
            continue;
        s_append_unknown (self, span_slice (piece, said, (size_t)node->start - said), ids);
        array_append (ids, &node->id, 1);
        said = end;
    }
    s_append_unknown (self, span_slice (piece, said, piece.size), ids);
    if (self->nodes.capacity * sizeof (node_t) > KEPT_MAX)
        array_fini (&self->nodes);
    return STATUS_OK;
}
