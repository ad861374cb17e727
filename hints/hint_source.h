//  hint_source - where hints are written in a request
//
//  One table of every header and body field that says something about the future of a request: its name, which hint it
//  gives, how its value reads, and, by its place in the table, which one counts where several give the same hint: the
//  earlier row wins.  Facts about harnesses and peers (who sends which header, with which polarity) stand here and nowhere
//  else.

#ifndef HINTS_HINT_SOURCE_H
#define HINTS_HINT_SOURCE_H

#include "base/arena.h"
#include "base/json.h"
#include "schemas/hints.h"

//  What is hinted: the fields of an envelope.
typedef enum {
    HINT_PRIORITY,
    HINT_EXPECTED_OUTPUT,
    HINT_SESSION,
    HINT_AGENT,
    HINT_PARENT,
    HINT_FINAL,
    HINT_TURNS_LEFT,
    HINT_FIELD_COUNT,
    HINT_NOTHING = HINT_FIELD_COUNT,    //  Understood, but nobody here can act on it
} hint_field_t;

//  How a value reads.
typedef enum {
    HINT_READS_NUMBER,      //  A whole number, higher is more
    HINT_READS_NEGATED,     //  A whole number of the opposite polarity: vLLM serves the lowest first
    HINT_READS_TIER,        //  OpenAI's and Anthropic's names of service tiers
    HINT_READS_IDENTITY,    //  Text that names a session or agent
    HINT_READS_BOOLEAN,     //  true, false, 1, 0
    HINT_READS_NOT,         //  Not at all: `refusal` says why
} hint_rule_t;

typedef struct {
    const char *name;       //  Header in lower case, or path in the body
    bool in_body;           //  Else in the head
    hint_field_t field;     //  What it says
    hint_rule_t rule;       //  How to read it
    const char *refusal;    //  HINT_READS_NOT: why nothing is done about it
} hint_source_t;

typedef struct {
    int64_t number;    //  Numbers, tiers, booleans (0 or 1)
    span_t text;       //  Identities, in the arena
    bool clipped;      //  It was out of range and is at the bound now
    int64_t bound;     //  Clipped: which one
} hint_value_t;

enum { HINT_IDENTITY_MAX = 256, HINT_PRIORITY_MAX = 3600, HINT_TOKENS_MAX = 1000000, HINT_TURNS_MAX = 100000 };

//  The table; earlier rows win.
extern const hint_source_t hint_sources [];
extern const size_t hint_source_count;

//  "priority", "session", ...: as in an envelope.
const char *hint_field_name (hint_field_t field);

//  Reads the value of a header, or a body member (not NULL).  Copies identities into the arena.
//  False where it cannot be read; *reason says why (a literal).
bool hint_source_read_header (
    const hint_source_t *self, span_t text, arena_t *arena, hint_value_t *value, const char **reason);
bool hint_source_read_body (
    const hint_source_t *self, const json_t *json, arena_t *arena, hint_value_t *value, const char **reason);

#endif
