#include "model/tokenizer/encode.h"

#include <string.h>

#include "base/bug.h"
#include "model/tokenizer/body.h"
#include "model/tokenizer/cuts.h"
#include "model/tokenizer/letters.h"

//  How it is done
//
//  A text is cut some kilobytes at a time (cuts.h), and in each
//
//  - stretches are looked for first: what came before is copied, whole lines at once, and runs of parts of what has no lines;
//  - pieces fall apart beside ideographs, kana, Hangul and emoji (parts.h): a sentence without spaces comes once, but most of its
//    parts are words of the vocabulary. In other scripts a word is better left whole, and falls apart only if it is new and long;
//  - of what lies between, some hundred pieces are looked for in the cache of short pieces (cache.h): first all keys are made and
//    the memory where they may stand is asked for, then it is read, when it has come. Nearly all are there, most of them from the
//    start: the vocabulary was put into it;
//  - what is not there is encoded by the model, by rules some pieces side by side (bpe.h), and remembered. A new name of many words
//    (GetPoolName) is put together from what those became, if they are not merged across where they meet.
//
//  Ids are staged: written to a small buffer, and appended when that is full.

void
encode_flush (tokenizer_t *self, array_t *ids)
{
    array_append (ids, self->staged, self->staged_count);
    self->staged_count = 0;
}

void
encode_token (tokenizer_t *self, uint32_t id, array_t *ids)
{
    if (self->staged_count == STAGED)
        encode_flush (self, ids);
    self->staged [self->staged_count++] = id;
}

//  ---- Looks ---------------------------------------------------------------------------------------------------------

//  A piece of a text, or some of one byte each. What it became is looked for some pieces later, when the memory has come.
typedef struct {
    cache_key_t key;       //  Of a short one; else one that no entry has, which says what it is
    cache_short_t *set;    //  Where that may stand; else any
    uint64_t hash;         //  Of a long one
    span_t bytes;          //  All of it
} look_t;

enum {
    LOOKS = 256,        //  Pieces that are looked at before the first is encoded, at most
    SINGLES = 0x1f,     //  Bits of pieces that end one byte behind the other, where some are taken together
    APART_SIZE = 32,    //  Bytes of a piece that is merged whole though it may fall apart, at most
    PARTS = 16,         //  Parts of a piece that are looked at before the first is encoded, at most
    HUMPS = 16          //  Words of a name that is put together from them, at most
};

static const cache_key_t s_long = { 0, CACHE_NO_KEY }, s_singles = { 1, CACHE_NO_KEY };

//  The first `size` bytes of a text.
static inline void
s_look (const cache_t *cache, span_t text, size_t size, look_t *look)
{
    look->bytes = (span_t){ text.data, size };
    if (size > CACHE_SHORT_SIZE) {
        look->hash = cache_hash (cache, CACHE_PIECE, look->bytes);
        look->key = s_long;
        look->set = cache->shorts;
        return;
    }
    look->key = cache_key (look->bytes, text.size);
    look->set = cache_set (cache, look->key);
    __builtin_prefetch (look->set, 1);
}

//  Bytes that are a piece each. A number is many, where each digit is one.
static inline void
s_look_at_singles (const cache_t *cache, span_t bytes, look_t *look)
{
    look->key = s_singles;
    look->set = cache->shorts;
    look->bytes = bytes;
}

static inline bool
s_are_singles (const look_t *look)
{
    return look->key.high == s_singles.high && look->key.low == s_singles.low;
}

static inline bool
s_is_known (const tokenizer_t *self, const look_t *look)
{
    uint32_t count;
    if (cache_get_short (look->set, look->key) || s_are_singles (look))
        return true;
    return look->bytes.size > CACHE_SHORT_SIZE &&
           cache_get (&self->cache, CACHE_PIECE, look->bytes, look->hash, &count);
}

//  Whether a piece that is not known is best merged beside others: it is no token, and short where it may fall apart.
static inline bool
s_is_merged_beside (const tokenizer_t *self, const look_t *look)
{
    size_t size = look->bytes.size;
    if (size > BPE_SIDE_SIZE || (size > APART_SIZE && !letters_are_ascii (look->bytes)))
        return false;
    if (size > CACHE_SHORT_SIZE)
        return bpe_whole (&self->bpe, look->bytes) == TOKEN_NONE;
    return !cache_has_lost (&self->cache, look->key);
}

static void
s_remember (tokenizer_t *self, const look_t *look, const uint32_t *ids, size_t count)
{
    if (s_is_known (self, look))
        return;
    if (look->bytes.size <= CACHE_SHORT_SIZE)
        cache_put_short (&self->cache, look->key, ids, count);
    else
        cache_put (&self->cache, CACHE_PIECE, look->bytes, look->hash, ids, count);
}

//  ---- New pieces ----------------------------------------------------------------------------------------------------

//  Bytes of the first word of a name: the next one begins where a capital letter follows a small one.
static size_t
s_hump (span_t name)
{
    size_t size = 1;
    while (size < name.size && ((name.data [size - 1] & 0xe0) != 0x60 || (name.data [size] & 0xe0) != 0x40))
        size++;
    return size;
}

//  Whether a piece may be put together from its words. A word that is a token must be what the rules make of it.
static bool
s_has_humps (const tokenizer_t *self, const look_t *look)
{
    return self->bpe.knows_seams && !self->parts.stay && s_hump (look->bytes) < look->bytes.size;
}

//  Puts what the first of some pieces, which is not known, and others like it become into the cache.
static void
s_learn_merged (tokenizer_t *self, const look_t *looks, size_t count)
{
    const look_t *found [BPE_SIDE];
    span_t pieces [BPE_SIDE];
    size_t ends [BPE_SIDE], news = 0, start = 0;
    for (size_t i = 0; i < count && news < BPE_SIDE; i++)
        if (i == 0 || (!s_is_known (self, &looks [i]) && s_is_merged_beside (self, &looks [i]) &&
                          !s_has_humps (self, &looks [i]))) {
            pieces [news] = looks [i].bytes;
            found [news++] = &looks [i];
        }
    array_cut (&self->learned, 0);
    bpe_merge_side_by_side (&self->bpe, pieces, news, &self->learned, ends);
    for (size_t i = 0; i < news; start = ends [i++])
        s_remember (self, found [i], array_at (&self->learned, start), ends [i] - start);
}

//  The words of a name; returns how many, 0 where that are too many or one is too long.
static size_t
s_look_at_humps (const cache_t *cache, span_t name, look_t *humps)
{
    size_t count = 0;
    for (size_t at = 0, size; at < name.size; at += size) {
        span_t rest = span_slice (name, at, name.size);
        size = s_hump (rest);
        if (size > CACHE_SHORT_SIZE || count == HUMPS)
            return 0;
        s_look (cache, rest, size, &humps [count++]);
    }
    return count;
}

//  Adds what a word became, which was learned if it had to be, to what those before it did. Returns false where it does not stay
//  so beside them, or is not at hand.
static bool
s_join_hump (tokenizer_t *self, const look_t *hump)
{
    array_t *ids = &self->learned;
    const cache_short_t *known = cache_get_short (hump->set, hump->key);
    if (!known || known->count > CACHE_SHORT_IDS)
        return false;
    if (ids->count &&
        !merges_hold_apart (&self->bpe.merges, *(uint32_t *)array_at (ids, ids->count - 1), known->ids [0]))
        return false;
    array_append (ids, known->ids, known->count);
    return true;
}

//  Puts what a name becomes into the cache, if it is what its words become. Returns whether it is.
static bool
s_learn_by_humps (tokenizer_t *self, const look_t *name)
{
    look_t humps [HUMPS];
    size_t count = s_look_at_humps (&self->cache, name->bytes, humps), done = 0;
    for (size_t i = 0; i < count; i++)
        if (!s_is_known (self, &humps [i]) && s_is_merged_beside (self, &humps [i]))
            s_learn_merged (self, humps + i, count - i);
    array_cut (&self->learned, 0);
    while (done < count && s_join_hump (self, &humps [done]))
        done++;
    if (count == 0 || done < count)
        return false;
    s_remember (self, name, self->learned.data, self->learned.count);
    return true;
}

//  If the first of some pieces, which is not known, can be merged as it is, puts what it becomes into the cache; where it is not
//  put together from its words, that of others like it, too.
static void
s_learn (tokenizer_t *self, const look_t *looks, size_t count)
{
    if (!self->bpe.knows_bytes || !s_is_merged_beside (self, looks))
        return;
    if (!s_has_humps (self, looks) || !s_learn_by_humps (self, looks))
        s_learn_merged (self, looks, count);
}

static status_t
s_encode_by_rules (tokenizer_t *self, span_t piece, bool may_be_whole, array_t *ids, error_t *error)
{
    uint32_t whole = may_be_whole ? bpe_whole (&self->bpe, piece) : TOKEN_NONE;
    if (whole == TOKEN_NONE)
        return bpe_merge (&self->bpe, piece, ids, error);
    array_append (ids, &whole, 1);
    return STATUS_OK;
}

status_t
encode_piece (tokenizer_t *self, span_t piece, bool may_be_whole, array_t *ids, error_t *error)
{
    if (self->model == MODEL_BPE)
        return s_encode_by_rules (self, piece, may_be_whole, ids, error);
    if (self->model == MODEL_UNIGRAM)
        return unigram_encode (&self->unigram, piece, ids, error);
    if (self->model == MODEL_PLAMO)
        return plamo_encode (&self->plamo, piece, ids, error);
    if (self->model == MODEL_LONGEST)
        longest_encode (&self->longest, piece, ids);
    else
        wordpiece_encode (&self->wordpiece, piece, ids);
    return STATUS_OK;
}

//  Short pieces that are tokens were in the cache from the start.
static status_t
s_encode_short (tokenizer_t *self, span_t piece, cache_key_t key, array_t *ids, error_t *error)
{
    encode_flush (self, ids);
    size_t before = ids->count;
    status_t status = encode_piece (self, piece, cache_has_lost (&self->cache, key), ids, error);
    if (!status && ids->count > before)
        cache_put_short (&self->cache, key, array_at (ids, before), ids->count - before);
    return status;
}

//  ---- Pieces --------------------------------------------------------------------------------------------------------

static void
s_stage (tokenizer_t *self, const uint32_t *known, uint32_t count)
{
    memcpy (self->staged + self->staged_count, known, count * sizeof *known);
    self->staged_count += count;
}

static status_t s_encode_parts (tokenizer_t *self, span_t piece, array_t *ids, error_t *error);

static bool
s_falls_apart (const tokenizer_t *self, span_t piece)
{
    return piece.size > APART_SIZE && self->parts.pairs && !letters_are_ascii (piece) &&
           bpe_whole (&self->bpe, piece) == TOKEN_NONE && parts_first (&self->parts, piece) < piece.size;
}

//  What falls apart is not remembered: its parts are.
static status_t
s_encode_new (tokenizer_t *self, span_t piece, uint64_t hash, array_t *ids, error_t *error)
{
    if (s_falls_apart (self, piece))
        return s_encode_parts (self, piece, ids, error);
    encode_flush (self, ids);
    size_t before = ids->count;
    status_t status = encode_piece (self, piece, true, ids, error);
    if (!status && ids->count > before)
        cache_put (&self->cache, CACHE_PIECE, piece, hash, array_at (ids, before), ids->count - before);
    return status;
}

static status_t
s_encode_long (tokenizer_t *self, const look_t *look, size_t left, array_t *ids, error_t *error)
{
    uint32_t count;
    const uint32_t *known = cache_get (&self->cache, CACHE_PIECE, look->bytes, look->hash, &count);
    if (!known) {
        s_learn (self, look, left);
        known = cache_get (&self->cache, CACHE_PIECE, look->bytes, look->hash, &count);
    }
    if (!known)
        return s_encode_new (self, look->bytes, look->hash, ids, error);
    s_stage (self, known, count);
    return STATUS_OK;
}

static status_t
s_encode_elsewhere (tokenizer_t *self, const look_t *look, const cache_short_t *entry, array_t *ids, error_t *error)
{
    uint32_t count;
    const uint32_t *known = cache_get_elsewhere (&self->cache, entry, &count);
    if (!known)
        return s_encode_short (self, look->bytes, look->key, ids, error);
    s_stage (self, known, count);
    return STATUS_OK;
}

static status_t
s_encode_singles (tokenizer_t *self, span_t bytes)
{
    uint32_t *out = self->staged + self->staged_count;
    for (size_t i = 0; i < bytes.size; i++)
        out [i] = self->bpe.bytes [bytes.data [i]];
    self->staged_count += bytes.size;
    return STATUS_OK;
}

//  Encodes the first of `left` looks.
static inline status_t
s_encode_look (tokenizer_t *self, const look_t *look, size_t left, array_t *ids, error_t *error)
{
    if (self->staged_count > STAGED - CACHE_IDS)
        encode_flush (self, ids);
    if (s_are_singles (look))
        return s_encode_singles (self, look->bytes);
    if (look->bytes.size > CACHE_SHORT_SIZE)
        return s_encode_long (self, look, left, ids, error);
    const cache_short_t *known = cache_get_short (look->set, look->key);
    if (!known) {
        s_learn (self, look, left);
        known = cache_get_short (look->set, look->key);
    }
    if (!known)
        return s_encode_short (self, look->bytes, look->key, ids, error);
    if (known->count == CACHE_ELSEWHERE)
        return s_encode_elsewhere (self, look, known, ids, error);
    memcpy (self->staged + self->staged_count, known->ids, sizeof known->ids);
    self->staged_count += known->count;
    return STATUS_OK;
}

//  A piece by its parts.
static status_t
s_encode_parts (tokenizer_t *self, span_t piece, array_t *ids, error_t *error)
{
    status_t status = STATUS_OK;
    while (piece.size && !status) {
        look_t looks [PARTS];
        size_t count = 0;
        for (; piece.size && count < PARTS; piece = span_slice (piece, looks [count++].bytes.size, piece.size))
            s_look (&self->cache, piece, parts_first (&self->parts, piece), &looks [count]);
        for (size_t i = 0; i < count && !status; i++)
            status = s_encode_look (self, &looks [i], count - i, ids, error);
    }
    return status;
}

//  The short way for nearly all pieces: ids are copied before it is known whether they are those of the piece. Returns how many it
//  went.
static size_t
s_stage_known (tokenizer_t *self, const look_t *looks, size_t count)
{
    size_t i = 0;
    uint32_t *out = self->staged + self->staged_count;
    for (; i < count; i++) {
        const cache_short_t *entry = looks [i].set;
        memcpy (out, entry->ids, sizeof entry->ids);
        if (!cache_has_key (entry, looks [i].key) || entry->count > CACHE_SHORT_IDS)
            break;
        out += entry->count;
    }
    self->staged_count = (size_t)(out - self->staged);
    return i;
}

//  Up to LOOKS pieces.
static status_t
s_encode_looks (tokenizer_t *self, const look_t *looks, size_t count, array_t *ids, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (self->staged_count > STAGED - (LOOKS + 1) * CACHE_SHORT_IDS)
            encode_flush (self, ids);
        i += s_stage_known (self, looks + i, count - i);
        if (i < count)
            status = s_encode_look (self, &looks [i], count - i, ids, error);
    }
    return status;
}

//  How many of the lowest bits are set in a row; of all, one less.
static inline size_t
s_run (uint64_t bits)
{
    return (size_t)__builtin_ctzll (~bits | 1ull << 63);
}

//  The pieces that end in a word of bits, the first byte of which is at `base`. *start: where the first begins, and then where the
//  last ends. limit: the end of what may be read; NULL where that is far away. singles: SINGLES, or 0 where bytes are no tokens or
//  there is no such run. Returns how many looks they are.
static inline size_t
s_look_at_ends (const cache_t *cache, const uint8_t *limit, const uint8_t *base, uint64_t ends, uint64_t singles,
    const uint8_t **start, look_t *looks)
{
    size_t count = 0;
    const uint8_t *here = *start;
    for (; ends; ends &= ends - 1) {
        unsigned place = (unsigned)__builtin_ctzll (ends);
        s_look (cache, (span_t){ here, limit ? (size_t)(limit - here) : SIZE_MAX }, (size_t)(base + place - here),
            &looks [count++]);
        here = base + place;
        if (singles && (ends >> place & singles) == SINGLES) {
            size_t run = s_run (ends >> place) - 1;
            s_look_at_singles (cache, (span_t){ here, run }, &looks [count++]);
            here += run;
            ends &= ~0ull << place << run;
        }
    }
    *start = here;
    return count;
}

//  The next pieces of some cuts from *at on, up to LOOKS looks; *at is behind them then. stop: where a piece ends. Returns how
//  many looks they are.
static size_t
s_look_at_pieces (const tokenizer_t *self, span_t text, const cuts_t *cuts, size_t *at, size_t stop, look_t *looks)
{
    const cache_t cache = self->cache;
    const uint8_t *start = text.data + *at, *base = text.data + cuts->start, *limit = text.data + text.size;
    size_t count = 0, from = *at - cuts->start, to = stop - cuts->start;
    uint64_t beside = cuts->beyond | cuts->beyond << 1;
    uint64_t singles = self->model == MODEL_BPE && self->bpe.knows_bytes ? SINGLES : 0;
    for (; cuts->end - cuts->start > CUTS_SIZE && *at < stop && count < LOOKS; count++) {
        size_t size = parts_first (&self->parts, span_slice (text, *at, stop - *at));
        s_look (&cache, span_slice (text, *at, text.size), size, &looks [count]);
        *at += size;
    }
    if (count)
        return count;
    for (size_t word = from / 64; word <= to / 64 && count <= LOOKS - 64; word++) {
        uint64_t ends = cuts->pieces [word];
        if (word < CUTS_WORDS && beside >> word & 1)
            ends |= parts_places (&self->parts, text, cuts->start + 64 * word);
        ends &= word == from / 64 ? ~1ull << from % 64 : UINT64_MAX;
        ends &= word == to / 64 ? UINT64_MAX >> (63 - to % 64) : UINT64_MAX;
        const uint8_t *here = base + 64 * word;
        bool many = ends & ends >> 1 & ends >> 2 & ends >> 3 & ends >> 4;
        if (many || (size_t)(limit - here) < 64 + sizeof (cache_key_t))
            count += s_look_at_ends (&cache, limit, here, ends, singles, &start, looks + count);
        else
            count += s_look_at_ends (&cache, NULL, here, ends, 0, &start, looks + count);
    }
    *at = (size_t)(start - text.data);
    return count;
}

//  Some pieces from *at on, to `stop`, where one ends.
static status_t
s_encode_pieces (
    tokenizer_t *self, span_t text, const cuts_t *cuts, size_t *at, size_t stop, array_t *ids, error_t *error)
{
    status_t status = STATUS_OK;
    look_t looks [LOOKS];
    while (*at < stop && !status) {
        size_t count = s_look_at_pieces (self, text, cuts, at, stop, looks);
        status = s_encode_looks (self, looks, count, ids, error);
    }
    return status;
}

//  ---- Stretches -----------------------------------------------------------------------------------------------------

//  A stretch of a text. Some are looked for at once: the memory where they may stand comes meanwhile.
typedef struct {
    cached_t kind;    //  CACHE_STRETCH, or CACHE_RUN
    size_t start;     //  Its first byte
    size_t end;       //  Behind its last
    uint64_t hash;    //  In the cache
} stretch_t;

enum { STRETCHES = CUTS_SIZE / CUTS_STRETCH_MIN, RUN_MIN = CUTS_STRETCH_MAX + 1 - PARTS_PLACES };

_Static_assert((size_t)RUN_MIN >= (size_t)CUTS_STRETCH_MIN, "there is room for as many runs");

static stretch_t
s_stretch (const cache_t *cache, span_t text, cached_t kind, size_t start, size_t end)
{
    return (stretch_t){ kind, start, end, cache_hash (cache, kind, span_slice (text, start, end - start)) };
}

//  Runs of parts of a piece, if it is too long for a stretch. Returns how many.
static size_t
s_look_at_runs (const tokenizer_t *self, span_t text, size_t at, size_t end, stretch_t *ahead)
{
    size_t count = 0;
    while (end - at > CUTS_STRETCH_MAX && count < STRETCHES) {
        size_t last = parts_last (&self->parts, text, at + RUN_MIN), run_end = at + RUN_MIN + last;
        if (last == PARTS_PLACES)
            break;
        ahead [count++] = s_stretch (&self->cache, text, CACHE_RUN, at, run_end);
        at = run_end;
    }
    return count;
}

//  The stretches of some cuts; returns how many. Where there is none for a while, they go on behind that.
static size_t
s_look_ahead (const tokenizer_t *self, span_t text, const cuts_t *cuts, stretch_t *ahead)
{
    size_t count = 0;
    for (size_t at = cuts->start, end; at < cuts->end && count < STRETCHES; at = end) {
        end = cuts_stretch (cuts, at);
        if (end)
            ahead [count++] = s_stretch (&self->cache, text, CACHE_STRETCH, at, end);
        else {
            end = cuts_piece (cuts, at + 1);
            if (end - at > CUTS_STRETCH_MAX)
                count += s_look_at_runs (self, text, at, end, ahead + count);
            else
                end = cuts_piece (cuts, at + CUTS_STRETCH_MAX);
        }
    }
    return count;
}

//  A stretch that came before, but is not known yet.
static status_t
s_encode_stretch (
    tokenizer_t *self, span_t text, const cuts_t *cuts, const stretch_t *stretch, array_t *ids, error_t *error)
{
    encode_flush (self, ids);
    size_t before = ids->count, done = stretch->start;
    status_t status = s_encode_pieces (self, text, cuts, &done, stretch->end, ids, error);
    BUG_ON (done != stretch->end && !status);
    encode_flush (self, ids);
    span_t bytes = span_slice (text, stretch->start, stretch->end - stretch->start);
    if (!status && ids->count > before)
        cache_put (&self->cache, stretch->kind, bytes, stretch->hash, array_at (ids, before), ids->count - before);
    return status;
}

//  Encodes text from *done on up to the end of a stretch, if that came before; else it waits for what comes behind it: pieces are
//  best looked for many at a time.
static status_t
s_pass_stretch (tokenizer_t *self, span_t text, const cuts_t *cuts, const stretch_t *stretch, size_t *done,
    array_t *ids, error_t *error)
{
    uint32_t count;
    span_t bytes = span_slice (text, stretch->start, stretch->end - stretch->start);
    const uint32_t *known = cache_get (&self->cache, stretch->kind, bytes, stretch->hash, &count);
    if (!known && !cache_comes_again (&self->cache, stretch->hash))
        return STATUS_OK;
    status_t status = s_encode_pieces (self, text, cuts, done, stretch->start, ids, error);
    if (status)
        return status;
    *done = stretch->end;
    known = known ? cache_get (&self->cache, stretch->kind, bytes, stretch->hash, &count) : NULL;
    if (!known)
        return s_encode_stretch (self, text, cuts, stretch, ids, error);
    if (self->staged_count > STAGED - CACHE_IDS)
        encode_flush (self, ids);
    s_stage (self, known, count);
    return STATUS_OK;
}

//  Returns in cuts->end where the next ones should begin: behind the last stretch, so that the next one is found again.
static status_t
s_encode_cuts (tokenizer_t *self, span_t text, cuts_t *cuts, array_t *ids, error_t *error)
{
    status_t status = STATUS_OK;
    stretch_t ahead [2 * STRETCHES];
    size_t count = s_look_ahead (self, text, cuts, ahead), done = cuts->start;
    for (size_t i = 0; i < count && !status; i++)
        status = s_pass_stretch (self, text, cuts, &ahead [i], &done, ids, error);
    if (count && cuts->end < text.size && ahead [count - 1].kind == CACHE_STRETCH)
        cuts->end = ahead [count - 1].end;
    return status ? status : s_encode_pieces (self, text, cuts, &done, cuts->end, ids, error);
}

static status_t
s_encode_words (tokenizer_t *self, span_t text, array_t *ids, error_t *error)
{
    status_t status = STATUS_OK;
    cuts_t cuts;
    for (size_t at = 0; at < text.size && !status; at = cuts.end) {
        cuts_make (&cuts, self->splitter.words, text, at);
        status = s_encode_cuts (self, text, &cuts, ids, error);
    }
    return status;
}

//  ---- Texts ---------------------------------------------------------------------------------------------------------

//  Normalised text without added tokens.
status_t
encode_text (tokenizer_t *self, span_t text, bool is_first, array_t *ids, error_t *error)
{
    if (self->splitter.words)
        return s_encode_words (self, text, ids, error);
    span_t cut;
    status_t status = splitter_cut (&self->splitter, text, is_first, &self->pieces, &cut, error);
    for (size_t i = 0; i < self->pieces.pieces.count && !status; i++) {
        const piece_t *piece = array_at (&self->pieces.pieces, i);
        status = s_encode_parts (self, span_slice (cut, piece->start, piece->end - piece->start), ids, error);
    }
    return status;
}
