#include "model/tokenizer/words.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "model/tokenizer/grammar.h"
#include "model/tokenizer/letters.h"

#define CONTRACTION "'s|'t|'re|'ve|'m|'ll|'d"
#define BLANKS "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SIGNS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define SPACED " ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define NO_LOW "[\\p{L}&&[^a-z]]"
#define NO_UP "[\\p{L}&&[^A-Z]]"
#define LEAD "[^\\r\\n\\p{L}\\p{N}]?"
#define SIGNED                                                                                          \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " \
    "?[\\p{P}\\p{S}]+[\r\n]*|"                                                                          \
    "\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

static const words_t s_grammars [] = {
    { .expressions = { CONTRACTION "|" SPACED "|\\s+" }, .word = WORD_SPACED, .contractions = CONTRACTIONS_LOW },
    { .expressions = { CONTRACTION "|" SPACED }, .word = WORD_SPACED, .contractions = CONTRACTIONS_LOW },
    { .expressions = { "(?i:" CONTRACTION ")|" WORD "|\\p{N}{1,3}" SIGNS BLANKS },
        .word = WORD_PLAIN,
        .contractions = CONTRACTIONS_ANY,
        .numbers = 3,
        .tails = 1,
        .lines = true },
    { .expressions = { "(?i:" CONTRACTION ")|" WORD "|\\p{N}" SIGNS BLANKS },
        .word = WORD_PLAIN,
        .contractions = CONTRACTIONS_ANY,
        .numbers = 1,
        .tails = 1,
        .lines = true },
    { .expressions = { "(?i:" CONTRACTION ")|" LEAD
                       "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" BLANKS },
        .word = WORD_MARKED,
        .contractions = CONTRACTIONS_ANY,
        .numbers = 1,
        .tails = 1,
        .lines = true },
    { .expressions = { LEAD UPPER "*" LOWER "+(?i:" CONTRACTION ")?|" LEAD UPPER "+" LOWER "*(?i:" CONTRACTION
                                  ")?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS },
        .word = WORD_CASED,
        .contractions = CONTRACTIONS_ANY,
        .numbers = 3,
        .tails = 2,
        .lines = true },
    { .expressions = { LEAD UPPER "*" LOWER "+|" LEAD UPPER "+" LOWER
                                  "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS },
        .word = WORD_CASED,
        .contractions = CONTRACTIONS_NONE,
        .numbers = 1,
        .tails = 2,
        .lines = true },
    { .expressions = { LEAD NO_LOW "*" NO_UP "+(?i:" CONTRACTION ")?|" LEAD NO_LOW "+" NO_UP "*(?i:" CONTRACTION
                                   ")?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS },
        .word = WORD_CASED,
        .contractions = CONTRACTIONS_ANY,
        .numbers = 3,
        .tails = 2,
        .lines = true,
        .ascii_case = true },
    { .expressions = { LEAD NO_LOW "*" NO_UP "+|" LEAD NO_LOW "+" NO_UP
                                   "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS },
        .word = WORD_CASED,
        .contractions = CONTRACTIONS_NONE,
        .numbers = 1,
        .tails = 2,
        .lines = true,
        .ascii_case = true },
    { .expressions = { "\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", SIGNED },
        .word = WORD_SIGNED,
        .contractions = CONTRACTIONS_NONE,
        .numbers = 3,
        .tails = 1,
        .lines = true },
};
enum { GRAMMARS = sizeof s_grammars / sizeof *s_grammars };

static bool
s_stands_for (const words_t *self, const span_t *expressions, size_t count)
{
    for (size_t i = 0; i < WORDS_EXPRESSIONS; i++)
        if (i < count ? !self->expressions [i] || !span_equal_string (expressions [i], self->expressions [i])
                      : self->expressions [i] != NULL)
            return false;
    return true;
}

const words_t *
words_for (const span_t *expressions, size_t count)
{
    for (size_t i = 0; i < GRAMMARS && count && count <= WORDS_EXPRESSIONS; i++)
        if (s_stands_for (&s_grammars [i], expressions, count))
            return &s_grammars [i];
    return NULL;
}

const words_t *
words_at (size_t number, const char *const **expressions)
{
    if (number >= GRAMMARS)
        return NULL;
    *expressions = s_grammars [number].expressions;
    return &s_grammars [number];
}

//  ---- Characters ----------------------------------------------------------------------------------------------------

//  DeepSeek cuts numbers out first, then runs of a range of characters, not all of which are letters. Its last expression cuts each
//  run of one of these sides, and sees no more of the text.
typedef enum { SIDE_END, SIDE_NUMBER, SIDE_RANGE, SIDE_OTHER } side_t;

static side_t
s_side (span_t text, size_t at)
{
    size_t size;
    if (at == text.size)
        return SIDE_END;
    uint32_t code = letters_decode (text.data + at, &size);
    if ((code >= 0x4e00 && code <= 0x9fa5) || (code >= 0x3040 && code <= 0x30ff))
        return SIDE_RANGE;
    return letters_at (text.data + at, &size) & LETTER_N ? SIDE_NUMBER : SIDE_OTHER;
}

//  The kind of the character at `at`; 0 bytes at the end of the text.
static inline unsigned
s_kind (span_t text, size_t at, size_t *size)
{
    if (at < text.size)
        return letters_at (text.data + at, size);
    *size = 0;
    return 0;
}

//  Where a run of characters with any of these bits ends. Most are ASCII.
static inline size_t
s_run (span_t text, size_t at, unsigned bits)
{
    for (;;) {
        while (at < text.size && text.data [at] < 0x80 && (letters_ascii [text.data [at]] & bits))
            at++;
        size_t size;
        if (at == text.size || text.data [at] < 0x80 || !(s_kind (text, at, &size) & bits))
            return at;
        at += size;
    }
}

//  Where a run of characters with none of these bits ends.
static inline size_t
s_run_without (span_t text, size_t at, unsigned bits)
{
    size_t size;
    while (at < text.size && !(s_kind (text, at, &size) & bits))
        at += size;
    return at;
}

//  ---- The parts of a grammar ----------------------------------------------------------------------------------------

//  The small letter that stands at `at`, in any case where `any`; 0 where none does. size: its bytes. LATIN SMALL LETTER LONG S is
//  an s in another case.
static uint8_t
s_small_letter (span_t text, size_t at, bool any, size_t *size)
{
    *size = 1;
    uint8_t byte = at < text.size ? text.data [at] : 0;
    if (byte == 0xc5 && any && at + 1 < text.size && text.data [at + 1] == 0xbf) {
        *size = 2;
        return 's';
    }
    return any && byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte - 'A' + 'a') : byte;
}

size_t
words_contraction (span_t text, size_t at, bool any)
{
    size_t first, second;
    if (at >= text.size || text.data [at] != '\'')
        return at;
    uint8_t letter = s_small_letter (text, at + 1, any, &first);
    if (letter == 's' || letter == 't' || letter == 'm' || letter == 'd')
        return at + 1 + first;
    uint8_t wanted = letter == 'r' || letter == 'v' ? 'e' : letter == 'l' ? 'l' : 0;
    return wanted && s_small_letter (text, at + 1 + first, any, &second) == wanted ? at + 1 + first + second : at;
}

static size_t
s_numbers (span_t text, size_t at, size_t most)
{
    size_t size;
    for (; most && s_kind (text, at, &size) & LETTER_N; most--)
        at += size;
    return at;
}

//  Blanks: up to the last line end among them; else all but the last, which leads what follows; else the one.
//  edge: bits that count as the end of the text.
static size_t
s_blanks (const words_t *self, span_t text, size_t at, bool (*is_edge) (span_t text, size_t at))
{
    size_t size, end = at, last = at, line = 0;
    for (unsigned kind; (kind = s_kind (text, end, &size)) & LETTER_SPACE;) {
        last = end;
        end += size;
        if (kind & LETTER_LINE)
            line = end;
    }
    if (self->lines && line)
        return line;
    return end == text.size || last == at || (is_edge && is_edge (text, end)) ? end : last;
}

//  Signs and the line ends they take with them.
static size_t
s_tail (const words_t *self, span_t text, size_t at)
{
    while (self->tails && at < text.size &&
           (text.data [at] == '\r' || text.data [at] == '\n' || (self->tails == 2 && text.data [at] == '/')))
        at++;
    return at;
}

//  The same where words are cased.
static inline unsigned
s_cased_kind (const words_t *self, span_t text, size_t at, size_t *size)
{
    unsigned kind = s_kind (text, at, size);
    return self->ascii_case && *size > 1 ? kind & ~(unsigned)(LETTER_UP | LETTER_LOW | LETTER_M) : kind;
}

//  Upper then lower case: [Lu Lt Lm Lo M]*[Ll Lm Lo M]+, the first taking all it can and giving back what it must.
static size_t
s_upper_lower (const words_t *self, span_t text, size_t at)
{
    size_t size, given_back = 0;
    unsigned kind;
    while ((kind = s_cased_kind (self, text, at, &size)) & (LETTER_L | LETTER_M) && !(kind & LETTER_LOW)) {
        at += size;
        if (!(kind & LETTER_UP))
            given_back = at;
    }
    if (!(kind & LETTER_LOW))
        return given_back;
    while ((kind = s_cased_kind (self, text, at, &size)) & (LETTER_L | LETTER_M) && !(kind & LETTER_UP))
        at += size;
    return at;
}

//  A word of o200k; 0 where none begins. `kind` and `size` are those of its first character.
static size_t
s_cased_word (const words_t *self, span_t text, size_t at, unsigned kind, size_t size)
{
    bool leads = !(kind & (LETTER_L | LETTER_N | LETTER_LINE));
    size_t start = at + (leads ? size : 0);
    size_t end = s_upper_lower (self, text, start);
    if (!end && kind & LETTER_M)
        end = at + size;
    if (!end)
        end = s_run (text, start, LETTER_UP);
    if (end == start && !(kind & LETTER_M))
        return 0;
    return self->contractions ? words_contraction (text, end, true) : end;
}

//  ---- Words of ASCII ------------------------------------------------------------------------------------------------

//  Nearly all pieces are a few letters with at most one character before them. Sixteen bytes are looked at at once.
enum { RUN = 16, QUICK = RUN + 1 };    //  Bytes that are read from a place, and from the one before it

//  A bit for each byte, the first one lowest.
typedef struct {
    unsigned letters;    //  Letters of ASCII
    unsigned lows;       //  Of those, lower case
} run_t;

#ifdef __SSE2__
static inline run_t
s_look_at (const uint8_t *bytes)
{
    __m128i word = _mm_loadu_si128 ((const __m128i *)(const void *)bytes);
    __m128i from_a = _mm_sub_epi8 (_mm_or_si128 (word, _mm_set1_epi8 (0x20)), _mm_set1_epi8 ('a'));
    __m128i letters = _mm_cmpeq_epi8 (_mm_min_epu8 (from_a, _mm_set1_epi8 ('z' - 'a')), from_a);
    return (run_t){ (unsigned)_mm_movemask_epi8 (letters), (unsigned)_mm_movemask_epi8 (_mm_slli_epi16 (word, 2)) };
}
#else
static inline run_t
s_look_at (const uint8_t *bytes)
{
    run_t run = { 0 };
    for (unsigned i = 0; i < RUN; i++) {
        run.letters |= (unsigned)((uint8_t)((bytes [i] | 0x20) - 'a') < 26) << i;
        run.lows |= (unsigned)(bytes [i] >> 5 & 1) << i;
    }
    return run;
}
#endif

//  The end of a run of at least one and less than RUN letters, and what follows them is ASCII too; else 0. Where words are cased,
//  one of some upper ones, then some lower ones.
static inline size_t
s_short_run (const words_t *self, span_t text, size_t at)
{
    run_t run = s_look_at (text.data + at);
    unsigned size = (unsigned)__builtin_ctz (~run.letters);
    if (size == 0 || size == RUN || text.data [at + size] >= 0x80)
        return 0;
    unsigned upper = ~run.lows & ((1u << size) - 1);
    if (self->word == WORD_CASED && (upper & (upper + 1) || text.data [at + size] == '\''))
        return 0;
    return at + size;
}

//  Whether a character of ASCII may lead a word.
static inline bool
s_leads (const words_t *self, uint8_t byte, unsigned kind)
{
    if (self->word == WORD_SPACED)
        return byte == ' ';
    return !(kind & (LETTER_N | LETTER_LINE)) && (byte != '\'' || self->word == WORD_CASED || !self->contractions);
}

//  The end of a piece that is a short word of ASCII; 0 where another way must find out. byte: the first of at least QUICK.
static inline size_t
s_quick_word (const words_t *self, span_t text, size_t at, uint8_t byte)
{
    unsigned kind = letters_ascii [byte];
    if (kind & LETTER_L)
        return s_short_run (self, text, at);
    return s_leads (self, byte, kind) ? s_short_run (self, text, at + 1) : 0;
}

//  ---- Everything else of ASCII --------------------------------------------------------------------------------------

//  The kind of the character at `at`, where that is ASCII and in the text; false else.
static inline bool
s_ascii_kind (span_t text, size_t at, unsigned *kind)
{
    if (at >= text.size || text.data [at] >= 0x80)
        return false;
    *kind = letters_ascii [text.data [at]];
    return true;
}

//  A run of signs from `at`, which is one; 0 where another way must find out.
static size_t
s_quick_signs (const words_t *self, span_t text, size_t at)
{
    unsigned kind, wanted = self->word == WORD_SIGNED ? LETTER_PS : 0;
    unsigned others = LETTER_L | LETTER_N | LETTER_SPACE;
    while (s_ascii_kind (text, at, &kind) && !(kind & others) && (kind & wanted) == wanted)
        at++;
    return at < text.size && text.data [at] < 0x80 ? s_tail (self, text, at) : 0;
}

//  Blanks, or a space that leads signs; 0 where another way must find out.
static size_t
s_quick_blanks (const words_t *self, span_t text, size_t at)
{
    size_t end = at, line = 0;
    unsigned kind = 0;
    while (s_ascii_kind (text, end, &kind) && kind & LETTER_SPACE) {
        end++;
        line = kind & LETTER_LINE ? end : line;
    }
    if (end == text.size || text.data [end] >= 0x80)
        return 0;
    if (self->lines && line)
        return line;
    if (end > at + 1)
        return self->word == WORD_SIGNED && kind & LETTER_N ? end : end - 1;
    if (kind & LETTER_L || (kind & LETTER_N && !self->numbers) ||
        (self->word == WORD_SIGNED && !(kind & (LETTER_PS | LETTER_N))))
        return 0;
    return kind & LETTER_N || text.data [at] != ' ' ? end : s_quick_signs (self, text, end);
}

//  Some digits; 0 where another way must find out.
static size_t
s_quick_numbers (const words_t *self, span_t text, size_t at)
{
    unsigned kind = LETTER_N;
    size_t stop = self->numbers ? at + self->numbers : SIZE_MAX;
    while (at < stop && s_ascii_kind (text, at, &kind) && kind & LETTER_N)
        at++;
    return at == stop || (at < text.size && text.data [at] < 0x80) ? at : 0;
}

//  The end of a piece of ASCII that is no word; 0 where another way must find out.
static size_t
s_quick_other (const words_t *self, span_t text, size_t at)
{
    unsigned next, kind;
    if (!s_ascii_kind (text, at, &kind) || !s_ascii_kind (text, at + 1, &next) || kind & LETTER_L)
        return 0;
    if (kind & LETTER_N)
        return s_quick_numbers (self, text, at);
    if (kind & LETTER_SPACE)
        return s_quick_blanks (self, text, at);
    if (next & LETTER_L || (text.data [at] == '\'' && self->contractions) || (self->word == WORD_SIGNED && !kind))
        return 0;
    return s_quick_signs (self, text, at);
}

//  ---- Grammars ------------------------------------------------------------------------------------------------------

static size_t
s_next_cased (const words_t *self, span_t text, size_t at)
{
    size_t size;
    unsigned kind = s_cased_kind (self, text, at, &size);
    if (kind & LETTER_N)
        return s_numbers (text, at, self->numbers);
    size_t end = s_cased_word (self, text, at, kind, size);
    if (end)
        return end;
    size_t sign = at + (text.data [at] == ' ');
    kind = s_kind (text, sign, &size);
    if (size && !(kind & (LETTER_SPACE | LETTER_L | LETTER_N)))
        return s_tail (self, text, s_run_without (text, sign, LETTER_SPACE | LETTER_L | LETTER_N));
    return s_blanks (self, text, at, NULL);
}

//  GPT-2, and what came of it: words, numbers and signs, each with a character before it.
static size_t
s_next_plain (const words_t *self, span_t text, size_t at)
{
    size_t size, second;
    unsigned letters = self->word == WORD_MARKED ? LETTER_L | LETTER_M : LETTER_L;
    unsigned kind = s_kind (text, at, &size);
    if (kind & letters)
        return s_run (text, at + size, letters);
    if (kind & LETTER_N)
        return s_numbers (text, at, self->numbers ? self->numbers : SIZE_MAX);
    if (text.data [at] == '\'') {
        size_t end = words_contraction (text, at, self->contractions == CONTRACTIONS_ANY);
        if (end != at)
            return end;
    }
    unsigned next = s_kind (text, at + size, &second);
    bool is_space = text.data [at] == ' ';
    if (next & letters && (self->word == WORD_SPACED ? is_space : !(kind & LETTER_LINE)))
        return s_run (text, at + size + second, letters);
    if (next & LETTER_N && is_space && !self->numbers)
        return s_numbers (text, at + 1, SIZE_MAX);
    unsigned others = LETTER_SPACE | LETTER_N | letters;
    if (!(kind & others) || (is_space && second && !(next & others)))
        return s_tail (self, text, s_run_without (text, at + size, others));
    return s_blanks (self, text, at, NULL);
}

//  Whether blanks end at `at` as at the end of the text.
static bool
s_is_edge (span_t text, size_t at)
{
    return s_side (text, at) != SIDE_OTHER;
}

//  The kind of the character at `at`; 0 bytes where it is on another side.
static unsigned
s_signed_kind (span_t text, size_t at, side_t side, size_t *size)
{
    *size = 0;
    return s_side (text, at) == side ? s_kind (text, at, size) : 0;
}

static size_t
s_signed_run (span_t text, size_t at, side_t side, unsigned bits)
{
    size_t size;
    while (s_signed_kind (text, at, side, &size) & bits)
        at += size;
    return at;
}

//  What the last of DeepSeek's expressions matches at `at`, which is on a side; 0 for nothing.
static size_t
s_match_signed (const words_t *self, span_t text, size_t at, side_t side)
{
    size_t size, second;
    unsigned kind = s_kind (text, at, &size);
    unsigned next = s_signed_kind (text, at + size, side, &second);
    if (size == 1 && kind & LETTER_PS && second == 1 && next & LETTER_L) {
        size_t end = at + 1;
        while (end < text.size && text.data [end] < 0x80 && letters_ascii [text.data [end]] & LETTER_L)
            end++;
        return end;
    }
    if (kind & (LETTER_L | LETTER_M))
        return s_signed_run (text, at, side, LETTER_L | LETTER_M);
    if (!(kind & (LETTER_LINE | LETTER_PS)) && next & (LETTER_L | LETTER_M))
        return s_signed_run (text, at + size, side, LETTER_L | LETTER_M);
    if (kind & LETTER_PS || (text.data [at] == ' ' && next & LETTER_PS)) {
        size_t end = s_signed_run (text, at + size, side, LETTER_PS);
        return side == SIDE_OTHER ? s_tail (self, text, end) : end;
    }
    return kind & LETTER_SPACE ? s_blanks (self, text, at, s_is_edge) : 0;
}

//  Control characters match nothing: what lies between matches is a piece too.
static size_t
s_next_signed (const words_t *self, span_t text, size_t at)
{
    size_t size;
    side_t side = s_side (text, at);
    if (side == SIDE_NUMBER)
        return s_numbers (text, at, self->numbers);
    size_t end = s_match_signed (self, text, at, side);
    if (end)
        return end;
    do {
        s_kind (text, at, &size);
        at += size;
    } while (s_side (text, at) == side && !s_match_signed (self, text, at, side));
    return at;
}

//  Apart from the rest, so that what nearly always suffices stays short.
__attribute__ ((noinline)) static size_t
s_next_slowly (const words_t *self, span_t text, size_t at)
{
    if (self->word == WORD_CASED)
        return s_next_cased (self, text, at);
    if (self->word == WORD_SIGNED)
        return s_next_signed (self, text, at);
    return s_next_plain (self, text, at);
}

size_t
words_next (const words_t *self, span_t text, size_t at)
{
    size_t end = 0;
    if (text.size - at > QUICK && text.data [at] < 0x80)
        end = s_quick_word (self, text, at, text.data [at]);
    if (!end)
        end = s_quick_other (self, text, at);
    return end ? end : s_next_slowly (self, text, at);
}

//  ---- Stretches -----------------------------------------------------------------------------------------------------

//  Line ends reach as far as blanks hold more of them, so behind the last comes something that is no blank. Where
//  line ends have no rule of their own they must be the last of the blanks.
bool
words_ends_line (const words_t *self, span_t text, size_t at)
{
    if (at == text.size || (self->tails == 2 && text.data [at] == '/'))
        return false;
    while (self->lines && at < text.size && (text.data [at] == ' ' || text.data [at] == '\t'))
        at++;
    return at < text.size && text.data [at] < 0x80 && !(letters_ascii [text.data [at]] & LETTER_SPACE);
}
