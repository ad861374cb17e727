#include "base/suggest.h"

#include <stdint.h>
#include <stdio.h>

enum { WORD_MAX = 48, LETTERS_A_SLIP = 3 };

void
suggest_init (suggest_t *self, span_t word)
{
    *self = (suggest_t){ .word = word, .distance = SIZE_MAX };
}

static uint8_t
s_plain (uint8_t letter)
{
    if (letter == '-')
        return '_';
    return letter >= 'A' && letter <= 'Z' ? (uint8_t)(letter + 32) : letter;
}

static size_t
s_least (size_t a, size_t b)
{
    return a < b ? a : b;
}

//  Optimal string alignment: three rows of the usual table are enough to see a swap.
static size_t
s_distance (span_t a, span_t b)
{
    size_t rows [3][WORD_MAX + 1];
    for (size_t j = 0; j <= b.size; j++)
        rows [0][j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t *row = rows [i % 3], *above = rows [(i + 2) % 3], *two_above = rows [(i + 1) % 3];
        row [0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            uint8_t x = s_plain (a.data [i - 1]), y = s_plain (b.data [j - 1]);
            row [j] = s_least (above [j - 1] + (x != y), s_least (above [j], row [j - 1]) + 1);
            if (i > 1 && j > 1 && x == s_plain (b.data [j - 2]) && y == s_plain (a.data [i - 2]))
                row [j] = s_least (row [j], two_above [j - 2] + 1);
        }
    }
    return rows [a.size % 3][b.size];
}

static void
s_offer (suggest_t *self, span_t candidate, span_t meant)
{
    if (self->word.size > WORD_MAX || candidate.size > WORD_MAX || meant.size >= sizeof self->best)
        return;
    size_t distance = s_distance (self->word, candidate);
    size_t close = 1 + s_least (self->word.size, candidate.size) / LETTERS_A_SLIP;
    if (distance > close || distance >= self->word.size || distance >= self->distance)
        return;
    span_copy_string (meant, self->best, sizeof self->best);
    self->distance = distance;
}

void
suggest_offer_span (suggest_t *self, span_t candidate)
{
    s_offer (self, candidate, candidate);
}

void
suggest_offer (suggest_t *self, const char *candidate)
{
    suggest_offer_span (self, span_from_string (candidate));
}

void
suggest_offer_words (suggest_t *self, const char *const *words)
{
    for (; *words; words++)
        suggest_offer (self, *words);
}

void
suggest_offer_as (suggest_t *self, const char *candidate, const char *meant)
{
    s_offer (self, span_from_string (candidate), span_from_string (meant));
}

const char *
suggest_best (const suggest_t *self)
{
    return *self->best ? self->best : NULL;
}

const char *
suggest_text (suggest_t *self)
{
    *self->text = '\0';
    if (*self->best)
        snprintf (self->text, sizeof self->text, "; did you mean '%s'?", self->best);
    return self->text;
}
