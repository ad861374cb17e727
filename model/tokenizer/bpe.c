#include "model/tokenizer/bpe.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/memory.h"
#include "base/utf8.h"
#include "model/tokenizer/letters.h"

enum {
    WHOLE_MAX = 64,       //  Bytes of tokens that are looked up whole
    KEPT_MAX = 1 << 20    //  Bytes of work room that are kept for the next piece
};

typedef struct {
    uint32_t id;        //  TOKEN_NONE: a text that is no token
    uint32_t rank;      //  Of it and the next
    uint32_t merged;    //  What the two become
    uint32_t start;     //  First byte of the piece
    uint32_t end;       //  Behind the last
    uint32_t next;      //  Position of the next symbol, for many
    uint32_t prev;      //  Position of the one before
} symbol_t;

#define END UINT32_MAX

void
bpe_init (bpe_t *self, const vocabulary_t *vocabulary)
{
    *self = (bpe_t){ .vocabulary = vocabulary, .unknown = TOKEN_NONE };
    merges_init (&self->merges);
    memset (self->bytes, 0xff, sizeof self->bytes);
    array_init (&self->score_ranks, sizeof (uint32_t));
    array_init (&self->pairs, sizeof (uint32_t));
    array_init (&self->wholes, sizeof (uint8_t));
    array_init (&self->symbols, sizeof (symbol_t));
    array_init (&self->queue, sizeof (uint64_t));
    array_init (&self->made, sizeof (uint32_t));
}

void
bpe_fini (bpe_t *self)
{
    merges_fini (&self->merges);
    firsts_fini (&self->firsts);
    array_fini (&self->score_ranks);
    array_fini (&self->pairs);
    array_fini (&self->wholes);
    array_fini (&self->symbols);
    array_fini (&self->queue);
    array_fini (&self->made);
    buffer_fini (&self->prefix);
    buffer_fini (&self->suffix);
    buffer_fini (&self->affixed);
}

//  ---- Symbols -------------------------------------------------------------------------------------------------------

static void
s_add (bpe_t *self, uint32_t id, size_t start, size_t end)
{
    symbol_t symbol = { id, MERGE_NONE, TOKEN_NONE, (uint32_t)start, (uint32_t)end, 0, 0 };
    array_append (&self->symbols, &symbol, 1);
}

static bool
s_has_bytes (const bpe_t *self, span_t text)
{
    for (size_t i = 0; i < text.size; i++)
        if (self->bytes [text.data [i]] == TOKEN_NONE)
            return false;
    return true;
}

bool
bpe_is_affixed (const bpe_t *self)
{
    return self->prefix.size || self->suffix.size;
}

//  A symbol as tokens write it at this place of the piece.
static span_t
s_written (bpe_t *self, span_t piece, size_t at, size_t size)
{
    span_t symbol = span_slice (piece, at, size);
    if (!bpe_is_affixed (self))
        return symbol;
    buffer_clear (&self->affixed);
    if (at)
        buffer_append (&self->affixed, buffer_span (&self->prefix));
    buffer_append (&self->affixed, symbol);
    if (at + size == piece.size)
        buffer_append (&self->affixed, buffer_span (&self->suffix));
    return buffer_span (&self->affixed);
}

//  Characters that are no tokens wait until a token comes: those that more of their kind are fused with, and, as in the reference
//  implementation, those that are followed by such as go by their bytes.
typedef struct {
    size_t start;    //  The first byte that waits
    size_t end;      //  Behind the last; 0: none waits
} unknown_t;

static void
s_flush_unknown (bpe_t *self, unknown_t *unknown)
{
    if (unknown->end)
        s_add (self, self->unknown, unknown->start, unknown->end);
    unknown->end = 0;
}

//  A character that is no token.
static void
s_add_unknown (bpe_t *self, span_t written, size_t at, size_t size, unknown_t *unknown)
{
    if (self->byte_fallback && s_has_bytes (self, written)) {
        for (size_t i = 0; i < written.size; i++)
            s_add (self, self->bytes [written.data [i]], at + i, at + i + 1);
        return;
    }
    if (self->unknown == TOKEN_NONE)
        return;
    if (!self->fuse_unknown)
        s_flush_unknown (self, unknown);
    *unknown = (unknown_t){ unknown->end ? unknown->start : at, at + size };
}

static void
s_add_characters (bpe_t *self, span_t piece)
{
    unknown_t unknown = { 0 };
    for (size_t at = 0, size; at < piece.size && self->symbols.count <= BPE_SYMBOLS_MAX; at += size) {
        span_t rest = span_slice (piece, at, piece.size);
        size = self->byte_level ? 1 : utf8_sequence (rest);
        size = size ? size : 1;
        span_t written = s_written (self, piece, at, size);
        uint32_t id = vocabulary_find (self->vocabulary, written);
        if (id == TOKEN_NONE && !self->score_ranks.count) {
            s_add_unknown (self, written, at, size, &unknown);
            continue;
        }
        s_flush_unknown (self, &unknown);
        s_add (self, id, at, at + size);
    }
    s_flush_unknown (self, &unknown);
}

static void
s_add_bytes (bpe_t *self, span_t piece)
{
    array_cut (&self->symbols, 0);
    symbol_t *symbols = array_append (&self->symbols, NULL, piece.size);
    size_t count = 0;
    for (size_t at = 0; at < piece.size; at++) {
        uint32_t id = self->bytes [piece.data [at]];
        id = id == TOKEN_NONE ? self->unknown : id;
        if (id != TOKEN_NONE)
            symbols [count++] = (symbol_t){ id, MERGE_NONE, TOKEN_NONE, (uint32_t)at, (uint32_t)at + 1, 0, 0 };
    }
    array_cut (&self->symbols, count);
}

//  ---- Merging -------------------------------------------------------------------------------------------------------

//  Looks up what a symbol and its next become.
static inline void
s_pair (const bpe_t *self, span_t piece, symbol_t *left, const symbol_t *right)
{
    if (!self->score_ranks.count) {
        left->rank = merges_find (&self->merges, left->id, right->id);
        left->merged = left->rank == MERGE_NONE ? TOKEN_NONE : merges_made (&self->merges, left->rank);
        return;
    }
    uint32_t id = vocabulary_find (self->vocabulary, span_slice (piece, left->start, right->end - left->start));
    left->rank = id == TOKEN_NONE ? MERGE_NONE : ((const uint32_t *)self->score_ranks.data) [id];
    left->merged = id;
}

//  The same for all neighbours at the start. Two bytes have a table of their own, small enough to stay near.
static void
s_pair_all (const bpe_t *self, span_t piece, symbol_t *symbols, size_t count)
{
    const uint32_t *pairs = self->pairs.data;
    for (size_t i = 0; i + 1 < count; i++) {
        if (!pairs) {
            s_pair (self, piece, &symbols [i], &symbols [i + 1]);
            continue;
        }
        uint32_t rank = pairs [piece.data [symbols [i].start] << 8 | piece.data [symbols [i + 1].start]];
        symbols [i].rank = rank;
        symbols [i].merged = rank == MERGE_NONE ? TOKEN_NONE : merges_made (&self->merges, rank);
    }
}

//  ---- Few symbols ---------------------------------------------------------------------------------------------------

//  What has rules and few symbols is merged without a queue: rank and place of each pair are one number, the lowest of which is
//  found by looking at all, some at once; the two that a merge makes are compared with that when their rules have come. There is
//  nothing that a processor must guess from one merge to the next: beyond the first and the last symbol stands one that no rule is
//  for, so that every merge has two neighbours, and a pair without a rule has a key like any other, behind all that have one.
enum { FEW_LOG = 7, FEW = BPE_SIDE_SIZE, AT_ONCE = 16 };

#define KEY_BITS 0x3fffffff                            //  Of rank and place
#define KEY_LEAST 0x00800000                           //  The least key
#define KEY_NONE (KEY_LEAST + KEY_BITS - (FEW - 1))    //  Keys of pairs without a rule are not below this

_Static_assert(FEW == 1 << FEW_LOG, "a place has as many bits");
_Static_assert((uint64_t)MERGE_RANKS << FEW_LOG <= KEY_BITS - (FEW - 1), "a rank and a place fit into a key");

typedef struct {
    _Alignas(16) int32_t keys [FEW + 1];          //  Of the symbol and the next: rank, place
    _Alignas(16) uint8_t next [FEW + AT_ONCE];    //  Place of the next; FEW: beyond the ends
    _Alignas(16) uint8_t prev [FEW + AT_ONCE];    //  Place of the one before
    uint32_t ids [FEW + 1];                       //  What the symbol is; beyond the ends TOKEN_NONE
    size_t count;                                 //  Places in use at the start
    int32_t lowest;                               //  The lowest of the keys; by s_few_merge
} few_t;

static inline int32_t
s_few_key (uint32_t rank, size_t place)
{
    return (int32_t)((rank << FEW_LOG | place) & KEY_BITS) + KEY_LEAST;
}

typedef int32_t keys_t __attribute__ ((vector_size (16), may_alias));
typedef uint8_t places_t __attribute__ ((vector_size (AT_ONCE), may_alias));

//  The lower one of each two. Keys have the same order if they are taken for numbers in floating point: none is negative, infinite,
//  or so small that a processor may be told to take it for zero. The lower one of such takes one instruction of any x86-64.
static inline keys_t
s_lower (keys_t a, keys_t b)
{
#ifdef __SSE2__
    return (keys_t)_mm_min_ps ((__m128)a, (__m128)b);
#else
    keys_t is_lower = a < b;
    return (a & is_lower) | (b & ~is_lower);
#endif
}

//  The keys are followed by such without a rule, to a multiple of AT_ONCE.
static inline int32_t
s_few_lowest (const few_t *few)
{
    const keys_t *keys = (const keys_t *)few->keys;
    keys_t lowest = s_lower (s_lower (keys [0], keys [1]), s_lower (keys [2], keys [3]));
    for (size_t i = 4; i * 4 < few->count; i += 4)
        lowest = s_lower (lowest, s_lower (s_lower (keys [i], keys [i + 1]), s_lower (keys [i + 2], keys [i + 3])));
    lowest = s_lower (lowest, (keys_t){ lowest [2], lowest [3], lowest [0], lowest [1] });
    lowest = s_lower (lowest, (keys_t){ lowest [1], lowest [0], lowest [3], lowest [2] });
    return lowest [0];
}

//  Links some symbols, whose keys are of pairs without a rule so far.
static inline void
s_few_link (few_t *few, size_t count)
{
    const places_t places = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    const keys_t none = { KEY_NONE, KEY_NONE, KEY_NONE, KEY_NONE };
    BUG_ON (count == 0 || count > FEW);
    for (size_t i = 0; i < count; i += AT_ONCE) {
        *(places_t *)(few->next + i) = places + (uint8_t)(i + 1);
        *(places_t *)(few->prev + i) = places + (uint8_t)(i - 1);
        for (size_t k = i; k < i + AT_ONCE; k += sizeof none / sizeof none [0])
            *(keys_t *)(few->keys + k) = none;
    }
    few->prev [0] = few->next [count - 1] = few->next [FEW] = FEW;
    few->ids [FEW] = TOKEN_NONE;
    few->count = count;
}

//  Links some symbols and looks for the rules of all pairs.
static inline void
s_few_begin (const bpe_t *self, few_t *few, size_t count)
{
    s_few_link (few, count);
    for (size_t i = 0; i + 1 < count; i++)
        few->keys [i] = s_few_key (merges_guess (&self->merges, few->ids [i], few->ids [i + 1]), i);
}

//  Makes what stands at the place of the lowest key and the next one symbol, if the rule is theirs, and finds the next lowest key.
static inline void
s_few_join (const bpe_t *self, few_t *few, int32_t key)
{
    size_t at = (size_t)key & (FEW - 1), gone = few->next [at], next = few->next [gone], prev = few->prev [at];
    uint32_t rank = (uint32_t)(key - KEY_LEAST) >> FEW_LOG, made = merges_made (&self->merges, rank);
    const merge_t *rule = merges_rule (&self->merges, rank);
    few->keys [at] = KEY_NONE;
    if (rule->left != few->ids [at] || rule->right != few->ids [gone]) {
        few->lowest = s_few_lowest (few);
        return;
    }
    few->ids [at] = made;
    few->next [at] = (uint8_t)next;
    few->prev [next] = (uint8_t)at;
    few->keys [gone] = few->keys [prev] = KEY_NONE;
    int32_t others = s_few_lowest (few);
    int32_t here = s_few_key (merges_guess (&self->merges, made, few->ids [next]), at);
    int32_t before = s_few_key (merges_guess (&self->merges, few->ids [prev], made), prev);
    before = prev == FEW ? KEY_NONE : before;
    few->keys [at] = here;
    few->keys [prev] = before;
    here = here < before ? here : before;
    few->lowest = here < others ? here : others;
}

//  Merges some side by side, a step of each in turn: while the rules of one come, the others go on.
static void
s_few_merge (const bpe_t *self, few_t *fews, size_t count)
{
    few_t *going [BPE_SIDE];
    size_t more = 0;
    for (size_t i = 0; i < count; i++) {
        fews [i].lowest = s_few_lowest (&fews [i]);
        going [more] = &fews [i];
        more += fews [i].count > 1;
    }
    for (count = more; count;) {
        size_t left = 0;
        for (size_t i = 0; i < count; i++) {
            int32_t key = going [i]->lowest;
            if (key >= KEY_NONE)
                continue;
            s_few_join (self, going [i], key);
            going [left++] = going [i];
        }
        count = left;
    }
}

//  Writes what some became; returns the end.
static inline uint32_t *
s_few_write (const few_t *few, uint32_t *out)
{
    for (size_t at = 0; at != FEW; at = few->next [at])
        *out++ = few->ids [at];
    return out;
}

//  Appends what some pieces became. ends: for each, how many ids there are behind it.
static void
s_few_append (const few_t *fews, size_t count, array_t *ids, size_t *ends)
{
    size_t before = ids->count, most = 0;
    for (size_t i = 0; i < count; i++)
        most += fews [i].count;
    uint32_t *start = array_append (ids, NULL, most), *out = start;
    for (size_t i = 0; i < count; i++) {
        out = s_few_write (&fews [i], out);
        ends [i] = before + (size_t)(out - start);
    }
    array_cut (ids, before + (size_t)(out - start));
}

//  ---- Characters ----------------------------------------------------------------------------------------------------

//  Puts what the character at `at` surely becomes, or its bytes. Returns how many symbols. size: its bytes; 0: it is not whole.
static inline size_t
s_few_character (const bpe_t *self, span_t piece, size_t at, size_t size, uint32_t *ids)
{
    if (size) {
        first_t first = firsts_of (&self->firsts, letters_decode (piece.data + at, &size), size);
        ids [0] = first.id;
        if (firsts_hold (&self->firsts, piece, at, size, first))
            return 1;
    }
    size_t count = size ? size : 1;
    for (size_t i = 0; i < count; i++)
        ids [i] = self->bytes [piece.data [at + i]];
    return count;
}

//  ---- Side by side --------------------------------------------------------------------------------------------------

//  Two bytes have a table of their own, small enough to stay near.
static void
s_few_bytes (const bpe_t *self, span_t piece, few_t *few)
{
    const uint32_t *pairs = self->pairs.data;
    s_few_link (few, piece.size);
    size_t last = piece.size - 1;
    for (size_t i = 0; i < last; i++) {
        few->ids [i] = self->bytes [piece.data [i]];
        few->keys [i] = s_few_key (pairs [piece.data [i] << 8 | piece.data [i + 1]], i);
    }
    few->ids [last] = self->bytes [piece.data [last]];
}

static void
s_few_characters (const bpe_t *self, span_t piece, few_t *few)
{
    size_t count = 0;
    for (size_t at = 0, size; at < piece.size; at += size ? size : 1) {
        size = letters_whole (span_slice (piece, at, piece.size));
        count += s_few_character (self, piece, at, size, few->ids + count);
    }
    s_few_begin (self, few, count);
}

void
bpe_merge_side_by_side (const bpe_t *self, const span_t *pieces, size_t count, array_t *ids, size_t *ends)
{
    few_t fews [BPE_SIDE];
    BUG_ON (!self->knows_bytes || count > BPE_SIDE);
    for (size_t i = 0; i < count; i++)
        if (letters_are_ascii (pieces [i]))
            s_few_bytes (self, pieces [i], &fews [i]);
        else
            s_few_characters (self, pieces [i], &fews [i]);
    s_few_merge (self, fews, count);
    s_few_append (fews, count, ids, ends);
}

static void
s_few_symbols (bpe_t *self, array_t *ids)
{
    few_t few;
    size_t end;
    const symbol_t *symbols = self->symbols.data;
    size_t count = self->symbols.count;
    for (size_t i = 0; i < count; i++)
        few.ids [i] = symbols [i].id;
    s_few_begin (self, &few, count);
    s_few_merge (self, &few, 1);
    s_few_append (&few, 1, ids, &end);
}

//  ---- Many symbols --------------------------------------------------------------------------------------------------

//  The heap holds rank and position of every pair there was; one that is no more is recognised when it comes up.
static void
s_sift_down (uint64_t *heap, size_t count, size_t at)
{
    uint64_t value = heap [at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap [child + 1] < heap [child])
            child++;
        if (heap [child] >= value)
            break;
        heap [at] = heap [child];
    }
    heap [at] = value;
}

static uint64_t
s_pop (array_t *queue)
{
    uint64_t *heap = queue->data;
    uint64_t first = heap [0];
    heap [0] = heap [queue->count - 1];
    array_cut (queue, queue->count - 1);
    if (queue->count)
        s_sift_down (heap, queue->count, 0);
    return first;
}

static void
s_push (array_t *queue, const symbol_t *symbol, uint32_t position)
{
    if (symbol->rank == MERGE_NONE)
        return;
    uint64_t value = (uint64_t)symbol->rank << 32 | position;
    array_append (queue, &value, 1);
    uint64_t *heap = queue->data;
    size_t at = queue->count - 1;
    for (; at && heap [(at - 1) / 2] > value; at = (at - 1) / 2)
        heap [at] = heap [(at - 1) / 2];
    heap [at] = value;
}

static void
s_link (bpe_t *self, span_t piece)
{
    symbol_t *symbols = self->symbols.data;
    uint32_t count = (uint32_t)self->symbols.count;
    array_cut (&self->queue, 0);
    s_pair_all (self, piece, symbols, count);
    for (uint32_t i = 0; i < count; i++) {
        symbols [i].prev = i ? i - 1 : END;
        symbols [i].next = i + 1 < count ? i + 1 : END;
        uint64_t value = (uint64_t)symbols [i].rank << 32 | i;
        if (symbols [i].rank != MERGE_NONE)
            array_append (&self->queue, &value, 1);
    }
    for (size_t i = self->queue.count / 2; i-- > 0;)
        s_sift_down (self->queue.data, self->queue.count, i);
}

//  The merged symbol keeps the left one's place; the right one's rank makes it invalid for ever.
static void
s_merge_at (bpe_t *self, span_t piece, uint32_t position)
{
    symbol_t *symbols = self->symbols.data, *left = &symbols [position], *right = &symbols [left->next];
    left->id = left->merged;
    left->end = right->end;
    left->next = right->next;
    left->rank = right->rank = MERGE_NONE;
    right->start = right->end;
    if (left->next != END) {
        symbols [left->next].prev = position;
        s_pair (self, piece, left, &symbols [left->next]);
        s_push (&self->queue, left, position);
    }
    if (left->prev != END) {
        s_pair (self, piece, &symbols [left->prev], left);
        s_push (&self->queue, &symbols [left->prev], left->prev);
    }
}

static void
s_merge_many (bpe_t *self, span_t piece)
{
    s_link (self, piece);
    while (self->queue.count) {
        uint64_t first = s_pop (&self->queue);
        symbol_t *symbol = (symbol_t *)self->symbols.data + (uint32_t)first;
        if (symbol->rank == first >> 32)
            s_merge_at (self, piece, (uint32_t)first);
    }
    symbol_t *symbols = self->symbols.data;
    size_t count = 0;
    for (size_t i = 0; i < self->symbols.count; i++)
        if (symbols [i].start < symbols [i].end)
            symbols [count++] = symbols [i];
    array_cut (&self->symbols, count);
}

//  ---- A piece -------------------------------------------------------------------------------------------------------

//  With scores, what no merge has made a token goes by its bytes.
static void
s_append_token (const bpe_t *self, span_t piece, const symbol_t *symbol, array_t *ids)
{
    span_t text = span_slice (piece, symbol->start, symbol->end - symbol->start);
    if (symbol->id != TOKEN_NONE)
        array_append (ids, &symbol->id, 1);
    else if (s_has_bytes (self, text))
        for (size_t i = 0; i < text.size; i++)
            array_append (ids, &self->bytes [text.data [i]], 1);
    else if (self->unknown != TOKEN_NONE)
        array_append (ids, &self->unknown, 1);
}

static void
s_encode_many (bpe_t *self, span_t piece, array_t *ids)
{
    s_merge_many (self, piece);
    for (size_t i = 0; i < self->symbols.count; i++)
        s_append_token (self, piece, array_at (&self->symbols, i), ids);
}

static void
s_give_back_room (array_t *room)
{
    if (room->capacity * room->element_size > KEPT_MAX)
        array_fini (room);
}

uint32_t
bpe_whole (const bpe_t *self, span_t piece)
{
    if (!self->ignore_merges && !self->wholes.count)
        return TOKEN_NONE;
    uint32_t id = vocabulary_find (self->vocabulary, piece);
    bool holds = id != TOKEN_NONE && (self->ignore_merges || ((const uint8_t *)self->wholes.data) [id]);
    return holds ? id : TOKEN_NONE;
}

status_t
bpe_merge (bpe_t *self, span_t piece, array_t *ids, error_t *error)
{
    if (self->knows_bytes && piece.size && piece.size <= FEW) {
        size_t end;
        bpe_merge_side_by_side (self, &piece, 1, ids, &end);
        return STATUS_OK;
    }
    array_cut (&self->symbols, 0);
    if (!self->byte_level || bpe_is_affixed (self))
        s_add_characters (self, piece);
    else if (piece.size <= BPE_SYMBOLS_MAX)
        s_add_bytes (self, piece);
    if (self->symbols.count > BPE_SYMBOLS_MAX || (self->byte_level && piece.size > BPE_SYMBOLS_MAX)) {
        s_give_back_room (&self->symbols);
        return error_set (error, STATUS_LIMIT, "%zu bytes without a place to cut them", piece.size);
    }
    if (self->symbols.count && self->symbols.count <= FEW && !self->score_ranks.count)
        s_few_symbols (self, ids);
    else
        s_encode_many (self, piece, ids);
    s_give_back_room (&self->symbols);
    s_give_back_room (&self->queue);
    return STATUS_OK;
}

static void
s_seal_pairs (bpe_t *self)
{
    uint32_t *pairs = array_append (&self->pairs, NULL, 1 << 16);
    for (uint32_t i = 0; i < 1 << 16; i++) {
        uint32_t left = self->bytes [i >> 8], right = self->bytes [i & 255];
        pairs [i] = merges_find (
            &self->merges, left == TOKEN_NONE ? self->unknown : left, right == TOKEN_NONE ? self->unknown : right);
    }
}

bool
bpe_makes (bpe_t *self, uint32_t id)
{
    array_cut (&self->made, 0);
    return bpe_merge (self, vocabulary_bytes (self->vocabulary, id), &self->made, NULL) == STATUS_OK &&
           self->made.count == 1 && *(const uint32_t *)self->made.data == id;
}

//  Every token is encoded once.
static void
s_seal_wholes (bpe_t *self)
{
    array_t wholes;
    array_init (&wholes, sizeof (uint8_t));
    for (uint32_t id = 0; id < vocabulary_size (self->vocabulary); id++) {
        span_t bytes = vocabulary_bytes (self->vocabulary, id);
        uint8_t *whole = array_add (&wholes);
        *whole = bytes.size && bytes.size <= WHOLE_MAX && bpe_makes (self, id);
    }
    self->wholes = wholes;
}

status_t
bpe_seal (bpe_t *self, error_t *error)
{
    status_t status = merges_seal (&self->merges, error);
    if (status)
        return status;
    self->knows_bytes = self->byte_level && !bpe_is_affixed (self);
    if (self->knows_bytes)
        s_seal_pairs (self);
    self->knows_seams = self->merges.rises;
    for (size_t i = 0; i < sizeof self->bytes / sizeof *self->bytes; i++) {
        self->knows_bytes &= self->bytes [i] != TOKEN_NONE;
        self->knows_seams &= self->bytes [i] < self->merges.above;
    }
    self->knows_seams &= self->knows_bytes;
    if (self->knows_bytes)
        firsts_init (&self->firsts, self->vocabulary, &self->merges, self->bytes);
    if (!self->ignore_merges)
        s_seal_wholes (self);
    return STATUS_OK;
}
