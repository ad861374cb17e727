//  What a text is in JSON, without a tree of it: each word is right by json_check, and here is how they may follow each other

#include <string.h>

#include "base/json.h"
#include "base/json_check.h"

//  What may come.
typedef enum {
    VALUE,        //  A value
    FIRST,        //  A value, or the end of the array
    KEY,          //  A key
    FIRST_KEY,    //  A key, or the end of the object
    COLON,        //  A colon
    NEXT,         //  A comma or an end; outside all brackets: nothing
} expect_t;

typedef struct {
    uint64_t objects;    //  A bit a level: it is an object
    uint32_t depth;      //  Open brackets
    expect_t expect;     //  What may come
} grammar_t;

static void
s_open (grammar_t *self, bool object)
{
    self->objects &= ~(1ull << self->depth);
    self->objects |= (uint64_t)object << self->depth++;
    self->expect = object ? FIRST_KEY : FIRST;
}

//  Takes a token by its first byte.  False where it cannot stand here.
static bool
s_accept (grammar_t *self, uint8_t byte)
{
    bool object = self->depth && (self->objects >> (self->depth - 1) & 1);
    bool value = (self->expect == VALUE || self->expect == FIRST) && self->depth < JSON_DEPTH_MAX;
    bool key = self->expect == KEY || self->expect == FIRST_KEY;
    bool next = self->expect == NEXT && self->depth;
    switch (byte) {
    case '{':
    case '[':
        if (value)
            s_open (self, byte == '{');
        return value;
    case '}':
    case ']':
        if (!self->depth || object != (byte == '}') || !(next || self->expect == (object ? FIRST_KEY : FIRST)))
            return false;
        self->depth--;
        self->expect = NEXT;
        return true;
    case ',':
        self->expect = object ? KEY : VALUE;
        return next;
    case ':':
        value = self->expect == COLON;
        self->expect = VALUE;
        return value;
    default:
        self->expect = key ? COLON : NEXT;
        return key ? byte == '"' : value;
    }
}

//  The bytes of a string; 0 where an escape is none.
static size_t
s_string (span_t text)
{
    size_t at = 1;
    for (; text.data [at] != '"'; at++) {
        if (text.data [at] != '\\')
            continue;
        uint8_t escaped = text.data [++at];
        if (!memchr ("\"\\/bfnrtu", escaped, 9))
            return 0;
        for (size_t i = 0; escaped == 'u' && i < 4; i++) {
            uint8_t digit = text.data [++at], letter = digit | 0x20;
            if (!(digit >= '0' && digit <= '9') && !(letter >= 'a' && letter <= 'f'))
                return 0;
        }
    }
    return at + 1;
}

static size_t
s_number (span_t text, bool *real)
{
    size_t at = 0;
    for (; at < text.size && memchr ("0123456789+-.eE", text.data [at], 15); at++)
        *real = *real || memchr (".eE", text.data [at], 3);
    return at;
}

//  The bytes of the token at the start, which json_check has seen; 0 where it is none.  *kind: of the value that it begins.
static size_t
s_token (span_t text, json_kind_t *kind)
{
    bool real = false;
    size_t size = 1;
    switch (text.data [0]) {
    case '"':
        *kind = JSON_STRING;
        return s_string (text);
    case '{':
        *kind = JSON_OBJECT;
        return size;
    case '[':
        *kind = JSON_ARRAY;
        return size;
    case 'n':
        *kind = JSON_NULL;
        return 4;
    case 't':
    case 'f':
        *kind = JSON_BOOL;
        return text.data [0] == 't' ? 4 : 5;
    case '}':
    case ']':
    case ',':
    case ':':
        return size;
    default:
        size = s_number (text, &real);
        *kind = real ? JSON_REAL : JSON_INTEGER;
        return size;
    }
}

//  What is looked for on the way.
typedef struct {
    span_t key;              //  Name of a member of the outermost object
    bool found;              //  Its value comes, or is not over
    const uint8_t *begin;    //  Where that begins; NULL: it has not
    span_t value;            //  The last one that was whole
} search_t;

//  Takes a token that the grammar has taken.  is_key: the outermost object's.
static void
s_seek (search_t *self, const grammar_t *grammar, bool is_key, span_t token)
{
    if (is_key)
        self->found = span_equal (span_slice (token, 1, token.size - 2), self->key);
    if (is_key || !self->found || token.data [0] == ':')
        return;
    if (!self->begin)
        self->begin = token.data;
    if (grammar->depth > 1 || grammar->expect != NEXT)
        return;
    self->value = span_of (self->begin, (size_t)(token.data + token.size - self->begin));
    self->found = false;
    self->begin = NULL;
}

static bool
s_walk (span_t text, json_kind_t *kind, search_t *search)
{
    grammar_t grammar = { .expect = VALUE };
    json_kind_t inner, *outer = kind;
    bool beyond;
    if (text.size > INT32_MAX || json_check (text, &beyond, NULL))
        return false;
    for (text = span_trim (text); text.size; text = span_trim (text)) {
        bool is_key = grammar.depth == 1 && (grammar.expect == KEY || grammar.expect == FIRST_KEY);
        size_t size = s_accept (&grammar, text.data [0]) ? s_token (text, outer) : 0;
        if (!size)
            return false;
        s_seek (search, &grammar, is_key && grammar.expect == COLON, span_slice (text, 0, size));
        outer = &inner;
        text = span_slice (text, size, text.size);
    }
    return grammar.expect == NEXT && !grammar.depth;
}

bool
json_recognize (span_t text, json_kind_t *kind)
{
    search_t nothing = { .key = SPAN ("") };
    return s_walk (text, kind, &nothing);
}

bool
json_recognize_member (span_t text, span_t key, span_t *value)
{
    json_kind_t kind;
    search_t search = { .key = key };
    if (!s_walk (text, &kind, &search) || kind != JSON_OBJECT)
        return false;
    *value = search.value;
    return true;
}
