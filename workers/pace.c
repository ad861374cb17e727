#include "workers/pace.h"

enum { MEMORY = 8, UNIT = 256, ASSUMED_TOKENS = 100, PROMPT_MAX = 1 << 30 };

static const uint64_t SECOND_NS = 1000000000;
static const uint64_t LONGEST_NS = UINT64_C (3600) * 1000000000;    //  Of one measurement
static const uint64_t UNKNOWN_NS = UINT64_C (60) * 1000000000;      //  For a prompt, where none was measured

static uint64_t
s_bounded (uint64_t value, uint64_t bound)
{
    return value < bound ? value : bound;
}

//  A hundred tokens a second, and a second from report to report.
void
pace_init (pace_t *self)
{
    *self = (pace_t){ .prompt_ns = SECOND_NS, .prompt_tokens = ASSUMED_TOKENS * UNIT, .gap_ns = SECOND_NS };
}

void
pace_computed (pace_t *self, uint32_t tokens, uint64_t took_ns)
{
    if (!tokens)
        return;
    self->measured = true;
    self->prompt_ns += s_bounded (took_ns, LONGEST_NS) - self->prompt_ns / MEMORY;
    self->prompt_tokens += (uint64_t)tokens * UNIT - self->prompt_tokens / MEMORY;
}

void
pace_told (pace_t *self, uint64_t gap_ns)
{
    self->gap_ns += s_bounded (gap_ns, LONGEST_NS) / MEMORY - self->gap_ns / MEMORY;
}

uint64_t
pace_expected_ns (const pace_t *self, uint64_t prompt_tokens)
{
    uint64_t token_ns = s_bounded (self->prompt_ns / (self->prompt_tokens / UNIT + 1), SECOND_NS);
    uint64_t prompt_ns = s_bounded (prompt_tokens, PROMPT_MAX) * token_ns;
    return (self->measured ? prompt_ns : s_bounded (prompt_ns, UNKNOWN_NS)) + self->gap_ns;
}
