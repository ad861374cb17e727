#include "workers/mock/answer.h"

#include "base/hash.h"

enum { PHRASE_SIZE = 16, PHRASE_COUNT = 16 };

//  clang-format off
static const char s_phrases [PHRASE_COUNT][PHRASE_SIZE + 1] = {
    "the cache stays ",
    "warm, and so the ",
    "next turn is one",
    "that costs less ",
    "than the one we ",
    "had before that ",
    "because a block ",
    "which was found ",
    "need not be made",
    "a second time. A",
    "stator is a part",
    " that never does",
    " move while all ",
    "the rest of this",
    " machine turns a",
    "nd turns around ",
};
//  clang-format on

uint64_t
answer_key (uint64_t seed, column_t prompt, const sampling_t *sampling)
{
    if (sampling->has_seed)
        return hash_bytes (span_of (&sampling->seed, sizeof sampling->seed), seed);
    return hash_bytes (span_of (prompt.data, prompt.count * sizeof (uint32_t)), seed);
}

uint8_t
answer_token (uint64_t key, uint64_t position)
{
    uint64_t phrase = hash_u64 (key + position / PHRASE_SIZE) % PHRASE_COUNT;
    return (uint8_t)s_phrases [phrase][position % PHRASE_SIZE];
}

//  True where the stop string ends right behind this position.
static bool
s_ends_here (uint64_t key, uint64_t position, span_t stop)
{
    if (stop.size == 0 || stop.size > position + 1)
        return false;
    for (size_t i = 0; i < stop.size; i++)
        if (answer_token (key, position + 1 - stop.size + i) != stop.data [i])
            return false;
    return true;
}

//  Ends the answer at this position if it is to.
static bool
s_stop_at (answer_t *self, uint64_t position, const sampling_t *sampling)
{
    for (size_t i = 0; i < sampling->stop_count; i++)
        if (s_ends_here (self->key, position, sampling->stop [i])) {
            self->length = position + 1 - sampling->stop [i].size;
            self->detail = sampling->stop [i];
            return true;
        }
    for (size_t i = 0; i < sampling->stop_tokens.count; i++)
        if (column_u32 (sampling->stop_tokens, i) == answer_token (self->key, position)) {
            self->length = position;
            return true;
        }
    return false;
}

answer_t
answer_plan (uint64_t key, const sampling_t *sampling, uint64_t mean, uint64_t limit)
{
    answer_t self = { .key = key, .length = limit, .reason = FINISH_REASON_LENGTH };
    uint64_t natural = mean / 2 + hash_u64 (key ^ UINT64_C (0x6C656E677468)) % (mean + 1);
    if (natural <= limit && !(sampling->has_ignore_eos && sampling->ignore_eos)) {
        self.length = natural;
        self.reason = FINISH_REASON_STOP;
    }
    if (!sampling->stop_count && !sampling->stop_tokens.count)
        return self;
    for (uint64_t position = 0, end = self.length; position < end; position++)
        if (s_stop_at (&self, position, sampling)) {
            self.reason = FINISH_REASON_STOP;
            break;
        }
    return self;
}
