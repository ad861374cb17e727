#include "workers/holdings.h"

#include "base/array.h"
#include "base/map.h"
#include "base/memory.h"
#include "schemas/kv.h"

typedef struct {
    hash128_t parent;    //  The block before it
    hash128_t hash;      //  The block
    uint32_t copies;     //  How often the engine has it
} held_t;

//  A child is held only while its parent is, so in the order of insertion parents come first.
struct holdings {
    map_t *blocks;    //  held_t by the first 64 bits of its hash
};

//  Collects what follows each other.
typedef struct {
    hash128_t parent;           //  Of the first
    array_t hashes;             //  hash128_t
    holdings_run_fn *on_run;    //  Whom to tell
    void *arg;                  //  For on_run
} run_t;

holdings_t *
holdings_new (void)
{
    holdings_t *self = memory_new (sizeof *self);
    self->blocks = map_new (0);
    return self;
}

void
holdings_destroy (holdings_t **self_p)
{
    holdings_t *self = *self_p;
    if (!self)
        return;
    holdings_clear (self);
    map_destroy (&self->blocks);
    memory_free (self);
    *self_p = NULL;
}

static void
s_run_flush (run_t *run)
{
    if (run->hashes.count)
        run->on_run (run->arg, run->parent, run->hashes.data, run->hashes.count);
    array_cut (&run->hashes, 0);
}

static void
s_run_add (run_t *run, hash128_t parent, hash128_t hash)
{
    size_t count = run->hashes.count;
    const hash128_t *last = count ? array_at (&run->hashes, count - 1) : NULL;
    if (!last || count == KV_STORED_HASHES_MAX || !hash128_equal (*last, parent)) {
        s_run_flush (run);
        run->parent = parent;
    }
    array_append (&run->hashes, &hash, 1);
}

static void
s_run_fini (run_t *run)
{
    s_run_flush (run);
    array_fini (&run->hashes);
}

void
holdings_add (
    holdings_t *self, hash128_t parent, const hash128_t *hashes, size_t count, holdings_run_fn *on_run, void *arg)
{
    run_t run = { .on_run = on_run, .arg = arg };
    array_init (&run.hashes, sizeof (hash128_t));
    for (size_t i = 0; i < count; i++) {
        held_t *held = map_get_u64 (self->blocks, hashes [i].high);
        if (!held) {
            held = memory_new (sizeof *held);
            *held = (held_t){ .parent = parent, .hash = hashes [i] };
            map_put_u64 (self->blocks, hashes [i].high, held);
            s_run_add (&run, parent, hashes [i]);
        }
        held->copies++;
        parent = hashes [i];
    }
    s_run_fini (&run);
}

size_t
holdings_remove (holdings_t *self, const uint64_t *hashes, size_t count, hash128_t *gone)
{
    size_t gone_count = 0;
    for (size_t i = 0; i < count; i++) {
        held_t *held = map_get_u64 (self->blocks, hashes [i]);
        if (!held || --held->copies)
            continue;
        gone [gone_count++] = held->hash;
        map_remove_u64 (self->blocks, hashes [i]);
        memory_free (held);
    }
    return gone_count;
}

void
holdings_clear (holdings_t *self)
{
    size_t cursor = 0;
    span_t key;
    void *held;
    while (map_next (self->blocks, &cursor, &key, &held)) {
        map_remove (self->blocks, key);
        memory_free (held);
    }
}

size_t
holdings_count (const holdings_t *self)
{
    return map_count (self->blocks);
}

void
holdings_walk (const holdings_t *self, holdings_run_fn *on_run, void *arg)
{
    run_t run = { .on_run = on_run, .arg = arg };
    array_init (&run.hashes, sizeof (hash128_t));
    size_t cursor = 0;
    void *value;
    while (map_next (self->blocks, &cursor, NULL, &value)) {
        const held_t *held = value;
        s_run_add (&run, held->parent, held->hash);
    }
    s_run_fini (&run);
}
