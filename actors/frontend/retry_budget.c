#include "actors/frontend/retry_budget.h"

static const uint64_t MILLION = 1000000, US_NS = 1000;
static const uint64_t LONGEST_US =
    UINT64_C (100) * 86400 * 1000000;    //  Between two looks; the product stays in range

static void
s_put (retry_budget_t *self, uint64_t millionths)
{
    uint64_t size = (uint64_t)self->limits.burst * MILLION;
    self->left += millionths;
    if (self->left > size)
        self->left = size;
}

//  What the time since the last look brought.
static void
s_fill (retry_budget_t *self, uint64_t now_ns)
{
    uint64_t passed_us = (now_ns - self->filled_ns) / US_NS;
    self->filled_ns += passed_us * US_NS;
    s_put (self, (passed_us < LONGEST_US ? passed_us : LONGEST_US) * (uint64_t)self->limits.floor);
}

void
retry_budget_init (retry_budget_t *self, const retry_limits_t *limits, uint64_t now_ns)
{
    *self = (retry_budget_t){ .limits = *limits, .left = (uint64_t)limits->burst * MILLION, .filled_ns = now_ns };
}

void
retry_budget_set (retry_budget_t *self, const retry_limits_t *limits, uint64_t now_ns)
{
    s_fill (self, now_ns);
    self->limits = *limits;
    s_put (self, 0);
}

void
retry_budget_add (retry_budget_t *self, uint64_t now_ns)
{
    s_fill (self, now_ns);
    s_put (self, (uint64_t)self->limits.share);
}

bool
retry_budget_take (retry_budget_t *self, uint64_t now_ns)
{
    s_fill (self, now_ns);
    if (self->left < MILLION)
        return false;
    self->left -= MILLION;
    return true;
}

uint64_t
retry_budget_left (retry_budget_t *self, uint64_t now_ns)
{
    s_fill (self, now_ns);
    return self->left / MILLION;
}
