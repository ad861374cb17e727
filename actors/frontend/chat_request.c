#include "actors/frontend/chat_request.h"

#include <stddef.h>
#include <string.h>

#include "actors/frontend/chat_messages.h"
#include "actors/frontend/text_gate.h"
#include "base/json_writer.h"

//  ---- What is refused -----------------------------------------------------------------------------------------------

typedef enum {
    REFUSED_IF_SAID,        //  Anything but null, false, and what is empty
    REFUSED_IF_FALSE,       //  False
    REFUSED_ABOVE_ONE,      //  A number above 1
    REFUSED_UNLESS_TEXT,    //  An object whose type is not "text"
    REFUSED_WITH_AUDIO,     //  A list with "audio" in it
} refusal_kind_t;

typedef struct {
    const char *name;       //  Of the field
    refusal_kind_t kind;    //  When
    const char *why;        //  Behind the sentence; may be empty
} refusal_t;

#define CANNOT_MOVE(answers) ": answers " answers " cannot go on at another worker when theirs dies"
#define CHOICES CANNOT_MOVE ("of several choices")
#define PROBABILITIES CANNOT_MOVE ("with probabilities")
#define GUIDED CANNOT_MOVE ("that follow a grammar")

//  Fields that would change the answer: leaving them out silently would be a lie.
static const refusal_t s_refusals [] = {
    { "n", REFUSED_ABOVE_ONE, CHOICES },
    { "best_of", REFUSED_ABOVE_ONE, CHOICES },
    { "logprobs", REFUSED_IF_SAID, PROBABILITIES },
    { "top_logprobs", REFUSED_IF_SAID, PROBABILITIES },
    { "prompt_logprobs", REFUSED_IF_SAID, PROBABILITIES },
    { "logit_bias", REFUSED_IF_SAID, "" },
    { "response_format", REFUSED_UNLESS_TEXT, GUIDED },
    { "structured_outputs", REFUSED_IF_SAID, GUIDED },
    { "guided_json", REFUSED_IF_SAID, GUIDED },
    { "guided_regex", REFUSED_IF_SAID, GUIDED },
    { "guided_choice", REFUSED_IF_SAID, GUIDED },
    { "guided_grammar", REFUSED_IF_SAID, GUIDED },
    { "grammar", REFUSED_IF_SAID, GUIDED },
    { "regex", REFUSED_IF_SAID, GUIDED },
    { "ebnf", REFUSED_IF_SAID, GUIDED },
    { "json_schema", REFUSED_IF_SAID, GUIDED },
    { "functions", REFUSED_IF_SAID, "" },
    { "function_call", REFUSED_IF_SAID, "" },
    { "audio", REFUSED_IF_SAID, "" },
    { "modalities", REFUSED_WITH_AUDIO, "" },
    { "web_search_options", REFUSED_IF_SAID, "" },
    { "echo", REFUSED_IF_SAID, "" },
    { "continue_final_message", REFUSED_IF_SAID, "" },
    { "add_generation_prompt", REFUSED_IF_FALSE, "" },
    { "cache_salt", REFUSED_IF_SAID, "" },
};

//  False, 0, "", [] and {} ask for nothing.
static bool
s_asks_for_something (const json_t *json)
{
    double number;
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    switch (json_kind (json)) {
    case JSON_NULL:
        return false;
    case JSON_BOOL:
        return json_is_true (json);
    case JSON_INTEGER:
    case JSON_REAL:
        return json_to_double (json, &number) && number != 0;
    case JSON_STRING:
        return json_string (json).size > 0;
    case JSON_ARRAY:
        return json_count (json) > 0;
    case JSON_OBJECT:
        return json_next (json, &cursor, &key, &value);
    }
    return false;
}

static bool
s_names (const json_t *list, const char *word)
{
    for (size_t i = 0; i < json_count (list); i++)
        if (span_equal_string (json_string (json_at (list, i)), word))
            return true;
    return false;
}

static bool
s_is_refused (const refusal_t *refusal, const json_t *json)
{
    double number;
    switch (refusal->kind) {
    case REFUSED_IF_SAID:
        return s_asks_for_something (json);
    case REFUSED_IF_FALSE:
        return json_kind (json) == JSON_BOOL && !json_is_true (json);
    case REFUSED_ABOVE_ONE:
        return json_to_double (json, &number) && number > 1;
    case REFUSED_UNLESS_TEXT:
        return json && !span_equal_string (json_string (json_get (json, "type")), "text");
    case REFUSED_WITH_AUDIO:
        return s_names (json, "audio");
    }
    return false;
}

static bool
s_check_refusals (const json_t *body, api_error_t *error)
{
    for (size_t i = 0; i < sizeof s_refusals / sizeof s_refusals [0]; i++) {
        const refusal_t *refusal = &s_refusals [i];
        if (s_is_refused (refusal, json_get (body, refusal->name)))
            return api_error_set (error, API_UNSUPPORTED, refusal->name,
                "Unsupported parameter: '%s' is not supported here with this value%s.", refusal->name, refusal->why);
    }
    return true;
}

//  ---- Sampling ------------------------------------------------------------------------------------------------------

typedef struct {
    const char *name;    //  Of the field
    bool whole;          //  An integer
    double min;          //  Least value
    double max;          //  Greatest value
    size_t value;        //  Offset in sampling_t: int64_t where whole, else double
    size_t has;          //  Offset of its has_ flag
} parameter_t;

#define PARAMETER(field, whole, min, max)                                                       \
    {                                                                                           \
#field, whole, min, max, offsetof(sampling_t, field), offsetof(sampling_t, has_##field) \
    }

//  Ranges of OpenAI's reference and, for the fields that it does not have, of vLLM's sampling parameters.
static const parameter_t s_parameters [] = {
    PARAMETER (temperature, false, 0, 2),
    PARAMETER (top_p, false, 0, 1),
    PARAMETER (min_p, false, 0, 1),
    PARAMETER (frequency_penalty, false, -2, 2),
    PARAMETER (presence_penalty, false, -2, 2),
    PARAMETER (repetition_penalty, false, 0.01, 100),
    PARAMETER (top_k, true, -1, 1000000),
    PARAMETER (seed, true, -9.2e18, 9.2e18),
};

static bool
s_wrong_type (api_error_t *error, const char *name, const char *expected, const json_t *json)
{
    return api_error_set (error, API_INVALID_TYPE, name, "Invalid type for '%s': expected %s, but got %s instead.",
        name, expected, json_kind_name (json_kind (json)));
}

static bool
s_read_parameter (const parameter_t *parameter, const json_t *json, sampling_t *sampling, api_error_t *error)
{
    double number;
    int64_t whole = 0;
    if (!json)
        return true;
    if (!json_to_double (json, &number))
        return s_wrong_type (error, parameter->name, parameter->whole ? "an integer" : "a number", json);
    if (!(number >= parameter->min && number <= parameter->max))
        return api_error_set (error, API_INVALID_VALUE, parameter->name,
            "Invalid '%s': %g is out of range, it must be between %g and %g.", parameter->name, number, parameter->min,
            parameter->max);
    if (parameter->whole && !json_to_i64 (json, &whole))
        return s_wrong_type (error, parameter->name, "an integer", json);
    if (parameter->whole)
        *(int64_t *)((char *)sampling + parameter->value) = whole;
    else
        *(double *)((char *)sampling + parameter->value) = number;
    *(bool *)((char *)sampling + parameter->has) = true;
    return true;
}

//  A number of something.  Leaves the value at 0 where nothing is said.
static bool
s_read_count (const json_t *body, const char *name, int64_t *value, api_error_t *error)
{
    const json_t *json = json_get (body, name);
    *value = 0;
    if (!json)
        return true;
    if (!json_to_i64 (json, value))
        return s_wrong_type (error, name, "an integer", json);
    if (*value < 1)
        return api_error_set (error, API_INVALID_VALUE, name, "Invalid '%s': it must be at least 1.", name);
    return true;
}

//  The new name wins over the old one.
static bool
s_read_max_tokens (const json_t *body, sampling_t *sampling, api_error_t *error)
{
    static const char *const names [] = { "max_tokens", "max_completion_tokens" };
    for (size_t i = 0; i < sizeof names / sizeof names [0]; i++) {
        int64_t value;
        if (!s_read_count (body, names [i], &value, error))
            return false;
        if (!value)
            continue;
        sampling->has_max_tokens = true;
        sampling->max_tokens = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    }
    return true;
}

static bool
s_add_stop (chat_request_t *self, const json_t *json, api_error_t *error)
{
    span_t text = json_string (json);
    if (json_kind (json) != JSON_STRING)
        return s_wrong_type (error, "stop", "a string or an array of strings", json);
    if (text.size > STOP_STRING_MAX)
        return api_error_set (
            error, API_INVALID_VALUE, "stop", "Invalid 'stop': a string has more than %d bytes.", STOP_STRING_MAX);
    if (text.size)
        self->sampling.stop [self->sampling.stop_count++] = chat_request_keep (self, text);
    return true;
}

static bool
s_read_stop (chat_request_t *self, const json_t *body, api_error_t *error)
{
    const json_t *stop = json_get (body, "stop");
    if (!stop)
        return true;
    if (json_count (stop) > STOP_STRINGS_MAX)
        return api_error_set (
            error, API_INVALID_VALUE, "stop", "Invalid 'stop': more than %d strings.", STOP_STRINGS_MAX);
    self->sampling.stop = arena_new (&self->arena, STOP_STRINGS_MAX * sizeof (span_t));
    if (json_kind (stop) != JSON_ARRAY)
        return s_add_stop (self, stop, error);
    for (size_t i = 0; i < json_count (stop); i++)
        if (!s_add_stop (self, json_at (stop, i), error))
            return false;
    return true;
}

enum { STOP_TOKENS_MAX = 256 };

static bool
s_read_stop_tokens (chat_request_t *self, const json_t *body, api_error_t *error)
{
    const json_t *list = json_get (body, "stop_token_ids");
    if (!list)
        return true;
    if (json_kind (list) != JSON_ARRAY)
        return s_wrong_type (error, "stop_token_ids", "an array of integers", list);
    size_t count = json_count (list);
    if (count > STOP_TOKENS_MAX)
        return api_error_set (
            error, API_INVALID_VALUE, "stop_token_ids", "Invalid 'stop_token_ids': more than %d.", STOP_TOKENS_MAX);
    uint32_t *tokens = arena_new (&self->arena, (count + 1) * sizeof *tokens);
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (!json_to_i64 (json_at (list, i), &value) || value < 0 || value > UINT32_MAX)
            return s_wrong_type (error, "stop_token_ids", "token ids", json_at (list, i));
        tokens [i] = (uint32_t)value;
    }
    self->sampling.stop_tokens = column_of_u32 (tokens, count);
    return true;
}

static bool
s_read_sampling (chat_request_t *self, const json_t *body, api_error_t *error)
{
    for (size_t i = 0; i < sizeof s_parameters / sizeof s_parameters [0]; i++)
        if (!s_read_parameter (&s_parameters [i], json_get (body, s_parameters [i].name), &self->sampling, error))
            return false;
    return s_read_max_tokens (body, &self->sampling, error) && s_read_stop (self, body, error) &&
           s_read_stop_tokens (self, body, error);
}

//  How many answers are asked for; more than one was refused before.
static bool
s_check_choices (const json_t *body, api_error_t *error)
{
    int64_t value;
    return s_read_count (body, "n", &value, error) && s_read_count (body, "best_of", &value, error);
}

//  ---- Tools and template --------------------------------------------------------------------------------------------

static void
s_write_member (json_writer_t *json, span_t key, const json_t *value)
{
    buffer_t text = { 0 };
    json_render (value, &text);
    json_write_key_span (json, key);
    json_write_raw (json, buffer_span (&text));
    buffer_fini (&text);
}

//  Copies a tool less the markers that say where a cache should look: they come and go from turn to turn.
static void
s_copy_unmarked (json_writer_t *json, const json_t *object, bool nested)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    json_write_begin_object (json);
    while (json_next (object, &cursor, &key, &value)) {
        if (span_equal (key, SPAN ("cache_control")) || span_equal (key, SPAN ("prompt_cache_breakpoint")))
            continue;
        if (!nested && span_equal (key, SPAN ("function")) && json_kind (value) == JSON_OBJECT) {
            json_write_key_span (json, key);
            s_copy_unmarked (json, value, true);
        } else
            s_write_member (json, key, value);
    }
    json_write_end_object (json);
}

static bool
s_copy_tools (chat_request_t *self, const json_t *tools, api_error_t *error)
{
    buffer_t text = { 0 };
    json_writer_t json;
    json_writer_init (&json, &text);
    json_write_begin_array (&json);
    bool good = true;
    for (size_t i = 0; i < json_count (tools) && good; i++) {
        good = json_kind (json_at (tools, i)) == JSON_OBJECT;
        if (good)
            s_copy_unmarked (&json, json_at (tools, i), false);
        else
            s_wrong_type (error, "tools", "an array of objects", json_at (tools, i));
    }
    json_write_end_array (&json);
    if (good)
        self->tools = chat_request_keep (self, buffer_span (&text));
    buffer_fini (&text);
    return good;
}

//  "auto" leaves it to the model and "none" hides the tools; what forces a call needs constrained decoding.
static bool
s_read_tools (chat_request_t *self, const json_t *body, api_error_t *error)
{
    const json_t *tools = json_get (body, "tools");
    const json_t *choice = json_get (body, "tool_choice");
    span_t word = json_string (choice);
    if (tools && json_kind (tools) != JSON_ARRAY)
        return s_wrong_type (error, "tools", "an array", tools);
    if (json_kind (choice) == JSON_OBJECT || span_equal (word, SPAN ("required")))
        return api_error_set (error, API_UNSUPPORTED, "tool_choice",
            "Unsupported parameter: 'tool_choice' can be 'auto' or 'none'; a call cannot be forced here yet.");
    if (choice && !span_equal (word, SPAN ("auto")) && !span_equal (word, SPAN ("none")))
        return api_error_set (
            error, API_INVALID_VALUE, "tool_choice", "Invalid 'tool_choice': it must be 'auto' or 'none'.");
    if (json_count (tools) == 0 || span_equal (word, SPAN ("none")))
        return true;
    return s_copy_tools (self, tools, error);
}

//  Fields that clients put beside the template's arguments but that are nothing else; the first of a name counts.
static const struct {
    const char *path;        //  Where it stands in the body
    const char *argument;    //  What templates call it
} s_template_fields [] = {
    { "chat_template_kwargs.enable_thinking", "enable_thinking" },
    { "enable_thinking", "enable_thinking" },
    { "chat_template_kwargs.thinking", "thinking" },
    { "thinking", "thinking" },
    { "chat_template_kwargs.reasoning_effort", "reasoning_effort" },
    { "reasoning_effort", "reasoning_effort" },
    { "reasoning.effort", "reasoning_effort" },
};

enum { TEMPLATE_FIELD_COUNT = sizeof s_template_fields / sizeof s_template_fields [0] };

static bool
s_is_template_field (span_t key)
{
    for (size_t i = 0; i < TEMPLATE_FIELD_COUNT; i++)
        if (span_equal_string (key, s_template_fields [i].argument))
            return true;
    return false;
}

static void
s_write_template_arguments (json_writer_t *json, const json_t *body)
{
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    while (json_next (json_get (body, "chat_template_kwargs"), &cursor, &key, &value))
        if (!s_is_template_field (key))
            s_write_member (json, key, value);
    const char *written = "";
    for (size_t i = 0; i < TEMPLATE_FIELD_COUNT; i++) {
        value = json_get_path (body, s_template_fields [i].path);
        if (!value || strcmp (s_template_fields [i].argument, written) == 0)
            continue;
        written = s_template_fields [i].argument;
        s_write_member (json, span_from_string (written), value);
    }
}

static bool
s_read_template_arguments (chat_request_t *self, const json_t *body, api_error_t *error)
{
    const json_t *arguments = json_get (body, "chat_template_kwargs");
    if (arguments && json_kind (arguments) != JSON_OBJECT)
        return s_wrong_type (error, "chat_template_kwargs", "an object", arguments);
    buffer_t text = { 0 };
    json_writer_t json;
    json_writer_init (&json, &text);
    json_write_begin_object (&json);
    s_write_template_arguments (&json, body);
    json_write_end_object (&json);
    if (!span_equal (buffer_span (&text), SPAN ("{}")))
        self->template_arguments = chat_request_keep (self, buffer_span (&text));
    buffer_fini (&text);
    return true;
}

//  ---- The whole -----------------------------------------------------------------------------------------------------

static bool
s_read_flags (chat_request_t *self, const json_t *body, api_error_t *error)
{
    const json_t *stream = json_get (body, "stream");
    const json_t *options = json_get (body, "stream_options");
    const json_t *ignore_eos = json_get (body, "ignore_eos");
    if (stream && json_kind (stream) != JSON_BOOL)
        return s_wrong_type (error, "stream", "a boolean", stream);
    if (options && json_kind (options) != JSON_OBJECT)
        return s_wrong_type (error, "stream_options", "an object", options);
    if (ignore_eos && json_kind (ignore_eos) != JSON_BOOL)
        return s_wrong_type (error, "ignore_eos", "a boolean", ignore_eos);
    self->sampling.has_ignore_eos = ignore_eos;
    self->sampling.ignore_eos = json_is_true (ignore_eos);
    self->stream = json_is_true (stream);
    self->include_usage = self->stream && json_is_true (json_get (options, "include_usage"));
    return true;
}

enum { MODEL_NAME_MAX = 256 };

static bool
s_read_model (chat_request_t *self, const json_t *body, api_error_t *error)
{
    const json_t *model = json_get (body, "model");
    if (!model)
        return api_error_set (error, API_MISSING, "model", "Missing required parameter: 'model'.");
    if (json_kind (model) != JSON_STRING)
        return s_wrong_type (error, "model", "a string", model);
    if (json_string (model).size == 0 || json_string (model).size > MODEL_NAME_MAX)
        return api_error_set (
            error, API_INVALID_VALUE, "model", "Invalid 'model': a name has 1 to %d bytes.", MODEL_NAME_MAX);
    self->model = chat_request_keep (self, json_string (model));
    return true;
}

span_t
chat_request_keep (chat_request_t *self, span_t bytes)
{
    span_t copy = arena_copy (&self->arena, bytes);
    self->too_large |= bytes.size && !copy.data;
    return copy;
}

//  A message of 28 bytes takes a struct of 96, and a tool call is escaped once more: what is read is less than four times
//  what was sent.
enum { EXPANSION_MAX = 4 };

bool
chat_request_parse (chat_request_t *self, const json_t *body, size_t body_size, api_error_t *error)
{
    *self = (chat_request_t){ 0 };
    arena_init (&self->arena, body_size * EXPANSION_MAX + (64 << 10));
    if (json_kind (body) != JSON_OBJECT)
        return api_error_set (error, API_INVALID_JSON, NULL, "The body must be a JSON object, not %s.",
            json_kind_name (json_kind (body)));
    return s_read_model (self, body, error) && s_read_flags (self, body, error) && s_check_refusals (body, error) &&
           s_check_choices (body, error) && s_read_sampling (self, body, error) && s_read_tools (self, body, error) &&
           s_read_template_arguments (self, body, error) &&
           chat_messages_parse (self, json_get (body, "messages"), error) &&
           (!self->too_large || api_error_set (error, API_TOO_LARGE, NULL, "The request expands to more than it may."));
}

void
chat_request_fini (chat_request_t *self)
{
    arena_fini (&self->arena);
    *self = (chat_request_t){ 0 };
}

static void
s_write_text (json_writer_t *json, const char *key, span_t text)
{
    if (text.size == 0)
        return;
    json_write_key (json, key);
    json_write_string (json, text);
}

static void
s_write_message (json_writer_t *json, const chat_message_t *message)
{
    json_write_begin_object (json);
    s_write_text (json, "role", message->role);
    json_write_key (json, "content");
    json_write_string (json, message->content);
    s_write_text (json, "reasoning_content", message->reasoning);
    if (message->tool_calls.size) {
        json_write_key (json, "tool_calls");
        json_write_raw (json, message->tool_calls);
    }
    s_write_text (json, "tool_call_id", message->tool_call_id);
    s_write_text (json, "name", message->name);
    json_write_end_object (json);
}

void
chat_request_render (const chat_request_t *self, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "messages");
    json_write_begin_array (&json);
    for (size_t i = 0; i < self->message_count; i++)
        s_write_message (&json, &self->messages [i]);
    json_write_end_array (&json);
    if (self->tools.size) {
        json_write_key (&json, "tools");
        json_write_raw (&json, self->tools);
    }
    if (self->template_arguments.size) {
        json_write_key (&json, "chat_template_kwargs");
        json_write_raw (&json, self->template_arguments);
    }
    json_write_end_object (&json);
}
