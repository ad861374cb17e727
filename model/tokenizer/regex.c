#include "model/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "model/tokenizer/ruby.h"

enum {
    MATCH_LIMIT = 10000000,    //  Steps of one match from one place
    STEPS_FREE = 10000000,     //  Counted steps in one text,
    STEPS_A_BYTE = 100,        //  and for each of its bytes
    HEAP_LIMIT_KIB = 65536     //  Memory of one match
};

struct regex {
    pcre2_code *code;               //  Compiled, for the machine where it can be
    pcre2_match_data *match;        //  Of the last search
    pcre2_match_context *limits;    //  Of every search
    bool is_counted;                //  Every step is counted
    uint64_t steps_left;            //  In this text
};

static pcre2_code *
s_compile (span_t pattern, uint32_t options, error_t *error)
{
    int number;
    PCRE2_SIZE place;
    pcre2_compile_context *context = pcre2_compile_context_create (NULL);
    pcre2_set_newline (context, PCRE2_NEWLINE_LF);
    pcre2_code *code = pcre2_compile (pattern.data, pattern.size,
        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | options, &number, &place, context);
    pcre2_compile_context_free (context);
    if (!code) {
        PCRE2_UCHAR reason [128];
        pcre2_get_error_message (number, reason, sizeof reason);
        error_set (error, STATUS_INVALID, "regex \"%.*s\": %s at byte %zu",
            (int)(pattern.size > 128 ? 128 : pattern.size), (const char *)pattern.data, (const char *)reason, place);
    }
    return code;
}

//  Where what begins at `at` ends: an escape, with its braces, or a class; else a byte.
static size_t
s_atom_end (span_t pattern, size_t at)
{
    if (pattern.data [at] == '\\') {
        at += 2;
        bool braced = at < pattern.size && pattern.data [at] == '{' && memchr ("pPxogk", pattern.data [at - 1], 6);
        return braced ? at + span_find_byte (span_slice (pattern, at, pattern.size), '}') + 1 : at;
    }
    if (pattern.data [at] != '[')
        return at + 1;
    at += at + 1 < pattern.size && pattern.data [at + 1] == '^' ? 2 : 1;
    at += at < pattern.size && pattern.data [at] == ']';
    while (at < pattern.size && pattern.data [at] != ']')
        at += pattern.data [at] == '\\' ? 2 : 1;
    return at + 1;
}

//  Whether what stands in the group at `at` goes on for any length.
static bool
s_runs_inside (span_t pattern, size_t at)
{
    for (size_t depth = 0; at < pattern.size; at = s_atom_end (pattern, at)) {
        depth += pattern.data [at] == '(';
        if (pattern.data [at] == ')' && --depth == 0)
            return false;
        if (memchr ("*+{", pattern.data [at], 3))
            return true;
    }
    return false;
}

//  Whether a pattern repeats groups or looks ahead without bound: such a one can take a time that grows with the square of
//  the text, or worse.  Its steps are counted, over all matches in a text.
static bool
s_needs_counting (span_t pattern)
{
    uint8_t before = 0;
    for (size_t at = 0; at < pattern.size; at = s_atom_end (pattern, at)) {
        uint8_t byte = pattern.data [at];
        bool looks = before == '(' && byte == '?' && at + 1 < pattern.size && memchr ("=!", pattern.data [at + 1], 2);
        if (before == ')' ? memchr ("*+{", byte, 3) != NULL : looks && s_runs_inside (pattern, at - 1))
            return true;
        before = byte;
    }
    return false;
}

static int
s_on_step (pcre2_callout_block *block, void *self_)
{
    regex_t *self = self_;
    return self->steps_left-- ? 0 : PCRE2_ERROR_MATCHLIMIT;
}

status_t
regex_new (span_t expression, regex_t **regex, error_t *error)
{
    if (expression.size > REGEX_SIZE_MAX)
        return error_set (error, STATUS_LIMIT, "a regex of %zu bytes; %d are enough", expression.size, REGEX_SIZE_MAX);
    buffer_t pattern = { 0 };
    buffer_reserve (&pattern, 1);    //  PCRE2 takes no null for an empty one
    ruby_to_pcre (expression, &pattern);
    bool is_counted = s_needs_counting (buffer_span (&pattern));
    pcre2_code *code = s_compile (buffer_span (&pattern), is_counted ? PCRE2_AUTO_CALLOUT : 0, error);
    buffer_fini (&pattern);
    if (!code)
        return STATUS_INVALID;
    regex_t *self = memory_new (sizeof *self);
    self->code = code;
    self->match = pcre2_match_data_create_from_pattern (code, NULL);
    self->limits = pcre2_match_context_create (NULL);
    pcre2_set_match_limit (self->limits, MATCH_LIMIT);
    pcre2_set_heap_limit (self->limits, HEAP_LIMIT_KIB);
    self->is_counted = is_counted;
    if (is_counted)
        pcre2_set_callout (self->limits, s_on_step, self);
    //  Where it cannot be compiled for the machine it is interpreted: the result is the same.
    pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
    *regex = self;
    return STATUS_OK;
}

void
regex_destroy (regex_t **self_p)
{
    regex_t *self = *self_p;
    if (!self)
        return;
    pcre2_match_context_free (self->limits);
    pcre2_match_data_free (self->match);
    pcre2_code_free (self->code);
    memory_free (self);
    *self_p = NULL;
}

status_t
regex_find (regex_t *self, span_t text, size_t from, size_t *start, size_t *end, error_t *error)
{
    static const uint8_t nothing [1];
    if (from == 0)
        self->steps_left = STEPS_FREE + STEPS_A_BYTE * text.size;
    int found = pcre2_match (
        self->code, text.data ? text.data : nothing, text.size, from, PCRE2_NO_UTF_CHECK, self->match, self->limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match (self->code, text.data ? text.data : nothing, text.size, from,
            PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, self->match, self->limits);
    if (found == PCRE2_ERROR_NOMATCH)
        return STATUS_NOT_FOUND;
    if (found < 0)
        return error_set (error, STATUS_LIMIT, "a regex takes too long at byte %zu (PCRE2 %d)", from, found);
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer (self->match);
    *start = places [0];
    *end = places [1];
    //  \K can put the start behind the end.
    if (*start > *end || *start < from)
        return error_set (error, STATUS_UNSUPPORTED, "a regex that moves its start back (\\K) at byte %zu", from);
    return STATUS_OK;
}
