#include "workers/mock/timing.h"

#include "base/bug.h"

enum { QUARTERS = 4, PREFILL_SHARE = 3, DECODE_SHARE = 1 };

static const uint64_t MILLION = 1000000;

uint64_t
timing_prefill_ns (uint64_t fresh, uint64_t cached)
{
    BUG_ON (fresh + cached > UINT64_C (1) << 28);
    uint64_t constant = 16500000;
    uint64_t linear = fresh * 1518344 / 100;
    uint64_t area = fresh * (fresh + 2 * cached);
    uint64_t scale = 10000000;
    uint64_t quadratic = area / scale * 4209989 + area % scale * 4209989 / scale;
    return constant + linear + quadratic;
}

uint64_t
timing_itl_ns (uint64_t used, uint64_t capacity)
{
    BUG_ON (capacity == 0 || capacity > UINT64_C (1) << 40);
    uint64_t parts = used >= capacity ? MILLION : used * MILLION / capacity;
    uint64_t ns = 5740000 + parts * 54010 / 1000 - parts * parts / MILLION * 25740 / 1000;
    return ns > MILLION ? ns : MILLION;
}

//  Quarters of a nanosecond of work that are done in a nanosecond.
static uint64_t
s_rate (const timing_work_t *other, uint64_t share)
{
    return other->active ? share : QUARTERS;
}

static uint64_t
s_needs_ns (const timing_work_t *self, uint64_t rate)
{
    return self->active ? (self->left + rate - 1) / rate : UINT64_MAX;
}

static uint64_t
s_left_ns (const timing_t *self)
{
    uint64_t prefill = s_needs_ns (&self->prefill, s_rate (&self->decode, PREFILL_SHARE));
    uint64_t decode = s_needs_ns (&self->decode, s_rate (&self->prefill, DECODE_SHARE));
    return prefill < decode ? prefill : decode;
}

uint64_t
timing_next_ns (const timing_t *self)
{
    uint64_t left = s_left_ns (self);
    return left == UINT64_MAX ? UINT64_MAX : self->at_ns + left;
}

static void
s_work (timing_work_t *self, uint64_t quarters)
{
    if (self->active)
        self->left = self->left > quarters ? self->left - quarters : 0;
}

void
timing_advance (timing_t *self, uint64_t to_ns)
{
    BUG_ON (to_ns < self->at_ns || to_ns > timing_next_ns (self));
    uint64_t passed = to_ns - self->at_ns;
    uint64_t prefill_rate = s_rate (&self->decode, PREFILL_SHARE);
    uint64_t decode_rate = s_rate (&self->prefill, DECODE_SHARE);
    s_work (&self->prefill, passed * prefill_rate);
    s_work (&self->decode, passed * decode_rate);
    self->at_ns = to_ns;
}

bool
timing_finish (timing_work_t *self)
{
    if (!self->active || self->left)
        return false;
    self->active = false;
    return true;
}

void
timing_start (timing_work_t *self, uint64_t alone_ns)
{
    BUG_ON (self->active);
    *self = (timing_work_t){ .active = true, .left = alone_ns * QUARTERS };
}
