#include "model/tokenizer/added.h"

#include <string.h>

#include "model/tokenizer/classes.h"
#include "model/tokenizer/letters.h"

typedef struct {
    uint32_t child;      //  First; 0: none
    uint32_t sibling;    //  Next; 0: none
    uint32_t token;      //  That ends here, plus one; 0: none
    uint8_t byte;        //  That leads here
} node_t;

void
added_init (added_t *self)
{
    *self = (added_t){ 0 };
    array_init (&self->tokens, sizeof (added_token_t));
    array_init (&self->offsets, sizeof (size_t));
    array_init (&self->raw.nodes, sizeof (node_t));
    array_init (&self->normal.nodes, sizeof (node_t));
}

void
added_fini (added_t *self)
{
    array_fini (&self->tokens);
    array_fini (&self->offsets);
    array_fini (&self->raw.nodes);
    array_fini (&self->normal.nodes);
    buffer_fini (&self->bytes);
}

status_t
added_put (added_t *self, added_token_t token, error_t *error)
{
    if (token.content.size > ADDED_SIZE_MAX)
        return error_set (error, STATUS_LIMIT, "added token %u is %zu bytes long; %d are enough", token.id,
            token.content.size, ADDED_SIZE_MAX);
    if (self->tokens.count == ADDED_TOKENS_MAX)
        return error_set (error, STATUS_LIMIT, "more than %d added tokens", ADDED_TOKENS_MAX);
    if (token.content.size == 0)
        return STATUS_OK;
    array_append (&self->offsets, &self->bytes.size, 1);
    buffer_append (&self->bytes, token.content);
    array_append (&self->tokens, &token, 1);
    return STATUS_OK;
}

//  ---- The trie ------------------------------------------------------------------------------------------------------

static node_t *
s_node (const trie_t *trie, uint32_t number)
{
    return (node_t *)trie->nodes.data + number;
}

//  The child of a node by a byte; 0 where there is none.
static uint32_t
s_child (const trie_t *trie, uint32_t parent, uint8_t byte)
{
    if (!parent)
        return trie->first [byte];
    uint32_t child = s_node (trie, parent)->child;
    while (child && s_node (trie, child)->byte != byte)
        child = s_node (trie, child)->sibling;
    return child;
}

static uint32_t
s_add_child (trie_t *trie, uint32_t parent, uint8_t byte)
{
    node_t node = { .sibling = s_node (trie, parent)->child, .byte = byte };
    uint32_t number = (uint32_t)trie->nodes.count;
    array_append (&trie->nodes, &node, 1);
    s_node (trie, parent)->child = number;
    if (!parent)
        trie->first [byte] = number;
    return number;
}

static void
s_insert (trie_t *trie, span_t content, uint32_t token)
{
    uint32_t at = 0;
    for (size_t i = 0; i < content.size; i++) {
        uint32_t child = s_child (trie, at, content.data [i]);
        at = child ? child : s_add_child (trie, at, content.data [i]);
    }
    if (!s_node (trie, at)->token)
        s_node (trie, at)->token = token + 1;
}

static void
s_mark_second (trie_t *trie, unsigned from, unsigned to)
{
    for (unsigned pair = from; pair <= to; pair++)
        trie->second [pair / 64] |= 1ull << (pair % 64);
}

//  What may follow the only first byte: anything behind a whole token.
static void
s_find_second (trie_t *trie, const node_t *first)
{
    if (first->token)
        s_mark_second (trie, 0, 0xffff);
    for (uint32_t one = first->child; one; one = s_node (trie, one)->sibling) {
        unsigned pair = (unsigned)s_node (trie, one)->byte << 8;
        if (s_node (trie, one)->token)
            s_mark_second (trie, pair, pair | 0xff);
        for (uint32_t two = s_node (trie, one)->child; two; two = s_node (trie, two)->sibling)
            s_mark_second (trie, pair | s_node (trie, two)->byte, pair | s_node (trie, two)->byte);
    }
}

static void
s_find_only (trie_t *trie)
{
    const node_t *first = s_node (trie, s_node (trie, 0)->child);
    trie->only = first == s_node (trie, 0) ? -2 : first->sibling ? -1 : first->byte;
    if (trie->only >= 0)
        s_find_second (trie, first);
}

//  No token that stands inside another with more behind it is a seam.
static void
s_unmark_inner (added_t *self, const trie_t *trie, span_t content)
{
    for (size_t start = 0; start < content.size; start++) {
        uint32_t at = s_child (trie, 0, content.data [start]);
        for (size_t i = start + 1; at && i < content.size; i++) {
            if (s_node (trie, at)->token)
                ((added_token_t *)array_at (&self->tokens, s_node (trie, at)->token - 1))->seam = false;
            at = s_child (trie, at, content.data [i]);
        }
    }
}

//  ---- What touches a token ------------------------------------------------------------------------------------------

//  The code point that ends before `at`, which is not 0. start: where it begins.
static uint32_t
s_code_before (span_t text, size_t at, size_t *start)
{
    size_t size;
    do
        at--;
    while (at && (text.data [at] & 0xc0) == 0x80);
    *start = at;
    return letters_decode (text.data + at, &size);
}

static bool
s_word_before (span_t text, size_t at)
{
    size_t start;
    return at && letters_is_word (s_code_before (text, at, &start));
}

static bool
s_word_behind (span_t text, size_t at)
{
    size_t size;
    return at < text.size && letters_is_word (letters_decode (text.data + at, &size));
}

static bool
s_is_blank (const added_t *self, uint32_t code)
{
    return letters_of (code) & LETTER_SPACE && !(self->of_ascii && code >= 0x80);
}

static size_t
s_blanks_before (const added_t *self, span_t text, size_t at, size_t stop)
{
    for (size_t start; at > stop && s_is_blank (self, s_code_before (text, at, &start)) && start >= stop;)
        at = start;
    return at;
}

//  Where a token at a place begins with the blanks before it. A token that takes blanks may have taken all of one of blanks.
static size_t
s_start_with_blanks (const added_t *self, span_t text, size_t at, size_t taken)
{
    return at < taken ? taken : s_blanks_before (self, text, at, taken);
}

static size_t
s_blanks_behind (const added_t *self, span_t text, size_t at)
{
    for (size_t size; at < text.size && s_is_blank (self, letters_decode (text.data + at, &size));)
        at += size;
    return at;
}

void
added_seal (added_t *self, bool has_normalizer)
{
    array_add (&self->raw.nodes);
    array_add (&self->normal.nodes);
    bool any_single = false;
    for (size_t i = 0; i < self->tokens.count; i++) {
        added_token_t *token = array_at (&self->tokens, i);
        token->content.data = self->bytes.data + *(const size_t *)array_at (&self->offsets, i);
        s_insert (token->normalized ? &self->normal : &self->raw, token->content, (uint32_t)i);
        any_single |= token->single_word;
    }
    s_find_only (&self->raw);
    s_find_only (&self->normal);
    for (size_t i = 0; i < self->tokens.count; i++) {
        added_token_t *token = array_at (&self->tokens, i);
        token->seam = !token->rstrip && !token->single_word && !(token->normalized && has_normalizer) &&
                      !(any_single && s_word_before (token->content, token->content.size));
    }
    for (size_t i = 0; i < self->tokens.count; i++) {
        span_t content = ((const added_token_t *)array_at (&self->tokens, i))->content;
        s_unmark_inner (self, &self->raw, content);
        s_unmark_inner (self, &self->normal, content);
    }
}

//  ---- Finding -------------------------------------------------------------------------------------------------------

//  Whether what follows the only first byte can be of a token.
static inline bool
s_goes_on (const trie_t *trie, const uint8_t *behind)
{
    unsigned pair = (unsigned)behind [0] << 8 | behind [1];
    return trie->second [pair / 64] >> (pair % 64) & 1;
}

//  The next place where a token can begin, or a later one from which to look on: some bytes at a time, as a text about markup is
//  full of what begins a token and is none.
static size_t
s_candidate_in_blocks (const trie_t *trie, span_t text, size_t at)
{
    for (; at + CLASSES_BYTES + 2 <= text.size; at += CLASSES_BYTES)
        for (uint64_t left = classes_equal (text.data + at, (uint8_t)trie->only); left; left &= left - 1) {
            size_t place = at + (size_t)__builtin_ctzll (left);
            if (s_goes_on (trie, text.data + place + 1))
                return place;
        }
    return at;
}

//  The next place where a token can begin; text.size where there is none.
static size_t
s_candidate (const trie_t *trie, span_t text, size_t at)
{
    if (trie->only >= 0)
        at = s_candidate_in_blocks (trie, text, at);
    while (at < text.size && !trie->first [text.data [at]])
        at++;
    return at;
}

//  The longest token at a place; its node, 0 where there is none. end: behind it.
static uint32_t
s_longest (const trie_t *trie, span_t text, size_t at, size_t *end)
{
    uint32_t found = 0;
    for (uint32_t node = 0; at < text.size && (node = s_child (trie, node, text.data [at]));) {
        at++;
        if (s_node (trie, node)->token) {
            found = node;
            *end = at;
        }
    }
    return found;
}

bool
added_next (const added_t *self, const trie_t *trie, span_t text, size_t from, size_t taken, bool with_special,
    added_match_t *match)
{
    if (trie->only == -2)
        return false;
    for (size_t at = from; at < text.size && (at = s_candidate (trie, text, at)) < text.size;) {
        size_t end = at + 1;
        uint32_t node = s_longest (trie, text, at, &end);
        if (!node) {
            at++;
            continue;
        }
        const added_token_t *token = array_at (&self->tokens, s_node (trie, node)->token - 1);
        bool alone = !token->single_word || (!s_word_before (text, at) && !s_word_behind (text, end));
        size_t start = token->lstrip ? s_start_with_blanks (self, text, at, taken) : at;
        if (alone && start < end && (with_special || !token->special)) {
            *match = (added_match_t){ token, start, token->rstrip ? s_blanks_behind (self, text, end) : end, end };
            return true;
        }
        at = end;
    }
    return false;
}

const added_token_t *
added_find (const added_t *self, span_t content)
{
    const trie_t *tries [] = { &self->raw, &self->normal };
    for (size_t i = 0; i < 2; i++) {
        size_t end = 0;
        uint32_t node = content.size && tries [i]->only != -2 ? s_longest (tries [i], content, 0, &end) : 0;
        if (node && end == content.size)
            return array_at (&self->tokens, s_node (tries [i], node)->token - 1);
    }
    return NULL;
}
