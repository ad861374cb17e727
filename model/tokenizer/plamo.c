#include "model/tokenizer/plamo.h"

#include <math.h>
#include <string.h>

#include "model/tokenizer/letters.h"

enum { UNKNOWN_COST = 10000000, COST_MAX = 20000000, KEPT_MAX = 1 << 20 };

//  The cheapest way from a place to the end.
typedef struct {
    int64_t cost;     //  Of all tokens on it
    uint32_t id;      //  The first; TOKEN_NONE: a character by its bytes
    uint32_t size;    //  Bytes of that
} node_t;

void
plamo_init (plamo_t *self, const vocabulary_t *vocabulary)
{
    *self = (plamo_t){ .vocabulary = vocabulary };
    array_init (&self->costs, sizeof (int32_t));
    array_init (&self->nodes, sizeof (node_t));
    memset (self->bytes, 0xff, sizeof self->bytes);
}

void
plamo_fini (plamo_t *self)
{
    array_fini (&self->costs);
    array_fini (&self->nodes);
}

bool
plamo_cost (float score, int32_t *cost)
{
    double scaled = (double)score * -1e4;
    if (!isfinite (score) || scaled >= COST_MAX - 0.5 || scaled < -COST_MAX)
        return false;
    *cost = (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    return true;
}

void
plamo_seal (plamo_t *self)
{
    vocabulary_longest (self->vocabulary, self->longest);
}

static bool
s_begins_character (uint8_t byte)
{
    return (byte & 0xc0) != 0x80;
}

//  The node of a place where a character of so many bytes begins; those of all places behind it are there.
static node_t
s_node (const plamo_t *self, span_t piece, size_t at, size_t character)
{
    const node_t *nodes = self->nodes.data;
    size_t size = self->longest [piece.data [at]];
    node_t best = { INT64_MAX, TOKEN_NONE, (uint32_t)character };
    for (size = size < piece.size - at ? size : piece.size - at; size; size--) {
        if (at + size < piece.size && !s_begins_character (piece.data [at + size]))
            continue;
        uint32_t id = vocabulary_find (self->vocabulary, span_slice (piece, at, size));
        if (id == TOKEN_NONE || id >= self->costs.count)
            continue;
        int64_t cost = nodes [at + size].cost + ((const int32_t *)self->costs.data) [id];
        if (cost < best.cost)
            best = (node_t){ cost, id, (uint32_t)size };
    }
    int64_t unknown = nodes [at + character].cost + UNKNOWN_COST;
    return unknown < best.cost ? (node_t){ unknown, TOKEN_NONE, (uint32_t)character } : best;
}

static void
s_append (const plamo_t *self, const node_t *node, const uint8_t *bytes, array_t *ids)
{
    if (node->id != TOKEN_NONE)
        array_append (ids, &node->id, 1);
    for (size_t i = 0; node->id == TOKEN_NONE && i < node->size; i++)
        array_append (ids, &self->bytes [bytes [i]], 1);
}

status_t
plamo_encode (plamo_t *self, span_t piece, array_t *ids, error_t *error)
{
    if (piece.size > PLAMO_PIECE_MAX)
        return error_set (
            error, STATUS_LIMIT, "%zu bytes without a place to cut them; %d are enough", piece.size, PLAMO_PIECE_MAX);
    if (span_starts_with (piece, SPAN ("\xef\xbb\xbf")))
        piece = span_slice (piece, 3, piece.size);
    array_cut (&self->nodes, 0);
    node_t *nodes = array_append (&self->nodes, NULL, piece.size + 1);
    for (size_t at = piece.size, end = at; at-- > 0;)
        if (s_begins_character (piece.data [at])) {
            nodes [at] = s_node (self, piece, at, end - at);
            end = at;
        }
    for (size_t at = 0; at < piece.size; at += nodes [at].size)
        s_append (self, &nodes [at], piece.data + at, ids);
    if (self->nodes.capacity * sizeof (node_t) > KEPT_MAX)
        array_fini (&self->nodes);
    return STATUS_OK;
}
