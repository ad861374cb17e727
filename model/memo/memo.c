#include "model/memo/memo.h"

#include <string.h>

#include "base/bug.h"
#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"

//  A shorter stretch is put to the next one: between two messages most templates write a line end and an added token.
enum { STRETCH_MIN = 32 };

//  What an entry takes besides its struct and what it holds: its share of the table, the allocator's own.
enum { ENTRY_OVERHEAD = 112 };

//  Seams that there is room for from one prompt to the next.
enum { SEAMS_KEPT = 65536 };

//  Bytes, tokens and hashes of a stretch lie behind one another in one piece of memory.
typedef struct entry entry_t;
struct entry {
    list_link_t by_use;     //  In the memo
    entry_t *above;         //  The stretch before; NULL: this is a namespace
    uint64_t id;            //  Of nobody before
    uint64_t hash;          //  Of the stretch
    size_t below;           //  Entries that continue it
    size_t size;            //  Bytes of the stretch
    size_t token_count;     //  Tokens of them
    size_t hash_count;      //  Blocks that these close
    hash128_t hashes [];    //  Of these blocks; then the tokens, then the bytes
};

struct memo {
    tokenizer_t *tokenizer;    //  Borrowed
    uint64_t bytes_max;        //  Bound
    uint64_t seed;             //  Of hashes
    uint64_t last_id;          //  Given to an entry
    map_t *entries;            //  Id of the entry above and hash -> entry_t
    list_t by_use;             //  entry_t, unused for longest first
    array_t seams;             //  Scratch: size_t
    memo_counts_t counts;      //  So far
};

//  A prompt on its way down.
typedef struct {
    memo_t *memo;         //  Through which
    span_t prompt;        //  What is encoded
    size_t at;            //  Bytes done
    array_t *tokens;      //  uint32_t: of these, behind what was there
    sequence_t *chain;    //  Of these
    entry_t *entry;       //  For these; NULL: nothing is remembered from here on
    uint64_t added;       //  Bytes of new entries
} walk_t;

memo_t *
memo_new (tokenizer_t *tokenizer, uint64_t bytes_max, uint64_t seed)
{
    memo_t *self = memory_new (sizeof *self);
    self->tokenizer = tokenizer;
    self->bytes_max = bytes_max;
    self->seed = seed;
    self->entries = map_new (seed);
    list_init (&self->by_use);
    array_init (&self->seams, sizeof (size_t));
    return self;
}

void
memo_destroy (memo_t **self_p)
{
    memo_t *self = *self_p;
    if (!self)
        return;
    for (list_link_t *link; (link = list_take_first (&self->by_use));)
        memory_free (LIST_ENTRY (link, entry_t, by_use));
    map_destroy (&self->entries);
    array_fini (&self->seams);
    memory_free (self);
    *self_p = NULL;
}

memo_counts_t
memo_counts (const memo_t *self)
{
    return self->counts;
}

//  ---- Entries -------------------------------------------------------------------------------------------------------

static uint32_t *
s_tokens (const entry_t *self)
{
    return (uint32_t *)(self->hashes + self->hash_count);
}

static span_t
s_bytes (const entry_t *self)
{
    return span_of (s_tokens (self) + self->token_count, self->size);
}

static uint64_t
s_cost (size_t size, size_t token_count, size_t hash_count)
{
    return sizeof (entry_t) + ENTRY_OVERHEAD + hash_count * sizeof (hash128_t) + token_count * sizeof (uint32_t) + size;
}

static uint64_t
s_cost_of (const entry_t *self)
{
    return s_cost (self->size, self->token_count, self->hash_count);
}

typedef struct {
    uint64_t above;    //  Id of the entry above; 0: none
    uint64_t hash;     //  Of the stretch
} key_t;

static key_t
s_key (const memo_t *self, const entry_t *above, span_t bytes)
{
    return (key_t){ above ? above->id : 0, hash_bytes (bytes, self->seed) };
}

static entry_t *
s_candidate (const memo_t *self, const key_t *key)
{
    return map_get (self->entries, span_of (key, sizeof *key));
}

static void
s_remove (memo_t *self, entry_t *entry)
{
    BUG_ON (entry->below);
    key_t key = { entry->above ? entry->above->id : 0, entry->hash };
    map_remove (self->entries, span_of (&key, sizeof key));
    list_remove (&self->by_use, &entry->by_use);
    if (entry->above)
        entry->above->below--;
    self->counts.entries--;
    self->counts.used -= s_cost_of (entry);
    memory_free (entry);
}

static entry_t *
s_add (memo_t *self, entry_t *above, const key_t *key, span_t bytes, span_t tokens, span_t hashes)
{
    entry_t *entry = memory_new (sizeof *entry + hashes.size + tokens.size + bytes.size);
    entry->above = above;
    entry->id = ++self->last_id;
    entry->hash = key->hash;
    entry->size = bytes.size;
    entry->token_count = tokens.size / sizeof (uint32_t);
    entry->hash_count = hashes.size / sizeof (hash128_t);
    if (hashes.size)
        memcpy (entry->hashes, hashes.data, hashes.size);
    if (tokens.size)
        memcpy (s_tokens (entry), tokens.data, tokens.size);
    memcpy (s_tokens (entry) + entry->token_count, bytes.data, bytes.size);
    if (above)
        above->below++;
    map_put (self->entries, span_of (key, sizeof *key), entry);
    list_append (&self->by_use, &entry->by_use);
    self->counts.entries++;
    self->counts.used += s_cost_of (entry);
    return entry;
}

//  From the deepest entry up: whatever is above is used later.
static void
s_use (memo_t *self, entry_t *deepest)
{
    for (entry_t *entry = deepest; entry; entry = entry->above) {
        list_remove (&self->by_use, &entry->by_use);
        list_append (&self->by_use, &entry->by_use);
    }
}

static void
s_evict (memo_t *self)
{
    while (self->counts.used > self->bytes_max) {
        s_remove (self, LIST_ENTRY (list_first (&self->by_use), entry_t, by_use));
        self->counts.evicted++;
    }
}

//  ---- Walking -------------------------------------------------------------------------------------------------------

//  Remembers the stretch that was encoded last: its tokens and hashes are those from here on.
static void
s_keep (walk_t *self, const key_t *key, span_t bytes, size_t first_token, size_t first_hash)
{
    size_t hash_count;
    const hash128_t *hashes = sequence_hashes (self->chain, &hash_count);
    const uint32_t *tokens = self->tokens->data;
    size_t new_hashes = hash_count - first_hash, new_tokens = self->tokens->count - first_token;
    self->added += s_cost (bytes.size, new_tokens, new_hashes);
    entry_t *above = self->entry;
    self->entry = NULL;
    if (self->added <= self->memo->bytes_max / 2 && !s_candidate (self->memo, key))
        self->entry = s_add (self->memo, above, key, bytes, span_of (tokens + first_token, new_tokens * sizeof *tokens),
            span_of (hashes + first_hash, new_hashes * sizeof *hashes));
    if (!self->entry)
        s_use (self->memo, above);
}

//  Tokenises and hashes up to `end`.
static status_t
s_encode (walk_t *self, size_t end, error_t *error)
{
    tokenizer_flags_t flags = { .parse_special = true, .not_first = self->at > 0 };
    size_t first = self->tokens->count;
    span_t bytes = span_slice (self->prompt, self->at, end - self->at);
    status_t status = tokenizer_encode (self->memo->tokenizer, bytes, flags, self->tokens, error);
    if (status)
        return status;
    if (self->tokens->count > first)
        sequence_extend (self->chain, array_at (self->tokens, first), self->tokens->count - first);
    self->at = end;
    return STATUS_OK;
}

static void
s_take_known (walk_t *self, entry_t *entry, size_t end)
{
    array_append (self->tokens, s_tokens (entry), entry->token_count);
    sequence_adopt (self->chain, s_tokens (entry), entry->token_count, entry->hashes, entry->hash_count);
    self->memo->counts.known += entry->size;
    self->entry = entry;
    self->at = end;
}

//  The stretch up to the seam at `end`, from the memo or into it.
static status_t
s_pass (walk_t *self, size_t end, error_t *error)
{
    if (!self->entry)
        return s_encode (self, end, error);
    span_t bytes = span_slice (self->prompt, self->at, end - self->at);
    key_t key = s_key (self->memo, self->entry, bytes);
    entry_t *known = s_candidate (self->memo, &key);
    if (known && span_equal (s_bytes (known), bytes)) {
        s_take_known (self, known, end);
        return STATUS_OK;
    }
    size_t first_token = self->tokens->count, first_hash;
    sequence_hashes (self->chain, &first_hash);
    status_t status = s_encode (self, end, error);
    if (!status)
        s_keep (self, &key, bytes, first_token, first_hash);
    return status;
}

//  The entry of a namespace: its key names it.
static entry_t *
s_enter (memo_t *self, const namespace_t *ns)
{
    span_t bytes = span_of (ns->key.bytes, sizeof ns->key.bytes);
    key_t key = s_key (self, NULL, bytes);
    entry_t *entry = s_candidate (self, &key);
    if (!entry)
        return s_add (self, NULL, &key, bytes, SPAN (""), SPAN (""));
    return span_equal (s_bytes (entry), bytes) ? entry : NULL;
}

//  What is behind the last seam stays open: the next turn continues it.
static status_t
s_walk (walk_t *self, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t i = 0; i < self->memo->seams.count && !status; i++) {
        size_t seam = *(const size_t *)array_at (&self->memo->seams, i);
        if (seam - self->at >= STRETCH_MIN)
            status = s_pass (self, seam, error);
    }
    return status || self->at == self->prompt.size ? status : s_encode (self, self->prompt.size, error);
}

static void
s_clear_seams (memo_t *self)
{
    array_cut (&self->seams, 0);
    if (self->seams.capacity <= SEAMS_KEPT)
        return;
    array_fini (&self->seams);
    array_init (&self->seams, sizeof (size_t));
}

status_t
memo_encode (memo_t *self, const namespace_t *ns, span_t prompt, array_t *tokens, sequence_t **chain, error_t *error)
{
    walk_t walk = { .memo = self, .prompt = prompt, .tokens = tokens, .chain = sequence_new (ns) };
    size_t before = tokens->count;
    s_clear_seams (self);
    tokenizer_seams (self->tokenizer, prompt, (tokenizer_flags_t){ .parse_special = true }, &self->seams);
    self->counts.prompts++;
    self->counts.bytes += prompt.size;
    walk.entry = s_enter (self, ns);
    status_t status = s_walk (&walk, error);
    s_use (self, walk.entry);
    s_evict (self);
    if (status) {
        array_cut (tokens, before);
        sequence_destroy (&walk.chain);
        return status;
    }
    *chain = walk.chain;
    return STATUS_OK;
}
