#include "hints/hint_source.h"

#include "base/utf8.h"

//  Rows in order of precedence.  Sources: Dynamo's header names and nvext (its frontend reference), OpenAI's and vLLM's
//  request fields, SGLang's model gateway (x-smg-routing-key), the Gateway API inference extension (x-gateway-*), and
//  what Claude Code, Codex and OpenCode were seen to send.
//  A harness that names each thread apart (OpenCode, Dynamo's clients) sends the parent's name with it: the parent then
//  is the session, and the thread the agent.

#define HEADER(name, field, rule)      \
    {                                  \
        name, false, field, rule, NULL \
    }
#define BODY(name, field, rule)       \
    {                                 \
        name, true, field, rule, NULL \
    }
#define REFUSED_HEADER(name, why)                      \
    {                                                  \
        name, false, HINT_NOTHING, HINT_READS_NOT, why \
    }
#define REFUSED_BODY(name, why)                       \
    {                                                 \
        name, true, HINT_NOTHING, HINT_READS_NOT, why \
    }

#define NO_PINNING "requests cannot be pinned to a worker"
#define NO_RETENTION "retention is not offered yet"
#define NEEDS_PROXY "only a key with role proxy may say this"

const hint_source_t hint_sources [] = {
    BODY ("stator.hints.priority", HINT_PRIORITY, HINT_READS_NUMBER),
    HEADER ("x-dynamo-request-priority", HINT_PRIORITY, HINT_READS_NUMBER),
    BODY ("nvext.agent_hints.priority", HINT_PRIORITY, HINT_READS_NUMBER),
    HEADER ("x-vllm-priority", HINT_PRIORITY, HINT_READS_NEGATED),
    BODY ("service_tier", HINT_PRIORITY, HINT_READS_TIER),

    BODY ("stator.hints.expected_output", HINT_EXPECTED_OUTPUT, HINT_READS_NUMBER),
    BODY ("nvext.agent_hints.osl", HINT_EXPECTED_OUTPUT, HINT_READS_NUMBER),

    BODY ("stator.hints.session", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-dynamo-parent-session-id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-dynamo-session-id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-parent-session-id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-session-affinity", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-session-id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-claude-code-session-id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("session-id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("session_id", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-smg-routing-key", HINT_SESSION, HINT_READS_IDENTITY),
    HEADER ("x-correlation-id", HINT_SESSION, HINT_READS_IDENTITY),
    BODY ("prompt_cache_key", HINT_SESSION, HINT_READS_IDENTITY),
    BODY ("user", HINT_SESSION, HINT_READS_IDENTITY),

    BODY ("stator.hints.agent", HINT_AGENT, HINT_READS_IDENTITY),
    HEADER ("x-dynamo-session-id", HINT_AGENT, HINT_READS_IDENTITY),
    HEADER ("x-claude-code-agent-id", HINT_AGENT, HINT_READS_IDENTITY),
    HEADER ("thread-id", HINT_AGENT, HINT_READS_IDENTITY),
    HEADER ("x-session-id", HINT_AGENT, HINT_READS_IDENTITY),

    BODY ("stator.hints.parent", HINT_PARENT, HINT_READS_IDENTITY),
    HEADER ("x-dynamo-parent-session-id", HINT_PARENT, HINT_READS_IDENTITY),
    HEADER ("x-claude-code-parent-agent-id", HINT_PARENT, HINT_READS_IDENTITY),
    HEADER ("x-codex-parent-thread-id", HINT_PARENT, HINT_READS_IDENTITY),
    HEADER ("x-parent-session-id", HINT_PARENT, HINT_READS_IDENTITY),

    BODY ("stator.hints.final", HINT_FINAL, HINT_READS_BOOLEAN),
    HEADER ("x-dynamo-session-final", HINT_FINAL, HINT_READS_BOOLEAN),

    BODY ("stator.hints.turns_left", HINT_TURNS_LEFT, HINT_READS_NUMBER),

    REFUSED_HEADER ("x-dynamo-worker-instance-id", NO_PINNING),
    REFUSED_HEADER ("x-dynamo-prefill-instance-id", NO_PINNING),
    REFUSED_HEADER ("x-dynamo-dp-rank", NO_PINNING),
    REFUSED_HEADER ("x-dynamo-request-strict-priority", "there are no strict tiers"),
    REFUSED_HEADER ("x-dynamo-meta-policy-class", "there are no policy classes"),
    REFUSED_HEADER ("x-gateway-inference-fairness-id", NEEDS_PROXY),
    REFUSED_HEADER ("x-gateway-inference-objective", "there are no objectives yet"),
    REFUSED_HEADER ("x-gateway-model-name-rewrite", NEEDS_PROXY),
    REFUSED_HEADER ("x-tenant-id", NEEDS_PROXY),
    REFUSED_BODY ("nvext.backend_instance_id", NO_PINNING),
    REFUSED_BODY ("nvext.agent_hints.strict_priority", "there are no strict tiers"),
    REFUSED_BODY ("nvext.agent_hints.speculative_prefill", "nothing is computed ahead yet"),
    REFUSED_BODY ("nvext.agent_hints.latency_sensitivity", "say priority instead"),
    REFUSED_BODY ("prompt_cache_retention", NO_RETENTION),
    REFUSED_BODY ("prompt_cache_options", NO_RETENTION),
};
const size_t hint_source_count = sizeof hint_sources / sizeof hint_sources [0];

typedef struct {
    const char *name;    //  As in an envelope
    int64_t min;         //  Numbers: the least that makes sense
    int64_t max;         //  Numbers: the most
} field_t;

static const field_t s_fields [] = {
    [HINT_PRIORITY] = { "priority", -HINT_PRIORITY_MAX, HINT_PRIORITY_MAX },
    [HINT_EXPECTED_OUTPUT] = { "expected_output", 0, HINT_TOKENS_MAX },
    [HINT_SESSION] = { "session", 0, 0 },
    [HINT_AGENT] = { "agent", 0, 0 },
    [HINT_PARENT] = { "parent", 0, 0 },
    [HINT_FINAL] = { "final", 0, 1 },
    [HINT_TURNS_LEFT] = { "turns_left", 0, HINT_TURNS_MAX },
    [HINT_NOTHING] = { "none", 0, 0 },
};

typedef struct {
    const char *name;    //  As written
    int64_t number;      //  As the rule reads it
} word_t;

static const word_t s_tiers [] = {
    { "flex", -10 },
    { "auto", 0 },
    { "default", 0 },
    { "standard", 0 },
    { "standard_only", 0 },
    { "scale", 10 },
    { "priority", 10 },
    { "fast", 10 },
    { "ultrafast", 10 },
    { NULL, 0 },
};

static const word_t s_booleans [] = { { "true", 1 }, { "1", 1 }, { "false", 0 }, { "0", 0 }, { NULL, 0 } };

const char *
hint_field_name (hint_field_t field)
{
    return s_fields [field].name;
}

static bool
s_read_word (const word_t *words, span_t text, hint_value_t *value)
{
    for (; words->name; words++) {
        if (span_equal_nocase (text, span_from_string (words->name))) {
            value->number = words->number;
            return true;
        }
    }
    return false;
}

//  Digits beyond 64 bits are a number too: the bound.
static bool
s_read_integer (span_t text, int64_t *number)
{
    bool negative = text.size > 1 && text.data [0] == '-';
    span_t digits = span_slice (text, negative, text.size);
    for (size_t i = 0; i < digits.size; i++)
        if (digits.data [i] < '0' || digits.data [i] > '9')
            return false;
    uint64_t magnitude;
    if (digits.size == 0)
        return false;
    if (!span_to_u64 (digits, &magnitude) || magnitude > INT64_MAX)
        magnitude = INT64_MAX;
    *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static void
s_clip (const hint_source_t *self, hint_value_t *value)
{
    const field_t *field = &s_fields [self->field];
    if (self->rule == HINT_READS_NEGATED)
        value->number = -value->number;
    int64_t bound = value->number < field->min ? field->min : field->max;
    value->clipped = value->number < field->min || value->number > field->max;
    value->bound = bound;
    if (value->clipped)
        value->number = bound;
}

static bool
s_read_identity (span_t text, arena_t *arena, hint_value_t *value, const char **reason)
{
    *reason = "empty";
    if (text.size == 0)
        return false;
    *reason = "longer than 256 bytes";
    if (text.size > HINT_IDENTITY_MAX)
        return false;
    *reason = "not printable text";
    for (size_t i = 0; i < text.size; i++)
        if (text.data [i] < 0x20 || text.data [i] == 0x7f)
            return false;
    if (!utf8_is_valid (text))
        return false;
    *reason = "no memory for it";
    value->text = arena_copy (arena, text);
    return value->text.data != NULL;
}

bool
hint_source_read_header (
    const hint_source_t *self, span_t text, arena_t *arena, hint_value_t *value, const char **reason)
{
    *value = (hint_value_t){ 0 };
    switch (self->rule) {
    case HINT_READS_NUMBER:
    case HINT_READS_NEGATED:
        *reason = "not a whole number";
        if (!s_read_integer (text, &value->number))
            return false;
        s_clip (self, value);
        return true;
    case HINT_READS_TIER:
        *reason = "no tier of this name";
        return s_read_word (s_tiers, text, value);
    case HINT_READS_BOOLEAN:
        *reason = "neither true nor false";
        return s_read_word (s_booleans, text, value);
    case HINT_READS_IDENTITY:
        return s_read_identity (text, arena, value, reason);
    case HINT_READS_NOT:
        break;
    }
    *reason = self->refusal;
    return false;
}

bool
hint_source_read_body (
    const hint_source_t *self, const json_t *json, arena_t *arena, hint_value_t *value, const char **reason)
{
    switch (json_kind (json)) {
    case JSON_STRING:
        return hint_source_read_header (self, json_string (json), arena, value, reason);
    case JSON_BOOL:
        return hint_source_read_header (
            self, json_is_true (json) ? SPAN ("true") : SPAN ("false"), arena, value, reason);
    case JSON_INTEGER:
    case JSON_REAL: {
        buffer_t text = { 0 };
        json_render (json, &text);
        bool read = hint_source_read_header (self, buffer_span (&text), arena, value, reason);
        buffer_fini (&text);
        return read;
    }
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    *reason = self->rule == HINT_READS_NOT ? self->refusal : "not a plain value";
    return false;
}
